//! The version of perf that recorded, which bounds the features that it can have.

use crate::formats::perf::layout::versions::Version;

/// The last version of perf without a feature after PMU_CAPS (tools/perf/util/header.h).
const LAST_VERSION: Version = Version { major: 6, minor: 12 };

/// Whether VERSION is a text of a perf that has no feature after PMU_CAPS.
pub fn is_old(version: &[u8]) -> bool {
    read_version(version).is_some_and(|version| version <= LAST_VERSION) && !is_backported(version)
}

/// Returns the first two numbers of a version such as `6.1.0-13-amd64`.
pub(super) fn read_version(text: &[u8]) -> Option<Version> {
    let mut numbers = text.split(|byte| !byte.is_ascii_digit()).map(|digits| {
        let text = std::str::from_utf8(digits).ok()?;
        text.parse().ok()
    });
    Some(Version { major: numbers.next()??, minor: numbers.next()?? })
}

/// Whether a version is that of a distribution that adds features of later versions of perf.
fn is_backported(text: &[u8]) -> bool {
    text.windows(3).any(|part| part == b".el")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_up_to_6_12_is_old_unless_features_may_be_backported() {
        for text in ["4.19.1", "6.1.187", "6.12.57+deb13-amd64"] {
            assert!(is_old(text.as_bytes()), "{text}");
        }
        for text in ["6.13", "7.0.rc1", "5.14.0-570.el9.x86_64", "perf", "6", ""] {
            assert!(!is_old(text.as_bytes()), "{text}");
        }
    }
}
