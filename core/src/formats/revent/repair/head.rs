//! Fixes of the header and of a gamepad's description.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::gamepad::{Gamepad, set_bits};
use crate::formats::revent::decode::head::{DevicePath, Head};
use crate::formats::revent::layout::{ABSINFO, MAGIC};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::Span;
use crate::kit::words;
use crate::model::edit::{Edit, Fix, Safety};

/// Bytes that determine a value, and their meaning.
pub(in crate::formats::revent) type Evidence = (Span, &'static str);

/// Writes `bytes` at `offset`, as other bytes of the file determine them.
pub(in crate::formats::revent) fn write_fix(
    offset: u64,
    bytes: &[u8],
    summary: String,
    (span, meaning): Evidence,
) -> Fix {
    let field = Span::sized(FILE, offset, to_u64(bytes.len()));
    Fix::new(Safety::Exact, summary, vec![Edit::replace(field, bytes)]).witness(span, meaning)
}

/// Swaps the bitmaps of axes and keys.
pub(in crate::formats::revent) fn swap_bitmaps_fix(gamepad: &Gamepad) -> Fix {
    let [first, last] = gamepad.swapped_spans();
    let edits = vec![Edit::replace(first, gamepad.key), Edit::replace(last, gamepad.abs)];
    Fix::new(Safety::Exact, "swap abs_bits and key_bits", edits)
        .witness(gamepad.axes_span, "the codes of the axis descriptions")
}

/// Sets the bits of axes to the codes of the axis descriptions. Returns `None` if the codes are not
/// as the recorder writes them.
pub(in crate::formats::revent) fn write_bits_fix(gamepad: &Gamepad) -> Option<Fix> {
    if !gamepad.has_valid_codes() {
        return None;
    }
    let mut bits = [0_u8; 96];
    for code in gamepad.axis_codes() {
        let code = usize::try_from(code).unwrap_or_default();
        if let Some(byte) = bits.get_mut(code >> 3) {
            *byte |= 1 << (code & 7);
        }
    }
    let changed = (gamepad.bits_span.start()..).zip(gamepad.abs.iter().zip(bits));
    let edits: Vec<Edit> = changed
        .filter(|(_, (old, new))| *old != new)
        .map(|(at, (_, new))| Edit::replace(Span::sized(FILE, at, 1), [new]))
        .collect();
    let summary = "set abs_bits to the codes of the axis descriptions";
    (!edits.is_empty()).then(|| Fix::new(Safety::Lossy, summary, edits))
}

/// Sets the codes of the axis descriptions to the bits of axes. Returns `None` if there are more or
/// fewer of them.
pub(in crate::formats::revent) fn write_codes_fix(gamepad: &Gamepad) -> Option<Fix> {
    let codes: Vec<u16> = set_bits(&gamepad.abs).collect();
    if codes.len() != gamepad.axes.len() {
        return None;
    }
    let places = (0_u64..).map(|index| index.saturating_mul(ABSINFO));
    let places = places.map(|at| gamepad.axes_span.start().saturating_add(at));
    let changed = places.zip(codes.into_iter().zip(&gamepad.axes));
    let edits: Vec<Edit> = changed
        .filter(|(_, (code, axis))| i32::from(*code) != axis.code)
        .map(|(at, (code, _))| {
            Edit::replace(Span::sized(FILE, at, 4), u32::from(code).to_le_bytes())
        })
        .collect();
    let summary = "set the codes of the axis descriptions to the bits of abs_bits";
    (!edits.is_empty()).then(|| Fix::new(Safety::Lossy, summary, edits))
}

/// Writes header and device list again. If a path stands where the count and the times would be,
/// these are lost; they become 0, and the checks of the next round find what they should be.
pub(in crate::formats::revent) fn rebuild_head_fix(head: &Head, paths: &[DevicePath]) -> Fix {
    let layout = head.generation.layout();
    let mut bytes = Vec::new();
    if let Some(version) = layout.version {
        bytes.extend(MAGIC);
        bytes.extend(version.to_le_bytes());
    }
    bytes.resize(to_usize(layout.header), 0);
    let len = |len: usize| u32::try_from(len).unwrap_or_default().to_le_bytes();
    bytes.extend(len(paths.len()));
    bytes.resize(to_usize(layout.header.saturating_add(layout.device_count)), 0);
    for path in paths {
        bytes.extend(len(path.bytes.len()));
        bytes.extend(&path.bytes);
    }
    let mut end = head.prefix;
    if paths.iter().any(|path| path.span.end() > head.prefix) {
        bytes.resize(bytes.len().saturating_add(to_usize(layout.prefix)), 0);
        end = head.events;
    }
    let lost = paths.iter().filter(|path| path.span.is_empty()).count();
    let devices = words::plural(to_u64(paths.len()), "device");
    let summary = format!("write a list of {devices} again, {lost} of them under an assumed path");
    Fix::new(Safety::Lossy, summary, vec![Edit::replace(Span::new(FILE, 0, end), bytes)])
}
