//! Everything that a plugin can use up, with the default of each limit, why it is that number, and how it is written.
//! Separate because the sandbox, the toolbox and the configuration must mean the same by every one of them.

use std::time::Duration;

mod units;

pub use units::{parse_bytes, parse_count, parse_time, show_bytes, show_time};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const GIB: usize = 1 << 30;

/// What plugins may use at most. No field is ever zero. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes over all memories of one instance. 256 MiB: a JavaScript or Python guest starts at 20–60 MiB.
    pub memory: usize,
    /// Guest time of one call, without the time in host calls. 10 s: far more than parsing a large page takes.
    pub cpu: Duration,
    /// Guest time of `describe` and of each `list-…` call, start functions included. 2 s: they run before the prompt.
    pub listing_cpu: Duration,
    /// Wall time of one call, without a person's thinking, nested calls, turns and programs.
    /// 120 s: a slow server, not a dead one.
    pub deadline: Duration,
    /// Bytes of one value across the boundary, in either direction. 4 MiB: a large file as JSON.
    pub value: usize,
    /// Bytes of one result that the model gets. 64 KiB: about 16,000 tokens, a tenth of a usual context.
    pub model_result: usize,
    /// Tools, commands, hooks or providers in one listing of a plugin. 256: more would fill a model's context.
    pub listing: usize,
    /// Bytes of one tool's schema. 64 KiB: the largest seen in the wild have 20.
    pub schema: usize,
    /// Bytes that a plugin keeps between sessions. 10 MiB: settings and small caches.
    pub storage: usize,
    /// Bytes that one call may log and print. 1 MiB: nobody reads more.
    pub log: usize,
    /// Bytes of one HTTP response, streams of providers apart. 32 MiB: an eighth of the memory that must hold it.
    pub http_body: usize,
    /// Time between two bytes of an HTTP response. 120 s: models think that long between two tokens.
    pub http_idle: Duration,
    /// Time until a connection stands, its name looked up and its TLS agreed. 30 s: a server farther away than that is none.
    pub http_connect: Duration,
    /// Time from a request to the first byte of its response. 5 min: models think before they speak.
    pub http_first_byte: Duration,
    /// Requests of one call at once, until their responses are read. 16: more is load for somebody else's server.
    pub http_requests: usize,
    /// Time of a program that a plugin runs, where the plugin does not say. 2 min: a build, not a server.
    pub program: Duration,
    /// The longest time that a plugin may give a program. 30 min: a large test suite.
    pub program_longest: Duration,
    /// Bytes of a program's output, of each of its two streams; the middle is left out. 1 MiB: a long log.
    pub program_output: usize,
    /// Requests of a provider for one reply. 5: with the waits between them, half a minute.
    pub attempts: usize,
    /// The longest wait that a busy server may ask for. 5 min: more is told to the person, who may want another model.
    pub retry_wait: Duration,
    /// Time without any piece of a reply. 10 min: longer than any model has been seen to think in silence.
    pub reply_idle: Duration,
    /// Calls that run at once. 16: beyond it, a session waits for servers and not for us.
    pub calls: usize,
    /// Instances alive at once. 256: calls, nested calls and `session` plugins of several sessions.
    pub instances: usize,
    /// Bytes of WebAssembly stack. 512 KiB: what the runtime gives by default, enough for deep parsers.
    pub stack: usize,
    /// Bytes of the largest plugin file that is read. 64 MiB: a Python component with its library has about 40.
    pub component: usize,
    /// Calls, sub-agents and turns inside each other. 8: deeper has only been seen in loops.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            memory: 256 * MIB,
            cpu: Duration::from_secs(10),
            listing_cpu: Duration::from_secs(2),
            deadline: Duration::from_secs(120),
            value: 4 * MIB,
            model_result: 64 * KIB,
            listing: 256,
            schema: 64 * KIB,
            storage: 10 * MIB,
            log: MIB,
            http_body: 32 * MIB,
            http_idle: Duration::from_secs(120),
            http_connect: Duration::from_secs(30),
            http_first_byte: Duration::from_secs(300),
            http_requests: 16,
            program: Duration::from_secs(120),
            program_longest: Duration::from_secs(1800),
            program_output: MIB,
            attempts: 5,
            retry_wait: Duration::from_secs(300),
            reply_idle: Duration::from_secs(600),
            calls: 16,
            instances: 256,
            stack: 512 * KIB,
            component: 64 * MIB,
            depth: 8,
        }
    }
}

impl Limits {
    /// Sets one limit, named as its field, from text with its unit: `256MiB`, `200ms`, `16`.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), LimitError> {
        let Some(row) = ROWS.iter().find(|row| row.name == name) else {
            return Err(LimitError::Unknown(name.to_owned()));
        };
        match row.field {
            Field::Bytes(field, bounds) => *field(self) = bounds.check(parse_bytes(value)?, show_bytes)?,
            Field::Time(field) => *field(self) = TIMES.check(parse_time(value)?, show_time)?,
            Field::Count(field, bounds) => *field(self) = bounds.check(parse_count(value)?, |n| n.to_string())?,
        }
        Ok(())
    }

    /// Returns the names that [`Limits::set`] knows, in the order of the fields.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ROWS.iter().map(|row| row.name)
    }

    /// Whether the limit is a plain number, without a unit.
    pub fn is_count(name: &str) -> bool {
        ROWS.iter().any(|row| row.name == name && matches!(row.field, Field::Count(..)))
    }

    /// Returns each name with its value, written so that [`Limits::set`] reads it back.
    pub fn shown(&self) -> Vec<(&'static str, String)> {
        let mut limits = self.clone();
        let mut shown = Vec::with_capacity(ROWS.len());
        for row in &ROWS {
            let value = match row.field {
                Field::Bytes(field, _) => show_bytes(*field(&mut limits)),
                Field::Time(field) => show_time(*field(&mut limits)),
                Field::Count(field, _) => field(&mut limits).to_string(),
            };
            shown.push((row.name, value));
        }
        shown
    }
}

/// Why a limit cannot be set to a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// No limit has this name.
    #[error("unknown limit `{0}`")]
    Unknown(String),
    /// There is no whole number at the start.
    #[error("`{text}` is no whole number, expected for example `{example}`")]
    NoNumber {
        /// What was written.
        text: String,
        /// A value of the same sort.
        example: &'static str,
    },
    /// A size or a time without unit.
    #[error("`{number}` has no unit, expected for example `{number}{unit}`")]
    NoUnit {
        /// What was written.
        number: String,
        /// The usual unit.
        unit: &'static str,
    },
    /// A unit that is not known, such as `MB`: is it a million bytes or 2^20?
    #[error("unknown unit `{unit}`, expected {expected}")]
    Unit {
        /// What was written.
        unit: String,
        /// Those there are.
        expected: &'static str,
    },
    /// None can be zero.
    #[error("a limit cannot be zero")]
    Zero,
    /// Below what can work.
    #[error("`{value}` is too small, expected at least `{least}`")]
    TooSmall {
        /// What was written.
        value: String,
        /// The smallest that works.
        least: String,
    },
    /// Above what can work.
    #[error("`{value}` is too large, expected at most `{most}`")]
    TooLarge {
        /// What was written.
        value: String,
        /// The largest that works.
        most: String,
    },
}

/// What a limit can be set to, both ends included.
#[derive(Clone, Copy)]
struct Bounds<T> {
    least: T,
    most: T,
}

impl<T: Ord + Copy> Bounds<T> {
    fn check(self, value: T, show: impl Fn(T) -> String) -> Result<T, LimitError> {
        if value < self.least {
            return Err(LimitError::TooSmall { value: show(value), least: show(self.least) });
        }
        if value > self.most {
            return Err(LimitError::TooLarge { value: show(value), most: show(self.most) });
        }
        Ok(value)
    }
}

/// One limit as the configuration sees it.
struct Row {
    name: &'static str,
    field: Field,
}

enum Field {
    Bytes(fn(&mut Limits) -> &mut usize, Bounds<usize>),
    Time(fn(&mut Limits) -> &mut Duration),
    Count(fn(&mut Limits) -> &mut usize, Bounds<usize>),
}

/// A day at most: a sum with the clock never overflows.
const TIMES: Bounds<Duration> = Bounds { least: Duration::from_millis(1), most: Duration::from_secs(24 * 60 * 60) };

const fn bytes(name: &'static str, field: fn(&mut Limits) -> &mut usize, least: usize, most: usize) -> Row {
    Row { name, field: Field::Bytes(field, Bounds { least, most }) }
}

const fn time(name: &'static str, field: fn(&mut Limits) -> &mut Duration) -> Row {
    Row { name, field: Field::Time(field) }
}

const fn count(name: &'static str, field: fn(&mut Limits) -> &mut usize, most: usize) -> Row {
    Row { name, field: Field::Count(field, Bounds { least: 1, most }) }
}

const ROWS: [Row; 26] = [
    // One page to the whole of a 32-bit address space.
    bytes("memory", |l| &mut l.memory, 64 * KIB, 4 * GIB),
    time("cpu", |l| &mut l.cpu),
    time("listing_cpu", |l| &mut l.listing_cpu),
    time("deadline", |l| &mut l.deadline),
    // Less than 1 KiB does not carry a manifest.
    bytes("value", |l| &mut l.value, KIB, GIB),
    // Less than 1 KiB is little more than the note of what was left out.
    bytes("model_result", |l| &mut l.model_result, KIB, GIB),
    count("listing", |l| &mut l.listing, 65_536),
    bytes("schema", |l| &mut l.schema, 1, GIB),
    bytes("storage", |l| &mut l.storage, 1, 4 * GIB),
    bytes("log", |l| &mut l.log, 1, GIB),
    bytes("http_body", |l| &mut l.http_body, 1, 4 * GIB),
    time("http_idle", |l| &mut l.http_idle),
    time("http_connect", |l| &mut l.http_connect),
    time("http_first_byte", |l| &mut l.http_first_byte),
    // Each is a file of the process, of the 1024 that it may usually open.
    count("http_requests", |l| &mut l.http_requests, 256),
    time("program", |l| &mut l.program),
    time("program_longest", |l| &mut l.program_longest),
    // Two of them and their frame are one value.
    bytes("program_output", |l| &mut l.program_output, KIB, GIB),
    count("attempts", |l| &mut l.attempts, 100),
    time("retry_wait", |l| &mut l.retry_wait),
    time("reply_idle", |l| &mut l.reply_idle),
    count("calls", |l| &mut l.calls, 1024),
    // Each reserves up to 8 GiB of addresses, of the 128 TiB that a process has.
    count("instances", |l| &mut l.instances, 4096),
    // Every instance has a stack of this size, and the host's own frames need room below it.
    bytes("stack", |l| &mut l.stack, 16 * KIB, 8 * MIB),
    bytes("component", |l| &mut l.component, KIB, GIB),
    // The host recurses as deep.
    count("depth", |l| &mut l.depth, 32),
];

#[cfg(test)]
mod tests;
