//! The types of a decoded event, and of bytes that are not an event.

use crate::formats::qemu::layout::{Async, Checkpoint, FIELDS_MAX, Field, Form, Kind, Payload};
use crate::kit::cursor::ReadError;
use crate::kit::span::{Layer, Span};

/// The stored bytes of the log.
pub const FILE: Layer = Layer::stored(0);
/// Bytes of one AUDIO_IN sample: left and right, u64 each.
pub const SAMPLE_LEN: u64 = 16;

/// A complete event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its kind; for an asynchronous event the asynchronous kind.
    pub kind: Kind,
    /// Offset of its id.
    pub start: u64,
    /// Offset after its payload.
    pub end: u64,
    /// Number of the checkpoint that an asynchronous event belongs to, through 7.0.
    pub checkpoint: Option<u8>,
    /// Its payload without the bytes of arrays.
    pub value: Value,
}

impl Event {
    /// Returns the bytes of the event.
    pub const fn span(&self) -> Span {
        Span::new(FILE, self.start, self.end)
    }

    /// Returns the numbers of a payload that is a row, and zeros after them.
    pub const fn numbers(&self) -> Numbers {
        match self.value {
            Value::Row(_, numbers) => numbers,
            _ => [0; FIELDS_MAX],
        }
    }

    /// Returns the instructions that the event stands for, if it is an INSTRUCTION.
    pub fn count(&self) -> Option<u64> {
        let [count, ..] = self.numbers();
        (self.kind == Kind::Instruction).then_some(count)
    }

    /// Returns the instructions that the event stands for.
    pub fn instructions(&self) -> u64 {
        self.count().unwrap_or(0)
    }

    /// Whether the event is zeros: QEMU writes no INSTRUCTION that counts 0, and its id is 0.
    pub fn is_zeros(&self) -> bool {
        self.count() == Some(0)
    }

    /// Returns the time of a clock in nanoseconds.
    pub fn time(&self) -> Option<i64> {
        let [time, ..] = self.numbers();
        self.kind.is_clock().then_some(time.cast_signed())
    }
}

/// Returns a number of four bytes with its sign.
pub fn signed_half(number: u64) -> i32 {
    u32::try_from(number).unwrap_or(u32::MAX).cast_signed()
}

/// The numbers of a row; of an array its length in bytes.
pub type Numbers = [u64; FIELDS_MAX];

/// The payload of an event. Of an array only the length `len` is kept, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// The fields that the kind declares.
    Row(&'static [Field], Numbers),
    /// INPUT: the kind of input in words, and its fields.
    Input(&'static str, &'static [Field], Numbers),
    /// AUDIO_OUT: samples played.
    AudioOut(u64),
    /// AUDIO_IN.
    AudioIn {
        /// Samples recorded.
        recorded: u64,
        /// Write position in the ring, before 11.0.
        position: Option<u64>,
        /// Whether the ring was full, so that no sample is written.
        full_ring: bool,
    },
}

impl Value {
    /// Returns the length of the array at the end of the event in bytes, if it has one.
    pub fn array(&self) -> Option<u64> {
        match self {
            Self::Row(fields, numbers) => {
                let mut fields = fields.iter().zip(numbers);
                fields.find(|(field, _)| field.form == Form::Array).map(|(_, len)| *len)
            }
            Self::AudioIn { recorded, full_ring: false, .. } => {
                Some(recorded.saturating_mul(SAMPLE_LEN))
            }
            _ => None,
        }
    }
}

/// Bytes that are not a complete event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind, if the id is known.
    pub kind: Option<Kind>,
    /// Offset of the id.
    pub start: u64,
    /// The reason.
    pub cause: FaultKind,
}

impl Fault {
    /// Returns the id and the fields before the invalid one, clipped to a file of `len` bytes.
    pub fn span(&self, len: u64) -> Span {
        let bytes = match self.cause {
            FaultKind::Id(_) => 1,
            FaultKind::AsyncKind(_) => 3,
            // The longest event without an array that can be truncated: id, u32, u64.
            _ => 13,
        };
        Span::new(FILE, self.start, self.start.saturating_add(bytes).min(len))
    }
}

/// The reason why bytes are not a complete event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The id is unknown.
    Id(u8),
    /// The asynchronous kind is unknown.
    AsyncKind(u8),
    /// The input kind is unknown, and with it the length of the event.
    InputKind(u32),
    /// The kind of key value is unknown, and with it the length of the event.
    KeyKind(u32),
    /// The event needs more bytes than the file has.
    Short {
        /// The truncated field.
        label: &'static str,
        /// Length of the field in bytes.
        needed: u64,
        /// Bytes that the file has for it.
        left: u64,
        /// Whether a writer could have written it: true for fields of fixed size, and for arrays
        /// up to the largest size that occurs.
        plausible: bool,
    },
}

impl From<ReadError> for FaultKind {
    fn from(error: ReadError) -> Self {
        let ReadError { label, needed, left } = error;
        Self::Short { label, needed, left: left.len(), plausible: true }
    }
}

/// Returns the length in bytes, id included, of the kinds that the fast loop handles.
pub fn fixed_len(kind: Kind) -> Option<usize> {
    let is_fast = match kind {
        // CP_INIT occurs once; the slow path looks for another one.
        Kind::Checkpoint(Checkpoint::Init) => false,
        Kind::Instruction | Kind::Interrupt | Kind::Exception | Kind::Checkpoint(_) => true,
        Kind::Shutdown(_) | Kind::Async(Async::InputSync) => true,
        _ => kind.is_clock(),
    };
    let Payload::Row(fields) = kind.payload() else { return None };
    is_fast.then(|| fields.iter().map(Field::size).fold(1, usize::saturating_add))
}
