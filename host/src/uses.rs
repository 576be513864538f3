//! What one call did with rights, and what it was refused: for the audit log, and for the sentence that says how to grant it.
//!
//! Apart from the rights themselves, because a right is decided once and used many times.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::capability::{Grant, VariableName};
use crate::name::PluginName;

/// Uses that one call notes. A guest that uses more has used them.
const MOST: usize = 64;

/// One use of a right, or one refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// Who used it.
    pub plugin: PluginName,
    /// The right, as a grant spells it; of the exact thing that was wanted.
    pub grant: Grant,
    /// Whether it was allowed.
    pub allowed: bool,
}

/// Where the time of one call went, its hooks included, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// Loading the plugin, once before its first call.
    pub load: u64,
    /// Making instances.
    pub instantiate: u64,
    /// Guest code.
    pub guest: u64,
    /// Functions of the host that guests called: files, network, other tools, a person's thinking.
    pub host: u64,
}

/// The uses of one call, in order. Each stands there once, however often it happened.
#[derive(Debug, Default)]
pub struct Uses(Mutex<Noted>);

/// What was noted so far.
#[derive(Debug, Default)]
struct Noted {
    uses: Vec<Use>,
    /// Secrets that were granted and had no value.
    lacking: Vec<VariableName>,
    /// Folders that a guest that looked for files did not find, each with the plugin.
    unopened: Vec<(PluginName, Grant)>,
    /// Whether a limit cut something off, and the guest was told so.
    hit_limit: bool,
    times: Times,
}

impl Uses {
    /// Notes that a right was used.
    pub fn allowed(&self, plugin: &PluginName, grant: Grant) {
        self.note(Use { plugin: plugin.clone(), grant, allowed: true });
    }

    /// Notes that something was refused for want of a right.
    pub fn denied(&self, plugin: &PluginName, grant: Grant) {
        self.note(Use { plugin: plugin.clone(), grant, allowed: false });
    }

    /// Notes that a guest looked for files, and that this folder was not there. It may not have wanted it.
    pub fn unopened(&self, plugin: &PluginName, grant: Grant) {
        let unopened = &mut self.noted().unopened;
        if unopened.len() < MOST && !unopened.iter().any(|it| it.0 == *plugin && it.1 == grant) {
            unopened.push((plugin.clone(), grant));
        }
    }

    /// After a call that failed: where nothing else was refused, it was for want of the folders that were not there.
    pub fn failed(&self) {
        if self.denials().is_empty() {
            let unopened = std::mem::take(&mut self.noted().unopened);
            unopened.into_iter().for_each(|(plugin, grant)| self.denied(&plugin, grant));
        }
    }

    /// Notes that a secret was granted, and has no value.
    pub fn lacks(&self, secret: &VariableName) {
        let lacking = &mut self.noted().lacking;
        if lacking.len() < MOST && !lacking.contains(secret) {
            lacking.push(secret.clone());
        }
    }

    /// Notes that a limit cut something off. The guest was told, and may have gone on without.
    pub fn limited(&self) {
        self.noted().hit_limit = true;
    }

    /// Notes what a call inside this one did as well; its time is its own.
    pub fn absorb(&self, inner: &Uses) {
        inner.list().into_iter().for_each(|it| self.note(it));
        inner.lacking().iter().for_each(|it| self.lacks(it));
    }

    /// Returns what was noted so far.
    pub fn list(&self) -> Vec<Use> {
        self.noted().uses.clone()
    }

    /// Returns the secrets that were granted and had no value: a call that failed may have failed for want of them.
    pub fn lacking(&self) -> Vec<VariableName> {
        self.noted().lacking.clone()
    }

    /// Whether a limit cut something off.
    pub fn hit_limit(&self) -> bool {
        self.noted().hit_limit
    }

    /// Returns what was refused, each with the plugin that wanted it.
    pub fn denials(&self) -> Vec<(PluginName, Grant)> {
        self.list().into_iter().filter(|it| !it.allowed).map(|it| (it.plugin, it.grant)).collect()
    }

    fn note(&self, it: Use) {
        let mut noted = self.noted();
        if noted.uses.len() < MOST && !noted.uses.contains(&it) {
            noted.uses.push(it);
        }
    }

    /// Adds the time of one run of a guest: making its instance, its code, and the host's functions that it called.
    pub fn spent(&self, instantiate: Duration, guest: Duration, host: Duration) {
        let micros = |it: Duration| u64::try_from(it.as_micros()).unwrap_or(u64::MAX);
        let times = &mut self.noted().times;
        times.instantiate += micros(instantiate);
        times.guest += micros(guest);
        times.host += micros(host);
    }

    /// Returns where the time went so far.
    pub fn times(&self) -> Times {
        self.noted().times
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_stands_there_once_and_their_number_is_bounded() {
        let (uses, plugin) = (Uses::default(), PluginName::try_from("web".to_owned()).unwrap());
        let grant = |n: usize| Grant::parse(&format!("http=https://a{n}.org")).unwrap();
        for n in 0..100 {
            uses.allowed(&plugin, grant(n % 3));
        }
        assert_eq!((uses.list().len(), uses.denials().len()), (3, 0));
        for n in 0..1000 {
            uses.denied(&plugin, grant(n));
        }
        assert_eq!((uses.list().len(), uses.denials().len()), (MOST, MOST - 3));
    }
}
