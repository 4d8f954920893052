//! The end of a log: how it ends, and where a repair has to cut it.
//!
//! A killed recorder, a truncated file, an END without its SHUTDOWN, and damage that the user wants
//! to drop lead to the same facts: a place to cut at, and the events with which the writer of the
//! layout ends a log.

use crate::formats::qemu::decode::decoder::Decoder;
use crate::formats::qemu::decode::defect_log::{Anchor, Damage};
use crate::formats::qemu::decode::event::{FILE, Fault, FaultKind};
use crate::formats::qemu::decode::header::{Header, Version, VersionEvidence};
use crate::formats::qemu::decode::walk::Walker;
use crate::formats::qemu::layout::{Cause, HEADER_LEN, Kind, LAYOUTS, Layout, Layouts};
use crate::formats::qemu::limits::RESYNC;
use crate::formats::qemu::recover::cut::{self, Dropped, EVENTS_BELIEVED, EVENTS_SURE, Kept};
use crate::formats::qemu::recover::lane::{Lane, Stop};
use crate::formats::qemu::recover::race::Excluded;
use crate::formats::qemu::recover::start::find_start;
use crate::kit::holes;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::model::limits::Limits;

/// How the events end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tail {
    /// As the writer ends a log; END begins here.
    Complete(u64),
    /// With END, which begins here, but without SHUTDOWN+HOST_SIGNAL.
    Unpaired(u64),
    /// Without END: after a complete event, or in a truncated one.
    Missing(Option<Fault>),
    /// Unknown: the reading lost its way, perhaps in an array that ends after the file.
    Lost(Option<Fault>),
}

/// The content of the bytes after END.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trailing {
    /// One more END.
    SecondEnd,
    /// That many events, which lead to another END.
    Events(u64),
    /// The header of another finished log.
    Log,
    /// The preallocated tail of the file.
    Zeros,
    /// Other bytes.
    Bytes,
}

/// A reason not to rely on a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The layout is a guess, which no version word and no user confirms.
    Layout,
    /// Nothing confirms the version, and bytes follow END or the layouts read the events
    /// differently; or the closed log would read as one of another layout. END may be a part of an
    /// event of another layout.
    End,
}

/// A cut that closes the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The place where complete events end, before stepping back.
    pub at: u64,
    /// The part before the cut.
    pub kept: Kept,
    /// The part after a cut at damage.
    pub dropped: Option<Dropped>,
}

/// The facts about a log, and the wishes of the user, by which its end is read.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The header.
    pub header: Header,
    /// The layouts that the log may have.
    pub layouts: Layouts,
    /// The bytes that determine the version, if they do.
    pub evidence: Option<VersionEvidence>,
    /// Whether the user names a release that the log can have.
    pub is_named: bool,
    /// Whether the user names a release that the log cannot have.
    pub is_contradicted: bool,
    /// Whether the user wants to keep only the part before damage, and nothing after END.
    pub wants_prefix: bool,
}

/// The end of a log under one reading.
#[derive(Clone, Debug)]
pub struct Ending {
    /// The header.
    pub header: Header,
    /// The layouts that the log may have.
    pub layouts: Layouts,
    /// The bytes that determine the version, if they do.
    pub evidence: Option<VersionEvidence>,
    /// The reason not to rely on this reading.
    pub doubt: Option<Doubt>,
    /// How the events end.
    pub tail: Tail,
    /// The bytes after END, if there are any.
    pub trailing: Option<(Span, Trailing)>,
    /// The place where the damage begins.
    pub damage: Option<Damage>,
    /// Whether the user wants to keep only the part before damage and after END nothing.
    pub wants_prefix: bool,
    /// The cut that closes the log, if it has to be closed.
    pub cut: Option<Cut>,
    /// Length of the file in bytes.
    pub len: u64,
}

impl Ending {
    /// Describes the end of the log that `lane` read.
    pub fn new(lane: &Lane<'_>, request: Request, limits: &Limits) -> Self {
        let Request { header, layouts, evidence, is_named, is_contradicted, wants_prefix } =
            request;
        let version = header.version;
        let source = lane.decoder().source();
        let tail = find_tail(lane, version, layouts);
        // A log that has to be closed is closed before its first irregular event.
        let closes = lane.defects.has_error || !matches!(tail, Tail::Complete(_));
        let mut damage = lane.defects.irregular.filter(|_| closes);
        if let (Tail::Lost(Some(fault)), Some(Stop::Truncated(_))) = (&tail, &lane.stop) {
            damage = damage.or(Some(Damage { at: fault.start, before: lane.anchor_before_end() }));
        }
        let damage = damage.map(|damage| find_start(lane.decoder(), damage));
        let lost = lane.find_lost_request().filter(|_| lane.defects.has_error);
        let damage = lost.or(damage);
        let trailing = find_trailing(lane.decoder(), &tail);
        // Events that contradict their own layout do not tell which one it is.
        let fits = |one: &VersionEvidence| {
            *one != VersionEvidence::Events || lane.defects.evidence.contradicted() == 0
        };
        let is_guess =
            is_contradicted || matches!(version, Version::Unreleased(_) | Version::Newer(_));
        let is_confirmed = version.is_known() || is_named || evidence.is_some();
        let is_read_alike = layouts.iter().all(|(number, _)| lane.layouts.contains(number));
        let doubt = match trailing {
            _ if is_guess => Some(Doubt::Layout),
            Some((_, Trailing::Bytes | Trailing::Zeros)) if !is_confirmed => Some(Doubt::End),
            _ if !is_confirmed && !is_read_alike => Some(Doubt::End),
            _ => None,
        };
        let mut ending = Self {
            header,
            layouts,
            evidence: evidence.filter(fits),
            doubt,
            trailing,
            tail,
            damage,
            wants_prefix,
            cut: None,
            len: source.len(),
        };
        ending.cut = ending.find_cut(lane, limits);
        ending
    }

    /// Returns the layout that stands for the others: the newest.
    pub fn layout(&self) -> &'static Layout {
        let [.., last] = &LAYOUTS;
        self.layouts.iter().last().map_or(last, |(_, layout)| layout)
    }

    /// Returns the damage before which the user wants to cut.
    pub fn prefix_damage(&self) -> Option<Damage> {
        self.damage.filter(|_| self.wants_prefix)
    }

    /// Returns whether END stays, because only the events before it are missing.
    pub const fn keeps_end(&self) -> bool {
        matches!(self.tail, Tail::Unpaired(_)) && !(self.wants_prefix && self.damage.is_some())
    }

    /// Returns whether the file ends with END twice and lacks the SHUTDOWN before it: the byte of
    /// the SHUTDOWN is the damaged one.
    pub const fn has_end_for_shutdown(&self) -> bool {
        self.keeps_end() && matches!(self.trailing, Some((_, Trailing::SecondEnd)))
    }

    /// Returns whether nothing before the cut speaks against another layout of the version, so that
    /// the closed log may read as one of that layout.
    pub fn has_rival(&self, excluded: &[Excluded]) -> bool {
        let (layout, Some(cut)) = (self.layout(), &self.cut) else { return false };
        let is_excluded = |number: usize| {
            let mut before = excluded.iter().filter(|excluded| excluded.at < cut.kept.cut);
            before.any(|excluded| excluded.layouts.contains(number))
        };
        let mut others = (0..).zip(&LAYOUTS).filter(|(number, _)| !self.layouts.contains(*number));
        others.any(|(number, other)| other.version == layout.version && !is_excluded(number))
    }

    fn find_cut(&self, lane: &Lane<'_>, limits: &Limits) -> Option<Cut> {
        let prefix = self.prefix_damage();
        let (from, at): (Anchor, u64) = match (&self.tail, prefix) {
            (_, Some(damage)) => (damage.before, damage.at),
            (Tail::Complete(_) | Tail::Lost(_), None) => return None,
            (Tail::Unpaired(end), None) => (lane.anchor_before_end(), *end),
            (Tail::Missing(_), None) => (lane.anchor_before_end(), lane.at),
        };
        let kept = cut::step_back(lane.decoder(), from, at, limits);
        let dropped = prefix.map(|_| {
            let is_lost = matches!(self.tail, Tail::Lost(_));
            let next = is_lost.then(|| {
                let start = lane.at.max(at).saturating_add(1);
                let area = start..start.saturating_add(limits.of(&RESYNC));
                cut::find_events(lane.decoder(), area, EVENTS_SURE)
            });
            let has_end = matches!(self.tail, Tail::Complete(_) | Tail::Unpaired(_));
            cut::count_dropped(lane, &kept, next, u64::from(has_end))
        });
        Some(Cut { at, kept, dropped })
    }
}

fn find_tail(lane: &Lane<'_>, version: Version, layouts: Layouts) -> Tail {
    let is_paired = layouts.iter().all(|(_, layout)| layout.pair);
    let signal = Some(Kind::Shutdown(Cause::HostSignal));
    let source = lane.decoder().source();
    match lane.stop.clone() {
        Some(Stop::End(start)) if is_paired && lane.before_end() != signal => Tail::Unpaired(start),
        Some(Stop::End(start)) => Tail::Complete(start),
        Some(Stop::Truncated(fault))
            if version.is_known() && swallows_end(&fault, lane.layout(), source) =>
        {
            Tail::Lost(Some(fault))
        }
        Some(Stop::Truncated(fault)) => Tail::Missing(Some(fault)),
        Some(Stop::EndOfFile) | None => Tail::Missing(None),
        Some(Stop::Lost(_)) => Tail::Lost(None),
    }
}

/// Whether an array that ends after the file is damaged rather than truncated: the file ends as a
/// finished log does.
fn swallows_end(fault: &Fault, layout: &Layout, source: &Source<'_>) -> bool {
    let closing = layout.closing();
    let start = source.len().saturating_sub(to_u64(closing.len()));
    let is_array = matches!(fault.cause, FaultKind::Short { label: "array" | "samples", .. });
    is_array
        && start > fault.start.saturating_add(HEADER_LEN)
        && *source.read(start, source.len()) == *closing
}

fn find_trailing(decoder: Decoder<'_>, tail: &Tail) -> Option<(Span, Trailing)> {
    let (Tail::Complete(end) | Tail::Unpaired(end)) = tail else { return None };
    let source = decoder.source();
    let start = end.saturating_add(1);
    let span = Span::new(FILE, start, source.len());
    if span.is_empty() {
        return None;
    }
    let first = source.read(start, start.saturating_add(HEADER_LEN));
    let is_end = first.first() == source.run(*end).first();
    let trailing = if span.len() == 1 && is_end {
        Trailing::SecondEnd
    } else if let Some(events) = count_events_to_end(decoder, start) {
        Trailing::Events(events)
    } else if Header::read(&Source::new(&first)).is_ok_and(|header| header.is_finished()) {
        Trailing::Log
    } else if holes::find_tail(source) <= start {
        Trailing::Zeros
    } else {
        Trailing::Bytes
    };
    Some((span, trailing))
}

/// Counts the events that lead from `start` to END; `None` if they do not, or if they are too few
/// to be more than chance.
fn count_events_to_end(decoder: Decoder<'_>, start: u64) -> Option<u64> {
    let mut events = 0_u64;
    for item in Walker::new(decoder, start, 0) {
        let event = item.record()?;
        if event.is_zeros() {
            return None;
        }
        events = events.saturating_add(1);
        if event.kind == Kind::End {
            let is_whole = event.end == decoder.source().len() && events >= EVENTS_BELIEVED;
            return (is_whole || events >= EVENTS_SURE).then_some(events);
        }
    }
    None
}
