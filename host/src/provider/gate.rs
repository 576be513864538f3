//! A server that said when to come back: until then, nobody asks it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Shared by all who talk to one provider, sub-agents too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate(Arc<Mutex<Option<Instant>>>);

impl Gate {
    /// Lets nobody through for so long; never for less than was said before.
    pub(crate) fn close(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut closed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *closed = Some(closed.map_or(until, |it| it.max(until)));
    }

    /// Waits until it is open.
    pub(crate) async fn wait(&self) {
        loop {
            let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match until {
                Some(until) if until > Instant::now() => tokio::time::sleep_until(until).await,
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn all_who_share_it_wait_and_a_shorter_wait_opens_it_no_sooner() {
        let (gate, start) = (Gate::default(), Instant::now());
        gate.wait().await;
        assert_eq!(start.elapsed(), Duration::ZERO);
        gate.close(Duration::from_secs(7));
        gate.close(Duration::from_secs(2));
        gate.clone().wait().await;
        assert_eq!(start.elapsed(), Duration::from_secs(7));
    }
}
