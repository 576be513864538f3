//! [`Capability`]: what a plugin may ask for. Mirrors the WIT variant, because most of it is constant text that a call
//! should not have to copy: `setup` runs on every call, `describe` once.

use crate::bindings::exports::bellglass::plugin::manifest as wit;
use std::borrow::Cow;

/// Something outside the sandbox. A plugin gets what its user granted of what it asked for, never more.
///
/// ```
/// use bellglass_guest::Capability;
///
/// let asked = [Capability::read("src"), Capability::run("cargo *"), Capability::Conversation];
/// assert_eq!(asked[0], Capability::Read("src".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Read files at and below a folder: `.` is the workspace, other paths are below it, `~/…` below the user's home.
    Read(Cow<'static, str>),
    /// Read and write files at and below a folder.
    Write(Cow<'static, str>),
    /// Send HTTP requests to `scheme://host[:port]`. The host may start with `*.`; `https://*` asks for any host.
    Http(Cow<'static, str>),
    /// Have the host put a secret into requests. The plugin never sees its value.
    Credential(Credential),
    /// Run programs whose command line matches a pattern such as `cargo *`.
    Run(Cow<'static, str>),
    /// Call a tool by name; `*` for all. Listing tools needs it as well.
    CallTool(Cow<'static, str>),
    /// Read one environment variable. The name of a stored secret cannot be granted.
    Env(Cow<'static, str>),
    /// Read and change the conversation.
    Conversation,
    /// Ask the model: run turns and sub-agents, switch the provider.
    Model,
    /// End or reload the session, run other slash commands.
    SessionControl,
}

/// A header that the host fills in on the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// The name under which the user stored the secret, such as `ANTHROPIC_API_KEY`.
    pub secret: Cow<'static, str>,
    /// `scheme://host[:port]` of the requests that get it.
    pub origin: Cow<'static, str>,
    /// Such as `x-api-key` or `authorization`.
    pub header: Cow<'static, str>,
    /// Put before the secret's value, such as `Bearer `.
    pub prefix: Cow<'static, str>,
}

impl Capability {
    /// See [`Capability::Read`].
    pub fn read(folder: impl Into<Cow<'static, str>>) -> Self {
        Self::Read(folder.into())
    }

    /// See [`Capability::Write`].
    pub fn write(folder: impl Into<Cow<'static, str>>) -> Self {
        Self::Write(folder.into())
    }

    /// See [`Capability::Http`].
    pub fn http(origin: impl Into<Cow<'static, str>>) -> Self {
        Self::Http(origin.into())
    }

    /// `secret` after `prefix` in `header` of the requests to `origin`.
    pub fn credential(
        secret: impl Into<Cow<'static, str>>,
        origin: impl Into<Cow<'static, str>>,
        header: impl Into<Cow<'static, str>>,
        prefix: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::Credential(Credential {
            secret: secret.into(),
            origin: origin.into(),
            header: header.into(),
            prefix: prefix.into(),
        })
    }

    /// See [`Capability::Run`].
    pub fn run(pattern: impl Into<Cow<'static, str>>) -> Self {
        Self::Run(pattern.into())
    }

    /// See [`Capability::CallTool`].
    pub fn call_tool(name: impl Into<Cow<'static, str>>) -> Self {
        Self::CallTool(name.into())
    }

    /// See [`Capability::Env`].
    pub fn env(name: impl Into<Cow<'static, str>>) -> Self {
        Self::Env(name.into())
    }

    pub(crate) fn to_wit(&self) -> wit::Capability {
        match self {
            Self::Read(folder) => wit::Capability::Read(folder.to_string()),
            Self::Write(folder) => wit::Capability::Write(folder.to_string()),
            Self::Http(origin) => wit::Capability::Http(origin.to_string()),
            Self::Credential(credential) => wit::Capability::Credential(wit::Credential {
                secret: credential.secret.to_string(),
                origin: credential.origin.to_string(),
                header: credential.header.to_string(),
                prefix: credential.prefix.to_string(),
            }),
            Self::Run(pattern) => wit::Capability::Run(pattern.to_string()),
            Self::CallTool(name) => wit::Capability::CallTool(name.to_string()),
            Self::Env(name) => wit::Capability::Env(name.to_string()),
            Self::Conversation => wit::Capability::Conversation,
            Self::Model => wit::Capability::Model,
            Self::SessionControl => wit::Capability::SessionControl,
        }
    }
}
