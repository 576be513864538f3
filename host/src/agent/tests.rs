//! A turn as a list of events, and what it does at each.

use super::*;

fn call(id: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "wc".into(), arguments: "{}".into() }
}

fn asks(ids: &[&str]) -> Event {
    Event::Replied(Ok(Reply { calls: ids.iter().map(|it| call(it)).collect(), ..Reply::default() }))
}

fn says(text: &str) -> Event {
    Event::Replied(Ok(Reply { text: text.into(), ..Reply::default() }))
}

/// The effects in short: `user:`, `assistant:`, `id=result`, `fetch`, `call a,b`, `end`.
fn short(effects: &[Effect]) -> String {
    let one = |effect: &Effect| match effect {
        Effect::Add(message) => match (&message.tool_call_id, message.tool_calls.is_empty()) {
            (Some(id), _) => format!("{id}={}", message.content),
            (None, true) => format!("{}:{}", message.role, message.content),
            (None, false) => format!("{}:calls", message.role),
        },
        Effect::Fetch => "fetch".into(),
        Effect::Call(calls) => format!("call {}", calls.iter().map(|it| it.id.as_str()).collect::<Vec<_>>().join(",")),
        Effect::End(Ok(text)) => format!("end {text}"),
        Effect::End(Err(error)) => format!("end! {error}"),
    };
    effects.iter().map(one).collect::<Vec<_>>().join(" | ")
}

#[track_caller]
fn check(events: Vec<Event>, expected: &[&str]) {
    let (mut turn, first) = Turn::begin("hello", 4);
    let mut shown = vec![short(&first)];
    shown.extend(events.into_iter().map(|it| short(&turn.step(it))));
    assert_eq!(shown, expected);
}

#[test]
fn a_turn_repeats_request_calls_and_results_until_a_reply_has_no_calls() {
    check(
        vec![asks(&["a"]), Event::Called(0, "1".into()), says("done")],
        &["user:hello | fetch", "assistant:calls | call a", "a=1 | fetch", "assistant:done | end done"],
    );
}

#[test]
fn results_are_recorded_in_the_order_asked() {
    check(
        vec![asks(&["a", "b"]), Event::Called(1, "2".into()), Event::Called(0, "1".into())],
        &["user:hello | fetch", "assistant:calls | call a,b", "", "a=1 | b=2 | fetch"],
    );
}

#[test]
fn a_failure_of_the_provider_is_never_a_reply() {
    let failed = Event::Replied(Err(ProviderError::Busy("429".into(), None)));
    check(vec![failed], &["user:hello | fetch", "end! no reply: the server is busy: 429"]);
}

#[test]
fn an_interrupt_gives_each_call_a_result() {
    check(
        vec![asks(&["a", "b"]), Event::Called(1, "2".into()), Event::Interrupted],
        &[
            "user:hello | fetch",
            "assistant:calls | call a,b",
            "",
            r#"a={"error":"interrupted by the user","ok":false} | b=2 | end! interrupted"#,
        ],
    );
    check(vec![Event::Interrupted], &["user:hello | fetch", "end! interrupted"]);
}

#[test]
fn a_result_that_comes_twice_or_for_no_call_changes_nothing() {
    check(
        vec![
            asks(&["a", "b"]),
            Event::Called(0, "1".into()),
            Event::Called(0, "again".into()),
            Event::Called(7, "x".into()),
        ],
        &["user:hello | fetch", "assistant:calls | call a,b", "", "", ""],
    );
}

#[test]
fn a_reply_that_was_cut_runs_nothing() {
    let cut = Event::Replied(Ok(Reply { calls: vec![call("a")], cut: true, ..Reply::default() }));
    check(
        vec![cut],
        &[
            "user:hello | fetch",
            r#"assistant:calls | a={"error":"the output limit cut this call off: it was not run","ok":false} | fetch"#,
        ],
    );
}

#[test]
fn a_turn_ends_after_its_rounds() {
    let mut events = Vec::new();
    for n in 0..4 {
        events.push(asks(&["a"]));
        events.push(Event::Called(0, n.to_string()));
    }
    let (mut turn, _) = Turn::begin("hello", 4);
    let last = events.into_iter().map(|it| short(&turn.step(it))).last().unwrap();
    assert_eq!(last, "a=3 | end! the turn was stopped after 4 rounds; `--max-rounds` sets another limit");
}

#[test]
fn the_same_call_with_the_same_result_three_times_ends_the_turn() {
    let (mut turn, _) = Turn::begin("hello", 100);
    let mut last = String::new();
    for _ in 0..3 {
        turn.step(asks(&["a"]));
        last = short(&turn.step(Event::Called(0, "same".into())));
    }
    assert!(last.starts_with("a=same | end! the turn was stopped: the model made the same call"), "{last}");
}
