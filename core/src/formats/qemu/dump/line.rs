//! One event as a line of text or of JSON, with the field names of QEMU's source,
//! except that the offset of CHAR_WRITE is `written`.

use std::fmt::Write as _;

use crate::formats::qemu::decode::event::{Value, signed_half};
use crate::formats::qemu::dump::Placed;
use crate::formats::qemu::layout::{self, Form};
use crate::kit::json::JsonLine;

/// The value of a field.
enum Field {
    Number(i128),
    Word(&'static str),
}

impl<N: Into<i128>> From<N> for Field {
    fn from(number: N) -> Self {
        Self::Number(number.into())
    }
}

/// Writes an event as text.
pub(super) fn write_text(placed: &Placed, text: &mut String) {
    let Placed { number, icount, event, .. } = placed;
    let name = event.kind.name();
    let _infallible = write!(text, "{number:>8} {:#010x} {icount:>14} {name}", event.start);
    for (field, value) in fields(placed) {
        let _infallible = match value {
            Field::Number(value) => write!(text, " {field}={value}"),
            Field::Word(word) => write!(text, " {field}={word}"),
        };
    }
    text.push('\n');
}

/// Writes an event as JSON.
pub(super) fn write_json(placed: &Placed, text: &mut String) {
    let mut line = JsonLine::begin(text, placed.event.span(), placed.event.kind.name());
    line.number("number", placed.number);
    line.number("icount", placed.icount);
    for (field, value) in fields(placed) {
        match value {
            Field::Number(value) => line.number(field, value),
            Field::Word(word) => line.safe_text(field, word),
        }
    }
    if let Some(crc) = placed.array {
        line.number("array_crc32", crc);
    }
    line.end();
}

/// Returns the fields of an event with their names.
fn fields(placed: &Placed) -> Vec<(&'static str, Field)> {
    let event = &placed.event;
    let mut fields: Vec<(&'static str, Field)> = match &event.value {
        Value::Row(fields, numbers) => row(fields, numbers).collect(),
        Value::Input(word, fields, numbers) => {
            let word = ("input", Field::Word(word));
            std::iter::once(word).chain(row(fields, numbers)).collect()
        }
        Value::AudioOut(played) => vec![("played", (*played).into())],
        Value::AudioIn { recorded, position, .. } => {
            let recorded = ("recorded", (*recorded).into());
            let position = position.map(|position| ("wpos", position.into()));
            [recorded].into_iter().chain(position).collect()
        }
    };
    fields.extend(event.checkpoint.map(|checkpoint| ("checkpoint", checkpoint.into())));
    fields
}

/// Returns the fields of a row.
fn row<'r>(
    fields: &'r [layout::Field],
    numbers: &'r [u64],
) -> impl Iterator<Item = (&'static str, Field)> + 'r {
    let named = fields.iter().zip(numbers);
    named.map(|(field, number)| (field.name, signed(field.form, *number)))
}

/// Returns a number with its sign.
fn signed(form: Form, number: u64) -> Field {
    match form {
        Form::I32 => signed_half(number).into(),
        Form::I64 => number.cast_signed().into(),
        Form::U8 | Form::U32 | Form::U64 | Form::Array => number.into(),
    }
}
