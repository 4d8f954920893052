//! Rules of the end of a recording.
#![allow(missing_docs, reason = "the texts of a rule are its documentation")]

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    COUNT_ZERO = Rule {
        code: "RV1001",
        name: "count-zero",
        severity: Severity::Error,
        summary: "num_events is 0, but events follow",
        problem: "The recorder writes count, start and end when it ends. If it is killed, the \
            count stays 0, the times are uninitialised, and the file ends after a full buffer of \
            4096 bytes, usually inside an event.",
        impact: "revent replay and Workload Automation's reader show no event and report no \
            error.",
        remedy: Remedy::Fix("Sets the count, sets start and end from the events, drops the \
            events after the last complete frame, and releases what is pressed there.\n\
            Class: synthetic; lossy if it drops bytes.\n\
            Cost: no complete frame.\n\
            With --release never it adds no releases; with --release always every recording gets \
            them.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "revent.c of Workload Automation; measured with killed recorders of 2018",
    };
    COUNT_TOO_LARGE = Rule {
        code: "RV1002",
        name: "count-too-large",
        severity: Severity::Error,
        summary: "num_events is more than the file holds",
        problem: "The file was truncated, or the count is damaged. Or events between the others \
            were lost, and the count reaches into the two that the recorder adds without a count.",
        impact: "Workload Automation's reader raises struct.error after the last complete event, \
            or shows events that were not counted; revent dump prints uninitialised memory.",
        remedy: Remedy::Fix("Sets the count, drops the events after the last complete frame, and \
            releases what is pressed there.\n\
            Class: lossy: nothing shows that the stored count was wrong.\n\
            Cost: no complete frame.\n\
            With --release never it adds no releases; with --release always every recording gets \
            them.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "Workload Automation 3.3.1, wa/utils/revent.py: ReventRecording._iter_events",
    };
    COUNT_TOO_SMALL = Rule {
        code: "RV1003",
        name: "count-too-small",
        severity: Severity::Error,
        summary: "num_events is less than the file holds",
        problem: "The events after the counted ones continue in time and end before the \
            recording does, so the count is damaged.",
        impact: "Workload Automation's reader and revent replay stop after the counted events \
            and report no error.",
        remedy: Remedy::Fix("Sets the count to the number of events.\n\
            Class: lossy: the count may be right, and some events doubled. Cost: none; all events \
            stay.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "Workload Automation 3.3.1, wa/utils/revent.py: ReventRecording._iter_events",
    };
    TRUNCATED_EVENT = Rule {
        code: "RV1004",
        name: "truncated-event",
        severity: Severity::Error,
        summary: "the last event is truncated",
        problem: "Layouts before version 2 have no count: events go to the end of the file. A \
            killed recorder leaves full buffers of 4096 bytes, and the last one usually ends \
            inside an event.",
        impact: "Workload Automation's reader raises struct.error after the last complete event.",
        remedy: Remedy::Fix("Drops the events after the last complete frame, and releases what \
            is pressed there.\n\
            Class: lossy.\n\
            Cost: no complete frame.\n\
            With --release never it adds no releases; with --release always every recording gets \
            them.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "Workload Automation 3.3.1, wa/utils/revent.py: ReventRecording._iter_events",
    };
    TRAILING_BYTES = Rule {
        code: "RV1005",
        name: "trailing-bytes",
        severity: Severity::Warning,
        summary: "bytes follow the last event",
        problem: "The recorder ends a file after its last event or, if the return key ends it, \
            52 bytes later.",
        impact: "No reader looks at these bytes.",
        remedy: Remedy::Fix("Drops the bytes.\n\
            Class: lossy. Cost: bytes that no reader uses; all events stay.\n\
            Readers accept the recording as it is, so this takes --lossy-warnings.\n\
            Run:\n\
            \x20 tracemend repair --lossy-warnings pad.run.revent -o repaired.run.revent"),
        source: "Workload Automation 3.3.1, wa/utils/revent.py: ReventRecording._iter_events",
    };
    ENTER_PAIR = Rule {
        code: "RV1006",
        name: "enter-pair",
        severity: Severity::Info,
        summary: "the recorder added a release of the return key",
        problem: "If the return key ends the recording, the recorder adds the release of the key \
            and the end of its frame. Versions 2 and 3 do not count these two events; in older \
            layouts they are part of the events.",
        impact: "Readers of version 2 and 3 ignore the two events.",
        remedy: Remedy::Next("Nothing needs to be done: the recording is as the recorder wrote \
            it."),
        source: "revent.c of Workload Automation",
    };
    FULL_BUFFERS = Rule {
        code: "RV1007",
        name: "full-buffers",
        severity: Severity::Warning,
        summary: "the file length is a multiple of 4096 bytes: the recorder was killed",
        problem: "A recorder that ends normally writes what is left in its buffer. By chance, \
            one recording in 4096 has such a length.",
        impact: "Events at the end are missing, and a key or finger may still be pressed.",
        remedy: Remedy::Fix("Releases what is pressed and ends the open frame at the time of the \
            last event.\n\
            Class: synthetic. Cost: none; all events stay.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "revent.c of Workload Automation; 4 of 17 published recordings",
    };
    NO_EVENTS = Rule {
        code: "RV1008",
        name: "no-events",
        severity: Severity::Warning,
        summary: "the recording has no events",
        problem: "The recorder ended before an event occurred. Workload Automation publishes one \
            such file.",
        impact: "revent replay injects nothing.",
        remedy: Remedy::Next("Record again:\n\
            \x20 revent record pad.run.revent"),
        source: "revent.c of Workload Automation",
    };
    MISALIGNED = Rule {
        code: "RV1009",
        name: "misaligned-bytes",
        severity: Severity::Error,
        summary: "bytes between the events are not events",
        problem: "Events follow one another without a gap. Bytes were inserted, doubled or lost, \
            so the events after them are not where a reader looks for them.",
        impact: "Workload Automation's reader returns wrong events from there on, or raises \
            ValueError.",
        remedy: Remedy::Fix("Drops the bytes up to the next event that others follow.\n\
            Class: lossy. Cost: the events that were damaged; all others stay.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "Workload Automation 3.3.1, wa/utils/revent.py: ReventRecording._iter_events",
    };
}
