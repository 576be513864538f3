//! Words of a line: quotes are taken away, and what is known only when it runs is found.
//!
//! Apart from the commands, because a quote decides whether a character means something.

use super::syntax::{Reader, read_list};
use super::{Part, Unclear, Word};

/// A word as it was read.
#[derive(Debug, Default)]
pub(super) struct Read {
    text: String,
    /// Some of it is known only when it runs.
    pub dynamic: bool,
    /// Some of it was quoted: it is no reserved word, no assignment and no number of a file.
    pub quoted: bool,
    /// Where the first `=` stands, if nothing before it was quoted or dynamic.
    equals: Option<usize>,
}

impl Read {
    /// The word for a part.
    pub(super) fn word(&self) -> Word {
        if self.dynamic { Word::Any } else { Word::Exact(self.text.clone()) }
    }

    /// The text, if no quote and no expansion is in it.
    pub(super) fn plain(&self) -> Option<&str> {
        (!self.quoted && !self.dynamic).then_some(&self.text)
    }

    /// The text with its quotes taken away, if no expansion is in it.
    pub(super) fn exact(&self) -> Option<&str> {
        (!self.dynamic).then_some(&self.text)
    }

    /// The variable that is set, where the word is an assignment.
    pub(super) fn assigned(&self) -> Option<&str> {
        let name = &self.text[..self.equals?];
        let is_first = |it: char| it.is_ascii_alphabetic() || it == '_';
        let is_name = name.starts_with(is_first) && name.chars().all(|it| is_first(it) || it.is_ascii_digit());
        is_name.then_some(name)
    }
}

/// Reads one word; none where another thing begins.
pub(super) fn read(reader: &mut Reader, parts: &mut Vec<Part>) -> Result<Option<Read>, Unclear> {
    let mut word = Read::default();
    let mut any = false;
    while let Some(c) = reader.peek() {
        match c {
            ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
            '\'' => {
                reader.next();
                word.quoted = true;
                loop {
                    match reader.next() {
                        Some('\'') => break,
                        Some(c) => word.text.push(c),
                        None => return Err(Unclear::new("a quote is not closed")),
                    }
                }
            }
            '"' => {
                reader.next();
                word.quoted = true;
                double_quoted(reader, &mut word, parts)?;
            }
            '\\' => {
                reader.next();
                match reader.next() {
                    // A line that goes on.
                    Some('\n') => continue,
                    Some(c) => {
                        word.quoted = true;
                        word.text.push(c);
                    }
                    None => return Err(Unclear::new("it ends in a backslash")),
                }
            }
            '$' => {
                reader.next();
                if matches!(reader.peek(), Some('\'' | '"')) {
                    return Err(Unclear::new("not every shell reads `$'` and `$\"` alike"));
                }
                expansion(reader, &mut word, parts)?;
            }
            '`' => {
                reader.next();
                backticks(reader, false, parts)?;
                word.dynamic = true;
            }
            // Alone it is a word of the shell's own.
            '{' if !any && reader.is_alone() => {
                reader.next();
                word.text.push(c);
            }
            // File names are put in its place; some shells know more, after which other characters count as well.
            '*' | '?' | '[' | '{' => {
                reader.next();
                word.dynamic = true;
            }
            '~' if !any || word.text.ends_with([':', '=']) => {
                reader.next();
                word.dynamic = true;
            }
            _ => {
                reader.next();
                if c == '=' && word.equals.is_none() && !word.quoted && !word.dynamic {
                    word.equals = Some(word.text.len());
                }
                word.text.push(c);
            }
        }
        any = true;
    }
    Ok(any.then_some(word))
}

fn double_quoted(reader: &mut Reader, word: &mut Read, parts: &mut Vec<Part>) -> Result<(), Unclear> {
    loop {
        match reader.next() {
            Some('"') => return Ok(()),
            Some('\\') => match reader.next() {
                Some('\n') => {}
                Some(c @ ('$' | '`' | '"' | '\\')) => word.text.push(c),
                Some(c) => word.text.extend(['\\', c]),
                None => return Err(Unclear::new("a quote is not closed")),
            },
            Some('$') => expansion(reader, word, parts)?,
            Some('`') => {
                backticks(reader, true, parts)?;
                word.dynamic = true;
            }
            Some(c) => word.text.push(c),
            None => return Err(Unclear::new("a quote is not closed")),
        }
    }
}

/// What follows a `$`.
fn expansion(reader: &mut Reader, word: &mut Read, parts: &mut Vec<Part>) -> Result<(), Unclear> {
    match reader.peek() {
        Some('(') => {
            reader.next();
            if reader.peek() == Some('(') {
                return Err(Unclear::new("it computes: a shell may run what a variable in it holds"));
            }
            word.dynamic = true;
            read_list(reader, Some(')'), parts)
        }
        Some('{') => {
            reader.next();
            word.dynamic = true;
            braces(reader, parts)
        }
        Some(c) if c.is_ascii_alphanumeric() || "_@*#?-$!".contains(c) => {
            reader.next();
            word.dynamic = true;
            if c.is_ascii_alphabetic() || c == '_' {
                while reader.peek().is_some_and(|it| it.is_ascii_alphanumeric() || it == '_') {
                    reader.next();
                }
            }
            Ok(())
        }
        Some('[') => Err(Unclear::new("not every shell reads `$[` alike")),
        // A lone `$` is one.
        _ => {
            word.text.push('$');
            Ok(())
        }
    }
}

/// The inside of `${…}`: a name, and words that may run something. What shells beyond POSIX know there may evaluate the value.
fn braces(reader: &mut Reader, parts: &mut Vec<Part>) -> Result<(), Unclear> {
    if reader.peek() == Some('#') {
        reader.next();
    }
    let mut named = false;
    while reader.peek().is_some_and(|it| it.is_ascii_alphanumeric() || "_@*?-$!".contains(it)) {
        let c = reader.next();
        named = true;
        // A special parameter is one character; what follows is an operator.
        if c.is_some_and(|it| !it.is_ascii_alphanumeric() && it != '_') {
            break;
        }
    }
    let unclear = || Unclear::new("not every shell reads `${` with this alike");
    if !named {
        return Err(unclear());
    }
    match reader.peek() {
        Some('}') => {
            reader.next();
            return Ok(());
        }
        Some(':') => {
            reader.next();
            if !matches!(reader.next(), Some('-' | '=' | '?' | '+')) {
                return Err(unclear());
            }
        }
        Some('-' | '=' | '?' | '+' | '%' | '#') => {
            reader.next();
        }
        _ => return Err(unclear()),
    }
    let mut inside = Read::default();
    loop {
        match reader.next() {
            Some('}') => return Ok(()),
            Some('\\') => {
                reader.next();
            }
            Some('\'') => return Err(unclear()),
            Some('"') => double_quoted(reader, &mut inside, parts)?,
            Some('$') => expansion(reader, &mut inside, parts)?,
            Some('`') => backticks(reader, false, parts)?,
            Some(_) => {}
            None => return Err(Unclear::new("a `${` is not closed")),
        }
    }
}

/// What stands between backticks: one level of backslashes is for them.
fn backticks(reader: &mut Reader, in_quotes: bool, parts: &mut Vec<Part>) -> Result<(), Unclear> {
    let mut inside = String::new();
    loop {
        match reader.next() {
            Some('`') => break,
            Some('\\') => match reader.next() {
                Some(c @ ('$' | '`' | '\\')) => inside.push(c),
                Some('"') if in_quotes => inside.push('"'),
                Some(c) => inside.extend(['\\', c]),
                None => return Err(Unclear::new("a backtick is not closed")),
            },
            Some(c) => inside.push(c),
            None => return Err(Unclear::new("a backtick is not closed")),
        }
    }
    super::syntax::read(&inside, reader.depth() + 1, parts)
}

/// The text of a here-document whose delimiter was not quoted: what it runs.
pub(super) fn expand(text: &str, depth: usize, parts: &mut Vec<Part>) -> Result<(), Unclear> {
    let mut reader = Reader::new(text, depth + 1)?;
    let mut word = Read::default();
    while let Some(c) = reader.next() {
        match c {
            '\\' => {
                reader.next();
            }
            '$' => expansion(&mut reader, &mut word, parts)?,
            '`' => backticks(&mut reader, false, parts)?,
            _ => {}
        }
    }
    Ok(())
}
