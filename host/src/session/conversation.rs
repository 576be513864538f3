//! The conversation of a session: its messages, and the file that keeps them.
//!
//! Apart, so that no message is added to one of the two alone.

use crate::sessions::{Read, SessionFile};
use crate::transcript::{Message, ToolCall, Transcript, TranscriptError};

/// A conversation, new or resumed.
#[derive(Debug, Default)]
pub struct Conversation {
    transcript: Transcript,
    file: Option<SessionFile>,
    /// The person knows that it is not saved.
    told: bool,
}

impl Conversation {
    /// A new conversation that is kept in a file.
    pub fn begun(file: SessionFile) -> Self {
        Self { file: Some(file), ..Self::default() }
    }

    /// One that was read from its file, and goes on there.
    pub fn resumed(file: SessionFile, read: Read) -> Self {
        Self { transcript: read.transcript, file: Some(file), told: false }
    }

    /// The id of its session; none when it is not kept.
    pub fn id(&self) -> Option<&str> {
        self.file.as_ref().map(|it| it.header().id.as_str())
    }

    pub(super) fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    pub(super) fn add(&mut self, message: Message) -> Result<(), TranscriptError> {
        self.transcript.add(message)?;
        self.note_from(self.transcript.messages().len() - 1);
        Ok(())
    }

    pub(super) fn close_open_calls(&mut self, reason: &str) {
        let before = self.transcript.messages().len();
        self.transcript.close_open_calls(reason);
        self.note_from(before);
    }

    pub(super) fn clear(&mut self) {
        self.transcript.clear();
        if let Some(file) = &mut self.file {
            file.clear();
        }
    }

    pub(super) fn make_ids_unique(&self, calls: &mut [ToolCall]) {
        self.transcript.make_ids_unique(calls);
    }

    /// Writes what was added since the last time. Returns what the person should know, once.
    pub(super) async fn save(&mut self) -> Option<String> {
        let mut file = self.file.take_if(|it| it.has_unsaved())?;
        // The disk may be slow; the session's own thread is for everybody.
        let saved = tokio::task::spawn_blocking(move || (file.save(), file)).await;
        let (saved, file) = saved.ok()?;
        self.file = Some(file);
        match saved {
            Ok(()) => {
                self.told = false;
                None
            }
            Err(error) => (!std::mem::replace(&mut self.told, true)).then(|| error.to_string()),
        }
    }

    fn note_from(&mut self, place: usize) {
        if let Some(file) = &mut self.file {
            self.transcript.messages()[place..].iter().for_each(|it| file.add(it));
        }
    }
}
