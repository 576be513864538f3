//! How this machine reaches others: what the user set for all plugins.
//! Separate because none of it is a right: it says how requests go out, never whether.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use crate::capability::Origin;

/// What the user set. `Default` is direct, with what the machine trusts.
#[derive(Clone, Debug, Default)]
pub struct NetworkSettings {
    /// A proxy that requests go through. None of the environment's is used.
    pub proxy: Option<Origin>,
    /// A file with certificates in PEM that count as trusted beside those of the machine.
    pub ca_file: Option<PathBuf>,
    /// How names become addresses.
    pub lookup: Lookup,
}

/// How names become addresses: as this machine does, or as a program that uses the library says.
#[derive(Clone, Default)]
pub enum Lookup {
    /// As this machine does.
    #[default]
    System,
    /// By a function.
    By(Arc<LookupFunction>),
}

/// From a name in lower case without a final dot to its addresses.
pub type LookupFunction = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Lookup::System => "System",
            Lookup::By(_) => "By",
        })
    }
}
