//! The content of a log for an audit: packets, keys, bytes of devices and random numbers.

use super::layout::{Holds, KINDS};
use super::recover::tile::ZEROS;
use crate::kit::field_log::{FieldValue, Noted};
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::model::options::Options;
use crate::model::tile::{Fields, NO_FIELDS, Tile, TileKind, Walk};
use crate::sight::filler::Filler;
use crate::sight::rules::sender;
use crate::sight::text::TEXT_LOOKED_AT;
use crate::sight::{Auditor, Excerpt, Knowledge, Place, TileReader};

/// Values that QEMU uses without a check: indexes, lengths and counts that make it crash, abort,
/// allocate or hang.
pub(super) const HAZARDS: &[&str] = &[
    "QR1003", "QR2001", "QR2002", "QR2003", "QR2004", "QR2006", "QR2007", "QR2009", "QR2010",
    "QR2011", "QR2013", "QR2014", "QR3001", "QR3003", "QR3009", "QR3010", "QR3011", "QR3013",
];

/// Passes the log to `auditor`. Where its events do not reach the end of the log, all after the
/// first error is damage: nothing shows where an event begins.
pub(super) fn audit(
    tiles: Walk<'_>,
    source: &Source<'_>,
    options: &Options,
    auditor: &mut Auditor<'_>,
) {
    let reader = TileReader {
        is_wanted: match auditor.errors() {
            [] => |tile| tile.name == "header" || content(tile) != Holds::Facts,
            _ => |tile| matches!(tile.kind, TileKind::Structure | TileKind::Record),
        },
        knowledge: |_, field| match field.label.as_ref() {
            "reserved" => Knowledge::Unknown,
            _ => Knowledge::Known,
        },
        is_needed: |_| false,
    };
    let mut error = auditor.errors().iter().map(|span| span.start).min();
    if error.is_some() {
        let mut is_damaged = false;
        tiles(&mut |tile, _| is_damaged |= tile.kind == TileKind::Damage && tile.name != ZEROS);
        error = error.filter(|_| is_damaged);
    }
    let walk: Walk<'_> = &|each| {
        tiles(&mut |tile: Tile, fields: Fields<'_>| match error {
            Some(error) if tile.kind != TileKind::Structure && tile.span.end > error => {
                each(Tile { kind: TileKind::Damage, name: "damage", ..tile }, NO_FIELDS);
            }
            _ => each(tile, fields),
        });
    };
    auditor.tiles(walk, options, reader, &mut |auditor, tile, noted| {
        let (rule, noun) = match content(tile) {
            Holds::Facts => return,
            Holds::Input => return audit_input(auditor, tile, noted),
            Holds::Packet => (&sender::NETWORK_PACKET, "network packet"),
            Holds::Read => (&sender::DEVICE_INPUT, "read"),
            Holds::Sound => (&sender::DEVICE_INPUT, "sound recording"),
            Holds::Random => (&sender::RANDOM_NUMBERS, "random number"),
        };
        let Some(array) = noted.fields.iter().rfind(|field| field.label == "array") else { return };
        let place = Place::from(array.span);
        let end = array.span.start.saturating_add(to_u64(TEXT_LOOKED_AT)).min(array.span.end);
        let bytes = source.read(array.span.start, end);
        let excerpt = Excerpt::Bytes(&bytes, array.span.len());
        let private = place.private(&bytes, Filler::Zeros);
        auditor.hide(rule, (tile.name, noun), 1, private, excerpt);
        auditor.blob(tile.name, &bytes, place);
    });
}

/// Returns the content of an event.
fn content(tile: &Tile) -> Holds {
    KINDS.iter().find(|row| row.name == tile.name).map_or(Holds::Facts, |row| row.holds)
}

/// The fields that show which key it is.
const KEY_FIELDS: [&str; 3] = ["keycode", "qcode", "key number"];

/// Judges an input event: a key that is pressed or released, or a position.
fn audit_input(auditor: &mut Auditor<'_>, tile: &Tile, noted: &Noted) {
    let number = |label: &str| {
        noted.fields.iter().find_map(|field| match field.value {
            FieldValue::Number(number) if field.label == label => Some((field.span, number)),
            _ => None,
        })
    };
    if let Some((span, key)) = KEY_FIELDS.into_iter().find_map(number) {
        // A release shows the key as well, but it is the same stroke.
        let is_down = number("down").is_some_and(|(_, down)| down == 1);
        let (count, excerpt) = (u64::from(is_down), Excerpt::Number("key", key));
        let private = Place::from(span).private(&[], Filler::Zeros);
        auditor.hide(&sender::KEY_STROKE, (tile.name, "key stroke"), count, private, excerpt);
    } else if let Some((span, value)) = number("value") {
        let private = Place::from(span).private(&[], Filler::Zeros);
        let (subject, excerpt) = ((tile.name, "pointer movement"), Excerpt::Number("value", value));
        auditor.hide(&sender::POINTER_POSITION, subject, 1, private, excerpt);
    }
}
