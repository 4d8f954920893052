//! Rules of single events.
#![allow(missing_docs, reason = "the texts of a rule are its documentation")]

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    UNKNOWN_DEVICE = Rule {
        code: "RV2001",
        name: "unknown-device",
        severity: Severity::Error,
        summary: "an event names a device that is not in the list",
        problem: "The device of an event is an index into the list of devices (0 for a gamepad).",
        impact: "revent replay uses the number as an index without a check, and writes to a file \
            descriptor from outside its table. Workload Automation's reader returns the event.",
        remedy: Remedy::Fix("Drops these events, unless hardly any other event is left.\n\
            Class: lossy. Cost: the dropped events; all others stay.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "revent.c of Workload Automation: replay_buffer_play",
    };
    TIME_IMPLAUSIBLE = Rule {
        code: "RV2002",
        name: "time-implausible",
        severity: Severity::Error,
        summary: "time of an event is out of range",
        problem: "Microseconds are 0 to 999999, seconds 0 to 2^33.",
        impact: "Workload Automation's reader raises ValueError for a year above 9999 and shows \
            a wrong time otherwise; revent replay waits for the wrong time.",
        remedy: Remedy::Fix("Drops these events, unless hardly any other event is left.\n\
            Class: lossy. Cost: the dropped events; all others stay.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "Workload Automation 3.3.1, wa/utils/revent.py: ReventEvent",
    };
    EVENT_TIMES_WIDENED = Rule {
        code: "RV2003",
        name: "event-times-widened",
        severity: Severity::Error,
        summary: "high halves of the times of events repeat the fields that follow",
        problem: "32-bit recorders of 2016-10-26 to 2016-11-18 wrote eight bytes from the \
            address of each four-byte number: the microseconds are in the high half of the \
            seconds, type and code are in the high half of the microseconds.",
        impact: "Workload Automation's reader raises ValueError (\"year 1363499 is out of range\") \
            at the first event.",
        remedy: Remedy::Fix("Clears the high halves.\n\
            Class: exact (witness: the fields that they repeat). Cost: none; all events stay.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "revent.c (recorder), 2016-10-26 to 2016-11-18",
    };
    ZERO_EVENT = Rule {
        code: "RV2004",
        name: "zero-event",
        severity: Severity::Warning,
        summary: "events are all zeros: a device was lost",
        problem: "The recorder does not check the result of a read. If a device is unplugged, it \
            records thousands of events of zeros per second until it ends, and counts them.",
        impact: "Workload Automation's reader returns them as events of 1970, and revent replay \
            injects them.",
        remedy: Remedy::Fix("Drops the events. They have no time, type, code or value.\n\
            Class: lossy. Cost: the dropped events; all others stay.\n\
            Readers accept the recording as it is, so this takes --lossy-warnings.\n\
            Run:\n\
            \x20 tracemend repair --lossy-warnings pad.run.revent -o repaired.run.revent"),
        source: "revent.c of Workload Automation; measured: 23568 events in 30 ms",
    };
    CODE_UNKNOWN = Rule {
        code: "RV2005",
        name: "code-unknown",
        severity: Severity::Warning,
        summary: "type or code of an event is unknown",
        problem: "linux/input-event-codes.h does not define the type or the code. The event is \
            damaged, or the driver of the device has its own codes.",
        impact: "The kernel ignores such an event; Workload Automation's reader returns it.",
        remedy: Remedy::Next("Look at the events around it:\n\
            \x20 tracemend dump pad.run.revent"),
        source: "Linux, include/uapi/linux/input-event-codes.h",
    };
    KEY_VALUE = Rule {
        code: "RV2006",
        name: "key-value",
        severity: Severity::Warning,
        summary: "value of a key is not 0, 1 or 2",
        problem: "The value of EV_KEY is 0 (released), 1 (pressed) or 2 (repeated).",
        impact: "The kernel takes any other value for a press.",
        remedy: Remedy::Next("Look at the events around it:\n\
            \x20 tracemend dump pad.run.revent"),
        source: "Linux, drivers/input/input.c: input_get_disposition",
    };
    EVENT_PAD = Rule {
        code: "RV2007",
        name: "event-pad",
        severity: Severity::Info,
        summary: "padding of an event is not 0xdeadbeef",
        problem: "Recorders of 2015 and 2016 wrote this value into every event. It distinguishes \
            their layouts.",
        impact: "No reader uses the padding.",
        remedy: Remedy::Next("Nothing needs to be done. With --upgrade, the recording is written \
            without padding:\n\
            \x20 tracemend repair pad.run.revent --upgrade -o repaired.run.revent"),
        source: "revent.c (recorder), 2015-03 to 2016-10",
    };
    GAMEPAD_CODE = Rule {
        code: "RV2008",
        name: "gamepad-code",
        severity: Severity::Warning,
        summary: "an event has a key or axis that the gamepad does not have",
        problem: "The bitmaps in the description of the gamepad list its keys and axes.",
        impact: "revent replay creates a virtual gamepad from the bitmaps, and the kernel drops \
            events with other codes.",
        remedy: Remedy::Next("Look at the events around it:\n\
            \x20 tracemend dump pad.run.revent"),
        source: "Linux, drivers/input/input.c: input_get_disposition",
    };
    GAMEPAD_RANGE = Rule {
        code: "RV2009",
        name: "gamepad-range",
        severity: Severity::Warning,
        summary: "value of an axis is outside its range",
        problem: "The axis description has the smallest and the largest value of the axis.",
        impact: "A program that scales the axis by its range gets a value out of range.",
        remedy: Remedy::Next("Look at the events around it:\n\
            \x20 tracemend dump pad.run.revent"),
        source: "Linux, Documentation/input/event-codes.rst: EV_ABS",
    };
    SLOT_OUT_OF_RANGE = Rule {
        code: "RV2010",
        name: "slot-out-of-range",
        severity: Severity::Warning,
        summary: "slot of a contact is out of range",
        problem: "Touch screens have about ten slots, the largest tables 64.",
        impact: "The kernel ignores events of a slot that the device does not have.",
        remedy: Remedy::Next("Look at the events around it:\n\
            \x20 tracemend dump pad.run.revent"),
        source: "Linux, drivers/input/input.c: input_handle_abs_event",
    };
    CONTACT_TWICE = Rule {
        code: "RV2011",
        name: "contact-twice",
        severity: Severity::Warning,
        summary: "two slots have the same contact",
        problem: "The kernel gives each contact a tracking id of its own. A slot or an id is \
            damaged, or events were doubled.",
        impact: "revent replay injects a finger that is never lifted, or lifts the wrong one.",
        remedy: Remedy::Next("Look at the events around it:\n\
            \x20 tracemend dump pad.run.revent"),
        source: "Linux, Documentation/input/multi-touch-protocol.rst",
    };
}
