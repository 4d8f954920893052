//! Versions of perf, and the version that was the first to read each part of a recording.
//!
//! A perf refuses a file with attrs that are larger than its own, stops at the first record whose
//! type it does not know, and `perf report` stops at a feature in a pipe that it does not know.
//!
//! Sources: the history of `tools/perf`, `tools/lib/perf/include/perf/event.h` and
//! `include/uapi/linux/perf_event.h`. The attr of 144 bytes came with the field config4, in the
//! same series as the copy of the header in `tools`: both are in v6.19-rc1 and not in v6.18.
//! COMPRESSED2 (208c0e168344) and the commit after which perf skips unknown types came with 6.16.
//! CALLCHAIN_DEFERRED and the features after PMU_CAPS are not in perf 6.12 and are in 7.2; the
//! version between them was not looked up, so 7.0 is an upper bound. Measured: 6.1, 6.12 and 7.2.

use std::fmt;

use super::feature::PIPE_END;
use super::record;

/// A version of perf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A version.
const fn of(major: u32, minor: u32) -> Version {
    Version { major, minor }
}

/// The oldest version that a recording is stepped down to: the types of records before it are not
/// in the table.
pub const OLDEST: Version = of(4, 15);
/// The version that a report offers, which results were tried with. It is that of Linux 6.1, an
/// LTS; Debian 12 has it.
pub const OFFERED: Version = of(6, 1);
/// The first version that writes TIME_CONV for Arm (Linux 5.11: tools/perf/util/tsc.c).
pub const FIRST_WITH_CLOCK: Version = of(5, 11);
/// The newest version that results were tried with.
pub const NEWEST: Version = of(7, 2);
/// First version that refuses a file at a malformed feature, and records of odd sizes.
pub const FIRST_STRICT: Version = of(7, 0);

/// Sizes of the published attrs, VER0 to VER9, each with the first version whose attr has it.
pub const ATTRS: [(u32, Version); 10] = [
    (64, of(2, 6)),
    (72, of(3, 0)),
    (80, of(3, 4)),
    (96, of(3, 7)),
    (104, of(3, 19)),
    (112, of(4, 1)),
    (120, of(5, 5)),
    (128, of(5, 13)),
    (136, of(6, 3)),
    (144, of(6, 19)),
];

/// The version whose attrs are the largest, which is the last one before [`FIRST_STRICT`].
pub const LAST_GROWN: Version = {
    let [.., (_, since)] = ATTRS;
    since
};

/// First version that skips types of perf's own that it does not know.
const SKIPS_UNKNOWN: Version = of(6, 16);

/// Types of records that came after [`OLDEST`], each with the first version that reads or skips it.
const RECORDS: [(u32, Version); 12] = [
    (17, of(5, 1)),
    (18, of(5, 1)),
    (record::CGROUP, of(5, 7)),
    (record::TEXT_POKE, of(5, 9)),
    (21, of(5, 16)),
    (22, of(7, 0)),
    (record::COMPRESSED, of(5, 2)),
    (record::FINISHED_INIT, of(6, 0)),
    (record::COMPRESSED2, of(6, 16)),
    (84, SKIPS_UNKNOWN),
    (85, SKIPS_UNKNOWN),
    (86, SKIPS_UNKNOWN),
];

/// Numbers of features from which on a pipe needs a version.
const FEATURES: [(u32, Version); 7] = [
    (24, of(5, 1)),
    (27, of(5, 2)),
    (28, of(5, 8)),
    (29, of(5, 9)),
    (30, of(5, 14)),
    (31, of(5, 14)),
    (PIPE_END + 1, of(7, 0)),
];

/// Returns the version that a text names, as `6.1` or `6.1.187`, if results can be promised for it.
pub fn parse(text: &str) -> Option<Version> {
    let mut numbers = text.split('.').map(|part| {
        let has_digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u32>().ok().filter(|_| has_digits)
    });
    let version = of(numbers.next()??, numbers.next()??);
    let is_whole = numbers.next().is_none_or(|patch| patch.is_some()) && numbers.next().is_none();
    (is_whole && (OLDEST..=NEWEST).contains(&version)).then_some(version)
}

/// Returns the first version whose attr has `size` bytes or more; `None` if no published one has.
pub fn of_attr(size: u64) -> Option<Version> {
    let found = ATTRS.iter().find(|(known, _)| u64::from(*known) >= size);
    found.map(|(_, version)| *version)
}

/// Returns the size of an attr of a version.
pub fn attr_size(version: Version) -> u32 {
    let known = ATTRS.iter().rev().find(|(_, since)| *since <= version);
    known.map_or(ATTRS[0].0, |(size, _)| *size)
}

/// Returns the first version that reads records of a type, or skips them.
pub fn of_record(kind: u32) -> Version {
    let found = RECORDS.iter().find(|(known, _)| *known == kind);
    let unknown = if kind > record::USER_LAST { SKIPS_UNKNOWN } else { OLDEST };
    found.map_or(unknown, |(_, version)| *version)
}

/// Returns the first version that reads a pipe with the feature of a number.
pub fn of_piped_feature(number: u32) -> Version {
    let found = FEATURES.iter().rev().find(|(known, _)| *known <= number);
    found.map_or(OLDEST, |(_, version)| *version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_has_two_numbers_and_perhaps_a_patch() {
        assert_eq!(parse("6.1"), Some(of(6, 1)));
        assert_eq!(parse("6.12.117"), Some(of(6, 12)));
        for wrong in ["", "6", "6.", "6.x", "6.1.", "6.1.2.3", "v6.1", "+6.1", "4.14", "7.3"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn attrs_grow_from_version_to_version() {
        assert!(ATTRS.is_sorted_by(|one, two| one.0 < two.0 && one.1 < two.1));
        for (size, since) in ATTRS {
            assert_eq!(of_attr(size.into()), Some(since));
            assert_eq!(attr_size(since), size);
        }
        assert_eq!(of_attr(145), None);
        let size = |text| attr_size(parse(text).unwrap());
        assert_eq!(["5.4", "6.1", "6.12", "6.18", "7.2"].map(size), [112, 128, 136, 136, 144]);
    }

    #[test]
    fn an_old_version_reads_what_was_always_there() {
        assert_eq!([9, 83, 98].map(of_record), [OLDEST, of(6, 16), of(6, 16)]);
        assert_eq!((of_piped_feature(3), of_piped_feature(31)), (OLDEST, of(5, 14)));
        assert_eq!((of_piped_feature(PIPE_END), of_piped_feature(35)), (of(5, 14), of(7, 0)));
    }
}
