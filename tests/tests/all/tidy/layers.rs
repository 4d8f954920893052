//! Which module may name which: the hourglass of ARCHITECTURE.md.

use crate::tidy::exceptions::{Exceptions, count};
use crate::tidy::lexer::{self, Kind, Piece};
use crate::tidy::tree::PIECES;

/// Folders of `core/src/formats`.
const FORMATS: [&str; 5] = ["apitrace", "ovni", "perf", "qemu", "revent"];

/// Methods of `Source` that give bytes. A check may pass a source on to a walker of `decode`.
const READS: [&str; 4] = ["read", "slices", "pieces", "run"];

/// A rule about what a file may name.
struct Law {
    name: &'static str,
    /// Whether the law holds for the file with this path.
    holds_for: fn(&str) -> bool,
    /// Whether the code breaks the law at the word with this index.
    is_broken: fn(&str, &[Piece], usize) -> bool,
}

static LAWS: &[Law] = &[
    Law {
        name: "check reads no bytes",
        holds_for: |path| in_folder(path, "check"),
        is_broken: |_, code, at| {
            let is_call = before(code, at) == "." && after(code, at) == "(";
            text(code, at) == "Cursor" || (is_call && READS.contains(&text(code, at)))
        },
    },
    Law {
        name: "decode and recover name no rule",
        holds_for: |path| in_folder(path, "decode") || in_folder(path, "recover"),
        is_broken: |_, code, at| {
            ["Rule", "Finding", "Fix", "Severity"].contains(&text(code, at))
                || (["rules", "check", "repair"].contains(&text(code, at)) && is_path(code, at))
        },
    },
    Law {
        name: "repair does not import check",
        holds_for: |path| in_folder(path, "repair"),
        is_broken: |_, code, at| text(code, at) == "check" && is_path(code, at),
    },
    Law {
        name: "formats do not import each other",
        holds_for: |path| format_of(path).is_some(),
        is_broken: |path, code, at| {
            let word = text(code, at);
            FORMATS.contains(&word) && format_of(path) != Some(word) && is_path(code, at)
        },
    },
    Law {
        name: "the kit knows no format",
        holds_for: |path| path.starts_with("core/src/kit/"),
        is_broken: |_, code, at| {
            let word = text(code, at);
            (FORMATS.contains(&word) || ["formats", "catalogue"].contains(&word))
                && is_path(code, at)
        },
    },
    Law {
        name: "reports and repairs know no format",
        holds_for: |path| {
            path.starts_with("core/src/present/") || path.starts_with("core/src/mend/")
        },
        is_broken: |_, code, at| FORMATS.contains(&text(code, at)) && is_path(code, at),
    },
    Law {
        name: "the core does no I/O",
        holds_for: |path| path.starts_with("core/src/"),
        is_broken: |_, code, at| {
            text(code, at) == "std"
                && after(code, at) == ":"
                && ["fs", "net", "process", "env"].contains(&text(code, at + 3))
        },
    },
];

/// Whether a file is a format's module `part`, or in its folder.
fn in_folder(path: &str, part: &str) -> bool {
    let inner = path.strip_prefix("core/src/formats/").and_then(|path| path.split_once('/'));
    inner.is_some_and(|(_, inner)| {
        inner.starts_with(&format!("{part}/")) || inner == format!("{part}.rs")
    })
}

/// Returns the format whose folder a file is in.
fn format_of(path: &str) -> Option<&str> {
    let inner = path.strip_prefix("core/src/formats/")?;
    inner.split_once('/').map(|(format, _)| format)
}

fn text(code: &[Piece], at: usize) -> &str {
    code.get(at).map_or("", |piece| piece.text.as_str())
}

fn before(code: &[Piece], at: usize) -> &str {
    at.checked_sub(1).map_or("", |at| text(code, at))
}

fn after(code: &[Piece], at: usize) -> &str {
    text(code, at + 1)
}

/// Whether the word at `at` is part of a path: `word::`, or `::word`, or in the braces of a `use`.
fn is_path(code: &[Piece], at: usize) -> bool {
    let starts = after(code, at) == ":" && text(code, at + 2) == ":";
    let ends = before(code, at) == ":" && at >= 2 && text(code, at - 2) == ":";
    starts || ends || is_in_use(code, at)
}

/// Whether the word at `at` lies between `use` and its semicolon.
fn is_in_use(code: &[Piece], at: usize) -> bool {
    let start = code[..at].iter().rposition(|piece| [";", "use"].contains(&piece.text.as_str()));
    start.is_some_and(|start| code[start].text == "use")
}

/// Returns the code of a file, without what is compiled for tests only.
fn code_of(pieces: &[Piece]) -> Vec<Piece> {
    let is_code = |piece: &&Piece| matches!(piece.kind, Kind::Word | Kind::Mark);
    let mut code: Vec<Piece> = pieces.iter().filter(is_code).cloned().collect();
    let tests = code.windows(5).position(|five| {
        five.iter().map(|piece| piece.text.as_str()).eq(["cfg", "(", "test", ")", "]"])
    });
    code.truncate(tests.unwrap_or(code.len()));
    code
}

/// Returns the lines on which the code of a file breaks a law.
fn broken(law: &Law, path: &str, code: &[Piece]) -> Vec<usize> {
    let found = (0..code.len()).filter(|&at| (law.is_broken)(path, code, at));
    found.map(|at| code[at].line).collect()
}

#[test]
fn layers_are_kept() {
    let mut exceptions = Exceptions::new("layer");
    let mut over = Vec::new();
    let has_law = |path: &&&str| LAWS.iter().any(|law| (law.holds_for)(path));
    let files = PIECES.keys().filter(has_law).map(|path| (*path, code_of(&PIECES[path])));
    let files: Vec<(&str, Vec<Piece>)> = files.collect();
    for law in LAWS {
        let mut found = Vec::new();
        for (path, code) in files.iter().filter(|(path, _)| (law.holds_for)(path)) {
            let lines = broken(law, path, code);
            let is_allowed = !lines.is_empty()
                && exceptions.allow(|values| values[0] == law.name && values[1] == *path);
            if !is_allowed {
                found.extend(lines.iter().map(|line| format!("{path}:{line}")));
            }
        }
        let today = count("today", law.name);
        eprintln!("{}: {} places, {today} allowed", law.name, found.len());
        if found.len() > today {
            over.push((law.name, found));
        }
    }
    assert!(over.is_empty(), "{over:#?}");
    exceptions.assert_all_used();
}

#[test]
fn each_law_is_broken_by_a_bad_sample() {
    let samples = [
        ("core/src/formats/perf/check/file.rs", "fn f(s: &Source) { s.read(0, 1) }"),
        ("core/src/formats/perf/decode/file.rs", "use super::super::rules;"),
        ("core/src/formats/perf/repair.rs", "use super::check::Closing;"),
        ("core/src/formats/perf/decode.rs", "use crate::formats::{qemu, revent::layout};"),
        ("core/src/kit/source.rs", "use crate::formats::Format;"),
        ("core/src/mend/plan.rs", "use crate::formats::perf::rules;"),
        ("core/src/model/limits.rs", "use std::fs::File;"),
    ];
    for (law, (path, sample)) in LAWS.iter().zip(samples) {
        assert!((law.holds_for)(path), "{}", law.name);
        let code = code_of(&lexer::split(sample));
        assert!(!broken(law, path, &code).is_empty(), "{}: {sample}", law.name);
        let code = code_of(&lexer::split("/* Source::read */ fn f() {}"));
        assert!(broken(law, path, &code).is_empty(), "{}", law.name);
    }
    assert_eq!(LAWS.len(), samples.len());
}
