//! Decodes one event: u8 id and payload, of every kind and layout.
//!
//! ```text
//!  | id u8 | payload |                                  the fields are those of `layout`
//!  | 3 u8 | checkpoint u8 | kind u8 | payload |         asynchronous events through 7.0
//! ```
//!
//! AUDIO_IN before 11.0 is ambiguous: if as many samples were recorded as the ring holds, the
//! writer's loop ends before it begins and writes none of them, and the log does not contain the
//! size of the ring. The decoder takes the reading under which more of the following events are
//! complete.

use crate::formats::qemu::decode::event::{
    Event, FILE, Fault, FaultKind, Numbers, SAMPLE_LEN, Value,
};
use crate::formats::qemu::layout::{
    Audio, FIELDS_MAX, Field, Form, Keys, Kind, LAYOUTS, Layout, Payload, input, range,
};
use crate::kit::cursor::{Cursor, Order};
use crate::kit::field_log::FieldLog;
use crate::kit::source::Source;
use crate::kit::span::Span;

/// Bytes that contain the fixed part of any event: a touch after an ASYNC id takes 39.
const FIXED_MAX: u64 = 48;
/// Events to look at to decide whether an AUDIO_IN has samples.
const LOOK_AHEAD: u32 = 16;

/// A lower bound of the size of the ring that AUDIO_IN is recorded from: the ring holds more
/// samples than this.
pub type RingAbove = u64;

/// Decodes events of one layout.
#[derive(Clone, Copy, Debug)]
pub struct Decoder<'a> {
    source: &'a Source<'a>,
    layout: &'static Layout,
    ring: Ring,
}

/// How AUDIO_IN is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ring {
    /// By the events that follow.
    LookAhead,
    /// While looking ahead: the ring holds more samples than any event counts.
    Larger,
    /// While looking ahead: the ring holds this many samples.
    Holds(u64),
}

/// The state of one event that is being decoded.
struct Partial<'b> {
    cursor: Cursor<'b>,
    /// The kind, as soon as it is known.
    kind: Option<Kind>,
    checkpoint: Option<u8>,
    /// Bytes of an array after the cursor.
    array_len: u64,
}

impl<'a> Decoder<'a> {
    /// A decoder of layout `number`, or of the newest one if `number` is out of range.
    pub fn new(source: &'a Source<'a>, number: usize) -> Self {
        let [.., last] = &LAYOUTS;
        Self { source, layout: LAYOUTS.get(number).unwrap_or(last), ring: Ring::LookAhead }
    }

    /// Returns a decoder of the same layout for other bytes.
    pub const fn of<'b>(&self, source: &'b Source<'b>) -> Decoder<'b> {
        Decoder { source, layout: self.layout, ring: self.ring }
    }

    /// Returns the layout.
    pub const fn layout(&self) -> &'static Layout {
        self.layout
    }

    /// Returns the source.
    pub const fn source(&self) -> &'a Source<'a> {
        self.source
    }

    /// Decodes the event at `at`. Errors: the bytes there are not a complete event.
    pub fn event(&self, at: u64, ring: RingAbove) -> Result<Event, Fault> {
        let head = self.source.read(at, at.saturating_add(FIXED_MAX));
        self.parse(Cursor::new(&head, FILE, at, Order::Big), ring)
    }

    /// Notes the fields of an event, and the bytes of its array.
    pub fn log_fields(&self, event: &Event, log: &FieldLog) {
        let head = self.source.read(event.start, event.start.saturating_add(FIXED_MAX));
        let cursor = Cursor::new(&head, FILE, event.start, Order::Big).with_log(log);
        // The event is known, so no later one has to decide whether samples follow.
        let _event = self.parse(cursor, RingAbove::MAX);
        let array =
            Span::new(FILE, event.end.saturating_sub(event.value.array().unwrap_or(0)), event.end);
        let shown = array.end.min(array.start.saturating_add(FIXED_MAX));
        log.push_bytes("array", array, &self.source.read(array.start, shown));
    }

    fn parse(&self, cursor: Cursor<'_>, ring: RingAbove) -> Result<Event, Fault> {
        let at = cursor.position();
        let mut partial = Partial { cursor, kind: None, checkpoint: None, array_len: 0 };
        let decoded = self
            .kind(&mut partial)
            .and_then(|kind| Ok((kind, self.payload(kind, &mut partial, ring)?)));
        match decoded {
            Ok((kind, value)) => {
                let end = partial.cursor.position().saturating_add(partial.array_len);
                Ok(Event { kind, start: at, end, checkpoint: partial.checkpoint, value })
            }
            Err(cause) => Err(Fault { kind: partial.kind, start: at, cause }),
        }
    }

    /// The kind of the event, from its id or, through 7.0, from the bytes after an ASYNC id.
    fn kind(&self, partial: &mut Partial<'_>) -> Result<Kind, FaultKind> {
        let id = partial.cursor.u8("id")?;
        let known = self.layout.kind(id).filter(|kind| *kind != Kind::Reserved);
        let mut kind = known.ok_or(FaultKind::Id(id))?;
        partial.kind = Some(kind);
        if kind == Kind::AsyncGroup {
            partial.checkpoint = Some(partial.cursor.u8("checkpoint")?);
            let number = partial.cursor.u8("async kind")?;
            let found = self.layout.async_kinds.get(usize::from(number));
            kind = Kind::Async(*found.ok_or(FaultKind::AsyncKind(number))?);
            partial.kind = Some(kind);
        }
        Ok(kind)
    }

    fn payload(
        &self,
        kind: Kind,
        partial: &mut Partial<'_>,
        ring: RingAbove,
    ) -> Result<Value, FaultKind> {
        let cursor = &mut partial.cursor;
        Ok(match kind.payload() {
            Payload::Row(fields) => Value::Row(fields, self.row(fields, partial)?),
            Payload::Input => self.input(partial)?,
            Payload::AudioOut => Value::AudioOut(match self.layout.audio {
                Audio::Narrow => cursor.u32("played")?.into(),
                Audio::Wide | Audio::Unplaced => cursor.u64("played")?,
            }),
            Payload::AudioIn => self.audio_in(partial, ring)?,
        })
    }

    fn row(&self, fields: &[Field], partial: &mut Partial<'_>) -> Result<Numbers, FaultKind> {
        let mut numbers = [0; FIELDS_MAX];
        for (field, number) in fields.iter().zip(&mut numbers) {
            *number = match field.form {
                Form::U8 => partial.cursor.u8(field.label)?.into(),
                Form::U32 | Form::I32 => partial.cursor.u32(field.label)?.into(),
                Form::U64 | Form::I64 => partial.cursor.u64(field.label)?,
                Form::Array => self.array_len(field, partial)?,
            };
        }
        Ok(numbers)
    }

    /// The length of an array whose bytes are all in the file.
    fn array_len(&self, field: &Field, partial: &mut Partial<'_>) -> Result<u64, FaultKind> {
        let needed = u64::from(partial.cursor.u32(field.label)?);
        let left = self.source.len().saturating_sub(partial.cursor.position());
        partial.array_len = needed;
        if needed > left {
            let plausible = needed <= range::ARRAY;
            return Err(FaultKind::Short { label: "array", needed, left, plausible });
        }
        Ok(needed)
    }

    fn input(&self, partial: &mut Partial<'_>) -> Result<Value, FaultKind> {
        let kind = partial.cursor.u32("input kind")?;
        let (word, fields) = match kind {
            _ if kind >= self.layout.inputs => return Err(FaultKind::InputKind(kind)),
            0 => ("key", self.key(&mut partial.cursor)?),
            1 => ("button", input::BUTTON),
            2 => ("relative", input::POINTER),
            3 => ("absolute", input::POINTER),
            _ => ("touch", input::TOUCH),
        };
        Ok(Value::Input(word, fields, self.row(fields, partial)?))
    }

    fn key(&self, cursor: &mut Cursor<'_>) -> Result<&'static [Field], FaultKind> {
        Ok(match self.layout.keys {
            Keys::Linux => input::KEYCODE,
            Keys::Values { .. } => match cursor.u32("key value kind")? {
                0 => input::KEY_NUMBER,
                1 => input::QCODE,
                other => return Err(FaultKind::KeyKind(other)),
            },
        })
    }

    fn audio_in(&self, partial: &mut Partial<'_>, ring: RingAbove) -> Result<Value, FaultKind> {
        let cursor = &mut partial.cursor;
        let (recorded, position) = match self.layout.audio {
            Audio::Narrow => {
                let recorded = cursor.u32("recorded")?.into();
                (recorded, Some(cursor.u32("write position")?.into()))
            }
            Audio::Wide => (cursor.u64("recorded")?, Some(cursor.u64("write position")?)),
            Audio::Unplaced => (cursor.u64("recorded")?, None),
        };
        let samples = cursor.position();
        let left = self.source.len().saturating_sub(samples);
        let needed = recorded.saturating_mul(SAMPLE_LEN);
        // The write position lies in the ring; one beyond the count shows that the ring is larger.
        let may_be_full = recorded > ring && position.is_some_and(|at| at < recorded);
        let full_ring = match self.ring {
            Ring::LookAhead if may_be_full && recorded <= range::SAMPLES => {
                let without = self.look_ahead(samples, Ring::Holds(recorded));
                let with = self.look_ahead(samples.saturating_add(needed), Ring::Larger);
                // Samples do not read as so many events by chance; a place in the middle of events
                // may be the beginning of one.
                (needed > left && without.score > 1)
                    || (needed <= left
                        && (without.score > with.score || without.events == LOOK_AHEAD))
            }
            Ring::Holds(held) => may_be_full && recorded == held,
            Ring::LookAhead | Ring::Larger => false,
        };
        if full_ring {
            return Ok(Value::AudioIn { recorded, position, full_ring });
        }
        if needed > left {
            let plausible = recorded <= range::SAMPLES;
            return Err(FaultKind::Short { label: "samples", needed, left, plausible });
        }
        partial.array_len = needed;
        Ok(Value::AudioIn { recorded, position, full_ring: false })
    }

    /// Counts the complete events that follow one another from `at`, up to [`LOOK_AHEAD`]. Samples
    /// of silence are zeros, and zeros could be INSTRUCTION events of no instruction, one after the
    /// other.
    fn look_ahead(&self, at: u64, ring: Ring) -> Ahead {
        let decoder = Self { ring, ..*self };
        let mut at = at;
        let mut last = None;
        for events in 0..LOOK_AHEAD {
            match decoder.event(at, 0) {
                Ok(event) if event.count() == Some(0) => return Ahead::seen(events),
                Ok(event) if event.kind == Kind::Instruction && last == Some(event.kind) => {
                    return Ahead::seen(events);
                }
                Ok(event) if event.kind == Kind::End => {
                    return Ahead { score: LOOK_AHEAD, events };
                }
                Ok(event) => {
                    at = event.end;
                    last = Some(event.kind);
                }
                Err(fault) => {
                    let truncated = matches!(fault.cause, FaultKind::Short { plausible: true, .. });
                    return Ahead { score: if truncated { LOOK_AHEAD } else { events }, events };
                }
            }
        }
        Ahead::seen(LOOK_AHEAD)
    }
}

/// The events that follow one another from a place.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    /// Their number; to reach END or the end of the file is as good as the largest one.
    score: u32,
    /// Their number.
    events: u32,
}

impl Ahead {
    const fn seen(events: u32) -> Self {
        Self { score: events, events }
    }
}

/// Updates the lower bound of the ring size after an event.
pub fn ring_above(known: RingAbove, value: &Value) -> RingAbove {
    match value {
        // With its samples written, fewer were recorded than the ring holds.
        Value::AudioIn { recorded, position, full_ring: false } => {
            known.max(*recorded).max(position.unwrap_or(0))
        }
        // The ring holds exactly as many as were recorded.
        Value::AudioIn { recorded, full_ring: true, .. } => known.max(recorded.saturating_sub(1)),
        _ => known,
    }
}
