//! Why a guest's call ended without an answer.
//!
//! Apart, because three readers need it: the model (a sentence without paths), the person (the same, with a hint) and the
//! code that picks the exit status.

use std::time::Duration;

use crate::text::visible;

/// A limit that was hit, or a fault of the guest. The instance is gone afterwards; the next call gets a new one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The guest trapped: what wasmtime says, then the last lines that the guest wrote to its standard error.
    #[error("trapped: {reason}{}", tail(stderr))]
    Trap {
        /// The kind of trap.
        reason: String,
        /// The end of the guest's standard error, where panics and tracebacks are written just before.
        stderr: String,
    },
    /// Growing memory was refused, and the guest could not go on.
    #[error("needed more than its {} of memory{}", bytes(*limit), tail(stderr))]
    Memory {
        /// The limit, in bytes.
        limit: usize,
        /// The end of the guest's standard error.
        stderr: String,
    },
    /// The budget of guest time is spent.
    #[error("used more than its {} of CPU time", seconds(*.0))]
    Cpu(Duration),
    /// The whole call took too long.
    #[error("ran past its {} deadline", seconds(*.0))]
    Deadline(Duration),
    /// Calls inside the guest are nested too deep.
    #[error("used more than its {} of stack", bytes(*.0))]
    Stack(usize),
    /// A value that crosses the sandbox is too large.
    #[error("passed a value larger than {}", bytes(*.0))]
    Value(usize),
    /// Arguments are too large to be handed to the guest.
    #[error("was given a value larger than {}", bytes(*.0))]
    Given(usize),
    /// The guest logged or printed too much.
    #[error("printed more than {}", bytes(*.0))]
    Output(usize),
    /// The guest keeps too many things of the host open.
    #[error("kept more than {0} files, streams and timers open")]
    Handles(usize),
    /// All instances are in use.
    #[error("could not start: {0} instances are alive")]
    Instances(usize),
    /// The plugin keeps one instance, which waits for this call.
    #[error("is waiting for this call: a plugin with one instance cannot be entered from inside one of its own calls")]
    Entered,
    /// The caller went away.
    #[error("was cancelled")]
    Cancelled,
    /// The component lacks the interface that is called, or has it in another shape.
    #[error("does not export `{0}` as this host knows it")]
    Missing(&'static str),
}

impl Fault {
    /// The sentence about who it happened to: "was stopped" for a limit, which the plugin did not choose, else what happened.
    pub(crate) fn ended(&self, who: &str) -> String {
        if self.is_limit() { format!("{who} was stopped: it {self}") } else { format!("{who} {self}") }
    }

    /// Whether a limit was hit, rather than the guest failing by itself.
    pub fn is_limit(&self) -> bool {
        match self {
            Self::Memory { .. }
            | Self::Cpu(_)
            | Self::Deadline(_)
            | Self::Stack(_)
            | Self::Value(_)
            | Self::Given(_)
            | Self::Output(_)
            | Self::Handles(_)
            | Self::Instances(_) => true,
            Self::Trap { .. } | Self::Entered | Self::Cancelled | Self::Missing(_) => false,
        }
    }
}

/// The last lines of a guest's standard error, under the sentence.
fn tail(stderr: &str) -> String {
    if stderr.trim().is_empty() { String::new() } else { format!("\n{}", visible(stderr.trim_end())) }
}

/// A size as the configuration spells it.
pub(crate) fn bytes(n: usize) -> String {
    for (unit, size) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] {
        if n >= size && n.is_multiple_of(size) {
            return format!("{} {unit}", n / size);
        }
    }
    format!("{n} bytes")
}

/// A time as the configuration spells it.
pub(crate) fn seconds(time: Duration) -> String {
    if time.subsec_millis() == 0 && time.as_secs() > 0 {
        format!("{} s", time.as_secs())
    } else {
        format!("{} ms", time.as_millis())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fault: Fault, limit: bool, expected: &str) {
        assert_eq!(fault.to_string(), expected);
        assert_eq!(fault.is_limit(), limit);
    }

    #[test]
    fn each_limit_has_its_own_sentence_with_the_number() {
        check(Fault::Cpu(Duration::from_secs(10)), true, "used more than its 10 s of CPU time");
        check(Fault::Deadline(Duration::from_millis(1500)), true, "ran past its 1500 ms deadline");
        let memory = Fault::Memory { limit: 256 << 20, stderr: String::new() };
        check(memory, true, "needed more than its 256 MiB of memory");
        check(Fault::Stack(512 << 10), true, "used more than its 512 KiB of stack");
        check(Fault::Value(4 << 20), true, "passed a value larger than 4 MiB");
        check(Fault::Output(1 << 20), true, "printed more than 1 MiB");
        check(Fault::Instances(256), true, "could not start: 256 instances are alive");
    }

    #[test]
    fn a_trap_shows_what_the_guest_wrote_just_before_without_control_characters() {
        let trap = Fault::Trap { reason: "unreachable".into(), stderr: "panicked\u{1b}[2J at x\n".into() };
        assert!(trap.to_string().starts_with("trapped: unreachable\npanicked"), "{trap}");
        assert!(!trap.to_string().contains('\u{1b}'));
        assert!(!trap.is_limit());
    }
}
