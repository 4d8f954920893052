//! Rules of the bytes of a stream: where events end, and the order of their clocks.
#![allow(missing_docs, reason = "the texts of a rule are its documentation")]

use super::NOTHING_REQUIRED;
use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    EVENT_TRUNCATED = Rule {
        code: "OV1001",
        name: "truncated-event",
        severity: Severity::Error,
        summary: "the stream ends inside an event",
        problem: "A full disk, a killed process or an interrupted copy leaves a part of the last \
            event.",
        impact: "ovniemu refuses the whole trace. ovnidump may crash on such a stream.",
        remedy: Remedy::Fix("Drops the truncated event and closes everything that is open.\n\
            Class: lossy. Cost: the truncated event; no complete event.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/stream.c: stream_step; measured",
    };
    STALE_TAIL = Rule {
        code: "OV1002",
        name: "stale-tail",
        severity: Severity::Error,
        summary: "events left over from an earlier run follow the end of the thread",
        problem: "libovni opens a stream without truncating it. A process that calls exec, or a \
            second run with the same loom, pid and tid, writes over the start of the first stream. \
            After the last OHe, the first lower clock or the first invalid event belongs to the \
            earlier run. Its first event is usually cut in two; those after it are complete.",
        impact: "ovniemu refuses the whole trace: the clock goes back, or an event is invalid.",
        remedy: Remedy::Fix("Drops the events of the earlier run and counts them.\n\
            Class: lossy. Cost: the complete events of the earlier run, whose beginning is lost.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/\n\
            To keep them instead of those of the last run, as a trace of their own (lossy: starts \
            the thread at its first event):\n\
            \x20 tracemend repair trace/ --part 2 -o earlier/"),
        source: "ovni 1.14.0, src/rt/ovni.c: create_trace_stream (open without O_TRUNC)",
    };
    CLOCK_BACKWARDS = Rule {
        code: "OV1003",
        name: "clock-backwards",
        severity: Severity::Error,
        summary: "the clock of an event is lower than the one before it",
        problem: "Clocks ascend within a stream; equal clocks are legal. They are compared as \
            signed numbers, so a clock with its highest bit set is out of range.",
        impact: "ovniemu refuses the whole trace at this event.",
        remedy: Remedy::Fix("Shifts the smallest number of events that puts all in order, each \
            group by one amount, so that the time between its events stays. Events that are too \
            early or too late by themselves get a clock between those around them. If the clock \
            steps back for good, the longest part keeps its clocks.\n\
            Class: lossy; exact if the clocks before and after are equal and leave no choice. \
            Cost: the recorded clocks of these events; the events stay.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/stream.c: stream_step",
    };
    UNSORTED_REGION = Rule {
        code: "OV1004",
        name: "unsorted-region",
        severity: Severity::Error,
        summary: "a region of events out of order is not sorted",
        problem: "Events between OU[ and OU] may be out of order until ovnisort moves them. This \
            trace was not sorted.",
        impact: "ovniemu refuses the whole trace.",
        remedy: Remedy::Fix("Sorts the events by their clocks, as ovnisort does; events with equal \
            clocks keep their order. A clock that does not fit between OU[ and OU] is set first.\n\
            Class: exact if the end of the region stays in place, else lossy.\n\
            Cost: none; the recorded clock if one is set.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/ovnisort.c",
    };
    DAMAGED_BYTES = Rule {
        code: "OV1005",
        name: "damaged-bytes",
        severity: Severity::Error,
        summary: "invalid bytes between two events",
        problem: "Events have a code of three printable characters. From the first code that is \
            not valid, tracemend looks for the next place at which four known events follow one \
            another. An event that lost bytes have put together of two is reported, too: its \
            clock is days away from those around it, and no other event names its task.",
        impact: "ovniemu stops at these bytes and refuses the whole trace. ovnidump may crash.",
        remedy: Remedy::Fix("Drops the bytes between the two valid events, and adds in their place \
            the events without which those after them would contradict what is open.\n\
            Class: lossy. Cost: the events that these bytes were; the times of the added ones are \
            not known.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/stream.c; measured with 1,000 damaged streams",
    };
    JUMBO_CODE = Rule {
        code: "OV1006",
        name: "jumbo-code",
        severity: Severity::Info,
        summary: "the payload code of a jumbo event is not 3",
        problem: "libovni writes payload code 3 (four bytes of size) for jumbo events. Reported \
            once per stream.",
        impact: "The tools of ovni ignore the payload code of a jumbo event.",
        remedy: NOTHING_REQUIRED,
        source: "ovni 1.14.0, src/rt/ovni.c: ovni_ev_jumbo_emit; src/common.h",
    };
    REPEATED_BYTES = Rule {
        code: "OV1007",
        name: "repeated-bytes",
        severity: Severity::Error,
        summary: "a block of the stream occurs twice in a row",
        problem: "A copy that was interrupted and resumed, or a write that was repeated, leaves a \
            block twice, perhaps with another copy between both. The clocks of the second copy go \
            back, or it begins inside an event. Bytes of one value are no block.",
        impact: "ovniemu refuses the whole trace: the clock goes back, or an event is invalid.",
        remedy: Remedy::Fix("Drops the second copy.\n\
            Class: exact (the copy that stays is the witness). Cost: none.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/stream.c: stream_step; measured with doubled blocks",
    };
}
