//! A hook that stands before another plugin's tool: the smallest plugin that guards something. It asks for nothing, since a
//! hook is shown each call anyway.
//!
//! It keeps a model from deleting by habit. It is no wall: `find -delete` removes files too. What a plugin or a tool can
//! reach at all is decided by grants.

use bellglass_guest::{Setup, Value};

fn setup(setup: &mut Setup) {
    setup.plugin("no-rm", "Refuses shell commands that contain rm");
    setup.before("execute", |arguments: &Value| match arguments["command"].as_str() {
        Some(command) if has_word(command, "rm") => Err("refusing to run rm: move the files away instead"),
        _ => Ok(()),
    });
}

bellglass_guest::export!(setup);

/// Whether `word` stands in the text with no letter, digit or `_` at either side, as `\bword\b` in a regular expression
/// would find it. By hand, because a regex engine would be most of the component, and compile its pattern on every call.
fn has_word(text: &str, word: &str) -> bool {
    let in_word = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(word).any(|(place, _)| {
        let before = text[..place].chars().next_back();
        let after = text[place + word.len()..].chars().next();
        !before.is_some_and(in_word) && !after.is_some_and(in_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellglass_guest::{json, test};

    /// A shell that would run anything.
    fn execute(command: &str) -> Value {
        let plugin = test::plugin(setup).with_tool("execute", |_| json!({"exit_status": 0}));
        plugin.call("execute", json!({"command": command}))
    }

    #[test]
    fn rm_is_refused_wherever_it_stands() {
        for command in ["rm -rf build", "ls; rm x", "/bin/rm x", "$(rm x)", "echo 'rm'", "sudo\trm\tx", "x|rm", "rm"] {
            let error = json!("refusing to run rm: move the files away instead");
            assert_eq!(execute(command)["error"], error, "{command}");
        }
    }

    #[test]
    fn words_that_only_hold_rm_pass() {
        for command in ["cargo fmt", "charm x", "rmdir_all", "npm run farm", "ls rm_me", "echo größerm", ""] {
            assert_eq!(execute(command), json!({"exit_status": 0, "ok": true}), "{command}");
        }
    }

    #[test]
    fn other_tools_and_other_arguments_pass() {
        let plugin = test::plugin(setup)
            .with_tool("write", |_| json!({"bytes": 2}))
            .with_tool("execute", |_| json!({"exit_status": 0}));
        assert_eq!(plugin.call("write", json!({"command": "rm"}))["ok"], true);
        assert_eq!(plugin.call("execute", json!({"command": 5}))["ok"], true);
        test::check_listing(setup);
    }
}
