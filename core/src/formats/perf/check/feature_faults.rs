//! The rules that the faults of features break: how much a reader loses by them.

use super::feature_check::FeatureCheck;
use crate::formats::perf::decode::feature::{Contents, FeatureError};
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::layout::feature as bit;
use crate::formats::perf::layout::features::{self, Trait};
use crate::formats::perf::{repair, rules};
use crate::kit::span::{Layer, Span};
use crate::kit::words::byte_count;
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::{Finding, Rule};

const FILE: Layer = Layer::stored(0);

impl FeatureCheck<'_> {
    /// Returns the rule that a feature breaks which cannot be read.
    pub(super) fn rule_of(
        &self,
        (bit, section): (u32, Section),
        error: &FeatureError,
    ) -> &'static Rule {
        let is = |one: Trait| features::feature(bit).is_some_and(|feature| feature.is(one));
        let is_shown = is(Trait::CrashesAtEvents) || is(Trait::CrashesAtBuildId);
        let crashes = is(Trait::CrashesAtBitmap) && is_too_large(error)
            || is(Trait::CrashesAtBuildId) && is_too_long(error)
            || is(Trait::CrashesAtEvents) && is_too_many(error) && !self.is_strict();
        match self.hides_needed(bit) {
            _ if is(Trait::Crashes) => &rules::FEATURE_FATAL,
            _ if self.needs(bit) => &rules::FEATURE_MISSING,
            _ if crashes => &rules::FEATURE_FATAL,
            // perf 7 shows the records without them.
            false if is_shown => &rules::FEATURE_MALFORMED,
            // perf 7 adds the NUL.
            _ if is_unterminated(error) && section.size > 0 => self.rule_of_stop(bit),
            _ if self.is_strict() => &rules::FEATURE_FATAL,
            _ => self.rule_of_stop(bit),
        }
    }

    /// Whether the perf that recorded refuses the file at a malformed feature.
    pub(super) fn is_strict(&self) -> bool {
        self.facts.recorder.is_recorder_strict()
    }

    /// Whether perf shows samples under the bytes of a damaged EVENT_DESC. Before perf 7 it takes
    /// the name of an event up to a NUL, wherever that is, and gives it to the ids that follow.
    pub(super) fn misnames(&self, (bit, _): (u32, Section), error: &FeatureError) -> bool {
        let is_shown = match error {
            FeatureError::StringWithoutNul { label: "event.name", .. } => !self.is_strict(),
            FeatureError::NoName { .. } => true,
            _ => false,
        };
        bit == bit::EVENT_DESC && is_shown
    }

    /// Whether perf, which stops at a feature that it cannot read, then misses one that the records
    /// need.
    pub(super) fn hides_needed(&self, bit: u32) -> bool {
        [bit::COMPRESSED, bit::DIR_FORMAT].iter().any(|later| bit < *later && self.needs(*later))
    }

    /// Whether the records need COMPRESSED or DIR_FORMAT.
    fn needs(&self, bit: u32) -> bool {
        match bit {
            bit::COMPRESSED => self.facts.compressed.is_some(),
            bit::DIR_FORMAT => self.facts.has_parts,
            _ => false,
        }
    }

    /// Returns the rule of a feature at which perf stops to read features.
    pub(super) fn rule_of_stop(&self, bit: u32) -> &'static Rule {
        match self.hides_needed(bit) {
            true => &rules::FEATURE_FATAL,
            false => &rules::FEATURE_MALFORMED,
        }
    }

    /// Whether COMPRESSED has a buffer that is too small for the compressed records, or too large.
    pub(super) fn has_wrong_buffer(&self, contents: &Contents) -> bool {
        let longest = self.facts.compressed.map(|(longest, _)| longest);
        let given = contents.mmap_len.zip(longest);
        given.is_some_and(|(len, longest)| rule_of_mmap_len(len, longest).is_some())
    }

    /// Builds the finding of an `mmap_len` that breaks a rule; `longest` is the longest expansion.
    pub(super) fn wrong_mmap_len(
        &self,
        (rule, section): (&'static Rule, Section),
        mmap_len: u32,
        longest: u64,
    ) -> Finding {
        let nearest = repair::nearest_mmap_len(mmap_len, longest);
        let wanted = nearest.unwrap_or_else(|| repair::mmap_len(longest));
        let expanded = byte_count(longest);
        let message = match u64::from(mmap_len) < longest {
            true => format!("mmap_len is {mmap_len}, but a record expands to {expanded}"),
            false => format!("mmap_len is {mmap_len}, more than any ring buffer has"),
        };
        let span = Span::sized(FILE, section.offset.saturating_add(16), 4);
        let edit = Edit::replace(span, repair::u32_bytes(wanted, self.recording.order()));
        let path = "features.COMPRESSED.mmap_len";
        let summary = format!("set mmap_len to {wanted}");
        let data = Span::new(FILE, self.recording.body.data.offset, self.end);
        // Otherwise other bytes may lie where the section was.
        let is_tight = self.recording.table(self.end).is_tight(self.recording.length());
        let fix = match nearest.filter(|_| is_tight) {
            Some(_) => Fix::new(Safety::Exact, summary, vec![edit])
                .witness(data, "compressed records and what they expand to"),
            None => Fix::new(Safety::Lossy, summary, vec![edit]),
        };
        Finding::new(rule, span, path, message).fix(fix)
    }
}

/// Returns the rule that an `mmap_len` breaks if the longest record expands to `longest` bytes.
pub(super) fn rule_of_mmap_len(mmap_len: u32, longest: u64) -> Option<&'static Rule> {
    match u64::from(mmap_len) < longest {
        true => Some(&rules::MMAP_LEN_SMALL),
        false => repair::is_mmap_len_large(mmap_len).then_some(&rules::MMAP_LEN_LARGE),
    }
}

/// Whether a text lacks its NUL.
const fn is_unterminated(error: &FeatureError) -> bool {
    matches!(error, FeatureError::StringWithoutNul { len, .. } if *len > 0)
}

/// Whether perf crashes at the size of a bitmap: it allocates as many bits as an int holds, and
/// reads all of them (util/header.c: `do_read_bitmap`).
fn is_too_large(error: &FeatureError) -> bool {
    /// Words of 64 bits whose bits an int does not count.
    const WORDS: u64 = 1 << 25;
    match error {
        FeatureError::CountTooLarge { label, value, .. } => {
            *label == "bitmap.size" && *value >= WORDS
        }
        _ => false,
    }
}

/// Whether perf 6.12 and older abort at the number of events: with the one that they add it is 0,
/// and they write to an array of that length.
const fn is_too_many(error: &FeatureError) -> bool {
    matches!(error, FeatureError::CountTooLarge { value, .. } if *value == 0xffff_ffff)
}

/// Whether perf crashes at the size of a build id: it copies the bytes over a buffer.
const fn is_too_long(error: &FeatureError) -> bool {
    matches!(error, FeatureError::Number { .. })
}
