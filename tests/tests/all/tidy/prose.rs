//! The text that people read: comments and strings of `.rs` files, prose of `.md` files.

use crate::tidy::lexer::{self, Kind, Piece};

/// A run of text that is read as one: a comment, a string, a paragraph or a cell of a table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Passage {
    /// Path of the file.
    pub(super) path: String,
    /// Line on which the passage starts, from 1.
    pub(super) line: usize,
    /// Whether it is a string literal.
    pub(super) is_string: bool,
    /// The text on one line, without fenced code.
    pub(super) text: String,
}

/// Returns the passages of a file from its pieces if it is Rust, or from its lines if it is
/// Markdown.
pub(super) fn passages(path: &str, content: &str, pieces: Option<&Vec<Piece>>) -> Vec<Passage> {
    if let Some(pieces) = pieces {
        rust_passages(path, pieces)
    } else if path.ends_with(".md") {
        let lines = content.lines().enumerate().map(|(at, line)| (at + 1, line.to_owned()));
        paragraphs(path, lines)
    } else {
        Vec::new()
    }
}

fn rust_passages(path: &str, pieces: &[Piece]) -> Vec<Passage> {
    let mut passages = Vec::new();
    let mut comment: Vec<(usize, String)> = Vec::new();
    for piece in pieces {
        let continues = comment.last().is_some_and(|(line, _)| line + 1 == piece.line);
        if piece.kind != Kind::Comment || !continues {
            passages.extend(paragraphs(path, comment.drain(..)));
        }
        match piece.kind {
            Kind::Comment => {
                let lines = piece.text.lines().enumerate();
                comment.extend(lines.map(|(at, line)| (piece.line + at, line.to_owned())));
            }
            Kind::Text => passages.push(Passage {
                path: path.to_owned(),
                line: piece.line,
                is_string: true,
                text: piece.text.clone(),
            }),
            _ => {}
        }
    }
    passages.extend(paragraphs(path, comment.drain(..)));
    passages
}

/// Joins lines to paragraphs, one for each list item and table cell; leaves fenced code out.
fn paragraphs(path: &str, lines: impl Iterator<Item = (usize, String)>) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    let mut open = false;
    let mut fence: Option<String> = None;
    for (line, text) in lines {
        let text = text.trim();
        let marker: String = text.chars().take_while(|&c| c == '`' || c == '~').collect();
        if marker.len() >= 3 {
            match &fence {
                Some(opened) if marker.starts_with(opened.as_str()) => fence = None,
                Some(_) => {}
                None => fence = Some(marker),
            }
            open = false;
            continue;
        }
        if fence.is_some() || text.is_empty() {
            open = false;
            continue;
        }
        let is_item = text.starts_with(['-', '*', '#', '>', '|'])
            || text.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        let is_table = text.starts_with('|');
        let passage = |text: &str| Passage {
            path: path.to_owned(),
            line,
            is_string: false,
            text: text.trim().trim_start_matches(['-', '*', '#', '>']).trim_start().to_owned(),
        };
        if is_table {
            passages.extend(text.split('|').map(passage).filter(|cell| !cell.text.is_empty()));
            open = false;
        } else if let (true, false, Some(last)) = (open, is_item, passages.last_mut()) {
            last.text.push(' ');
            last.text.push_str(text);
        } else {
            passages.push(passage(text));
            open = true;
        }
    }
    passages
}

#[test]
fn passages_join_lines_and_leave_code_out() {
    let source = "/// One
/// two.
///
/// ```
/// let code = 1;
/// ```
/// Three.
fn f() { g(\"four\") }
";
    let found = passages("a.rs", source, Some(&lexer::split(source)));
    let texts: Vec<_> = found.iter().map(|passage| passage.text.as_str()).collect();
    assert_eq!(texts, ["One two.", "Three.", "four"]);
    let found = passages("a.md", "# Title\ntext of\nit\n\n- item\n\n| a | b |\n", None);
    let texts: Vec<_> = found.iter().map(|passage| passage.text.as_str()).collect();
    assert_eq!(texts, ["Title text of it", "item", "a", "b"]);
}
