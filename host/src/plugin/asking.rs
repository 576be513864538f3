//! The question whether a plugin gets what it asks for, when it is first used and nothing was decided yet.
//!
//! Apart from the rights themselves, because only here a person is waited for. A model has no way to answer.

use std::sync::Arc;

use crate::capability::{Capability, Grant, GrantSet, Grants};
use crate::grants::{About, Decision, Entry, Keep, Subject};
use crate::host_request::{CallContext, Caller, Entry as Export, Lent};
use crate::plugin::Plugin;
use crate::plugin::discover::Origin;
use crate::policy::Policy;
use crate::question::{Choice, Question};

/// Digits of a hash that are shown to a person who compares two of them.
const DIGITS: usize = 16;

impl Plugin {
    /// Lets the person decide what the plugin gets, if nobody did before. Returns the context to call it in: what was granted
    /// for one call lives there.
    pub(crate) async fn ready(&self, entry: Export, context: CallContext) -> CallContext {
        if !self.is_open() {
            return context;
        }
        // Calls that run at the same time ask once.
        let _turn = self.asking.lock().await;
        if !self.is_open() {
            return context;
        }
        let caller = Caller { plugin: self.name().clone(), entry, grants: self.grants(), context: context.clone() };
        let Some(answer) = context.choose(&caller, self.question()).await else { return context };
        let about = About { version: &self.listing().version, asked: &self.wanted() };
        let mut grants = Grants::default();
        about.asked.iter().for_each(|it| grants.add(Grant::from(it)));
        let keep = match answer.key {
            'o' => {
                let lent = Lent { plugin: self.name().clone(), grants };
                return CallContext { lent: Some(Arc::new(lent)), ..context };
            }
            's' => Keep::Session,
            'a' => Keep::Always,
            _ => {
                self.surroundings.book.refuse(&self.subject());
                return context;
            }
        };
        let book = &self.surroundings.book;
        if let Err(error) = book.grant(&self.subject(), about, &grants, keep) {
            tracing::warn!(plugin = %self.name(), "granted for this session alone: {error}");
            // A session's grants are in memory: that cannot fail.
            let _ = book.grant(&self.subject(), about, &grants, Keep::Session);
        }
        self.renew();
        context
    }

    /// What the plugin may do in this call.
    pub(crate) fn grants_in(&self, context: &CallContext) -> Arc<GrantSet> {
        match self.lent(context) {
            Some(lent) => self.identity_with(lent).grants.clone(),
            None => self.grants(),
        }
    }

    /// The rules about its calls.
    pub(crate) fn policy(&self) -> &Arc<Policy> {
        &self.surroundings.policy
    }

    /// The plugin as `grants.toml` knows it.
    pub fn subject(&self) -> Subject {
        Subject {
            name: self.name().clone(),
            origin: self.origin().as_str().to_owned(),
            sha256: self.hash().to_owned(),
            file: (self.origin() == Origin::Project).then(|| real(&self.path)),
        }
    }

    /// What it asks for and does not have, each with its reason.
    pub fn missing(&self) -> Vec<(Capability, String)> {
        let grants = self.grants();
        self.asked().iter().filter(|it| !grants.allows(&it.0)).cloned().collect()
    }

    pub(super) fn wanted(&self) -> Vec<Capability> {
        self.asked().iter().map(|it| it.0.clone()).collect()
    }

    /// Whether it lacks something and nobody decided that it should.
    fn is_open(&self) -> bool {
        let has_flag = || self.surroundings.grants.iter().any(|it| it.0 == *self.name());
        self.origin() != Origin::Bundled
            && !self.asked().is_empty()
            && !has_flag()
            && self.surroundings.book.decision(&self.subject()) == Decision::Open
            && !self.missing().is_empty()
    }

    fn question(&self) -> Question {
        let earlier = self.surroundings.book.earlier(&self.subject());
        let hash = &self.hash()[..DIGITS.min(self.hash().len())];
        let folder = self.path().parent().map(|it| it.display().to_string()).unwrap_or_default();
        let mut lines =
            vec![format!("{} {} in {folder}", self.origin(), self.listing().version), format!("sha256 {hash}")];
        if let Some(earlier) = &earlier {
            let old = &earlier.subject.sha256[..DIGITS.min(earlier.subject.sha256.len())];
            lines.push(format!("changed since {} ({old}), which you granted", earlier.version));
        }
        for (capability, reason) in self.asked() {
            let known = earlier.as_ref().is_some_and(|it| it.asked.contains(&capability.to_string()));
            let mark = if earlier.is_some() && !known { "new: " } else { "" };
            lines.push(format!("- {mark}{capability}: \"{reason}\""));
        }
        lines.extend(earlier.iter().flat_map(|it| self.no_longer(it)));
        let mut choices = vec![
            Choice::new('o', "once: for this call"),
            Choice::new('s', "session: until it ends"),
            Choice::new('a', "always: kept for this very file"),
            Choice::new('n', "no: go on without"),
        ];
        // The one instance of such a plugin outlives the call.
        if self.listing().keeps_instance {
            choices.remove(0);
        }
        Question { subject: format!("may plugin `{}` do this?", self.name()), lines, choices }
    }

    fn no_longer<'a>(&'a self, earlier: &'a Entry) -> impl Iterator<Item = String> + 'a {
        let gone = |it: &&String| !self.asked().iter().any(|(capability, _)| capability.to_string() == **it);
        earlier.asked.iter().filter(gone).map(|it| format!("no longer: {it}"))
    }
}

/// The real path where it can be found.
pub(crate) fn real(path: &std::path::Path) -> std::path::PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
