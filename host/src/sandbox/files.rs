//! Files: `wasi:filesystem` in its two versions, on folders that were granted, without what a grant does not include.
//!
//! Apart, because wasmtime's own implementation knows folders and no places in them. It still does all that has no path: what
//! is done with a file that is open. Whatever has a path is done here.

mod guard;
mod open;
mod operate;
mod p2;
mod p3;
pub(crate) mod read_beneath;
pub(crate) mod repository;
mod walk;

use std::sync::Arc;

use wasmtime::component::{HasData, Linker, Resource, ResourceTableError};
use wasmtime_wasi::filesystem::{Descriptor, Dir, WasiFilesystemCtxView, WasiFilesystemView as _};

use crate::host_request::Entry;
use crate::sandbox::files::guard::Guard;
use crate::sandbox::files::operate::Failure;
use crate::sandbox::guest::{Guest, Identity};
use crate::uses::Uses;

/// The files of one store. Nothing is opened before the guest asks what there is: most small calls never do.
#[derive(Default)]
pub(crate) struct Files {
    guard: Option<Arc<Guard>>,
}

/// What an operation needs, beside the folder it starts in.
#[derive(Clone)]
struct Desk {
    guard: Arc<Guard>,
    identity: Arc<Identity>,
    uses: Arc<Uses>,
}

/// A store as `wasi:filesystem` sees it.
pub(crate) struct View<'a> {
    inner: WasiFilesystemCtxView<'a>,
    desk: Desk,
}

/// [`View`], as wasmtime names it.
struct Guarded;

impl HasData for Guarded {
    type Data<'a> = View<'a>;
}

/// Links `wasi:filesystem`, instead of wasmtime's own which is linked already.
pub(crate) fn add_to_linker(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    use wasmtime_wasi::{p2::bindings::filesystem as p2, p3::bindings::filesystem as p3};
    linker.allow_shadowing(true);
    p2::types::add_to_linker::<_, Guarded>(linker, view)?;
    p2::preopens::add_to_linker::<_, Guarded>(linker, view)?;
    p3::types::add_to_linker::<_, Guarded>(linker, view)?;
    p3::preopens::add_to_linker::<_, Guarded>(linker, view)?;
    linker.allow_shadowing(false);
    Ok(())
}

fn view(guest: &mut Guest) -> View<'_> {
    let folders = if guest.call.entry == Entry::Loading { &[][..] } else { &guest.identity.folders };
    let open = || Arc::new(Guard::open(folders, guest.identity.name.as_str()));
    let guard = guest.files.guard.get_or_insert_with(open).clone();
    let desk = Desk { guard, identity: guest.identity.clone(), uses: guest.call.context.uses.clone() };
    View { inner: guest.filesystem(), desk }
}

impl View<'_> {
    /// The granted folders, under their names.
    fn directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        // A guest looks for files in what is open to it: of the others the host sees no request.
        let Desk { identity, uses, guard } = &self.desk;
        identity.unopened.iter().for_each(|it| uses.unopened(&identity.name, it.clone()));
        guard
            .roots
            .iter()
            .map(|root| Ok((self.inner.table.push(Descriptor::Dir(root.dir.clone()))?, root.folder.guest.clone())))
            .collect()
    }

    fn descriptor(&self, it: &Resource<Descriptor>) -> Result<Descriptor, ResourceTableError> {
        self.inner.table.get(it).cloned()
    }
}

impl Desk {
    /// Does something with a path that starts in this folder, where it may block.
    async fn run<R: Send + 'static>(
        self,
        start: Dir,
        work: impl FnOnce(&Guard, &Dir) -> Result<R, Failure> + Send + 'static,
    ) -> Result<R, std::io::Error> {
        self.note_use(&start);
        let guard = self.guard.clone();
        let done = tokio::task::spawn_blocking(move || work(&guard, &start)).await;
        match done {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(Failure::System(error))) => Err(error.into()),
            Ok(Err(Failure::Refused(refusal))) => {
                let plugin = &self.identity.name;
                let flag = refusal.grant.as_ref().map(|it| format!(" (`{}`)", it.flag(plugin))).unwrap_or_default();
                tracing::warn!("denied: plugin `{plugin}` reached for a place that its grants do not include{flag}");
                if let Some(grant) = refusal.grant {
                    self.uses.denied(plugin, grant);
                }
                Err(rustix::io::Errno::PERM.into())
            }
            Err(_) => Err(rustix::io::Errno::IO.into()),
        }
    }

    /// Notes that a granted folder is used: every path starts in one, or in a folder that was opened from one.
    fn note_use(&self, start: &Dir) {
        if let Some(root) = self.guard.roots.iter().find(|it| Arc::ptr_eq(&it.dir.dir, &start.dir)) {
            self.uses.allowed(&self.identity.name, root.grant());
        }
    }
}
