//! The tools of all plugins under their names, and the steps of a call.
//!
//! Apart from the plugins, because names, hooks and validation are decided across all of them, once, when they are loaded.

pub(crate) mod approval;
mod call;
mod question;

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::host_request::HookListing;
use crate::limits::Limits;
use crate::plugin::discover::Origin;
use crate::plugin::{Plugin, Tool};
use crate::tool::ToolDefinition;

/// Every tool there is.
#[derive(Debug)]
pub struct Toolbox {
    tools: Vec<Registered>,
    /// Real names, then aliases: a real name wins over an alias of the same spelling.
    names: HashMap<String, usize>,
    aliases: HashMap<String, usize>,
    /// `plugin.tool`, also of a tool that another one of the same name replaced.
    addresses: HashMap<String, usize>,
    hooks: Vec<HookListing>,
    limits: Limits,
    calls: Arc<Semaphore>,
    warnings: Vec<String>,
}

/// A tool with the plugin it comes from and the hooks around it.
struct Registered {
    tool: Tool,
    plugin: Arc<Plugin>,
    /// Global hooks first, then the tool's own, each in the order added.
    before: Vec<Hook>,
    after: Vec<Hook>,
    /// Another tool has taken its name; it is reached as `plugin.tool` alone.
    replaced: bool,
}

/// One hook of a plugin.
#[derive(Clone)]
struct Hook {
    plugin: Arc<Plugin>,
    /// Its place in the plugin's list.
    number: u32,
}

impl std::fmt::Debug for Registered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.plugin.name(), self.tool.definition.name)
    }
}

impl Toolbox {
    /// Registers the tools and hooks of plugins, in their order. A later tool replaces an earlier one of its name and takes
    /// its place in the listing.
    pub fn new(plugins: &[Arc<Plugin>], limits: &Limits) -> Self {
        let mut toolbox = Self {
            tools: Vec::new(),
            names: HashMap::new(),
            aliases: HashMap::new(),
            addresses: HashMap::new(),
            hooks: Vec::new(),
            limits: limits.clone(),
            calls: Arc::new(Semaphore::new(limits.calls)),
            warnings: Vec::new(),
        };
        for plugin in plugins {
            for tool in plugin.tools() {
                toolbox.add(plugin, tool);
            }
        }
        toolbox.alias();
        toolbox.hook(plugins);
        toolbox
    }

    fn add(&mut self, plugin: &Arc<Plugin>, tool: &Tool) {
        let name = tool.definition.name.as_str().to_owned();
        let address = format!("{}.{name}", plugin.name());
        let registered = |replaced| Registered {
            tool: tool.clone(),
            plugin: plugin.clone(),
            before: vec![],
            after: vec![],
            replaced,
        };
        let Some(&place) = self.names.get(&name) else {
            self.names.insert(name, self.tools.len());
            self.addresses.insert(address, self.tools.len());
            self.tools.push(registered(false));
            return;
        };
        let other = self.tools[place].plugin.clone();
        if plugin.origin() == Origin::Project && other.origin() != Origin::Project {
            self.warnings.push(format!(
                "tool `{name}` of project plugin `{}` does not replace that of plugin `{}`; it is reached as `{address}`",
                plugin.name(),
                other.name()
            ));
            self.addresses.insert(address, self.tools.len());
            self.tools.push(registered(true));
            return;
        }
        if Arc::ptr_eq(&other, plugin) {
            self.warnings.push(format!("plugin `{}` lists tool `{name}` twice; the later one counts", plugin.name()));
            self.tools[place] = registered(false);
            return;
        }
        self.warnings.push(format!(
            "tool `{name}` of plugin `{}` replaces that of plugin `{}`, which is reached as `{}.{name}`",
            plugin.name(),
            other.name(),
            other.name()
        ));
        let mut old = std::mem::replace(&mut self.tools[place], registered(false));
        old.replaced = true;
        self.addresses.insert(address, place);
        self.addresses.insert(format!("{}.{name}", other.name()), self.tools.len());
        self.tools.push(old);
    }

    /// Aliases come after all tools, so that a real name wins wherever it stands.
    fn alias(&mut self) {
        for (place, registered) in self.tools.iter().enumerate().filter(|(_, it)| !it.replaced) {
            for alias in &registered.tool.definition.aliases {
                let name = &registered.tool.definition.name;
                if let Some(other) = self.names.get(alias.as_str()) {
                    if *other != place {
                        self.warnings.push(format!(
                            "alias `{alias}` of tool `{name}` is the name of another tool, which counts"
                        ));
                    }
                    continue;
                }
                let taken = self.aliases.get(alias.as_str()).map(|it| &self.tools[*it]);
                if let Some(taken) = taken.filter(|it| it.plugin.origin() <= Origin::Flag) {
                    let from_project = registered.plugin.origin() == Origin::Project;
                    let other = &taken.tool.definition.name;
                    let counts = if from_project { other } else { name };
                    self.warnings.push(format!("alias `{alias}` of tools `{other}` and `{name}` means `{counts}`"));
                    if from_project {
                        continue;
                    }
                }
                self.aliases.insert(alias.as_str().to_owned(), place);
            }
        }
    }

    fn hook(&mut self, plugins: &[Arc<Plugin>]) {
        // Two rounds: all global hooks come before all hooks of single tools.
        for of_one_tool in [false, true] {
            for plugin in plugins {
                for (number, hook) in plugin.listing().hooks.iter().enumerate() {
                    if hook.tool.is_some() != of_one_tool {
                        continue;
                    }
                    let number = u32::try_from(number).expect("a listing is bounded");
                    let matching = |it: &&mut Registered| {
                        hook.tool.as_deref().is_none_or(|tool| tool == it.tool.definition.name.as_str())
                    };
                    for registered in self.tools.iter_mut().filter(matching) {
                        let hooks = if hook.before { &mut registered.before } else { &mut registered.after };
                        hooks.push(Hook { plugin: plugin.clone(), number });
                    }
                    self.hooks.push(HookListing {
                        before: hook.before,
                        tool: hook.tool.clone(),
                        plugin: plugin.name().clone(),
                    });
                }
            }
        }
    }

    /// The definitions that the model is told, in the order added.
    pub fn definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.tools.iter().filter(|it| !it.replaced).map(|it| &it.tool.definition)
    }

    /// Every alias with the tool that it means, by alias.
    pub fn aliases(&self) -> Vec<(&str, &str)> {
        let name = |place: &usize| self.tools[*place].tool.definition.name.as_str();
        let mut aliases: Vec<_> = self.aliases.iter().map(|(alias, place)| (alias.as_str(), name(place))).collect();
        aliases.sort_unstable();
        aliases
    }

    /// All hooks: those for every tool, then those for one, each in the order added.
    pub fn hooks(&self) -> &[HookListing] {
        &self.hooks
    }

    /// What was replaced or left out when the tools were registered.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Finds a tool: by its real name, by an alias, as `plugin.tool`. A literal name that holds a dot comes first.
    pub fn find(&self, name: &str) -> Option<&ToolDefinition> {
        self.lookup(name).map(|it| &it.tool.definition)
    }

    /// The plugin that a tool comes from.
    pub fn plugin_of(&self, name: &str) -> Option<&Arc<Plugin>> {
        self.lookup(name).map(|it| &it.plugin)
    }

    /// What validation says of arguments for a tool; nothing when they are valid. Runs nothing.
    pub fn validate(&self, name: &str, arguments: &str) -> Vec<String> {
        let Some(registered) = self.lookup(name) else { return vec![self.unknown(name)] };
        match call::checked(&registered.tool.schema, arguments) {
            Ok(_) => Vec::new(),
            Err(errors) => errors,
        }
    }

    fn lookup(&self, name: &str) -> Option<&Registered> {
        let place = self.names.get(name).or_else(|| self.aliases.get(name)).or_else(|| self.addresses.get(name))?;
        Some(&self.tools[*place])
    }

    pub(crate) fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.definitions().map(|it| it.name.as_str()).collect();
        let name = crate::text::visible_line(crate::text::first_chars(name, 100));
        if names.is_empty() {
            format!("unknown tool `{name}`: there are no tools")
        } else {
            format!("unknown tool `{name}`, expected one of: {}", names.join(", "))
        }
    }
}
