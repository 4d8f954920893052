//! One event as a line of text or of JSON, with the field names of QEMU's
//! source, except that the offset of CHAR_WRITE is `written`.

use std::fmt::Write as _;

use crate::formats::qemu::decode::event::{Input, Key, Value};
use crate::formats::qemu::dump::Placed;
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
    let Placed { number, icount, event } = placed;
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
    line.end();
}

/// Returns the fields of an event with their names.
fn fields(placed: &Placed) -> Vec<(&'static str, Field)> {
    let event = &placed.event;
    let mut fields: Vec<(&'static str, Field)> = match &event.value {
        Value::None => Vec::new(),
        Value::Instructions(count) => vec![("count", (*count).into())],
        Value::Time(time) => vec![("clock", (*time).into())],
        Value::Id(id) => vec![("id", (*id).into())],
        Value::Input(input) => input_fields(input),
        Value::CharRead { device, len } => {
            vec![("device", (*device).into()), ("size", (*len).into())]
        }
        Value::Net { filter, flags, len } => {
            vec![("filter", (*filter).into()), ("flags", (*flags).into()), ("size", (*len).into())]
        }
        Value::CharWrite { result, offset } => {
            vec![("result", result.cast_signed().into()), ("written", (*offset).into())]
        }
        Value::ReadAll { len } => vec![("size", (*len).into())],
        Value::ReadAllError(error) => vec![("error", error.cast_signed().into())],
        Value::Random { result, len } => {
            vec![("result", result.cast_signed().into()), ("size", (*len).into())]
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

fn input_fields(input: &Input) -> Vec<(&'static str, Field)> {
    let word = |word| ("input", Field::Word(word));
    match input {
        Input::Key { key, down } => {
            let key = match key {
                Key::Number(number) => ("number_of_key", (*number).into()),
                Key::Qcode(code) => ("qcode", (*code).into()),
                Key::Linux(code) => ("keycode", (*code).into()),
            };
            vec![word("key"), key, ("down", (*down).into())]
        }
        Input::Button { button, down } => {
            vec![word("button"), ("button", (*button).into()), ("down", (*down).into())]
        }
        Input::Pointer { relative, axis, value } => {
            let kind = if *relative { "relative" } else { "absolute" };
            vec![word(kind), ("axis", (*axis).into()), ("value", (*value).into())]
        }
        Input::Touch { kind, finger: [slot, tracking], axis, value } => vec![
            word("touch"),
            ("type", (*kind).into()),
            ("slot", (*slot).into()),
            ("tracking_id", (*tracking).into()),
            ("axis", (*axis).into()),
            ("value", (*value).into()),
        ],
    }
}
