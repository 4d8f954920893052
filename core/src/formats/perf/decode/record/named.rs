//! The fields of a record by name, for people: the decoder of the check notes each.

use super::{Body, BodyError, Detail, body};
use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::decode::sample::{SampleLayout, read_counts};
use crate::formats::perf::decode::value::Value;
use crate::kit::cursor::Order;
use crate::kit::field_log::{Field, FieldLog, FieldValue, resolve};

/// Fields of a record that are shown: more than the 64 KiB of one can hold.
const FIELDS_MAX: u64 = 1 << 16;
/// Bytes that are no text, such as a build id, are shown up to this number.
const BYTES_MAX: u64 = 32;

/// The ends of labels of texts in fields of a fixed size.
const TEXTS: [&str; 5] = [".comm", ".prog_name", "[].key", "[].value", ".filter"];

/// Fields under other names than in the record: a line of a dump has these already.
const RENAMED: [(&str, &str); 12] = [
    ("attr.type", "attr_type"),
    ("attr.size", "attr_size"),
    ("auxtrace_info.type", "auxtrace_type"),
    ("bpf_event.type", "bpf_type"),
    ("cpu_map.type", "map_type"),
    ("event_update.type", "update_type"),
    ("stat_round.type", "round_type"),
    ("auxtrace_error.type", "error_type"),
    ("event_type.name", "event_name"),
    ("regs_user.abi", "user_abi"),
    ("regs_intr.abi", "intr_abi"),
    ("stack_user.dyn_size", "user_stack_dyn_size"),
];

/// Fields of a sample that are shown besides its lists.
const OF_SAMPLE: [&str; 17] = [
    "addr",
    "stream_id",
    "read.time_enabled",
    "read.time_running",
    "branch_stack.hw_idx",
    "regs_user.abi",
    "stack_user.dyn_size",
    "weight",
    "ins_lat",
    "weight3",
    "data_src",
    "transaction",
    "regs_intr.abi",
    "phys_addr",
    "cgroup",
    "data_page_size",
    "code_page_size",
];

/// Fields with their names.
pub type Named = Vec<(&'static str, Value)>;

/// Returns the number of this name.
pub fn number(fields: &Named, wanted: &str) -> Option<u64> {
    fields.iter().find_map(|(name, value)| match value {
        Value::Number(number) | Value::Hex(number) if *name == wanted => Some(*number),
        _ => None,
    })
}

/// Returns the entries of the list of this name.
pub fn items<'f>(fields: &'f Named, wanted: &str) -> &'f [Value] {
    let list = fields.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value);
    match list {
        Some(Value::List(entries)) => entries,
        _ => &[],
    }
}

/// Returns the fields of a record that is not a sample, up to the first one that does not fit.
pub fn fields(record: &RecordView<'_>, order: Order) -> Named {
    let log = FieldLog::new(FIELDS_MAX).keeping(usize::from(u16::MAX)).with_entries();
    let mut cursor = record.cursor(order).with_log(&log);
    let read = body(record.frame.kind, record.frame.misc, &mut cursor, 0);
    let name = match read {
        Ok(Body { detail: Detail::Name(span), .. }) | Err(BodyError::Unterminated { span, .. }) => {
            Some(span.start)
        }
        _ => None,
    };
    let is_text = |field: &Field| {
        name == Some(field.span.start) || TEXTS.iter().any(|text| field.label.ends_with(text))
    };
    gather(log.into_noted().fields, is_text)
}

/// Returns the fields of a READ record whose values have this layout.
pub fn counts(record: &RecordView<'_>, layout: &SampleLayout, order: Order) -> Named {
    let log = sample_log();
    let _read = read_counts(&mut record.cursor(order).with_log(&log), layout);
    gather(log.into_noted().fields, |_| false)
}

/// Returns a log for [`of_sample`].
pub fn sample_log() -> FieldLog {
    FieldLog::new(FIELDS_MAX).keeping(0).with_entries()
}

/// Returns the fields of a sample that a log noted: its lists, and the numbers that
/// [`Sample`](crate::formats::perf::decode::sample::Sample) does not have.
pub fn of_sample(log: FieldLog) -> Named {
    let mut gathered = Gathered { is_sample: true, ..Gathered::default() };
    resolve(log.into_noted().fields).into_iter().for_each(|field| gathered.add(field, false));
    gathered.shown
}

/// Returns noted fields with their values; `is_text` tells which bytes are a text.
fn gather(fields: Vec<Field>, is_text: impl Fn(&Field) -> bool) -> Named {
    let mut gathered = Gathered::default();
    for field in resolve(fields) {
        let is_text = is_text(&field);
        gathered.add(field, is_text);
    }
    gathered.shown
}

/// The names in a label: `record.field`, of a list `record.list[]`, or `record.list[].field`.
#[derive(Clone, Copy, Debug)]
struct Names {
    label: &'static str,
    name: &'static str,
    is_list: bool,
    /// The field of an entry.
    field: Option<&'static str>,
}

impl Names {
    fn of(label: &'static str) -> Self {
        match label.split_once("[]") {
            None => Self { label, name: name_of(label), is_list: false, field: None },
            Some((list, field)) => {
                Self { label, name: name_of(list), is_list: true, field: field.strip_prefix('.') }
            }
        }
    }
}

/// Fields by name, as they are added.
#[derive(Default)]
struct Gathered {
    shown: Named,
    is_sample: bool,
    /// The names in the last label: entries of a list have the same ones.
    last: Option<Names>,
}

impl Gathered {
    fn add(&mut self, field: Field, is_text: bool) {
        let std::borrow::Cow::Borrowed(label) = field.label else { return };
        let is_shown = !self.is_sample || label.contains('[') || OF_SAMPLE.contains(&label);
        if !is_shown || label == "rest" {
            return;
        }
        let names = match self.last {
            Some(last) if std::ptr::eq(last.label, label) => last,
            _ => Names::of(label),
        };
        self.last = Some(names);
        let value = match field.value {
            FieldValue::Number(number) => Value::Number(number),
            FieldValue::Hex(number) => Value::Hex(number),
            FieldValue::Bytes(bytes) if is_text => Value::Text(until_nul(&bytes)),
            FieldValue::Bytes(bytes) if field.span.len() <= BYTES_MAX => Value::Bytes(bytes),
            FieldValue::Bytes(_) | FieldValue::Text(_) => return,
        };
        if names.is_list {
            self.add_entry(names, value);
        } else if self.shown.iter().all(|(known, _)| *known != names.name) {
            // Otherwise it is the NUL after a text, or the bytes that a number counts.
            self.shown.push((names.name, value));
        }
    }

    fn add_entry(&mut self, names: Names, value: Value) {
        // Other fields may stand between those of the only entry.
        let known = self.shown.iter().rposition(|(name, _)| *name == names.name);
        let at = known.unwrap_or(self.shown.len());
        if known.is_none() {
            self.shown.push((names.name, Value::List(Vec::new())));
        }
        let list = self.shown.get_mut(at);
        let Some((_, Value::List(entries))) = list else { return };
        let Some(field) = names.field else { return entries.push(value) };
        match entries.last_mut() {
            Some(Value::Entry(open)) if open.iter().all(|(name, _)| *name != field) => {
                open.push((field, value));
            }
            _ => entries.push(Value::Entry(vec![(field, value)])),
        }
    }
}

fn until_nul(bytes: &[u8]) -> Vec<u8> {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default().to_vec()
}

/// Returns the name of a field in a line.
fn name_of(label: &'static str) -> &'static str {
    let renamed = RENAMED.iter().find(|(known, _)| *known == label).map(|(_, name)| *name);
    renamed.unwrap_or_else(|| label.rsplit_once('.').map_or(label, |(_, name)| name))
}
