//! The task: it waits for one thing at a time, and starts what takes longer beside itself.
//!
//! Apart from the handle, because its fields are the session's whole state and nobody else may touch them.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use crate::agent::TurnError;
use crate::commands::Line;
use crate::host_request::{CallContext, HostRequest, REQUESTS_WAITING};
use crate::installed::{Host, Installed};
use crate::session::turn::{Running, TurnEvent};
use crate::session::{Input, Output, SessionOptions};
use crate::transcript::Transcript;

/// The state of a session.
pub(super) struct Task {
    pub(super) host: Arc<Host>,
    pub(super) options: SessionOptions,
    pub(super) transcript: Transcript,
    /// None until the plugins are loaded for the first time.
    pub(super) installed: Option<Arc<Installed>>,
    pub(super) turn: Option<Running>,
    /// The command that a person typed and that runs now.
    command: Option<Command>,
    /// A command asked for it; it happens when the command has returned.
    pub(super) reload_asked: bool,
    pub(super) exit_asked: bool,
    ended: bool,
    /// Lines that came while something ran, and what waits for the plugins.
    waiting: VecDeque<Input>,
    inputs: mpsc::UnboundedReceiver<Input>,
    requests: mpsc::Receiver<HostRequest>,
    /// Weak, so that the session ends when the last front end has gone.
    own_requests: mpsc::WeakSender<HostRequest>,
    pub(super) outputs: mpsc::Sender<Output>,
    pub(super) events: mpsc::Sender<Event>,
    event_receiver: mpsc::Receiver<Event>,
}

/// What ends beside the task.
pub(super) enum Event {
    /// Plugins are loaded.
    Loaded(Box<Installed>),
    /// The command that a person typed has returned.
    CommandDone(Result<(), String>),
    /// Something of the turn with this number.
    Turn(u64, TurnEvent),
}

/// A command that runs, and who waits for it.
struct Command {
    task: AbortHandle,
    done: oneshot::Sender<()>,
}

impl Task {
    pub(super) fn new(
        host: Arc<Host>,
        options: SessionOptions,
        inputs: mpsc::UnboundedReceiver<Input>,
        own_requests: mpsc::WeakSender<HostRequest>,
        requests: mpsc::Receiver<HostRequest>,
        outputs: mpsc::Sender<Output>,
    ) -> Self {
        let (events, event_receiver) = mpsc::channel(64);
        Self {
            host,
            options,
            transcript: Transcript::default(),
            installed: None,
            turn: None,
            command: None,
            reload_asked: false,
            exit_asked: false,
            ended: false,
            waiting: VecDeque::new(),
            inputs,
            requests,
            own_requests,
            outputs,
            events,
            event_receiver,
        }
    }

    pub(super) async fn run(mut self) {
        self.load();
        while !self.ended {
            tokio::select! {
                // An interrupt comes before everything. What a guest asked comes before its end, so that nothing that it
                // showed is lost.
                biased;
                input = self.inputs.recv() => match input {
                    Some(input) => self.input(input).await,
                    None => break,
                },
                Some(request) = self.requests.recv() => self.request(request).await,
                Some(event) = self.event_receiver.recv() => self.event(event).await,
            }
        }
        self.interrupt().await;
        self.waiting_requests().await;
    }

    /// Answers what guests have asked so far, at most as many as can wait.
    async fn waiting_requests(&mut self) {
        for _ in 0..REQUESTS_WAITING {
            let Ok(request) = self.requests.try_recv() else { return };
            self.request(request).await;
        }
    }

    /// Shows something. A front end that has gone sees nothing, and the session ends by itself.
    pub(super) async fn show(&self, output: Output) {
        let _ = self.outputs.send(output).await;
    }

    /// The context of a call that the session itself makes.
    pub(super) fn context(&self) -> CallContext {
        CallContext::top(self.own_requests.upgrade())
    }

    /// Whether the next line can start.
    fn is_idle(&self) -> bool {
        self.installed.is_some() && self.turn.is_none() && self.command.is_none()
    }

    fn load(&self) {
        let (host, events) = (self.host.clone(), self.events.clone());
        tokio::spawn(async move {
            let installed = host.load().await;
            let _ = events.send(Event::Loaded(Box::new(installed))).await;
        });
    }

    async fn input(&mut self, input: Input) {
        match input {
            Input::Interrupt => self.interrupt().await,
            Input::End => self.ended = true,
            // Somebody is typing: no answer is better than a late one.
            Input::Commands(reply) => {
                if let Some(installed) = &self.installed {
                    let _ = reply.send(installed.commands.clone());
                }
            }
            other => {
                self.waiting.push_back(other);
                self.next_input().await;
            }
        }
    }

    /// Starts what waits, as long as nothing runs.
    async fn next_input(&mut self) {
        while self.is_idle() && !self.ended {
            let Some(input) = self.waiting.pop_front() else { return };
            match input {
                Input::Line(line, done) => self.line(&line, done).await,
                Input::Ask(prompt, reply) => self.begin_turn(&prompt, self.context(), reply).await,
                Input::Installed(reply) => {
                    let _ = reply.send(self.installed.clone().expect("idle only once loaded"));
                }
                Input::Commands(_) | Input::Interrupt | Input::End => {}
            }
        }
    }

    async fn line(&mut self, line: &str, done: oneshot::Sender<()>) {
        let line = line.trim_end();
        if line.trim().is_empty() {
            let _ = done.send(());
            return;
        }
        let Some(Line { name, argument }) = Line::parse(line) else {
            let (reply, answer) = oneshot::channel::<Result<String, TurnError>>();
            self.begin_turn(line, self.context(), reply).await;
            let outputs = self.outputs.clone();
            tokio::spawn(async move {
                if let Ok(Err(error)) = answer.await {
                    let _ = outputs.send(Output::Error(error.to_string())).await;
                }
                let _ = done.send(());
            });
            return;
        };
        let commands = self.installed.as_ref().expect("idle only once loaded").commands.clone();
        let (name, argument) = (name.to_owned(), argument.map(str::to_owned));
        let (context, events) = (self.context(), self.events.clone());
        let task = tokio::spawn(async move {
            let unknown = || Err(commands.unknown(&name));
            let result = commands.run(&name, argument.as_deref(), context).await.unwrap_or_else(unknown);
            let _ = events.send(Event::CommandDone(result)).await;
        });
        self.command = Some(Command { task: task.abort_handle(), done });
    }

    async fn event(&mut self, event: Event) {
        match event {
            Event::Loaded(installed) => self.loaded(*installed).await,
            Event::CommandDone(result) => self.command_done(result).await,
            Event::Turn(number, event) => self.turn_event(number, event).await,
        }
        self.next_input().await;
    }

    async fn loaded(&mut self, installed: Installed) {
        for warning in &installed.warnings {
            self.show(Output::Warning(warning.clone())).await;
        }
        self.installed = Some(Arc::new(installed));
        self.finish_command();
    }

    async fn command_done(&mut self, result: Result<(), String>) {
        // A command that ran into a limit may have left a turn behind.
        self.end_turn_by_interrupt().await;
        if let Err(error) = result {
            tracing::warn!("a command failed: {}", crate::text::visible_line(&error));
            self.show(Output::Error(error)).await;
        }
        if std::mem::take(&mut self.exit_asked) {
            self.ended = true;
        }
        if std::mem::take(&mut self.reload_asked) {
            // The old ones serve until the new ones are there; a broken file leaves the session with the others.
            return self.load();
        }
        self.finish_command();
    }

    fn finish_command(&mut self) {
        if let Some(command) = self.command.take() {
            let _ = command.done.send(());
        }
    }

    /// Stops the command and the turn. Dropping a guest's call drops its store.
    async fn interrupt(&mut self) {
        self.end_turn_by_interrupt().await;
        if let Some(command) = self.command.take() {
            command.task.abort();
            (self.reload_asked, self.exit_asked) = (false, false);
            let _ = command.done.send(());
        }
    }
}
