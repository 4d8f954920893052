//! Calls: their enters and leaves.

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    LEAVE_NEVER_ENTERED = Rule {
        code: "AT3001",
        name: "leave-never-entered",
        severity: Severity::Warning,
        summary: "a leave belongs to a call that was never entered",
        problem: "A leave carries the number of its call. No call before it has this number.",
        impact: "apitrace 11.1 skips the leave without a warning. Its results and output arguments \
            are not shown.",
        remedy: Remedy::Fix("Drops the leave.\n\
            Class: lossy. Cost: the results in the leave, which no reader shows.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_parser.cpp: parse_leave; measured with dump",
    };
    LEAVE_TWICE = Rule {
        code: "AT3002",
        name: "leave-twice",
        severity: Severity::Warning,
        summary: "a call has a duplicate leave",
        problem: "A call ends once. A second leave has the number of a call that is over: its \
            number is damaged, or its bytes are a copy.",
        impact: "apitrace 11.1 skips the second leave without a warning. Its results and output \
            arguments are not shown.",
        remedy: Remedy::Fix("Drops the second leave.\n\
            Class: lossy. Cost: the results in the leave, which no reader shows.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_parser.cpp: parse_leave; measured with dump",
    };
    CALLS_OPEN = Rule {
        code: "AT3003",
        name: "calls-open",
        severity: Severity::Info,
        summary: "calls have no leave",
        problem: "A call that did not return has no leave: the call in which the program died, and \
            those of its other threads. This is legal.",
        impact: "apitrace 11.1 shows the calls as incomplete and replays them like others.",
        remedy: Remedy::Fix("Adds an empty leave to each of the calls if you ask for it, for tools \
            that need one.\n\
            Class: synthetic; not applied without the option. Cost: none.\n\
            Run:\n\
            \x20 tracemend repair app.trace --close-calls -o closed.trace"),
        source: "apitrace 11.1, lib/trace/trace_parser.cpp: Parser::parse_call; measured with dump",
    };
    PLACEHOLDERS = Rule {
        code: "AT3004",
        name: "placeholders",
        severity: Severity::Info,
        summary: "placeholder calls stand for lost ones",
        problem: "An earlier repair added a call of glXGetCurrentContext for each lost call, so \
            that all other calls keep their numbers. They carry the flag for calls that the tracer \
            made up, and an argument named lost_call.",
        impact: "apitrace 11.1 replays each of them as a query without an effect. dump lists them \
            with the other calls.",
        remedy: Remedy::Next("Nothing has to be done. The lost calls are not in the file; another \
            copy of the original trace may have them."),
        source: "tracemend; apitrace 11.1, lib/trace/trace_format.hpp: CALL_FLAG_FAKE",
    };
    DONOR_DIFFERS = Rule {
        code: "AT3005",
        name: "donor-differs",
        severity: Severity::Warning,
        summary: "the donor defines ids differently",
        problem: "Ids are constants of a build of the tracer, so a trace by the same build can \
            supply lost definitions. This donor defines ids differently that both traces define: \
            another build wrote it.",
        impact: "Its definitions would give calls wrong names, so none is used.",
        remedy: Remedy::Next("Pass a trace that the same release of apitrace recorded with the \
            same wrapper (glxtrace, egltrace):\n\
            \x20 tracemend repair app.trace --donor same-build.trace -o repaired.trace"),
        source: "195 traces of several releases: 0 conflicts within a build",
    };
    LEAVE_NUMBER_WRONG = Rule {
        code: "AT3006",
        name: "leave-number-wrong",
        severity: Severity::Error,
        summary: "the call number of a leave is wrong",
        problem: "A leave carries the number of its call. This number belongs to no open call, and \
            exactly one call that was open then was never left: the leave is its own. With it, \
            that call has all arguments of its function.",
        impact: "apitrace 11.1 skips the leave and exits 0. dump marks the call as incomplete, and \
            its result and output arguments are lost.",
        remedy: Remedy::Fix("Writes the number of the open call.\n\
            Class: exact if the number takes as many bytes and no other bytes change; otherwise \
            lossy, since the chunk is compressed again. Lossy as well if another thread left the \
            call with this number while that one was open: either leave may have lost its \
            number. Cost: none.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_parser.cpp: parse_leave; measured with dump",
    };
}
