//! Commands of a line: lists, pipes, subshells, loops, redirections, here-documents.
//!
//! Apart from words and wrappers, because here it is decided where a command begins.

use super::word::{self, Read};
use super::{MOST_DEEP, Part, Unclear, Word, names, wrappers};

/// A line, one character at a time.
pub(super) struct Reader {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    /// Here-documents that begin at the next line: the delimiter, whether tabs before it count, whether its text is expanded.
    pending: Vec<(String, bool, bool)>,
}

impl Reader {
    pub(super) fn new(text: &str, depth: usize) -> Result<Self, Unclear> {
        if depth > MOST_DEEP {
            return Err(Unclear::new(format!("it is nested more than {MOST_DEEP} deep")));
        }
        if text.contains('\0') {
            return Err(Unclear::new("it holds a NUL"));
        }
        // Some shells take these for blanks or ends of lines, and nobody sees them.
        if text.contains(|it: char| it.is_control() && !matches!(it, '\n' | '\t')) {
            return Err(Unclear::new("it holds a control character"));
        }
        if text.contains(|it: char| it.is_whitespace() && !matches!(it, ' ' | '\n' | '\t')) {
            return Err(Unclear::new("it holds a blank that is not one for every shell"));
        }
        Ok(Self { chars: text.chars().collect(), at: 0, depth, pending: Vec::new() })
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    /// Whether the next character is followed by a blank.
    pub(super) fn is_alone(&self) -> bool {
        self.chars.get(self.at + 1).is_none_or(|it| matches!(it, ' ' | '\t' | '\n'))
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Takes the character if it comes next.
    fn take(&mut self, c: char) -> bool {
        let is_next = self.peek() == Some(c);
        self.at += usize::from(is_next);
        is_next
    }

    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.at += 1,
                Some('\\') if self.chars.get(self.at + 1) == Some(&'\n') => self.at += 2,
                Some('#') => {
                    while self.peek().is_some_and(|it| it != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// After the end of a line: the here-documents that were announced on it.
    fn here_documents(&mut self, parts: &mut Vec<Part>) -> Result<(), Unclear> {
        for (delimiter, strips, expands) in std::mem::take(&mut self.pending) {
            let mut text = String::new();
            loop {
                if self.at >= self.chars.len() {
                    return Err(Unclear::new("a here-document does not end"));
                }
                let mut line = String::new();
                while let Some(c) = self.next().filter(|it| *it != '\n') {
                    line.push(c);
                }
                let compared = if strips { line.trim_start_matches('\t') } else { &line };
                if compared == delimiter {
                    break;
                }
                text.push_str(&line);
                text.push('\n');
            }
            if expands {
                word::expand(&text, self.depth, parts)?;
            }
        }
        Ok(())
    }
}

/// Reads a whole line.
pub(super) fn read(line: &str, depth: usize, parts: &mut Vec<Part>) -> Result<(), Unclear> {
    let mut reader = Reader::new(line, depth)?;
    read_list(&mut reader, None, parts)?;
    if reader.pending.is_empty() { Ok(()) } else { Err(Unclear::new("a here-document does not end")) }
}

/// Reads commands up to the closing character, or to the end.
pub(super) fn read_list(reader: &mut Reader, until: Option<char>, parts: &mut Vec<Part>) -> Result<(), Unclear> {
    reader.depth += 1;
    if reader.depth > MOST_DEEP {
        return Err(Unclear::new(format!("it is nested more than {MOST_DEEP} deep")));
    }
    loop {
        reader.blanks();
        match reader.peek() {
            None if until.is_none() => break,
            None => return Err(Unclear::new("a parenthesis is not closed")),
            Some(')') if until == Some(')') => {
                reader.next();
                break;
            }
            Some(')') => return Err(Unclear::new("a parenthesis closes nothing")),
            Some('(') => {
                reader.next();
                if reader.peek() == Some('(') {
                    return Err(Unclear::new("not every shell reads `((` alike"));
                }
                read_list(reader, Some(')'), parts)?;
            }
            Some('\n') => {
                reader.next();
                reader.here_documents(parts)?;
            }
            Some(';' | '&' | '|') => separator(reader)?,
            Some(_) => command(reader, parts)?,
        }
    }
    reader.depth -= 1;
    Ok(())
}

fn separator(reader: &mut Reader) -> Result<(), Unclear> {
    let first = reader.next();
    match (first, reader.peek()) {
        (Some(';'), Some(';' | '&' | '|')) => Err(Unclear::new("it has cases, which are not read here")),
        (Some('|'), Some('&')) | (Some('&'), Some('>')) => {
            Err(Unclear::new("not every shell reads `|&` and `&>` alike"))
        }
        (Some('&'), Some('&')) | (Some('|'), Some('|')) => {
            reader.next();
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Reads one simple command, or a reserved word before one.
fn command(reader: &mut Reader, parts: &mut Vec<Part>) -> Result<(), Unclear> {
    let (mut words, mut assigns, mut writes) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        reader.blanks();
        if matches!(reader.peek(), Some('<' | '>')) {
            redirection(reader, parts, &mut writes)?;
            continue;
        }
        let Some(read) = word::read(reader, parts)? else { break };
        // `2>file`: the number belongs to the redirection.
        let is_number = read.plain().is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
        if is_number && matches!(reader.peek(), Some('<' | '>')) {
            continue;
        }
        let is_first = words.is_empty() && assigns.is_empty() && writes.is_empty();
        if is_first && let Some(reserved) = read.plain().filter(|it| names::RESERVED.contains(it)) {
            match reserved {
                "for" => return for_loop(reader, parts),
                "if" | "then" | "elif" | "else" | "fi" | "while" | "until" | "do" | "done" | "!" | "{" | "}" => {
                    return Ok(());
                }
                other => return Err(Unclear::new(format!("`{other}` is not read here"))),
            }
        }
        if reader.peek() == Some('(') {
            return Err(Unclear::new("it defines a function, or is of one shell alone"));
        }
        if words.is_empty()
            && let Some(name) = read.assigned()
        {
            assigns.push(name.to_owned());
            continue;
        }
        words.push(read.word());
    }
    if words.is_empty() && assigns.is_empty() && writes.is_empty() {
        // Something that no word can start with.
        return match reader.peek() {
            None | Some('\n' | ';' | '&' | '|' | ')') => Ok(()),
            Some(other) => Err(Unclear::new(format!("`{other}` cannot stand there"))),
        };
    }
    let part = Part::of(words).assigning(assigns).writing(writes);
    wrappers::unwrap(part, reader.depth, parts)
}

/// `for NAME in WORDS`, up to its `do`, which is read as a command's start.
fn for_loop(reader: &mut Reader, parts: &mut Vec<Part>) -> Result<(), Unclear> {
    reader.blanks();
    let name = word::read(reader, parts)?;
    if name.as_ref().and_then(Read::plain).is_none() {
        return Err(Unclear::new("a loop has no plain name"));
    }
    // The variable is set, as by an assignment; it is no command of its own.
    let name = name.and_then(|it| it.plain().map(str::to_owned)).unwrap_or_default();
    parts.push(Part::of(Vec::new()).assigning([name]));
    reader.blanks();
    while let Some(word) = word::read(reader, parts)? {
        if word.plain() == Some("do") {
            return Ok(());
        }
        reader.blanks();
    }
    Ok(())
}

fn redirection(reader: &mut Reader, parts: &mut Vec<Part>, writes: &mut Vec<Word>) -> Result<(), Unclear> {
    let is_output = reader.next() == Some('>');
    let unclear = || Unclear::new("not every shell reads this redirection alike");
    if reader.peek() == Some('(') {
        return Err(Unclear::new("not every shell reads `<(` alike"));
    }
    if !is_output && reader.take('<') {
        let strips = reader.take('-');
        if reader.peek() == Some('<') {
            return Err(unclear());
        }
        reader.blanks();
        let delimiter = word::read(reader, parts)?.ok_or_else(unclear)?;
        let text = delimiter.exact().ok_or_else(unclear)?.to_owned();
        reader.pending.push((text, strips, !delimiter.quoted));
        return Ok(());
    }
    let both = !is_output && reader.take('>');
    let duplicates = reader.take('&');
    if is_output && !duplicates && !reader.take('>') {
        reader.take('|');
    }
    reader.blanks();
    let target = word::read(reader, parts)?.ok_or_else(unclear)?;
    let is_descriptor = target.exact().is_some_and(|it| it == "-" || it.bytes().all(|byte| byte.is_ascii_digit()));
    if duplicates && is_descriptor {
        return Ok(());
    }
    if duplicates && !is_output {
        return Err(unclear());
    }
    if is_output || both {
        writes.push(target.word());
    }
    Ok(())
}
