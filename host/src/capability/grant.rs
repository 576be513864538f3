//! Grants as a user writes them: `KIND`, `KIND=VALUE`, and with the plugin's name before them on the command line.
//! Separate because a grant says less than a capability: it may stand for whatever the plugin asked for of its kind.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    Capability, CapabilityError, Credential, CredentialError, GrantSet, Host, Kind, Origin, VariableName, effective,
    quoted,
};
use crate::name::{NameError, PluginName};

/// One grant. `Display` is the spelling of `--grant`, without the plugin: `http=https://example.org`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Grant {
    /// All that the plugin asked for of this kind.
    Every(Kind),
    /// One capability; never a credential, whose header only the plugin knows.
    One(Capability),
    /// A secret, for the credentials that the plugin asked for with it; at an origin, for that one only.
    Secret(VariableName, Option<Origin>),
}

/// Why a text is no grant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrantError {
    /// No `:` after the plugin.
    #[error("`{0}` names no plugin, expected `PLUGIN:KIND=VALUE` such as `web:http=https://example.org`")]
    NoPlugin(String),
    /// The plugin's name cannot be one.
    #[error(transparent)]
    Plugin(#[from] NameError),
    /// No such kind.
    #[error("unknown kind of grant `{0}`, expected {known}", known = kinds())]
    Kind(String),
    /// The value does not fit the kind.
    #[error(transparent)]
    Value(#[from] CapabilityError),
}

impl Grant {
    /// Parses `KIND` or `KIND=VALUE`.
    pub fn parse(text: &str) -> Result<Grant, GrantError> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.as_str() == name) else {
            return Err(GrantError::Kind(quoted(name)));
        };
        match (kind, value) {
            (kind, None) if kind.has_value() => Ok(Grant::Every(kind)),
            (Kind::Credential, Some(value)) => Ok(Grant::secret(value).map_err(CapabilityError::from)?),
            (kind, value) => Ok(Grant::One(Capability::parse(kind, value.unwrap_or_default())?)),
        }
    }

    /// Parses what follows `--grant`: `PLUGIN:KIND` or `PLUGIN:KIND=VALUE`.
    pub fn parse_flag(text: &str) -> Result<(PluginName, Grant), GrantError> {
        let Some((plugin, grant)) = text.split_once(':') else {
            return Err(GrantError::NoPlugin(quoted(text)));
        };
        // `http=https://…` without plugin has its first `:` inside the value.
        if plugin.contains('=') {
            return Err(GrantError::NoPlugin(quoted(text)));
        }
        Ok((PluginName::try_from(plugin.to_owned())?, Grant::parse(grant)?))
    }

    /// Returns the flag that gives this grant to a plugin, quoted for a shell: `--grant 'shell:run=cargo *'`.
    pub fn flag(&self, plugin: &PluginName) -> String {
        format!("--grant {}", crate::text::for_shell(&format!("{plugin}:{self}")))
    }

    /// Returns the sentence for a plugin that lacks it: how to grant it for one run, and for good.
    pub fn hint(&self, plugin: &PluginName) -> String {
        let value = crate::text::for_shell(&self.to_string());
        let flag = self.flag(plugin);
        format!(
            "plugin `{plugin}` has no `{self}`: `{flag}` for one run, `bellglass plugin grant {plugin} {value}` for good"
        )
    }

    /// Returns what the grant gives to a plugin that asks for this.
    fn capabilities(&self, asked: &[Capability]) -> Vec<Capability> {
        match self {
            Grant::Every(kind) => asked.iter().filter(|it| it.kind() == *kind).cloned().collect(),
            Grant::One(capability) => vec![capability.clone()],
            Grant::Secret(secret, origin) => {
                let narrowed = |it: &Credential| match origin {
                    Some(origin) => it.at(origin),
                    None => Some(it.clone()),
                };
                let credentials = asked.iter().filter_map(|it| match it {
                    Capability::Credential(it) if it.secret() == secret => narrowed(it),
                    _ => None,
                });
                credentials.map(Capability::Credential).collect()
            }
        }
    }

    fn secret(text: &str) -> Result<Grant, CredentialError> {
        let Some((secret, origin)) = text.split_once('@') else {
            return Ok(Grant::Secret(VariableName::parse(text)?, None));
        };
        let origin = Origin::parse(origin)?;
        if *origin.host() == Host::Any {
            return Err(CredentialError::AnyHost);
        }
        Ok(Grant::Secret(VariableName::parse(secret)?, Some(origin)))
    }
}

impl From<&Capability> for Grant {
    /// Returns the grant of just this capability.
    fn from(capability: &Capability) -> Grant {
        match capability {
            Capability::Credential(it) => Grant::Secret(it.secret().clone(), Some(it.origin().clone())),
            _ => Grant::One(capability.clone()),
        }
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Grant::Every(kind) => kind.fmt(f),
            Grant::Secret(secret, None) => write!(f, "credential={secret}"),
            Grant::Secret(secret, Some(origin)) => write!(f, "credential={secret}@{origin}"),
            Grant::One(capability) => match capability {
                Capability::Read(folder) => write!(f, "read={folder}"),
                Capability::Write(folder) => write!(f, "write={folder}"),
                Capability::Http(origin) => write!(f, "http={origin}"),
                Capability::Credential(it) => write!(f, "credential={}@{}", it.secret(), it.origin()),
                Capability::Run(pattern) => write!(f, "run={pattern}"),
                Capability::CallTool(pattern) => write!(f, "call-tool={pattern}"),
                Capability::Env(name) => write!(f, "env={name}"),
                Capability::Conversation | Capability::Model | Capability::SessionControl => capability.kind().fmt(f),
            },
        }
    }
}

impl TryFrom<String> for Grant {
    type Error = GrantError;

    fn try_from(text: String) -> Result<Grant, GrantError> {
        Grant::parse(&text)
    }
}

impl From<Grant> for String {
    fn from(grant: Grant) -> String {
        grant.to_string()
    }
}

/// All that a user granted to one plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grants {
    grants: Vec<Grant>,
}

impl Grants {
    /// Adds a grant; one that is there already is not added again.
    pub fn add(&mut self, grant: Grant) {
        if !self.grants.contains(&grant) {
            self.grants.push(grant);
        }
    }

    /// Removes a grant; false when there is none that is spelled like it.
    pub fn remove(&mut self, grant: &Grant) -> bool {
        let before = self.grants.len();
        self.grants.retain(|known| known != grant);
        self.grants.len() < before
    }

    /// Returns the grants in the order they were given.
    pub fn iter(&self) -> impl Iterator<Item = &Grant> {
        self.grants.iter()
    }

    /// Whether nothing was granted.
    pub fn is_empty(&self) -> bool {
        self.grants.is_empty()
    }

    /// Returns what a plugin that asks for this may do.
    pub fn effective(&self, asked: &[Capability]) -> GrantSet {
        let granted: Vec<Capability> = self.grants.iter().flat_map(|grant| grant.capabilities(asked)).collect();
        effective(asked, &granted)
    }
}

fn kinds() -> String {
    let names = Kind::ALL.map(|kind| format!("`{kind}`"));
    let (last, others) = names.split_last().expect("there are kinds");
    format!("{} or {last}", others.join(", "))
}

#[cfg(test)]
mod tests;
