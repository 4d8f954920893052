//! What is wrong with one event by itself.

use crate::formats::qemu::decode::event::{Event, Fault, Input, Key, Value, What};
use crate::formats::qemu::layout::{Checkpoint, Keys, Kind, Layout, range};
use crate::formats::qemu::rules;
use crate::kit::num::to_u64;
use crate::report::{Rule, Severity};

/// A rule that an event breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The rule.
    pub rule: &'static Rule,
    /// The field's name.
    pub field: &'static str,
    /// What is wrong, in numbers.
    pub message: String,
}

impl Broken {
    pub(super) fn new(
        rule: &'static Rule,
        field: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self { rule, field, message: message.into() }
    }

    /// Whether the log is damaged here, so that what follows may be dropped on request.
    pub fn is_damage(&self) -> bool {
        self.rule.severity == Severity::Error
    }
}

/// The first value of an event that is out of range.
pub fn event(event: &Event, layout: &Layout) -> Option<Broken> {
    if let Some(broken) = event.checkpoint.and_then(|number| checkpoint(number, layout)) {
        return Some(broken);
    }
    let samples = |field, count: u64| {
        let message = format!("{count} samples, a ring holds {} at most", range::SAMPLES);
        (count > range::SAMPLES).then(|| Broken::new(&rules::AUDIO_RANGE, field, message))
    };
    match &event.value {
        Value::Instructions(0) => Some(Broken::new(
            &rules::INSTRUCTION_ZERO,
            "count",
            "0 instructions since the last event",
        )),
        Value::Instructions(count) if *count > range::INSTRUCTIONS => {
            let message =
                format!("{count} instructions, a reader counts to {}", range::INSTRUCTIONS);
            Some(Broken::new(&rules::INSTRUCTION_RANGE, "count", message))
        }
        Value::Input(one) => input(one, layout),
        Value::CharRead { device, .. } if *device >= range::DEVICES => {
            let message =
                format!("character device {device}, below {} is plausible", range::DEVICES);
            Some(Broken::new(&rules::DEVICE_RANGE, "device", message))
        }
        Value::Net { filter, .. } if *filter >= range::DEVICES => {
            let message = format!("network filter {filter}, below {} is plausible", range::DEVICES);
            Some(Broken::new(&rules::FILTER_RANGE, "filter", message))
        }
        Value::Net { flags, .. } if *flags > range::NET_FLAGS => {
            let message = format!("flags are {flags:#x}, {:#x} are known", range::NET_FLAGS);
            Some(Broken::new(&rules::NET_FLAGS, "flags", message))
        }
        Value::CharWrite { offset, .. } if *offset > range::ARRAY => {
            let message = format!("offset is {offset}, a buffer holds {} at most", range::ARRAY);
            Some(Broken::new(&rules::CHAR_WRITE_RANGE, "offset", message))
        }
        Value::ReadAllError(code) if code.cast_signed() >= 0 => {
            let message = format!("error code is {code}, errors are below 0");
            Some(Broken::new(&rules::READ_ERROR_SIGN, "error", message))
        }
        Value::Random { result, .. } if !matches!(result.cast_signed(), 0 | -1) => {
            let message = format!("result is {}, 0 and -1 are known", result.cast_signed());
            Some(Broken::new(&rules::RANDOM_RESULT, "result", message))
        }
        Value::AudioOut(played) => samples("played", *played),
        Value::AudioIn { recorded, position, .. } => samples("recorded", *recorded)
            .or_else(|| samples("write position", position.unwrap_or(0))),
        _ => None,
    }
}

fn checkpoint(number: u8, layout: &Layout) -> Option<Broken> {
    let kinds = layout.groups.iter().copied().flatten();
    let count = to_u64(kinds.filter(|kind| matches!(kind, Kind::Checkpoint(_))).count());
    (u64::from(number) >= count).then(|| {
        let message = format!("checkpoint {number}, there are {count}");
        Broken::new(&rules::ASYNC_CHECKPOINT, "checkpoint", message)
    })
}

fn input(input: &Input, layout: &Layout) -> Option<Broken> {
    let limit = |rule, field, value: u64, count: u64| {
        let message = || format!("{field} is {value}, there are {count}");
        (value >= count).then(|| Broken::new(rule, field, message()))
    };
    let down = |down: u8| {
        let message = format!("down is {down}");
        (down > 1).then(|| Broken::new(&rules::DOWN_RANGE, "down", message))
    };
    let pointer = &rules::POINTER_RANGE;
    match input {
        Input::Key { key, down: state } => {
            let rule = &rules::KEY_RANGE;
            let broken = match (*key, layout.keys) {
                (Key::Number(number), _) => limit(rule, "key number", number, range::KEY_NUMBERS),
                (Key::Qcode(code), Keys::Values { qcodes }) => {
                    limit(rule, "qcode", code.into(), qcodes.into())
                }
                (Key::Linux(code) | Key::Qcode(code), _) => {
                    limit(rule, "keycode", code.into(), range::LINUX_KEYS.into())
                }
            };
            broken.or_else(|| down(*state))
        }
        Input::Button { button, down: state } => {
            limit(pointer, "button", (*button).into(), layout.buttons.into())
                .or_else(|| down(*state))
        }
        Input::Pointer { axis } => limit(pointer, "axis", (*axis).into(), range::AXES.into()),
        Input::Touch { kind, axis } => {
            limit(pointer, "touch kind", (*kind).into(), range::TOUCHES.into())
                .or_else(|| limit(pointer, "axis", (*axis).into(), range::AXES.into()))
        }
    }
}

/// What is wrong where no event begins; nothing for one that was merely cut.
pub fn fault(fault: &Fault) -> Option<Broken> {
    let name = fault.kind.map_or("event", Kind::name);
    Some(match fault.what {
        What::Id(id) => Broken::new(&rules::UNKNOWN_EVENT, "id", format!("event id {id}")),
        What::AsyncKind(kind) => {
            let message = format!("asynchronous event of kind {kind}");
            Broken::new(&rules::UNKNOWN_EVENT, "async kind", message)
        }
        What::InputKind(kind) => {
            Broken::new(&rules::INPUT_KIND, "input kind", format!("input of kind {kind}"))
        }
        What::KeyKind(kind) => {
            Broken::new(&rules::KEY_KIND, "key value kind", format!("key value of kind {kind}"))
        }
        What::Short { plausible: true, .. } => return None,
        What::Short { label, needed, left, plausible: false } => {
            Broken::new(&rules::LENGTH_PAST_END, label, short(name, label, needed, left))
        }
    })
}

/// An event that needs more than is left, in words.
pub fn short(name: &str, label: &str, needed: u64, left: u64) -> String {
    format!("{name}: {label} needs {needed} bytes, {left} are left")
}

/// The number that an asynchronous event names a checkpoint by.
pub fn checkpoint_number(kind: Kind, layout: &Layout) -> Option<u8> {
    match kind {
        Kind::Checkpoint(checkpoint) => Checkpoint::number(checkpoint, layout),
        _ => None,
    }
}
