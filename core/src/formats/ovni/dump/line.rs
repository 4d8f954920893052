//! One event as a line of text or of JSON. Fields have the names of the event lists of ovni.

use std::fmt::Write as _;

use crate::formats::ovni::decode::event_walk::Event;
use crate::formats::ovni::dump::{Placed, Style};
use crate::formats::ovni::layout::{self, Effect, EventRow, Payload};
use crate::kit::json::JsonLine;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::text::{Untrusted, hex};
use crate::kit::words::byte_count;

/// Bytes of a payload without known fields that are shown.
const SHOWN_MAX: usize = 64;
/// Bytes of the value of a hardware counter.
const COUNTER_LEN: usize = 8;

/// The value of a field.
enum Value<'e> {
    Number(i128),
    Text(&'e [u8]),
    /// The values of hardware counters.
    Counters(String),
}

/// Appends the line of an event.
pub(super) fn write(placed: &Placed<'_, '_>, style: Style, text: &mut String) {
    match style {
        Style::Events => write_text(placed, text),
        Style::Ovnidump => write_bytes(placed, text),
        Style::Json => write_json(placed, text),
    }
}

/// Appends the clock, the code and the stream, as `ovnidump` does.
fn write_start(placed: &Placed<'_, '_>, text: &mut String) {
    let (clock, name) = (placed.event.clock.cast_signed(), placed.event.name());
    let _infallible = write!(text, "{clock:>10}  {name}  {}  ", placed.stream);
}

fn write_bytes(placed: &Placed<'_, '_>, text: &mut String) {
    write_start(placed, text);
    for byte in &*placed.payload() {
        let _infallible = write!(text, ":{byte:02x}");
    }
    text.push('\n');
}

fn write_text(placed: &Placed<'_, '_>, text: &mut String) {
    write_start(placed, text);
    let event = placed.event;
    let mut between = "";
    match find_row(event) {
        Some(row) => each_field(row, event, |name, value| {
            let _infallible = match value {
                Value::Number(value) => write!(text, "{between}{name}={value}"),
                Value::Text(value) => write!(text, "{between}{name}={:?}", Untrusted(value)),
                Value::Counters(values) => write!(text, "{between}{name}={values}"),
            };
            between = " ";
        }),
        None => {
            let _infallible = write!(text, "{}", describe_unknown(event));
        }
    }
    while text.ends_with(' ') {
        text.pop();
    }
    text.push('\n');
}

fn write_json(placed: &Placed<'_, '_>, text: &mut String) {
    let event = placed.event;
    let span = Span::new(placed.walk.layer(), event.at, event.end());
    let mut line = JsonLine::begin(text, span, &event.name());
    line.safe_text("stream", placed.stream);
    line.number("number", placed.number);
    line.number("clock", event.clock);
    match find_row(event) {
        Some(row) => each_field(row, event, |name, value| match value {
            Value::Number(value) => line.number(name, value),
            Value::Text(value) => line.text(name, value),
            Value::Counters(values) => line.safe_text(name, &values),
        }),
        None => line.safe_text("payload", &describe_unknown(event)),
    }
    line.end();
}

/// Returns the row of an event in the version that has its payload.
fn find_row(event: &Event<'_>) -> Option<&'static EventRow> {
    let row = event.row.and_then(layout::row_at)?;
    let has_fields = match row.payload {
        Payload::Exact(len) => !event.is_jumbo() && event.payload_len() == u64::from(len),
        Payload::Jumbo(len) => event.is_jumbo() && event.payload_len() >= u64::from(len),
    };
    let older = || layout::row_with_payload(event.code, event.payload_len());
    if has_fields { Some(row) } else { older().filter(|_| !event.is_jumbo()) }
}

/// Passes each field of the signature to `each`: `VTc(u32 taskid, u32 typeid)`.
fn each_field<'e>(
    row: &'static EventRow,
    event: &'e Event<'_>,
    mut each: impl FnMut(&'static str, Value<'e>),
) {
    if row.effect == Effect::Counters {
        let values = event.payload.chunks_exact(COUNTER_LEN).filter_map(<[u8]>::first_chunk);
        let values: Vec<String> =
            values.map(|value| i64::from_le_bytes(*value).to_string()).collect();
        return each("values", Value::Counters(values.join(",")));
    }
    let (_, fields) = row.signature.split_once('(').unwrap_or_default();
    let fields = fields.trim_end_matches(')').split(", ").filter_map(|field| field.split_once(' '));
    let mut at = 0_usize;
    for (form, name) in fields {
        let (value, len) = match form {
            "u32" => (Value::Number(event.u32_at(at).into()), 4),
            "i32" => (Value::Number(event.i32_at(at).into()), 4),
            "u64" => (Value::Number(event.i64_at(at).cast_unsigned().into()), 8),
            "i64" => (Value::Number(event.i64_at(at).into()), 8),
            _ => {
                let text = event.payload.get(at..).unwrap_or_default();
                let len = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
                (Value::Text(text.get(..len).unwrap_or_default()), len)
            }
        };
        at = at.saturating_add(len);
        each(name, value);
    }
}

/// Returns the first bytes of a payload without known fields: `0102.. (80 bytes)`.
fn describe_unknown(event: &Event<'_>) -> String {
    let shown = event.payload.get(..SHOWN_MAX.min(event.payload.len())).unwrap_or_default();
    let (len, digits) = (event.payload_len(), hex(shown));
    if to_u64(shown.len()) < len { format!("{digits}.. ({})", byte_count(len)) } else { digits }
}
