//! Every provider makes the same of the same conversation, however its bytes arrive.

#![allow(clippy::unwrap_used, reason = "a test that panics fails, and says where")]

use bellglass_guest::test::{Answer, Script};
use provider_tests::{Came, PROVIDERS, Provider, first_request, random::Random, second_request};

/// How often a property is tried: 10,000 times, or as often as `BELLGLASS_CASES` says.
fn cases(default: u64) -> u64 {
    std::env::var("BELLGLASS_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

/// Plays a conversation of two requests.
fn converse(provider: &Provider, script: Script) -> (Came, Came) {
    let plugin = provider.plugin(script);
    let first = provider.fetch(&plugin, &first_request());
    let second = provider.fetch(&plugin, &second_request(&first));
    assert!(plugin.requests().iter().all(|it| it.headers.iter().all(|(name, _)| name != "authorization")));
    (first, second)
}

#[test]
fn the_same_conversation_gives_the_same_events_through_all_providers() {
    for provider in &PROVIDERS {
        let name = provider.name;
        let (first, second) = converse(provider, provider.script("conversation"));
        let expected = [
            "thinking Two files. 日本語 — 🙂",
            "saying I will read both.",
            r#"doing read({"path":"a.txt"})"#,
            r#"doing calendar.list({"id":9007199254740993})"#,
        ];
        assert_eq!(first.said, expected, "{name}");
        assert_eq!((first.tokens, &*first.end), ((120, 45), "tool calls"), "{name}");
        assert!(first.calls[0].0 != first.calls[1].0, "{name}: {:?}", first.calls);
        assert_eq!((&second.said[..], &*second.end), (&["saying Both say 四.".to_owned()][..], "end"), "{name}");
    }
}

/// The answer to the first request, which has everything in it.
fn answer(provider: &Provider) -> Answer {
    provider.script("conversation").exchanges[0].answer.clone()
}

fn play(provider: &Provider, answer: Answer) -> Came {
    let plugin = provider
        .plugin(Script { exchanges: [bellglass_guest::test::Exchange::new("", path(provider), answer)].into() });
    provider.fetch(&plugin, &first_request())
}

fn path(provider: &Provider) -> &'static str {
    match provider.name {
        "anthropic" => "/v1/messages",
        "gemini" => "/v1beta/models/m:streamGenerateContent?alt=sse",
        "ollama" => "/api/chat",
        "openai" => "/v1/chat/completions",
        _ => "/v1/responses",
    }
}

fn events_do_not_depend_on_cuts_or_line_ends(provider: &Provider) {
    let mut random = Random::new();
    let answer = answer(provider);
    let expected = play(provider, answer.clone());
    assert_eq!(expected.end, "tool calls");
    let text = String::from_utf8(answer.bytes()).unwrap();
    // NDJSON knows no line ends but LF, with blanks before it.
    let ends: &[&str] = if provider.name == "ollama" { &["\n", "\r\n"] } else { &["\n", "\r\n", "\r"] };
    for case in 0..cases(10_000) {
        let end = ends[random.below(ends.len())];
        let answer = answer.with_bytes(text.replace('\n', end).into_bytes());
        let longest = [1, 2, 5, 40, 400][random.below(5)];
        let cut = answer.cut(|| random.below(longest) + 1);
        assert_eq!(play(provider, cut), expected, "{}, case {case}, {end:?}", provider.name);
    }
}

/// Apart for each provider, so that they run at once.
mod events_do_not_depend_on_where_bytes_are_cut_or_how_lines_end {
    use super::{PROVIDERS, events_do_not_depend_on_cuts_or_line_ends as check};

    #[test]
    fn anthropic() {
        check(&PROVIDERS[0]);
    }

    #[test]
    fn gemini() {
        check(&PROVIDERS[1]);
    }

    #[test]
    fn ollama() {
        check(&PROVIDERS[2]);
    }

    #[test]
    fn openai() {
        check(&PROVIDERS[3]);
    }

    #[test]
    fn openai_responses() {
        check(&PROVIDERS[4]);
    }
}

#[test]
fn whatever_a_server_sends_there_is_no_panic_and_no_half_call() {
    let mut random = Random::new();
    for provider in &PROVIDERS {
        let answer = answer(provider);
        let bytes = answer.bytes();
        for case in 0..cases(20_000) / PROVIDERS.len() as u64 {
            let mut bytes = bytes.clone();
            for _ in 0..random.below(8) + 1 {
                mutate(&mut bytes, &mut random);
            }
            let came = play(provider, answer.with_bytes(bytes));
            let is_error = came.end.contains(": ");
            assert!(!is_error || came.calls.is_empty(), "{}, case {case}: {came:?}", provider.name);
            assert!(!is_error || came.end.contains(provider.name), "{}, case {case}: {}", provider.name, came.end);
        }
    }
}

/// One change: a byte, a cut, a piece twice, a piece gone, a word for another.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    if bytes.is_empty() {
        return;
    }
    let at = random.below(bytes.len());
    let to = (at + random.below(200)).min(bytes.len());
    match random.below(6) {
        0 => bytes[at] = random.byte(),
        1 => bytes.truncate(at),
        2 => {
            let piece = bytes[at..to].to_vec();
            bytes.splice(at..at, piece);
        }
        3 => drop(bytes.drain(at..to)),
        4 => {
            let words: [&[u8]; 8] = [b"null", b"{}", b"[]", b"\"\"", b"-1", b"1e999", b"\n\n", b"data: [DONE]\n\n"];
            bytes.splice(at..at, words[random.below(words.len())].iter().copied());
        }
        // The value of a key becomes something else.
        _ => {
            if let Some(colon) = bytes[at..].iter().position(|byte| *byte == b':') {
                let from = at + colon + 1;
                let length = bytes[from..].iter().position(|byte| b",}".contains(byte)).unwrap_or(0);
                let values: [&[u8]; 6] = [b"null", b"7", b"\"x\"", b"[{}]", b"{\"type\":1}", b"true"];
                bytes.splice(from..from + length, values[random.below(values.len())].iter().copied());
            }
        }
    }
}
