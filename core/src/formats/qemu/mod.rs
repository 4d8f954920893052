//! Record/replay logs of QEMU.
//!
//! ```text
//!  0    version u32           0 until the recorder finishes: it is written last
//!  4    8 bytes that nothing uses
//!  12   events: u8 id, payload    no length, no mark, no alignment; all numbers big-endian
//!       ...
//!       SHUTDOWN+HOST_SIGNAL      since 5.1
//!       END
//! ```
//!
//! The events are what a guest does not determine by itself, and how many instructions lie between
//! them. What an id means changes from release to release, and not always with the version word, so
//! that several layouts may read the log ([`check::race`]).
//!
//! Sources: the user's document (qemu-replay-log.txt, of 2018), which knows neither RANDOM nor
//! BH_ONESHOT and says that every asynchronous event has a checkpoint; the enums of QEMU's releases
//! 2.5.0 to 8.2.0; and logs of 5.2.0, 7.2.22, 10.0 and 11.1.3, which win.

pub mod check;
pub mod decode;
pub mod layout;
pub mod limits;
pub mod options;
pub mod repair;
pub mod rules;

use crate::formats::qemu::check::lane::Stop;
use crate::formats::qemu::check::{EVENTS_BELIEVED, Word, race};
use crate::formats::qemu::decode::event::{Decoder, FILE};
use crate::formats::qemu::decode::walk::{Item, Walker};
use crate::formats::qemu::layout::{HEADER_LEN, Kind, LAYOUTS, VERSION_FAMILY, VERSION_LEN};
use crate::formats::{Confidence, Format, Tile, TileKind};
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::report::{Report, Rule};
use crate::limits::Limit;
use crate::options::{OptionSpec, Options};
use crate::recording::FileSet;

/// Bytes of events that sniffing looks at.
const SNIFFED: u64 = 4096;

/// The format.
#[derive(Debug)]
pub struct Qemu;

/// The one value of [`Qemu`].
pub static QEMU: Qemu = Qemu;

impl Format for Qemu {
    fn name(&self) -> &'static str {
        "qemu"
    }

    fn summary(&self) -> &'static str {
        "QEMU record/replay logs of 2.5 to 11.1, every layout; mends what a killed or a full-disk \
         recording or a cut copy leaves"
    }

    fn nouns(&self) -> [&'static str; 2] {
        ["event", "instruction"]
    }

    fn rules(&self) -> &'static [&'static Rule] {
        rules::RULES
    }

    fn options(&self) -> &'static [OptionSpec] {
        options::OPTIONS
    }

    fn limits(&self) -> &'static [&'static Limit] {
        limits::LIMITS
    }

    fn sniff(&self, files: &FileSet<'_>, _options: &Options) -> Option<Confidence> {
        looks_like_log(&files.bytes(0)).then_some(Confidence::Evidence)
    }

    fn check(&self, files: &FileSet<'_>, options: &Options, report: &mut Report) {
        check::check(files, options, report);
    }

    fn tile(&self, files: &FileSet<'_>, _options: &Options, each: &mut dyn FnMut(Tile)) {
        for (index, file) in (0..).zip(files.files()) {
            if index > 0 {
                // A log is one file.
                let layer = crate::kit::span::Layer::stored(index);
                let span = Span::new(layer, 0, file.bytes.len());
                emit(each, span, TileKind::Damage, "file");
            } else {
                tile(&file.bytes, each);
            }
        }
    }
}

/// By the version word and the hole behind it, or by events that a layout explains.
fn looks_like_log(source: &Source<'_>) -> bool {
    let head = source.read(0, HEADER_LEN);
    let family = VERSION_FAMILY.to_be_bytes();
    let is_family = head.iter().zip(family).take(3).all(|(a, b)| *a == b) && head.len() >= 3;
    let unused = head.get(4..).unwrap_or_default().iter().all(|byte| *byte == 0);
    let known = check::word(source).is_none_or(|word| !matches!(word, Word::Damaged(_)));
    if is_family && unused && known {
        return true;
    }
    let zero = check::word(source) == Some(Word::Zero) && unused;
    if !(is_family || zero) || source.len() <= HEADER_LEN {
        return false;
    }
    let until = HEADER_LEN.saturating_add(SNIFFED);
    let layouts = layout::Layouts::of(|_, _| true);
    let race = race::race(source, layouts, until, 0);
    race.best.iter().any(|lane| {
        let counted = |kinds: fn(&Kind) -> bool| {
            layout::KINDS.iter().filter(|kind| kinds(kind)).any(|kind| lane.events_of(*kind) > 0)
        };
        lane.doubts.is_empty()
            && !matches!(lane.stop, Some(Stop::Lost(_)))
            && lane.events() >= EVENTS_BELIEVED
            && counted(|kind| matches!(kind, Kind::ClockHost | Kind::ClockVirtualRt))
            && counted(|kind| matches!(kind, Kind::Checkpoint(_)))
    })
}

fn tile(source: &Source<'_>, each: &mut dyn FnMut(Tile)) {
    let len = source.len();
    let header = Span::new(FILE, 0, HEADER_LEN.min(len));
    if len < HEADER_LEN {
        emit(each, header, TileKind::Damage, "header");
        return;
    }
    emit(each, header, TileKind::Structure, "header");
    let layouts = check::word(source).map_or_else(layout::Layouts::default, Word::layouts);
    let race = race::race(source, layouts, u64::MAX, 0);
    let number = race.layouts().iter().next().map(|(number, _)| number);
    let decoder = Decoder::new(source, number.unwrap_or(LAYOUTS.len()));
    let mut at = HEADER_LEN;
    let mut ended = false;
    for item in Walker::new(decoder, HEADER_LEN, 0) {
        let Item::Event(event) = item else { break };
        emit(each, event.span(), TileKind::Record, event.kind.name());
        at = event.end;
        ended = event.kind == Kind::End;
    }
    let rest = Span::new(FILE, at, len);
    let (kind, name) =
        if ended { (TileKind::Padding, "trailing") } else { (TileKind::Damage, "damage") };
    emit(each, rest, kind, name);
}

fn emit(each: &mut dyn FnMut(Tile), span: Span, kind: TileKind, name: &'static str) {
    if !span.is_empty() {
        each(Tile { span, kind, name });
    }
}

// The header's fields fill it.
const _: () = assert!(VERSION_LEN < HEADER_LEN);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::num::to_u64;

    #[test]
    fn other_bytes_are_no_log() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            u8::try_from(state >> 56).unwrap()
        };
        for len in [0, 1, 12, 13, 64, 4096] {
            assert!(!looks_like_log(&Source::new(&vec![0; len])), "{len} zeros");
            for _ in 0..200 {
                // Behind twelve zeros, where an unfinished log begins.
                let mut bytes = vec![0; 12];
                bytes.extend((0..len).map(|_| random()));
                assert!(!looks_like_log(&Source::new(&bytes)), "{bytes:?}");
                assert!(!looks_like_log(&Source::new(&bytes[12..])), "{bytes:?}");
            }
        }
        assert!(!looks_like_log(&Source::new(b"PERFILE2 and more of that")));
        assert_eq!(to_u64(VERSION_FAMILY.to_be_bytes().len()), VERSION_LEN);
    }
}
