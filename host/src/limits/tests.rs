//! Tests of the limits' spelling, apart to keep the table itself short.

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

#[track_caller]
fn check(name: &str, value: &str, expected: Expect) {
    let mut limits = Limits::default();
    match limits.set(name, value) {
        Ok(()) => {
            let shown = limits.shown();
            let (_, shown) = shown.iter().find(|(known, _)| *known == name).expect("was just set");
            expected.assert_eq(shown);
        }
        Err(error) => {
            assert_eq!(limits, Limits::default(), "a refused value changes nothing");
            expected.assert_eq(&error.to_string());
        }
    }
}

#[test]
fn values_are_written_with_their_unit() {
    check("memory", "256MiB", expect!["256 MiB"]);
    check("memory", "64 KiB", expect!["64 KiB"]);
    check("memory", " 4GiB ", expect!["4 GiB"]);
    check("log", "1000B", expect!["1000 B"]);
    check("log", "2048KiB", expect!["2 MiB"]);
    check("cpu", "200ms", expect!["200 ms"]);
    check("deadline", "2min", expect!["2 min"]);
    check("deadline", "90s", expect!["90 s"]);
    check("http_idle", "24h", expect!["24 h"]);
    check("calls", "16", expect!["16"]);
    check("depth", "1", expect!["1"]);
}

#[test]
fn a_missing_or_unknown_unit_shows_the_right_spelling() {
    check("memory", "256", expect!["`256` has no unit, expected for example `256MiB`"]);
    check("cpu", "10", expect!["`10` has no unit, expected for example `10s`"]);
    check("value", "4MB", expect!["unknown unit `MB`, expected `B`, `KiB`, `MiB` or `GiB`"]);
    check("value", "4mib", expect!["unknown unit `mib`, expected `B`, `KiB`, `MiB` or `GiB`"]);
    check("cpu", "2m", expect!["unknown unit `m`, expected `ms`, `s`, `min` or `h`"]);
    check("cpu", "1 \x1b[2J", expect!["unknown unit `␛[2J`, expected `ms`, `s`, `min` or `h`"]);
    check("calls", "16 calls", expect!["`16 calls` is no whole number, expected for example `16`"]);
}

#[test]
fn what_is_no_whole_number_is_refused() {
    check("memory", "", expect!["`` is no whole number, expected for example `256MiB`"]);
    check("memory", "MiB", expect!["`MiB` is no whole number, expected for example `256MiB`"]);
    check("memory", "1.5GiB", expect!["`1.5GiB` is no whole number, expected for example `256MiB`"]);
    check("memory", "1_000KiB", expect!["`1_000KiB` is no whole number, expected for example `256MiB`"]);
    check("cpu", "-1s", expect!["`-1s` is no whole number, expected for example `10s`"]);
    check("cpu", "+1s", expect!["`+1s` is no whole number, expected for example `10s`"]);
    check("cpu", "1  s", expect!["`1  s` is no whole number, expected for example `10s`"]);
    check("cpu", "1 5s", expect!["`1 5s` is no whole number, expected for example `10s`"]);
}

#[test]
fn what_cannot_work_is_refused() {
    check("memory", "0MiB", expect!["a limit cannot be zero"]);
    check("cpu", "0s", expect!["a limit cannot be zero"]);
    check("calls", "0", expect!["a limit cannot be zero"]);
    check("memory", "1KiB", expect!["`1 KiB` is too small, expected at least `64 KiB`"]);
    check("memory", "5GiB", expect!["`5 GiB` is too large, expected at most `4 GiB`"]);
    check("cpu", "25h", expect!["`25 h` is too large, expected at most `24 h`"]);
    check("stack", "1GiB", expect!["`1 GiB` is too large, expected at most `8 MiB`"]);
    check("depth", "33", expect!["`33` is too large, expected at most `32`"]);
    check("cpu", "18446744073709551615h", expect!["`18446744073709551615h` is too large, expected at most `24 h`"]);
    check(
        "memory",
        "99999999999999999999B",
        expect!["`99999999999999999999B` is too large, expected at most `17179869183 GiB`"],
    );
    check(
        "calls",
        "99999999999999999999",
        expect!["`99999999999999999999` is too large, expected at most `18446744073709551615`"],
    );
    check("memroy", "1GiB", expect!["unknown limit `memroy`"]);
}

#[test]
fn the_defaults_are_those_of_the_design() {
    let table: Vec<String> =
        Limits::default().shown().iter().map(|(name, value)| format!("{name} = {value}")).collect();
    expect![[r#"
        memory = 256 MiB
        cpu = 10 s
        listing_cpu = 2 s
        deadline = 2 min
        value = 4 MiB
        model_result = 64 KiB
        listing = 256
        schema = 64 KiB
        storage = 10 MiB
        log = 1 MiB
        http_body = 32 MiB
        http_idle = 2 min
        http_connect = 30 s
        http_first_byte = 5 min
        http_requests = 16
        program = 2 min
        program_longest = 30 min
        program_output = 1 MiB
        attempts = 5
        retry_wait = 5 min
        reply_idle = 10 min
        calls = 16
        instances = 256
        stack = 512 KiB
        component = 64 MiB
        depth = 8"#]]
    .assert_eq(&table.join("\n"));
}

#[test]
fn every_default_is_a_value_that_can_be_set() {
    for (name, value) in Limits::default().shown() {
        let mut limits = Limits::default();
        assert_eq!(limits.set(name, &value), Ok(()), "{name}");
        assert_eq!(limits, Limits::default());
    }
    assert_eq!(Limits::names().count(), ROWS.len());
    assert!(Limits::is_count("calls") && !Limits::is_count("memory") && !Limits::is_count("nothing"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases::cases()))]

    #[test]
    fn any_text_is_a_value_that_reads_back_or_an_error(text in "[0-9]{0,22} ?(B|KiB|MiB|GiB|ms|s|min|h|.{0,3})") {
        if let Ok(bytes) = parse_bytes(&text) {
            prop_assert!(bytes > 0);
            prop_assert_eq!(parse_bytes(&show_bytes(bytes)), Ok(bytes));
        }
        if let Ok(time) = parse_time(&text) {
            prop_assert!(!time.is_zero());
            prop_assert_eq!(parse_time(&show_time(time)), Ok(time));
        }
        if let Ok(count) = parse_count(&text) {
            prop_assert_eq!(parse_count(&count.to_string()), Ok(count));
        }
        for name in Limits::names() {
            let mut limits = Limits::default();
            if limits.set(name, &text).is_ok() {
                prop_assert!(limits.shown().iter().all(|(_, value)| !value.starts_with("0 ")));
            }
        }
    }
}
