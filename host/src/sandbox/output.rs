//! What a guest writes: its log, its standard output and error, and how much of that it may.
//!
//! Apart, because it is the one way in which every guest talks to the outside without a grant.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};

use crate::fault::Fault;
use crate::secrets::redact_tokens;
use crate::text::visible_line;

/// Bytes of a guest's standard error that go into the message when it traps: a traceback's end.
const TAIL: usize = 2 << 10;

/// Longest line that is logged in one piece; a longer one is cut into several.
const LINE: usize = 8 << 10;

/// The output of one instance. Standard output and error share it, from whichever thread they are written.
#[derive(Clone, Debug)]
pub(crate) struct Output(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    plugin: String,
    /// Bytes that a call may log and print, and how many it has.
    limit: usize,
    used: usize,
    out: Vec<u8>,
    err: Vec<u8>,
    tail: Vec<u8>,
}

/// Which of the two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Err,
}

impl Output {
    pub(crate) fn new(plugin: &str, limit: usize) -> Self {
        let state = State { plugin: plugin.into(), limit, used: 0, out: Vec::new(), err: Vec::new(), tail: Vec::new() };
        Self(Arc::new(Mutex::new(state)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts bytes that are about to be logged or printed.
    pub(crate) fn spend(&self, n: usize) -> Result<(), Fault> {
        self.state().spend(n)
    }

    /// A new call begins in the same instance.
    pub(crate) fn next_call(&self) {
        let mut state = self.state();
        state.used = 0;
        state.tail.clear();
    }

    /// Logs what was written without a newline at its end.
    pub(crate) fn finish(&self) {
        let mut state = self.state();
        for stream in [Stream::Out, Stream::Err] {
            let rest = std::mem::take(state.buffer(stream));
            if !rest.is_empty() {
                state.log(stream, &rest);
            }
        }
    }

    /// The end of what was written to standard error.
    pub(crate) fn tail(&self) -> String {
        let state = self.state();
        let text = String::from_utf8_lossy(&state.tail);
        // The first line may be half of one.
        match text.split_once('\n') {
            Some((_, rest)) if state.tail.len() >= TAIL => rest.into(),
            _ => text.into_owned(),
        }
    }

    /// The guest's end of one of the streams.
    pub(crate) fn stream(&self, stream: Stream) -> GuestStream {
        GuestStream { output: self.clone(), stream }
    }
}

impl State {
    fn spend(&mut self, n: usize) -> Result<(), Fault> {
        self.used = self.used.saturating_add(n);
        if self.used > self.limit { Err(Fault::Output(self.limit)) } else { Ok(()) }
    }

    fn buffer(&mut self, stream: Stream) -> &mut Vec<u8> {
        match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        }
    }

    fn write(&mut self, stream: Stream, bytes: &[u8]) {
        if stream == Stream::Err {
            self.tail.extend_from_slice(bytes);
            let over = self.tail.len().saturating_sub(TAIL);
            self.tail.drain(..over);
        }
        let mut buffer = std::mem::take(self.buffer(stream));
        for piece in bytes.split_inclusive(|it| *it == b'\n') {
            buffer.extend_from_slice(piece);
            if piece.ends_with(b"\n") || buffer.len() >= LINE {
                self.log(stream, &buffer);
                buffer.clear();
            }
        }
        *self.buffer(stream) = buffer;
    }

    fn log(&self, stream: Stream, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = redact_tokens(text.trim_end_matches(['\n', '\r']));
        let text = visible_line(&text);
        match stream {
            Stream::Out => tracing::info!(target: "guest", plugin = %self.plugin, "{text}"),
            Stream::Err => tracing::info!(target: "guest", plugin = %self.plugin, "stderr: {text}"),
        }
    }
}

/// One of a guest's standard streams.
#[derive(Clone, Debug)]
pub(crate) struct GuestStream {
    output: Output,
    stream: Stream,
}

#[wasmtime_wasi::async_trait]
impl Pollable for GuestStream {
    async fn ready(&mut self) {}
}

impl OutputStream for GuestStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let mut state = self.output.state();
        state.spend(bytes.len()).map_err(|it| StreamError::Trap(wasmtime::Error::from(it)))?;
        state.write(self.stream, &bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(64 << 10)
    }
}

impl IsTerminal for GuestStream {
    fn is_terminal(&self) -> bool {
        false
    }
}

/// As WASI 0.3 writes.
impl AsyncWrite for GuestStream {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        let mut state = self.output.state();
        let done = state.spend(bytes.len()).map_err(std::io::Error::other);
        Poll::Ready(done.map(|()| {
            state.write(self.stream, bytes);
            bytes.len()
        }))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl StdoutStream for GuestStream {
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_holds_the_last_whole_lines() {
        let output = Output::new("p", 1 << 20);
        for n in 0..1000 {
            output.state().write(Stream::Err, format!("line {n}\n").as_bytes());
        }
        let tail = output.tail();
        assert!(tail.len() <= TAIL && tail.starts_with("line ") && tail.ends_with("line 999\n"), "{tail}");
    }

    #[tokio::test]
    async fn what_wasi_0_3_writes_is_counted_and_kept_like_the_rest() {
        use tokio::io::AsyncWriteExt as _;
        let output = Output::new("p", 10);
        let mut stream = Box::into_pin(output.stream(Stream::Err).async_stream());
        stream.write_all(b"trace").await.unwrap();
        assert_eq!(output.tail(), "trace");
        assert!(stream.write_all(b"too much").await.is_err());
    }

    #[test]
    fn output_over_the_limit_is_a_fault_of_its_own() {
        let output = Output::new("p", 10);
        assert_eq!(output.spend(10), Ok(()));
        assert_eq!(output.spend(1), Err(Fault::Output(10)));
        output.next_call();
        assert_eq!(output.spend(1), Ok(()));
    }
}
