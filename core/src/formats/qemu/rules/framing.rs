//! QR1: the sequence of events, from the first id to END.

use crate::formats::qemu::rules::KEEP_PREFIX;
use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    UNKNOWN_EVENT = Rule {
        code: "QR1001",
        name: "unknown-event",
        severity: Severity::Error,
        summary: "unknown event id",
        problem: "No event of this release has the id. Events have no length field and no sync \
            marker, so nothing after the id can be decoded with certainty. The damage may start \
            in an earlier event, whose length then is wrong.",
        impact: "QEMU replays the events before the id and stops there: \"unknown event kind\" and \
            exit 1, or abort. Every later event depends on the exact instruction count.",
        remedy: KEEP_PREFIX,
        source: "QEMU, replay/replay-internal.c: replay_fetch_data_kind",
    };
    END_MISSING = Rule {
        code: "QR1002",
        name: "end-missing",
        severity: Severity::Error,
        summary: "missing END: the log is truncated",
        problem: "QEMU writes the version last, and the version is complete. So QEMU finished the \
            log and the file was truncated later, for example by an incomplete copy.",
        impact: "QEMU replays to the cut and exits 1: \"error reading the replay data\".",
        remedy: Remedy::Fix("Drops the truncated event at the end and complete events after which \
            a guest demands the next one (INSTRUCTION, CP_CLOCK_VIRTUAL, AUDIO_OUT). Adds the \
            events with which this release ends a log.\n\
            Class: lossy if events are dropped, else synthetic.\n\
            Cost: the truncated event and up to three complete events. The log is structurally \
            closed; QEMU, the guest and the command line decide whether it replays to its end. A \
            complete copy of the file is better.\n\
            Run:\n\
            \x20 tracemend repair boot.log -o repaired.log"),
        source: "QEMU, replay/replay-internal.c: replay_check_error; measured with 5.2, 7.2, 10.0 \
            and 11.1",
    };
    LENGTH_PAST_END = Rule {
        code: "QR1003",
        name: "length-past-end",
        severity: Severity::Error,
        summary: "length is out of range: the array ends after the file",
        problem: "An array, or the samples of an AUDIO_IN, need more bytes than the file has left. \
            A length that occurs in logs is taken for a truncated file (QR1002). This one is \
            larger than any writer uses, or the log goes on after it and ends with END.",
        impact: "QEMU allocates the length or reads that many bytes into a buffer of the caller, \
            then exits 1 or crashes.",
        remedy: KEEP_PREFIX,
        source: "QEMU, replay/replay-internal.c: replay_get_array, replay_get_array_alloc",
    };
    BYTES_AFTER_END = Rule {
        code: "QR1004",
        name: "bytes-after-end",
        severity: Severity::Error,
        summary: "trailing bytes after END",
        problem: "END is the last event. A log that was written over a longer file keeps the end \
            of the old one; or a damaged event reads as END, and the rest of the log follows it.",
        impact: "QEMU does not read bytes after END. They may contain data of another recording, \
            or events of this one.",
        remedy: Remedy::Fix("Drops the bytes after END. If they begin like a log of their own, \
            it is a warning without an automatic fix.\n\
            Class: lossy. Cost: the trailing bytes; no event.\n\
            Run:\n\
            \x20 tracemend repair boot.log -o repaired.log\n\
            If another log begins at byte 5000, save it first:\n\
            \x20 tail -c +5001 boot.log > second.log"),
        source: "QEMU, replay/replay.c: replay_finish; EVENT_END in replay/replay-internal.h",
    };
    END_DUPLICATE = Rule {
        code: "QR1005",
        name: "end-duplicate",
        severity: Severity::Error,
        summary: "duplicate END",
        problem: "A second END follows END: a program closed a log that was closed already.",
        impact: "QEMU does not read the second END.",
        remedy: Remedy::Fix("Drops the second END.\n\
            Class: lossy. Cost: 1 byte without content.\n\
            Run:\n\
            \x20 tracemend repair boot.log -o repaired.log"),
        source: "QEMU, replay/replay-internal.h: EVENT_END",
    };
    END_INSIDE = Rule {
        code: "QR1006",
        name: "end-inside",
        severity: Severity::Error,
        summary: "unexpected END: further events follow it",
        problem: "The bytes after END are events that lead to another END. Most likely the first \
            END is an id that was damaged.",
        impact: "QEMU stops at the first END and does not replay the events after it.",
        remedy: Remedy::Fix("Drops the events after the first END. With --strategy close the log \
            is left as it is.\n\
            Class: lossy. Cost: every event after the first END. A complete copy of the file is \
            better.\n\
            Run:\n\
            \x20 tracemend repair boot.log -o repaired.log"),
        source: "QEMU, replay/replay-internal.h: EVENT_END",
    };
}
