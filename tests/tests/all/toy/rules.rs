//! Rules of the toy format. A format of the library declares them with the macro `rules!`.

use tracemend::{Remedy, Rule, Severity};

pub(super) static COUNT_WRONG: Rule = Rule {
    code: "TY0001",
    name: "count-wrong",
    severity: Severity::Error,
    summary: "count does not match the items",
    problem: "The recorder writes the number of items when it ends. A killed recorder leaves 0.",
    impact: "Readers stop after this number of items.",
    remedy: Remedy::Fix("Sets the count to the number of complete items.\nClass: exact."),
    source: "this folder",
};

pub(super) static ITEM_TRUNCATED: Rule = Rule {
    code: "TY1001",
    name: "item-truncated",
    severity: Severity::Error,
    summary: "the last item is truncated",
    problem: "The file ends before the last item does. The recorder was killed, or the disk is full.",
    impact: "Readers refuse the recording.",
    remedy: Remedy::Fix("Drops the truncated item.\nClass: lossy. Cost: its bytes."),
    source: "this folder",
};

/// Every rule, by code.
pub(super) static RULES: &[&Rule] = &[&COUNT_WRONG, &ITEM_TRUNCATED];
