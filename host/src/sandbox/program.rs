//! Programs on the user's machine: started for a plugin, watched, and ended as a whole.
//!
//! Apart from the import, because here are processes and pipes, and there are rights.

pub(crate) mod approval;
mod captured;
pub(crate) mod confine;

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::{mpsc, oneshot};

use crate::sandbox::program::captured::Captured;

/// How long what is still in the pipes may take after the program has ended. What it left behind in the background is killed;
/// one that got away keeps a pipe open for ever.
const DRAIN: Duration = Duration::from_millis(300);

/// Variables that a program gets from the user's environment: who and where, and where toolchains are. No other, since one of
/// them may hold a key.
const VARIABLES: [&str; 18] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "SHELL",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "SSL_CERT_FILE",
];

/// Variables that keep a program from waiting for a person who is not there.
const QUIET: [(&str, &str); 9] = [
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("GIT_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("DEBIAN_FRONTEND", "noninteractive"),
];

/// Where programs of a plugin run, and what they may write.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    /// The folder they start in.
    pub workspace: PathBuf,
    /// Their whole environment.
    pub variables: Vec<(String, String)>,
    /// Folders below which they may write, where the system can confine them.
    pub writable: Vec<PathBuf>,
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// A line for `/bin/sh`.
    Line(String),
    /// A program and its arguments.
    Argv(Vec<String>),
}

/// How a program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// None when a signal ended it.
    pub exit_code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub truncated: bool,
    pub timed_out: bool,
}

/// The environment of programs, of the variables that this process has.
pub(crate) fn environment(variables: &[(String, String)]) -> Vec<(String, String)> {
    let is_kept = |it: &&(String, String)| VARIABLES.contains(&it.0.as_str()) || it.0.starts_with("LC_");
    let quiet = QUIET.map(|(name, value)| (name.to_owned(), value.to_owned()));
    variables.iter().filter(is_kept).cloned().chain(quiet).collect()
}

/// Runs a program to its end. Dropping the future kills it, with all that it started.
///
/// # Errors
///
/// A sentence for the guest: it could not be started.
pub(crate) async fn run(
    place: &Place,
    program: Program,
    timeout: Duration,
    limit: usize,
    shown: Option<mpsc::Sender<String>>,
) -> Result<Ended, String> {
    let command = command(place, &program)?;
    let (started, start) = oneshot::channel();
    let (ended, end) = oneshot::channel();
    let writable = place.writable.clone();
    // On a thread of its own: what it may do is taken from the thread, for good, and its child inherits that.
    std::thread::spawn(move || serve(command, &writable, started, ended));
    let Started { group, stdout, stderr } = start.await.map_err(|_| "it could not be started".to_owned())??;
    let _kill = KillOnDrop(group.clone());
    let (mut out, mut err) = (Captured::new(limit), Captured::new(limit));
    let (status, timed_out) = {
        let read =
            async { tokio::join!(read(stdout, &mut out, shown.as_ref()), read(stderr, &mut err, shown.as_ref())) };
        watch(read, end, &group, timeout).await?
    };
    let exit_code = status.and_then(|it| it.code());
    Ok(Ended { exit_code, truncated: out.is_cut() || err.is_cut(), stdout: out.text(), stderr: err.text(), timed_out })
}

/// Waits until the program ends, and kills it when it is late. What it wrote is read meanwhile, and for a moment after.
async fn watch(
    read: impl Future,
    end: oneshot::Receiver<Option<ExitStatus>>,
    group: &Group,
    timeout: Duration,
) -> Result<(Option<ExitStatus>, bool), String> {
    tokio::pin!(read);
    tokio::pin!(end);
    let deadline = tokio::time::sleep(timeout);
    tokio::pin!(deadline);
    let (mut timed_out, mut drained) = (false, false);
    let status = loop {
        tokio::select! {
            ended = &mut end => break ended.map_err(|_| "it got lost".to_owned())?,
            _ = &mut read, if !drained => drained = true,
            () = &mut deadline, if !timed_out => {
                timed_out = true;
                group.kill();
            }
        }
    };
    if !drained {
        let _ = tokio::time::timeout(DRAIN, read).await;
    }
    Ok((status, timed_out))
}

fn command(place: &Place, program: &Program) -> Result<Command, String> {
    let words: &[String] = match program {
        Program::Line(line) => std::slice::from_ref(line),
        Program::Argv(argv) => argv,
    };
    if words.iter().any(|it| it.contains('\0')) {
        return Err("a command cannot hold a NUL".to_owned());
    }
    let mut command = match program {
        Program::Line(line) => {
            let mut command = Command::new("/bin/sh");
            command.arg("-c").arg(line);
            command
        }
        Program::Argv(argv) => {
            let name = argv.first().filter(|it| !it.is_empty()).ok_or("no program is named")?;
            let mut command = Command::new(name);
            command.args(&argv[1..]);
            command
        }
    };
    command.current_dir(&place.workspace).env_clear().envs(place.variables.iter().cloned());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, so that it ends as a whole, and so that Ctrl-C at the terminal is not for it.
    command.process_group(0);
    Ok(command)
}

/// A program that runs.
struct Started {
    group: Arc<Group>,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

/// The process group of a program; gone once the program is reaped, since its number may then be another's.
struct Group {
    leader: Mutex<Option<Pid>>,
}

impl Group {
    fn kill(&self) {
        if let Some(leader) = *self.leader.lock().unwrap_or_else(PoisonError::into_inner) {
            // It may have ended by itself just now.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

/// Whoever waits for the program is gone: so is the program.
struct KillOnDrop(Arc<Group>);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.kill();
    }
}

fn serve(
    mut command: Command,
    writable: &[PathBuf],
    started: oneshot::Sender<Result<Started, String>>,
    ended: oneshot::Sender<Option<ExitStatus>>,
) {
    confine::this_thread(writable);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let program = crate::text::visible_line(&command.get_program().to_string_lossy()).into_owned();
            let _ = started.send(Err(format!("cannot run `{program}`: {error}")));
            return;
        }
    };
    let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let group = Arc::new(Group { leader: Mutex::new(leader) });
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else { return };
    let start = Started { group: group.clone(), stdout: stdout.into(), stderr: stderr.into() };
    if started.send(Ok(start)).is_err() {
        // Cancelled in the meantime.
        group.kill();
    }
    if let Some(leader) = leader {
        // Not reaped yet: its number is still its own, and so is that of its group.
        let _ = waitid(WaitId::Pid(leader), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
    }
    let status = {
        let mut leader = group.leader.lock().unwrap_or_else(PoisonError::into_inner);
        // What it left in the background would outlive the call, and whoever granted it.
        if let Some(leader) = *leader {
            let _ = kill_process_group(leader, Signal::KILL);
        }
        *leader = None;
        child.wait().ok()
    };
    let _ = ended.send(status);
}

async fn read(pipe: OwnedFd, into: &mut Captured, shown: Option<&mpsc::Sender<String>>) {
    let Ok(mut pipe) = Receiver::from_owned_fd(pipe) else { return };
    let mut piece = vec![0; 64 << 10];
    while let Ok(n @ 1..) = pipe.read(&mut piece).await {
        into.push(&piece[..n]);
        if let Some(shown) = shown {
            let _ = shown.send(String::from_utf8_lossy(&piece[..n]).into_owned()).await;
        }
    }
}

#[cfg(test)]
mod tests;
