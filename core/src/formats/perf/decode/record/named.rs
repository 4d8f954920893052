//! The fields of a record by name, for people: the decoder of the check notes each.

use super::{Body, BodyError, Detail, body};
use crate::formats::perf::decode::frame::RecordView;

use crate::kit::cursor::Order;
use crate::kit::field_log::{Field, FieldLog, FieldValue, resolve};

/// Fields of a record that are shown: more than the 64 KiB of one can hold.
const FIELDS_MAX: u64 = 1 << 16;
/// Bytes that are no text, such as a build id, are shown up to this number.
const BYTES_MAX: u64 = 32;

/// Fields under other names than in the record: a line of a dump has these already.
const RENAMED: [(&str, &str); 9] = [
    ("attr.type", "attr_type"),
    ("attr.size", "attr_size"),
    ("auxtrace_info.type", "auxtrace_type"),
    ("bpf_event.type", "bpf_type"),
    ("cpu_map.type", "map_type"),
    ("event_update.type", "update_type"),
    ("stat_round.type", "round_type"),
    ("auxtrace_error.type", "error_type"),
    ("event_type.name", "event_name"),
];

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(u64),
    /// A number that is shown in hexadecimal.
    Hex(u64),
    /// A text from the recording, without its NUL.
    Text(Vec<u8>),
    /// Bytes that are no text.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<Self>),
    /// An entry of a list that has several fields.
    Entry(Vec<(&'static str, Self)>),
}

/// Fields with their names.
pub type Named = Vec<(&'static str, Value)>;

/// Returns the fields of a record that is not a sample, up to the first one that does not fit.
pub fn fields(record: &RecordView<'_>, order: Order) -> Named {
    let log = new_log();
    let mut cursor = record.cursor(order).with_log(&log);
    let read = body(record.frame.kind, record.frame.misc, &mut cursor, 0);
    let name = match read {
        Ok(Body { detail: Detail::Name(span), .. }) | Err(BodyError::Unterminated { span, .. }) => {
            Some(span.start)
        }
        _ => None,
    };
    let is_text = |field: &Field| name == Some(field.span.start) || field.label.ends_with(".comm");
    gather(log.into_noted().fields, is_text)
}

/// Returns a log for the fields of a record.
pub fn new_log() -> FieldLog {
    FieldLog::new(FIELDS_MAX).keeping(usize::from(u16::MAX)).with_entries()
}

/// Returns the lists that a log noted.
pub fn lists(log: FieldLog) -> Named {
    let fields = log.into_noted().fields;
    let lists = fields.into_iter().filter(|field| field.label.contains("[]"));
    gather(lists.collect(), |_| false)
}

/// Returns noted fields with their values; `is_text` tells which bytes are a text.
fn gather(fields: Vec<Field>, is_text: impl Fn(&Field) -> bool) -> Named {
    let mut shown = Named::new();
    for field in resolve(fields) {
        let value = match field.value {
            FieldValue::Number(number) => Value::Number(number),
            FieldValue::Hex(number) => Value::Hex(number),
            FieldValue::Bytes(ref bytes) if is_text(&field) => Value::Text(until_nul(bytes)),
            FieldValue::Bytes(bytes) if field.span.len() <= BYTES_MAX => Value::Bytes(bytes),
            FieldValue::Bytes(_) | FieldValue::Text(_) => continue,
        };
        if let std::borrow::Cow::Borrowed(label) = field.label
            && label != "rest"
        {
            add(&mut shown, label, value);
        }
    }
    shown
}

fn until_nul(bytes: &[u8]) -> Vec<u8> {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default().to_vec()
}

/// Adds a field. A label is `record.field`, of a list `record.list[]`, or `record.list[].field`.
fn add(shown: &mut Named, label: &'static str, value: Value) {
    let (list, field) = match label.split_once("[]") {
        None => {
            let name = name_of(label);
            // The NUL after a text, or the bytes that a number counts.
            if shown.iter().all(|(known, _)| *known != name) {
                shown.push((name, value));
            }
            return;
        }
        Some((list, field)) => (name_of(list), field.strip_prefix('.')),
    };
    if shown.last().is_none_or(|(last, _)| *last != list) {
        shown.push((list, Value::List(Vec::new())));
    }
    let Some((_, Value::List(entries))) = shown.last_mut() else { return };
    let Some(field) = field else { return entries.push(value) };
    match entries.last_mut() {
        Some(Value::Entry(open)) if open.iter().all(|(name, _)| *name != field) => {
            open.push((field, value));
        }
        _ => entries.push(Value::Entry(vec![(field, value)])),
    }
}

/// Returns the name of a field in a line.
fn name_of(label: &'static str) -> &'static str {
    let renamed = RENAMED.iter().find(|(known, _)| *known == label).map(|(_, name)| *name);
    renamed.unwrap_or_else(|| label.rsplit_once('.').map_or(label, |(_, name)| name))
}
