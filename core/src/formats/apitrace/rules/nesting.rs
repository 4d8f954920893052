//! Values inside values.

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    NESTING_TOO_DEEP = Rule {
        code: "AT9001",
        name: "nesting-too-deep",
        severity: Severity::Error,
        summary: "values are nested too deep",
        problem: "Arrays, structs and representations hold other values. In real traces they are \
            at most 2 levels deep; the limit `apitrace-nesting` is 1,024.",
        impact: "apitrace 11.1 recurses into the values and crashes (SIGSEGV). An array 1,000,000 \
            levels deep takes 2 MB of a trace.",
        remedy: Remedy::Fix("Takes the event for damage: drops it, and resumes at the first \
            position from which events follow one another. A placeholder replaces each lost \
            call.\n\
            Class: lossy. Cost: the call with the values.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_parser.cpp: parse_value; measured with dump",
    };
}
