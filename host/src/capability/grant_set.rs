//! What a plugin may do: asked for and granted, as small as it can be written.
//! Separate because this is all that the rest of the host sees of rights.

use std::collections::BTreeSet;

use super::{Capability, CommandPattern, Credential, Folder, Host, Mode, Origin, ToolPattern};

/// Returns what is both asked for and granted.
pub fn effective(asked: &[Capability], granted: &[Capability]) -> GrantSet {
    // Sets, so that a plugin that repeats itself costs nothing.
    let [asked, granted] = [asked, granted].map(|list| list.iter().collect::<BTreeSet<_>>());
    let mut set = GrantSet::default();
    for asked in &asked {
        for granted in &granted {
            let Some(both) = asked.narrow(granted) else { continue };
            if let (Capability::Http(both), Capability::Http(granted)) = (&both, granted) {
                set.origins.insert(GrantedOrigin { origin: both.clone(), by: granted.clone() });
            }
            set.insert(both);
        }
    }
    set.capabilities.sort();
    set.named = asked.intersection(&granted).filter_map(|it| written(it)).cloned().collect();
    set
}

/// The rights of one plugin. Only [`effective`] makes one that is not empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrantSet {
    /// Sorted; none covers another.
    capabilities: Vec<Capability>,
    /// Folders to write that are spelled alike on both sides, also where another covers them.
    named: Vec<Folder>,
    /// Where requests may go, each with the grant that says so: a host that the user named is another matter than one that
    /// the plugin named below a grant for any.
    origins: BTreeSet<GrantedOrigin>,
}

/// An origin that was asked for and granted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct GrantedOrigin {
    origin: Origin,
    by: Origin,
}

fn written(capability: &Capability) -> Option<&Folder> {
    if let Capability::Write(folder) = capability { Some(folder) } else { None }
}

impl GrantSet {
    /// Returns the folders with what may be done there: no folder lies in another of the same mode or of more.
    ///
    /// A folder to write may lie in one to read.
    pub fn folders(&self) -> impl Iterator<Item = (&Folder, Mode)> {
        self.capabilities.iter().filter_map(|it| match it {
            Capability::Read(folder) => Some((folder, Mode::Read)),
            Capability::Write(folder) => Some((folder, Mode::Write)),
            _ => None,
        })
    }

    /// Returns the folders to write that plugin and user both named, each for itself: what a folder above does not include
    /// is in these.
    pub fn named_to_write(&self) -> impl Iterator<Item = &Folder> {
        self.named.iter()
    }

    /// Whether the tool may be called, given its real name or its address `plugin.tool`; an alias is no name.
    pub fn may_call(&self, tool: &str) -> bool {
        self.tools().any(|pattern| pattern.allows(tool))
    }

    /// Whether there is any tool that may be called.
    pub fn may_call_some(&self) -> bool {
        self.tools().next().is_some()
    }

    /// Whether the conversation may be read and changed.
    pub fn has_conversation(&self) -> bool {
        self.capabilities.contains(&Capability::Conversation)
    }

    /// Whether the model may be asked.
    pub fn has_model(&self) -> bool {
        self.capabilities.contains(&Capability::Model)
    }

    /// Whether the session may be ended, reloaded or given commands.
    pub fn has_session_control(&self) -> bool {
        self.capabilities.contains(&Capability::SessionControl)
    }

    /// Returns the environment variables that may be read.
    pub fn env_names(&self) -> impl Iterator<Item = &str> {
        self.capabilities.iter().filter_map(|it| match it {
            Capability::Env(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Returns where requests may go.
    pub fn origins(&self) -> impl Iterator<Item = &Origin> {
        self.capabilities.iter().filter_map(|it| match it {
            Capability::Http(origin) => Some(origin),
            _ => None,
        })
    }

    /// Whether a request to this exact origin may go out, and whether the user is asked first.
    pub fn may_reach(&self, target: &Origin) -> Reach {
        let mut reach = Reach::Never;
        for it in self.origins.iter().filter(|it| target.host().is_exact() && it.origin.contains(target)) {
            match it.by.host() {
                Host::Any => reach = Reach::Asking,
                Host::Below(_) | Host::Name(_) | Host::V4(_) | Host::V6(_) => return Reach::Freely,
            }
        }
        reach
    }

    /// Whether the user's grant itself is for this scheme, host and port, and for no other.
    pub fn names(&self, target: &Origin) -> bool {
        self.origins.iter().any(|it| it.origin == *target && it.by == *target)
    }

    /// Returns the credentials that may be added to requests.
    pub fn credentials(&self) -> impl Iterator<Item = &Credential> {
        self.capabilities.iter().filter_map(|it| match it {
            Capability::Credential(credential) => Some(credential),
            _ => None,
        })
    }

    /// Returns the command lines that may be run.
    pub fn commands(&self) -> impl Iterator<Item = &CommandPattern> {
        self.capabilities.iter().filter_map(|it| match it {
            Capability::Run(pattern) => Some(pattern),
            _ => None,
        })
    }

    /// Returns all rights, sorted by kind and value.
    pub fn iter(&self) -> impl Iterator<Item = &Capability> {
        self.capabilities.iter()
    }

    /// Whether there are no rights at all.
    pub fn is_empty(&self) -> bool {
        self.capabilities.is_empty()
    }

    /// Whether all of this capability is a right.
    pub fn allows(&self, capability: &Capability) -> bool {
        self.capabilities.iter().any(|it| it.covers(capability))
    }

    /// Whether any right writes, runs, spends or sends, so that a call asks for approval.
    ///
    /// Calling tools does not count: each of those calls asks for itself.
    pub fn can_act(&self) -> bool {
        self.acting().next().is_some()
    }

    /// Whether all that it can do is run programs, each of which is asked about by itself.
    pub fn acts_by_running_alone(&self) -> bool {
        self.can_act() && self.acting().all(|it| matches!(it, Capability::Run(_)))
    }

    /// Returns the rights that write, run, spend or send.
    pub fn acting(&self) -> impl Iterator<Item = &Capability> {
        self.capabilities.iter().filter(|it| match it {
            Capability::Write(_) | Capability::Http(_) | Capability::Credential(_) | Capability::Run(_) => true,
            Capability::Model | Capability::SessionControl => true,
            Capability::Read(_) | Capability::CallTool(_) | Capability::Env(_) | Capability::Conversation => false,
        })
    }

    fn tools(&self) -> impl Iterator<Item = &ToolPattern> {
        self.capabilities.iter().filter_map(|it| match it {
            Capability::CallTool(pattern) => Some(pattern),
            _ => None,
        })
    }

    fn insert(&mut self, capability: Capability) {
        if !self.allows(&capability) {
            self.capabilities.retain(|known| !capability.covers(known));
            self.capabilities.push(capability);
        }
    }
}

/// Whether a request may go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// No right covers it.
    Never,
    /// Only a right for any host covers it: the user is asked when the host is first used.
    Asking,
    /// A right names the host or the hosts it is one of.
    Freely,
}
