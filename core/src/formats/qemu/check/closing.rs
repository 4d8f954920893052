//! How a log ends, and how it is closed.
//!
//! A recorder that was killed, a cut file, an END without its SHUTDOWN and damage on request come to
//! the same: a place to cut at, a step back to where a guest goes on, and the events that the
//! layout's own writer ends with. One fault, one finding: a torn event belongs to the missing END,
//! and both belong to the missing version.

use crate::Options;
use crate::formats::qemu::options::has_prefix;
use crate::formats::qemu::check::facts::seconds;
use crate::formats::qemu::check::lane::{Damage, Lane, Stop};
use crate::formats::qemu::check::{EVENTS_BELIEVED, Word, judge};
use crate::formats::qemu::decode::event::{Event, FILE, Fault, Value, What};
use crate::formats::qemu::decode::walk::{Item, Walker};
use crate::formats::qemu::layout::{
    Cause, HEADER_LEN, Kind, LAYOUTS, Layout, Layouts, VERSION_LEN,
};
use crate::formats::qemu::repair::{self, Kept};
use crate::formats::qemu::rules;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::mend::edit::{Edit, Fix, Safety};
use crate::report::{Finding, Report, Rule};

/// Events that show that bytes are a log, wherever they end.
const EVENTS_SURE: u64 = 64;
/// Bytes behind damage in which the next sound events are looked for.
const RESYNC: u64 = 64 << 10;

/// How the log ends.
#[derive(Clone, Debug)]
enum Tail {
    /// As its writer ends it; END begins here.
    Whole(u64),
    /// With END, which begins here, but without the shutdown.
    NoPair(u64),
    /// Without END, behind the last whole event or in a torn one.
    Missing(Option<Fault>),
    /// Nobody knows: the reading lost its way.
    Lost,
}

/// The end of a log.
#[derive(Debug)]
pub struct Closing<'c, 'a> {
    word: Word,
    left: Layouts,
    contradicted: bool,
    lane: &'c Lane<'a>,
    source: &'a Source<'a>,
    tail: Tail,
    damage: Option<Damage>,
    /// Whether the user wants what stands before damage and no more.
    asked: bool,
    /// And there is damage.
    prefix: bool,
}

/// What is lost by cutting at damage.
#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    events: u64,
    instructions: u64,
    time: Option<i64>,
}

impl<'c, 'a> Closing<'c, 'a> {
    /// The end of the log that `lane` read, which one of the layouts in `left` wrote.
    pub fn new(
        word: Word,
        left: Layouts,
        contradicted: bool,
        lane: &'c Lane<'a>,
        options: &Options,
    ) -> Self {
        let source = lane.decoder().source();
        let mut damage = lane.damage;
        let paired = left.iter().all(|(_, layout)| layout.pair);
        let signal = Some(Kind::Shutdown(Cause::HostSignal));
        let tail = match lane.stop.clone() {
            Some(Stop::End(start)) if paired && lane.before_end != signal => Tail::NoPair(start),
            Some(Stop::End(start)) => Tail::Whole(start),
            Some(Stop::Torn(fault)) if word.swallows_end(&fault, lane.layout(), source) => {
                damage = damage.or(Some(Damage { at: fault.start, before: lane.before() }));
                Tail::Lost
            }
            Some(Stop::Torn(fault)) => Tail::Missing(Some(fault)),
            Some(Stop::Over) | None => Tail::Missing(None),
            Some(Stop::Lost(_)) => Tail::Lost,
        };
        let asked = has_prefix(options);
        let prefix = asked && damage.is_some();
        Self { word, left, contradicted, lane, source, tail, damage, asked, prefix }
    }

    /// Adds what is wrong with the end, and gives the fix that belongs to the first damage.
    pub fn report(&self, report: &mut Report) -> Option<Fix> {
        let mut fix = self.fix();
        let about_damage = if self.prefix || matches!(self.tail, Tail::Lost) {
            fix.clone()
        } else {
            Some(Fix::manual(self.asked_for()))
        };
        if let Some(rule) = rule(self.word) {
            report.push(with(self.header(rule), fix.take()));
        } else if self.prefix {
            fix = None;
        }
        match &self.tail {
            Tail::Whole(end) => self.trailing(*end, report),
            Tail::NoPair(end) => {
                if self.is_known() {
                    report.push(with(self.no_pair(*end), fix));
                }
                self.trailing(*end, report);
            }
            Tail::Missing(torn) if self.is_known() => {
                report.push(with(self.missing(torn.as_ref()), fix));
            }
            Tail::Missing(_) => {}
            Tail::Lost => self.swallowed(report, about_damage.clone()),
        }
        self.damage.and(about_damage).filter(|_| self.is_known())
    }

    const fn is_known(&self) -> bool {
        matches!(self.word, Word::Known(_))
    }

    fn layout(&self) -> &'static Layout {
        self.left.first().unwrap_or(self.lane.layout())
    }

    fn len(&self) -> u64 {
        self.source.len()
    }

    /// The finding about the version word.
    fn header(&self, rule: &'static Rule) -> Finding {
        let events = self.lane.events();
        let ending = match &self.tail {
            Tail::Whole(_) => "END is there".to_string(),
            Tail::NoPair(_) => "END is there, SHUTDOWN+HOST_SIGNAL before it is not".to_string(),
            Tail::Missing(_) => "END is missing".to_string(),
            Tail::Lost => format!("{:#x} is the end of what can be read", self.lane.at),
        };
        let left = self.left.shown();
        let message = format!("{}; {events} events, {ending}; written by {left}", said(self.word));
        let span = Span::new(FILE, 0, VERSION_LEN);
        let finding = Finding::new(rule, span, "header.version", message);
        match &self.tail {
            Tail::Missing(Some(fault)) => {
                finding.related(Span::new(FILE, fault.start, self.len()), torn(fault))
            }
            _ => finding,
        }
    }

    fn missing(&self, fault: Option<&Fault>) -> Finding {
        let (start, why) = match fault {
            Some(fault) => (fault.start, torn(fault)),
            None => (self.len(), "END is missing".to_string()),
        };
        let message = format!("the log ends after {} events: {why}", self.lane.events());
        let span = Span::new(FILE, start, self.len());
        Finding::new(&rules::END_MISSING, span, "END", message)
    }

    fn no_pair(&self, end: u64) -> Finding {
        let before = self.lane.before_end.map_or("the header", Kind::name);
        let message = format!("END follows {before}, SHUTDOWN+HOST_SIGNAL is missing");
        let span = Span::sized(FILE, end, 1);
        Finding::new(&rules::SHUTDOWN_MISSING, span, "END", message)
    }

    /// An array that ends behind the file, while the file ends as a log does.
    fn swallowed(&self, report: &mut Report, fix: Option<Fix>) {
        let Some(Stop::Torn(fault)) = &self.lane.stop else { return };
        let message = format!("{}; the file ends with END", torn(fault));
        let span = Span::new(FILE, fault.start, fault.start.saturating_add(13).min(self.len()));
        let finding = Finding::new(&rules::LENGTH_PAST_END, span, "array length", message);
        report.push(with(finding, fix));
    }

    /// What follows END.
    fn trailing(&self, end: u64, report: &mut Report) {
        let start = end.saturating_add(1);
        if start >= self.len() {
            return;
        }
        let span = Span::new(FILE, start, self.len());
        let bytes = span.len();
        let first = self.source.read(start, start.saturating_add(HEADER_LEN));
        let drop = |what: &str| {
            if self.is_guess() {
                return Fix::manual("where END is depends on a version that is not known here");
            }
            let edits = vec![Edit::drop(span)];
            Fix::new(
                Safety::Lossy,
                format!("drops {} behind END{what}", counted(bytes, "byte")),
                edits,
            )
        };
        let (rule, message, fix) = if bytes == 1 && first.first() == self.source.run(end).first() {
            (&rules::END_DOUBLED, "END follows END".to_string(), drop(""))
        } else if let Some(events) = self.goes_on(start) {
            let message = format!("{events} events follow END in {bytes} bytes, up to another END");
            let fix = if self.asked {
                Fix { records_lost: events, ..drop(&format!(", {events} events")) }
            } else {
                Fix::manual("--strategy prefix drops what follows END")
            };
            (&rules::END_INSIDE, message, fix)
        } else {
            let message = format!("{bytes} bytes follow END");
            let fix = if begins_log(&first) {
                Fix::manual("they begin like a log: cut them off as a file of their own")
            } else {
                drop("")
            };
            (&rules::BYTES_AFTER_END, message, fix)
        };
        report.push(Finding::new(rule, span, "END", message).fix(fix));
    }

    /// How many events lead from `start` to an END at the end of the file; nothing if they do not.
    fn goes_on(&self, start: u64) -> Option<u64> {
        let mut events = 0_u64;
        for item in Walker::new(self.lane.decoder(), start, 0) {
            let Item::Event(event) = item else { return None };
            if event.value == Value::Instructions(0) {
                return None;
            }
            events = events.saturating_add(1);
            if event.kind == Kind::End {
                let sure = event.end == self.len() && events >= EVENTS_BELIEVED;
                return (sure || events >= EVENTS_SURE).then_some(events);
            }
        }
        None
    }

    /// Whether the events are read by a layout that nobody says is theirs.
    const fn is_guess(&self) -> bool {
        self.contradicted || matches!(self.word, Word::Unreleased(_) | Word::Newer(_))
    }

    /// The fix of whatever is wrong with header and end; nothing where there is none to give.
    fn fix(&self) -> Option<Fix> {
        if self.is_guess() {
            return None;
        }
        let layout = self.layout();
        let versions = self.left.iter().all(|(_, one)| one.version == layout.version);
        let closings = self.left.iter().all(|(_, one)| one.closing() == layout.closing());
        let closes = self.prefix || !matches!(self.tail, Tail::Whole(_));
        if matches!(self.tail, Tail::Lost) && !self.prefix {
            return Some(Fix::manual(self.asked_for()));
        }
        if (!self.is_known() && !versions) || (closes && !closings) {
            let what = format!("name the release with --qemu-version: {}", self.left.shown());
            return Some(Fix::manual(what));
        }
        let mut edits = Vec::new();
        let mut done = Vec::new();
        if !self.is_known() {
            edits.push(repair::version(layout));
            done.push(format!("writes version {:#x}", layout.version));
        }
        let lost = if closes { self.close(layout, &mut edits, &mut done) } else { 0 };
        if edits.is_empty() {
            return None;
        }
        let drops = |edit: &Edit| edit.span.start >= HEADER_LEN && !edit.span.is_empty();
        let safety = match () {
            () if edits.iter().any(drops) => Safety::Lossy,
            () if closes => Safety::Synthetic,
            () => Safety::Exact,
        };
        let mut fix = Fix::new(safety, done.join(", "), edits);
        fix.records_lost = lost;
        Some(fix)
    }

    /// Closes the log: the edit, what it does in words, and how many whole events it drops.
    fn close(&self, layout: &Layout, edits: &mut Vec<Edit>, done: &mut Vec<String>) -> u64 {
        let lane = self.lane;
        let (from, cut) = match (&self.tail, self.damage) {
            (_, Some(damage)) if self.prefix => (damage.before, damage.at),
            (Tail::NoPair(end), _) => (lane.before(), *end),
            _ => (lane.before(), lane.at),
        };
        let mut closing = layout.closing();
        let end_stays = matches!(self.tail, Tail::NoPair(_)) && !self.prefix;
        let kept = repair::back_off(lane.decoder(), from, cut);
        let to = if end_stays { cut } else { self.len() };
        if end_stays {
            closing.pop();
        } else if kept.last == Some(Kind::Shutdown(Cause::HostSignal)) {
            // The recorder came as far as its own shutdown.
            closing = closing.split_off(closing.len().saturating_sub(1));
        }
        let added: Vec<&str> =
            closing.iter().filter_map(|id| layout.kind(*id)).map(Kind::name).collect();
        let mut lost = kept.stepped;
        if self.prefix {
            let all = self.lost(&kept, cut);
            lost = all.events;
            done.push(format!(
                "keeps {} events with {} instructions before {:#x}, drops {} bytes with {} events \
                 and {} instructions{}",
                kept.events,
                kept.instructions,
                cut,
                to.saturating_sub(kept.cut),
                all.events,
                all.instructions,
                all.time.map_or(String::new(), |time| format!(", {} s", seconds(time))),
            ));
        } else {
            if cut < to {
                let bytes = to.saturating_sub(cut);
                done.push(format!("drops {} of a torn event", counted(bytes, "byte")));
            }
            if kept.stepped > 0 {
                done.push(format!(
                    "drops {} at {:#x}, behind which a guest would demand the next",
                    counted(kept.stepped, "whole event"),
                    kept.cut
                ));
            }
        }
        done.push(format!("adds {}: structurally closed", added.join(" and ")));
        edits.push(repair::close(kept.cut, to, closing));
        lost
    }

    /// What goes with everything from `cut` on, as far as it can be read.
    fn lost(&self, kept: &Kept, cut: u64) -> Lost {
        let lane = self.lane;
        let mut events = lane.events();
        let mut instructions = lane.instructions();
        let mut last = lane.clock(Kind::ClockVirtualRt).map(|[_, last]| last);
        if matches!(self.tail, Tail::Lost) {
            last = None;
            if let Some(next) = self.resync(lane.at.max(cut).saturating_add(1)) {
                let mut rest = Lane::new(self.source, lane.layouts, 0).from(next);
                rest.advance(u64::MAX, &mut Vec::new());
                events = events.saturating_add(rest.events());
                instructions = instructions.saturating_add(rest.instructions());
                last = rest.clock(Kind::ClockVirtualRt).map(|[_, last]| last);
            }
        }
        // END is written anew.
        let end = u64::from(matches!(self.tail, Tail::Whole(_) | Tail::NoPair(_)));
        Lost {
            events: events.saturating_sub(end).saturating_sub(kept.events),
            instructions: instructions.saturating_sub(kept.instructions),
            time: last.and_then(|last| last.checked_sub(kept.time?)).filter(|time| *time >= 0),
        }
    }

    /// The first place from `start` on from which events follow each other to END, or many of them.
    fn resync(&self, start: u64) -> Option<u64> {
        let end = start.saturating_add(RESYNC).min(self.len());
        (start..end).find(|at| {
            let mut seen = 0_u64;
            let mut previous: Option<Kind> = None;
            for item in Walker::new(self.lane.decoder(), *at, u64::MAX) {
                let Item::Event(event) = item else { return false };
                if !self.is_sound(previous, &event) {
                    return false;
                }
                seen = seen.saturating_add(1);
                let ends = event.kind == Kind::End;
                if ends || seen >= EVENTS_SURE {
                    return !ends || (event.end == self.len() && seen >= EVENTS_BELIEVED);
                }
                previous = Some(event.kind);
            }
            false
        })
    }

    fn is_sound(&self, previous: Option<Kind>, event: &Event) -> bool {
        let order = previous.and_then(|one| super::regular::broken(one, event.kind));
        order.is_none() && judge::event(event, self.lane.layout()).is_none()
    }

    /// What the user can ask for where the log is damaged in the middle.
    fn asked_for(&self) -> String {
        let at = self.damage.map_or(self.lane.at, |damage| damage.at);
        format!(
            "every later event hangs on the exact count of instructions; --strategy prefix keeps \
             what stands before {at:#x} and drops the rest"
        )
    }
}

impl Word {
    /// Whether an event that ends behind the file is damage: the file is known to be finished, and
    /// ends as a finished one does.
    fn swallows_end(self, fault: &Fault, layout: &Layout, source: &Source<'_>) -> bool {
        let closing = layout.closing();
        let start = source.len().saturating_sub(to_u64(closing.len()));
        let array = matches!(fault.what, What::Short { label: "array" | "samples", .. });
        array
            && matches!(self, Self::Known(_))
            && start > fault.start.saturating_add(HEADER_LEN)
            && *source.read(start, source.len()) == *closing
    }
}

/// The rule that a version word breaks.
pub const fn rule(word: Word) -> Option<&'static Rule> {
    match word {
        Word::Known(_) => None,
        Word::Zero => Some(&rules::UNFINISHED),
        Word::Unreleased(_) | Word::Damaged(_) => Some(&rules::UNKNOWN_VERSION),
        Word::Newer(_) => Some(&rules::NEWER_VERSION),
    }
}

/// A version word in words.
pub fn said(word: Word) -> String {
    match word {
        Word::Zero => "version is 0: the recorder never finished".to_string(),
        Word::Known(word) => format!("version is {word:#x}"),
        Word::Unreleased(word) => {
            format!("version is {word:#x}, which lived between two releases")
        }
        Word::Damaged(word) => format!("version is {word:#x}, which no release wrote"),
        Word::Newer(word) => {
            let [.., last] = &LAYOUTS;
            format!("version is {word:#x}, {:#x} is the newest known", last.version)
        }
    }
}

/// An event that was cut, in words.
fn torn(fault: &Fault) -> String {
    let name = fault.kind.map_or("event", Kind::name);
    match fault.what {
        What::Short { label, needed, left, .. } => judge::short(name, label, needed, left),
        _ => format!("{name} is torn"),
    }
}

/// A number of things.
fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn with(finding: Finding, fix: Option<Fix>) -> Finding {
    match fix {
        Some(fix) => finding.fix(fix),
        None => finding,
    }
}

/// Whether bytes are the header of a finished log.
fn begins_log(bytes: &[u8]) -> bool {
    let source = Source::new(bytes);
    let word = super::word(&source);
    let unused = bytes.get(to_usize(VERSION_LEN)..).unwrap_or_default();
    matches!(word, Some(Word::Known(_)))
        && to_u64(bytes.len()) >= HEADER_LEN
        && unused.iter().all(|byte| *byte == 0)
}
