//! Facts about an event that contradict what QEMU writes.
//!
//! A defect states values. Which rule it breaks and how serious that is, `check` decides.

use crate::formats::qemu::decode::event::{Event, Fault, FaultKind, Numbers, Value, signed_half};
use crate::formats::qemu::layout::{Async, Field, Keys, Kind, Layout, range};
use crate::kit::num::to_u64;
use crate::kit::span::Span;

/// A value of a field, and the number of values that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// The field.
    pub field: &'static str,
    /// Its value.
    pub value: u64,
    /// Valid values are below this.
    pub limit: u64,
}

/// One contradiction. Each variant is one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// No event has the id, or no asynchronous event the kind.
    UnknownEvent(OutOfRange),
    /// No input has the kind.
    InputKind(u32),
    /// No key has the kind of value.
    KeyKind(u32),
    /// An array that no writer would have written ends after the file.
    Length {
        /// The array.
        label: &'static str,
        /// Its length in bytes.
        needed: u64,
        /// Bytes that the file has for it.
        left: u64,
    },
    /// A key code that the releases of the layout do not have.
    Key(OutOfRange),
    /// A button, axis or touch kind that does not exist.
    Pointer(OutOfRange),
    /// `down` is neither 0 nor 1.
    Down(u64),
    /// The index of a character device is implausible.
    Device(u64),
    /// The index of a network filter is implausible.
    Filter(u64),
    /// The flags of a packet are unknown.
    NetFlags(u64),
    /// INSTRUCTION counts 0.
    InstructionZero,
    /// INSTRUCTION counts more than a reader can.
    InstructionRange(u64),
    /// A count of samples is implausible.
    Samples(OutOfRange),
    /// AUDIO_IN counts samples that its writer left out.
    FullRing(u64),
    /// An asynchronous event names a checkpoint that does not exist.
    AsyncCheckpoint(OutOfRange),
    /// The offset of CHAR_WRITE exceeds any buffer.
    WriteOffset(u64),
    /// The code of CHAR_READ_ALL_ERROR is not negative.
    ReadErrorSign(i32),
    /// The result of RANDOM is neither 0 nor -1.
    RandomResult(i32),
    /// More instructions than a machine executes between two readings of its clock.
    InstructionRate {
        /// The instructions.
        count: u64,
        /// Nanoseconds between the two readings.
        nanoseconds: u64,
    },
    /// The counts around one repeat, and it breaks their row.
    InstructionPattern {
        /// The count.
        count: u64,
        /// The count that the row has there.
        expected: u64,
    },
    /// The id of a bottom half is an instruction count that was not reached yet.
    BottomHalfId {
        /// The id.
        id: u64,
        /// Instructions before the event.
        instructions: u64,
    },
    /// The id of a block request lies far beyond the ids before it.
    BlockId {
        /// The id.
        id: u64,
        /// The id after the largest one before it.
        next: u64,
    },
    /// A block request is done for the second time.
    BlockTwice(u64),
    /// A block request is never done, although later ones are.
    BlockMissing {
        /// The id.
        id: u64,
        /// Number of later requests.
        later: u64,
    },
    /// A network filter has a packet before the filters with smaller indexes.
    FilterGap {
        /// Its index.
        filter: u64,
        /// The smallest index without a packet.
        next: u64,
    },
    /// CHAR_WRITE wrote another number of bytes than its result.
    WriteResult {
        /// The result.
        result: u64,
        /// The number of bytes written.
        offset: u64,
    },
    /// A clock goes back.
    ClockBackwards {
        /// Nanoseconds before.
        before: i64,
        /// Nanoseconds now.
        now: i64,
    },
    /// Two INSTRUCTION events in a row.
    InstructionTwice,
    /// A checkpoint that reads a clock, the kind, without the clock after it.
    ClockMissing(Kind),
    /// CP_INIT is not among the first events.
    InitLate,
    /// CP_INIT occurs again.
    InitTwice,
    /// An event of the guest's processor, with an event before it, the kind, and no INSTRUCTION
    /// between them.
    InstructionMissing(Kind),
    /// A checkpoint, the kind, comes again without the one that takes turns with it.
    TurnLeftOut(Kind),
    /// An input, the kind, without a further input or INPUT_SYNC after it.
    InputSyncMissing(Kind),
    /// An asynchronous event names another checkpoint than the one before it.
    OtherCheckpoint {
        /// The checkpoint that it names.
        named: u8,
        /// The one before it.
        last: u8,
    },
    /// Bytes follow END.
    BytesAfterEnd,
    /// The length in the event before may be wrong: the next one is invalid.
    DoubtfulLength,
}

impl Defect {
    /// Returns whether the defect speaks against the layout under which the event was read.
    ///
    /// A clock may have been set back, and a full ring is normal.
    pub const fn contradicts_layout(&self) -> bool {
        !matches!(
            self,
            Self::FullRing(_)
                | Self::ClockBackwards { .. }
                | Self::FilterGap { .. }
                | Self::BlockMissing { .. }
                | Self::TurnLeftOut(_)
                | Self::InstructionPattern { .. }
        )
    }

    /// Returns whether the event shows damage that may have begun before it. No event of a sound
    /// log is irregular; a clock that was set back is, until the events after it are seen. A count
    /// that breaks a row is damaged alone, since the row goes on after it.
    pub const fn is_irregular(&self) -> bool {
        !matches!(self, Self::FullRing(_) | Self::BytesAfterEnd | Self::InstructionPattern { .. })
    }

    /// Returns whether the log is damaged at the event, so that a user may want to drop what
    /// follows.
    pub const fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::UnknownEvent(_)
                | Self::InputKind(_)
                | Self::KeyKind(_)
                | Self::Length { .. }
                | Self::Key(_)
                | Self::Pointer(_)
                | Self::Device(_)
                | Self::Filter(_)
                | Self::InstructionZero
                | Self::InstructionRange(_)
                | Self::InstructionRate { .. }
                | Self::InstructionTwice
                | Self::TurnLeftOut(_)
                | Self::InitTwice
                | Self::BottomHalfId { .. }
                | Self::BlockId { .. }
                | Self::BlockTwice(_)
                | Self::Samples(_)
                | Self::AsyncCheckpoint(_)
                | Self::WriteOffset(_)
                | Self::ReadErrorSign(_)
        )
    }

    /// Returns whether both are the same contradiction, whatever their values.
    pub fn is_same_kind(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// A defect at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Number of the event, from 0.
    pub number: u64,
    /// Its kind, if it is known.
    pub kind: Option<Kind>,
    /// Its bytes.
    pub span: Span,
    /// The defect.
    pub defect: Defect,
    /// Defects shortly before that probably have the same cause, the earliest first.
    pub earlier: Vec<Self>,
}

/// Returns the first value of an event that is out of range.
pub fn find_in_event(event: &Event, layout: &Layout) -> Option<Defect> {
    let check_checkpoint =
        |number: u8| check_range("checkpoint", number.into(), to_u64(layout.checkpoint_count()));
    if let Some(defect) = event.checkpoint.and_then(check_checkpoint) {
        return Some(Defect::AsyncCheckpoint(defect));
    }
    let samples = |field, value| {
        check_range(field, value, range::SAMPLES.saturating_add(1)).map(Defect::Samples)
    };
    match &event.value {
        Value::Row(_, numbers) => find_in_row(event.kind, numbers),
        Value::Input(_, fields, numbers) => {
            let mut fields = fields.iter().zip(numbers);
            fields.find_map(|(field, number)| find_in_input(field, *number, layout))
        }
        Value::AudioOut(played) => samples("played", *played),
        Value::AudioIn { recorded, position, .. } => samples("recorded", *recorded)
            .or_else(|| samples("write position", position.unwrap_or(0))),
    }
}

fn find_in_row(kind: Kind, numbers: &Numbers) -> Option<Defect> {
    match (kind, *numbers) {
        (Kind::Instruction, [0, ..]) => Some(Defect::InstructionZero),
        (Kind::Instruction, [count, ..]) if count > range::INSTRUCTIONS => {
            Some(Defect::InstructionRange(count))
        }
        (Kind::Async(Async::CharRead), [device, ..]) if device >= range::DEVICES => {
            Some(Defect::Device(device))
        }
        (Kind::Async(Async::Net), [filter, ..]) if filter >= range::DEVICES => {
            Some(Defect::Filter(filter))
        }
        (Kind::Async(Async::Net), [_, flags, ..]) if flags > range::NET_FLAGS => {
            Some(Defect::NetFlags(flags))
        }
        (Kind::CharWrite, [_, offset, ..]) if offset > range::ARRAY => {
            Some(Defect::WriteOffset(offset))
        }
        (Kind::CharWrite, [result, offset, ..]) if signed_half(result) > 0 && result != offset => {
            Some(Defect::WriteResult { result, offset })
        }
        (Kind::CharReadAllError, [code, ..]) if signed_half(code) >= 0 => {
            Some(Defect::ReadErrorSign(signed_half(code)))
        }
        (Kind::Random, [result, ..]) if !matches!(signed_half(result), 0 | -1) => {
            Some(Defect::RandomResult(signed_half(result)))
        }
        _ => None,
    }
}

fn check_range(field: &'static str, value: u64, limit: u64) -> Option<OutOfRange> {
    (value >= limit).then_some(OutOfRange { field, value, limit })
}

fn find_in_input(field: &Field, number: u64, layout: &Layout) -> Option<Defect> {
    let check = |limit| check_range(field.label, number, limit);
    let pointer = |limit: u32| check(limit.into()).map(Defect::Pointer);
    match (field.label, layout.keys) {
        ("key number", _) => check(range::KEY_NUMBERS).map(Defect::Key),
        ("qcode", Keys::Values { qcodes }) => check(qcodes.into()).map(Defect::Key),
        ("keycode", _) => check(range::LINUX_KEYS.into()).map(Defect::Key),
        ("button", _) => pointer(layout.buttons),
        ("axis", _) => pointer(range::AXES),
        ("touch kind", _) => pointer(range::TOUCHES),
        ("down", _) if number > 1 => Some(Defect::Down(number)),
        _ => None,
    }
}

/// Returns the defect of bytes that are not an event, or `None` for an event that is only
/// truncated.
pub fn find_in_fault(fault: &Fault) -> Option<Defect> {
    let unknown = |field, value: u8| {
        Defect::UnknownEvent(OutOfRange { field, value: value.into(), limit: 0 })
    };
    Some(match fault.cause {
        FaultKind::Id(id) => unknown("id", id),
        FaultKind::AsyncKind(kind) => unknown("async kind", kind),
        FaultKind::InputKind(kind) => Defect::InputKind(kind),
        FaultKind::KeyKind(kind) => Defect::KeyKind(kind),
        FaultKind::Short { plausible: true, .. } => return None,
        FaultKind::Short { label, needed, left, plausible: false } => {
            Defect::Length { label, needed, left }
        }
    })
}
