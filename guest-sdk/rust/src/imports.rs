//! Who answers when a plugin calls its host: the host in WebAssembly, the doubles of [`crate::test`] anywhere else. One
//! place, so that the modules around it are written once and a double whose signature differs does not compile.

#[cfg(target_family = "wasm")]
pub(crate) use crate::bindings::bellglass::plugin::{
    agents, conversation, log, process, reply, session, settings, storage, terminal, toolbox,
};
#[cfg(not(target_family = "wasm"))]
pub(crate) use crate::test::doubles::{
    agents, conversation, log, process, reply, session, settings, storage, terminal, toolbox,
};
