//! `wasi:filesystem/preopens`: the folders that a guest finds opened, and a note of those that it asked for and will miss.
//!
//! Apart, because a guest looks for files in what is open to it: of the others the host sees no request.

use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemView as _};
use wasmtime_wasi::p2::bindings::filesystem::preopens::Host;

use crate::capability::{Capability, Kind};
use crate::sandbox::guest::Guest;

/// The whole guest: the folders are WASI's, the note is the call's.
pub(crate) struct View<'a> {
    pub guest: &'a mut Guest,
}

impl Host for View<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let (identity, uses) = (&self.guest.identity, &self.guest.call.context.uses);
        let folder = |it: &&Capability| matches!(it.kind(), Kind::Read | Kind::Write);
        identity.grants.iter().filter(folder).for_each(|it| uses.allowed(&identity.name, it.into()));
        identity.unopened.iter().for_each(|it| uses.denied(&identity.name, it.clone()));
        self.guest.filesystem().get_directories()
    }
}
