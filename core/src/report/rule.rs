//! What can be wrong with a recording, as documented data.

use std::fmt;
use std::str::FromStr;

/// How much a fault matters. Ordered: a later one is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Info,
    /// Readable, but a careful writer would not have written it.
    Warning,
    /// A conforming reader may refuse it or misread it.
    Error,
}

impl Severity {
    /// The word used in every output format.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Severity {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        [Self::Info, Self::Warning, Self::Error]
            .into_iter()
            .find(|severity| severity.name() == word)
            .ok_or_else(|| format!("`{word}` is none of info, warning, error"))
    }
}

/// A kind of fault: one documented static each.
///
/// Codes are two letters and four digits. The first digit tells the level: 0 file and header,
/// 1 framing, 2 body, 3 between records, 4 between files, 8 container and compression, 9 limits.
/// A code never gets a second meaning; the name states the fault, never the cure.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// For example `PD1002`.
    pub code: &'static str,
    /// For example `record-too-small`.
    pub name: &'static str,
    /// How much it matters unless the user says otherwise.
    pub severity: Severity,
    /// One sentence: what is wrong.
    pub summary: &'static str,
    /// Why it matters, what causes it, and the source the rule comes from.
    pub explanation: &'static str,
    /// What a repair does about it and what that costs; `None` where nothing can be done.
    pub fix: Option<&'static str>,
}

/// Rules of the command line and of all formats alike.
pub mod common {
    use super::{Rule, Severity};

    /// The rules of this module.
    pub static RULES: &[&Rule] = &[&EMPTY_FILE, &UNKNOWN_FORMAT, &LIMIT_REACHED, &IRREGULAR_FILE];

    /// See the rule's own text.
    pub static EMPTY_FILE: Rule = Rule {
        code: "CM0001",
        name: "empty-file",
        severity: Severity::Error,
        summary: "the file holds no byte",
        explanation: "A recorder that was killed before its first write, or a full disk, leaves an \
            empty file. Nothing was recorded in it, so nothing can be brought back.",
        fix: None,
    };

    /// See the rule's own text.
    pub static UNKNOWN_FORMAT: Rule = Rule {
        code: "CM0002",
        name: "unknown-format",
        severity: Severity::Error,
        summary: "no format recognises the file",
        explanation: "The first bytes belong to none of the formats that this version knows \
            (`tracemend formats` lists them). If they were overwritten, `--type NAME` says what \
            the file is meant to be.",
        fix: None,
    };

    /// See the rule's own text.
    pub static LIMIT_REACHED: Rule = Rule {
        code: "CM9001",
        name: "limit-reached",
        severity: Severity::Error,
        summary: "a limit of the tool was reached, so the verdict is incomplete",
        explanation: "Every resource that a file could demand has a limit with a name and a reason \
            (SECURITY.md lists them). What lies beyond was not looked at.",
        fix: None,
    };

    /// See the rule's own text.
    pub static IRREGULAR_FILE: Rule = Rule {
        code: "CM0003",
        name: "irregular-file",
        severity: Severity::Error,
        summary: "the path is not a regular file",
        explanation: "Devices, sockets and named pipes have no length and cannot be read twice. \
            Standard input (`-`) is read into a temporary file first.",
        fix: None,
    };
}
