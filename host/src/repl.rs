//! The REPL: lines in, text out.
//!
//! Apart from the session, which neither reads a key nor writes a byte.

mod asked;
mod editor;
pub mod screen;

use std::future::Future;
use std::io::Write as _;
use std::pin::Pin;

use tokio::signal::unix::{SignalKind, signal};

use crate::repl::asked::{Asked, Questions};
use crate::repl::editor::{Editor, Typed};
use crate::repl::screen::{Screen, Target};
use crate::session::{Outputs, Session};

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

type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Who gets the next line that is typed.
enum Reading {
    /// Nobody: a line runs.
    Nothing,
    /// The session: it is the next line.
    Line,
    /// A question.
    Answer(Asked),
}

/// Runs until the input ends, a command ends the session, or the person leaves.
///
/// # Errors
///
/// The terminal cannot be written; a pipe that was closed is no error.
pub async fn run(session: Session, mut outputs: Outputs, options: ReplOptions) -> std::io::Result<()> {
    let mut screen = Screen::new(options.color);
    let mut editor = Editor::start(&session, &options);
    let mut reading = Reading::Line;
    let mut running: Option<Running> = None;
    let mut questions = Questions::default();
    // One listener for all the time: a signal between two waits is not lost.
    let mut interrupts = signal(SignalKind::interrupt())?;
    editor.read(PROMPT);
    loop {
        let run = async {
            match &mut running {
                Some(running) => running.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            output = outputs.next() => match output.map(Asked::of) {
                None => break,
                Some(Ok(asked)) => {
                    questions.push(asked);
                    if matches!(reading, Reading::Nothing) {
                        reading = next(&mut questions, running.is_some(), &mut editor, &mut screen)?;
                    }
                }
                Some(Err(output)) => print(&editor, &screen.show(&output))?,
            },
            () = run => {
                running = None;
                // A question of a line that is over is dropped, which answers that nobody is there.
                questions.clear();
                while let Some(output) = outputs.shown() {
                    if let Err(output) = Asked::of(output) {
                        print(&editor, &screen.show(&output))?;
                    }
                }
                print(&editor, &screen.line_end())?;
                reading = match reading {
                    Reading::Nothing => next(&mut questions, false, &mut editor, &mut screen)?,
                    // The person is still at a question of a line that is over: what is typed there is the next line.
                    Reading::Line | Reading::Answer(_) => Reading::Line,
                };
            }
            typed = editor.typed() => {
                reading = match (typed, std::mem::replace(&mut reading, Reading::Nothing)) {
                    (Typed::Line(answer), Reading::Answer(asked)) => match asked.answer(&answer) {
                        Some(asked) => {
                            editor.read(&asked.shown(&mut screen).1);
                            Reading::Answer(asked)
                        }
                        None => next(&mut questions, running.is_some(), &mut editor, &mut screen)?,
                    },
                    (Typed::Interrupt | Typed::End, Reading::Answer(asked)) => {
                        // First the interrupt: with an answer, the call that asked would go on.
                        session.interrupt();
                        asked.give_up();
                        questions.clear();
                        next(&mut questions, running.is_some(), &mut editor, &mut screen)?
                    }
                    (Typed::Line(line), _) => {
                        let session = session.clone();
                        running = Some(Box::pin(async move { session.line(&line).await }));
                        next(&mut questions, true, &mut editor, &mut screen)?
                    }
                    (Typed::Interrupt, _) => {
                        editor.read(PROMPT);
                        Reading::Line
                    }
                    (Typed::End, _) => {
                        session.end();
                        Reading::Nothing
                    }
                };
            }
            _ = interrupts.recv() => session.interrupt(),
        }
    }
    Ok(())
}

/// What is read next: the answer to a question that waits; while a line runs, nothing; else the next line.
fn next(
    questions: &mut Questions,
    is_running: bool,
    editor: &mut Editor,
    screen: &mut Screen,
) -> std::io::Result<Reading> {
    if let Some(asked) = questions.next() {
        let (above, prompt) = asked.shown(screen);
        print(editor, &above)?;
        editor.read(&prompt);
        return Ok(Reading::Answer(asked));
    }
    if is_running {
        return Ok(Reading::Nothing);
    }
    editor.read(PROMPT);
    Ok(Reading::Line)
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
