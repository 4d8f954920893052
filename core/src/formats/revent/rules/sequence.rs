//! Rules of the sequence of events.
#![allow(missing_docs, reason = "the texts of a rule are its documentation")]

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    TIME_BACK = Rule {
        code: "RV3001",
        name: "time-back",
        severity: Severity::Warning,
        summary: "the time of a device goes back",
        problem: "Events of one device are in the order of their times. Events of two devices \
            may overlap a little.",
        impact: "revent replay injects the event without a pause.",
        remedy: Remedy::Next("Look at the events around it; a damaged time or a changed clock is \
            the usual cause:\n\
            \x20 tracemend dump pad.run.revent"),
        source: "revent.c of Workload Automation: replay_buffer_play",
    };
    EVENT_OUTSIDE = Rule {
        code: "RV3002",
        name: "event-outside",
        severity: Severity::Warning,
        summary: "an event is before the start or after the end of the recording",
        problem: "The recorder takes the start before its first event and the end after its \
            last. If SIGTERM or the return key ends it, events that arrive meanwhile are written \
            after the end is taken.",
        impact: "revent replay injects the event, but its pauses at the start and the end are \
            wrong.",
        remedy: Remedy::Next("Nothing needs to be done if only the last events are affected. \
            Otherwise look at the times:\n\
            \x20 tracemend dump pad.run.revent"),
        source: "revent.c of Workload Automation",
    };
    GAP = Rule {
        code: "RV3003",
        name: "gap",
        severity: Severity::Warning,
        summary: "more than an hour passes between two events",
        problem: "Two clocks in one recording, or a damaged time, are more likely than such a \
            pause.",
        impact: "revent replay waits as long.",
        remedy: Remedy::Next("Look at the events around the gap:\n\
            \x20 tracemend dump pad.run.revent"),
        source: "revent.c of Workload Automation: replay_buffer_play; one of 17 published \
            recordings has a gap of 42 years",
    };
    FRAME_OPEN = Rule {
        code: "RV3004",
        name: "frame-open",
        severity: Severity::Warning,
        summary: "the last frame of a device has no SYN_REPORT",
        problem: "The kernel ends every group of events with SYN_REPORT, and programs act on the \
            group then.",
        impact: "The events of the open frame take effect with the next recording that is \
            replayed.",
        remedy: Remedy::Fix("With --release always, adds SYN_REPORT at the time of the last \
            event.\n\
            Class: synthetic. Cost: none; all events stay.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent --release always -o repaired.run.revent"),
        source: "Linux, Documentation/input/event-codes.rst: EV_SYN",
    };
    EVENTS_DROPPED = Rule {
        code: "RV3005",
        name: "events-dropped",
        severity: Severity::Warning,
        summary: "the kernel dropped events during the recording",
        problem: "SYN_DROPPED means that the recorder did not read fast enough. Events between \
            the last SYN_REPORT and this event are missing.",
        impact: "revent replay injects an incomplete gesture; a key or finger may stay pressed.",
        remedy: Remedy::Next("The events cannot be restored. Record again on an idle system:\n\
            \x20 revent record pad.run.revent"),
        source: "Linux, Documentation/input/event-codes.rst: SYN_DROPPED",
    };
    RELEASE_UNPRESSED = Rule {
        code: "RV3006",
        name: "release-unpressed",
        severity: Severity::Warning,
        summary: "a key or contact is released that was not pressed",
        problem: "It was pressed before the recording began, or its press was lost.",
        impact: "The kernel ignores the release of a key that is not pressed.",
        remedy: Remedy::Next("Look at the events around it:\n\
            \x20 tracemend dump pad.run.revent"),
        source: "Linux, drivers/input/input.c: input_get_disposition",
    };
    STILL_PRESSED = Rule {
        code: "RV3007",
        name: "still-pressed",
        severity: Severity::Warning,
        summary: "keys or contacts are still pressed at the end",
        problem: "The recording ends before a finger is lifted or a key is released.",
        impact: "revent replay injects into the real device, so a finger that is never lifted \
            spoils the next recording.",
        remedy: Remedy::Fix("Adds the release of each key and contact, and SYN_REPORT, at the \
            time of the last event. It adds no position. If the end of the recording was lost, \
            the fix for that (RV1001, RV1002, RV1004, RV1007) does so by default; otherwise it \
            takes --release always.\n\
            Class: synthetic. Cost: none; all events stay.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent --release always -o repaired.run.revent"),
        source: "Linux, Documentation/input/multi-touch-protocol.rst; revent.c of Workload \
            Automation: replay_buffer_play",
    };
    CLOCK = Rule {
        code: "RV3008",
        name: "clock",
        severity: Severity::Info,
        summary: "timestamps are from another clock than the recorder's",
        problem: "Version 3 counts the time since boot, older layouts the time since 1970. A \
            program other than the recorder wrote the times, or the machine had no clock.",
        impact: "No reader depends on the clock: revent replay uses differences of times.",
        remedy: Remedy::Next("Nothing needs to be done."),
        source: "revent.c of Workload Automation, history of 2017-09",
    };
}
