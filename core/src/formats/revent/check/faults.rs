//! Findings for the faults that the scan counted.

use crate::formats::revent::check::fault_log::{Fault, Occurrences};
use crate::formats::revent::check::scan::Scan;
use crate::formats::revent::check::{Context, format_micros, push_write_limit};
use crate::formats::revent::decode::event::name_code;
use crate::formats::revent::decode::walk::DamageCause;
use crate::formats::revent::layout::kind;
use crate::formats::revent::recover::recording::Recording;
use crate::formats::revent::repair::events::{drop_events_fix, narrow_times_fix};
use crate::formats::revent::rules;
use crate::kit::words;
use crate::model::edit::{Fix, Safety};
use crate::model::limits::INSERTED;
use crate::model::{Finding, Report, Rule};

/// Damaged events per good one above which the good ones may be chance.
const GOOD_ONE_IN: u64 = 8;

/// Every kind of fault, with its rule.
static RULES: [(Fault, &Rule); 17] = [
    (Fault::UnknownDevice, &rules::UNKNOWN_DEVICE),
    (Fault::InvalidTime, &rules::TIME_IMPLAUSIBLE),
    (Fault::WidenedTimes, &rules::EVENT_TIMES_WIDENED),
    (Fault::Zeros, &rules::ZERO_EVENT),
    (Fault::UnknownCode, &rules::CODE_UNKNOWN),
    (Fault::KeyValue, &rules::KEY_VALUE),
    (Fault::EventPad, &rules::EVENT_PAD),
    (Fault::GamepadCode, &rules::GAMEPAD_CODE),
    (Fault::GamepadRange, &rules::GAMEPAD_RANGE),
    (Fault::SlotOutOfRange, &rules::SLOT_OUT_OF_RANGE),
    (Fault::ContactTwice, &rules::CONTACT_TWICE),
    (Fault::TimeBack, &rules::TIME_BACK),
    (Fault::BeforeStart, &rules::EVENT_OUTSIDE),
    (Fault::AfterEnd, &rules::EVENT_OUTSIDE),
    (Fault::Gap, &rules::GAP),
    (Fault::Dropped, &rules::EVENTS_DROPPED),
    (Fault::NotPressed, &rules::RELEASE_UNPRESSED),
];

/// Reports every kind of fault once, with its first event and the number of events.
pub(super) fn check(context: &Context<'_, '_>, scan: &Scan<'_>, report: &mut Report) {
    for (fault, rule) in RULES {
        let Some(seen) = scan.log.occurrences(fault) else { continue };
        let recording = context.recording;
        let span = recording.extent.all.event_span(seen.index);
        let total = match seen.count {
            1 => String::new(),
            count => format!("; {} in total", words::plural(count, "event")),
        };
        let message = format!("{}{total}", describe_fault(recording, fault, &seen));
        let mut finding = Finding::new(rule, span, format!("events[{}]", seen.index), message);
        finding.fix = damage_fix(recording, scan, fault);
        if fault == Fault::WidenedTimes {
            let max = context.options.limits.of(&INSERTED);
            match narrow_times_fix(recording, max) {
                Ok(fix) => finding.fix = Some(fix),
                Err(bytes) => push_write_limit(report, span, "narrowing the times", bytes, max),
            }
        }
        report.push(finding);
    }
}

/// Returns the message for the first event with a fault.
fn describe_fault(recording: &Recording<'_>, fault: Fault, seen: &Occurrences) -> String {
    let Occurrences { index, event, .. } = seen;
    let device = recording.device_name(event.device);
    let what = event.describe();
    match fault {
        Fault::UnknownDevice | Fault::InvalidTime | Fault::WidenedTimes | Fault::Zeros => {
            describe_damage(fault, seen, &device)
        }
        Fault::TimeBack | Fault::BeforeStart | Fault::AfterEnd | Fault::Gap => {
            describe_time(fault, seen, &device)
        }
        Fault::UnknownCode => {
            format!("event {index} has an unknown type or code: {what} ({device})")
        }
        Fault::KeyValue => {
            let value = event.value;
            format!("value of event {index} is {value}, expected 0, 1 or 2: {what} ({device})")
        }
        Fault::EventPad => {
            format!("padding of event {index} is {:#x}, expected 0xdeadbeef", event.pad)
        }
        Fault::GamepadCode => {
            format!("event {index} is {what}, but the description does not have it ({device})")
        }
        Fault::GamepadRange => {
            let axis = recording.head.gamepad().and_then(|gamepad| gamepad.axis(event.code));
            let (min, max) = axis.map_or((0, 0), |axis| (axis.min, axis.max));
            format!("event {index} is {what}, expected {min} to {max} ({device})")
        }
        Fault::SlotOutOfRange => {
            format!("slot of event {index} is out of range: {what} ({device})")
        }
        Fault::ContactTwice => {
            let id = event.value;
            format!("event {index} gives contact {id} to a second slot ({device})")
        }
        Fault::Dropped => {
            format!("event {index} is SYN_DROPPED: events before it are missing ({device})")
        }
        Fault::NotPressed if event.kind == kind::KEY => {
            let key = name_code(event.kind, event.code);
            format!("event {index} releases {key}, which is not pressed ({device})")
        }
        Fault::NotPressed => {
            format!("event {index} ends a contact, but its slot has none ({device})")
        }
    }
}

/// Returns the message for an event that cannot be replayed.
fn describe_damage(fault: Fault, seen: &Occurrences, device: &str) -> String {
    let Occurrences { index, event, expected, .. } = seen;
    match fault {
        Fault::UnknownDevice => {
            let devices = words::plural(expected.unsigned_abs(), "device");
            format!("event {index} has device {}, but the recording has {devices}", event.device)
        }
        Fault::InvalidTime => {
            let (sec, usec) = (event.sec, event.usec);
            format!("time of event {index} is out of range: {sec} s and {usec} us ({device})")
        }
        Fault::Zeros => {
            format!("event {index} is all zeros: the device was lost while recording ({device})")
        }
        _ => {
            let stored = event.widened();
            format!(
                "time of event {index} is {:#x} s and {:#x} us: the high halves repeat the fields \
                 that follow ({device})",
                stored.sec, stored.usec
            )
        }
    }
}

/// Returns the message for an event at an unexpected time.
fn describe_time(fault: Fault, seen: &Occurrences, device: &str) -> String {
    let Occurrences { index, event, expected, .. } = seen;
    let event = format!("event {index} at {}", format_micros(event.micros()));
    let other = format_micros(*expected);
    match fault {
        Fault::BeforeStart => format!("{event} is before the start at {other} ({device})"),
        Fault::AfterEnd => format!("{event} is after the end at {other} ({device})"),
        Fault::Gap => {
            format!("{event} follows one at {other}, more than an hour before ({device})")
        }
        _ => format!("{event} follows one at {other} ({device})"),
    }
}

/// Returns the fix for events that cannot be replayed: drop them, unless they are most of all.
fn damage_fix(recording: &Recording<'_>, scan: &Scan<'_>, fault: Fault) -> Option<Fix> {
    let (cause, defect) = match fault {
        Fault::Zeros => (DamageCause::Zeros, "of zeros"),
        Fault::UnknownDevice => (DamageCause::UnknownDevice, "with an unknown device"),
        Fault::InvalidTime => (DamageCause::InvalidTime, "with an invalid time"),
        _ => return None,
    };
    let total = scan.log.occurrences(fault).map_or(0, |seen| seen.count);
    let good = recording.extent.framed.saturating_sub(total);
    if good.saturating_mul(GOOD_ONE_IN) < total && fault != Fault::Zeros {
        return Some(Fix::manual("too many damaged events: the others may be wrong, too"));
    }
    // Of more runs than one round may drop, the next rounds drop the rest.
    let fix = drop_events_fix(recording, scan.log.runs(cause), defect);
    debug_assert_eq!(fix.safety, Safety::Lossy);
    Some(fix)
}
