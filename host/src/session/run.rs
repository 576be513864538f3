//! The task: it waits for one thing at a time, and starts what takes longer beside itself.
//!
//! Apart from the handle, because its fields are the session's whole state and nobody else may touch them.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use crate::agent::TurnError;
use crate::commands::Line;
use crate::host_request::{CallContext, HostRequest};
use crate::installed::{Host, Installed};
use crate::session::conversation::Conversation;
use crate::session::turn::{Running, TurnEvent};
use crate::session::{Input, Output, SessionOptions};
use crate::uses::Uses;

/// The state of a session.
pub(super) struct Task {
    pub(super) host: Arc<Host>,
    pub(super) options: SessionOptions,
    pub(super) conversation: Conversation,
    /// None until the plugins are loaded for the first time.
    pub(super) installed: Option<Arc<Installed>>,
    pub(super) turn: Option<Running>,
    /// The command that a person typed and that runs now.
    command: Option<Command>,
    /// Commands that a person typed so far: the number of the newest.
    commands: u64,
    /// Times that loading was begun so far: the number of the newest.
    loads: u64,
    /// A command asked for it; it happens when the command has returned.
    pub(super) reload_asked: bool,
    pub(super) exit_asked: bool,
    /// The person is asked about plugins of the project.
    pub(super) asks_for_trust: bool,
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
    /// Plugins are loaded, by the loading with this number.
    Loaded(u64, Box<Installed>),
    /// The command with this number has returned.
    CommandDone(u64, Result<(), String>),
    /// Something of the turn with this number.
    Turn(u64, TurnEvent),
    /// The person was asked about plugins of the project: whether there is something new to load.
    Trusted(Result<bool, String>),
}

/// A command that runs, and who waits for it.
struct Command {
    number: u64,
    name: String,
    /// It has returned, and waits until the plugins are loaded again.
    reloads: bool,
    task: AbortHandle,
    /// What it did with rights.
    uses: Arc<Uses>,
    done: oneshot::Sender<()>,
}

impl Task {
    pub(super) fn new(
        host: Arc<Host>,
        options: SessionOptions,
        conversation: Conversation,
        inputs: mpsc::UnboundedReceiver<Input>,
        own_requests: mpsc::WeakSender<HostRequest>,
        requests: mpsc::Receiver<HostRequest>,
        outputs: mpsc::Sender<Output>,
    ) -> Self {
        let (events, event_receiver) = mpsc::channel(64);
        Self {
            host,
            options,
            conversation,
            installed: None,
            turn: None,
            command: None,
            commands: 0,
            loads: 0,
            reload_asked: false,
            exit_asked: false,
            asks_for_trust: false,
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
            self.save().await;
        }
        self.interrupt().await;
        self.settle().await;
        self.save().await;
    }

    /// Keeps what was said on disk before anything follows from it.
    async fn save(&mut self) {
        if let Some(warning) = self.conversation.save().await {
            self.show(Output::Warning(warning)).await;
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
        self.installed.is_some() && self.turn.is_none() && self.command.is_none() && !self.asks_for_trust
    }

    pub(super) fn load(&mut self) {
        self.loads += 1;
        let (host, events, number) = (self.host.clone(), self.events.clone(), self.loads);
        tokio::spawn(async move {
            let installed = host.load().await;
            let _ = events.send(Event::Loaded(number, Box::new(installed))).await;
        });
    }

    /// Answers what guests have asked and shows what they have said until now. Before anything that follows from a guest's
    /// return, since what it said comes through another channel than the return itself.
    async fn settle(&mut self) {
        for _ in 0..self.requests.len() {
            let Ok(request) = self.requests.try_recv() else { return };
            self.request(request).await;
        }
    }

    async fn input(&mut self, input: Input) {
        match input {
            Input::Interrupt => self.interrupt().await,
            Input::End => {
                self.settle().await;
                self.ended = true;
            }
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
            if matches!(input, Input::Line(..)) && self.ask_for_trust() {
                self.asks_for_trust = true;
                return self.waiting.push_front(input);
            }
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
        if !commands.has(&name) {
            self.show(Output::Error(commands.unknown(&name))).await;
            let _ = done.send(());
            return;
        }
        self.commands += 1;
        let (context, events, number, of_task) = (self.context(), self.events.clone(), self.commands, name.clone());
        let uses = context.uses.clone();
        let task = tokio::spawn(async move {
            let result = commands.run(&of_task, argument.as_deref(), context).await.unwrap_or(Ok(()));
            let _ = events.send(Event::CommandDone(number, result)).await;
        });
        self.command = Some(Command { number, name, reloads: false, task: task.abort_handle(), uses, done });
    }

    async fn event(&mut self, event: Event) {
        self.settle().await;
        match event {
            Event::Loaded(number, installed) => self.loaded(number, *installed).await,
            Event::CommandDone(number, result) => self.command_done(number, result).await,
            Event::Turn(number, event) => self.turn_event(number, event).await,
            Event::Trusted(changed) => self.trusted(changed).await,
        }
        self.next_input().await;
    }

    async fn loaded(&mut self, number: u64, installed: Installed) {
        // A loading whose command was interrupted may end after the next one.
        if number != self.loads {
            return;
        }
        for warning in &installed.warnings {
            self.show(Output::Warning(warning.clone())).await;
        }
        let plugins = installed.plugins.len();
        self.installed = Some(Arc::new(installed));
        if self.command.as_ref().is_some_and(|it| it.reloads) {
            let plugins = if plugins == 1 { "1 plugin".into() } else { format!("{plugins} plugins") };
            self.show(Output::Note(format!("loaded {plugins} again"))).await;
            self.finish_command();
        }
    }

    async fn command_done(&mut self, number: u64, result: Result<(), String>) {
        // One that was interrupted may have returned just before.
        let Some(command) = self.command.as_mut().filter(|it| it.number == number) else { return };
        command.reloads = self.reload_asked;
        let (name, denials) = (command.name.clone(), command.uses.denials());
        // A command that ran into a limit may have left a turn behind.
        self.end_turn_by_interrupt().await;
        if let Err(error) = result {
            tracing::warn!(command = %name, "{}", crate::text::visible_line(&error));
            let is_told = error.contains("--grant");
            self.show(Output::Error(error)).await;
            for (plugin, grant) in denials.into_iter().filter(|_| !is_told) {
                self.show(Output::Note(format!("hint: {}", grant.hint(&plugin)))).await;
            }
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
