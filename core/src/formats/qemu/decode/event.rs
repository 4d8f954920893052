//! The types of a decoded event, and of bytes that are not an event.

use crate::formats::qemu::layout::{Checkpoint, Kind};
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

    /// Returns the instructions that the event stands for.
    pub fn instructions(&self) -> u64 {
        match self.value {
            Value::Instructions(count) => count.into(),
            _ => 0,
        }
    }
}

/// The payload of an event. Of an array only the length `len` is kept, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// No payload.
    None,
    /// INSTRUCTION: instructions since the last event.
    Instructions(u32),
    /// A clock, in nanoseconds.
    Time(i64),
    /// BH, BH_ONESHOT and BLOCK: id of the request.
    Id(u64),
    /// INPUT.
    Input(Input),
    /// CHAR_READ.
    CharRead {
        /// Index of the device on the command line.
        device: u8,
        /// Bytes that it read.
        len: u32,
    },
    /// NET.
    Net {
        /// Index of the filter on the command line.
        filter: u8,
        /// 1 for a raw packet.
        flags: u32,
        /// Bytes of the packet.
        len: u32,
    },
    /// CHAR_WRITE.
    CharWrite {
        /// Result of the write.
        result: u32,
        /// Number of bytes written.
        offset: u32,
    },
    /// CHAR_READ_ALL.
    ReadAll {
        /// Number of bytes read.
        len: u32,
    },
    /// CHAR_READ_ALL_ERROR.
    ReadAllError(u32),
    /// RANDOM.
    Random {
        /// Result of the call.
        result: u32,
        /// Number of bytes for the guest.
        len: u32,
    },
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
    /// Returns the length of the array at the end of the event in bytes; 0 without one.
    pub fn array_len(&self) -> u64 {
        match self {
            Self::CharRead { len, .. }
            | Self::Net { len, .. }
            | Self::ReadAll { len }
            | Self::Random { len, .. } => u64::from(*len),
            Self::AudioIn { recorded, full_ring: false, .. } => recorded.saturating_mul(SAMPLE_LEN),
            _ => 0,
        }
    }

    /// Returns whether the length of the event depends on a length field.
    pub const fn has_array(&self) -> bool {
        matches!(
            self,
            Self::CharRead { .. }
                | Self::Net { .. }
                | Self::ReadAll { .. }
                | Self::Random { .. }
                | Self::AudioIn { full_ring: false, .. }
        )
    }
}

/// An input event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A key.
    Key {
        /// The key.
        key: Key,
        /// 0 for a release, 1 for a press.
        down: u8,
    },
    /// A pointer button.
    Button {
        /// Index of the button.
        button: u32,
        /// 0 for a release, 1 for a press.
        down: u8,
    },
    /// A relative or absolute pointer position.
    Pointer {
        /// Whether the value is a distance rather than a position.
        relative: bool,
        /// 0 for x, 1 for y.
        axis: u32,
        /// Distance or position.
        value: i64,
    },
    /// A touch.
    Touch {
        /// 0 to 4: begin, update, end, cancel, data.
        kind: u32,
        /// Slot of the finger, and its tracking id.
        finger: [i64; 2],
        /// 0 for x, 1 for y.
        axis: u32,
        /// Position.
        value: i64,
    },
}

/// A key, by one of three encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// By key number.
    Number(u64),
    /// By qcode.
    Qcode(u32),
    /// By Linux keycode.
    Linux(u32),
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
    match kind {
        Kind::Instruction => Some(5),
        Kind::ClockHost | Kind::ClockVirtualRt => Some(9),
        // CP_INIT occurs once; the slow path looks for another one.
        Kind::Checkpoint(Checkpoint::Init) => None,
        Kind::Interrupt | Kind::Exception | Kind::Checkpoint(_) => Some(1),
        _ => None,
    }
}
