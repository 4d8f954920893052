//! The content of a recording of input events for an audit: device paths, keys and positions.

use super::layout::kind;
use crate::audit::rules::{recipient, sender};
use crate::audit::text::is_device;
use crate::audit::{Auditor, Excerpt, Place};
use crate::formats::{Format, Tile, TileKind};
use crate::kit::field_log::{Field, FieldValue, Noted};
use crate::options::Options;

/// The folder of input devices.
const INPUT: &[u8] = b"/dev/input/";
/// The first code of a button: codes below are keys of a keyboard.
const BUTTON_FIRST: u64 = 0x100;

/// Counts and lengths of the head that make a reader allocate without a bound or write past a
/// buffer.
pub(super) const HAZARDS: &[&str] = &["RV0007", "RV0012", "RV0013", "RV1002"];

/// Passes the recording to `auditor`.
pub(super) fn audit(format: &dyn Format, options: &Options, auditor: &mut Auditor<'_>) {
    let is_wanted = |tile: &Tile| matches!(tile.kind, TileKind::Structure | TileKind::Record);
    auditor.tiles(format, options, is_wanted, &mut |auditor, tile, noted| {
        if tile.kind == TileKind::Record {
            audit_event(auditor, tile, &noted);
            return;
        }
        for field in &noted.fields {
            if let FieldValue::Bytes(bytes) = &field.value {
                audit_head(auditor, field, bytes);
            }
        }
    });
}

fn audit_head(auditor: &mut Auditor<'_>, field: &Field, bytes: &[u8]) {
    let place = Place::from(field.span);
    match field.label.as_ref() {
        "path" => {
            let is_input = bytes.strip_prefix(INPUT).is_some_and(|name| !name.contains(&b'/'));
            if is_input {
                auditor.text("devices.path", bytes, place);
                return;
            }
            auditor.path("devices.path", bytes, place);
            // A device is reported already.
            if !is_device(bytes) {
                let subject = ("devices.path", "foreign path");
                auditor.see(&recipient::DEVICE_PATH, subject, place, Excerpt::Text(bytes));
            }
        }
        "name" => auditor.text("name", bytes, place),
        _ => {}
    }
}

/// Judges an event: a key that is pressed, or a position.
fn audit_event(auditor: &mut Auditor<'_>, tile: &Tile, noted: &Noted) {
    let number = |label: &str| {
        noted.fields.iter().find_map(|field| match field.value {
            FieldValue::Number(number) if field.label == label => Some(number),
            _ => None,
        })
    };
    let [Some(class), Some(code), Some(value)] = ["type", "code", "value"].map(number) else {
        return;
    };
    let place = Place::from(tile.span);
    if class == u64::from(kind::KEY) && code < BUTTON_FIRST && value == 1 {
        let subject = ("events", "key stroke");
        auditor.see(&sender::KEY_STROKE, subject, place, Excerpt::Number("key", code));
    } else if class == u64::from(kind::ABS) {
        let subject = ("events", "position");
        auditor.see(&sender::POINTER_POSITION, subject, place, Excerpt::Number("value", value));
    }
}
