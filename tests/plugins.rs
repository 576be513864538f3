//! What is installed, as a person and a program see it: `tools`, `plugin list`, `plugin info`, `plugin inspect`.

use expect_test::expect;

use crate::support::{PluginText, TestEnv};

/// Hashes and sizes change with every compiler: they are shown as such.
fn steady(text: &str) -> String {
    let number =
        |word: &str| word.trim_matches(|it: char| !it.is_alphanumeric()).parse::<u64>().is_ok_and(|it| it > 999);
    let mut steady = String::new();
    for piece in text.split_inclusive([' ', '\n', '"', ',']) {
        let word = piece.trim_end_matches([' ', '\n', '"', ',']);
        let shown = match word {
            _ if word.len() == 64 && word.bytes().all(|it| it.is_ascii_hexdigit()) => "HASH",
            _ if number(word) => "N",
            other => other,
        };
        steady.push_str(shown);
        steady.push_str(&piece[word.len()..]);
    }
    steady
}

#[test]
fn tools_are_listed_with_one_line_each() {
    TestEnv::new().guest("order").run(&["tools"]).check(expect![[r#"
        wc     Counts how many lines, words and bytes a file has.
        task   Hands a task to a sub-agent with a conversation of its own, and returns its answer. It knows nothing of this conversation: say all that it needs.
        steps  Says that it ran
        look   Looks at the toolbox
        [exit 0]
    "#]]);
}

#[test]
fn one_tool_is_shown_with_plugin_aliases_and_parameters() {
    let env = TestEnv::new().guest("order");
    env.run(&["tools", "steps"]).check(expect![[r#"
        steps (plugin order)
        Says that it ran
        aliases: walk
        {
          "type": "object"
        }
        [exit 0]
    "#]]);
    assert_eq!(env.run(&["tools", "walk"]).stdout, env.run(&["tools", "steps"]).stdout);
}

#[test]
fn as_json_tools_are_what_the_model_gets() {
    let env = TestEnv::new().guest("order");
    env.run(&["tools", "steps", "--json"]).check(expect![[r#"
        {
          "type": "function",
          "function": {
            "name": "steps",
            "description": "Says that it ran",
            "parameters": {
              "type": "object"
            }
          }
        }
        [exit 0]
    "#]]);
    let all = env.run(&["tools", "--json"]).json();
    assert_eq!(all.as_array().unwrap().len(), 4);
    assert_eq!(all[2], env.run(&["tools", "steps", "--json"]).json());
}

#[test]
fn an_unknown_tool_is_an_error_that_lists_those_there_are() {
    TestEnv::new().run(&["tools", "nope"]).check(expect![[r#"
        --- stderr
        error: unknown tool `nope`, expected one of: wc, task
        [exit 1]
    "#]]);
}

#[test]
fn plugins_are_listed_with_those_that_failed_and_those_that_wait() {
    let env = TestEnv::new()
        .guest("order")
        .plugin("broken.wasm", "no component")
        .plugin("replacing.wasm", PluginText::with_tool("wc", "wc").build())
        .file(".agents/plugins/project.wasm", "");
    env.run(&["plugin", "list"]).check(expect![[r#"
        wc                0.1.0  bundled  replaced           Counts the lines, words and bytes of files
        no-rm             0.1.0  bundled  loaded             Refuses shell commands that contain rm
        session           0.1.0  bundled  loaded             Slash commands for the session itself
        anthropic         0.1.0  bundled  loaded             The messages API of Anthropic
        gemini            0.1.0  bundled  loaded             The Gemini API of Google
        ollama            0.1.0  bundled  loaded             Models that Ollama runs on this machine
        openai            0.1.0  bundled  loaded             The chat completions API of OpenAI and of all that speak it
        openai-responses  0.1.0  bundled  loaded             The responses API of OpenAI
        task              0.1.0  bundled  loaded             Hands a task to a sub-agent
        -                        user     failed             $ENV/home/.agents/plugins/broken.wasm: the file is no WebAssembly; a plugin is a component, built with `--target wasm32-wasip2`
        order             0.1.0  user     loaded             Says what runs when
        wc                1.0.0  user     loaded             a plugin as text
        -                        project  waiting for trust  $ENV/work/.agents/plugins/project.wasm
        [exit 0]
    "#]]);
}

#[test]
fn as_json_the_list_of_plugins_has_file_hash_and_state() {
    let env = TestEnv::new().guest("order").plugin("broken.wasm", "no component");
    let run = env.run(&["plugin", "list", "--json"]);
    let rows = run.json();
    let states: Vec<_> = rows.as_array().unwrap().iter().map(|it| it["state"].as_str().unwrap()).collect();
    assert_eq!(states, [&["loaded"; 9][..], &["failed", "loaded"]].concat());
    let shown = steady(&serde_json::to_string_pretty(&[&rows[0], &rows[9]]).unwrap());
    // Whether another test compiled it before is no matter here.
    expect![[r#"
        [
          {
            "name": "wc",
            "version": "0.1.0",
            "description": "Counts the lines, words and bytes of files",
            "state": "loaded",
            "origin": "bundled",
            "path": "wc",
            "sha256": "HASH",
            "cached": …
          },
          {
            "state": "failed",
            "error": "the file is no WebAssembly; a plugin is a component, built with `--target wasm32-wasip2`",
            "origin": "user",
            "path": "$ENV/home/.agents/plugins/broken.wasm"
          }
        ]"#]]
    .assert_eq(&shown.replace("\"cached\": true", "\"cached\": …").replace("\"cached\": false", "\"cached\": …"));
}

#[test]
fn a_plugin_is_shown_with_what_it_has_asks_for_and_may_do() {
    let env = TestEnv::new().guest("script");
    let run = env.run(&["plugin", "info", "script", "--grant", "script:model"]);
    expect![[r#"
        plugin     script 0.1.0
        about      Replies as it is told
        file       $ENV/home/.agents/plugins/script.wasm (user, N bytes)
        sha256     HASH
        instance   a fresh one for each call
        commands   /put
                   /last
                   /relay
                   /twice
                   /use
                   /styles
                   /exit-late
                   /busy
                   /tell
        providers  script
                   twin
        rights     read and change the conversation: to add messages (not granted: `bellglass plugin grant script conversation`)
                   ask the model, run sub-agents and switch the provider: to run turns (granted)
                   end or reload the session and run slash commands: to run commands (not granted: `bellglass plugin grant script session-control`)
        [exit 0]
    "#]].assert_eq(&steady(&run.to_string()));
}

#[test]
fn as_json_a_plugin_has_the_same() {
    let env = TestEnv::new().guest("resident");
    let run = env.run(&["plugin", "info", "resident", "--json"]);
    run.json();
    expect![[r#"
        {
          "name": "resident",
          "version": "0.1.0",
          "description": "Counts the calls that it gets",
          "origin": "user",
          "path": "$ENV/home/.agents/plugins/resident.wasm",
          "sha256": "HASH",
          "bytes": N,
          "lifetime": "session",
          "capabilities": [
            {
              "capability": "call all other tools",
              "reason": "to enter itself",
              "granted": false
            }
          ],
          "tools": [
            "count",
            "trap",
            "spin",
            "enter",
            "visit"
          ],
          "hooks": [],
          "commands": [
            "count"
          ],
          "providers": []
        }
        --- stderr
        warning: alias `count` of tool `wc` is the name of another tool, which counts
        [exit 0]
    "#]]
    .assert_eq(&steady(&run.to_string()));
}

#[test]
fn an_unknown_plugin_is_an_error_that_lists_those_there_are() {
    TestEnv::new().run(&["plugin", "info", "nope"]).check(expect![[r#"
        --- stderr
        error: unknown plugin `nope`, expected one of: wc, no-rm, session, anthropic, gemini, ollama, openai, openai-responses, task
        [exit 1]
    "#]]);
}

#[test]
fn a_file_is_inspected_without_running_it() {
    let spins = PluginText { in_describe: "(loop br 0)".into(), ..PluginText::with_tool("text", "speak") };
    let env = TestEnv::new().file("text.wasm", spins.build()).file("not.wasm", "no component");
    env.run(&["plugin", "inspect", "text.wasm"]).check(expect![[r#"
        imports  bellglass:plugin/types@0.1.0
        exports  bellglass:plugin/manifest@0.1.0
                 bellglass:plugin/tools@0.1.0
        verdict  a plugin that this host can load
        [exit 0]
    "#]]);
    env.run(&["plugin", "inspect", "text.wasm", "--json"]).check(expect![[r#"
        {
          "imports": [
            "bellglass:plugin/types@0.1.0"
          ],
          "exports": [
            "bellglass:plugin/manifest@0.1.0",
            "bellglass:plugin/tools@0.1.0"
          ],
          "kinds": [
            "manifest",
            "tools"
          ],
          "problem": null
        }
        [exit 0]
    "#]]);
    env.run(&["plugin", "inspect", "not.wasm"]).check(expect![[r#"
        --- stderr
        error: cannot inspect `$ENV/work/not.wasm`
          caused by: the file is no WebAssembly; a plugin is a component, built with `--target wasm32-wasip2`
        [exit 1]
    "#]]);
    env.run(&["plugin", "inspect", "nowhere.wasm"]).check(expect![[r#"
        --- stderr
        error: cannot inspect `$ENV/work/nowhere.wasm`
          caused by: the file cannot be read: No such file or directory (os error 2)
        [exit 1]
    "#]]);
    env.run(&["plugin", "inspect", "."]).check(expect![[r#"
        --- stderr
        error: cannot inspect `$ENV/work/.`
          caused by: it is no file, but a folder, a pipe or the like; move it away
        [exit 1]
    "#]]);
}
