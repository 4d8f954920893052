//! The content of a recording of input events for an audit: device paths, keys and positions.

use super::layout::{code, kind};
use crate::kit::field_log::{Field, FieldValue, Noted};
use crate::kit::span::Span;
use crate::model::options::Options;
use crate::model::tile::{Tile, TileKind, Walk};
use crate::sight::filler::Filler;
use crate::sight::rules::{recipient, sender};
use crate::sight::text::{is_device, is_file_path};
use crate::sight::{Auditor, Excerpt, Knowledge, Place, TileReader};

/// The folder of input devices.
const INPUT: &[u8] = b"/dev/input/";
/// Most digits of the number of a device.
const DEVICE_DIGITS: usize = 4;

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
        FieldValue::Bytes(_) if field.label.ends_with("_bits") => Knowledge::Numbers,
        _ => Knowledge::Known,
    }
}

/// Returns whether the kernel gives a device this name: `event` and a number.
fn is_device_name(name: &[u8]) -> bool {
    let number =
        ["event", "mouse", "js"].iter().find_map(|kind| name.strip_prefix(kind.as_bytes()));
    number.is_some_and(|number| {
        (1..=DEVICE_DIGITS).contains(&number.len()) && number.iter().all(u8::is_ascii_digit)
    })
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
            if !is_file_path(bytes) {
                let private = place.private(bytes, Filler::Name);
                let (subject, excerpt) = (("devices.path", "device"), Excerpt::Text(bytes));
                auditor.hide(&sender::CHOSEN_NAME, subject, 1, private, excerpt);
            }
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

/// The content of an event for an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// Facts about the recording.
    Facts,
    /// A key, which its code names.
    Key,
    /// The number of a key on its keyboard.
    Scan,
    /// A position or a movement.
    Position,
    /// A value without a known meaning.
    Unknown,
}

/// Returns the content of an event by its type, code and value.
fn content(class: u64, code: u64, value: u64) -> Content {
    let Ok(class) = u16::try_from(class) else { return Content::Unknown };
    let highest = match class {
        kind::KEY if !is_button(code) => return Content::Key,
        kind::MSC if SCANS.contains(&code) => return Content::Scan,
        kind::REL => return Content::Position,
        kind::ABS if !CONTACTS.map(u64::from).contains(&code) => return Content::Position,
        // The end of a contact.
        kind::ABS if value == END_OF_CONTACT => value,
        kind::ABS | kind::REP => u16::MAX.into(),
        // A button that is held sends 2.
        kind::KEY => 2,
        kind::SYN | kind::SWITCH | kind::LED => 1,
        kind::MSC if code == MSC_TIMESTAMP => value,
        _ => 0,
    };
    if value <= highest { Content::Facts } else { Content::Unknown }
}

/// Returns whether a code of `EV_KEY` is that of a button of a mouse, pad or pen; the others are
/// keys, also those of telephones, Braille keyboards and remote controls.
fn is_button(code: u64) -> bool {
    matches!(code, 0x100..=0x15f | 0x220..=0x223 | 0x2c0..=0x2e7)
}

/// `EV_MSC`: the numbers of a key, as the keyboard and as its driver gives them.
const SCANS: [u64; 2] = [3, 4];
/// `EV_MSC`: the time of an event by the clock of the device.
const MSC_TIMESTAMP: u64 = 5;
/// `EV_ABS`: axes that number the contacts.
const CONTACTS: [u16; 2] = [code::ABS_MT_SLOT, code::ABS_MT_TRACKING_ID];
/// The value -1.
const END_OF_CONTACT: u64 = 0xffff_ffff;

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
    let (rule, noun, named) = match content(class, code, value) {
        Content::Facts => return,
        Content::Key => {
            // A release shows the key as well, but it is the same stroke.
            let (count, excerpt) = (u64::from(value == 1), Excerpt::Number("key", code));
            let all = Span::new(tile.span.layer, from.start, value_at.end);
            let private = Place::from(all).private(&[], Filler::Value(NO_SCAN));
            let subject = ("events", "key stroke");
            return auditor.hide(&sender::KEY_STROKE, subject, count, private, excerpt);
        }
        Content::Scan => (&sender::KEY_STROKE, "scan code", "scan code"),
        Content::Position => (&sender::POINTER_POSITION, "position", "value"),
        Content::Unknown => (&sender::UNKNOWN_CONTENT, "unknown value", "value"),
    };
    let private = Place::from(value_at).private(&[], Filler::Zeros);
    auditor.hide(rule, ("events", noun), 1, private, Excerpt::Number(named, value));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_all_codes_but_those_of_buttons() {
        for code in [30, 0x160, 0x1d0, 0x1f1, 0x200, 0x20f, 0x2a0, 0x2ff] {
            assert_eq!(content(1, code, 1), Content::Key, "{code:#x}");
        }
        for code in [0x110, 0x130, 0x14a, 0x220, 0x2c0] {
            assert_eq!(content(1, code, 1), Content::Facts, "{code:#x}");
        }
    }

    #[test]
    fn a_value_that_its_type_does_not_have_is_unknown() {
        for (class, code, content_of) in [
            (0, 0, Content::Unknown),
            (1, 0x14a, Content::Unknown),
            (2, 8, Content::Position),
            (3, 0x35, Content::Position),
            (3, 0x39, Content::Unknown),
            (4, 0, Content::Unknown),
            (4, 3, Content::Scan),
            (4, 5, Content::Facts),
            (0x11, 0, Content::Unknown),
            (0x1e, 0, Content::Unknown),
        ] {
            assert_eq!(content(class, code, 0x746e_7568), content_of, "{class} {code:#x}");
        }
        assert_eq!(content(3, 0x39, END_OF_CONTACT), Content::Facts);
        assert_eq!(content(0, 0, 0), Content::Facts);
    }

    #[test]
    fn a_device_has_a_short_number() {
        assert!(is_device_name(b"event12") && is_device_name(b"js0"));
        assert!(!is_device_name(b"event") && !is_device_name(b"event4111111111"));
    }
}
