//! Whether a file is a log: by its version word, or by events that a layout explains.

use crate::format::Confidence;
use crate::formats::qemu::decode::header::Version;
use crate::formats::qemu::layout::{HEADER_LEN, KINDS, Kind, Layouts, VERSION_FAMILY, VERSION_LEN};
use crate::formats::qemu::limits::SNIFFED;
use crate::formats::qemu::recover::cut::EVENTS_BELIEVED;
use crate::formats::qemu::recover::lane::{Lane, Stop};
use crate::formats::qemu::recover::race;
use crate::kit::source::Source;
use crate::model::limits::Limits;

/// Returns the confidence that the source is a log; a known version and the unused field are as
/// good as a magic of 12 bytes.
pub fn recognise_log(source: &Source<'_>, limits: &Limits) -> Option<Confidence> {
    let is_headed = source.read(VERSION_LEN, HEADER_LEN).iter().all(|byte| *byte == 0)
        && source.len() >= HEADER_LEN
        && Version::read(source).is_ok_and(Version::is_known);
    let is_likely = || looks_like_log(source, limits).then_some(Confidence::Evidence);
    is_headed.then_some(Confidence::Certain).or_else(is_likely)
}

/// Returns whether the source looks like a log.
fn looks_like_log(source: &Source<'_>, limits: &Limits) -> bool {
    let head = source.read(0, HEADER_LEN);
    let family = VERSION_FAMILY.to_be_bytes();
    let is_family = head.iter().zip(family).take(3).all(|(a, b)| *a == b) && head.len() >= 3;
    let is_unused_zero = head.get(4..).unwrap_or_default().iter().all(|byte| *byte == 0);
    let version = Version::read(source);
    let is_version = version.is_ok_and(|version| !matches!(version, Version::Unknown(_)));
    let is_known = version.is_ok_and(Version::is_known);
    let is_newer = matches!(version, Ok(Version::Newer(_)));
    if is_known || is_newer || is_family && is_unused_zero && (is_version || version.is_err()) {
        return true;
    }
    let is_unfinished = version == Ok(Version::Unfinished) && is_unused_zero;
    if !(is_family || is_unfinished) || source.len() <= HEADER_LEN {
        return false;
    }
    let until = HEADER_LEN.saturating_add(limits.of(&SNIFFED));
    let race = race::run(source, Layouts::of(|_, _| true), until, limits);
    race.best.iter().any(is_convincing)
}

/// Whether a reading without contradictions has what every log has: clocks and checkpoints.
fn is_convincing(lane: &Lane<'_>) -> bool {
    let has = |is_wanted: fn(&Kind) -> bool| {
        let mut kinds = KINDS.iter().map(|row| row.kind).filter(is_wanted);
        kinds.any(|kind| lane.events_of(kind) > 0)
    };
    lane.defects.evidence.contradicted() == 0
        && !matches!(lane.stop, Some(Stop::Lost(_)))
        && lane.events() >= EVENTS_BELIEVED
        && has(|kind| kind.is_clock())
        && has(|kind| matches!(kind, Kind::Checkpoint(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::num::to_u64;

    #[test]
    fn other_bytes_are_not_a_log() {
        let looks_like_log = |source: &Source<'_>| looks_like_log(source, &Limits::default());
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            u8::try_from(state >> 56).unwrap()
        };
        for len in [0, 1, 12, 13, 64, 4096] {
            assert!(!looks_like_log(&Source::new(&vec![0; len])), "{len} zeros");
            for _ in 0..200 {
                // After twelve zeros, the header of an unfinished log.
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
