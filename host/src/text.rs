//! Text of strangers (models, tools, plugins, files) made safe to show, and cut without breaking a character.
//! Separate because everything that prints, logs or asks needs the same answer.

use std::borrow::Cow;

/// Returns the text with everything that could drive a terminal or hide from a reader shown as a mark.
///
/// Newlines and tabs stay and CRLF becomes LF. C0 controls and DEL become their control picture (`␛`, `␍`, `␇`); C1
/// controls, bidirectional overrides and invisible characters become `\u{9b}` and the like. Joiners and variation
/// selectors stay where an emoji or an Arabic or Indic word needs them. What a person decides on goes through
/// [`visible_line`], which keeps none of those.
pub fn visible(text: &str) -> Cow<'_, str> {
    marked(text, Kept::Lines)
}

/// Returns the text as one line without any invisible character: newlines and tabs become `␊` and `␉`.
///
/// For names, paths, arguments in a question of approval, and whatever else must be seen whole.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    marked(text, Kept::Nothing)
}

/// Whether [`visible_line`] leaves the text as it is: one line in which nothing hides.
pub fn is_visible_line(text: &str) -> bool {
    !text.chars().any(is_hidden)
}

/// Returns the text, or its two ends around a note of how much was left out, in at most `max_bytes` bytes.
///
/// Where not even the note fits, the start alone.
pub fn shorten_middle(text: &str, max_bytes: usize) -> Cow<'_, str> {
    if text.len() <= max_bytes {
        return Cow::Borrowed(text);
    }
    // The note with the largest number it can hold: the real one is never longer.
    let Some(room) = max_bytes.checked_sub(left_out(text.len()).len()) else {
        return Cow::Borrowed(&text[..text.floor_char_boundary(max_bytes)]);
    };
    let head = text.floor_char_boundary(room - room / 2);
    let tail = text.ceil_char_boundary(text.len() - room / 2);
    Cow::Owned(format!("{}{}{}", &text[..head], left_out(tail - head), &text[tail..]))
}

/// Returns the first `n` characters, or all where there are fewer.
pub fn first_chars(text: &str, n: usize) -> &str {
    text.char_indices().nth(n).map_or(text, |(end, _)| &text[..end])
}

/// What stands in a text for the character after it was found unfit to show.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// Newlines, tabs, and invisible characters that a script needs.
    Lines,
    Nothing,
}

fn left_out(n_bytes: usize) -> String {
    format!("\n[{n_bytes} bytes left out]\n")
}

fn marked(text: &str, kept: Kept) -> Cow<'_, str> {
    let Some(start) = text.find(is_hidden) else {
        return Cow::Borrowed(text);
    };
    let mut shown = String::with_capacity(text.len() + 16);
    shown.push_str(&text[..start]);
    // The character before, unless it was replaced: a mark joins with nothing.
    let mut before = shown.chars().next_back();
    let mut rest = text[start..].chars().peekable();
    while let Some(c) = rest.next() {
        let after = rest.peek().copied();
        let stays = !is_hidden(c) || (kept == Kept::Lines && (matches!(c, '\n' | '\t') || is_needed(before, c, after)));
        if stays {
            shown.push(c);
        } else if kept == Kept::Nothing || c != '\r' || after != Some('\n') {
            push_mark(&mut shown, c);
        }
        before = stays.then_some(c);
    }
    Cow::Owned(shown)
}

fn push_mark(shown: &mut String, c: char) {
    match c {
        // U+2400 is the first control picture, in the order of the controls.
        '\0'..='\u{1f}' => shown.extend(char::from_u32(0x2400 + u32::from(c))),
        '\u{7f}' => shown.push('␡'),
        _ => shown.extend(c.escape_unicode()),
    }
}

/// Whether the character is a control, or shows nothing and changes how others are read.
///
/// All of Cc, Zl and Zp, Default_Ignorable_Code_Point, and those of Cf that are not drawn (Unicode 16).
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a hidden character is part of how an emoji or a word is written.
fn is_needed(before: Option<char>, c: char, after: Option<char>) -> bool {
    let (Some(before), after) = (before, after.unwrap_or(' ')) else {
        return false;
    };
    let joins_words = is_joining_script(before) && is_joining_script(after);
    match c {
        '\u{200d}' => joins_words || ((before == '\u{fe0f}' || is_emoji(before)) && is_emoji(after)),
        '\u{200c}' => joins_words,
        '\u{fe0e}' | '\u{fe0f}' => is_emoji(before) || (matches!(before, '0'..='9' | '#' | '*') && after == '\u{20e3}'),
        _ => false,
    }
}

/// Generous: the blocks that hold emoji, not the exact set.
fn is_emoji(c: char) -> bool {
    !is_hidden(c)
        && matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}'
            | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

/// Arabic, Syriac and the scripts of India, where joiners change how a word is written.
fn is_joining_script(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{dff}') && !is_hidden(c)
}

/// A word as a POSIX shell reads it: in quotes where it needs them.
pub fn for_shell(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "%+,-./:=@_".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(input: &str, lines: &str, line: &str) {
        assert_eq!(visible(input), lines);
        assert_eq!(visible_line(input), line);
        assert_eq!(is_visible_line(input), input == line);
    }

    #[test]
    fn plain_text_stays_as_it_is() {
        check("", "", "");
        check("naïve 你好 “é” 🙂", "naïve 你好 “é” 🙂", "naïve 你好 “é” 🙂");
        check("a\n\tb", "a\n\tb", "a␊␉b");
        assert!(matches!(visible("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn line_ends_become_lf_and_a_lone_cr_shows() {
        check("a\r\nb", "a\nb", "a␍␊b");
        check("safe\rrm -rf", "safe␍rm -rf", "safe␍rm -rf");
        check("a\r\r\n", "a␍\n", "a␍␍␊");
        check("a\r", "a␍", "a␍");
    }

    #[test]
    fn control_sequences_are_seen_and_not_obeyed() {
        check("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇", "␛]52;c;aGk=␇");
        check("\x1b[2J\x00\x08\x7f", "␛[2J␀␈␡", "␛[2J␀␈␡");
        check("\u{9b}31m\u{85}", "\\u{9b}31m\\u{85}", "\\u{9b}31m\\u{85}");
    }

    #[test]
    fn what_hides_or_reorders_text_is_seen() {
        check("a\u{202e}b\u{2066}c", "a\\u{202e}b\\u{2066}c", "a\\u{202e}b\\u{2066}c");
        check("r\u{200b}m\u{ad}", "r\\u{200b}m\\u{ad}", "r\\u{200b}m\\u{ad}");
        check("\u{feff}x\u{2028}y", "\\u{feff}x\\u{2028}y", "\\u{feff}x\\u{2028}y");
        check("x\u{e0041}\u{3164}", "x\\u{e0041}\\u{3164}", "x\\u{e0041}\\u{3164}");
        check("r\u{200d}m\u{fe0f}", "r\\u{200d}m\\u{fe0f}", "r\\u{200d}m\\u{fe0f}");
        check("1\u{fe0f}x a\u{200d}😀", r"1\u{fe0f}x a\u{200d}😀", r"1\u{fe0f}x a\u{200d}😀");
        check("😀\u{200d}\u{2060}", r"😀\u{200d}\u{2060}", r"😀\u{200d}\u{2060}");
        check("م\u{200c}\u{61c}", r"م\u{200c}\u{61c}", r"م\u{200c}\u{61c}");
        check("😀\u{fe0f}\u{fe0f}", "😀\u{fe0f}\\u{fe0f}", "😀\\u{fe0f}\\u{fe0f}");
    }

    #[test]
    fn joiners_stay_where_a_script_needs_them() {
        check("⚠\u{fe0f} 1\u{fe0f}\u{20e3}", "⚠\u{fe0f} 1\u{fe0f}\u{20e3}", "⚠\\u{fe0f} 1\\u{fe0f}\u{20e3}");
        check("👩\u{200d}💻", "👩\u{200d}💻", "👩\\u{200d}💻");
        check("❤\u{fe0f}\u{200d}🔥", "❤\u{fe0f}\u{200d}🔥", "❤\\u{fe0f}\\u{200d}🔥");
        check("می\u{200c}خواهم", "می\u{200c}خواهم", "می\\u{200c}خواهم");
    }

    #[test]
    fn first_chars_counts_characters() {
        let cases = [("你好“é🙂", 0, ""), ("你好“é🙂", 3, "你好“"), ("你好“é🙂", 5, "你好“é🙂"), ("ab", 9, "ab")];
        for (text, n, expected) in cases {
            assert_eq!(first_chars(text, n), expected);
        }
    }

    #[test]
    fn a_cut_at_any_byte_leaves_whole_characters() {
        let text = "你好“é🙂".repeat(20);
        for max in 0..=text.len() + 1 {
            let short = shorten_middle(&text, max);
            assert!(short.len() <= max, "{max}: {short}");
            assert!(short.len() + 8 > max.min(text.len()), "{max}: wastes room");
        }
        assert_eq!(shorten_middle(&"你好“é🙂".repeat(4), 31), "你\n[53 bytes left out]\n🙂");
        for max in 0..16 {
            assert!("你好“é🙂".starts_with(&*shorten_middle("你好“é🙂", max)));
        }
    }

    #[test]
    fn the_note_says_how_much_was_left_out() {
        let short = shorten_middle("0123456789abcdefghijklmnopqrstuvwxyz0123456789", 32).into_owned();
        assert_eq!(short, "012345\n[35 bytes left out]\n56789");
        assert_eq!(shorten_middle("short", 5), "short");
        assert_eq!(shorten_middle("0123456789", 3), "012");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases()))]

        #[test]
        fn nothing_visible_controls_a_terminal(text in hostile()) {
            let shown = visible(&text);
            prop_assert!(!shown.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{shown:?}");
            prop_assert!(is_visible_line(&visible_line(&text)));
            // A mark is plain text: nothing is marked twice.
            prop_assert_eq!(visible(&shown), shown.as_ref());
        }

        #[test]
        fn a_shortened_text_fits_and_keeps_both_ends(text in hostile(), max in 0_usize..80) {
            let short = shorten_middle(&text, max);
            prop_assert!(short.len() <= max);
            prop_assert!(short.is_empty() || text.starts_with(first_chars(&short, 1)) || short.starts_with('\n'));
            prop_assert!(text.starts_with(first_chars(&text, max)));
        }
    }

    fn hostile() -> impl Strategy<Value = String> {
        let odd = prop::sample::select(
            "\r\n\t\x1b\u{9b}\u{202e}\u{200d}\u{200c}\u{fe0f}\u{feff}\u{e0041}\u{7f}\u{0}1é🙂⚠م你"
                .chars()
                .collect::<Vec<_>>(),
        );
        prop::collection::vec(prop_oneof![odd, any::<char>()], 0..60).prop_map(String::from_iter)
    }
}
