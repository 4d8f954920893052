//! What is wrong with a log.
//!
//! [`regular`] is what is usual as data, [`judge`] looks at one event, [`lane`] reads a log as some
//! layouts have it, [`race`] finds out which layouts it has, [`closing`] says how it ends and how it
//! is closed, [`facts`] sums up.

pub mod closing;
pub mod facts;
pub mod judge;
pub mod lane;
pub mod race;
pub mod regular;

use crate::formats::qemu::options;
use crate::limits::FINDINGS;
use crate::formats::qemu::check::closing::Closing;
use crate::formats::qemu::check::lane::{Lane, Stop};
use crate::formats::qemu::check::race::Race;
use crate::formats::qemu::decode::event::FILE;
use crate::formats::qemu::layout::{self, HEADER_LEN, LAYOUTS, Layouts, VERSION_LEN};
use crate::formats::qemu::rules;
use crate::kit::cursor::{Cursor, Order};
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::mend::edit::Fix;
use crate::report::{Finding, Report, Rule, Severity};
use crate::{FileSet, Options};

/// Events that a layout has to explain before it is believed without a version word.
pub const EVENTS_BELIEVED: u64 = 8;
/// Words that lived between releases: `[0xe02003, 0xe02005, 0xe0200b]`.
const UNRELEASED: [u32; 3] = [0x00e0_2003, 0x00e0_2005, 0x00e0_200b];

/// The version word of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// 0: the recorder never finished.
    Zero,
    /// A release's.
    Known(u32),
    /// From between two releases.
    Unreleased(u32),
    /// Of a later release than the last one known.
    Newer(u32),
    /// No version.
    Damaged(u32),
}

impl Word {
    /// What the word means.
    pub fn new(word: u32) -> Self {
        let last = LAYOUTS.iter().map(|layout| layout.version).max().unwrap_or(0);
        match word {
            0 => Self::Zero,
            _ if LAYOUTS.iter().any(|layout| layout.version == word) => Self::Known(word),
            _ if UNRELEASED.contains(&word) => Self::Unreleased(word),
            _ if word > last && word <= last.saturating_add(32) => Self::Newer(word),
            _ => Self::Damaged(word),
        }
    }

    /// The layouts that a log with this word may have.
    pub fn layouts(self) -> Layouts {
        match self {
            Self::Known(word) => Layouts::of(|_, layout| layout.version == word),
            _ => Layouts::of(|_, _| true),
        }
    }
}

/// The version word of a source that holds one.
pub fn word(source: &Source<'_>) -> Option<Word> {
    let bytes = source.read(0, VERSION_LEN);
    Cursor::new(&bytes, FILE, 0, Order::Big).u32("version").ok().map(Word::new)
}

/// Checks a log.
pub fn check(files: &FileSet<'_>, options: &Options, report: &mut Report) {
    let source = files.bytes(0);
    let Some(word) = word(&source).filter(|_| source.len() >= HEADER_LEN) else {
        let message = format!("{} bytes, the header has {HEADER_LEN}", source.len());
        let span = Span::new(FILE, 0, source.len());
        report.push(Finding::new(&rules::HEADER_TORN, span, "header", message));
        report.mark_unreadable();
        return;
    };
    reserved(&source, report);
    let race = race::race(&source, word.layouts(), u64::MAX, options.limits.count_of(&FINDINGS));
    let chosen = chosen(options, &race, word, report);
    let Race { best, lost } = race;
    let left = match chosen {
        Some(number) => Layouts::default().with(number),
        None => best.iter().fold(Layouts::default(), |set, lane| set.or(lane.layouts)),
    };
    // All that are left read the log alike as far as anyone can tell.
    let with = |lane: &Lane<'_>| chosen.is_none_or(|number| lane.layouts.contains(number));
    let Some(lane) = best.into_iter().find(with) else { return };
    facts::layouts(word, left, &lost, report);
    let explained = !matches!(lane.stop, Some(Stop::Lost(_))) || lane.events() >= EVENTS_BELIEVED;
    if matches!(word, Word::Known(_)) || explained {
        let contradicted = options::qemu_version(options).is_some() && chosen.is_none();
        let fix = Closing::new(word, left, contradicted, &lane, options).report(report);
        facts::events(&lane, report);
        own(lane, fix, report);
    } else {
        unexplained(word, &lane, report);
    }
}

/// The unused bytes of the header.
fn reserved(source: &Source<'_>, report: &mut Report) {
    let bytes = source.read(VERSION_LEN, HEADER_LEN);
    let count = bytes.iter().filter(|byte| **byte != 0).count();
    if count > 0 {
        let span = Span::new(FILE, VERSION_LEN, HEADER_LEN);
        let message = format!("{count} of 8 unused bytes are not 0");
        report.push(Finding::new(&rules::HEADER_RESERVED, span, "header.reserved", message));
    }
}

/// The layout that the user chose, if the log can have it.
fn chosen(options: &Options, race: &Race<'_>, word: Word, report: &mut Report) -> Option<usize> {
    let text = options::qemu_version(options)?;
    let number = layout::release(text);
    let possible = number.filter(|number| race.layouts().contains(*number));
    if possible.is_none() {
        let text = crate::kit::text::Untrusted(text.as_bytes());
        let why = match (
            number,
            race.lost.iter().find(|one| number.is_some_and(|n| one.layouts.contains(n))),
        ) {
            (None, _) => "no release of that name is known".to_string(),
            (_, Some(lost)) => format!("{} at {:#x} speaks against it", lost.name, lost.at),
            _ => match word {
                Word::Known(word) => format!("the version is {word:#x}"),
                _ => "another layout explains more".to_string(),
            },
        };
        let message = format!("{text} was chosen, but {why}; left: {}", race.layouts().shown());
        let span = Span::new(FILE, 0, VERSION_LEN);
        let rule = &rules::CHOICE_CONTRADICTED;
        report.push(Finding::new(rule, span, "header.version", message));
    }
    possible
}

/// A log without a usable version that no layout explains.
fn unexplained(word: Word, lane: &Lane<'_>, report: &mut Report) {
    let message = format!(
        "{}; no layout explains more than {} events, up to {:#x}",
        closing::said(word),
        lane.events(),
        lane.at
    );
    let rule: &'static Rule = closing::rule(word).unwrap_or(&rules::UNFINISHED);
    let span = Span::new(FILE, 0, VERSION_LEN);
    report.push(Finding::new(rule, span, "header.version", message));
    report.mark_unreadable();
}

/// The lane's own findings, those that were only counted too. The first damage gets the fix.
fn own(lane: Lane<'_>, fix: Option<Fix>, report: &mut Report) {
    let (found, more) = lane.into_findings();
    let mut fix = fix;
    for mut finding in found {
        if finding.severity == Severity::Error {
            finding.fix = fix.take();
        }
        report.push(finding);
    }
    for (rule, count) in more {
        report.count_more(rule, rule.severity, count);
    }
}
