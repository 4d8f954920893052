//! The content of a log for an audit: packets, keys, bytes of devices and random numbers.

use super::layout::{Async, Kind};
use crate::kit::field_log::{FieldValue, Noted};
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::model::options::Options;
use crate::model::tile::{Tile, Walk};
use crate::sight::filler::Filler;
use crate::sight::rules::sender;
use crate::sight::text::TEXT_LOOKED_AT;
use crate::sight::{Auditor, Excerpt, Place, TileReader};

/// Values that QEMU uses without a check: indexes, lengths and counts that make it crash, abort,
/// allocate or hang.
pub(super) const HAZARDS: &[&str] = &[
    "QR1003", "QR2001", "QR2002", "QR2003", "QR2004", "QR2006", "QR2007", "QR2009", "QR2010",
    "QR2011", "QR2013", "QR2014", "QR3001", "QR3003", "QR3009", "QR3010", "QR3011", "QR3013",
];

/// Kinds of input events.
mod input {
    /// A key.
    pub(super) const KEY: u64 = 0;
    /// A relative movement of the pointer.
    pub(super) const RELATIVE: u64 = 2;
    /// A position of the pointer.
    pub(super) const ABSOLUTE: u64 = 3;
    /// A contact.
    pub(super) const TOUCH: u64 = 4;
}

/// Passes the log to `auditor`.
pub(super) fn audit(
    tiles: Walk<'_>,
    source: &Source<'_>,
    options: &Options,
    auditor: &mut Auditor<'_>,
) {
    let packet = Kind::Async(Async::Net).name();
    let read = Kind::Async(Async::CharRead).name();
    let key = Kind::Async(Async::Input).name();
    let (read_all, random) = (Kind::CharReadAll.name(), Kind::Random.name());
    let sound = Kind::AudioIn.name();
    let is_wanted = |tile: &Tile| {
        let wanted = [
            Kind::Async(Async::Net),
            Kind::Async(Async::CharRead),
            Kind::Async(Async::Input),
            Kind::CharReadAll,
            Kind::Random,
            Kind::AudioIn,
        ];
        wanted.iter().any(|kind| kind.name() == tile.name)
    };
    auditor.tiles(tiles, options, TileReader::of(is_wanted), &mut |auditor, tile, noted| {
        if tile.name == key {
            audit_input(auditor, tile, noted);
            return;
        }
        let (rule, noun) = match tile.name {
            name if name == packet => (&sender::NETWORK_PACKET, "network packet"),
            name if name == read || name == read_all => (&sender::DEVICE_INPUT, "read"),
            name if name == sound => (&sender::DEVICE_INPUT, "sound recording"),
            name if name == random => (&sender::RANDOM_NUMBERS, "random number"),
            _ => return,
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
    match number("input kind").map(|(_, kind)| kind) {
        Some(input::KEY) => {
            let Some((span, key)) = KEY_FIELDS.into_iter().find_map(number) else { return };
            // A release shows the key as well, but it is the same stroke.
            let is_down = number("down").is_some_and(|(_, down)| down == 1);
            let (count, excerpt) = (u64::from(is_down), Excerpt::Number("key", key));
            let private = Place::from(span).private(&[], Filler::Zeros);
            let subject = (tile.name, "key stroke");
            auditor.hide(&sender::KEY_STROKE, subject, count, private, excerpt);
        }
        Some(input::RELATIVE | input::ABSOLUTE | input::TOUCH) => {
            let Some((span, value)) = number("value") else { return };
            let private = Place::from(span).private(&[], Filler::Zeros);
            let (subject, excerpt) =
                ((tile.name, "pointer movement"), Excerpt::Number("value", value));
            auditor.hide(&sender::POINTER_POSITION, subject, 1, private, excerpt);
        }
        _ => {}
    }
}
