//! What is written in the audit log about a call of a plugin.
//!
//! Apart, because tools, commands and providers end in three places and are kept in one form.

use crate::audit::{Entry, Kind};
use crate::plugin::Plugin;
use crate::uses::{Times, Uses};

impl Plugin {
    /// Adds a call to the audit log, if one is kept. `ended` is `ok`, `error`, `denied` or `limit`.
    pub(crate) fn record(&self, kind: Kind, name: &str, arguments: &str, ended: &str, uses: &Uses) {
        let Some(audit) = &self.surroundings.audit else { return };
        audit.add(Entry {
            time: crate::audit::now(),
            plugin: self.name().to_string(),
            origin: self.origin().as_str().to_owned(),
            sha256: self.hash().to_owned(),
            kind,
            name: name.to_owned(),
            arguments: Entry::arguments(arguments),
            ended: ended.to_owned(),
            uses: Entry::uses(uses),
            times: Times { load: self.loaded_in, ..uses.times() },
        });
    }
}
