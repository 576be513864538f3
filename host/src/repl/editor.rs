//! The line editor, on a thread of its own: it reads only when it is asked to.
//!
//! Apart, because reading a line blocks, and because nothing else may know the editor's crate.

use std::borrow::Cow;
use std::io::BufRead as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc as threads;

use reedline::{
    ColumnarMenu, Completer, CompletionResult, Emacs, ExternalPrinter, KeyCode, KeyModifiers, MenuBuilder as _, Prompt,
    PromptEditMode, PromptHistorySearch, Reedline, ReedlineEvent, ReedlineMenu, Signal, Span, Suggestion,
    default_emacs_keybindings,
};
use tokio::sync::mpsc;

use crate::repl::ReplOptions;
use crate::session::Session;

/// Longest line that is read from a pipe, in bytes.
const LINE: usize = 4 << 20;

/// What came of reading.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Line(String),
    Interrupt,
    End,
}

/// A handle of the thread.
pub(super) struct Editor {
    prompts: threads::Sender<String>,
    typed: mpsc::UnboundedReceiver<Typed>,
    above: Option<threads::SyncSender<String>>,
    reading: Arc<AtomicBool>,
}

impl Editor {
    /// Starts the thread: a line editor for a person, plain lines for a pipe.
    pub(super) fn start(session: &Session, options: &ReplOptions) -> Self {
        let (prompts, prompt_receiver) = threads::channel::<String>();
        let (typed_sender, typed) = mpsc::unbounded_channel();
        let reading = Arc::new(AtomicBool::new(false));
        let of_thread = reading.clone();
        let printer: Option<ExternalPrinter<String>> = options.interactive.then(ExternalPrinter::default);
        let above = printer.as_ref().map(ExternalPrinter::sender);
        let mut read: Box<dyn FnMut(&str) -> Typed + Send> = match printer {
            Some(printer) => {
                let completer = SessionCompleter {
                    session: session.clone(),
                    workspace: options.workspace.clone(),
                    runtime: tokio::runtime::Handle::current(),
                };
                let mut line_editor = line_editor(completer, printer);
                Box::new(move |prompt| read_line(&mut line_editor, prompt))
            }
            None => Box::new(|_| read_plain()),
        };
        std::thread::spawn(move || {
            for prompt in prompt_receiver {
                let line = read(&prompt);
                of_thread.store(false, SeqCst);
                if typed_sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { prompts, typed, above, reading }
    }

    /// Asks for a line.
    pub(super) fn read(&mut self, prompt: &str) {
        self.reading.store(true, SeqCst);
        // A thread that has ended has said so: `typed` answers with the end.
        let _ = self.prompts.send(prompt.to_owned());
    }

    /// Waits for what was typed.
    pub(super) async fn typed(&mut self) -> Typed {
        self.typed.recv().await.unwrap_or(Typed::End)
    }

    /// Prints above the line that is being typed. False when nobody types there.
    pub(super) fn print_above(&self, text: &str) -> bool {
        let Some(above) = self.above.as_ref().filter(|_| self.reading.load(SeqCst)) else { return false };
        let text = text.trim_end_matches('\n');
        text.is_empty() || above.send(text.to_owned()).is_ok()
    }
}

fn read_line(editor: &mut Reedline, prompt: &str) -> Typed {
    match editor.read_line(&PlainPrompt(prompt)) {
        Ok(Signal::Success(line)) => Typed::Line(line),
        Ok(Signal::CtrlC) => Typed::Interrupt,
        Ok(_) => Typed::End,
        Err(error) => {
            tracing::error!("the terminal cannot be read: {error}");
            Typed::End
        }
    }
}

fn read_plain() -> Typed {
    use std::io::Read as _;
    let mut input = std::io::stdin().lock();
    let mut line = Vec::new();
    match input.by_ref().take(LINE as u64).read_until(b'\n', &mut line) {
        Ok(0) => Typed::End,
        // Its rest is no line of its own, which might be a command.
        Ok(_) if line.len() == LINE && !line.ends_with(b"\n") => {
            tracing::error!("a line longer than {} was left out", crate::fault::bytes(LINE));
            // An error shows again at the next read.
            let _ = input.skip_until(b'\n');
            Typed::Line(String::new())
        }
        Ok(_) => Typed::Line(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned()),
        Err(error) => {
            tracing::error!("standard input cannot be read: {error}");
            Typed::End
        }
    }
}

fn line_editor(completer: SessionCompleter, printer: ExternalPrinter<String>) -> Reedline {
    const MENU: &str = "completions";
    let mut keys = default_emacs_keybindings();
    let complete = ReedlineEvent::UntilFound(vec![ReedlineEvent::Menu(MENU.into()), ReedlineEvent::MenuNext]);
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, complete);
    let menu = ReedlineMenu::EngineCompleter(Box::new(ColumnarMenu::default().with_name(MENU)));
    Reedline::create()
        .with_completer(Box::new(completer))
        .with_menu(menu)
        .with_quick_completions(true)
        .with_edit_mode(Box::new(Emacs::new(keys)))
        .with_external_printer(printer)
        .use_bracketed_paste(true)
}

/// Asks the session what can follow.
struct SessionCompleter {
    session: Session,
    workspace: std::path::PathBuf,
    runtime: tokio::runtime::Handle,
}

impl Completer for SessionCompleter {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let Some(line) = line.get(..pos) else { return CompletionResult::fresh(Vec::new()) };
        let candidates = self.runtime.block_on(self.session.complete(line, &self.workspace));
        let span = Span::new(candidates.start, pos);
        let suggestion = |value| Suggestion { value, span, append_whitespace: false, ..Suggestion::default() };
        CompletionResult::fresh(candidates.values.into_iter().map(suggestion).collect::<Vec<_>>())
    }
}

/// A prompt that is just its text.
struct PlainPrompt<'a>(&'a str);

impl Prompt for PlainPrompt<'_> {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _mode: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("  ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("(search `{}`) ", search.term))
    }
}
