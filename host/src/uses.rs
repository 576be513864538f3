//! What one call did with rights, and what it was refused: for the audit log, and for the sentence that says how to grant it.
//!
//! Apart from the rights themselves, because a right is decided once and used many times.

use std::sync::{Mutex, PoisonError};

use crate::capability::Grant;
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

/// The uses of one call, in order. Each stands there once, however often it happened.
#[derive(Debug, Default)]
pub struct Uses(Mutex<Vec<Use>>);

impl Uses {
    /// Notes that a right was used.
    pub fn allowed(&self, plugin: &PluginName, grant: Grant) {
        self.note(Use { plugin: plugin.clone(), grant, allowed: true });
    }

    /// Notes that something was refused for want of a right.
    pub fn denied(&self, plugin: &PluginName, grant: Grant) {
        self.note(Use { plugin: plugin.clone(), grant, allowed: false });
    }

    /// Returns what was noted so far.
    pub fn list(&self) -> Vec<Use> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns what was refused, each with the plugin that wanted it.
    pub fn denials(&self) -> Vec<(PluginName, Grant)> {
        self.list().into_iter().filter(|it| !it.allowed).map(|it| (it.plugin, it.grant)).collect()
    }

    fn note(&self, it: Use) {
        let mut uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if uses.len() < MOST && !uses.contains(&it) {
            uses.push(it);
        }
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
