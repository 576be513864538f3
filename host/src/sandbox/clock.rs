//! The two clocks of a call: ticks of guest time, and a wall deadline that can be paused.
//!
//! Apart, because both are easy to get wrong: a tick must not count the time of host calls, and a deadline must not count a
//! person's thinking.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often running guests look at the time. Short enough to cancel at once, long enough to cost nothing.
pub(crate) const TICK: Duration = Duration::from_millis(5);

/// Ticks without a guest after which the clock thread sleeps until one starts: a prompt that waits wakes no processor.
const IDLE_TICKS: u32 = 100;

/// Advances the engine's epoch while guests run. Stops, and is joined, when it is dropped.
pub(crate) struct Clock {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What the clock thread and the stores share.
#[derive(Debug, Default)]
struct Shared {
    /// Ticks so far; equal to the engine's epoch, which wasmtime keeps to itself.
    ticks: AtomicU64,
    running: AtomicUsize,
    asleep: AtomicBool,
    stop: AtomicBool,
    thread: std::sync::OnceLock<thread::Thread>,
}

/// A guest is running, or may run, as long as this lives.
pub(crate) struct Running(Ticks);

/// The count of ticks, to be read at any time.
#[derive(Clone, Debug)]
pub(crate) struct Ticks(Arc<Shared>);

impl Clock {
    /// Starts the thread. It holds the engine weakly, so that it never keeps one alive.
    pub(crate) fn start(engine: &wasmtime::Engine) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let engine = engine.weak();
        let of_thread = shared.clone();
        let thread = thread::Builder::new().name("clock".into()).spawn(move || {
            let mut idle = 0;
            while !of_thread.stop.load(SeqCst) {
                if of_thread.running.load(SeqCst) == 0 {
                    idle += 1
                } else {
                    idle = 0
                }
                if idle > IDLE_TICKS {
                    of_thread.asleep.store(true, SeqCst);
                    // A guest that started since then has seen `asleep` too late: look once more before sleeping.
                    if of_thread.running.load(SeqCst) == 0 && !of_thread.stop.load(SeqCst) {
                        thread::park();
                    }
                    of_thread.asleep.store(false, SeqCst);
                    idle = 0;
                }
                thread::park_timeout(TICK);
                let Some(engine) = engine.upgrade() else { return };
                of_thread.ticks.fetch_add(1, SeqCst);
                engine.increment_epoch();
            }
        })?;
        shared.thread.set(thread.thread().clone()).expect("set once, here");
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Wakes the clock for a guest that starts now.
    pub(crate) fn enter(&self) -> Running {
        self.shared.running.fetch_add(1, SeqCst);
        if self.shared.asleep.load(SeqCst)
            && let Some(thread) = self.shared.thread.get()
        {
            thread.unpark();
        }
        Running(Ticks(self.shared.clone()))
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.shared.stop.store(true, SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

impl Running {
    pub(crate) fn ticks(&self) -> &Ticks {
        &self.0
    }
}

impl Ticks {
    /// Ticks so far.
    pub(crate) fn now(&self) -> u64 {
        self.0.ticks.load(Relaxed)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.0.running.fetch_sub(1, SeqCst);
    }
}

/// Ticks that the guest itself may still see.
#[derive(Debug)]
pub(crate) struct CpuBudget {
    limit: Duration,
    left: u64,
    /// The tick at which the guest is asked next.
    deadline: u64,
    /// Since which tick the host has control; none while the guest runs.
    host_since: Option<u64>,
}

impl CpuBudget {
    /// A budget of at least two ticks, so that a call that happens to start just before one is not cut short.
    pub(crate) fn new(budget: Duration, now: u64) -> Self {
        let ticks = budget.as_nanos().div_ceil(TICK.as_nanos()).max(2);
        Self { limit: budget, left: u64::try_from(ticks).unwrap_or(u64::MAX), deadline: now + 1, host_since: Some(now) }
    }

    /// The budget that it began with.
    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// The guest saw a tick. Returns whether it may go on.
    pub(crate) fn tick(&mut self, now: u64) -> bool {
        self.left = self.left.saturating_sub(1);
        self.deadline = now + 1;
        self.left > 0
    }

    /// The host has control: the guest called it, or returned, be it to wait.
    pub(crate) fn leave(&mut self, now: u64) {
        self.host_since.get_or_insert(now);
    }

    /// The guest goes on. Returns after how many ticks it is to be asked, if that changed: ticks that passed in the host are
    /// not the guest's, those before are, so that a guest cannot hide behind many short host calls.
    pub(crate) fn come_back(&mut self, now: u64) -> Option<u64> {
        let in_host = now - self.host_since.take()?;
        if in_host == 0 {
            return None;
        }
        self.deadline += in_host;
        Some(self.deadline.saturating_sub(now))
    }
}

/// The wall deadline of one call, which stands still while the call waits for a person or for a nested call.
#[derive(Debug)]
pub(crate) struct Deadline {
    limit: Option<Duration>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// When the call has to be over, as far as known.
    at: Instant,
    pauses: u32,
    paused_since: Instant,
}

/// The deadline stands still as long as this lives.
pub(crate) struct Pause(Arc<Deadline>);

impl Deadline {
    /// A deadline that starts now; none for a call that has its own timers.
    pub(crate) fn start(limit: Option<Duration>) -> Arc<Self> {
        let now = Instant::now();
        let at = now + limit.unwrap_or_default();
        Arc::new(Self { limit, state: Mutex::new(State { at, pauses: 0, paused_since: now }) })
    }

    /// Stops the deadline until the pause is dropped. Pauses may overlap.
    pub(crate) fn pause(self: &Arc<Self>) -> Pause {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.pauses == 0 {
            state.paused_since = Instant::now();
        }
        state.pauses += 1;
        drop(state);
        Pause(self.clone())
    }

    /// How long the call may still take if nothing pauses it from now on.
    fn left(&self) -> Duration {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = if state.pauses > 0 { state.paused_since } else { Instant::now() };
        // A paused deadline never expires, however little is left of it.
        state.at.saturating_duration_since(now).max(if state.pauses > 0 { TICK } else { Duration::ZERO })
    }

    /// Runs the call. `Err` holds the limit when the time is up; the call is dropped with the future.
    pub(crate) async fn run<F: Future>(&self, call: F) -> Result<F::Output, Duration> {
        let Some(limit) = self.limit else { return Ok(call.await) };
        let mut call = pin!(call);
        let mut sleep = pin!(tokio::time::sleep(limit));
        std::future::poll_fn(|cx| {
            if let Poll::Ready(output) = call.as_mut().poll(cx) {
                return Poll::Ready(Ok(output));
            }
            while sleep.as_mut().poll(cx).is_ready() {
                let left = self.left();
                if left.is_zero() {
                    return Poll::Ready(Err(limit));
                }
                sleep.as_mut().reset(tokio::time::Instant::now() + left);
            }
            Poll::Pending
        })
        .await
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.pauses -= 1;
        if state.pauses == 0 {
            let paused = state.paused_since.elapsed();
            state.at += paused;
        }
    }
}

/// Time that a guest spends in functions of the host, for the audit log.
#[derive(Debug, Default)]
pub(crate) struct InHost {
    since: Option<Instant>,
    total: Duration,
}

impl InHost {
    pub(crate) fn enter(&mut self) {
        self.since = Some(Instant::now());
    }

    pub(crate) fn leave(&mut self) {
        self.total += self.since.take().map(|it| it.elapsed()).unwrap_or_default();
    }

    /// All of it, also of a function that was cut short.
    pub(crate) fn total(&self) -> Duration {
        self.total + self.since.map(|it| it.elapsed()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_in_the_host_are_not_the_guests() {
        let mut budget = CpuBudget::new(TICK * 10, 0);
        budget.leave(0);
        assert_eq!(budget.come_back(7), Some(1));
        assert_eq!(budget.left, 10);
    }

    #[test]
    fn a_tick_that_passed_in_the_guest_is_counted_after_a_host_call() {
        let mut budget = CpuBudget::new(TICK * 10, 0);
        assert_eq!(budget.come_back(0), None, "it begins");
        budget.leave(1);
        assert_eq!(budget.come_back(1), None);
        budget.leave(1);
        assert_eq!(budget.come_back(2), Some(0), "the tick before the host call is still due");
    }

    #[test]
    fn what_was_not_given_to_the_host_is_the_guests() {
        let mut budget = CpuBudget::new(TICK * 10, 0);
        assert_eq!(budget.come_back(5), Some(1), "it has not begun before");
        assert_eq!(budget.come_back(9), None, "it was not away");
        budget.leave(9);
        budget.leave(11);
        assert_eq!(budget.come_back(12), Some(0), "away since the first of both");
    }

    #[test]
    fn a_budget_ends_after_its_ticks() {
        let mut budget = CpuBudget::new(TICK * 3, 0);
        assert!(budget.tick(1) && budget.tick(2) && !budget.tick(3));
    }

    #[tokio::test]
    async fn a_call_past_its_deadline_is_dropped() {
        let deadline = Deadline::start(Some(Duration::from_millis(20)));
        assert_eq!(deadline.run(std::future::pending::<()>()).await, Err(Duration::from_millis(20)));
    }

    #[tokio::test]
    async fn a_pause_is_not_counted() {
        let deadline = Deadline::start(Some(Duration::from_millis(20)));
        let paused = deadline.clone();
        let call = async move {
            let pause = paused.pause();
            tokio::time::sleep(Duration::from_millis(60)).await;
            drop(pause);
            "answered"
        };
        assert_eq!(deadline.run(call).await, Ok("answered"));
    }

    #[test]
    fn a_clock_without_guests_falls_asleep_and_is_woken_by_one() {
        let engine = wasmtime::Engine::default();
        let clock = Clock::start(&engine).unwrap();
        while !clock.shared.asleep.load(SeqCst) {
            thread::yield_now();
        }
        let before = clock.shared.ticks.load(SeqCst);
        let running = clock.enter();
        while running.ticks().now() == before {
            thread::yield_now();
        }
    }
}
