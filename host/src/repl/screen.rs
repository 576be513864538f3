//! What is shown becomes text: names in front, control characters as marks, colours where there are any.
//!
//! Apart from the terminal: a function from what is shown to pieces of text, with the state of the line between.

use anstyle::{AnsiColor, Style as Ansi};

use crate::host_request::{ReplyEvent, Show, Style};
use crate::name::PluginName;
use crate::question::Question;
use crate::session::Output;
use crate::text::{visible, visible_line};

/// Arguments of a call that are shown on its line, in characters.
const ARGUMENTS: usize = 200;

/// Where a piece of text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Standard output.
    Out,
    /// Standard error: what the program says of itself.
    Err,
}

/// How a question of the program begins.
const ASKS: &str = "bellglass asks:";

/// Who is speaking; a change is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Speaker {
    Program,
    Model,
    Thinking,
    Plugin(PluginName),
}

/// The state of the screen between two pieces.
#[derive(Debug)]
pub struct Screen {
    color: bool,
    speaker: Speaker,
    at_line_start: bool,
    /// Everything goes to standard error; the reply is printed by whoever asked for it.
    only_errors: bool,
}

impl Screen {
    /// A screen at the start of a line.
    pub fn new(color: bool) -> Self {
        Self { color, speaker: Speaker::Program, at_line_start: true, only_errors: false }
    }

    /// A screen that writes to standard error alone, and leaves out the reply.
    pub fn beside_a_reply(color: bool) -> Self {
        Self { only_errors: true, ..Self::new(color) }
    }

    /// Turns something that is shown into text.
    pub fn show(&mut self, output: &Output) -> Vec<(Target, String)> {
        let mut pieces = Vec::new();
        match output {
            Output::Show(plugin, show) => self.plugin(plugin, show, &mut pieces),
            Output::Piece(ReplyEvent::Saying(_)) if self.only_errors => {}
            Output::Piece(ReplyEvent::Saying(text)) => {
                self.speaks(Speaker::Model, &mut pieces);
                self.push(Target::Out, &not_ours(&visible(text)), &mut pieces);
            }
            Output::Piece(ReplyEvent::Thinking(text)) => {
                self.speaks(Speaker::Thinking, &mut pieces);
                let text = self.thinking(text);
                self.push(Target::Out, &text, &mut pieces);
            }
            Output::Piece(ReplyEvent::Doing(_) | ReplyEvent::Usage(_)) => {}
            Output::Calling(name, arguments) => {
                self.speaks(Speaker::Program, &mut pieces);
                let line = self.doing(name, arguments, "+");
                self.push(Target::Out, &line, &mut pieces);
            }
            Output::Called(name, Some(error)) => {
                self.speaks(Speaker::Program, &mut pieces);
                let line = format!("- {}: {}\n", visible_line(name), visible(error));
                self.push(Target::Out, &line, &mut pieces);
            }
            Output::Called(_, None) => {}
            Output::Retry { reason, wait, attempt, attempts } => {
                let seconds = wait.as_secs_f64().ceil();
                let text = format!("{reason}; asking again in {seconds} s (attempt {attempt} of {attempts})");
                self.own("waiting", AnsiColor::Yellow, &text, &mut pieces);
            }
            Output::TurnOver => pieces.extend(self.line_end()),
            Output::Warning(text) => self.own("warning", AnsiColor::Yellow, text, &mut pieces),
            Output::Error(text) => self.own("error", AnsiColor::Red, text, &mut pieces),
            Output::Note(text) => {
                self.speaks(Speaker::Program, &mut pieces);
                self.push(Target::Err, &format!("{}\n", visible(text)), &mut pieces);
            }
            Output::Question(plugin, ..) => pieces.extend(self.question(plugin)),
            Output::Choose(question, _) => pieces.extend(self.choose(question)),
        }
        pieces
    }

    /// The plugin's name, before its question.
    pub fn question(&mut self, plugin: &PluginName) -> Vec<(Target, String)> {
        let mut pieces = Vec::new();
        // The name stands there again even when the plugin spoke last: a question must not hide behind output.
        self.speaker = Speaker::Program;
        self.speaks(Speaker::Plugin(plugin.clone()), &mut pieces);
        pieces
    }

    /// A question of the program itself: what is decided, and what each key does. No plugin can print its first line, since
    /// what a plugin prints stands under its name.
    pub fn choose(&mut self, question: &Question) -> Vec<(Target, String)> {
        let mut pieces = self.line_end();
        let mark = self.styled(AnsiColor::Yellow.on_default().bold(), ASKS);
        let mut text = format!("{mark} {}\n", visible_line(&question.subject));
        for line in &question.lines {
            text += &format!("  {}\n", visible_line(line));
        }
        for choice in &question.choices {
            let reason = if choice.takes_reason { " (a reason may follow)" } else { "" };
            text += &format!("  {} = {}{reason}\n", choice.key, visible_line(&choice.effect));
        }
        self.push(Target::Out, &text, &mut pieces);
        pieces
    }

    /// Ends a line that is begun.
    pub fn line_end(&mut self) -> Vec<(Target, String)> {
        let mut pieces = Vec::new();
        self.speaks(Speaker::Program, &mut pieces);
        pieces
    }

    fn plugin(&mut self, plugin: &PluginName, show: &Show, pieces: &mut Vec<(Target, String)>) {
        if matches!(show, Show::Waiting) {
            return;
        }
        self.speaks(Speaker::Plugin(plugin.clone()), pieces);
        let is_whole_line = matches!(show, Show::Doing { .. } | Show::Say(_, Style::Error));
        if is_whole_line && !self.at_line_start {
            self.push(Target::Out, "\n", pieces);
        }
        let text = match show {
            Show::Say(text, Style::Plain | Style::Markdown) => format!("{}\n", visible(text)),
            Show::Say(text, Style::Error) => {
                format!("{} {}\n", self.styled(AnsiColor::Red.on_default(), "error:"), visible(text))
            }
            Show::Print(text) => visible(text).into_owned(),
            Show::Thinking(text) => self.thinking(text),
            Show::Doing { name, arguments, state } => self.doing(name, arguments, state),
            Show::Waiting => return,
        };
        self.push(Target::Out, &not_ours(&text), pieces);
    }

    fn own(&mut self, word: &str, color: AnsiColor, text: &str, pieces: &mut Vec<(Target, String)>) {
        self.speaks(Speaker::Program, pieces);
        let line = format!("{} {}\n", self.styled(color.on_default(), &format!("{word}:")), visible(text));
        self.push(Target::Err, &line, pieces);
    }

    /// Ends the line of whoever spoke before, and puts a plugin's name in front of what it says.
    fn speaks(&mut self, speaker: Speaker, pieces: &mut Vec<(Target, String)>) {
        if self.speaker == speaker {
            return;
        }
        if !self.at_line_start {
            self.push(Target::Out, "\n", pieces);
        }
        if let Speaker::Plugin(name) = &speaker {
            let line = self.styled(Ansi::new().dimmed(), &format!("[{name}]"));
            self.push(Target::Out, &format!("{line}\n"), pieces);
        }
        self.speaker = speaker;
    }

    fn doing(&self, name: &str, arguments: &str, state: &str) -> String {
        let name = self.styled(AnsiColor::Cyan.on_default(), &visible_line(name));
        let arguments = visible_line(arguments);
        let shown = crate::text::first_chars(&arguments, ARGUMENTS);
        let more = if shown.len() < arguments.len() { "…" } else { "" };
        format!("{} {name}({shown}{more})\n", visible_line(state))
    }

    /// Dimmed and italic; a newline at the end stays the last character, so that the state of the line is known.
    fn thinking(&self, text: &str) -> String {
        let text = visible(text);
        let words = text.trim_end_matches('\n');
        let newlines = &text[words.len()..];
        if words.is_empty() {
            return newlines.to_owned();
        }
        self.styled(Ansi::new().dimmed().italic(), words) + newlines
    }

    fn styled(&self, style: Ansi, text: &str) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    fn push(&mut self, target: Target, text: &str, pieces: &mut Vec<(Target, String)>) {
        // Model APIs begin a reply with an empty piece: the line is where it was.
        if text.is_empty() {
            return;
        }
        let target = if self.only_errors { Target::Err } else { target };
        self.at_line_start = text.ends_with('\n');
        pieces.push((target, text.to_owned()));
    }
}

/// The words of a plugin or a model, which must not look like a question of the program: that one begins its line.
fn not_ours(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains(ASKS) { text.replace(ASKS, &format!("\u{201c}{ASKS}\u{201d}")).into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin(name: &str) -> PluginName {
        PluginName::try_from(name.to_owned()).unwrap()
    }

    fn says(name: &str, text: &str) -> Output {
        Output::Show(plugin(name), Show::Say(text.into(), Style::Plain))
    }

    fn reply(text: &str) -> Output {
        Output::Piece(ReplyEvent::Saying(text.into()))
    }

    #[track_caller]
    fn check(color: bool, outputs: &[Output], expected: &str) {
        let mut screen = Screen::new(color);
        let text: String = outputs.iter().flat_map(|it| screen.show(it)).map(|it| it.1).collect();
        assert_eq!(text, expected);
    }

    #[test]
    fn what_a_plugin_says_stands_under_its_name_once() {
        check(false, &[says("a", "x"), says("a", "y"), says("b", "z")], "[a]\nx\ny\n[b]\nz\n");
    }

    #[test]
    fn say_ends_the_line_and_print_does_not() {
        let print = |text: &str| Output::Show(plugin("a"), Show::Print(text.into()));
        check(false, &[print("x"), print("y"), says("a", "z")], "[a]\nxyz\n");
    }

    #[test]
    fn a_call_and_an_error_begin_a_line_of_their_own() {
        let show = |show: Show| Output::Show(plugin("a"), show);
        let doing = Show::Doing { name: "wc".into(), arguments: "{}".into(), state: "+".into() };
        let pieces = [show(Show::Print("x".into())), show(doing), show(Show::Print("y".into()))];
        check(false, &pieces, "[a]\nx\n+ wc({})\ny");
        let pieces = [show(Show::Print("x".into())), show(Show::Say("no".into(), Style::Error))];
        check(false, &pieces, "[a]\nx\nerror: no\n");
    }

    #[test]
    fn an_empty_piece_and_a_newline_of_thinking_leave_no_blank_line() {
        let thinking = |text: &str| Output::Piece(ReplyEvent::Thinking(text.into()));
        check(false, &[reply(""), Output::TurnOver], "");
        check(
            true,
            &[thinking(""), thinking("hm\n"), reply("yes"), reply("\n"), Output::TurnOver],
            "\u{1b}[2m\u{1b}[3mhm\u{1b}[0m\nyes\n",
        );
    }

    #[test]
    fn the_error_style_says_so() {
        let error = Output::Show(plugin("a"), Show::Say("no".into(), Style::Error));
        check(false, std::slice::from_ref(&error), "[a]\nerror: no\n");
    }

    #[test]
    fn a_call_is_one_line_with_its_name_in_colour() {
        let calling = || Output::Calling("wc".into(), r#"{"path":"a"}"#.into());
        check(false, &[calling()], "+ wc({\"path\":\"a\"})\n");
        check(true, &[calling()], "+ \u{1b}[36mwc\u{1b}[0m({\"path\":\"a\"})\n");
    }

    #[test]
    fn thinking_is_dim_and_italic_and_ends_before_the_reply() {
        let thinking = Output::Piece(ReplyEvent::Thinking("hm".into()));
        check(false, &[thinking, reply("yes"), Output::TurnOver], "hm\nyes\n");
        let thinking = Output::Piece(ReplyEvent::Thinking("hm".into()));
        check(true, &[thinking], "\u{1b}[2m\u{1b}[3mhm\u{1b}[0m");
    }

    #[test]
    fn control_sequences_of_a_model_or_a_plugin_are_marks() {
        let evil = "a\u{1b}]52;c;eA==\u{7}b\u{9b}2J\r\u{202e}";
        let mut screen = Screen::new(false);
        let pieces =
            [reply(evil), says("p", evil), Output::Calling(evil.into(), evil.into()), Output::Error(evil.into())];
        let text: String = pieces.iter().flat_map(|it| screen.show(it)).map(|it| it.1).collect();
        let bad = |it: char| it != '\n' && (it.is_control() || it == '\u{202e}');
        assert!(!text.contains(bad), "{text:?}");
    }

    #[test]
    fn beside_a_reply_everything_goes_to_standard_error_and_the_reply_is_left_out() {
        let mut screen = Screen::beside_a_reply(false);
        let pieces: Vec<_> = [reply("r"), says("a", "x")].iter().flat_map(|it| screen.show(it)).collect();
        assert!(pieces.iter().all(|it| it.0 == Target::Err), "{pieces:?}");
        assert_eq!(pieces.into_iter().map(|it| it.1).collect::<String>(), "[a]\nx\n");
    }
}
