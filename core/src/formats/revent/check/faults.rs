//! What the pass over the events found.

use crate::limits::INSERTED;
use crate::formats::revent::check::pass::{Fault, Pass, Runs, Seen};
use crate::formats::revent::check::{Recording, limit_reached, shown};
use crate::formats::revent::decode::event::Event;
use crate::formats::revent::decode::head::FILE;
use crate::formats::revent::{repair, rules};
use crate::kit::span::Span;
use crate::mend::edit::{Fix, Safety};
use crate::report::{Finding, Report, Rule};

/// Pushes a finding for every kind of fault that was seen.
pub(super) fn check(recording: &Recording<'_, '_>, pass: &Pass<'_, '_, '_>, report: &mut Report) {
    let faults: [(Fault, &'static Rule); 16] = [
        (Fault::DeviceOutside, &rules::DEVICE_OUTSIDE),
        (Fault::TimeImplausible, &rules::TIME_IMPLAUSIBLE),
        (Fault::WordsWide, &rules::WORDS_WIDE),
        (Fault::Nothing, &rules::NOTHING_EVENT),
        (Fault::CodeUnknown, &rules::CODE_UNKNOWN),
        (Fault::KeyValue, &rules::KEY_VALUE),
        (Fault::EventPad, &rules::EVENT_PAD),
        (Fault::GamepadCode, &rules::GAMEPAD_CODE),
        (Fault::GamepadRange, &rules::GAMEPAD_RANGE),
        (Fault::SlotOutside, &rules::SLOT_OUTSIDE),
        (Fault::TimeBack, &rules::TIME_BACK),
        (Fault::BeforeStart, &rules::EVENT_OUTSIDE),
        (Fault::AfterEnd, &rules::EVENT_OUTSIDE),
        (Fault::Gap, &rules::GAP),
        (Fault::Dropped, &rules::EVENTS_DROPPED),
        (Fault::Unpressed, &rules::RELEASE_UNPRESSED),
    ];
    for (fault, rule) in faults {
        let Some(seen) = pass.seen(fault) else { continue };
        let all = recording.extent.all;
        let span =
            Span::new(FILE, all.offset(seen.index), all.offset(seen.index.saturating_add(1)));
        let more = match seen.count {
            1 => String::new(),
            count => format!("; {count} events in all"),
        };
        let message = format!("{}{more}", describe(recording, fault, &seen));
        let mut finding = Finding::new(rule, span, format!("events[{}]", seen.index), message);
        finding.fix = fix(recording, pass, fault);
        if fault == Fault::WordsWide {
            match repair::narrow(recording) {
                Ok(fix) => finding.fix = Some(fix),
                Err(bytes) => {
                    let max = recording.options.limits.of(&INSERTED);
                    limit_reached(report, span, "clearing the high words", bytes, max);
                }
            }
        }
        report.push(finding);
    }
}

/// An event with its number and its device, and what is wrong with it.
fn describe(recording: &Recording<'_, '_>, fault: Fault, seen: &Seen) -> String {
    let Seen { index, event, detail, .. } = seen;
    let named = event.named();
    let device = recording.device(event.device);
    let what = format!("event {index} of {device}, {named}");
    let time = |event: &Event| shown(event.micros());
    match fault {
        Fault::DeviceOutside => {
            format!("event {index}, {named}, is of device {}; there are {detail}", event.device)
        }
        Fault::TimeImplausible => {
            format!("{what}, is of {} seconds and {} microseconds", event.sec, event.usec)
        }
        Fault::WordsWide => {
            format!("{what}, is of {:#x} seconds and {:#x} microseconds", event.sec, event.usec)
        }
        Fault::Nothing => {
            format!("event {index} of {device} is zeros: the device was lost while it was recorded")
        }
        Fault::CodeUnknown => format!("{what}, is not in linux/input-event-codes.h"),
        Fault::KeyValue => format!("{what}, is neither 0, 1 nor 2"),
        Fault::EventPad => format!("the padding of event {index} is {:#x}", event.pad),
        Fault::GamepadCode => format!("{what}: its bit is not set"),
        Fault::GamepadRange => {
            let axis = recording.head.gamepad().and_then(|gamepad| gamepad.axis(event.code));
            let (min, max) = axis.map_or((0, 0), |axis| (axis.min, axis.max));
            format!("{what}, is not from {min} to {max}")
        }
        Fault::SlotOutside => format!("{what}: no device has that many slots"),
        Fault::TimeBack => {
            format!("{what}, is of {}, the one before it of {}", time(event), shown(*detail))
        }
        Fault::BeforeStart => {
            format!("{what}, is of {}, the recording starts at {}", time(event), shown(*detail))
        }
        Fault::AfterEnd => {
            format!("{what}, is of {}, the recording ends at {}", time(event), shown(*detail))
        }
        Fault::Gap => {
            format!("{what}, is of {}, the one before it of {}", time(event), shown(*detail))
        }
        Fault::Dropped => format!("{what}: what came before it is missing"),
        Fault::Unpressed => format!("{what}: it was not pressed"),
    }
}

/// What a repair does about events that cannot stay.
fn fix(recording: &Recording<'_, '_>, pass: &Pass<'_, '_, '_>, fault: Fault) -> Option<Fix> {
    let (runs, what) = match fault {
        Fault::Nothing => (&pass.nothing, "events of zeros"),
        Fault::DeviceOutside => (&pass.outside, "events of devices that there are not"),
        Fault::TimeImplausible => (&pass.timeless, "events without a time"),
        _ => return None,
    };
    let Runs { runs, more } = runs;
    let count = pass.seen(fault).map_or(0, |seen| seen.count);
    let most = count.saturating_mul(2) > recording.extent.cut && fault != Fault::Nothing;
    if *more || most {
        let summary = format!("{count} {what} are too many to say that the others are right");
        return Some(Fix::manual(summary));
    }
    let fix = repair::drop_events(recording, runs, count, what);
    debug_assert_eq!(fix.safety, Safety::Lossy);
    Some(fix)
}
