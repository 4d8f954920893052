//! One record as a line of text or of JSON.

use std::fmt::Write as _;

use super::Shown;
use crate::formats::perf::decode::record::{self, Named};
use crate::formats::perf::decode::sample::Sample;
use crate::formats::perf::decode::value::Value;
use crate::kit::json::JsonLine;
use crate::kit::text::{Untrusted, hex};

/// Writes a record as `perf report -D` does in its first line: CPU, time in ns, offset and size,
/// type and fields; `own` are those of a record that is not a sample.
pub(super) fn write_record(shown: &Shown<'_>, own: &Named, text: &mut String) {
    let frame = shown.record.frame;
    let number =
        |value: Option<u64>| value.map_or_else(|| "-".to_string(), |value| value.to_string());
    let (cpu, time) = (shown.origin.cpu.map(u64::from), shown.origin.time);
    let layer = if shown.record.place.layer.is_stored() { "" } else { " expanded" };
    let _infallible = write!(
        text,
        "{:>3} {:>15} {:#x} [{:#x}]{layer}: PERF_RECORD_{}",
        number(cpu),
        number(time),
        shown.record.place.offset,
        frame.size,
        name_of(frame.kind),
    );
    if let Some(sample) = shown.sample {
        write_sample_fields(shown, sample, text);
    }
    write_fields(own, text);
    text.push('\n');
}

/// Writes ` name=value` for each field.
pub(super) fn write_fields<N: AsRef<str>>(fields: &[(N, Value)], text: &mut String) {
    for (name, value) in fields {
        text.push(' ');
        text.push_str(name.as_ref());
        text.push('=');
        write_value(value, text);
    }
}

pub(super) fn write_value(value: &Value, text: &mut String) {
    let _infallible = match value {
        Value::Number(number) => write!(text, "{number}"),
        Value::Signed(number) => write!(text, "{number}"),
        Value::Hex(number) => write!(text, "{number:#x}"),
        Value::Text(bytes) => write!(text, "{}", Untrusted(bytes)),
        Value::Bytes(bytes) => write!(text, "{}", hex(bytes)),
        Value::List(values) => {
            text.push('[');
            for (index, value) in values.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { ", " });
                write_value(value, text);
            }
            text.push(']');
            Ok(())
        }
        Value::Entry(fields) => {
            for (index, (name, value)) in fields.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { " " });
                text.push_str(name);
                text.push('=');
                write_value(value, text);
            }
            Ok(())
        }
    };
}

fn write_sample_fields(shown: &Shown<'_>, sample: &Sample, text: &mut String) {
    let _infallible = write!(text, " event={}", shown.event);
    for (name, value) in numbers(sample) {
        let _infallible = match name {
            "ip" => write!(text, " {name}={value:#x}"),
            // perf prints a thread that ended as -1.
            "pid" | "tid" if value == u64::from(u32::MAX) => write!(text, " {name}=-1"),
            _ => write!(text, " {name}={value}"),
        };
    }
    write_fields(&shown.more, text);
    write_fields(&shown.traced, text);
    if let Some(raw) = shown.unnamed_raw() {
        let _infallible = write!(text, " raw={}", hex(raw));
    }
}

/// Writes a record as JSON; `own` are the fields of one that is not a sample.
pub(super) fn write_json(shown: &Shown<'_>, own: &Named, text: &mut String) {
    let frame = shown.record.frame;
    let mut line = JsonLine::begin(text, shown.record.span(), &name_of(frame.kind));
    line.number("number", shown.number);
    line.number("type", frame.kind);
    line.number("misc", frame.misc);
    if let Some(sample) = shown.sample {
        line.safe_text("event", &shown.event);
        if sample.origin.tid.is_some() {
            line.safe_text("comm", &shown.thread);
        }
        for (name, value) in numbers(sample) {
            line.number(name, value);
        }
        add_fields(&shown.more, &mut line);
        if !shown.traced.is_empty() {
            line.members("fields", &shown.traced, &mut add_value);
        }
        if let Some(raw) = shown.unnamed_raw() {
            line.safe_text("raw", &hex(raw));
        }
    }
    add_fields(own, &mut line);
    // The fields of a record may have these names themselves.
    let has = |wanted: &str| own.iter().any(|(name, _)| *name == wanted);
    let origin = [
        ("sample_time", shown.origin.time),
        ("sample_cpu", shown.origin.cpu.map(u64::from)),
        ("sample_tid", shown.origin.tid.map(u64::from)),
        ("sample_id", shown.origin.id),
    ];
    for (name, value) in origin.into_iter().filter(|(name, _)| shown.sample.is_none() && !has(name))
    {
        if let Some(value) = value {
            line.number(name, value);
        }
    }
    line.end();
}

/// Adds fields to an object.
fn add_fields(fields: &[(&'static str, Value)], line: &mut JsonLine<'_>) {
    for (name, value) in fields {
        line.member(name, |line| add_value(value, line));
    }
}

/// Adds a value to a list, or after a name.
fn add_value(value: &Value, line: &mut JsonLine<'_>) {
    match value {
        Value::Number(number) | Value::Hex(number) => line.item(*number),
        Value::Signed(number) => line.item(*number),
        Value::Text(bytes) => line.text_item(&Untrusted(bytes).to_string()),
        Value::Bytes(bytes) => line.text_item(&hex(bytes)),
        Value::List(values) => line.items(values, &mut add_value),
        Value::Entry(fields) => line.object(|line| add_fields(fields, line)),
    }
}

/// Returns the name of a type, or its number.
fn name_of(kind: u32) -> String {
    record::name(kind).map_or_else(|| kind.to_string(), str::to_string)
}

/// Returns the numbers of a sample, as perf's `struct perf_sample` names them.
fn numbers(sample: &Sample) -> Vec<(&'static str, u64)> {
    let origin = &sample.origin;
    let recorded = [
        ("pid", origin.pid.map(u64::from)),
        ("tid", origin.tid.map(u64::from)),
        ("time", origin.time),
        ("id", origin.id),
        ("cpu", origin.cpu.map(u64::from)),
        ("ip", sample.ip),
        ("period", sample.period),
    ];
    let counted = [
        ("values", sample.values),
        ("callchain_nr", sample.callchain_len),
        ("raw_size", sample.raw.size.into()),
        ("branch_stack_nr", sample.branches),
        ("user_stack_size", sample.stack.recorded),
        ("aux_size", sample.aux_size),
    ];
    let recorded = recorded.into_iter().filter_map(|(name, value)| Some((name, value?)));
    recorded.chain(counted.into_iter().filter(|(_, value)| *value > 0)).collect()
}
