//! What guests ask, and the answers: the other end of the imports.
//!
//! Apart from the task, because here it is decided what a plugin may do to the session, and when.

use std::future::Future;

use serde_json::Value;
use tokio::sync::oneshot;

use crate::host_request::{Ask, Caller, Entry, HostRequest};
use crate::session::Output;
use crate::session::run::Task;
use crate::session::sub_agent;
use crate::session::turn::current;
use crate::transcript::Message;

impl Task {
    pub(super) async fn request(&mut self, request: HostRequest) {
        let HostRequest { caller, ask } = request;
        match ask {
            Ask::Show(show) => self.show(Output::Show(caller.plugin, show)).await,
            Ask::Line(prompt, reply) => {
                if self.options.interactive {
                    self.show(Output::Question(caller.plugin, prompt, reply)).await;
                } else {
                    answer(reply, None);
                }
            }
            Ask::Choose(question, reply) => {
                if self.options.interactive {
                    self.show(Output::Choose(question, reply)).await;
                } else {
                    answer(reply, None);
                }
            }
            Ask::StopTurn => self.end_turn_by_interrupt().await,
            Ask::IsInteractive(reply) => answer(reply, self.options.interactive),
            Ask::Messages(reply) => answer(reply, self.conversation.transcript().messages().to_vec()),
            Ask::Context(reply) => answer(reply, self.provider_messages().unwrap_or_default()),
            Ask::Add(message, reply) => answer(reply, self.add(&caller, message)),
            Ask::Clear(reply) => {
                let allowed = self.may_change(&caller);
                if allowed.is_ok() {
                    self.conversation.clear();
                }
                answer(reply, allowed);
            }
            Ask::Turn(prompt, reply) => self.turn_for(&caller, &prompt, reply).await,
            Ask::CreateAgent(options, reply) => {
                let made = match self.for_sub_agents() {
                    Some(around) => sub_agent::create(&around, &caller, options),
                    None => Err("no plugins are loaded yet".into()),
                };
                answer(reply, made);
            }
            Ask::AgentTurn(agent, prompt, reply) => {
                // Each turn of a sub-agent counts as one level more.
                if let Err(error) = self.not_too_deep(&caller) {
                    return answer(reply, Err(error));
                }
                let Some(around) = self.for_sub_agents() else { return };
                serve(reply, sub_agent::turn(around, agent, prompt, caller.context));
            }
            Ask::AgentContext(agent, reply) => {
                let Some(around) = self.for_sub_agents() else { return };
                serve(reply, async move {
                    let transcript = agent.transcript.lock().await;
                    sub_agent::messages(&around, &agent, &transcript).unwrap_or_default()
                });
            }
            Ask::CurrentProvider(reply) => answer(reply, current(self)),
            Ask::ProviderNames(reply) => {
                let providers = self.installed.iter().flat_map(|it| it.providers.list());
                answer(reply, providers.map(|it| it.name().to_owned()).collect());
            }
            Ask::UseProvider(name, model, options, reply) => {
                answer(reply, self.use_provider(&caller, &name, model, options))
            }
            Ask::Reload(reply) => {
                let allowed = command_only(&caller);
                self.reload_asked |= allowed.is_ok();
                answer(reply, allowed);
            }
            Ask::Exit(reply) => {
                let allowed = command_only(&caller);
                self.exit_asked |= allowed.is_ok();
                answer(reply, allowed);
            }
            ask => self.look_up(caller, ask),
        }
    }

    /// Questions about tools and commands, which need no change of the session.
    fn look_up(&self, caller: Caller, ask: Ask) {
        // Guests run only once something is installed; a dropped reply says that nobody is there.
        let Some(installed) = &self.installed else { return };
        let (toolbox, commands) = (installed.toolbox.clone(), installed.commands.clone());
        match ask {
            Ask::RunTool(name, arguments, reply) => {
                serve(reply, async move { toolbox.run_for(&caller, &name, &arguments).await.to_json() });
            }
            Ask::Definitions(reply) => answer(reply, toolbox.definitions().cloned().collect()),
            Ask::FindTool(name, reply) => answer(reply, toolbox.find(&name).cloned()),
            Ask::Validate(name, arguments, reply) => answer(reply, toolbox.validate(&name, &arguments)),
            Ask::Hooks(reply) => answer(reply, toolbox.hooks().to_vec()),
            Ask::Commands(reply) => answer(reply, commands.list()),
            Ask::Completions(name, partial, reply) => {
                let context = caller.context.nested();
                serve(reply, async move { commands.complete(&name, &partial, context).await });
            }
            Ask::RunCommand(name, argument, reply) => {
                if let Err(error) = command_only(&caller).and_then(|()| self.not_too_deep(&caller)) {
                    return answer(reply, Err(error));
                }
                let context = caller.context.nested();
                serve(reply, async move {
                    let ran = commands.run(&name, argument.as_deref(), context).await;
                    ran.map_or(Ok(false), |result| result.map(|()| true))
                });
            }
            other => tracing::error!("a request of a plugin was not answered: {other:?}"),
        }
    }

    fn add(&mut self, caller: &Caller, message: Message) -> Result<(), String> {
        self.may_change(caller)?;
        self.conversation.add(message).map_err(|it| it.to_string())
    }

    async fn turn_for(&mut self, caller: &Caller, prompt: &str, reply: oneshot::Sender<Result<String, String>>) {
        if let Err(error) = self.may_change(caller).and_then(|()| self.not_too_deep(caller)) {
            return answer(reply, Err(error));
        }
        let (done, result) = oneshot::channel();
        self.begin_turn(prompt, caller.context.clone(), done).await;
        serve(reply, async move {
            match result.await {
                Ok(result) => result.map_err(|it| it.to_string()),
                Err(_) => Err("interrupted".into()),
            }
        });
    }

    fn use_provider(
        &mut self,
        caller: &Caller,
        name: &str,
        model: Option<String>,
        options: Option<Value>,
    ) -> Result<(), String> {
        self.may_change(caller)?;
        let installed = self.installed.as_ref().ok_or("no plugins are loaded yet")?;
        installed.providers.find(name)?;
        let options = match options {
            None | Some(Value::Null) => None,
            Some(Value::Object(options)) => Some(options),
            Some(_) => return Err("options are no JSON object".into()),
        };
        name.clone_into(&mut self.options.provider);
        self.options.model = model;
        if let Some(options) = options {
            self.options.provider_options = options;
        }
        Ok(())
    }

    /// Only a command may change the session, and only while no turn runs: nothing can come between a call and its result.
    fn may_change(&self, caller: &Caller) -> Result<(), String> {
        command_only(caller)?;
        if self.turn.is_some() { Err("a turn is running".into()) } else { Ok(()) }
    }

    fn not_too_deep(&self, caller: &Caller) -> Result<(), String> {
        let limit = self.host.limits().depth;
        if (caller.context.depth as usize) < limit {
            Ok(())
        } else {
            Err(format!("calls are nested more than {limit} deep"))
        }
    }
}

fn command_only(caller: &Caller) -> Result<(), String> {
    match caller.entry {
        Entry::Command => Ok(()),
        Entry::Loading | Entry::Tool | Entry::Hook | Entry::Completion | Entry::Provider => {
            Err("only a slash command may change the session".into())
        }
    }
}

/// Answers; a guest that was dropped meanwhile gets nothing.
fn answer<R>(reply: oneshot::Sender<R>, value: R) {
    let _ = reply.send(value);
}

/// Answers when the work is done, beside the task. When the guest that asked is dropped, so is the work.
fn serve<R: Send + 'static>(mut reply: oneshot::Sender<R>, work: impl Future<Output = R> + Send + 'static) {
    tokio::spawn(async move {
        tokio::select! {
            biased;
            value = work => answer(reply, value),
            () = reply.closed() => {}
        }
    });
}
