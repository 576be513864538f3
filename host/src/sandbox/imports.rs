//! What a guest may import: one file for each interface, each with a view of no more than it needs.
//!
//! Apart from the bindings, because here a right is checked or a question is passed on.

pub(crate) mod agents;
mod conversation;
mod log;
pub(crate) mod port;
mod process;
mod reply;
mod session;
mod settings;
mod storage;
mod terminal;
mod toolbox;

use wasmtime::component::{HasData, Linker};

use crate::bindings::bellglass::plugin as wit;
use crate::sandbox::files;
use crate::sandbox::guest::Guest;

/// Links all of WASI 0.2 and 0.3, `wasi:http`, and every interface of ours. A right is decided on each call, never by linking: some
/// languages import every interface there is.
pub(crate) fn add_to_linker(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)?;
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)?;
    wasmtime_wasi::p3::add_to_linker(linker)?;
    wasmtime_wasi_http::p3::add_to_linker(linker)?;
    files::add_to_linker(linker)?;
    wit::types::add_to_linker::<_, Port>(linker, port)?;
    wit::log::add_to_linker::<_, Log>(linker, |guest| log::View {
        output: &guest.output,
        plugin: &guest.identity.name,
    })?;
    wit::terminal::add_to_linker::<_, Port>(linker, port)?;
    wit::reply::add_to_linker::<_, Reply>(linker, |guest| reply::View { to: guest.call.context.reply.as_ref() })?;
    wit::toolbox::add_to_linker::<_, Port>(linker, port)?;
    wit::conversation::add_to_linker::<_, Port>(linker, port)?;
    wit::agents::add_to_linker::<_, Agents>(linker, |guest| {
        let caller = guest.caller();
        let Guest { call, output, identity, table, .. } = guest;
        let port = port::Port { caller, deadline: &call.deadline, output, folders: &identity.folders };
        agents::View { port, table }
    })?;
    wit::session::add_to_linker::<_, Port>(linker, port)?;
    wit::process::add_to_linker::<_, Process>(linker, |guest| process::View {
        identity: guest.identity.clone(),
        limits: guest.limits.clone(),
        port: port(guest),
    })?;
    wit::storage::add_to_linker::<_, Storage>(linker, |guest| storage::View { identity: &guest.identity })?;
    wit::settings::add_to_linker::<_, Settings>(linker, |guest| settings::View { identity: &guest.identity })?;
    Ok(())
}

fn port(guest: &mut Guest) -> port::Port<'_> {
    port::Port {
        caller: guest.caller(),
        deadline: &guest.call.deadline,
        output: &guest.output,
        folders: &guest.identity.folders,
    }
}

macro_rules! view {
    ($name:ident, $view:ty) => {
        struct $name;

        impl HasData for $name {
            type Data<'a> = $view;
        }
    };
}

view!(Port, port::Port<'a>);
view!(Agents, agents::View<'a>);
view!(Log, log::View<'a>);
view!(Reply, reply::View<'a>);
view!(Process, process::View<'a>);
view!(Storage, storage::View<'a>);
view!(Settings, settings::View<'a>);
