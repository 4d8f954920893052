//! The content of a recording of input events for an audit: device paths, keys and positions.

use super::layout::{code, kind};
use crate::kit::field_log::{Field, FieldValue, Noted};
use crate::kit::span::Span;
use crate::model::options::Options;
use crate::model::tile::{Tile, TileKind, Walk};
use crate::sight::filler::Filler;
use crate::sight::rules::{recipient, sender};
use crate::sight::text::is_device;
use crate::sight::{Auditor, Excerpt, Knowledge, Place, TileReader};

/// The folder of input devices.
const INPUT: &[u8] = b"/dev/input/";
/// The first code of a button: codes below are keys of a keyboard.
const BUTTON_FIRST: u64 = 0x100;

/// Counts and lengths of the head that make a reader allocate without a bound or write past a
/// buffer.
pub(super) const HAZARDS: &[&str] = &["RV0007", "RV0012", "RV0013", "RV1002"];

/// Passes the recording to `auditor`.
pub(super) fn audit(tiles: Walk<'_>, options: &Options, auditor: &mut Auditor<'_>) {
    let reader = TileReader {
        is_wanted: |tile| matches!(tile.kind, TileKind::Structure | TileKind::Record),
        knowledge,
        is_needed: |_| false,
    };
    auditor.tiles(tiles, options, reader, &mut |auditor, tile, noted| {
        if tile.kind == TileKind::Record {
            audit_event(auditor, tile, noted);
            return;
        }
        for field in &noted.fields {
            if let FieldValue::Bytes(bytes) = &field.value {
                audit_head(auditor, field, bytes);
            }
        }
    });
}

/// Fields of bytes that are plain facts, or judged here.
const BYTES: &[&str] = &["magic", "path", "name", "ev_bits", "abs_bits", "rel_bits", "key_bits"];

/// Returns what is known about a field: a number is a plain fact.
fn knowledge(_tile: &Tile, field: &Field) -> Knowledge {
    match &field.value {
        FieldValue::Bytes(_) if !BYTES.contains(&field.label.as_ref()) => Knowledge::Unknown,
        _ => Knowledge::Known,
    }
}

/// Returns whether the kernel gives a device this name: `event` and a number.
fn is_device_name(name: &[u8]) -> bool {
    let number =
        ["event", "mouse", "js"].iter().find_map(|kind| name.strip_prefix(kind.as_bytes()));
    number.is_some_and(|number| number.iter().all(u8::is_ascii_digit))
}

fn audit_head(auditor: &mut Auditor<'_>, field: &Field, bytes: &[u8]) {
    let place = Place::from(field.span);
    match field.label.as_ref() {
        "path" => {
            let name = bytes.strip_prefix(INPUT).filter(|name| !name.contains(&b'/'));
            if let Some(name) = name {
                auditor.text("devices.path", bytes, place);
                if !is_device_name(name) {
                    let private = place.of_part(bytes, name).private(name, Filler::Name);
                    let (subject, excerpt) = (("devices.path", "device"), Excerpt::Text(name));
                    auditor.hide(&sender::CHOSEN_NAME, subject, 1, private, excerpt);
                }
                return;
            }
            auditor.path("devices.path", bytes, place);
            // A device is reported already.
            if !is_device(bytes) {
                let subject = ("devices.path", "foreign path");
                auditor.see(&recipient::DEVICE_PATH, subject, place, Excerpt::Text(bytes));
            }
        }
        "name" => {
            auditor.text("name", bytes, place);
            let private = place.private(bytes, Filler::Name);
            let (subject, excerpt) = (("name", "device name"), Excerpt::Text(bytes));
            auditor.hide(&sender::CHOSEN_NAME, subject, 1, private, excerpt);
        }
        _ => {}
    }
}

/// An event without a meaning, which every device may send: `EV_MSC`, `MSC_SCAN`, 0.
const NO_SCAN: &[u8] = &[4, 0, 4, 0, 0, 0, 0, 0];
/// `EV_MSC`: events of no other type.
const MSC: u64 = 4;
/// `EV_MSC`: the number of a key on its keyboard.
const MSC_SCAN: u64 = 4;

/// Judges an event: a key that is pressed or released, or a position.
fn audit_event(auditor: &mut Auditor<'_>, tile: &Tile, noted: &Noted) {
    let number = |label: &str| {
        noted.fields.iter().find_map(|field| match field.value {
            FieldValue::Number(number) if field.label == label => Some((field.span, number)),
            _ => None,
        })
    };
    let [Some((from, class)), Some((_, code)), Some((value_at, value))] =
        ["type", "code", "value"].map(number)
    else {
        return;
    };
    let all = Span::new(tile.span.layer, from.start, value_at.end);
    if class == u64::from(kind::KEY) && code < BUTTON_FIRST {
        // A release shows the key as well, but it is the same stroke.
        let (count, excerpt) = (u64::from(value == 1), Excerpt::Number("key", code));
        let private = Place::from(all).private(&[], Filler::Value(NO_SCAN));
        auditor.hide(&sender::KEY_STROKE, ("events", "key stroke"), count, private, excerpt);
    } else if class == MSC && code == MSC_SCAN {
        let private = Place::from(value_at).private(&[], Filler::Zeros);
        let (subject, excerpt) = (("events", "scan code"), Excerpt::Number("scan code", value));
        auditor.hide(&sender::KEY_STROKE, subject, 1, private, excerpt);
    } else if class == u64::from(kind::ABS) && is_position(code) {
        let private = Place::from(value_at).private(&[], Filler::Zeros);
        let (subject, excerpt) = (("events", "position"), Excerpt::Number("value", value));
        auditor.hide(&sender::POINTER_POSITION, subject, 1, private, excerpt);
    }
}

/// Whether an axis is a position or the like; the others number the contacts.
fn is_position(axis: u64) -> bool {
    ![code::ABS_MT_SLOT, code::ABS_MT_TRACKING_ID].map(u64::from).contains(&axis)
}
