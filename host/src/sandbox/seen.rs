//! From wasmtime's error to a [`Fault`].
//!
//! Apart from the faults themselves, because the sorting needs what the store saw, and names wasmtime.

use wasmtime::component::ResourceTableError;

use crate::fault::Fault;
use crate::secrets::redact_tokens;
use crate::text::visible;

/// What the store saw of a call that failed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Growth of memory was refused at least once.
    pub memory_denied: bool,
    /// The limits in force.
    pub memory_limit: usize,
    pub stack_limit: usize,
    pub value_limit: usize,
    pub instance_limit: usize,
    /// The limit on what is kept open that counts here: of files and the like, or of tasks and streams.
    pub handle_limit: usize,
    /// The end of the guest's standard error.
    pub stderr: String,
}

impl Seen {
    /// Sorts what wasmtime reports into a fault.
    pub(crate) fn fault(&self, error: &wasmtime::Error) -> Fault {
        if let Some(fault) = error.downcast_ref::<Fault>() {
            return fault.clone();
        }
        if let Some(ResourceTableError::Full) = error.downcast_ref() {
            return Fault::Handles(self.handle_limit);
        }
        let stderr = redact_tokens(&self.stderr).into_owned();
        if let Some(trap) = error.downcast_ref::<wasmtime::Trap>() {
            return match trap {
                wasmtime::Trap::StackOverflow => Fault::Stack(self.stack_limit),
                _ if self.memory_denied => Fault::Memory { limit: self.memory_limit, stderr },
                other => Fault::Trap { reason: other.to_string().trim_start_matches("wasm trap: ").into(), stderr },
            };
        }
        if error.is::<wasmtime_wasi::I32Exit>() {
            return Fault::Trap { reason: "it ended its own process".into(), stderr };
        }
        if error.is::<wasmtime::PoolConcurrencyLimitError>() {
            return Fault::Instances(self.instance_limit);
        }
        if self.memory_denied {
            return Fault::Memory { limit: self.memory_limit, stderr };
        }
        // wasmtime keeps this error's type to itself; its text is pinned by `a_value_over_the_limit_has_its_own_fault`.
        if error.chain().any(|it| it.to_string().contains("too much data is being copied")) {
            return Fault::Value(self.value_limit);
        }
        let reason = error.root_cause().to_string();
        Fault::Trap { reason: visible(&redact_tokens(&reason)).into_owned(), stderr }
    }
}
