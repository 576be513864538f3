//! Sizes, times and counts as text with its unit, and back.
//! Separate because flags and the options of plugins are spelled the same way as the limits.

use std::time::Duration;

use super::{GIB, KIB, LimitError, MIB, TIMES};

/// Parses a size in bytes such as `64KiB`. Units are binary only; `MB` is refused, since people mean two things by it.
pub fn parse_bytes(text: &str) -> Result<usize, LimitError> {
    let scale = |unit: &str| match unit {
        "B" => Some(1),
        "KiB" => Some(KIB as u64),
        "MiB" => Some(MIB as u64),
        "GiB" => Some(GIB as u64),
        _ => None,
    };
    let most = || show_bytes(usize::MAX / GIB * GIB);
    let bytes = parse_scaled(text, "256MiB", "MiB", "`B`, `KiB`, `MiB` or `GiB`", scale, most)?;
    usize::try_from(bytes).map_err(|_| LimitError::TooLarge { value: shown_text(text), most: most() })
}

/// Parses a time such as `200ms`, `10s`, `2min` or `1h`.
pub fn parse_time(text: &str) -> Result<Duration, LimitError> {
    let scale = |unit: &str| match unit {
        "ms" => Some(1),
        "s" => Some(1000),
        "min" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let most = || show_time(TIMES.most);
    parse_scaled(text, "10s", "s", "`ms`, `s`, `min` or `h`", scale, most).map(Duration::from_millis)
}

/// Parses a number of things, such as `16`.
pub fn parse_count(text: &str) -> Result<usize, LimitError> {
    let (number, unit) = split_number(text, "16")?;
    if !unit.is_empty() {
        return Err(LimitError::NoNumber { text: shown_text(text), example: "16" });
    }
    match number.parse() {
        Ok(0) => Err(LimitError::Zero),
        Ok(n) => Ok(n),
        Err(_) => Err(LimitError::TooLarge { value: shown_text(text), most: usize::MAX.to_string() }),
    }
}

/// Writes a size in its largest whole unit: `64 KiB`, `1000 B`.
pub fn show_bytes(bytes: usize) -> String {
    let units = [(GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")];
    let (scale, unit) =
        units.into_iter().find(|(scale, _)| bytes >= *scale && bytes.is_multiple_of(*scale)).unwrap_or((1, "B"));
    format!("{} {unit}", bytes / scale)
}

/// Writes a time in its largest whole unit: `2 min`, `90 s`, `200 ms`. What is below a millisecond is dropped.
pub fn show_time(time: Duration) -> String {
    let millis = time.as_millis();
    let units = [(3_600_000, "h"), (60_000, "min"), (1000, "s")];
    let (scale, unit) =
        units.into_iter().find(|(scale, _)| millis >= *scale && millis.is_multiple_of(*scale)).unwrap_or((1, "ms"));
    format!("{} {unit}", millis / scale)
}

fn parse_scaled(
    text: &str,
    example: &'static str,
    usual: &'static str,
    expected: &'static str,
    scale: impl Fn(&str) -> Option<u64>,
    most: impl Fn() -> String,
) -> Result<u64, LimitError> {
    let (number, unit) = split_number(text, example)?;
    if unit.is_empty() {
        return Err(LimitError::NoUnit { number: shown_text(number), unit: usual });
    }
    let Some(scale) = scale(unit) else {
        return Err(LimitError::Unit { unit: shown_text(unit), expected });
    };
    match number.parse::<u64>().ok().and_then(|number| number.checked_mul(scale)) {
        Some(0) => Err(LimitError::Zero),
        Some(scaled) => Ok(scaled),
        None => Err(LimitError::TooLarge { value: shown_text(text), most: most() }),
    }
}

/// Splits `64 KiB` into `64` and `KiB`; blanks around and one between are allowed.
fn split_number<'t>(text: &'t str, example: &'static str) -> Result<(&'t str, &'t str), LimitError> {
    let trimmed = text.trim_matches(' ');
    let end = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    let unit = unit.strip_prefix(' ').unwrap_or(unit);
    // `1.5GiB`, `1_000` and `-1s` are about the number, not about the unit.
    if number.is_empty() || unit.starts_with(|c: char| matches!(c, '.' | ',' | '_' | ' ') || c.is_ascii_digit()) {
        return Err(LimitError::NoNumber { text: shown_text(text), example });
    }
    Ok((number, unit))
}

fn shown_text(text: &str) -> String {
    crate::text::visible_line(crate::text::first_chars(text, 40)).into_owned()
}
