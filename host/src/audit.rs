//! What plugins did: one line of JSON for each call, in the state folder.
//!
//! Apart from the log, which is for whoever debugs and can be off: this is kept, and is read by whoever wants to know what a
//! plugin did with its rights.

mod entry;
mod file;
mod read;

use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

pub use entry::{Entry, Kind, Used};
pub use read::{Filter, after, read};

/// Entries that wait for the disk before a call waits for it too: none is lost.
const WAITING: usize = 1024;

/// How long the end of the program waits for the disk.
const PATIENCE: Duration = Duration::from_secs(5);

/// The writing end. Entries are written by a thread, several at a time when they come fast.
#[derive(Debug)]
pub struct Audit(mpsc::SyncSender<Message>);

#[derive(Debug)]
enum Message {
    Entry(Box<Entry>),
    Flush(mpsc::SyncSender<()>),
}

impl Audit {
    /// Starts the thread. Nothing is written, not even the folder made, before the first entry.
    pub fn start(folder: PathBuf) -> Self {
        let (sender, receiver) = mpsc::sync_channel(WAITING);
        std::thread::spawn(move || write(&folder, &receiver));
        Self(sender)
    }

    /// Adds an entry.
    pub fn add(&self, entry: Entry) {
        // The thread ends with the last sender, so it is there.
        let _ = self.0.send(Message::Entry(Box::new(entry)));
    }

    /// Waits until all that was added is written, as far as the disk lets it.
    pub fn flush(&self) {
        let (done, wait) = mpsc::sync_channel(1);
        if self.0.send(Message::Flush(done)).is_ok() {
            let _ = wait.recv_timeout(PATIENCE);
        }
    }
}

/// The time now, as an entry has it: UTC, with milliseconds.
pub(crate) fn now() -> String {
    written(jiff::Timestamp::now())
}

/// All times are written with the same digits, so that they are in order as text.
fn written(time: jiff::Timestamp) -> String {
    format!("{time:.3}")
}

fn write(folder: &std::path::Path, messages: &mpsc::Receiver<Message>) {
    let mut failed = false;
    while let Ok(first) = messages.recv() {
        let mut lines = String::new();
        let mut waiting = Vec::new();
        let mut take = |message| match message {
            Message::Entry(entry) => lines += &entry.to_line(),
            Message::Flush(done) => waiting.push(done),
        };
        take(first);
        messages.try_iter().take(WAITING).for_each(take);
        if !lines.is_empty() {
            match file::append(folder, &lines) {
                Ok(()) => failed = false,
                // Once: a full disk must not fill the screen as well.
                Err(error) if !failed => {
                    tracing::warn!("the audit log cannot be written in {}: {error}", folder.display());
                    failed = true;
                }
                Err(_) => {}
            }
        }
        for done in waiting {
            // Who waited may have lost patience.
            let _ = done.send(());
        }
    }
}

#[cfg(test)]
mod tests;
