//! The REPL: lines in, text out.
//!
//! Apart from the session, which neither reads a key nor writes a byte.

mod editor;
pub mod screen;

use std::future::Future;
use std::io::Write as _;
use std::pin::Pin;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::question::{self, Question};
use crate::repl::editor::{Editor, Typed};
use crate::repl::screen::{Screen, Target};
use crate::session::{Output, Outputs, Session};

/// How the REPL talks.
#[derive(Clone, Debug)]
pub struct ReplOptions {
    /// A person types and reads: prompt, line editor, questions.
    pub interactive: bool,
    /// Colours, on a terminal that has them.
    pub color: bool,
    /// Where files are completed.
    pub workspace: std::path::PathBuf,
}

/// The prompt.
const PROMPT: &str = "> ";

/// What the editor is busy with.
enum Waiting {
    /// A line that was typed, and runs now.
    Run(Pin<Box<dyn Future<Output = ()> + Send>>),
    /// The next line.
    Line,
    /// The answer to a plugin's question.
    Answer(oneshot::Sender<Option<String>>),
    /// The answer to a question of the program.
    Choice(Question, oneshot::Sender<Option<question::Answer>>),
}

/// Runs until the input ends, a command ends the session, or the person leaves.
///
/// # Errors
///
/// The terminal cannot be written; a pipe that was closed is no error.
pub async fn run(session: Session, mut outputs: Outputs, options: ReplOptions) -> std::io::Result<()> {
    let mut screen = Screen::new(options.color);
    let mut editor = Editor::start(&session, &options);
    let mut waiting = Waiting::Line;
    // The line whose question the editor asks now.
    let mut asked_by: Option<Pin<Box<dyn Future<Output = ()> + Send>>> = None;
    // One listener for all the time: a signal between two waits is not lost.
    let mut interrupts = signal(SignalKind::interrupt())?;
    editor.read(PROMPT);
    loop {
        let running = match &mut waiting {
            Waiting::Run(running) => Some(running),
            Waiting::Line | Waiting::Answer(_) | Waiting::Choice(..) => asked_by.as_mut(),
        };
        let run = async {
            match running {
                Some(running) => running.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            output = outputs.next() => match output {
                None => break,
                Some(Output::Question(plugin, prompt, reply)) => {
                    let header = screen.question(&plugin);
                    print(&editor, &header)?;
                    if let Waiting::Run(running) = std::mem::replace(&mut waiting, Waiting::Answer(reply)) {
                        asked_by = Some(running);
                    }
                    editor.read(&crate::text::visible_line(&prompt));
                }
                Some(Output::Choose(question, reply)) => {
                    print(&editor, &screen.choose(&question))?;
                    editor.read(&question.prompt());
                    if let Waiting::Run(running) = std::mem::replace(&mut waiting, Waiting::Choice(question, reply)) {
                        asked_by = Some(running);
                    }
                }
                Some(output) => print(&editor, &screen.show(&output))?,
            },
            () = run => {
                asked_by = None;
                // A question of a line that is over is dropped, which answers that nobody is there.
                while let Some(output) = outputs.shown() {
                    if !matches!(output, Output::Question(..) | Output::Choose(..)) {
                        print(&editor, &screen.show(&output))?;
                    }
                }
                print(&editor, &screen.line_end())?;
                // The person may still be at a question of a line that is over.
                if !matches!(waiting, Waiting::Answer(_) | Waiting::Choice(..)) {
                    editor.read(PROMPT);
                }
                waiting = Waiting::Line;
            }
            typed = editor.typed() => match (typed, std::mem::replace(&mut waiting, Waiting::Line)) {
                (Typed::Line(answer), Waiting::Answer(reply)) => {
                    let _ = reply.send(Some(answer.trim().to_owned()));
                    waiting = after_answer(asked_by.take(), &mut editor);
                }
                (Typed::Interrupt | Typed::End, Waiting::Answer(reply)) => {
                    // First the interrupt: with an answer, the call that asked would go on.
                    session.interrupt();
                    let _ = reply.send(None);
                    waiting = after_answer(asked_by.take(), &mut editor);
                }
                (Typed::Line(typed), Waiting::Choice(question, reply)) => match question.answer(&typed) {
                    Some(answer) => {
                        let _ = reply.send(Some(answer));
                        waiting = after_answer(asked_by.take(), &mut editor);
                    }
                    None => {
                        editor.read(&question.prompt());
                        waiting = Waiting::Choice(question, reply);
                    }
                },
                (Typed::Interrupt | Typed::End, Waiting::Choice(_, reply)) => {
                    session.interrupt();
                    let _ = reply.send(None);
                    waiting = after_answer(asked_by.take(), &mut editor);
                }
                (Typed::Line(line), _) => {
                    let session = session.clone();
                    waiting = Waiting::Run(Box::pin(async move { session.line(&line).await }));
                }
                (Typed::Interrupt, _) => editor.read(PROMPT),
                (Typed::End, _) => session.end(),
            },
            _ = interrupts.recv() => session.interrupt(),
        }
    }
    Ok(())
}

/// After an answer the line that asked goes on; if it is over already, the next line is read.
fn after_answer(asked_by: Option<Pin<Box<dyn Future<Output = ()> + Send>>>, editor: &mut Editor) -> Waiting {
    match asked_by {
        Some(running) => Waiting::Run(running),
        None => {
            editor.read(PROMPT);
            Waiting::Line
        }
    }
}

/// Writes to the terminal; above the prompt while somebody types.
fn print(editor: &Editor, pieces: &[(Target, String)]) -> std::io::Result<()> {
    for (target, text) in pieces {
        if editor.print_above(text) {
            continue;
        }
        match target {
            Target::Out => {
                let mut out = std::io::stdout().lock();
                out.write_all(text.as_bytes())?;
                out.flush()?;
            }
            Target::Err => std::io::stderr().lock().write_all(text.as_bytes())?,
        }
    }
    Ok(())
}
