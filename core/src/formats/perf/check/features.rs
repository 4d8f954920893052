//! The features after the records: their table, their sections, and their agreement with the
//! records.

use super::cpus::CpuCheck;
use super::event_desc::describe_events;
use super::feature_check::{FeatureCheck, Placed, Settled, title};
use super::feature_faults::rule_of_mmap_len;
use super::tracing;
use crate::formats::perf::decode::feature::{self, Contents, Cpus, Machine, Refusal};
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::decode::tracing::names;
use crate::formats::perf::layout::features::{self, Feature};
use crate::formats::perf::layout::{SECTION_SIZE, feature as bit, field};
use crate::formats::perf::repair::{self, Features, NewFeature};
use crate::formats::perf::rules;
use crate::kit::cursor::Order;
use crate::kit::holes::{describe_trailing, find_tail};
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::words::{agree, byte_count, join_and, plural};
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::limits::WINDOW;
use crate::model::rule::common;
use crate::model::{Finding, Report, Rule, Severity};

const FILE: Layer = Layer::stored(0);
/// Entries of the table that perf may reserve and leave unused at the end of a file.
const RESERVED_ENTRIES: u64 = 32;

fn titles(bits: impl Iterator<Item = u32>) -> Vec<String> {
    bits.map(title).collect()
}

/// The features whose sections could be read, and the findings of the others.
#[derive(Default)]
struct Sections {
    readable: Vec<(u32, Section)>,
    malformed: Vec<Finding>,
}

/// The result of reading one section.
enum SectionRead {
    Valid(Box<Contents>),
    Malformed(Box<Finding>),
    Skipped,
}

impl FeatureCheck<'_> {
    /// Checks table and sections. Returns the features if no fix moves them, so another fix may.
    pub(super) fn check(&self, report: &mut Report) -> Option<Settled> {
        let placed = self.place_sections();
        let cpus = CpuCheck { check: self, placed: &placed }.check(report);
        let sections = self.read_sections(&placed.inside, cpus, report);
        let whole = Features { keep: placed.inside.clone(), add: Vec::new() };
        if !placed.outside.is_empty() {
            self.push_outside(&placed, whole, report);
            return None;
        }
        let has_malformed = !sections.malformed.is_empty();
        self.push_malformed(sections, report);
        let is_complete = self.check_missing(&placed, self.can_fix && !has_malformed, report);
        // Only one fix per round may move what follows the records.
        let can_fix = self.can_fix && !has_malformed && is_complete;
        let can_drop = self.check_aux_index(&placed, can_fix, report) && can_fix;
        let is_tight = self.check_trailing(&placed, can_drop, report);
        let is_settled = can_drop && self.recording.header.has_feature_bits();
        is_settled.then_some(Settled { end: self.end, features: whole, is_tight })
    }

    fn place_sections(&self) -> Placed {
        let table = self.recording.table(self.end);
        let mut placed = Placed { table: table.span, inside: Vec::new(), outside: Vec::new() };
        for bit in self.recording.body.flags.bits() {
            match table.section(bit) {
                Some(section)
                    if section.fits(self.recording.length())
                        && (section.offset >= table.span.end || section.size == 0) =>
                {
                    placed.inside.push((bit, section));
                }
                _ => placed.outside.push(bit),
            }
        }
        placed
    }

    /// Reads the sections, CPU_TOPOLOGY by `cpus` if these are known.
    fn read_sections(
        &self,
        inside: &[(u32, Section)],
        cpus: Option<Cpus>,
        report: &mut Report,
    ) -> Sections {
        let mut sections = Sections::default();
        let mut machine = self.facts.recorder;
        machine = cpus.map_or(machine, |cpus| machine.with_cpus(cpus));
        for (bit, section) in inside {
            if feature::name(*bit).is_none() {
                let size = byte_count(section.size);
                let message = format!("unknown feature bit {bit}: a section of {size}");
                let path = format!("features[{bit}]");
                let span = section.span(0);
                report.push(Finding::new(&rules::UNKNOWN_FEATURE, span, path, message));
                sections.readable.push((*bit, *section));
                continue;
            }
            let is_counted = *bit == bit::NRCPUS && cpus.is_some() && section.size >= 8;
            if is_counted || self.is_index_of_records(*bit) {
                sections.readable.push((*bit, *section));
                continue;
            }
            match self.read_section((*bit, *section), machine, report) {
                SectionRead::Valid(contents) => {
                    machine.note(&contents);
                    self.compare(*section, &contents, report);
                }
                SectionRead::Malformed(finding) => {
                    sections.malformed.push(*finding);
                    continue;
                }
                SectionRead::Skipped => {}
            }
            sections.readable.push((*bit, *section));
        }
        sections
    }

    fn read_section(
        &self,
        (bit, section): (u32, Section),
        machine: Machine,
        report: &mut Report,
    ) -> SectionRead {
        let path = format!("features.{}", title(bit));
        // TRACING_DATA has no limit of its own: the events that the kernel has make it long.
        let held = section.size.min(self.limits.of(&WINDOW));
        if held < section.size && bit != bit::TRACING_DATA {
            let message = format!(
                "{} has {}, more than the limit of {held}: not checked",
                title(bit),
                byte_count(section.size)
            );
            report.push(Finding::new(&common::LIMIT_REACHED, section.span(0), path, message));
            return SectionRead::Skipped;
        }
        let may_be_empty = !self.is_strict() && !self.hides_needed(bit);
        let harmless = if may_be_empty && self.is_empty_text((bit, section)) {
            Some(format!("{} is empty: 0 bytes", title(bit)))
        } else if self.is_under_attrs((bit, section)) {
            Some("the attrs lie over the start of BUILD_ID, as perf inject writes them".to_string())
        } else {
            None
        };
        if let Some(message) = harmless {
            let mut finding =
                Finding::new(&rules::FEATURE_MALFORMED, section.span(0), path, message);
            finding.severity = Severity::Info;
            report.push(finding);
            return SectionRead::Skipped;
        }
        match self.recording.read_feature((bit, section), machine.cpus(), held) {
            // The comparison with the records reports it.
            Ok(contents) if self.has_wrong_buffer(&contents) => {
                SectionRead::Valid(Box::new(contents))
            }
            Ok(contents) => match self.find_contradiction((bit, section), machine, held) {
                Some((rule, message)) => {
                    let finding = Finding::new(rule, section.span(0), path, message);
                    if *rule == rules::NEWER_REFUSES {
                        report.push(finding);
                        return SectionRead::Valid(Box::new(contents));
                    }
                    SectionRead::Malformed(Box::new(finding))
                }
                None => SectionRead::Valid(Box::new(contents)),
            },
            Err(error) => {
                let message = format!("malformed {}: {error}", title(bit));
                let rule = self.rule_of((bit, section), &error);
                let mut finding = Finding::new(rule, section.span(0), path, message);
                if self.misnames((bit, section), &error) {
                    finding.severity = Severity::Error;
                }
                SectionRead::Malformed(Box::new(finding))
            }
        }
    }

    /// Whether the ids and attrs, which perf inject writes after the records of a pipe, lie over
    /// the build ids that it wrote there before.
    fn is_under_attrs(&self, (bit, section): (u32, Section)) -> bool {
        let begins = section.offset < self.facts.attrs_end;
        let attrs = self.recording.body.attrs.offset;
        bit == bit::BUILD_ID && begins && section.end().is_some_and(|end| attrs < end)
    }

    /// Whether a text has no bytes, as perf 3.14 wrote CPUDESC on ARM, and no others were lost.
    fn is_empty_text(&self, (bit, section): (u32, Section)) -> bool {
        let is_text = features::feature(bit).is_some_and(Feature::is_text);
        let table = || self.recording.table(self.end);
        is_text && section.size == 0 && table().is_tight(self.recording.length())
    }

    /// Describes what perf refuses in a feature that can be read.
    fn find_contradiction(
        &self,
        (bit, section): (u32, Section),
        machine: Machine,
        held: u64,
    ) -> Option<(&'static Rule, String)> {
        let events = self.facts.events;
        if bit != bit::TRACING_DATA
            && let Err(refusal) = self.recording.refuse_feature((bit, section), &machine, events)
        {
            let (rule, error) = match refusal {
                Refusal::All(error) if self.is_strict() => (&rules::FEATURE_FATAL, error),
                Refusal::All(error) => (self.rule_of_stop(bit), error),
                Refusal::Newer(error) if self.is_strict() => (&rules::FEATURE_FATAL, error),
                Refusal::Newer(error) => (&rules::NEWER_REFUSES, error),
            };
            return Some((rule, format!("malformed {}: {error}", title(bit))));
        }
        let message = self.find_undescribed((bit, section), held)?;
        Some((&rules::FEATURE_FATAL, message))
    }

    /// Describes a tracepoint that TRACING_DATA, of which `held` bytes are read, does not describe.
    fn find_undescribed(&self, (bit, section): (u32, Section), held: u64) -> Option<String> {
        let traced = &self.facts.tracepoints;
        if bit != bit::TRACING_DATA || held < section.size || traced.is_empty() {
            return None;
        }
        let tracing = self.recording.read_tracing(section, |id| traced.contains_key(&id)).ok()?;
        tracing::find_undescribed(traced, &tracing)
    }

    /// Compares a feature with the records.
    fn compare(&self, section: Section, contents: &Contents, report: &mut Report) {
        if let (Some(mmap_len), Some((longest, _))) = (contents.mmap_len, self.facts.compressed)
            && let Some(rule) = rule_of_mmap_len(mmap_len, longest)
        {
            report.push(self.wrong_mmap_len((rule, section), mmap_len, longest));
        }
    }

    /// Reports features whose sections are truncated or lie at an impossible place.
    fn push_outside(&self, placed: &Placed, mut features: Features, report: &mut Report) {
        let len = self.recording.length();
        let names = titles(placed.outside.iter().copied());
        let count = to_u64(names.len());
        let cut = self.find_cut(placed);
        let is_cut = cut.map(|lost| format!(", which ends {} too early", byte_count(lost)));
        let message = format!(
            "{} {} outside the file of {}{}: {}",
            plural(count, "flagged feature"),
            agree(count, "lies", "lie"),
            byte_count(len),
            is_cut.unwrap_or_default(),
            join_and(&names)
        );
        let built = self.rebuild_lost(&mut features);
        let edits = self.rewrite(&features, true);
        let at_end = edits.iter().filter(|edit| edit.span.end == len);
        let dropped = at_end.fold(0_u64, |sum, edit| sum.saturating_add(edit.span.len()));
        let cleared = plural(count, "feature bit");
        let summary = format!("clear {cleared}, drop {}{built}", byte_count(dropped));
        let flags = Span::sized(FILE, field::FLAGS, 32);
        let span = if placed.table.is_empty() { flags } else { placed.table };
        let mut finding = Finding::new(&rules::FEATURE_OUTSIDE, span, "features", message);
        if cut.is_some() {
            let end = Span::new(FILE, len.saturating_sub(1), len);
            finding = finding.related(end, "the end of the file");
        }
        report.push(finding.fix(Fix::new(Safety::Lossy, summary, edits)));
    }

    /// Returns the bytes from the end of the file to that of the last section, if the sections
    /// outside follow one another from inside the file: then it is cut, and the table is right.
    fn find_cut(&self, placed: &Placed) -> Option<u64> {
        let len = self.recording.length();
        let table = self.recording.table(self.end);
        let sections = placed.outside.iter().map(|bit| table.section(*bit));
        let sections: Vec<Section> = sections.collect::<Option<_>>()?;
        let follow = |pair: &[Section]| match pair {
            [one, next] => one.end() == Some(next.offset),
            _ => false,
        };
        let first = sections.first()?.offset;
        let is_row = sections.windows(2).all(follow) && (placed.table.end..=len).contains(&first);
        let lost = sections.last()?.end()?.checked_sub(len)?;
        (is_row && lost > 0).then_some(lost)
    }

    /// Reports malformed features. The fix of the first one drops all of them.
    fn push_malformed(&self, sections: Sections, report: &mut Report) {
        let count = to_u64(sections.malformed.len());
        let mut findings = sections.malformed.into_iter();
        let Some(first) = findings.next() else { return };
        let mut features = Features { keep: sections.readable, add: Vec::new() };
        let built = self.rebuild_lost(&mut features);
        let edits = self.rewrite(&features, true);
        let summary = format!("drop {}{built}", plural(count, "malformed feature"));
        report.push(first.fix(Fix::new(Safety::Lossy, summary, edits)));
        findings.for_each(|finding| report.push(finding));
    }

    /// Adds the features that the records need, and those that can be built from what is left, if
    /// they do not stay. Returns what it builds, each after a comma.
    fn rebuild_lost(&self, features: &mut Features) -> String {
        let order = self.recording.order();
        let mut add = self.facts.needed_features(order, |bit| features.keeps(bit));
        let mut built: Vec<String> =
            add.iter().map(|(bit, _)| format!("build {}", title(*bit))).collect();
        let (rebuilt, traced) = (self.rebuild_tracing(features), &self.facts.tracepoints);
        if self.recording.body.flags.has(bit::EVENT_DESC) && !features.keeps(bit::EVENT_DESC) {
            let names = match &rebuilt {
                Some(((_, content), _)) => names(content, traced),
                None => {
                    let held = self.limits.of(&WINDOW);
                    self.recording.tracepoint_names(&features.keep, held, traced)
                }
            };
            let described = describe_events(self.recording, &names, self.limits);
            built.extend(described.iter().map(|(bit, _)| format!("build {}", title(*bit))));
            add.extend(described);
        }
        if let Some((tracing, text)) = rebuilt {
            add.push(tracing);
            built.push(text);
        }
        if let Some(cpus) = repair::keep_cpus(self.recording, &mut features.keep) {
            add.push(cpus);
            built.push("build NRCPUS".to_string());
        }
        let has_host = features.keeps(bit::HOSTNAME) || features.keep.is_empty();
        if order == Order::Big && self.recording.body.flags.has(bit::HOSTNAME) && !has_host {
            add.push(repair::lost_hostname(order));
        }
        features.add = repair::with_hostname(add, order, |bit| features.keeps(bit));
        built.iter().map(|text| format!(", {text}")).collect()
    }

    /// Builds TRACING_DATA from what is left of it, if it does not stay. Returns it and its text.
    fn rebuild_tracing(&self, features: &Features) -> Option<(NewFeature, String)> {
        if features.keeps(bit::TRACING_DATA) {
            return None;
        }
        let table = self.recording.table(self.end);
        let traced = &self.facts.tracepoints;
        tracing::rebuild(self.recording, traced, &table.entries, self.limits)
    }

    fn rewrite(&self, features: &Features, drop_tail: bool) -> Vec<Edit> {
        match self.can_fix {
            true => repair::rewrite(self.recording, self.end, features, drop_tail),
            false => Vec::new(),
        }
    }

    /// Checks that the header flags the features that the records need. Returns whether it does.
    fn check_missing(&self, placed: &Placed, can_fix: bool, report: &mut Report) -> bool {
        let (header, flags) = (&self.recording.header, self.recording.body.flags);
        let add = self.facts.needed_features(header.order, |bit| flags.has(bit));
        // simpleperf has no feature for compressed records, and reads them by the records alone.
        if add.is_empty() || self.recording.file.is_simpleperf() {
            return true;
        }
        let names = join_and(&titles(add.iter().map(|(bit, _)| *bit)));
        let noun = agree(to_u64(add.len()), "feature", "features");
        let mut message = format!("missing {noun}: the records need {names}");
        if !header.has_feature_bits() {
            let size = byte_count(header.size);
            message.push_str(&format!("; a header of {size} has no feature bits"));
        }
        let span = Span::sized(FILE, field::FLAGS, 32);
        let mut finding = Finding::new(&rules::FEATURE_MISSING, span, "header.flags", message);
        if can_fix && header.has_feature_bits() {
            let features = Features { add, keep: placed.inside.clone() };
            let edits = repair::rewrite(self.recording, self.end, &features, false);
            let records = Span::new(FILE, self.recording.body.data.offset, self.end);
            // One record of perf stat alone may be another one whose type is damaged.
            let is_sure = flags.has(bit::STAT) || self.facts.seen.stat_records != 1;
            let is_kept = self.keeps_all(placed);
            let safety = if is_kept && is_sure { Safety::Synthetic } else { Safety::Lossy };
            let fix = Fix::new(safety, format!("build {names}"), edits);
            finding = finding.fix(fix.witness(records, "records that need the features"));
        }
        report.push(finding);
        false
    }

    /// Whether a new table for the features inside the file keeps all others: the sections of
    /// flagged ones may lie outside, and others where no flag leads, in the place of the new table.
    pub(super) fn keeps_all(&self, placed: &Placed) -> bool {
        placed.outside.is_empty() && self.find_trailing(placed).is_none()
    }

    /// Checks that the file ends with its last section. Returns whether it does.
    fn check_trailing(&self, placed: &Placed, can_drop: bool, report: &mut Report) -> bool {
        let Some(span) = self.find_trailing(placed) else { return true };
        let is_tail = find_tail(self.recording.file.source()) <= span.start;
        let message = describe_trailing(span.len(), is_tail, "after the last section");
        let summary = format!("drop {}", plural(span.len(), "trailing byte"));
        let edits = if can_drop { vec![Edit::drop(span)] } else { Vec::new() };
        let fix = Fix::new(Safety::Lossy, summary, edits);
        let mut finding = Finding::new(&rules::TRAILING_BYTES, span, "file", message);
        if self.recording.file.is_simpleperf() {
            // It writes features over those of a file that may be longer, and reads past them.
            finding.severity = Severity::Info;
            report.push(finding);
        } else {
            report.push(finding.fix(fix));
        }
        false
    }

    /// Returns the bytes after everything that the file needs; `None` if there are none.
    pub(super) fn find_trailing(&self, placed: &Placed) -> Option<Span> {
        let (table, len) = (placed.table, self.recording.length());
        let end = self.end.max(self.facts.attrs_end);
        let sections = placed.inside.iter().filter(|(_, section)| section.size > 0);
        let last = sections.filter_map(|(_, section)| section.end()).max().unwrap_or(end);
        // perf reserves entries of the table for features that it then drops.
        let reserved = match placed.inside.is_empty() {
            true => 0,
            false => SECTION_SIZE.saturating_mul(RESERVED_ENTRIES),
        };
        let after = last.max(table.end).max(end);
        let left = len.saturating_sub(after);
        let is_reserved = last <= table.end && left <= reserved;
        (left > 0 && !is_reserved).then(|| Span::new(FILE, after, len))
    }
}
