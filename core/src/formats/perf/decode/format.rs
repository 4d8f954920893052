//! The format of a tracepoint, a text of lines.
//!
//! ```text
//!  name: EVENT
//!  ID: 317
//!  format:
//!  <tab>field:DECLARATION;<tab>offset:8;<tab>size:4;<tab>signed:1;     the common fields
//!                                                                      a blank line
//!  <tab>field:...                                                      the fields of the event
//!                                                                      a blank line
//!  print fmt: "TEXT", ARGUMENTS
//! ```
//!
//! Sources: the kernel's `kernel/trace/trace_events.c`, which writes it, and `event-parse.c` of
//! libtraceevent, by which perf reads it: words, marks, texts in quotes and ends of lines, between
//! which spaces and tabs have no meaning. perf refuses a recording, or crashes, if the format of
//! one of its tracepoints has another structure.

use std::collections::BTreeSet;

use crate::kit::num::to_u64;

/// Most digits of a number: an offset or size is below the size of a sample, an id below 2^32.
const DIGITS_MOST: usize = 10;

/// Most fields, whose names are held: the largest of 4,771 formats of kernels has 41.
const FIELDS_MOST: usize = 1024;

/// The parts of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'t> {
    /// Letters, digits and underscores.
    Word(&'t [u8]),
    /// A text in quotes.
    Quoted,
    /// A text in quotes with line ends. Only a text to print has them.
    Lines,
    /// A quote that nothing closes: libtraceevent searches for the other one forever.
    Unterminated,
    /// Another byte.
    Mark(u8),
    /// The end of a line.
    Line,
    /// The end of the format.
    End,
}

/// A token that the structure does not have there; its place is that of the token before it.
struct Unexpected;

/// Reads tokens.
struct Tokens<'t> {
    text: &'t [u8],
    /// Offset of the next token or of the spaces before it.
    at: usize,
    /// Offset of the last token.
    last: usize,
    /// Names of the fields.
    fields: BTreeSet<&'t [u8]>,
}

/// Returns the offset of the first byte that does not follow the structure; `None` if all do.
pub fn find_fault(text: &[u8]) -> Option<u64> {
    let mut tokens = Tokens { text, at: 0, last: 0, fields: BTreeSet::new() };
    let read = tokens.read_format();
    read.err().map(|Unexpected| to_u64(tokens.last))
}

impl<'t> Tokens<'t> {
    fn read_format(&mut self) -> Result<(), Unexpected> {
        self.expect_label(b"name")?;
        self.expect_word()?;
        self.expect(Token::Line)?;
        self.expect_label(b"ID")?;
        self.expect_number()?;
        self.expect(Token::Line)?;
        self.expect_label(b"format")?;
        self.expect(Token::Line)?;
        self.read_fields()?;
        self.read_fields()?;
        self.expect(Token::Word(b"print"))?;
        self.expect_label(b"fmt")?;
        match self.next() {
            Token::Quoted | Token::Lines => self.read_arguments(),
            _ => Err(Unexpected),
        }
    }

    /// Reads fields up to a blank line.
    fn read_fields(&mut self) -> Result<(), Unexpected> {
        loop {
            match self.next() {
                Token::Line => return Ok(()),
                Token::Word(b"field") => self.read_field()?,
                _ => return Err(Unexpected),
            }
        }
    }

    /// Reads a field after its first word. Kernels before 2.6.39 do not write its sign.
    fn read_field(&mut self) -> Result<(), Unexpected> {
        match self.next() {
            Token::Mark(b':') => {}
            // Fields of ftrace's own events in kernels before 2.6.34.
            Token::Word(b"special") => self.expect(Token::Mark(b':'))?,
            _ => return Err(Unexpected),
        }
        self.read_declaration()?;
        self.read_value(b"offset")?;
        self.read_value(b"size")?;
        match self.next() {
            Token::Line => Ok(()),
            Token::Word(b"signed") => {
                self.expect(Token::Mark(b':'))?;
                self.expect_number()?;
                self.expect(Token::Mark(b';'))?;
                self.expect(Token::Line)
            }
            _ => Err(Unexpected),
        }
    }

    /// Reads the type and the name of a field, and the semicolon: `__data_loc char[] name`,
    /// `char comm[16]`, `const char __attribute__((user)) * name`.
    fn read_declaration(&mut self) -> Result<(), Unexpected> {
        self.expect_word()?;
        let mut name = None;
        loop {
            match self.next() {
                Token::Word(word) => name = Some(word),
                Token::Mark(b'*' | b'.') => {}
                Token::Mark(b'[') => self.read_enclosed(b'[', b']')?,
                Token::Mark(b'(') => self.read_enclosed(b'(', b')')?,
                Token::Mark(b';') => break,
                _ => return Err(Unexpected),
            }
        }
        // perf refuses a field that has a type and no name.
        self.fields.insert(name.ok_or(Unexpected)?);
        if self.fields.len() > FIELDS_MOST { Err(Unexpected) } else { Ok(()) }
    }

    /// Reads up to the mark that closes the one before, in the same declaration.
    fn read_enclosed(&mut self, opening: u8, closing: u8) -> Result<(), Unexpected> {
        let mut open = 1_usize;
        while open > 0 {
            match self.next() {
                Token::Mark(mark) if mark == opening => open = open.saturating_add(1),
                Token::Mark(mark) if mark == closing => open = open.saturating_sub(1),
                Token::Word(_) | Token::Quoted => {}
                Token::Mark(mark) if mark != b';' => {}
                _ => return Err(Unexpected),
            }
        }
        Ok(())
    }

    /// Reads a number with its label and a semicolon.
    fn read_value(&mut self, label: &[u8]) -> Result<(), Unexpected> {
        self.expect_label(label)?;
        self.expect_number()?;
        self.expect(Token::Mark(b';'))
    }

    /// Reads the arguments of the text to print. perf crashes at some whose field does not exist.
    fn read_arguments(&mut self) -> Result<(), Unexpected> {
        const REFERENCE: [Token<'_>; 3] =
            [Token::Word(b"REC"), Token::Mark(b'-'), Token::Mark(b'>')];
        let mut last = [Token::Line; 3];
        loop {
            let token = self.next();
            match token {
                Token::End => return Ok(()),
                Token::Unterminated => return Err(Unexpected),
                // A field in a field, such as `graph_ent.func`, has the name of the inner one.
                Token::Word(name)
                    if last == REFERENCE
                        && !self.fields.contains(name)
                        && self.text.get(self.at) != Some(&b'.') =>
                {
                    return Err(Unexpected);
                }
                _ => last = [last[1], last[2], token],
            }
        }
    }

    fn expect(&mut self, token: Token<'_>) -> Result<(), Unexpected> {
        if self.next() == token { Ok(()) } else { Err(Unexpected) }
    }

    fn expect_label(&mut self, label: &[u8]) -> Result<(), Unexpected> {
        self.expect(Token::Word(label))?;
        self.expect(Token::Mark(b':'))
    }

    fn expect_word(&mut self) -> Result<(), Unexpected> {
        if matches!(self.next(), Token::Word(_)) { Ok(()) } else { Err(Unexpected) }
    }

    fn expect_number(&mut self) -> Result<(), Unexpected> {
        match self.next() {
            Token::Word(word)
                if word.len() <= DIGITS_MOST && word.iter().all(u8::is_ascii_digit) =>
            {
                Ok(())
            }
            _ => Err(Unexpected),
        }
    }

    fn next(&mut self) -> Token<'t> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let is_space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c);
        let spaces = rest.iter().take_while(is_space).count();
        self.last = self.at.saturating_add(spaces);
        let rest = rest.get(spaces..).unwrap_or_default();
        let (token, len) = first_token(rest);
        self.at = self.last.saturating_add(len);
        token
    }
}

/// Returns the token at the start of `rest`, and its length.
fn first_token(rest: &[u8]) -> (Token<'_>, usize) {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    match rest.first() {
        None => (Token::End, 0),
        Some(b'\n') => (Token::Line, 1),
        Some(quote @ (b'"' | b'\'')) => match quoted_len(rest, *quote) {
            Some(len) if rest.iter().take(len).any(|byte| *byte == b'\n') => (Token::Lines, len),
            Some(len) => (Token::Quoted, len),
            None => (Token::Unterminated, 1),
        },
        Some(first) if is_word(first) => {
            let len = rest.iter().take_while(|byte| is_word(byte)).count();
            (Token::Word(rest.get(..len).unwrap_or_default()), len)
        }
        Some(mark) => (Token::Mark(*mark), 1),
    }
}

/// Returns the length of a text in quotes with both of them; `None` if the second one is missing.
/// It may have several lines: the text to print of `ext4_fsmap_mapping` ends with a line end.
fn quoted_len(text: &[u8], quote: u8) -> Option<usize> {
    let mut is_escaped = false;
    let end = text.iter().skip(1).position(|byte| {
        let ends = *byte == quote && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    });
    end.map(|end| end.saturating_add(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = "name: sys_enter\nID: 443\nformat:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;

\tfield:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;
\tfield:const char __attribute__((user(\"a\"))) * path;\toffset:12;\tsize:4;\tsigned:0;
\tfield:char comm[16 + 1];\toffset:16;\tsize:17;\tsigned:0;

print fmt: \"%s \\\"\n%s\", __get_str(name), REC->comm\n";
    /// As the kernels before 2.6.39 write one of ftrace's own events.
    const OLD: &str = "name: print\nID: 5\nformat:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;

\tfield special:char buf[];\toffset:8;\tsize:0;

print fmt: \"%s\", REC->buf\n";

    #[test]
    fn formats_of_kernels_have_no_fault() {
        assert_eq!((find_fault(SOUND.as_bytes()), find_fault(OLD.as_bytes())), (None, None));
    }

    #[test]
    fn the_first_byte_that_does_not_fit_is_named() {
        for (word, other) in [
            ("name:", "nale:"),
            ("sys_enter", "sys`enter"),
            ("ID:", "IDz"),
            ("443\n", "4n3\n"),
            ("format:", "format;"),
            ("\tfield:unsigned", "\tfieLd:unsigned"),
            ("unsigned short common_type;", "common_type;"),
            ("short ", "sho't "),
            ("[16 + 1];", "[16 + 1{;"),
            ("\"a\"))) *", "\"a)))) *"),
            ("offset:8", "offsdt:8"),
            ("size:4;", "size:q;"),
            ("signed:0;\n", "signed:0;,"),
            ("print", "prinp"),
            ("fmt: \"", "fmt: #"),
            ("REC->comm\n", "REC->cnmm\n"),
            ("__get_str(name)", "__get_str'name)"),
        ] {
            assert!(SOUND.contains(word), "{word}");
            let fault = find_fault(SOUND.replacen(word, other, 1).as_bytes());
            let at = SOUND.find(word).unwrap();
            let place = usize::try_from(fault.unwrap_or(u64::MAX)).unwrap();
            assert!((at..at + word.len() + 1).contains(&place), "{other}: {place}, not {at}");
        }
    }

    #[test]
    fn a_format_has_at_most_1024_fields() {
        let format = |count: usize| {
            let field = |i: usize| format!("\tfield:int f{i};\toffset:8;\tsize:4;\tsigned:1;\n");
            let fields: String = (0..count).map(field).collect();
            format!("name: x\nID: 7\nformat:\n\n{fields}\nprint fmt: \"\"\n")
        };
        assert!(find_fault(format(FIELDS_MOST).as_bytes()).is_none());
        assert!(find_fault(format(FIELDS_MOST + 1).as_bytes()).is_some());
    }

    #[test]
    fn a_truncated_format_has_a_fault() {
        let head = SOUND.find("%s").unwrap();
        assert!((0..head).all(|len| find_fault(&SOUND.as_bytes()[..len]).is_some()));
    }
}
