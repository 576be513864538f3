//! Where the log goes: to standard error, without secrets.
//!
//! Apart, because a line may come from anywhere, libraries included, and none of them knows what is secret.

use std::io::{self, Write};

use tracing_subscriber::fmt::MakeWriter;

use crate::secrets::redact_tokens;

/// Standard error, one event at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Log;

impl Write for Log {
    /// The subscriber writes each event in one piece.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        io::stderr().lock().write_all(redact_tokens(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().lock().flush()
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Log;

    fn make_writer(&self) -> Log {
        *self
    }
}
