//! Whether a failed request is sent again, and when: a pure function of the failure, the attempt and a random number.
//!
//! Apart from the session that waits, because every case can then be tested without a clock.

use std::time::Duration;

use crate::completion::ProviderError;

/// The wait after the first failure. It doubles with each.
const FIRST: Duration = Duration::from_secs(1);

/// The longest wait that doubling leads to.
const LONGEST: Duration = Duration::from_secs(60);

/// How often and how long a request is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// Requests in all, at least one.
    pub attempts: usize,
    /// The longest wait that a server may ask for; a longer one ends the turn with that server's words.
    pub longest: Duration,
}

impl Retries {
    /// How long to wait before the next attempt; none when there is none. `attempt` counts from 1, `random` is from 0 to 1: it
    /// spreads the waits, so that those who failed together do not come back together.
    pub fn wait(&self, attempt: usize, error: &ProviderError, random: f64) -> Option<Duration> {
        let asked = match error {
            ProviderError::Busy(_, asked) => *asked,
            ProviderError::Broken(_) => None,
            ProviderError::Unauthorized(_)
            | ProviderError::ContextTooLong(_)
            | ProviderError::Rejected(_)
            | ProviderError::Plugin(_) => return None,
        };
        if attempt >= self.attempts {
            return None;
        }
        match asked {
            // Never before the server wants it, and a little later, each one at another time.
            Some(asked) => (asked <= self.longest).then(|| asked + FIRST.mul_f64(random)),
            None => {
                let doubled = FIRST.saturating_mul(1_u32 << attempt.saturating_sub(1).min(16)).min(LONGEST);
                Some(doubled.mul_f64(0.75 + random / 2.0).min(self.longest))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(asked: Option<u64>) -> ProviderError {
        ProviderError::Busy("429".into(), asked.map(Duration::from_secs))
    }

    #[track_caller]
    fn check(attempt: usize, error: ProviderError, random: f64, expected: Option<u64>) {
        let retries = Retries { attempts: 5, longest: Duration::from_secs(300) };
        let wait = retries.wait(attempt, &error, random);
        assert_eq!(wait.map(|it| it.as_millis()), expected.map(u128::from));
    }

    #[test]
    fn the_wait_doubles_and_is_spread() {
        check(1, busy(None), 0.5, Some(1000));
        check(2, busy(None), 0.5, Some(2000));
        check(4, ProviderError::Broken("cut".into()), 0.5, Some(8000));
        check(1, busy(None), 0.0, Some(750));
        check(1, busy(None), 1.0, Some(1250));
    }

    #[test]
    fn a_server_that_says_when_is_asked_no_sooner() {
        check(1, busy(Some(7)), 0.0, Some(7000));
        check(4, busy(Some(7)), 0.5, Some(7500));
        check(1, busy(Some(120)), 0.0, Some(120_000));
    }

    #[test]
    fn there_is_an_end_to_attempts_and_to_waiting() {
        check(5, busy(None), 0.5, None);
        check(1, busy(Some(301)), 0.0, None);
        let retries = Retries { attempts: 100, longest: Duration::from_secs(300) };
        assert_eq!(retries.wait(99, &busy(None), 0.5), Some(LONGEST));
    }

    #[test]
    fn what_can_never_succeed_is_not_tried_again() {
        for error in [
            ProviderError::Unauthorized("401".into()),
            ProviderError::Rejected("400".into()),
            ProviderError::ContextTooLong("long".into()),
        ] {
            check(1, error, 0.5, None);
        }
    }
}
