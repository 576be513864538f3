//! A session: one conversation with its plugins, owned by one task. Everyone else sends it messages.
//!
//! Apart from the agent, because deciding is there and doing is here: this task waits, spawns, and answers the guests.

mod conversation;
mod reply;
mod requests;
mod run;
mod sub_agent;
mod trust;
mod turn;

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

pub use conversation::Conversation;

use crate::agent::TurnError;
use crate::agent::prompt::SystemPrompt;
use crate::commands::Commands;
use crate::commands::complete::{Candidates, complete};
use crate::host_request::{CallContext, HostRequest, REQUESTS_WAITING, ReplyEvent, Show};
use crate::installed::{Host, Installed};
use crate::name::PluginName;
use crate::question::{Answer, Question};

/// Pieces of output that may wait for a slow terminal before what makes them waits.
const OUTPUT_WAITING: usize = 256;

/// How a session is set up.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// The provider, by name.
    pub provider: String,
    /// The model; none for the provider's own choice.
    pub model: Option<String>,
    /// The user's options for the provider.
    pub provider_options: Map<String, Value>,
    /// What the model is told first.
    pub prompt: SystemPrompt,
    /// Whether a person can answer questions.
    pub interactive: bool,
    /// Requests of one turn.
    pub max_rounds: u32,
    /// Where the whole text of a result is kept that is too long for the model; none to keep only what fits.
    pub results: Option<std::path::PathBuf>,
}

/// What a session shows, in order.
#[derive(Debug)]
pub enum Output {
    /// Something that a plugin shows; it stands under the plugin's name.
    Show(PluginName, Show),
    /// A piece of the model's reply.
    Piece(ReplyEvent),
    /// A tool call begins: name and arguments.
    Calling(String, String),
    /// A tool call ended: its name, and the error if it failed.
    Called(String, Option<String>),
    /// A request failed for a while, and is sent again.
    Retry {
        /// Why, in the words of the provider.
        reason: String,
        /// How long until then.
        wait: std::time::Duration,
        /// Which attempt comes next, from 2.
        attempt: usize,
        /// How many there are.
        attempts: usize,
    },
    /// The turn is over.
    TurnOver,
    /// Something the user should know.
    Warning(String),
    /// A sentence of the program itself.
    Note(String),
    /// Something went wrong; the session goes on.
    Error(String),
    /// A plugin asks the person for a line.
    Question(PluginName, String, oneshot::Sender<Option<String>>),
    /// The program lets the person choose.
    Choose(Question, oneshot::Sender<Option<Answer>>),
}

/// What a front end asks of a session.
#[derive(Debug)]
pub(crate) enum Input {
    /// A line that was typed: a command or a prompt. Answered when it is done.
    Line(String, oneshot::Sender<()>),
    /// A prompt, whatever it starts with. Answered with the reply.
    Ask(String, oneshot::Sender<Result<String, TurnError>>),
    /// What is installed, when it is loaded.
    Installed(oneshot::Sender<Arc<Installed>>),
    /// The commands, for completion; not answered until they are loaded.
    Commands(oneshot::Sender<Arc<Commands>>),
    /// Stops what runs.
    Interrupt,
    /// Ends the session.
    End,
}

/// A handle of a session. The session ends when it is told to, and its task with the last handle.
#[derive(Clone, Debug)]
pub struct Session {
    inputs: mpsc::UnboundedSender<Input>,
    requests: mpsc::Sender<HostRequest>,
}

/// The other end of a session: what it shows. Ends with the session.
#[derive(Debug)]
pub struct Outputs(mpsc::Receiver<Output>);

impl Outputs {
    /// Waits for the next piece of output; none when the session has ended.
    pub async fn next(&mut self) -> Option<Output> {
        self.0.recv().await
    }

    /// What was shown and not yet taken; does not wait. All that a line showed is there when it is done.
    pub fn shown(&mut self) -> Option<Output> {
        self.0.try_recv().ok()
    }
}

impl Session {
    /// Starts a session that is kept nowhere, and begins to load the plugins. Returns at once: what needs a plugin waits until
    /// it is loaded.
    pub fn start(host: Arc<Host>, options: SessionOptions) -> (Self, Outputs) {
        Self::resume(host, options, Conversation::default())
    }

    /// As [`Self::start`], with a conversation that goes on, or that is kept in a file.
    pub fn resume(host: Arc<Host>, options: SessionOptions, conversation: Conversation) -> (Self, Outputs) {
        let (inputs, input_receiver) = mpsc::unbounded_channel();
        let (requests, request_receiver) = mpsc::channel(REQUESTS_WAITING);
        let (outputs, output_receiver) = mpsc::channel(OUTPUT_WAITING);
        let task = run::Task::new(
            host,
            options,
            conversation,
            input_receiver,
            requests.downgrade(),
            request_receiver,
            outputs,
        );
        tokio::spawn(task.run());
        (Self { inputs, requests }, Outputs(output_receiver))
    }

    /// Runs a line: a slash command, or a prompt. Returns when it is done; what it shows comes as output.
    pub async fn line(&self, line: &str) {
        let (done, wait) = oneshot::channel();
        if self.inputs.send(Input::Line(line.into(), done)).is_ok() {
            let _ = wait.await;
        }
    }

    /// Runs a turn and returns the reply.
    ///
    /// # Errors
    ///
    /// [`TurnError`] says why there is none.
    pub async fn ask(&self, prompt: &str) -> Result<String, TurnError> {
        let (reply, answer) = oneshot::channel();
        self.inputs.send(Input::Ask(prompt.into(), reply)).map_err(|_| TurnError::Interrupted)?;
        answer.await.unwrap_or(Err(TurnError::Interrupted))
    }

    /// Waits until the plugins are loaded. None when the session has ended.
    pub async fn installed(&self) -> Option<Arc<Installed>> {
        let (reply, answer) = oneshot::channel();
        self.inputs.send(Input::Installed(reply)).ok()?;
        answer.await.ok()
    }

    /// What can follow on a line that is being typed. Nothing until the plugins are loaded, or while something runs.
    pub async fn complete(&self, line: &str, workspace: &Path) -> Candidates {
        let (reply, answer) = oneshot::channel();
        if self.inputs.send(Input::Commands(reply)).is_err() {
            return Candidates::default();
        }
        match answer.await {
            Ok(commands) => complete(line, &commands, workspace, self.context()).await,
            Err(_) => Candidates::default(),
        }
    }

    /// Stops the turn or command that runs. The conversation stays valid: each call gets a result.
    pub fn interrupt(&self) {
        let _ = self.inputs.send(Input::Interrupt);
    }

    /// Ends the session.
    pub fn end(&self) {
        let _ = self.inputs.send(Input::End);
    }

    /// The context of a call that a person or a program makes: what its plugins ask goes to this session.
    pub fn context(&self) -> CallContext {
        CallContext::top(Some(self.requests.clone()))
    }
}
