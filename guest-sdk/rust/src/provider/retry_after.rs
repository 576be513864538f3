//! How long a server wants us to stay away. Apart, because there are four ways to say it.

use crate::http::Response;
use serde_json::Value;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What the headers say: `retry-after-ms`, else `retry-after` in seconds or as a date.
pub(super) fn of_headers(response: &Response) -> Option<Duration> {
    let milliseconds = response.header("retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok());
    if let Some(milliseconds) = milliseconds {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    let text = response.header("retry-after")?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    // The server's own clock, where it tells it: ours may be wrong.
    let now = response.header("date").and_then(|date| seconds_of(date.trim())).or_else(now)?;
    Some(Duration::from_secs(seconds_of(text)?.saturating_sub(now)))
}

/// What an error of Google's APIs says: `{"@type": "….RetryInfo", "retryDelay": "39s"}` among its details.
pub(super) fn of_body(body: &Value) -> Option<Duration> {
    let error = body.get("error").unwrap_or(body);
    let delay = error["details"].as_array()?.iter().find_map(|detail| detail["retryDelay"].as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

fn now() -> Option<u64> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// Seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`.
fn seconds_of(date: &str) -> Option<u64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let mut words = date.split_once(", ")?.1.split(' ');
    let day: u64 = words.next()?.parse().ok().filter(|day| (1..=31).contains(day))?;
    let month = words.next().filter(|month| month.len() == 3)?;
    let month = u64::try_from(MONTHS.find(month).filter(|at| at % 3 == 0)? / 3).ok()? + 1;
    let year: u64 = words.next()?.parse().ok().filter(|year| (1970..=9999).contains(year))?;
    let mut time = words.next()?.split(':').map(|part| part.parse::<u64>().ok().filter(|part| *part <= 60));
    let (hours, minutes, seconds) = (time.next()??, time.next()??, time.next()??);
    // Days since 1970: years begin in March here, so that a leap day comes last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    Some((days.checked_sub(719_468)?) * 86_400 + hours * 3600 + minutes * 60 + seconds)
}

#[cfg(test)]
mod tests {
    use super::{of_body, seconds_of};
    use serde_json::json;
    use std::time::Duration;

    #[test]
    fn dates_are_seconds() {
        for (date, expected) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Thu, 29 Feb 2024 12:00:00 GMT", Some(1_709_208_000)),
            ("Mon, 01 Mar 2100 00:00:00 GMT", Some(4_107_542_400)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", None),
            ("Sun, 99 Nov 1994 08:49:37 GMT", None),
            ("soon", None),
        ] {
            assert_eq!(seconds_of(date), expected, "{date}");
        }
    }

    #[test]
    fn google_says_it_in_the_body() {
        let body = json!({"error": {"details": [{"@type": "x"}, {"retryDelay": "39.5s"}]}});
        assert_eq!(of_body(&body), Some(Duration::from_millis(39_500)));
        assert_eq!(of_body(&json!({"error": "no"})), None);
    }
}
