//! The toolbox as a library: what there is, what its names mean, and what a nested call may do.

use bellglass::host_request::{CallContext, HookListing};
use bellglass::limits::Limits;
use expect_test::expect;
use serde_json::{Value, json};

use crate::support::{PluginText, TestEnv};

fn top() -> CallContext {
    CallContext::top(None)
}

#[tokio::test]
async fn definitions_never_hold_aliases() {
    let installed = TestEnv::new().guest("order").installed().await;
    let steps = installed.toolbox.find("steps").unwrap();
    assert_eq!(steps.aliases.iter().map(ToString::to_string).collect::<Vec<_>>(), ["walk"]);
    assert_eq!(
        steps.to_json(),
        json!({"type": "function", "function": {
            "name": "steps", "description": "Says that it ran", "parameters": {"type": "object"}
        }})
    );
    for definition in installed.toolbox.definitions() {
        assert!(!definition.to_json().to_string().contains("aliases"), "{definition:?}");
    }
}

#[tokio::test]
async fn find_follows_aliases_and_addresses_and_knows_no_other_names() {
    let toolbox = TestEnv::new().guest("order").installed().await.toolbox;
    for name in ["steps", "walk", "order.steps"] {
        assert_eq!(toolbox.find(name).unwrap().name.as_str(), "steps", "{name}");
        assert_eq!(toolbox.plugin_of(name).unwrap().name().as_str(), "order", "{name}");
    }
    for name in ["", "Steps", "step", "order.walk", "steps ", "wc.steps"] {
        assert!(toolbox.find(name).is_none(), "{name:?}");
    }
    assert_eq!(toolbox.aliases(), [("count", "wc"), ("walk", "steps")]);
}

#[tokio::test]
async fn validation_can_be_asked_without_running_anything() {
    let toolbox = TestEnv::new().installed().await.toolbox;
    assert_eq!(toolbox.validate("wc", r#"{"path":"nope"}"#), [""; 0]);
    assert_eq!(toolbox.validate("count", "{}"), ["argument `/path`: missing, expected a string"]);
    assert_eq!(toolbox.validate("wc", "[]"), ["arguments: expected an object, got []"]);
    assert_eq!(toolbox.validate("nope", "{}"), ["unknown tool `nope`, expected one of: wc, task"]);
}

#[tokio::test]
async fn hooks_are_listed_as_they_run_global_ones_first() {
    let toolbox = TestEnv::new().guest("hostile").guest("order").installed().await.toolbox;
    let line = |it: &HookListing| {
        let moment = if it.before { "before" } else { "after" };
        format!("{moment} {} of {}\n", it.tool.as_deref().unwrap_or("every tool"), it.plugin)
    };
    expect![[r#"
        before every tool of order
        after every tool of order
        before execute of no-rm
        before echo of hostile
        after echo of hostile
        before steps of order
        before steps of order
        after steps of order
        after steps of order
        before later of order
    "#]]
    .assert_eq(&toolbox.hooks().iter().map(line).collect::<String>());
}

#[tokio::test]
async fn a_plugin_sees_definitions_hooks_and_what_validation_says_with_a_grant() {
    let env = TestEnv::new().guest("order");
    let look = json!({"tool": "walk", "arguments": {"n": 1}}).to_string();
    let run = env.run(&["--grant", "order:call-tool=*", "--log", "error", "call", "look", &look]);
    expect![[r#"
        {"found":"steps","problems":[],"hooks":["Moment::Before *","Moment::After *","Moment::Before execute","Moment::Before steps","Moment::Before steps","Moment::After steps","Moment::After steps","Moment::Before later"],"ok":true}
    "#]].assert_eq(&run.stdout);
    let run = env.run(&["--log", "error", "call", "look", &look]);
    assert!(run.stdout.contains("denied: plugin `order` has no `call-tool` grant"), "{run}");
}

#[tokio::test]
async fn a_stand_in_for_an_unknown_tool_has_a_question_mark_and_calling_it_lists_those_there_are() {
    let env = TestEnv::new().guest("hostile").guest("order");
    let run = |tool: &str, arguments: Value| {
        let grants = ["--grant", "order:call-tool=*", "--grant", "hostile:call-tool=*", "--log", "error"];
        env.run(&[&grants[..], &["call", tool, &arguments.to_string()]].concat())
    };
    let found = run("look", json!({"tool": "nope"})).json();
    assert_eq!(found["found"], "nope?");
    assert!(found["problems"][0].as_str().unwrap().starts_with("unknown tool `nope`, expected one of: wc, "));
    let called = run("nest", json!({"tool": "nope?"}));
    assert!(called.stdout.starts_with(r#"{"error":"unknown tool `nope?`, expected one of: wc, "#), "{called}");
    // No hook ran for it: only those around `nest`.
    assert_eq!(called.stderr, "[order]\nglobal before of nest\nglobal after of nest\n");
}

#[tokio::test]
async fn a_real_name_wins_over_an_alias_of_the_same_spelling_with_a_warning() {
    for file in ["a.wasm", "z.wasm"] {
        // Before and after the plugin with the alias.
        let env = TestEnv::new().guest("order").plugin(file, PluginText::with_tool("text", "walk").build());
        let installed = env.installed().await;
        let outcome = installed.toolbox.run("walk", "{}", &top()).await;
        assert_eq!(outcome.to_json(), r#"{"from":"text","ok":true}"#, "{file}");
        assert_eq!(installed.warnings, ["alias `walk` of tool `steps` is the name of another tool, which counts"]);
    }
}

#[tokio::test]
async fn a_tool_name_that_holds_a_dot_comes_before_an_address() {
    let env = TestEnv::new()
        .plugin("a.wasm", PluginText::with_tool("one", "two").build())
        .plugin("b.wasm", PluginText::with_tool("other", "one.two").build());
    let toolbox = env.installed().await.toolbox;
    assert_eq!(toolbox.run("one.two", "{}", &top()).await.to_json(), r#"{"from":"other","ok":true}"#);
    assert_eq!(toolbox.run("two", "{}", &top()).await.to_json(), r#"{"from":"one","ok":true}"#);
}

#[tokio::test]
async fn a_later_tool_replaces_an_earlier_one_in_its_place_and_its_aliases_go() {
    let env = TestEnv::new().guest("order").plugin("z.wasm", PluginText::with_tool("text", "steps").build());
    let installed = env.installed().await;
    let toolbox = &installed.toolbox;
    let names: Vec<_> = toolbox.definitions().map(|it| it.name.to_string()).collect();
    assert_eq!(names, ["wc", "task", "steps", "look"]);
    assert_eq!(toolbox.run("steps", "{}", &top()).await.to_json(), r#"{"from":"text","ok":true}"#);
    assert!(toolbox.find("walk").is_none(), "its alias went with it");
    let old = toolbox.run("order.steps", r#"{"answer":{"old":1}}"#, &top()).await;
    assert_eq!(old.to_json(), r#"{"old":1,"ok":true}"#);
    let warning = "tool `steps` of plugin `text` replaces that of plugin `order`, which is reached as `order.steps`";
    assert_eq!(installed.warnings, [warning]);
}

#[tokio::test]
async fn the_grant_to_call_a_tool_is_checked_on_its_real_name() {
    let env = TestEnv::new().guest("hostile").guest("order");
    let nest = |grant: &str, tool: &str| {
        let nested = json!({"tool": tool, "arguments": {"answer": {"n": 1}}}).to_string();
        let run = env.run(&["--grant", grant, "--log", "error", "call", "nest", &nested]);
        run.stdout
    };
    let done = "{\"n\":1,\"ok\":true}\n";
    for name in ["steps", "walk", "order.steps"] {
        assert_eq!(nest("hostile:call-tool=steps", name), done, "{name}");
    }
    expect![[r#"
        {"error":"denied: plugin `hostile` may not call tool `steps` (`--grant hostile:call-tool=steps` if it asks for it)","ok":false}
    "#]].assert_eq(&nest("hostile:call-tool=walk", "walk"));
    expect![[r#"
        {"error":"denied: plugin `hostile` may not call tool `steps` (`--grant hostile:call-tool=steps` if it asks for it)","ok":false}
    "#]].assert_eq(&nest("hostile:call-tool=look", "order.steps"));
}

#[tokio::test]
async fn calls_are_nested_to_the_depth_that_the_limit_says_and_no_deeper() {
    let env = TestEnv::new().guest("hostile");
    // `levels` calls of `nest` inside each other, around one of `echo`.
    let deepest = |levels: usize| {
        let arguments = (1..levels)
            .fold(json!({"tool": "echo", "arguments": {}}), |inner, _| json!({"tool": "nest", "arguments": inner}));
        let run = env.run(&["--grant", "hostile:call-tool=*", "call", "nest", &arguments.to_string()]);
        run.json()
    };
    assert_eq!(deepest(8)["ok"], true, "eight below the first");
    assert_eq!(deepest(9), json!({"error": "calls are nested more than 8 deep", "ok": false}));
}

#[tokio::test]
async fn sixteen_calls_at_once_and_nested_ones_use_the_permit_of_their_caller() {
    let env = TestEnv::new().guest("hostile");
    let limits = Limits { calls: 1, ..Limits::default() };
    let installed = env.host_with(&["hostile:call-tool=*"], limits).load().await;
    // Without a session nobody answers the nested call, and the one permit is free again after each.
    for _ in 0..3 {
        let outcome = installed.toolbox.run("nest", r#"{"tool":"echo"}"#, &top()).await;
        assert_eq!(outcome.to_json(), r#"{"error":"there is no session here to answer","ok":false}"#);
    }
    let config = env.config("[limits]\ncalls = 1\n");
    let nested = json!({"tool": "nest", "arguments": {"tool": "echo", "arguments": {}}}).to_string();
    assert_eq!(config.run(&["--grant", "hostile:call-tool=*", "call", "nest", &nested]).status, 0);
}

#[tokio::test]
async fn each_host_and_each_loading_has_tools_of_its_own() {
    let with = TestEnv::new().guest("order");
    let host = with.host_with(&[], Limits::default());
    let (first, second) = (host.load().await, host.load().await);
    let without = TestEnv::new().installed().await;
    assert!(!std::sync::Arc::ptr_eq(&first.toolbox, &second.toolbox));
    let names = |it: &bellglass::toolbox::Toolbox| it.definitions().count();
    assert_eq!((names(&first.toolbox), names(&second.toolbox), names(&without.toolbox)), (4, 4, 2));
}
