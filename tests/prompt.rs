//! The system prompt: template, literal text, and the instructions of the user and the project.

use expect_test::expect;

use crate::support::{Run, TestEnv};

/// The system prompt of a session with these arguments.
#[track_caller]
fn system(env: &TestEnv, arguments: &[&str]) -> String {
    let run = env.finish(env.command(arguments), "/context json\n");
    let json = run.stdout.strip_prefix("[session]\n").unwrap_or_else(|| panic!("{run}"));
    let messages: serde_json::Value = serde_json::from_str(json).unwrap();
    messages[0]["content"].as_str().unwrap_or_else(|| panic!("{run}")).to_owned()
}

#[test]
fn the_default_prompt_ends_with_the_instructions_if_there_are_any() {
    let env = TestEnv::new();
    let bare = system(&env, &[]);
    expect![[r#"
        You are an agent in a terminal, working for the person who types. The tools you are given are the only way to see or change
        anything; call them instead of guessing. Be brief, and say what you did."#]].assert_eq(&bare);
    let env = env.file("AGENTS.md", "Use tabs.\n").home_file(".agents/AGENTS.md", "Be kind.\n");
    assert_eq!(system(&env, &[]), format!("{bare}\n\nBe kind.\n\nUse tabs."));
}

#[test]
fn a_template_replaces_the_default_and_literal_text_stands_before_it() {
    let env = TestEnv::new().file("AGENTS.md", "Use tabs.").file("t", "<%= 1 %> {{ agents_md }}\n");
    assert_eq!(system(&env, &["--template", "t"]), "<%= 1 %> Use tabs.");
    let literal = system(&env, &["--template", "t", "--system-prompt", "You are {{agents_md}}."]);
    assert_eq!(literal, "You are {{agents_md}}.\n\n<%= 1 %> Use tabs.");
}

#[test]
fn instructions_with_braces_are_not_a_template() {
    let env = TestEnv::new().file("AGENTS.md", "Write {{agents_md}} and {{x}}.").file("t", "{{agents_md}}");
    assert_eq!(system(&env, &["--template", "t"]), "Write {{agents_md}} and {{x}}.");
}

#[test]
fn the_nearest_instructions_upwards_are_the_projects() {
    let env = TestEnv::new()
        .file("AGENTS.md", "outer")
        .file("a/AGENTS.md", "inner")
        .file("a/b/c/x", "")
        .file("t", "{{agents_md}}");
    let of = |folder: &str| system(&env, &["-C", folder, "--template", env.work().join("t").to_str().unwrap()]);
    assert_eq!([of("."), of("a"), of("a/b/c")], ["outer", "inner", "inner"]);
}

#[test]
fn the_prompt_is_made_anew_for_each_request() {
    let env = TestEnv::new().file("AGENTS.md", "one").file("t", "{{agents_md}}");
    let mut talk = env.start(&["--template", "t"]);
    talk.send("/context\n");
    talk.until("system: one");
    std::fs::write(env.work().join("AGENTS.md"), "two").unwrap();
    talk.send("/context\n");
    talk.until("system: two");
    assert_eq!(talk.finish().status, 0);
}

#[test]
fn a_template_that_cannot_be_used_stops_the_start() {
    let run = |content: &str| -> Run { TestEnv::new().file("t", content).run(&["ask", "hi", "--template", "t"]) };
    run("{{user}}").check(expect![[r#"
        --- stderr
        error: cannot use the template `t`
          caused by: the template holds `{{user}}`, expected `{{agents_md}}`
        [exit 1]
    "#]]);
    run("{{agents_md").check(expect![[r#"
        --- stderr
        error: cannot use the template `t`
          caused by: the template holds `{{` without `}}`
        [exit 1]
    "#]]);
    TestEnv::new().run(&["ask", "hi", "--template", "nowhere"]).check(expect![[r#"
        --- stderr
        error: cannot read the template `nowhere`
          caused by: No such file or directory (os error 2)
        [exit 1]
    "#]]);
}

#[test]
fn a_blank_prompt_is_no_message() {
    let env = TestEnv::new().file("t", "\n{{agents_md}}\n");
    let run = env.finish(env.command(&["--template", "t"]), "/context\n/context json\n");
    assert_eq!(run.stdout, "[session]\n[]\n", "{run}");
}
