//! The one instance of a `session` plugin: a task owns its store, others send it calls.
//!
//! Apart, because such a plugin's memory lasts from call to call, and a fault must not.

use std::sync::{Arc, OnceLock};

use tokio::sync::{mpsc, oneshot};

use crate::fault::Fault;
use crate::host_request::CallContext;
use crate::plugin::waits::{self, Number};
use crate::sandbox::exports::{CallTool, Export, RunCommand};
use crate::sandbox::{Live, Sandbox, Terms};

/// Calls that wait for the instance before the next caller waits to send one.
const WAITING: usize = 16;

type Answer = Result<Result<String, String>, Fault>;

/// What a caller sends: the call, and where its answer goes. A caller that goes away cancels.
struct Job {
    context: CallContext,
    terms: Terms,
    call: Call,
    reply: oneshot::Sender<Answer>,
}

/// The exports that run in the one instance.
enum Call {
    Tool { name: String, arguments: String },
    Command { name: String, argument: Option<String> },
}

/// A handle of the task. The task starts with the first call and ends with the last handle.
#[derive(Default)]
pub(crate) struct Resident {
    number: Number,
    jobs: OnceLock<mpsc::Sender<Job>>,
}

impl Resident {
    pub(crate) async fn call_tool(
        &self,
        sandbox: &Arc<Sandbox>,
        context: CallContext,
        terms: Terms,
        name: &str,
        arguments: &str,
    ) -> Answer {
        let call = Call::Tool { name: name.into(), arguments: arguments.into() };
        self.send(sandbox, context, terms, call).await
    }

    pub(crate) async fn run_command(
        &self,
        sandbox: &Arc<Sandbox>,
        context: CallContext,
        terms: Terms,
        name: &str,
        argument: Option<&str>,
    ) -> Result<Result<(), String>, Fault> {
        let call = Call::Command { name: name.into(), argument: argument.map(str::to_owned) };
        let answer = self.send(sandbox, context, terms, call).await?;
        Ok(answer.map(drop))
    }

    async fn send(&self, sandbox: &Arc<Sandbox>, context: CallContext, terms: Terms, call: Call) -> Answer {
        let plugin = sandbox.identity().name.clone();
        if context.is_inside(&plugin) {
            return Err(Fault::Entered);
        }
        // Two instances that wait for each other would wait for ever.
        let _wait = waits::begin(&context, &self.number).ok_or(Fault::Entered)?;
        let context = context.inside(&plugin, self.number.get());
        let jobs = self.jobs.get_or_init(|| {
            let (jobs, receiver) = mpsc::channel(WAITING);
            tokio::spawn(serve(sandbox.clone(), receiver));
            jobs
        });
        let (reply, answer) = oneshot::channel();
        jobs.send(Job { context, terms, call, reply }).await.map_err(|_| Fault::Cancelled)?;
        answer.await.unwrap_or(Err(Fault::Cancelled))
    }
}

/// Runs the calls one after another, in an instance that is made again after a fault.
async fn serve(sandbox: Arc<Sandbox>, mut jobs: mpsc::Receiver<Job>) {
    let mut live: Option<Live> = None;
    while let Some(Job { context, terms, call, mut reply }) = jobs.recv().await {
        // Cancelled while it waited: it never ran, and costs the instance nothing.
        if reply.is_closed() {
            continue;
        }
        let answer = {
            let work = async {
                match &call {
                    Call::Tool { name, arguments } => {
                        run(&sandbox, &mut live, context, terms, CallTool { name, arguments }).await
                    }
                    Call::Command { name, argument } => {
                        let export = RunCommand { name, argument: argument.as_deref() };
                        let answer = run(&sandbox, &mut live, context, terms, export).await;
                        answer.map(|it| it.map(|()| String::new()))
                    }
                }
            };
            tokio::select! {
                biased;
                answer = work => Some(answer),
                // Nobody waits for the answer: dropping the work leaves a guest in the middle of a call.
                () = reply.closed() => None,
            }
        };
        match answer {
            Some(answer) => {
                // Arguments that are too large never reached the guest.
                if answer.as_ref().is_err_and(|fault| !matches!(fault, Fault::Given(_))) {
                    live = None;
                }
                // A caller that went away just now needs no answer.
                let _ = reply.send(answer);
            }
            None => live = None,
        }
    }
}

async fn run<E: Export>(
    sandbox: &Sandbox,
    live: &mut Option<Live>,
    context: CallContext,
    terms: Terms,
    export: E,
) -> Result<E::Answer, Fault> {
    // Other rights are for another instance: handles of the old ones would stay open.
    if live.as_ref().is_some_and(|it| !it.is_current(sandbox)) {
        *live = None;
    }
    let live = match live {
        Some(live) => {
            live.begin(sandbox, context, terms);
            live
        }
        None => live.insert(sandbox.open(context, terms)?),
    };
    live.run(sandbox, export).await
}
