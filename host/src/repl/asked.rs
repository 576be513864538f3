//! Questions to the person: one is asked, the others wait for it.
//!
//! Apart, because calls that run at the same time may ask at the same time, and an answer must never reach another question
//! than the one that was read.

use std::collections::VecDeque;

use tokio::sync::oneshot;

use crate::name::PluginName;
use crate::question::{Answer, Question};
use crate::repl::screen::{Screen, Target, not_ours};
use crate::session::Output;

/// One question, with the channel for its answer.
pub(super) enum Asked {
    /// A plugin asks for a line.
    Line(PluginName, String, oneshot::Sender<Option<String>>),
    /// The program lets the person choose.
    Choice(Question, oneshot::Sender<Option<Answer>>),
}

/// Questions that wait until the one before is answered.
#[derive(Default)]
pub(super) struct Questions(VecDeque<Asked>);

impl Asked {
    /// Takes the question out of what is shown; anything else comes back.
    pub(super) fn of(output: Output) -> Result<Self, Output> {
        match output {
            Output::Question(plugin, prompt, reply) => Ok(Self::Line(plugin, prompt, reply)),
            Output::Choose(question, reply) => Ok(Self::Choice(question, reply)),
            other => Err(other),
        }
    }

    /// What stands above the line that is typed, and the prompt of that line.
    pub(super) fn shown(&self, screen: &mut Screen) -> (Vec<(Target, String)>, String) {
        match self {
            Self::Line(plugin, prompt, _) => {
                (screen.question(plugin), not_ours(&crate::text::visible_line(prompt)).into_owned())
            }
            Self::Choice(question, _) => (screen.choose(question), question.prompt()),
        }
    }

    /// Answers with a typed line. Gives the question back when the line is no answer to it.
    pub(super) fn answer(self, typed: &str) -> Option<Self> {
        // Who asked may be gone; then nobody needs the answer.
        match self {
            Self::Line(_, _, reply) => {
                let _ = reply.send(Some(typed.trim().to_owned()));
            }
            Self::Choice(question, reply) => match question.answer(typed) {
                Some(answer) => {
                    let _ = reply.send(Some(answer));
                }
                None => return Some(Self::Choice(question, reply)),
            },
        }
        None
    }

    /// Answers that nobody will.
    pub(super) fn give_up(self) {
        match self {
            Self::Line(_, _, reply) => drop(reply.send(None)),
            Self::Choice(_, reply) => drop(reply.send(None)),
        }
    }

    /// Whether whoever asked still waits.
    fn is_open(&self) -> bool {
        match self {
            Self::Line(_, _, reply) => !reply.is_closed(),
            Self::Choice(_, reply) => !reply.is_closed(),
        }
    }
}

impl Questions {
    pub(super) fn push(&mut self, asked: Asked) {
        self.0.push_back(asked);
    }

    /// The next question that somebody still waits for.
    pub(super) fn next(&mut self) -> Option<Asked> {
        self.0.retain(Asked::is_open);
        self.0.pop_front()
    }

    /// Drops all of them: whoever asked is told that nobody answers.
    pub(super) fn clear(&mut self) {
        self.0.drain(..).for_each(Asked::give_up);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::Choice;

    fn choice() -> (Asked, oneshot::Receiver<Option<Answer>>) {
        let (reply, answer) = oneshot::channel();
        let choices = vec![Choice::new('y', "yes"), Choice::new('n', "no")];
        (Asked::Choice(Question { subject: "?".into(), lines: Vec::new(), choices }, reply), answer)
    }

    #[test]
    fn questions_are_asked_one_after_another_and_those_that_nobody_waits_for_not_at_all() {
        let mut questions = Questions::default();
        let ((first, mut one), (second, two), (third, mut three)) = (choice(), choice(), choice());
        [first, second, third].into_iter().for_each(|it| questions.push(it));
        drop(two);
        assert!(questions.next().unwrap().answer("y").is_none());
        assert_eq!(one.try_recv().unwrap().unwrap().key, 'y');
        assert!(three.try_recv().is_err(), "an answer reaches one question");
        assert!(questions.next().unwrap().answer("n").is_none());
        assert_eq!(three.try_recv().unwrap().unwrap().key, 'n');
        assert!(questions.next().is_none());
    }

    #[test]
    fn a_line_that_is_no_answer_leaves_the_question() {
        let (asked, mut answer) = choice();
        let asked = asked.answer("maybe").unwrap();
        assert!(answer.try_recv().is_err());
        asked.give_up();
        assert_eq!(answer.try_recv().unwrap(), None);
    }
}
