//! The rules of tick recordings. The pages of `tracemend explain` are made of these texts.

use tracemend::{Remedy, Rule, Severity};

/// Every rule, in the order of the codes. Inside the library, the macro `rules!` makes this list.
pub(super) static RULES: &[&Rule] =
    &[&MAGIC_MISSING, &COUNT_MISMATCH, &RECORD_TRUNCATED, &RECORD_DAMAGED];

pub(super) static MAGIC_MISSING: Rule = Rule {
    code: "TK0001",
    name: "magic-missing",
    severity: Severity::Error,
    summary: "the file does not begin with TICK",
    problem: "Every recording begins with the magic TICK. Another program wrote the file, or its \
        first bytes are damaged.",
    impact: "The metronome refuses the file.",
    remedy: Remedy::Next("Use another copy of the file if there is one."),
    source: "the metronome's manual, section 1",
};

pub(super) static COUNT_MISMATCH: Rule = Rule {
    code: "TK1001",
    name: "count-mismatch",
    severity: Severity::Error,
    summary: "the number of records does not match the records",
    problem: "The recorder writes the number when it ends. If it is killed, the number stays 0.",
    impact: "The metronome plays as many records as the header counts.",
    remedy: Remedy::Fix(
        "Writes the number of complete records.\n\
        Class: exact. Cost: none.\n\
        Run:\n\
        \x20 tracemend repair waltz.tick -o repaired.tick",
    ),
    source: "the metronome's manual, section 2",
};

pub(super) static RECORD_TRUNCATED: Rule = Rule {
    code: "TK1002",
    name: "record-truncated",
    severity: Severity::Error,
    summary: "the last record is truncated",
    problem: "The recorder was killed, or a copy of the file was interrupted.",
    impact: "The metronome stops with an error at the record.",
    remedy: Remedy::Fix(
        "Drops the bytes of the truncated record.\n\
        Class: lossy. Cost: no complete record.\n\
        Run:\n\
        \x20 tracemend repair waltz.tick -o repaired.tick",
    ),
    source: "the metronome's manual, section 3",
};

pub(super) static RECORD_DAMAGED: Rule = Rule {
    code: "TK2001",
    name: "record-damaged",
    severity: Severity::Error,
    summary: "the body of a record is damaged",
    problem: "The checksum does not match the body, or the body is shorter than its fields.",
    impact: "The metronome stops with an error at the record.",
    remedy: Remedy::Fix(
        "Drops the record.\n\
        Class: lossy. Cost: the record; all others stay.\n\
        Run:\n\
        \x20 tracemend repair waltz.tick -o repaired.tick",
    ),
    source: "the metronome's manual, section 3",
};
