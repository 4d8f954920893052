//! The sequence of events and definitions.

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    TRUNCATED_EVENT = Rule {
        code: "AT1001",
        name: "truncated-event",
        severity: Severity::Error,
        summary: "the stream ends inside an event",
        problem: "The tracer writes chunks of 1 MiB of the stream, which end anywhere in an event. \
            If the program is killed by SIGKILL, the last chunk is complete and its last event is \
            not.",
        impact: "apitrace 11.1 loses the last call without a warning and exits 0. If the event is \
            a leave, apitrace also drops the enter of that call.",
        remedy: Remedy::Fix("Cuts the stream after the last complete event and rewrites the last \
            chunk. A call whose leave is truncated keeps its enter and stays open, which is \
            legal.\n\
            Class: lossy. Cost: the bytes of the truncated event.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_parser.cpp: parse_call; measured with dump",
    };
    STREAM_DAMAGED = Rule {
        code: "AT1002",
        name: "stream-damaged",
        severity: Severity::Error,
        summary: "part of the stream cannot be decoded",
        problem: "The bytes at this position are not a valid event. The container decoded without \
            an error: snappy chunks have no checksum, so damage often shows up only here.",
        impact: "apitrace 11.1 stops at the damage. dump prints the calls before it, then for \
            example \"unknown event 238\", and exits 1. Other damage passes unnoticed and changes \
            arguments.",
        remedy: Remedy::Fix("Resumes at the first position from which 60 events follow one another \
            with known ids and matching call numbers, or 3 calls whose numbers continue those \
            before the damage. A placeholder replaces each lost call, so all other calls keep \
            their numbers; lost definitions are added at their first use.\n\
            Class: lossy. Cost: the lost calls and the definitions among them.\n\
            Run:\n\
            \x20 tracemend repair app.trace --donor other.trace -o repaired.trace\n\
            --donor takes lost definitions from another trace by the same build of the tracer."),
        source: "apitrace 11.1, lib/trace/trace_parser.cpp: parse_call, parse_value",
    };
    CALLS_MISSING = Rule {
        code: "AT1003",
        name: "calls-missing",
        severity: Severity::Error,
        summary: "call numbers are inconsistent: calls are missing",
        problem: "Enters are numbered by their position, and leaves carry the number of their \
            call. Here every later leave has a number that is too high by the same amount, so \
            that many enters were lost between two sound events.",
        impact: "apitrace 11.1 gives every later leave to the wrong call. It exits 0; dump marks \
            the later calls as incomplete, and their results are lost.",
        remedy: Remedy::Fix("Adds a placeholder call for each lost call, so that the leaves match \
            their calls again.\n\
            Class: lossy, because the damaged chunk is written again. Cost: none beyond the calls \
            that are lost already.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_parser.cpp: parse_enter, parse_leave; measured \
            with dump",
    };
    DEFINITION_MISSING = Rule {
        code: "AT1004",
        name: "definition-missing",
        severity: Severity::Error,
        summary: "an id is undefined",
        problem: "The definition of a function, struct, enum, bitmask or stack frame follows the \
            first use of its id. Here an id is used, and its definition is missing: it was in \
            bytes that were lost.",
        impact: "apitrace 11.1 reads the following bytes as the definition and stops. dump prints \
            for example \"unknown event 21\" and exits 1.",
        remedy: Remedy::Fix("Adds a definition at the first use, with a name such as \
            lost_signature_21 and as many arguments as the calls use, or takes it from --donor or \
            from a known build of the tracer that the other definitions or the calls fit.\n\
            Class: lossy, because the damaged chunk is written again. Cost: the calls of that \
            function have a placeholder name; values of a struct may be split in the wrong place.\n\
            Run:\n\
            \x20 tracemend repair app.trace --donor other.trace -o repaired.trace\n\
            --donor takes lost definitions from another trace by the same build of the tracer."),
        source: "apitrace 11.1, lib/trace/trace_parser.cpp: parse_function_sig, parse_struct; \
            measured with dump",
    };
    SECOND_TRACE = Rule {
        code: "AT1005",
        name: "second-trace",
        severity: Severity::Error,
        summary: "the file has two traces",
        problem: "Two processes wrote one file: a process and its child after a fork, whose chunks \
            may alternate, or one that truncated the file in which another wrote on, which leaves \
            a hole of zeros. Each trace has its own call numbers; the second one may lack a magic \
            and a header.",
        impact: "apitrace 11.1 shows only the first trace and exits 0. It takes the magic of the \
            second one for the length of a chunk and warns of an unexpected end of file. In gzip \
            it stops at the header of the second one: \"unknown event 6\", exit 1.",
        remedy: Remedy::Fix("Keeps one of the traces if you choose it. Repair twice to get both.\n\
            Class: lossy; not applied without the option. Cost: the other trace.\n\
            Run:\n\
            \x20 tracemend repair app.trace --part 1 -o parent.trace\n\
            \x20 tracemend repair app.trace --part 2 -o child.trace"),
        source: "apitrace issues 110 and 493; measured with dump 11.1",
    };
}
