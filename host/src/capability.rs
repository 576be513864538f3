//! What a plugin may ask for, what its user granted, and what is left of both.
//! Separate because every right is decided here, as data, before anything is opened or sent.

mod address;
mod credential;
mod folder;
mod grant;
mod grant_set;
mod origin;
mod pattern;
mod protected;

use std::fmt;

pub use address::{is_metadata, special};
pub use credential::{Credential, CredentialError, VariableName};
pub use folder::{Base, Folder, FolderError, Mode};
pub use grant::{Grant, GrantError, Grants};
pub use grant_set::{GrantSet, Reach, effective};
pub use origin::{Host, Origin, OriginError, Scheme};
pub use pattern::{CommandPattern, PatternError, ToolPattern};
pub use protected::{PROTECTED, is_protected, same_name};

/// The most capabilities that one plugin can ask for: more is no list that a person reads.
pub const MOST_ASKED: usize = 64;

/// Longest text of a capability, in bytes. Long enough for a deep path, short enough for a question on the screen.
const MOST_BYTES: usize = 1024;

/// One thing outside the sandbox, as asked for or granted.
///
/// `Display` says it in plain words, to a person who decides.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Capability {
    /// Files of a folder and below are read.
    Read(Folder),
    /// Files of a folder and below are read and written, but for what [`is_protected`] by its name and is not in the
    /// folder's own.
    Write(Folder),
    /// Requests are sent.
    Http(Origin),
    /// The host adds a credential to requests.
    Credential(Credential),
    /// Programs are run.
    Run(CommandPattern),
    /// Other tools are called.
    CallTool(ToolPattern),
    /// An environment variable is read.
    Env(VariableName),
    /// The conversation is read and changed.
    Conversation,
    /// Turns and sub-agents are run, the provider is switched.
    Model,
    /// The session is ended or loaded again, other slash commands are run.
    SessionControl,
}

/// What a capability is about, without its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `read`.
    Read,
    /// `write`.
    Write,
    /// `http`.
    Http,
    /// `credential`.
    Credential,
    /// `run`.
    Run,
    /// `call-tool`.
    CallTool,
    /// `env`.
    Env,
    /// `conversation`.
    Conversation,
    /// `model`.
    Model,
    /// `session-control`.
    SessionControl,
}

/// Why a text is no capability.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CapabilityError {
    /// A folder is wrong.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// An origin is wrong.
    #[error(transparent)]
    Origin(#[from] OriginError),
    /// A pattern is wrong.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A credential or the name of a variable is wrong.
    #[error(transparent)]
    Credential(#[from] CredentialError),
    /// The kind has no value.
    #[error("`{kind}` takes no value, got `{value}`")]
    NoValue {
        /// The kind.
        kind: Kind,
        /// What was written.
        value: String,
    },
    /// One text does not hold all of a credential.
    #[error("a credential needs secret, origin, header and prefix")]
    Parts,
}

impl Capability {
    /// Parses a capability from its kind and one text, which is empty for a kind without value.
    ///
    /// Not for `credential`, which has four: see [`Credential::parse`].
    pub fn parse(kind: Kind, text: &str) -> Result<Capability, CapabilityError> {
        let plain = |capability| match text {
            "" => Ok(capability),
            _ => Err(CapabilityError::NoValue { kind, value: quoted(text) }),
        };
        match kind {
            Kind::Read => Ok(Capability::Read(Folder::parse(text)?)),
            Kind::Write => Ok(Capability::Write(Folder::parse(text)?)),
            Kind::Http => Ok(Capability::Http(Origin::parse(text)?)),
            Kind::Credential => Err(CapabilityError::Parts),
            Kind::Run => Ok(Capability::Run(CommandPattern::parse(text)?)),
            Kind::CallTool => Ok(Capability::CallTool(ToolPattern::parse(text)?)),
            Kind::Env => Ok(Capability::Env(VariableName::parse(text)?)),
            Kind::Conversation => plain(Capability::Conversation),
            Kind::Model => plain(Capability::Model),
            Kind::SessionControl => plain(Capability::SessionControl),
        }
    }

    /// Returns what it is about.
    pub fn kind(&self) -> Kind {
        match self {
            Capability::Read(_) => Kind::Read,
            Capability::Write(_) => Kind::Write,
            Capability::Http(_) => Kind::Http,
            Capability::Credential(_) => Kind::Credential,
            Capability::Run(_) => Kind::Run,
            Capability::CallTool(_) => Kind::CallTool,
            Capability::Env(_) => Kind::Env,
            Capability::Conversation => Kind::Conversation,
            Capability::Model => Kind::Model,
            Capability::SessionControl => Kind::SessionControl,
        }
    }

    /// Returns what both allow, if anything. Reading and writing a folder have reading in common.
    pub fn narrow(&self, other: &Capability) -> Option<Capability> {
        match self {
            Capability::Read(folder) => match other {
                Capability::Read(other) | Capability::Write(other) => folder.narrow(other).map(Capability::Read),
                _ => None,
            },
            Capability::Write(folder) => match other {
                Capability::Read(other) => folder.narrow(other).map(Capability::Read),
                Capability::Write(other) => folder.narrow_to_write(other).map(Capability::Write),
                _ => None,
            },
            Capability::Http(origin) => match other {
                Capability::Http(other) => origin.narrow(other).map(Capability::Http),
                _ => None,
            },
            Capability::Credential(credential) => match other {
                Capability::Credential(other) => credential.narrow(other).map(Capability::Credential),
                _ => None,
            },
            Capability::Run(pattern) => match other {
                Capability::Run(other) => pattern.narrow(other).map(Capability::Run),
                _ => None,
            },
            Capability::CallTool(pattern) => match other {
                Capability::CallTool(other) => pattern.narrow(other).map(Capability::CallTool),
                _ => None,
            },
            Capability::Env(_) | Capability::Conversation | Capability::Model | Capability::SessionControl => {
                (self == other).then(|| self.clone())
            }
        }
    }

    /// Whether all that the other capability allows is allowed by this one.
    pub fn covers(&self, other: &Capability) -> bool {
        self.narrow(other).as_ref() == Some(other)
    }
}

impl Kind {
    /// All kinds, in the order of the interface.
    pub const ALL: [Kind; 10] = [
        Kind::Read,
        Kind::Write,
        Kind::Http,
        Kind::Credential,
        Kind::Run,
        Kind::CallTool,
        Kind::Env,
        Kind::Conversation,
        Kind::Model,
        Kind::SessionControl,
    ];

    /// Returns the kind as `--grant` and the interface spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Http => "http",
            Kind::Credential => "credential",
            Kind::Run => "run",
            Kind::CallTool => "call-tool",
            Kind::Env => "env",
            Kind::Conversation => "conversation",
            Kind::Model => "model",
            Kind::SessionControl => "session-control",
        }
    }

    /// Whether a capability of this kind has a value: a folder, an origin, a name.
    pub fn has_value(self) -> bool {
        !matches!(self, Kind::Conversation | Kind::Model | Kind::SessionControl)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = |folder: &Folder| match (folder.base(), folder.names()) {
            (Base::Workspace, []) => "the workspace".to_owned(),
            (Base::Workspace, _) => format!("`{folder}` of the workspace"),
            (Base::Home, _) => format!("`{folder}`"),
        };
        match self {
            Capability::Read(folder) => write!(f, "read files in {}", place(folder)),
            Capability::Write(folder) => write!(f, "read and write files in {}", place(folder)),
            Capability::Http(origin) => match origin.host() {
                Host::Any => write!(f, "send requests to any host ({origin}), after a question for each"),
                Host::Below(name) => write!(f, "send requests to all hosts below {name} ({origin})"),
                Host::Name(_) | Host::V4(_) | Host::V6(_) => write!(f, "send requests to {origin}"),
            },
            Capability::Credential(it) => {
                write!(f, "have `{}` added to requests to {} as `{}`", it.secret(), it.origin(), it.header())
            }
            Capability::Run(pattern) if pattern.words().is_empty() => f.write_str("run any program"),
            Capability::Run(pattern) => write!(f, "run `{pattern}`"),
            Capability::CallTool(ToolPattern::Any) => f.write_str("call all other tools"),
            Capability::CallTool(ToolPattern::Name(name)) => write!(f, "call the tool `{name}`"),
            Capability::Env(name) => write!(f, "read the environment variable `{name}`"),
            Capability::Conversation => f.write_str("read and change the conversation"),
            Capability::Model => f.write_str("ask the model, run sub-agents and switch the provider"),
            Capability::SessionControl => f.write_str("end or reload the session and run slash commands"),
        }
    }
}

/// What of a refused text goes into the message: its start, with nothing hidden.
fn quoted(text: &str) -> String {
    let start = crate::text::first_chars(text, 80);
    let more = if start.len() < text.len() { "…" } else { "" };
    format!("{}{more}", crate::text::visible_line(start))
}

#[cfg(test)]
mod tests;
