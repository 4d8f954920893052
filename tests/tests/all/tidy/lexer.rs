//! Splits Rust source into words, marks, strings and comments, each with its line.
//!
//! `syn` drops comments, and the text of comments is half of what the tidy test measures. The
//! lexer follows the Rust Reference, *Tokens* and *Comments*, as far as rustfmt's output needs it.

/// Kind of a piece of source.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// A comment without its marker: one line of `//`, `///` and `//!`, or a block.
    Comment,
    /// The content of a string literal, with `\n` and line continuations resolved.
    Text,
    /// A byte string, a character or a lifetime.
    Other,
    /// An identifier, a keyword or a number.
    Word,
    /// One character of punctuation.
    Mark,
}

/// A piece of source.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Piece {
    /// Kind of the piece.
    pub(super) kind: Kind,
    /// Text of the piece.
    pub(super) text: String,
    /// Line on which it starts, from 1.
    pub(super) line: usize,
}

/// Splits `source` into its pieces, in order; white space is left out.
pub(super) fn split(source: &str) -> Vec<Piece> {
    let mut lexer = Lexer { rest: source, line: 1, pieces: Vec::new() };
    while lexer.step() {}
    lexer.pieces
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    pieces: Vec<Piece>,
}

impl Lexer<'_> {
    /// Takes the white space before a piece and the piece; false at the end.
    fn step(&mut self) -> bool {
        self.advance(self.rest.len() - self.rest.trim_start().len());
        let Some(first) = self.rest.chars().next() else { return false };
        if self.rest.starts_with("//") {
            let length = self.rest.find('\n').unwrap_or(self.rest.len());
            let text = self.rest[2..length].trim_start_matches(['/', '!']).to_owned();
            self.push(Kind::Comment, text, length);
        } else if self.rest.starts_with("/*") {
            let length = block_comment_len(self.rest);
            let text = self.rest[2..length].trim_end_matches("*/").to_owned();
            self.push(Kind::Comment, text, length);
        } else if let Some(literal) = Literal::find(self.rest) {
            let content = &self.rest[literal.start..literal.end];
            let text = if literal.is_raw { content.to_owned() } else { unescape(content) };
            let kind = if literal.is_bytes { Kind::Other } else { Kind::Text };
            self.push(kind, text, literal.length);
        } else if first == '\'' {
            let length = quote_len(self.rest);
            self.push(Kind::Other, self.rest[..length].to_owned(), length);
        } else if first.is_alphanumeric() || first == '_' {
            let end = |character: char| !(character.is_alphanumeric() || character == '_');
            let length = self.rest.find(end).unwrap_or(self.rest.len());
            self.push(Kind::Word, self.rest[..length].to_owned(), length);
        } else {
            self.push(Kind::Mark, first.to_string(), first.len_utf8());
        }
        true
    }

    fn push(&mut self, kind: Kind, text: String, length: usize) {
        self.pieces.push(Piece { kind, text, line: self.line });
        self.advance(length);
    }

    fn advance(&mut self, length: usize) {
        let (passed, rest) = self.rest.split_at(length);
        self.line += passed.matches('\n').count();
        self.rest = rest;
    }
}

/// A string literal at the start of some source, as byte offsets.
struct Literal {
    start: usize,
    end: usize,
    length: usize,
    is_raw: bool,
    is_bytes: bool,
}

impl Literal {
    fn find(rest: &str) -> Option<Self> {
        if !rest.starts_with(['"', 'b', 'c', 'r']) {
            return None;
        }
        let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(|prefix| {
            let after = rest.strip_prefix(prefix).unwrap_or_default();
            after.starts_with('"')
                || (prefix.ends_with('r') && after.trim_start_matches('#').starts_with('"'))
        })?;
        let is_bytes = prefix.starts_with('b');
        let is_raw = prefix.ends_with('r');
        let after = &rest[prefix.len()..];
        let hashes = after.len() - after.trim_start_matches('#').len();
        let start = prefix.len() + hashes + 1;
        let content = &rest[start..];
        let end = if is_raw {
            let closing = format!("\"{}", "#".repeat(hashes));
            content.find(&closing).unwrap_or(content.len())
        } else {
            unescaped_quote(content)
        };
        let end = start + end;
        Some(Self { start, end, length: (end + 1 + hashes).min(rest.len()), is_raw, is_bytes })
    }
}

/// Returns the offset of the first `"` that no backslash escapes.
fn unescaped_quote(content: &str) -> usize {
    let mut is_escaped = false;
    for (at, character) in content.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at,
            _ => {}
        }
    }
    content.len()
}

/// Resolves `\n`, `\"`, `\\` and line continuations; other escapes stay as they are.
fn unescape(content: &str) -> String {
    let mut text = String::new();
    let mut rest = content;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.chars().next() {
            Some('\n') => rest = rest.trim_start(),
            Some('n') => {
                text.push('\n');
                rest = &rest[1..];
            }
            Some(character @ ('"' | '\\' | '\'')) => {
                text.push(character);
                rest = &rest[1..];
            }
            _ => text.push('\\'),
        }
    }
    text.push_str(rest);
    text
}

/// Returns the length of a block comment, which may contain others.
fn block_comment_len(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// Returns the length of a character literal or of a lifetime.
fn quote_len(rest: &str) -> usize {
    let inner = &rest[1..];
    if let Some(escape) = inner.strip_prefix('\\') {
        let skipped = escape.chars().next().map_or(0, char::len_utf8);
        let closing = escape[skipped..].find('\'').map_or(0, |at| at + 1);
        return 2 + skipped + closing;
    }
    let first = inner.chars().next().map_or(0, char::len_utf8);
    if inner[first..].starts_with('\'') {
        return 1 + first + 1;
    }
    let end = |character: char| !(character.is_alphanumeric() || character == '_');
    1 + inner.find(end).unwrap_or(inner.len())
}

#[test]
fn strings_comments_and_code_are_told_apart() {
    let source = "/// Doc \"one\".\nfn f<'a>(c: char) { // it's\n  g(\"a\\\"b // c\", 'x', '\\'', \
                  r#\"q\"q\"#, b\"no\") /* x /* y */ z */ }";
    let pieces = split(source);
    let of = |kind| {
        let found = pieces.iter().filter(move |piece| piece.kind == kind);
        found.map(|piece| piece.text.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(of(Kind::Comment), [" Doc \"one\".", " it's", " x /* y */ z "]);
    assert_eq!(of(Kind::Text), ["a\"b // c", "q\"q"]);
    assert_eq!(of(Kind::Other), ["'a", "'x'", "'\\''", "no"]);
    assert_eq!(of(Kind::Word), ["fn", "f", "c", "char", "g"]);
    assert_eq!(pieces.last().map(|piece| piece.line), Some(3));
}

#[test]
fn a_line_continuation_joins_two_lines() {
    let pieces = split("\"one \\\n     two\" three");
    assert_eq!(pieces[0].text, "one two");
    assert_eq!(pieces[1].line, 2);
}
