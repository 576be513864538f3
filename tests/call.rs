//! `bellglass call`: one tool, one JSON object on standard output.

use expect_test::expect;

use crate::support::{PluginText, TestEnv};

#[test]
fn a_result_is_one_json_object_and_nothing_else() {
    let env = TestEnv::new().file("README.md", "hello big world\nline two\n");
    env.run(&["call", "wc", r#"{"path":"README.md"}"#]).check(expect![[r#"
        {"lines":2,"words":5,"bytes":25,"ok":true}
        [exit 0]
    "#]]);
}

#[test]
fn a_plugin_as_text_is_a_plugin() {
    let env = TestEnv::new().plugin("text.wasm", PluginText::with_tool("text", "speak").build());
    env.run(&["call", "speak"]).check(expect![[r#"
        {"from":"text","ok":true}
        [exit 0]
    "#]]);
}
