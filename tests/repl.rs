//! The REPL on piped lines: what a person would see, line by line.

use expect_test::expect;

use crate::support::{PluginText, Run, TestEnv};

/// A workspace in which the stub's first call finds its file, and the REPL on these lines.
fn talk(lines: &str) -> Run {
    TestEnv::new().file("README.md", "one two\n").repl(lines)
}

#[test]
fn a_prompt_is_answered_and_its_tool_call_shown() {
    talk("hello\n").check(expect![[r#"
        A stub has no thoughts of its own.
        You said: hello
        + wc({"path":"README.md"})
        The tool has answered. That is all a stub can do.
        [exit 0]
    "#]]);
}

#[test]
fn the_end_of_the_input_leaves() {
    talk("").check(expect![[r#"
        [exit 0]
    "#]]);
    talk("\n   \n\t\n").check(expect![[r#"
        [exit 0]
    "#]]);
}

#[test]
fn a_last_line_without_a_newline_is_a_line() {
    assert_eq!(talk("/help").to_string(), talk("/help\n").to_string());
}

#[test]
fn a_line_that_is_too_long_is_left_out_whole() {
    let lines = format!("{}/exit\n/context 1\n", "x".repeat(4 << 20));
    let run = TestEnv::scripted().script(&[], &lines);
    run.check(expect![[r#"
        [session]
        system: Be brief.
        --- stderr
        ERROR a line longer than 4 MiB was left out
        [exit 0]
    "#]]);
}

#[test]
fn a_reader_that_has_gone_ends_the_session_quietly() {
    let env = TestEnv::scripted().file("lines", "/help\n".repeat(20));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = env.command(&[]);
    let output = command.stdin(std::fs::File::open(env.work().join("lines")).unwrap()).stdout(writer).output().unwrap();
    assert_eq!(env.shown(&output).to_string(), "[exit 0]\n");
}

#[test]
fn help_lists_the_commands_of_all_plugins() {
    talk("/help\n").check(expect![[r#"
        [session]
        /wc        Count the lines, words and bytes of a file
        /help      List the commands
        /exit      End the session
        /clear     Forget the conversation
        /reload    Load all plugins again
        /tools     List the tools, or show one: /tools NAME
        /context   Show what the model would get: /context [N|json]
        /provider  Show the provider, or switch it: /provider NAME
        [exit 0]
    "#]]);
}

#[test]
fn tools_are_listed_and_one_is_shown() {
    talk("/tools\n/tools wc\n/tools count\n/tools nope\n").check(expect![[r#"
        [session]
        wc    Counts how many lines, words and bytes a file has.
        task  Hands a task to a sub-agent with a conversation of its own, and returns its answer. It knows nothing of this conversation: say all that it needs.
        [session]
        wc: Counts how many lines, words and bytes a file has.
        {
          "type": "object",
          "properties": {
            "path": {
              "type": "string",
              "description": "The file, relative to the workspace."
            }
          },
          "required": [
            "path"
          ],
          "examples": [
            {
              "path": "README.md"
            }
          ]
        }
        [session]
        wc: Counts how many lines, words and bytes a file has.
        {
          "type": "object",
          "properties": {
            "path": {
              "type": "string",
              "description": "The file, relative to the workspace."
            }
          },
          "required": [
            "path"
          ],
          "examples": [
            {
              "path": "README.md"
            }
          ]
        }
        --- stderr
         WARN no tool `nope`; type /tools NAME with one of: wc, task command=tools
        error: no tool `nope`; type /tools NAME with one of: wc, task
        [exit 0]
    "#]]);
}

#[test]
fn context_shows_what_the_model_would_get() {
    let env = TestEnv::scripted();
    env.script(&[], "/context\nhello\n/context\n/context 1\n/context 0\n").check(expect![[r#"
        [session]
        system: Be brief.
        Aye.
        [session]
        system: Be brief.
        user: hello
        assistant: Aye.
        [session]
        assistant: Aye.
        --- stderr
        error: type /context, /context 3 for the last three messages, or /context json
        [exit 0]
    "#]]);
}

#[test]
fn context_as_json_is_json() {
    let env = TestEnv::new().file("README.md", "one\n").file("t", "Be brief.");
    let run = env.finish(env.command(&["--template", "t"]), "hello\n/context json\n");
    let (_, json) = run.stdout.split_once("[session]\n").unwrap();
    expect![[r#"
        [
          {
            "role": "system",
            "content": "Be brief."
          },
          {
            "role": "user",
            "content": "hello"
          },
          {
            "role": "assistant",
            "content": "You said: hello",
            "tool_calls": [
              {
                "id": "stub-2",
                "type": "function",
                "function": {
                  "name": "wc",
                  "arguments": "{\"path\":\"README.md\"}"
                }
              }
            ]
          },
          {
            "role": "tool",
            "content": "{\"lines\":1,\"words\":1,\"bytes\":4,\"ok\":true}",
            "tool_call_id": "stub-2"
          },
          {
            "role": "assistant",
            "content": "The tool has answered. That is all a stub can do."
          }
        ]
    "#]]
    .assert_eq(json);
}

#[test]
fn the_provider_is_shown_and_switched_and_an_unknown_one_is_refused() {
    let env = TestEnv::scripted();
    let lines = "/provider\n/provider nope\n/provider stub\n/provider\nhello\n";
    env.script(&[], lines).check(expect![[r#"
        [session]
        provider: script, model script-1
        available: stub, anthropic, gemini, ollama, openai, openai-responses, script, twin
        [session]
        provider: stub
        available: stub, anthropic, gemini, ollama, openai, openai-responses, script, twin
        [session]
        provider: stub
        available: stub, anthropic, gemini, ollama, openai, openai-responses, script, twin
        A stub has no thoughts of its own.
        You said: hello
        + wc({"path":"README.md"})
        - wc: not found: README.md
        The tool has answered. That is all a stub can do.
        --- stderr
        error: no provider `nope`; type /provider NAME with one of: stub, anthropic, gemini, ollama, openai, openai-responses, script, twin
        [exit 0]
    "#]]);
}

#[test]
fn clear_forgets_the_conversation_and_keeps_the_system_prompt() {
    let env = TestEnv::scripted();
    env.script(&[], "hello\n/clear\n/context\n").check(expect![[r#"
        Aye.
        [session]
        The conversation is empty.
        [session]
        system: Be brief.
        [exit 0]
    "#]]);
}

#[test]
fn reload_leaves_each_tool_exactly_once_and_the_conversation_stays() {
    let env = TestEnv::scripted();
    env.script(&[], "hello\n/reload\n/reload\n/tools\n/context\n/help\n").check(expect![[r#"
        Aye.
        [session]
        wc    Counts how many lines, words and bytes a file has.
        task  Hands a task to a sub-agent with a conversation of its own, and returns its answer. It knows nothing of this conversation: say all that it needs.
        [session]
        system: Be brief.
        user: hello
        assistant: Aye.
        [session]
        /wc         Count the lines, words and bytes of a file
        /help       List the commands
        /exit       End the session
        /clear      Forget the conversation
        /reload     Load all plugins again
        /tools      List the tools, or show one: /tools NAME
        /context    Show what the model would get: /context [N|json]
        /provider   Show the provider, or switch it: /provider NAME
        /put        Adds a message, given as JSON
        /last       Shows the last message as the session keeps it
        /relay      Runs another command, and says how that went
        /twice      Runs two turns
        /use        Switches the provider: NAME [MODEL]
        /styles     Says things in every style
        /exit-late  Asks for the end, then says something
        /busy       Says so, and never ends
        /tell       Nothing
        --- stderr
        loaded 10 plugins again
        loaded 10 plugins again
        [exit 0]
    "#]]);
}

#[test]
fn reload_takes_new_plugins_and_leaves_broken_ones_out() {
    let env = TestEnv::new()
        .plugin("a.wasm", PluginText::with_tool("a", "first").build())
        .plugin("b.wasm", PluginText::with_tool("b", "second").build());
    // The files change between the two lines: whoever writes them is a tool of the test, the REPL itself waits for a line.
    let plugins = env.home().join(".agents/plugins");
    let mut talk = env.start(&[]);
    talk.send("/tools\n");
    talk.until("second");
    std::fs::write(plugins.join("a.wasm"), "no component").unwrap();
    std::fs::write(plugins.join("c.wasm"), PluginText::with_tool("c", "third").build()).unwrap();
    talk.send("/reload\n/tools\n");
    let run = talk.finish();
    run.check(expect![[r#"
        [session]
        wc      Counts how many lines, words and bytes a file has.
        task    Hands a task to a sub-agent with a conversation of its own, and returns its answer. It knows nothing of this conversation: say all that it needs.
        first   a tool as text
        second  a tool as text
        [session]
        wc      Counts how many lines, words and bytes a file has.
        task    Hands a task to a sub-agent with a conversation of its own, and returns its answer. It knows nothing of this conversation: say all that it needs.
        second  a tool as text
        third   a tool as text
        --- stderr
        warning: cannot load plugin `$ENV/home/.agents/plugins/a.wasm`: the file is no WebAssembly; a plugin is a component, built with `--target wasm32-wasip2`
        loaded 11 plugins again
        [exit 0]
    "#]]);
}

#[test]
fn exit_ends_the_session_and_what_was_said_before_is_shown() {
    let env = TestEnv::scripted();
    env.script(&[], "/exit\nnever\n").check(expect![[r#"
        [exit 0]
    "#]]);
    env.script(&[], "/exit-late\nnever\n").check(expect![[r#"
        [script]
        one more thing
        [exit 0]
    "#]]);
}

#[test]
fn what_plugins_print_stands_under_their_name_with_control_characters_as_marks() {
    let env = TestEnv::scripted().guest("hostile");
    env.script(&[], "/styles\n/say x\n").check(expect![[r#"
        [script]
        plain
        error: an error
        no newlinethoughts
        + wc({"path":"a"})
        ␛]0;title␇red\u{9b}31m
        [hostile]
        [x]
        ␛[2J
        [exit 0]
    "#]]);
}

#[test]
fn a_question_is_never_asked_in_a_pipe_and_takes_no_line_of_it() {
    let env = TestEnv::scripted().guest("hostile");
    let calls = r#"calls=[{"id":"1","name":"ask","arguments":"{}"}]"#;
    let run = env.script(&["-o", calls], "go\n/context 1\n");
    run.check(expect![[r#"
        Aye.
        + ask({})
        {"interactive":false,"answer":null,"ok":true}
        [session]
        assistant: {"interactive":false,"answer":null,"ok":true}
        [exit 0]
    "#]]);
}

#[test]
fn a_provider_that_fails_is_an_error_and_the_session_goes_on() {
    let env = TestEnv::new().guest("hostile").file("t", "Be brief.").config("limits.attempts = 1\n");
    let run = env.finish(env.command(&["-p", "fails", "--template", "t", "--log", "error"]), "hi\n/context\n");
    run.check(expect![[r#"
        [session]
        system: Be brief.
        user: hi
        --- stderr
        error: no reply: the server is busy: 429 Too Many Requests
        [exit 0]
    "#]]);
}

#[test]
fn an_unknown_provider_is_an_error_of_each_prompt_and_can_be_mended() {
    let env = TestEnv::new().file("README.md", "one\n");
    env.finish(env.command(&["-p", "nope"]), "hi\n/provider stub\nhi\n").check(expect![[r#"
        [session]
        provider: stub
        available: stub, anthropic, gemini, ollama, openai, openai-responses
        A stub has no thoughts of its own.
        You said: hi
        + wc({"path":"README.md"})
        The tool has answered. That is all a stub can do.
        --- stderr
        error: unknown provider `nope`, expected one of: stub, anthropic, gemini, ollama, openai, openai-responses
        [exit 0]
    "#]]);
}

#[test]
fn a_warning_of_the_start_comes_before_all_else_and_on_standard_error() {
    let env = TestEnv::new().plugin("broken.wasm", "no component");
    let run = env.repl("/exit\n");
    assert_eq!(run.stdout, "");
    assert!(run.stderr.starts_with("warning: cannot load plugin `$ENV/home/.agents/plugins/broken.wasm`: "), "{run}");
}

#[test]
fn without_a_terminal_there_is_no_escape_sequence_and_color_can_be_had_anyway() {
    let env = TestEnv::new().file("README.md", "one\n").guest("script");
    assert!(!env.repl("hello\n/styles\n").to_string().contains('\u{1b}'));
    let colored = env.finish(env.command(&["--color", "always"]), "hello\n");
    assert!(colored.stdout.contains("\u{1b}[36mwc\u{1b}[0m({"), "{colored}");
    let mut command = env.command(&["--color", "always"]);
    command.env("NO_COLOR", "1");
    assert!(env.finish(command, "hello\n").stdout.contains("\u{1b}[36m"), "a flag is stronger than the environment");
}
