//! One event: u8 id and payload. The payloads of all kinds and layouts are here.
//!
//! ```text
//!  | id u8 | payload |           INSTRUCTION: u32       CLOCK, BH, BLOCK: u64
//!                                CHAR_READ: u8, array   NET: u8, u32, array   array: u32 and bytes
//!  | 3 u8 | checkpoint u8 | kind u8 | payload |         asynchronous events through 7.0
//! ```
//!
//! AUDIO_IN before 11.0 has a trap: where as many samples were recorded as the ring holds, the
//! writer's loop ends before it begins and none is written, and the size of the ring is not in the
//! log. What follows decides: the reading under which more events are whole.

use crate::formats::qemu::layout::{Async, Audio, Checkpoint, Keys, Kind, LAYOUTS, Layout, range};
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};

/// Bytes that hold the fixed part of any event: a touch behind an ASYNC id takes 39.
const FIXED_MAX: u64 = 48;
/// Bytes of one AUDIO_IN sample: left and right, u64 each.
const SAMPLE_LEN: u64 = 16;
/// Events that are looked at to learn whether an AUDIO_IN has samples.
const AHEAD: u32 = 16;

/// The file.
pub const FILE: Layer = Layer::stored(0);

/// A whole event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its kind; of an asynchronous one that kind.
    pub kind: Kind,
    /// Offset of its id.
    pub start: u64,
    /// Offset after its payload.
    pub end: u64,
    /// Number of the checkpoint that an asynchronous event belongs to, through 7.0.
    pub checkpoint: Option<u8>,
    /// Its payload, arrays apart.
    pub value: Value,
}

impl Event {
    /// Its place.
    pub const fn span(&self) -> Span {
        Span::new(FILE, self.start, self.end)
    }
}

/// The payload of an event. Arrays are left where they are; `len` is theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// No payload.
    None,
    /// INSTRUCTION: instructions since the last event.
    Instructions(u32),
    /// A clock, in nanoseconds.
    Time(i64),
    /// BH, BH_ONESHOT and BLOCK: which request.
    Id(u64),
    /// INPUT.
    Input(Input),
    /// CHAR_READ.
    CharRead {
        /// Number of the device on the command line.
        device: u8,
        /// Bytes that it read.
        len: u32,
    },
    /// NET.
    Net {
        /// Number of the filter on the command line.
        filter: u8,
        /// 1 for a raw packet.
        flags: u32,
        /// Bytes of the packet.
        len: u32,
    },
    /// CHAR_WRITE.
    CharWrite {
        /// What the write returned.
        result: u32,
        /// Bytes that were written.
        offset: u32,
    },
    /// CHAR_READ_ALL.
    ReadAll {
        /// Bytes that were read.
        len: u32,
    },
    /// CHAR_READ_ALL_ERROR.
    ReadAllError(u32),
    /// RANDOM.
    Random {
        /// What the call returned.
        result: u32,
        /// Bytes that the guest got.
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
        /// The ring was filled, so that no sample is written.
        full_ring: bool,
    },
}

impl Value {
    /// Whether the event says its own length.
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
        /// Which.
        key: Key,
        /// 0 when it is let go.
        down: u8,
    },
    /// A button.
    Button {
        /// Which.
        button: u32,
        /// 0 when it is let go.
        down: u8,
    },
    /// A pointer moved, or stands somewhere.
    Pointer {
        /// 0 across, 1 down.
        axis: u32,
    },
    /// A touch.
    Touch {
        /// Begin, update, end, cancel, data.
        kind: u32,
        /// 0 across, 1 down.
        axis: u32,
    },
}

/// Which key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// By number.
    Number(u64),
    /// By qcode.
    Qcode(u32),
    /// By keycode of Linux.
    Linux(u32),
}

/// Why no whole event begins at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind, if its id is known.
    pub kind: Option<Kind>,
    /// Offset of the id.
    pub start: u64,
    /// What is wrong.
    pub what: What,
}

/// What is wrong with bytes that are no event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// No event has the id.
    Id(u8),
    /// No asynchronous event has the kind.
    AsyncKind(u8),
    /// No input has the kind, so that its length is not known.
    InputKind(u32),
    /// No key has the kind of value, so that its length is not known.
    KeyKind(u32),
    /// The event needs more bytes than are left.
    Short {
        /// The field that is cut.
        label: &'static str,
        /// Bytes that the field needs.
        needed: u64,
        /// Bytes that are left for it.
        left: u64,
        /// Whether a writer could have meant it: fields of fixed size, and arrays up to a size
        /// that occurs.
        plausible: bool,
    },
}

/// What is known of the size of the ring that AUDIO_IN is recorded from: it holds more samples
/// than this.
pub type RingAbove = u64;

/// Reads events of one layout.
#[derive(Clone, Copy, Debug)]
pub struct Decoder<'a> {
    source: &'a Source<'a>,
    layout: &'static Layout,
    /// Whether `layout`'s ids may be guessed from what follows; off while that is looked at.
    look_ahead: bool,
}

impl<'a> Decoder<'a> {
    /// A decoder of layout `number`, the last one if there is none of that number.
    pub fn new(source: &'a Source<'a>, number: usize) -> Self {
        let [.., last] = &LAYOUTS;
        Self { source, layout: LAYOUTS.get(number).unwrap_or(last), look_ahead: true }
    }

    /// The layout.
    pub const fn layout(&self) -> &'static Layout {
        self.layout
    }

    /// The source.
    pub const fn source(&self) -> &'a Source<'a> {
        self.source
    }

    /// The event at `at`.
    pub fn event(&self, at: u64, ring: RingAbove) -> Result<Event, Fault> {
        let head = self.source.read(at, at.saturating_add(FIXED_MAX));
        let mut cursor = Cursor::new(&head, FILE, at, Order::Big);
        let mut kind = None;
        self.payload(&mut cursor, &mut kind, at, ring).map_err(|what| Fault {
            kind,
            start: at,
            what,
        })
    }

    fn payload(
        &self,
        cursor: &mut Cursor<'_>,
        known: &mut Option<Kind>,
        start: u64,
        ring: RingAbove,
    ) -> Result<Event, What> {
        let id = cursor.u8("id")?;
        let mut kind =
            self.layout.kind(id).filter(|kind| *kind != Kind::Reserved).ok_or(What::Id(id))?;
        *known = Some(kind);
        let mut checkpoint = None;
        if kind == Kind::AsyncGroup {
            checkpoint = Some(cursor.u8("checkpoint")?);
            let number = cursor.u8("async kind")?;
            let found = self.layout.async_kinds.get(usize::from(number));
            kind = Kind::Async(*found.ok_or(What::AsyncKind(number))?);
            *known = Some(kind);
        }
        let mut extra = 0;
        let value = match kind {
            Kind::Instruction => Value::Instructions(cursor.u32("count")?),
            Kind::ClockHost | Kind::ClockVirtualRt => {
                Value::Time(cursor.u64("clock")?.cast_signed())
            }
            Kind::Async(Async::Bh | Async::BhOneshot | Async::Block) => {
                Value::Id(cursor.u64("id")?)
            }
            Kind::Async(Async::Input) => Value::Input(self.input(cursor)?),
            Kind::Async(Async::CharRead) => {
                let device = cursor.u8("device")?;
                let len = self.array(cursor, &mut extra)?;
                Value::CharRead { device, len }
            }
            Kind::Async(Async::Net) => {
                let (filter, flags) = (cursor.u8("filter")?, cursor.u32("flags")?);
                let len = self.array(cursor, &mut extra)?;
                Value::Net { filter, flags, len }
            }
            Kind::CharWrite => {
                Value::CharWrite { result: cursor.u32("result")?, offset: cursor.u32("offset")? }
            }
            Kind::CharReadAll => Value::ReadAll { len: self.array(cursor, &mut extra)? },
            Kind::CharReadAllError => Value::ReadAllError(cursor.u32("error")?),
            Kind::Random => {
                let result = cursor.u32("result")?;
                let len = self.array(cursor, &mut extra)?;
                Value::Random { result, len }
            }
            Kind::AudioOut => Value::AudioOut(match self.layout.audio {
                Audio::Narrow => cursor.u32("played")?.into(),
                Audio::Wide | Audio::Unplaced => cursor.u64("played")?,
            }),
            Kind::AudioIn => self.audio_in(cursor, &mut extra, ring)?,
            Kind::Interrupt
            | Kind::Exception
            | Kind::AsyncGroup
            | Kind::Async(Async::InputSync)
            | Kind::Shutdown(_)
            | Kind::Reserved
            | Kind::Checkpoint(_)
            | Kind::End => Value::None,
        };
        let end = cursor.position().saturating_add(extra);
        Ok(Event { kind, start, end, checkpoint, value })
    }

    /// The length of an array that is there.
    fn array(&self, cursor: &mut Cursor<'_>, extra: &mut u64) -> Result<u32, What> {
        let len = cursor.u32("array length")?;
        let left = self.source.len().saturating_sub(cursor.position());
        *extra = u64::from(len);
        if *extra > left {
            let plausible = len <= range::ARRAY;
            return Err(What::Short { label: "array", needed: *extra, left, plausible });
        }
        Ok(len)
    }

    fn input(&self, cursor: &mut Cursor<'_>) -> Result<Input, What> {
        let kind = cursor.u32("input kind")?;
        if kind >= self.layout.inputs {
            return Err(What::InputKind(kind));
        }
        Ok(match kind {
            0 => {
                let key = match self.layout.keys {
                    Keys::Linux => Key::Linux(cursor.u32("keycode")?),
                    Keys::Values { .. } => match cursor.u32("key value kind")? {
                        0 => Key::Number(cursor.u64("key number")?),
                        1 => Key::Qcode(cursor.u32("qcode")?),
                        other => return Err(What::KeyKind(other)),
                    },
                };
                Input::Key { key, down: cursor.u8("down")? }
            }
            1 => Input::Button { button: cursor.u32("button")?, down: cursor.u8("down")? },
            2 | 3 => {
                let axis = cursor.u32("axis")?;
                cursor.u64("value")?;
                Input::Pointer { axis }
            }
            _ => {
                let kind = cursor.u32("touch kind")?;
                cursor.skip(2, 8, "slot and tracking id")?;
                let axis = cursor.u32("axis")?;
                cursor.u64("value")?;
                Input::Touch { kind, axis }
            }
        })
    }

    fn audio_in(
        &self,
        cursor: &mut Cursor<'_>,
        extra: &mut u64,
        ring: RingAbove,
    ) -> Result<Value, What> {
        let (recorded, position) = match self.layout.audio {
            Audio::Narrow => {
                let recorded = cursor.u32("recorded")?.into();
                (recorded, Some(cursor.u32("write position")?.into()))
            }
            Audio::Wide => (cursor.u64("recorded")?, Some(cursor.u64("write position")?)),
            Audio::Unplaced => (cursor.u64("recorded")?, None),
        };
        let left = self.source.len().saturating_sub(cursor.position());
        let needed = recorded.saturating_mul(SAMPLE_LEN);
        // The write position lies in the ring, so that it tells a ring that is larger.
        let may_be_full = recorded > ring && position.is_some_and(|at| at < recorded);
        if self.look_ahead && may_be_full && recorded <= range::SAMPLES {
            let behind = cursor.position();
            let without = self.sound_from(behind);
            let with = self.sound_from(behind.saturating_add(needed));
            if (needed > left && without > 1) || (needed <= left && without > with) {
                return Ok(Value::AudioIn { recorded, position, full_ring: true });
            }
        }
        if needed > left {
            let plausible = recorded <= range::SAMPLES;
            return Err(What::Short { label: "samples", needed, left, plausible });
        }
        *extra = needed;
        Ok(Value::AudioIn { recorded, position, full_ring: false })
    }

    /// How many events in a row, [`AHEAD`] at most, are whole from `at` on. To reach END or the
    /// end of the file is as good as any number.
    fn sound_from(&self, at: u64) -> u32 {
        let decoder = Self { look_ahead: false, ..*self };
        let mut at = at;
        for seen in 0..AHEAD {
            match decoder.event(at, 0) {
                Ok(Event { value: Value::Instructions(0), .. }) => return seen,
                Ok(event) if event.kind == Kind::End => return AHEAD,
                Ok(event) => at = event.end,
                Err(fault) => {
                    let torn = matches!(fault.what, What::Short { plausible: true, .. });
                    return if torn { AHEAD } else { seen };
                }
            }
        }
        AHEAD
    }
}

impl From<ReadError> for What {
    fn from(error: ReadError) -> Self {
        let ReadError { label, needed, left } = error;
        Self::Short { label, needed, left: left.len(), plausible: true }
    }
}

impl Checkpoint {
    /// Its number among the checkpoints of a layout, as ASYNC names it.
    pub fn number(self, layout: &Layout) -> Option<u8> {
        let first = layout.groups.iter().copied().flatten().find_map(|kind| match kind {
            Kind::Checkpoint(_) => layout.id(*kind),
            _ => None,
        })?;
        layout.id(Kind::Checkpoint(self))?.checked_sub(first)
    }
}

/// Bytes of an event without a payload of variable length, its id included; nothing for the
/// others.
pub fn fixed_len(kind: Kind) -> Option<usize> {
    match kind {
        Kind::Instruction => Some(5),
        Kind::ClockHost | Kind::ClockVirtualRt => Some(9),
        Kind::Interrupt | Kind::Exception | Kind::Checkpoint(_) => Some(1),
        _ => None,
    }
}

/// Instructions that an event stands for.
pub fn instructions(event: &Event) -> u64 {
    match event.value {
        Value::Instructions(count) => count.into(),
        _ => 0,
    }
}
