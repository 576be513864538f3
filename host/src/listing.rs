//! What a plugin says of itself: the answers of `describe` and the `list-…` functions, bounded, and as the cache keeps them.
//!
//! Apart from [`crate::plugin::Plugin`], because this is input from a stranger: it is checked here once and never asked again.

use serde::{Deserialize, Serialize};

use crate::capability::MOST_ASKED;
use crate::limits::Limits;
use crate::name::PluginName;

/// The answers of one plugin.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Listing {
    /// Who it is.
    pub name: PluginName,
    /// Its own version, as it spells it.
    pub version: String,
    /// One line for the user.
    pub description: String,
    /// What it wants to use, as it spells it, each with its reason.
    pub asked: Vec<Asked>,
    /// Whether its tools and commands run in one instance for the session.
    pub keeps_instance: bool,
    /// Its tools.
    pub tools: Vec<ListedTool>,
    /// Its hooks.
    pub hooks: Vec<ListedHook>,
    /// Its slash commands.
    pub commands: Vec<ListedCommand>,
    /// Its model APIs.
    pub providers: Vec<ListedProvider>,
}

/// One capability that a plugin asks for: the kind and the value of the WIT variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Such as `read`.
    pub kind: String,
    /// Such as `.`; empty for a kind without value.
    pub value: String,
    /// A credential's secret, origin, header and prefix.
    pub credential: Option<[String; 4]>,
    /// Shown to the user who is asked to grant it.
    pub reason: String,
}

/// A tool, as listed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ListedTool {
    /// As the plugin spells it.
    pub name: String,
    /// For the model.
    pub description: String,
    /// JSON Schema, as text.
    pub parameters: String,
    /// Other names.
    pub aliases: Vec<String>,
}

/// A hook, as listed. Its number is its place in the list.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ListedHook {
    /// Whether it runs before the tool or after it.
    pub before: bool,
    /// The real name of its tool; none for every tool.
    pub tool: Option<String>,
}

/// A slash command, as listed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ListedCommand {
    /// Without the slash.
    pub name: String,
    /// One line.
    pub description: String,
}

/// A model API, as listed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ListedProvider {
    /// As in `-p NAME`.
    pub name: String,
    /// One line.
    pub description: String,
    /// The model that is used when the user names none.
    pub default_model: Option<String>,
}

/// Too many things in a listing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "it lists {count} {what}, the limit is {limit}; `listing` in `[limits]` of the configuration sets another limit"
)]
pub struct TooMany {
    /// Such as `tools`.
    pub what: &'static str,
    /// How many there are.
    pub count: usize,
    /// How many there may be.
    pub limit: usize,
}

impl Listing {
    /// Checks the numbers of what is listed. What is wrong with a single tool disables that tool alone, later.
    ///
    /// # Errors
    ///
    /// [`TooMany`] with what there is too much of.
    pub fn check(&self, limits: &Limits) -> Result<(), TooMany> {
        let counts = [
            ("capabilities", self.asked.len()),
            ("tools", self.tools.len()),
            ("hooks", self.hooks.len()),
            ("commands", self.commands.len()),
            ("providers", self.providers.len()),
            ("aliases of one tool", self.tools.iter().map(|it| it.aliases.len()).max().unwrap_or(0)),
        ];
        let most = |what| if what == "capabilities" { MOST_ASKED } else { limits.listing };
        let over = counts.into_iter().find(|(what, count)| *count > most(*what));
        over.map_or(Ok(()), |(what, count)| Err(TooMany { what, count, limit: most(what) }))
    }
}
