//! A call as lines of text or as JSON.

use std::fmt::Write as _;

use super::call::Call;
use super::names::{Names, Signature};
use crate::kit::json::JsonLine;
use crate::kit::span::{Layer, Span};

/// Returns the name of a function, and of its arguments.
pub(super) fn signature<'n>(call: &Call, names: &'n Names) -> Option<&'n Signature> {
    names.function(call.function)
}

/// Passes the name and the value of each argument to `each`; `None` for one that is missing.
pub(super) fn each_argument<'c>(
    call: &'c Call,
    names: &'c Names,
    mut each: impl FnMut(&str, Option<&'c str>),
) {
    let items = signature(call, names).map(|signature| &*signature.items);
    let items = items.unwrap_or_default();
    for index in 0..items.len().max(call.arguments.len()) {
        let value = call.arguments.get(index).and_then(Option::as_deref);
        match items.get(index) {
            Some(name) => each(name, value),
            None => each(&format!("arg{index}"), value),
        }
    }
}

/// Appends the lines of a call, as apitrace prints them.
pub(super) fn write_text(call: &Call, names: &Names, text: &mut String) {
    let signature = signature(call, names);
    let name = signature.map_or("?", |signature| &signature.name);
    let _infallible = write!(text, "{} {name}(", call.number);
    let mut between = "";
    each_argument(call, names, |name, value| {
        text.extend([between, name, " = ", value.unwrap_or("?")]);
        between = ", ";
    });
    text.push(')');
    if let Some(result) = &call.result {
        text.extend([" = ", result]);
    }
    if call.is_fake || !call.is_complete {
        text.push_str(" //");
        text.push_str(if call.is_fake { " fake" } else { "" });
        text.push_str(if call.is_complete { "" } else { " incomplete" });
    }
    text.push('\n');
    if let Some(backtrace) = &call.backtrace {
        text.push_str("Backtrace:\n");
        for frame in backtrace {
            text.push_str(names.frame(*frame));
            text.push('\n');
        }
    }
    if signature.is_some_and(|signature| signature.ends_frame) {
        text.push('\n');
    }
}

/// Appends a call as an object of JSON; `frame` is the number of its frame, from 0.
pub(super) fn write_json(call: &Call, frame: u64, names: &Names, text: &mut String) {
    let (start, end) = call.enter;
    let span = Span::new(Layer::stored(0).expanded(), start, end.max(start));
    let mut line = JsonLine::begin(text, span, "call");
    line.number("number", call.number);
    line.number("thread", call.thread);
    line.number("frame", frame);
    let name = signature(call, names).map_or("?", |signature| &signature.name);
    line.safe_text("function", name);
    let mut arguments = Vec::new();
    each_argument(call, names, |name, value| {
        arguments.extend(value.map(|value| (name.to_string(), value)));
    });
    line.pairs("arguments", arguments.iter().map(|(name, value)| (name.as_str(), *value)));
    if let Some(result) = &call.result {
        line.safe_text("result", result);
    }
    if !call.blobs.places.is_empty() {
        line.number("bytes_crc32", call.blobs.crc.clone().finalize());
    }
    if let Some(backtrace) = &call.backtrace {
        let frames: Vec<&str> = backtrace.iter().map(|frame| names.frame(*frame)).collect();
        line.safe_text("backtrace", &frames.join("; "));
    }
    line.flag("is_complete", call.is_complete);
    line.flag("is_fake", call.is_fake);
    line.end();
}
