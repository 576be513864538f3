//! The built program with real components, driven as a person or a script would.
//!
//! One binary, so that it is linked once. Each subject is a file; a new test goes where its sentence fits.

#![allow(clippy::unwrap_used, reason = "a test that panics fails, and says where")]

mod support;

// The command line: exit status, streams, JSON.
mod ask;
mod call;
mod scripts;

// Files that are no plugins, and which plugin counts.
mod loading;
mod precedence;

// Compiled code that is kept between runs.
mod cache;

// Every limit of the sandbox, and the plugins that outlive a call.
mod limits;
mod residents;
mod waiting;

// What a plugin can reach.
mod attacks;
mod sandbox;

// What the person grants and allows, and how it is asked.
mod approval;
mod grants;
mod trust;
// Requests of plugins, and the secrets that are added to them.
mod http;
mod secrets;

// What is kept of what plugins did.
mod audit;

// Around a call: order, refusals, replacements.
mod hooks;

// What is set, and what is installed.
mod config;
mod plugins;
mod prompt;

// Slash commands, and what they may do.
mod commands;

// Agents below the agent.
mod sub_agents;

// Conversations on disk.
mod session;

// From a prompt to its end.
mod turn;

// Lines in, text out.
mod repl;

// What there is, and what its names mean.
mod toolbox;

// The page for new users: its sessions, its plugin, its tables.
mod readme;

// The pages beside it.
mod docs;

// The map of the code: what may import what.
mod architecture;

// The interface between host and plugins.
mod interface;

// The tree itself.
mod tidy;
