//! The built program with real components, driven as a person or a script would.
//!
//! One binary, so that it is linked once. Each subject is a file; a new test goes where its sentence fits.

mod support;

// The command line: exit status, streams, JSON.
mod call;

// Files that are no plugins, and plugins that get in each other's way.
mod loading;

// Compiled code that is kept between runs.
mod cache;

// Every limit of the sandbox.
mod limits;

// What a plugin can reach.
mod sandbox;
