//! The user's terminal.
//!
//! What a plugin shows stands under its name; control characters are made visible, not obeyed. Blank text prints nothing.
//!
//! ```
//! use bellglass_guest::{Setup, terminal, test};
//!
//! fn setup(setup: &mut Setup) {
//!     setup.command("name", "Asks for a name", |_| match terminal::ask("Your name? ") {
//!         Some(name) => terminal::say_markdown(&format!("Hello, **{name}**")),
//!         None => terminal::say_error("nobody is there"),
//!     });
//! }
//!
//! let plugin = test::plugin(setup).with_answer("Ada");
//! assert_eq!(plugin.run_command("name", None).said(), "Hello, **Ada**\n");
//! assert_eq!(plugin.run_command("name", None).said(), "error: nobody is there\n");
//! ```

use crate::{bindings::bellglass::plugin::terminal::Style, imports::terminal};

/// Prints the text and a newline.
pub fn say(text: &str) {
    terminal::say(text, Style::Plain);
}

/// Prints the text, which is Markdown, rendered for a person.
pub fn say_markdown(text: &str) {
    terminal::say(text, Style::Markdown);
}

/// Prints `error: ` and the text. A command that fails returns an error instead; the host prints it like this.
pub fn say_error(text: &str) {
    terminal::say(text, Style::Error);
}

/// Prints the text as it is, without a newline.
pub fn print(text: &str) {
    terminal::print(text);
}

/// Prints dimmed italic text.
pub fn thinking(text: &str) {
    terminal::thinking(text);
}

/// Prints a line such as `+ name(arguments)`, where `+` is the state.
pub fn doing(name: &str, arguments: &str, state: &str) {
    terminal::doing(name, arguments, state);
}

/// Shows that something takes time, until the next output.
pub fn waiting() {
    terminal::waiting();
}

/// Shows the content of a file that the plugin may read; else the fallback; without one, the path.
pub fn display_file(path: &str, fallback: Option<&str>) {
    terminal::display_file(path, fallback);
}

/// Asks for a line; none at the end of input or where nobody can answer.
#[must_use]
pub fn ask(prompt: &str) -> Option<String> {
    terminal::ask(prompt)
}

/// Whether a person can answer.
#[must_use]
pub fn is_interactive() -> bool {
    terminal::is_interactive()
}
