//! The layouts and the meaning of their ids: facts, and look-ups in them.
//!
//! ```text
//!  kind     kinds of events, with their fields         set      several layouts at once
//!  table    the 15 layouts, oldest first               range    values that an event may have
//! ```
//!
//! A layout is a list of groups of events; the ids count through them from 0. Between releases
//! events were added in the middle, so every later id moved, and the version word did not always
//! change with it: the shutdown causes are an enum of the QMP schema that grew by itself.
//!
//! Sources: the enums of `replay/replay-internal.h`, `include/sysemu/replay.h`,
//! `qapi/run-state.json` and `qapi/ui.json` in the releases 2.5.0 to 8.2.0, the changes that set
//! the version to 0xe0200d (AUDIO_IN without a write position) and 0xe0200e (Linux keycodes), and
//! logs of 5.2, 7.2, 10.0 and 11.1. Inferred from these, as neither the source at the tag of the
//! release nor a log of it was at hand: 9.0 to 9.2, 10.1, 10.2 and 11.0. The sources that first
//! name events in messages (`replay_event_name` in `replay/replay.c`, version 0xe0200c, for 9.0)
//! have the events of the table.

mod kind;
pub mod range;
mod set;
mod table;

pub use kind::{
    Async, Cause, Checkpoint, EventKind, FIELDS_MAX, Field, Form, Holds, KINDS, Kind, Payload,
    input,
};
pub use set::Layouts;
pub use table::LAYOUTS;

/// Length of the header in bytes: u32 version, 8 unused bytes.
pub const HEADER_LEN: u64 = 12;
/// Length of the version word in bytes.
pub const VERSION_LEN: u64 = 4;
/// The upper three bytes of every version word.
pub const VERSION_FAMILY: u32 = 0x00e0_2000;

/// The encoding of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// u32 value kind, then a u64 number or a u32 qcode.
    Values {
        /// Number of qcodes in the newest release of the layout.
        qcodes: u32,
    },
    /// u32 Linux keycode.
    Linux,
}

/// The encoding of audio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audio {
    /// u32 counts, u32 write position.
    Narrow,
    /// u64 counts, u64 write position.
    Wide,
    /// u64 counts, without a write position.
    Unplaced,
}

/// One layout.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    /// The version word.
    pub version: u32,
    /// First and last release that wrote it, as major and minor number.
    pub releases: [(u8, u8); 2],
    /// The kinds of events: ids count through the groups from 0.
    pub groups: &'static [&'static [Kind]],
    /// Asynchronous kinds by number, in layouts that have one id for all of them.
    pub async_kinds: &'static [Async],
    /// The encoding of keys.
    pub keys: Keys,
    /// Number of input kinds: key, button, relative, absolute, and since 8.1 touch.
    pub inputs: u32,
    /// Number of pointer buttons.
    pub buttons: u32,
    /// The encoding of audio.
    pub audio: Audio,
    /// Whether the writer ends a log with SHUTDOWN+HOST_SIGNAL and END instead of END alone.
    pub pair: bool,
    /// Whether its regularities were measured on clean logs.
    pub measured: bool,
}

impl Layout {
    /// Returns the kind of an id, or `None` if the layout does not have the id.
    pub fn kind(&self, id: u8) -> Option<Kind> {
        let mut left = usize::from(id);
        for group in self.groups {
            if let Some(kind) = group.get(left) {
                return Some(*kind);
            }
            left = left.saturating_sub(group.len());
        }
        None
    }

    /// Returns the id of a kind, or `None` if the layout does not have the kind.
    pub fn id(&self, kind: Kind) -> Option<u8> {
        let place = self.groups.iter().copied().flatten().position(|one| *one == kind)?;
        u8::try_from(place).ok()
    }

    /// Returns the number by which ASYNC names a checkpoint, or `None` for any other kind.
    pub fn checkpoint_number(&self, kind: Kind) -> Option<u8> {
        let is_checkpoint = |kind: &Kind| matches!(kind, Kind::Checkpoint(_));
        let first = self.groups.iter().copied().flatten().find(|kind| is_checkpoint(kind))?;
        self.id(kind)?.checked_sub(self.id(*first)?).filter(|_| is_checkpoint(&kind))
    }

    /// Returns the number of checkpoints.
    pub fn checkpoint_count(&self) -> usize {
        let kinds = self.groups.iter().copied().flatten();
        kinds.filter(|kind| matches!(kind, Kind::Checkpoint(_))).count()
    }

    /// Returns the releases in words, for example `7.2 to 8.0`.
    pub fn describe_releases(&self) -> String {
        describe_range(self.releases)
    }

    /// Returns the ids of the events with which the writer of the layout ends a log.
    pub fn closing(&self) -> Vec<u8> {
        let signal = self.id(Kind::Shutdown(Cause::HostSignal)).filter(|_| self.pair);
        signal.into_iter().chain(self.id(Kind::End)).collect()
    }
}

/// Describes a range of releases, for example `7.2 to 8.0`.
fn describe_range([(major, minor), last]: [(u8, u8); 2]) -> String {
    if last == (major, minor) {
        format!("{major}.{minor}")
    } else {
        format!("{major}.{minor} to {}.{}", last.0, last.1)
    }
}

/// Returns the index in [`LAYOUTS`] of the layout that a release writes, given as `7.2` or
/// `7.2.22`.
pub fn release(text: &str) -> Option<usize> {
    let mut parts = text.split('.').map(|part| {
        let has_digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u8>().ok().filter(|_| has_digits)
    });
    let wanted = (parts.next()??, parts.next()??);
    let is_patch_valid = parts.next().is_none_or(|patch| patch.is_some()) && parts.next().is_none();
    let is_known = RELEASES.contains(&wanted) && is_patch_valid;
    LAYOUTS.iter().position(|layout| {
        let [first, last] = layout.releases;
        is_known && first <= wanted && wanted <= last
    })
}

/// The releases that wrote logs, as major and minor number.
pub const RELEASES: [(u8, u8); 33] = [
    (2, 5),
    (2, 6),
    (2, 7),
    (2, 8),
    (2, 9),
    (2, 10),
    (2, 11),
    (2, 12),
    (3, 0),
    (3, 1),
    (4, 0),
    (4, 1),
    (4, 2),
    (5, 0),
    (5, 1),
    (5, 2),
    (6, 0),
    (6, 1),
    (6, 2),
    (7, 0),
    (7, 1),
    (7, 2),
    (8, 0),
    (8, 1),
    (8, 2),
    (9, 0),
    (9, 1),
    (9, 2),
    (10, 0),
    (10, 1),
    (10, 2),
    (11, 0),
    (11, 1),
];

#[cfg(test)]
mod tests {
    use super::*;
    use Checkpoint::{ClockWarp, ClockWarpStart, Reset};

    /// SHUTDOWN first and last, CHAR_WRITE, AUDIO_OUT, RANDOM, CLOCK_HOST, first and last
    /// checkpoint, END, closing: by hand from the releases' enums.
    #[test]
    fn ids_are_those_of_the_releases() {
        let first_shutdown = |layout: &Layout| {
            let kinds = layout.groups.iter().copied().flatten();
            kinds.clone().position(|kind| matches!(kind, Kind::Shutdown(_)))
        };
        let row = |layout: &Layout| {
            let checkpoint = |kind| layout.id(Kind::Checkpoint(kind));
            (
                first_shutdown(layout),
                layout.id(Kind::CharWrite),
                layout.id(Kind::AudioOut),
                layout.id(Kind::Random),
                layout.id(Kind::ClockHost),
                checkpoint(ClockWarp).or(checkpoint(ClockWarpStart)),
                checkpoint(Reset),
                layout.closing(),
            )
        };
        let rows: Vec<_> = LAYOUTS.iter().map(row).collect();
        let wanted = |shutdown, char, audio, random, clock, first, last, closing: &[u8]| {
            (
                Some(shutdown),
                char,
                audio,
                random,
                Some(clock),
                Some(first),
                Some(last),
                closing.to_vec(),
            )
        };
        assert_eq!(
            rows,
            [
                wanted(4, None, None, None, 5, 7, 14, &[15]),
                wanted(4, Some(5), None, None, 8, 10, 18, &[19]),
                wanted(4, Some(5), Some(8), None, 10, 12, 20, &[21]),
                wanted(4, Some(13), Some(16), None, 18, 20, 28, &[29]),
                wanted(4, Some(13), Some(16), None, 18, 20, 28, &[29]),
                wanted(4, Some(14), Some(17), None, 19, 21, 29, &[30]),
                wanted(4, Some(15), Some(18), None, 20, 22, 30, &[31]),
                wanted(4, Some(15), Some(18), None, 20, 22, 30, &[31]),
                wanted(4, Some(15), Some(18), Some(20), 21, 23, 31, &[32]),
                wanted(4, Some(15), Some(18), Some(20), 21, 23, 31, &[8, 32]),
                wanted(10, Some(21), Some(24), Some(26), 27, 29, 37, &[14, 38]),
                wanted(10, Some(22), Some(25), Some(27), 28, 30, 38, &[14, 39]),
                wanted(10, Some(22), Some(25), Some(27), 28, 30, 38, &[14, 39]),
                wanted(10, Some(22), Some(25), Some(27), 28, 30, 38, &[14, 39]),
                wanted(10, Some(22), Some(25), Some(27), 28, 30, 38, &[14, 39]),
            ]
        );
    }

    #[test]
    fn a_release_has_one_layout_and_others_are_refused() {
        for (major, minor) in RELEASES {
            let number = release(&format!("{major}.{minor}")).unwrap();
            let [first, last] = LAYOUTS[number].releases;
            assert!(first <= (major, minor) && (major, minor) <= last);
        }
        assert_eq!(release("7.2.22"), release("7.2"));
        for text in ["", "7", "7.3", "2.4", "12.0", "7.2.", "7.2.x", "7.2.1.1", "v7.2", "+7.2"] {
            assert_eq!(release(text), None, "{text}");
        }
    }

    #[test]
    fn kinds_are_numbered_apart_and_ids_lead_back() {
        for (number, row) in KINDS.iter().enumerate() {
            assert_eq!(row.kind.number(), number);
            let Payload::Row(fields) = row.payload else { continue };
            assert!(fields.len() <= FIELDS_MAX, "{}", row.name);
            let has_array = fields.iter().any(|field| field.form == Form::Array);
            assert!(!has_array || row.holds != Holds::Facts, "{} has content", row.name);
        }
        for layout in &LAYOUTS {
            for id in 0..=u8::MAX {
                let back = layout.kind(id).and_then(|kind| layout.id(kind));
                assert_eq!(back, layout.kind(id).map(|_| id));
            }
        }
    }
}
