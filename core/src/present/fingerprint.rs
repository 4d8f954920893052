//! Fingerprints: the same fault has the same one after bytes before it were added or removed.
//!
//! ```text
//!  SHA-256 of   "tracemend.fingerprint.v1"
//!               path of the recording        as the caller gives it
//!               file of a recording of many
//!               code
//!               field                        without the numbers in brackets
//!               length of the span, and its first 4096 bytes
//! ```
//!
//! Offsets, numbers of records and the wording of the message are left out, because they change
//! without the fault. The hash resists collisions: a recording from a stranger must not get the
//! fingerprint of a fault that was accepted elsewhere.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::kit::source::Source;
use crate::kit::text::hex;
use crate::model::recording::FileSet;
use crate::model::{Finding, Report};

/// Bytes of a span that are part of a fingerprint. A field has fewer; a lost page has no identity
/// beyond its first bytes and its length.
const BYTES_MAX: u64 = 4096;
/// Bytes of the hash that are kept: 128 bits tell any two faults apart.
const KEPT: usize = 16;

impl Report {
    /// Gives every finding its fingerprint in the recording at `path`. Those with the fingerprint
    /// of an earlier one get a number, because readers take equal ones for one finding.
    pub fn identify(&mut self, path: &[u8], files: &FileSet<'_>) {
        let mut seen: BTreeMap<String, u64> = BTreeMap::new();
        self.each_held(|finding| {
            let print = finding.compute_fingerprint(path, files);
            let number = seen.entry(print.clone()).or_default();
            *number = number.saturating_add(1);
            finding.fingerprint =
                Some(if *number == 1 { print } else { format!("{print}-{number}") });
        });
    }
}

impl Finding {
    /// Returns 32 hexadecimal digits that identify the finding in the recording at `path`, whatever
    /// precedes it there. Two faults of equal bytes in equal fields have equal fingerprints.
    pub fn compute_fingerprint(&self, path: &[u8], files: &FileSet<'_>) -> String {
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            // With its length, so that no two lists of parts give the same bytes.
            hash.update(crate::kit::num::to_u64(bytes.len()).to_le_bytes());
            hash.update(bytes);
        };
        part(b"tracemend.fingerprint.v1");
        part(path);
        let file = usize::try_from(self.span.layer.file).ok();
        let file = file.and_then(|index| files.files().get(index));
        let name = file.filter(|_| files.files().len() > 1).map_or("", |file| file.name.as_str());
        part(name.as_bytes());
        part(self.rule.code.as_bytes());
        part(without_numbers(&self.path).as_bytes());
        part(&self.span.len().to_le_bytes());
        part(&self.first_bytes(files));
        let hash = hash.finalize();
        hex(hash.get(..KEPT).unwrap_or_default())
    }

    /// The first bytes of the span, as far as they are at hand: of an expanded layer only those
    /// that the finding holds.
    fn first_bytes(&self, files: &FileSet<'_>) -> Vec<u8> {
        let start = self.span.start;
        let end = self.span.end.min(start.saturating_add(BYTES_MAX));
        if self.span.layer.is_stored() {
            return files.bytes(self.span.layer.file).read(start, end).into_owned();
        }
        let Some(excerpt) = &self.excerpt else { return Vec::new() };
        let Some(from) = start.checked_sub(excerpt.start) else { return Vec::new() };
        let until = from.saturating_add(end.saturating_sub(start));
        Source::new(&excerpt.bytes).read(from, until).into_owned()
    }
}

/// The path of a field with empty brackets: `record[17].size` becomes `record[].size`.
fn without_numbers(path: &str) -> String {
    let mut inside = false;
    let mut kept = String::with_capacity(path.len());
    for letter in path.chars() {
        inside &= letter != ']';
        if !(inside && letter.is_ascii_digit()) {
            kept.push(letter);
        }
        inside |= letter == '[';
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::span::{Layer, Span};
    use crate::model::rule::common;

    fn print(path: &str, field: &'static str, bytes: &[u8], start: u64) -> String {
        let span = Span::sized(Layer::stored(0), start, 4);
        let files = FileSet::single("name", bytes);
        let finding = Finding::new(&common::UNKNOWN_FORMAT, span, field, "message");
        finding.compute_fingerprint(path.as_bytes(), &files)
    }

    #[test]
    fn a_fingerprint_survives_a_shift_and_nothing_else() {
        let first = print("a", "record[7].size", b"..fault", 2);
        assert_eq!(first.len(), 32);
        assert_eq!(first, print("a", "record[19].size", b".......fault", 7));
        assert_ne!(first, print("b", "record[7].size", b"..fault", 2));
        assert_ne!(first, print("a", "record[7].sizes", b"..fault", 2));
        assert_ne!(first, print("a", "record[7].size", b"..fawlt", 2));
        // The next byte belongs to the span of five bytes, not to this one.
        assert_eq!(first, print("a", "record[7].size", b"..faulT", 2));
    }

    #[test]
    fn equal_faults_are_numbered_from_the_second_one_on() {
        let files = FileSet::single("name", b"fault fault other");
        let finding = |start| {
            let span = Span::sized(Layer::stored(0), start, 5);
            Finding::new(&common::UNKNOWN_FORMAT, span, "record[1]", "message")
        };
        let mut report = Report::new(None, 17, 9);
        [0, 6, 12].into_iter().for_each(|start| report.push(finding(start)));
        report.identify(b"path", &files);
        let prints = report.findings().iter().map(|finding| finding.fingerprint.clone().unwrap());
        let [first, second, other] = prints.collect::<Vec<_>>().try_into().unwrap();
        assert_eq!((first.len(), second), (32, format!("{first}-2")));
        assert!(other.len() == 32 && other != first, "{other}");
    }

    #[test]
    fn numbers_outside_brackets_stay() {
        assert_eq!(without_numbers("attr2[12][3].v6"), "attr2[][].v6");
        assert_eq!(without_numbers("a]1[9"), "a]1[");
    }
}
