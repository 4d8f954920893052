//! The feature AUXTRACE: an index of the AUXTRACE records, by which perf finds the traces.
//!
//! ```text
//!  u64 nr, then for each record u64 offset in the file, u64 header.size
//! ```

use super::feature_check::{FeatureCheck, Placed};
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::layout::feature as bit;
use crate::formats::perf::repair;
use crate::formats::perf::rules;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::words::plural;
use crate::model::edit::{Fix, Safety};
use crate::model::limits::WINDOW;
use crate::model::{Finding, Report, Severity};

/// Bytes of an entry, and of the count before the entries.
const ENTRY: u64 = 16;
const COUNT: u64 = 8;

impl FeatureCheck<'_> {
    /// Whether the index is judged by the records alone, and not by its own fields.
    pub(super) fn is_index_of_records(&self, number: u32) -> bool {
        let has_traces = self.facts.traces.as_ref().is_some_and(|traces| !traces.is_empty());
        number == bit::AUXTRACE && has_traces && !self.recording.file.is_simpleperf()
    }

    /// Compares the index with the records. Returns whether they agree.
    pub(super) fn check_aux_index(
        &self,
        placed: &Placed,
        can_fix: bool,
        report: &mut Report,
    ) -> bool {
        let index = placed.inside.iter().find(|(number, _)| *number == bit::AUXTRACE);
        let Some(((_, section), traces)) = index.zip(self.facts.traces.as_ref()) else {
            return true;
        };
        let is_held = section.size <= self.limits.of(&WINDOW);
        if self.recording.file.is_simpleperf() || !is_held {
            return true;
        }
        let words = self.recording.words_of(*section);
        let right = repair::aux_index(traces);
        if words.starts_with(&right) {
            return true;
        }
        let listed = to_u64(words.len().saturating_sub(1)) >> 1;
        let nr = words.first().copied().unwrap_or(0);
        if traces.is_empty() && nr > listed {
            // A malformed index of no record is another feature, or damaged itself.
            return true;
        }
        let message = describe(&words, &right);
        let mut finding =
            Finding::new(&rules::AUX_INDEX_WRONG, section.span(0), "features.AUXTRACE", message);
        if nr == 0 || traces.is_empty() {
            finding.severity = Severity::Warning;
        }
        report.push(finding.fix(self.rebuild_index((*section, &words), traces, placed, can_fix)));
        false
    }

    fn rebuild_index(
        &self,
        (section, words): (Section, &[u64]),
        traces: &[Span],
        placed: &Placed,
        can_fix: bool,
    ) -> Fix {
        let right = repair::aux_index(traces);
        let order = self.recording.order();
        let room = COUNT.saturating_add(to_u64(traces.len()).saturating_mul(ENTRY));
        // Attrs that follow the records would move with the sections.
        let can_move = placed.outside.is_empty() && self.facts.attrs_end <= self.end;
        let edits = match section.size == room {
            _ if !can_fix => Vec::new(),
            true => repair::write_words(section.offset, words, &right, order),
            false if can_move => {
                repair::resize_section(placed.table, &placed.inside, section, &right, order)
            }
            false => Vec::new(),
        };
        let summary = format!("list {}", plural(to_u64(traces.len()), "AUXTRACE record"));
        // With the flag of another feature lost, the section is that of the one before.
        let (known, entries) = (right.iter().skip(1), words.iter().skip(1));
        let is_index = section.size == room
            || known.zip(entries).any(|(right, found)| right == found && *right != 0);
        match (traces.first(), traces.last()) {
            (Some(first), Some(last)) if is_index => {
                let records = Span::new(first.layer, first.start, last.end);
                Fix::new(Safety::Exact, summary, edits).witness(records, "AUXTRACE records")
            }
            _ => Fix::new(Safety::Lossy, summary, edits),
        }
    }
}

/// Describes the first difference between an index and the right one.
fn describe(words: &[u64], right: &[u64]) -> String {
    let [listed, count] = [words, right].map(|all| all.first().copied().unwrap_or(0));
    if listed != count {
        let records = plural(count, "AUXTRACE record");
        return format!("auxtrace.nr is {listed}, but the recording has {records}");
    }
    let mut pairs = right.iter().zip(words.iter().map(Some).chain(std::iter::repeat(None)));
    let place = pairs.position(|(right, found)| found != Some(right)).unwrap_or(0);
    let [found, expected] = [words, right].map(|all| all.get(place).copied().unwrap_or(0));
    let entry = place.saturating_sub(1) >> 1;
    let field = if place & 1 == 1 { "offset" } else { "size" };
    format!("{field} of AUXTRACE entry {entry} is {found:#x}, expected {expected:#x}")
}
