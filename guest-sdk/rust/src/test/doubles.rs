//! Doubles of the imports, with the signatures of the generated bindings, so that the modules of the SDK cannot tell.

pub(crate) mod agents;
pub(crate) mod conversation;
pub(crate) mod http;
pub(crate) mod toolbox;

pub(crate) mod log {
    //! Remembers the log.

    use crate::{bindings::bellglass::plugin::log::Level, test::world};

    pub(crate) fn log(level: Level, message: &str) {
        let level = match level {
            Level::Trace => "trace",
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        };
        world::with(|world| world.logged.push(format!("{level}: {message}")));
    }
}

pub(crate) mod terminal {
    //! Remembers what is shown, as text.

    use crate::{bindings::bellglass::plugin::terminal::Style, test::world};

    fn show(text: &str, line: impl FnOnce() -> String) {
        if !text.trim().is_empty() {
            world::with(|world| world.show(&line()));
        }
    }

    pub(crate) fn say(text: &str, style: Style) {
        show(text, || match style {
            Style::Plain | Style::Markdown => format!("{text}\n"),
            Style::Error => format!("error: {text}\n"),
        });
    }

    pub(crate) fn print(text: &str) {
        show(text, || text.to_owned());
    }

    pub(crate) fn thinking(text: &str) {
        show(text, || text.to_owned());
    }

    pub(crate) fn doing(name: &str, arguments: &str, state: &str) {
        show(name, || format!("{state} {name}({arguments})\n"));
    }

    pub(crate) fn waiting() {}

    pub(crate) fn display_file(path: &str, fallback: Option<&str>) {
        match std::fs::read_to_string(path) {
            Ok(text) => say(&text, Style::Plain),
            Err(_) => say(fallback.unwrap_or(path), Style::Plain),
        }
    }

    pub(crate) fn ask(_prompt: &str) -> Option<String> {
        world::with(|world| world.answer())
    }

    pub(crate) fn is_interactive() -> bool {
        world::with(|world| !world.answers.is_empty())
    }
}

pub(crate) mod reply {
    //! Remembers what a provider passes on.

    use crate::{bindings::bellglass::plugin::reply::Event, test::world};

    pub(crate) fn emit(event: &Event) {
        world::with(|world| world.events.push(event.clone()));
    }
}

pub(crate) mod session {
    //! The plugin's own commands, and counters.

    use crate::{Capability, bindings::bellglass::plugin::types::Command, test::world};

    fn control() -> Result<(), String> {
        world::need("session-control", |capability| *capability == Capability::SessionControl)
    }

    pub(crate) fn commands() -> Vec<Command> {
        world::fresh().list_commands()
    }

    pub(crate) fn completions(name: &str, partial: &str) -> Vec<String> {
        world::fresh().complete(name, partial)
    }

    pub(crate) fn run_command(name: &str, arguments: Option<&str>) -> Result<bool, String> {
        control()?;
        if commands().iter().all(|command| command.name != name) {
            return Ok(false);
        }
        world::instance(|plugin| plugin.run_command(name, arguments))??;
        Ok(true)
    }

    pub(crate) fn reload() -> Result<(), String> {
        control()?;
        world::with(|world| world.reloads += 1);
        Ok(())
    }

    pub(crate) fn exit() -> Result<(), String> {
        control()?;
        world::with(|world| world.exits += 1);
        Ok(())
    }
}

pub(crate) mod process {
    //! Programs that only say what they were prepared to say.

    use crate::{
        Capability,
        bindings::bellglass::plugin::process::{Options, Output},
        test::world,
    };

    pub(crate) fn run(command_line: &str, options: Options) -> Result<Output, String> {
        world::need(&format!("run={command_line}"), |capability| match capability {
            Capability::Run(pattern) => fits(pattern, command_line),
            _ => false,
        })?;
        let output = world::with(|world| {
            let program = world.programs.iter().rfind(|(line, _)| line == command_line);
            program.map(|(_, output)| output.clone())
        });
        let output = output.ok_or_else(|| format!("no program was prepared for `{command_line}`"))?;
        if options.show {
            super::terminal::print(&output.stdout);
        }
        Ok(output)
    }

    pub(crate) fn run_argv(argv: &[String], options: Options) -> Result<Output, String> {
        run(&argv.join(" "), options)
    }

    /// Whether text fits a pattern in which `*` stands for anything.
    fn fits(pattern: &str, text: &str) -> bool {
        match pattern.split_once('*') {
            None => pattern == text,
            Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
                let ends = text.char_indices().map(|(place, _)| place).chain([text.len()]);
                ends.into_iter().any(|place| fits(rest, &text[place..]))
            }),
        }
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn a_star_stands_for_anything() {
            for (pattern, text, expected) in [
                ("cargo *", "cargo check", true),
                ("cargo *", "cargo", false),
                ("*", "", true),
                ("git * main", "git push origin main", true),
                ("git * main", "git push origin", false),
            ] {
                assert_eq!(super::fits(pattern, text), expected, "{pattern} {text}");
            }
        }
    }
}

pub(crate) mod storage {
    //! A map.

    use crate::test::world;

    pub(crate) fn get(key: &str) -> Option<Vec<u8>> {
        world::with(|world| world.stored.get(key).cloned())
    }

    pub(crate) fn set(key: &str, value: &[u8]) -> Result<(), String> {
        world::with(|world| world.stored.insert(key.to_owned(), value.to_owned()));
        Ok(())
    }

    pub(crate) fn delete(key: &str) {
        world::with(|world| world.stored.remove(key));
    }

    pub(crate) fn keys() -> Vec<String> {
        world::with(|world| world.stored.keys().cloned().collect())
    }
}

pub(crate) mod settings {
    //! What the test set.

    use crate::test::world;

    pub(crate) fn get() -> String {
        world::with(|world| world.settings.to_string())
    }

    pub(crate) fn has_secret(name: &str) -> bool {
        world::with(|world| world.secrets.iter().any(|secret| secret == name))
    }
}
