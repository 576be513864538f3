//! Why a file did not become a plugin, with the way out.
//!
//! Apart from loading, because every step of it fails in its own words, and people read them.

use crate::bindings::{PACKAGE, VERSION};
use crate::fault::{Fault, bytes};
use crate::listing::TooMany;
use crate::name::NameError;
use crate::plugin::inspect::{NotAPlugin, link_error};

/// Why a file did not become a plugin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    Read(std::io::Error),
    /// A folder, a socket, a device.
    #[error("it is no file, but a folder, a pipe or the like; move it away")]
    NoFile,
    /// Over the limit.
    #[error("the file is larger than {}; `component` in `[limits]` of the configuration sets another limit", bytes(*.0))]
    TooLarge(usize),
    /// A file of the project whose content the user did not trust.
    #[error("it is a file of the project that was not trusted")]
    Untrusted {
        /// The SHA-256 of its content.
        sha256: String,
        /// Its size.
        bytes: usize,
    },
    /// No component of ours.
    #[error(transparent)]
    NotAPlugin(#[from] NotAPlugin),
    /// Not valid WebAssembly, or using what this engine does not have.
    #[error("it does not compile: {0}")]
    Compile(String),
    /// An import has another shape.
    #[error("{0}")]
    Link(String),
    /// An interface that it exports lacks a function, or has one of another type.
    #[error("its `{0}` is not that of `{PACKAGE}@{VERSION}`; build it again against this version")]
    Shape(&'static str),
    /// A function of its own failed.
    #[error("`{function}` {fault}{}", way_out(fault))]
    Fault {
        /// Such as `describe`.
        function: &'static str,
        /// What went wrong.
        fault: Fault,
    },
    /// It names itself in a way that cannot be used.
    #[error(transparent)]
    Name(#[from] NameError),
    /// It lists too much.
    #[error(transparent)]
    TooMany(#[from] TooMany),
    /// A mistake of this host.
    #[error("this host failed on it, which is a bug of bellglass and not of the plugin: {0}")]
    Panicked(String),
}

impl LoadError {
    /// Names the end of a function that was called while the plugin was loaded.
    pub(super) fn of(function: &'static str, fault: Fault) -> Self {
        match fault {
            Fault::Missing(interface) => Self::Shape(interface),
            fault => Self::Fault { function, fault },
        }
    }

    pub(super) fn of_linker(error: &wasmtime::Error) -> Self {
        match error.downcast_ref() {
            Some(Fault::Missing(interface)) => Self::Shape(interface),
            _ => Self::Link(link_error(error)),
        }
    }

    /// The first sentence of a compile error; the rest is an offset dump for people who write compilers.
    pub(super) fn of_compiler(error: &wasmtime::Error) -> Self {
        let reason = error.root_cause().to_string();
        Self::Compile(crate::text::visible_line(crate::text::first_chars(&reason, 300)).into_owned())
    }
}

/// What a user can do about a limit that was hit while a plugin was loaded.
fn way_out(fault: &Fault) -> String {
    let limit = match fault {
        Fault::Cpu(_) | Fault::Deadline(_) => "listing_cpu",
        Fault::Memory { .. } => "memory",
        Fault::Stack(_) => "stack",
        Fault::Value(_) => "value",
        Fault::Output(_) => "log",
        Fault::Instances(_) => "instances",
        _ => return String::new(),
    };
    format!("; `{limit}` in `[limits]` of the configuration sets another limit")
}
