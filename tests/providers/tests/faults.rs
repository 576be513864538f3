//! What goes wrong, for each provider: the user reads who failed, with which status, what it said and what to do.

use bellglass_guest::test::{Exchange, Piece, Script};
use provider_tests::{Came, PROVIDERS, Provider, first_request};

fn play(provider: &Provider, script: &str) -> (Came, Vec<String>) {
    let plugin = provider.plugin(provider.script(script));
    (provider.fetch(&plugin, &first_request()), plugin.logged())
}

/// The end of what each provider makes of a script, in the order of [`PROVIDERS`].
#[track_caller]
fn ends(script: &str, expected: [&str; 5]) {
    for (provider, expected) in PROVIDERS.iter().zip(expected) {
        let (came, _) = play(provider, script);
        assert!(came.calls.is_empty(), "{}: {came:?}", provider.name);
        assert_eq!(came.end, expected, "{}", provider.name);
    }
}

#[test]
fn a_key_that_is_refused() {
    let advice = "store the right key with `bellglass secret set";
    ends(
        "unauthorized",
        [
            &format!(
                "unauthorized: anthropic answered 401: invalid x-api-key (authentication_error); {advice} ANTHROPIC_API_KEY`"
            ),
            &format!(
                "unauthorized: gemini answered 400: API key not valid. Please pass a valid API key. (INVALID_ARGUMENT, API_KEY_INVALID); \
             {advice} GEMINI_API_KEY`"
            ),
            "unauthorized: ollama answered 401: unauthorized; it wants a key: see the option `headers`",
            &format!(
                "unauthorized: openai answered 401: Incorrect API key provided (invalid_api_key, invalid_request_error); \
             {advice} OPENAI_API_KEY`"
            ),
            &format!(
                "unauthorized: openai-responses answered 401: Incorrect API key provided (invalid_api_key, \
             invalid_request_error); {advice} OPENAI_API_KEY`"
            ),
        ],
    );
}

#[test]
fn a_server_with_too_much_to_do_says_when_to_come_again() {
    let advice = "wait, or choose another model with -m";
    ends(
        "busy",
        [
            &format!("busy for 7000 ms: anthropic answered 529: Overloaded (overloaded_error); {advice}"),
            &format!(
                "busy for 7000 ms: gemini answered 429: You exceeded your current quota (RESOURCE_EXHAUSTED); {advice}"
            ),
            &format!(
                "busy: ollama answered 503: server busy, please try again. maximum pending requests exceeded; {advice}"
            ),
            &format!(
                "busy for 7000 ms: openai answered 429: Rate limit reached for requests (rate_limit_exceeded, requests); {advice}"
            ),
            &format!(
                "busy for 7000 ms: openai-responses answered 429: Rate limit reached for requests (rate_limit_exceeded, \
             requests); {advice}"
            ),
        ],
    );
}

#[test]
fn a_conversation_that_does_not_fit_and_a_model_that_is_not_there() {
    for provider in &PROVIDERS {
        let (came, _) = play(provider, "too-long");
        let start = format!("too long: {} answered 400: ", provider.name);
        assert!(came.end.starts_with(&start) && came.end.contains("/compact"), "{}", came.end);
        let (came, _) = play(provider, "no-model");
        let start = format!("rejected: {} answered 404: ", provider.name);
        assert!(
            came.end.starts_with(&start) && came.end.contains("choose a model that it has with -m"),
            "{}",
            came.end
        );
    }
}

#[test]
fn an_error_in_the_midst_of_a_reply_is_no_reply() {
    for provider in &PROVIDERS {
        let (came, _) = play(provider, "error-in-reply");
        assert_eq!(came.said, ["saying Half an"], "{}", provider.name);
        assert!(came.end.starts_with(&format!("busy: {} answered ", provider.name)), "{}", came.end);
        assert!(came.end.to_lowercase().contains("overloaded"), "{}", came.end);
    }
}

#[test]
fn a_connection_that_breaks_or_stays_silent_is_told_and_no_call_comes_of_it() {
    for (script, words) in [("broken", "ended the connection before the answer was whole"), ("silent", "stayed silent")]
    {
        for provider in &PROVIDERS {
            let (came, _) = play(provider, script);
            assert_eq!(came.said, ["saying Half an"], "{}", provider.name);
            let start = format!("broken: {}: ", provider.name);
            assert!(came.end.starts_with(&start) && came.end.contains(words), "{}", came.end);
        }
    }
}

/// Half of a stream is never more than text.
#[test]
fn a_reply_that_ends_early_is_no_reply_wherever_it_ends() {
    for provider in &PROVIDERS {
        let script = provider.script("conversation");
        let exchange = &script.exchanges[0];
        let bytes = exchange.answer.bytes();
        let whole = provider.fetch(&provider.plugin(script.clone()), &first_request());
        for length in (0..bytes.len()).step_by(3) {
            for is_broken in [false, true] {
                let mut answer = exchange.answer.with_bytes(bytes[..length].to_vec());
                answer.pieces.extend(is_broken.then_some(Piece::Broken));
                let cut = Script { exchanges: [Exchange { answer, ..exchange.clone() }].into() };
                let came = provider.fetch(&provider.plugin(cut), &first_request());
                if came.end.starts_with("broken: ") {
                    assert!(came.calls.is_empty(), "{}: {came:?}", provider.name);
                } else {
                    // The reason was there already; only a word on tokens may be missing.
                    assert_eq!((&came.said, &came.end), (&whole.said, &whole.end), "{} {length}", provider.name);
                }
            }
        }
    }
}

#[test]
fn what_the_output_limit_cut_is_passed_on_as_far_as_it_came() {
    for provider in &PROVIDERS {
        let (came, _) = play(provider, "cut-by-length");
        let said = match provider.name {
            "gemini" | "ollama" => "saying Half an",
            _ => r#"doing read({"path":"a.)"#,
        };
        assert_eq!((&came.said[..], &*came.end), (&[said.to_owned()][..], "length"), "{}", provider.name);
    }
}

#[test]
fn what_nobody_knows_yet_is_left_out_with_a_line_in_the_log() {
    for provider in &PROVIDERS {
        let (came, logged) = play(provider, "unknown");
        assert_eq!((&came.said[..], &*came.end), (&["saying Hello".to_owned()][..], "end"), "{}", provider.name);
        // Ollama sends no kinds: what is unknown there is a key.
        let expected = usize::from(provider.name != "ollama");
        assert_eq!(logged.len(), expected, "{}: {logged:?}", provider.name);
        assert!(logged.iter().all(|line| line.starts_with("debug: ") && line.contains("is left out")), "{logged:?}");
    }
}

#[test]
fn servers_that_only_resemble_openai_are_understood() {
    let openai = &PROVIDERS[3];
    let (came, _) = play(openai, "odd-calls");
    let expected = [
        r#"doing read({"n":1})"#,
        r#"doing read({"n":2})"#,
        r#"doing read({"n":3})"#,
        "doing read()",
        "doing calendar.list()",
    ];
    assert_eq!((&came.said[..], &*came.end), (&expected.map(str::to_owned)[..], "tool calls"));
    let mut ids: Vec<&str> = came.calls.iter().map(|(id, ..)| &**id).collect();
    ids.dedup();
    assert_eq!(ids, ["a", "b", "call_1", "call_2", "call_3"]);

    let (came, _) = play(openai, "not-streamed");
    assert_eq!(
        (&came.said[..], came.tokens),
        (&["saying All at once.".to_owned(), "doing read({})".to_owned()][..], (3, 4))
    );

    let (came, _) = play(openai, "error-with-200");
    assert!(came.end.starts_with("rejected: openai answered 402: no credits left; the account"), "{}", came.end);
}
