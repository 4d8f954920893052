//! Sizes, counts and times as people read them. JSON has the exact numbers.

use std::time::Duration;

use tracemend::words::{byte_count, plural, plural_noun, seconds_short};

/// Sizes below this are exact: so are the lengths of most tables and records.
const EXACT_BYTES: u64 = 10_000;
/// Counts below this are exact.
const EXACT_COUNT: u64 = 1_000_000;

/// Returns a number of bytes: `512 bytes`, `24.6 kB`, `944 MB`.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..EXACT_BYTES => byte_count(bytes),
        _ => scaled(bytes, 1_000, &["kB", "MB", "GB", "TB", "PB", "EB"]),
    }
}

/// Returns a number of bytes per second: `1.21 GB/s`.
pub(crate) fn rate(bytes_per_second: u64) -> String {
    format!("{}/s", size(bytes_per_second).replace(" bytes", " B").replace(" byte", " B"))
}

/// Returns a count with its noun: `711 samples`, `1.23 million events`.
pub(crate) fn count(count: u64, noun: &str) -> String {
    match count {
        0..EXACT_COUNT => plural(count, noun),
        _ => format!(
            "{} {}",
            scaled(count, 1_000_000, &["million", "billion", "trillion"]),
            plural_noun(noun)
        ),
    }
}

/// Returns a share of a whole: `41 %`; it is 100 % only if nothing is missing.
pub(crate) fn share(part: u64, whole: u64) -> String {
    format!("{} %", percent(part, whole))
}

/// Returns the whole percents of a share.
pub(crate) fn percent(part: u64, whole: u64) -> u64 {
    let percent = u128::from(part) * 100 / u128::from(whole.max(1));
    u64::try_from(percent).unwrap_or(100).min(100)
}

/// Returns a time that a person waits: `4 s`, `75 s`, `12 min`, `2 h 5 min`.
pub(crate) fn wait(time: Duration) -> String {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    let minutes = seconds.div_ceil(60);
    match seconds {
        0..=90 => format!("{seconds} s"),
        91..=5_400 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

/// Returns how long a recording took, of nanoseconds: `0.986 s`, `12 min 5 s`, `2 h 5 min`.
pub(crate) fn duration(nanoseconds: u64) -> String {
    let seconds = nanoseconds / 1_000_000_000;
    match seconds {
        0..120 => seconds_short(nanoseconds),
        120..7_200 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
    }
}

/// A number in the largest unit of which there is at least one, with three digits. The first unit
/// is `first`, each further one a thousand of the one before.
fn scaled(number: u64, first: u128, units: &[&str]) -> String {
    let mut unit = first;
    let mut names = units.iter();
    let mut name = names.next().copied().unwrap_or_default();
    // A number that would be rounded to a thousand belongs to the next unit.
    while u128::from(number) * 10 >= unit * 9_995 {
        let Some(next) = names.next() else { break };
        name = next;
        unit *= 1_000;
    }
    let hundredths = (u128::from(number) * 200 + unit) / (unit * 2);
    let tenths = (u128::from(number) * 20 + unit) / (unit * 2);
    let whole = (u128::from(number) * 2 + unit) / (unit * 2);
    match hundredths {
        0..1_000 => format!("{}.{:02} {name}", hundredths / 100, hundredths % 100),
        _ if tenths < 1_000 => format!("{}.{} {name}", tenths / 10, tenths % 10),
        _ => format!("{whole} {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_small_ones_are_exact() {
        let sizes = [1, 9_999, 10_000, 24_576, 943_718_400, 999_949, 999_950, 3_221_225_472];
        let sizes = sizes.map(size);
        let expected = [
            "1 byte",
            "9999 bytes",
            "10.0 kB",
            "24.6 kB",
            "944 MB",
            "1.00 MB",
            "1.00 MB",
            "3.22 GB",
        ];
        assert_eq!(sizes, expected);
        assert_eq!(size(u64::MAX), "18.4 EB");
        assert_eq!([rate(5), rate(1_210_000_000)], ["5 B/s", "1.21 GB/s"]);
        assert_eq!([count(1, "event"), count(999_999, "event")], ["1 event", "999999 events"]);
        assert_eq!(count(1_234_567, "event"), "1.23 million events");
        assert_eq!(count(119_305_000, "entry"), "119 million entries");
    }

    #[test]
    fn a_share_is_whole_only_if_nothing_is_missing() {
        assert_eq!([share(0, 0), share(41, 100), share(999, 1000)], ["0 %", "41 %", "99 %"]);
        assert_eq!([share(7, 7), share(u64::MAX, u64::MAX)], ["100 %", "100 %"]);
    }

    #[test]
    fn a_wait_is_rounded_up() {
        let waits = [0, 4, 75, 600, 7_500].map(|seconds| wait(Duration::from_secs(seconds)));
        assert_eq!(waits, ["0 s", "4 s", "75 s", "10 min", "2 h 5 min"]);
        assert_eq!(wait(Duration::from_millis(1)), "1 s");
        let durations = [986_000_000, 119_999_000_000, 725_000_000_000, 7_500_000_000_000];
        assert_eq!(durations.map(duration), ["0.986 s", "119.999 s", "12 min 5 s", "2 h 5 min"]);
    }
}
