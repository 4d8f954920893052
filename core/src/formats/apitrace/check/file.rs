//! One trace: drives the engine over its blocks and turns what came of it into findings.

use std::fmt::Write as _;
use std::sync::mpsc;

use super::definitions::Definitions;
use super::engine::{Engine, Flow, UnitFault};
use super::judge::{Noted, Oddity, Place};
use super::ranges::{self, Ranges};
use crate::formats::apitrace::options;
use crate::formats::apitrace::decode::machine::{Cause, Sign, Space};
use crate::formats::apitrace::expand::{Block, Container, Expansion, Fault, stored, zstd};
use crate::formats::apitrace::layout::{CHUNK_EXPANDED, VERSION_MAX};
use crate::formats::apitrace::repair::{self, StreamEdit};
use crate::formats::apitrace::rules;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::limits::Limits;
use crate::mend::edit::{Edit, Fix, Safety, StoredAnew};
use crate::report::rule::common;
use crate::report::{Finding, Report, Rule, Severity};
use crate::{FileSet, Options};

/// Files from this length on are expanded by a thread of their own.
const THREAD_FROM: u64 = 512 << 10;
/// Blocks that wait between the two threads.
const WAITING: usize = 4;
/// Ranges of calls that a fact lists.
const RANGES_SHOWN: usize = 32;

/// Reads a whole trace.
pub fn read<'a>(
    source: &Source<'_>,
    container: Container,
    limits: &Limits,
    keep_raw: bool,
    donor: Option<&'a Definitions>,
) -> Engine<'a> {
    let engine = Engine::new(limits, keep_raw, donor);
    let engine = read_with(engine, source, container, limits);
    if !engine.makes_no_sense() {
        return engine;
    }
    // What stands there may be no header.
    let other = Engine::without_header(limits, keep_raw, donor);
    let other = read_with(other, source, container, limits);
    if other.makes_no_sense() { engine } else { other }
}

fn read_with<'a>(
    mut engine: Engine<'a>,
    source: &Source<'_>,
    container: Container,
    limits: &Limits,
) -> Engine<'a> {
    let mut expansion = Expansion::new(source, container, limits);
    loop {
        let flow = if source.len() < THREAD_FROM {
            run(&mut engine, || expansion.next(Vec::new()))
        } else {
            beside(&mut engine, expansion)
        };
        let Flow::Rewind(from) = flow else { return engine };
        let Some(place) = engine.place(from, from) else { return engine };
        expansion = Expansion::again(source, container, place.head, limits);
    }
}

fn run(engine: &mut Engine<'_>, mut next: impl FnMut() -> Option<Block>) -> Flow {
    while let Some(block) = next() {
        match engine.block(&block) {
            Flow::Go => {}
            Flow::Stop => break,
            rewind => return rewind,
        }
    }
    engine.finish()
}

/// As [`run`], the next blocks being expanded by another thread in the meantime.
fn beside(engine: &mut Engine<'_>, mut expansion: Expansion<'_>) -> Flow {
    std::thread::scope(|scope| {
        let (send, blocks) = mpsc::sync_channel::<Block>(WAITING);
        let (give_back, spent) = mpsc::channel::<Vec<u8>>();
        scope.spawn(move || {
            while let Some(block) = expansion.next(spent.try_recv().unwrap_or_default()) {
                if send.send(block).is_err() {
                    return;
                }
            }
        });
        let mut last: Option<Block> = None;
        run(engine, || {
            if let Some(block) = last.take() {
                // The other thread may have ended.
                let _ = give_back.send(block.bytes);
            }
            blocks.recv().ok()
        })
    })
}

/// A finding, and what a repair would do about it.
pub(super) struct Mend {
    finding: Finding,
    safety: Safety,
    summary: String,
    stream: Vec<StreamEdit>,
    direct: Vec<Edit>,
    pub(super) events_lost: u64,
}

/// What a damage comes to in calls.
pub(super) struct Loss {
    /// The first that was lost.
    pub(super) call: u64,
    /// How many were lost.
    pub(super) lost: u64,
    /// First and last of those that may be wrong.
    pub(super) suspects: Option<(u64, u64)>,
}

/// Turns what an engine saw into findings.
pub(super) struct Judgement<'r, 'a> {
    source: &'r Source<'a>,
    pub(super) container: Container,
    pub(super) options: &'r Options,
    pub(super) engine: Engine<'r>,
    pub(super) donor: Option<&'r Definitions>,
    pub(super) mends: Vec<Mend>,
    /// What each damage comes to.
    pub(super) losses: Vec<Loss>,
}

/// Checks a trace.
pub fn check(files: &FileSet<'_>, container: Container, options: &Options, report: &mut Report) {
    let source = files.bytes(0);
    let limits = &options.limits;
    let donor = files.donor().and_then(|donor| donated(donor, limits));
    let engine = read(&source, container, limits, donor.is_some(), donor.as_ref());
    let mut judgement = Judgement {
        source: &source,
        container,
        options,
        engine,
        donor: None,
        mends: Vec::new(),
        losses: Vec::new(),
    };
    judgement.tally(report);
    judgement.donate(donor.as_ref());
    judgement.header(report);
    judgement.units();
    judgement.damages();
    judgement.noted();
    judgement.end();
    judgement.facts(report);
    judgement.push(report);
}

/// The definitions of a donor, if it is a trace.
fn donated(donor: &Source<'_>, limits: &Limits) -> Option<Definitions> {
    let container = super::super::container(donor, limits)?;
    Some(read(donor, container, limits, true, None).judge.definitions)
}

impl<'r> Judgement<'r, '_> {
    fn layer() -> Layer {
        Layer::stored(0).expanded()
    }

    pub(super) fn span(start: u64, end: u64) -> Span {
        Span::new(Self::layer(), start, end)
    }

    fn tally(&self, report: &mut Report) {
        let engine = &self.engine;
        let lost = engine.judge.lost_calls.iter();
        let lost =
            lost.fold(0, |sum: u64, (from, to)| sum.saturating_add(to.saturating_sub(*from)));
        report.tally.records = engine.judge.events;
        let calls = engine.judge.calls.next.saturating_sub(lost);
        report.tally.samples = calls.saturating_sub(engine.judge.placeholders);
        report.tally.expanded = engine.end;
    }

    /// Takes the donor if it is of the same build: ids that both define have to agree.
    fn donate(&mut self, donor: Option<&'r Definitions>) {
        let Some(donor) = donor else { return };
        let (shared, differing) = self.compare(donor);
        if differing == 0 {
            self.donor = Some(donor);
            return;
        }
        let message = format!("{differing} of the {shared} ids that both traces define differ");
        let span = Self::span(0, 0);
        self.add(Finding::new(&rules::DONOR_DIFFERS, span, "donor", message));
    }

    fn compare(&self, donor: &Definitions) -> (u64, u64) {
        let (mut shared, mut differing) = (0_u64, 0_u64);
        for (space, id, raw) in self.engine.judge.definitions.all_raw() {
            // Frames are numbered anew in every run.
            let Some(other) = donor.raw(space, id).filter(|_| space != Space::Frame) else {
                continue;
            };
            shared = shared.saturating_add(1);
            differing = differing.saturating_add(u64::from(raw != other));
        }
        (shared, differing)
    }

    pub(super) fn add(&mut self, finding: Finding) {
        self.mend(finding, Safety::Exact, String::new(), Vec::new());
    }

    pub(super) fn mend(
        &mut self,
        finding: Finding,
        safety: Safety,
        summary: String,
        stream: impl IntoIterator<Item = StreamEdit>,
    ) {
        let stream = stream.into_iter().collect();
        let direct = Vec::new();
        self.mends.push(Mend { finding, safety, summary, stream, direct, events_lost: 0 });
    }

    /// As [`mend`](Self::mend), with an edit of the file.
    fn mend_file(&mut self, finding: Finding, safety: Safety, summary: String, edit: Edit) {
        let (stream, direct) = (Vec::new(), vec![edit]);
        self.mends.push(Mend { finding, safety, summary, stream, direct, events_lost: 0 });
    }

    pub(super) fn stored_of(&self, span: Span, place: Option<Place>) -> Option<Span> {
        let known = self.engine.stored(span);
        let units = place.map(|place| stored(place.head.stored.start, place.tail.stored.end));
        known.or(units).filter(|stored| !stored.is_empty())
    }

    /// An edit of the stream in the units of `place`.
    pub(super) fn edit(&self, start: u64, end: u64, insert: Vec<u8>, place: Place) -> StreamEdit {
        let (units, base) = match self.container {
            Container::Gzip | Container::Brotli => (stored(0, self.source.len()), 0),
            Container::Snappy | Container::Zstd => {
                (stored(place.head.stored.start, place.tail.stored.end), place.head.expanded.start)
            }
        };
        StreamEdit { start, end, insert, stored: units, base }
    }

    /// What the header of the stream says.
    fn header(&mut self, report: &mut Report) {
        let header = self.engine.judge.header;
        let (at, end) = header.span;
        let place = self.engine.place(at, end);
        match header.version {
            None if self.engine.end == 0 && self.engine.damages.is_empty() => {
                let message = format!(
                    "{} bytes: the {} container holds nothing of a stream",
                    self.source.len(),
                    self.container.name()
                );
                let span = stored(0, self.source.len());
                self.add(Finding::new(&rules::NOTHING_RECORDED, span, "file", message));
                report.mark_unreadable();
            }
            Some((version, _)) if version > VERSION_MAX => {
                let message = format!("version is {version}, the newest known is {VERSION_MAX}");
                let span = Self::span(at, end);
                let rule = &rules::VERSION_UNKNOWN;
                let mut finding = Finding::new(rule, span, "version_no", message);
                finding.stored = self.stored_of(span, place);
                self.add(finding);
                report.mark_unreadable();
            }
            Some((version, Some(semantic))) if semantic > version => {
                let message = format!("semantic version is {semantic}, the version {version}");
                let span = Self::span(at, end);
                let rule = &rules::SEMANTIC_VERSION;
                let mut finding = Finding::new(rule, span, "semantic_version_no", message);
                finding.stored = self.stored_of(span, place);
                let edit = place.map(|place| {
                    let bytes = [repair::uint(version), repair::uint(version)].concat();
                    self.edit(at, end, bytes, place)
                });
                let summary = format!("writes the semantic version {version}");
                self.mend(finding, Safety::Exact, summary, edit);
            }
            _ => {}
        }
    }

    /// Faults of units that lose nothing.
    fn units(&mut self) {
        for UnitFault { fault, segment } in std::mem::take(&mut self.engine.faults) {
            let span = segment.stored;
            let unit = self.container.unit();
            match fault {
                Fault::TooLarge => {
                    let expanded = segment.expanded.len();
                    let message = format!(
                        "the {unit} of {} bytes expands to {expanded}, readers have room for {CHUNK_EXPANDED}",
                        span.len().saturating_sub(4)
                    );
                    let finding = Finding::new(&rules::CHUNK_TOO_LARGE, span, "chunk", message);
                    let summary =
                        format!("writes it as {} chunks", expanded.div_ceil(CHUNK_EXPANDED).max(1));
                    let start = segment.expanded.start;
                    let place = Place { head: segment, tail: segment };
                    let edit = self.edit(start, start, Vec::new(), place);
                    self.mend(finding, Safety::Exact, summary, [edit]);
                }
                Fault::Empty => {
                    let message = format!("the {unit} at {span} holds no byte of the stream");
                    let finding = Finding::new(&rules::CHUNK_EMPTY, span, "chunk", message);
                    let summary = format!("drops the {} bytes", span.len());
                    self.mend_file(finding, Safety::Exact, summary, Edit::drop(span));
                }
                Fault::Trailing => {
                    let message = format!("{} bytes follow that are no {unit}", span.len());
                    let finding = Finding::new(&rules::TRAILING_BYTES, span, "file", message);
                    let summary = format!("drops the {} bytes", span.len());
                    self.mend_file(finding, Safety::Lossy, summary, Edit::drop(span));
                }
                Fault::Length { said, found, .. } => {
                    let message = format!(
                        "the chunk's length is {said}, the next chunk begins after {found} bytes"
                    );
                    let field = Span::sized(span.layer, span.start, 4);
                    let rule = &rules::CHUNK_LENGTH_WRONG;
                    let finding = Finding::new(rule, field, "chunk.compressed_length", message);
                    let summary = format!("writes {found}, with which it decodes whole");
                    let found = u32::try_from(found).unwrap_or(u32::MAX);
                    let edit = Edit::replace(field, found.to_le_bytes());
                    self.mend_file(finding, Safety::Exact, summary, edit);
                }
                Fault::CheckSum { what, said, found } => {
                    let message = format!(
                        "the {what} stored is {said:#x}, that of the bytes {found:#x}: calls may be wrong, and nothing says which"
                    );
                    let at = Span::new(span.layer, span.end.saturating_sub(8), span.end);
                    let finding = Finding::new(&rules::CHECKSUM_WRONG, at, "gzip", message);
                    let fix = Fix::manual("a check sum is not written over what may be wrong");
                    self.add(finding.fix(fix));
                }
                Fault::SeekTable { said, found } => {
                    let message = format!("the table lists {said} frames, there are {found}");
                    let finding = Finding::new(&rules::SEEK_TABLE_WRONG, span, "table", message);
                    let before = Source::from_pieces(self.source.slices(0, span.start));
                    let frames = zstd::frame_lengths(&before, &self.options.limits);
                    let edit = Edit::replace(span, zstd::table(&frames));
                    let summary = "builds the table anew".to_string();
                    self.mend_file(finding, Safety::Exact, summary, edit);
                }
                Fault::SecondTrace => self.second_trace(span),
                Fault::Torn { .. } | Fault::Corrupt { .. } | Fault::Junk | Fault::Limit { .. } => {}
            }
        }
    }

    fn second_trace(&mut self, span: Span) {
        let message = format!(
            "a second trace of {} bytes follows the first one: a process that forked wrote both",
            span.len()
        );
        let finding = Finding::new(&rules::SECOND_TRACE, span, "file", message);
        match options::part(self.options) {
            Some(1) => {
                let summary = format!("keeps the first trace, drops the {} bytes", span.len());
                self.mend_file(finding, Safety::Lossy, summary, Edit::drop(span));
            }
            Some(2) => {
                let first = stored(0, span.start);
                let summary = format!("keeps the second trace, drops {} bytes", first.len());
                self.mend_file(finding, Safety::Lossy, summary, Edit::drop(first));
            }
            _ => {
                let how = "repair twice, with --part 1 and --part 2, to get both";
                self.add(finding.fix(Fix::manual(how)));
            }
        }
    }

    /// Odd things that do not end the reading.
    fn noted(&mut self) {
        for noted in std::mem::take(&mut self.engine.judge.ready) {
            let (rule, message, fix) = describe(&noted);
            let path = match (noted.argument, &noted.oddity) {
                (_, Oddity::Property) => "properties".to_string(),
                (Some(index), _) => format!("call[{}].arg[{index}]", noted.call),
                (None, _) => format!("call[{}]", noted.call),
            };
            let span = Self::span(noted.at, noted.end);
            let mut finding = Finding::new(rule, span, path, message);
            finding.stored = self.stored_of(span, noted.place);
            finding.excerpt = noted.excerpt.clone();
            let (Some(edit), Some(fix)) = (self.odd_edit(&noted), fix) else {
                self.add(finding);
                continue;
            };
            let (safety, summary) = match fix {
                OddFix::Drop(what) => (Safety::Lossy, format!("drops {what}")),
                OddFix::Shorten => (Safety::Exact, "writes it as short as it can be".to_string()),
            };
            self.mend(finding, safety, summary, [edit]);
            if let Some(mend) = self.mends.last_mut() {
                mend.events_lost = u64::from(noted.oddity.is_leave());
            }
        }
    }

    /// What a repair does to the stream about something odd.
    pub(super) fn odd_edit(&self, noted: &Noted) -> Option<StreamEdit> {
        let (_, _, fix) = describe(noted);
        let place = noted.place?;
        match (fix?, noted.part) {
            (OddFix::Drop(_), Some((start, end))) if start < end => {
                Some(self.edit(start, end, Vec::new(), place))
            }
            (OddFix::Shorten, _) => {
                shortest(noted).map(|bytes| self.edit(noted.at, noted.end, bytes, place))
            }
            (OddFix::Drop(_), _) => None,
        }
    }

    /// Where the file, or the first of two traces in it, ends; a table to seek by apart.
    pub(super) fn first_part_end(&self) -> u64 {
        let second = self.mends.iter().find(|mend| *mend.finding.rule == rules::SECOND_TRACE);
        let table = zstd::table_span(self.source).filter(|_| self.container == Container::Zstd);
        let end = second.map(|mend| mend.finding.span.start);
        end.or(table.map(|table| table.start)).unwrap_or(self.source.len())
    }

    /// How the stream ends.
    fn end(&mut self) {
        let torn = self.engine.torn.clone();
        let tail = self.engine.tail.clone();
        let file_end = self.first_part_end();
        match (&torn, &tail) {
            (None, None) => {}
            // Said already.
            _ if self.engine.end == 0 && self.engine.damages.is_empty() => {}
            _ if torn.as_ref().is_some_and(|torn| torn.header) => {
                let message =
                    format!("the stream ends after {} bytes, in its header", self.engine.end);
                let span = Self::span(0, self.engine.end);
                let mut finding = Finding::new(&rules::HEADER_TORN, span, "header", message);
                finding.stored = self.stored_of(span, self.engine.place(0, self.engine.end));
                self.add(finding);
            }
            _ => {
                let (rule, mut message): (&'static Rule, String) = match &tail {
                    Some(UnitFault { fault, segment }) => {
                        let (unit, there) = (self.container.unit(), segment.stored.len());
                        let claimed = match fault {
                            Fault::Torn { claimed: Some(claimed) } => format!(
                                "the last {unit} claims {claimed} bytes, {} are there",
                                there.saturating_sub(4)
                            ),
                            _ => format!("the file ends inside the {unit}"),
                        };
                        (&rules::TORN_CHUNK, claimed)
                    }
                    None => (&rules::TORN_EVENT, String::new()),
                };
                let start = torn.as_ref().map_or(self.engine.end, |torn| torn.start);
                if let Some(torn) = &torn {
                    if !message.is_empty() {
                        message += "; ";
                    }
                    let _infallible = write!(
                        message,
                        "the stream ends {} bytes into an event of call {}",
                        torn.end.saturating_sub(torn.start),
                        torn.call
                    );
                }
                let span = Self::span(start, self.engine.end);
                let call = torn.as_ref().map_or(self.engine.judge.calls.next, |torn| torn.call);
                let mut finding = Finding::new(rule, span, format!("call[{call}]"), message);
                finding.stored = tail
                    .as_ref()
                    .map(|tail| tail.segment.stored)
                    .or_else(|| self.stored_of(span, self.engine.place(start, self.engine.end)));
                let cut = self.engine.end.saturating_sub(start);
                let summary = match cut {
                    0 => format!("writes what the {} holds anew", self.container.unit()),
                    _ => format!("cuts the {cut} bytes behind the last whole event"),
                };
                let place = self.engine.place(start, self.engine.end);
                let edit = place.map(|place| {
                    let mut edit = self.edit(start, u64::MAX, Vec::new(), place);
                    // A unit of which nothing was expanded lies behind the one that holds `start`.
                    edit.stored = stored(edit.stored.start, file_end.max(edit.stored.end));
                    let empty = tail.as_ref().filter(|tail| {
                        cut == 0 && self.has_units() && tail.segment.expanded.is_empty()
                    });
                    if let Some(tail) = empty {
                        edit.stored = stored(tail.segment.stored.start, file_end);
                        edit.base = tail.segment.expanded.start;
                    }
                    edit
                });
                let unreadable = start == 0 || self.engine.judge.header.version.is_none();
                if unreadable {
                    self.add(finding);
                } else {
                    self.mend(finding, Safety::Lossy, summary, edit);
                }
            }
        }
        self.open_calls();
    }

    pub(super) const fn has_units(&self) -> bool {
        matches!(self.container, Container::Snappy | Container::Zstd)
    }

    fn open_calls(&mut self) {
        let mut open = self.engine.judge.calls.all();
        if !options::has_close_calls(self.options) {
            // A call next to damage has lost its leave to it.
            let doubted = |number: u64| {
                let mut ranges = self.losses.iter().filter_map(|loss| loss.suspects);
                ranges.any(|(from, to)| (from..=to).contains(&number))
            };
            open.retain(|open| !doubted(open.number));
        }
        let (Some(first), Some(last)) = (open.first(), open.last()) else { return };
        let end = self.engine.torn.as_ref().map_or(self.engine.end, |torn| torn.start);
        // Where reading was given up the stream does not end.
        let ended = self.engine.limit.is_none();
        let message = match open.len() {
            1 => format!("call {} was entered and never left", first.number),
            count => format!(
                "{count} calls were entered and never left: {} to {}",
                first.number, last.number
            ),
        };
        let span = Self::span(end, end);
        let path = format!("call[{}]", first.number);
        let mut finding = Finding::new(&rules::CALLS_OPEN, span, path, message);
        let place = self.engine.place(end.saturating_sub(1), end);
        finding.stored = self.stored_of(span, place);
        let close = options::has_close_calls(self.options) && ended;
        if !close {
            self.add(finding);
            return;
        }
        finding.severity = Severity::Warning;
        let leaves: Vec<u8> = open.iter().flat_map(|open| repair::leave(open.number)).collect();
        let summary = match open.len() {
            1 => "adds the leave that is missing, empty".to_string(),
            count => format!("adds the {count} leaves that are missing, empty"),
        };
        let edit = place.map(|place| self.edit(end, end, leaves, place));
        self.mend(finding, Safety::Synthetic, summary, edit);
    }

    fn facts(&mut self, report: &mut Report) {
        let engine = &self.engine;
        report.fact("container", self.container.name());
        if let Some((version, _)) = engine.judge.header.version {
            let definitions = &engine.judge.definitions;
            let counts = Space::ALL.map(|space| {
                let count = definitions.count(space);
                format!("{count} {}{}", space.name(), plural_ending(space, count))
            });
            report.fact("version", version.to_string());
            report.fact("threads", engine.judge.threads.to_string());
            report.fact("definitions", counts.join(", "));
        }
        self.losses(report);
        let engine = &self.engine;
        if engine.judge.placeholders > 0 {
            report.fact("placeholders of lost calls", engine.judge.placeholders.to_string());
            let message = format!(
                "{} stand in for calls that were lost: a repair put them there",
                calls(engine.judge.placeholders)
            );
            let finding = Finding::new(&rules::PLACEHOLDERS, Self::span(0, 0), "stream", message);
            self.add(finding);
        }
    }

    /// What the damages come to: lost calls and suspect ones.
    fn losses(&self, report: &mut Report) {
        let lost: Vec<&Loss> = self.losses.iter().filter(|loss| loss.lost > 0).collect();
        if !lost.is_empty() {
            let sum = lost.iter().fold(0, |sum: u64, loss| sum.saturating_add(loss.lost));
            let ranges = lost.iter().map(|loss| {
                let last = loss.call.saturating_add(loss.lost).saturating_sub(1);
                format!("{} to {last}", loss.call)
            });
            report.fact("calls lost", format!("{sum}: {}", joined(ranges, RANGES_SHOWN)));
        }
        let mut suspect = Ranges::default();
        for (from, to) in self.losses.iter().filter_map(|loss| loss.suspects) {
            suspect.add(from, to);
        }
        // A call whose signature is made up is not the call that was recorded.
        let uses = &self.engine.judge.uses;
        suspect.add_all(&uses.made_up);
        if self.donor.is_none() {
            suspect.add_all(&uses.donated);
        }
        if !suspect.is_empty() {
            let shown = suspect.at_most(RANGES_SHOWN);
            let ranges = shown.iter().map(|(from, to)| format!("{from} to {to}"));
            let count = ranges::count(shown.iter().copied());
            report.fact(
                "calls that may be wrong",
                format!("{count}: {}", joined(ranges, RANGES_SHOWN)),
            );
        }
    }

    /// Groups the edits by units and gives every group to its first finding.
    fn push(mut self, report: &mut Report) {
        if let Some((at, message)) = self.engine.limit.take() {
            let span = Self::span(at, at);
            let mut finding = Finding::new(&common::LIMIT_REACHED, span, "stream", message);
            finding.stored = self.stored_of(span, self.engine.place(at, at));
            report.push(finding);
        }
        let mut edits = Vec::new();
        for (owner, mend) in self.mends.iter_mut().enumerate() {
            edits.extend(std::mem::take(&mut mend.stream).into_iter().map(|edit| (owner, edit)));
        }
        // Findings whose edits lie in several groups hold these together.
        let groups = repair::groups(edits);
        let mut leader: Vec<usize> = (0..self.mends.len()).collect();
        for group in &groups {
            let first = group.iter().map(|(owner, _)| root(&leader, *owner)).min();
            for (owner, _) in group {
                let top = root(&leader, *owner);
                if let (Some(first), Some(cell)) = (first, leader.get_mut(top)) {
                    *cell = first.min(top);
                }
            }
        }
        let nothing = Some((Vec::new(), StoredAnew::default()));
        let mut fixes: Vec<Option<(Vec<Edit>, StoredAnew)>> = vec![nothing; self.mends.len()];
        for group in groups {
            let Some((owner, _)) = group.first() else { continue };
            let top = root(&leader, *owner);
            let edits: Vec<StreamEdit> = group.into_iter().map(|(_, edit)| edit).collect();
            let edit = repair::compose(self.source, self.container, &self.options.limits, &edits);
            if let Some(cell) = fixes.get_mut(top) {
                match (cell.as_mut(), edit) {
                    (Some((list, anew)), Some((edit, more))) => {
                        list.push(edit);
                        anew.add(more);
                    }
                    _ => *cell = None,
                }
            }
        }
        let mut shared: Vec<(Safety, Vec<String>, u64)> =
            vec![(Safety::Exact, Vec::new(), 0); self.mends.len()];
        for (owner, mend) in self.mends.iter().enumerate().filter(|(_, m)| !m.summary.is_empty()) {
            if let Some((safety, summaries, lost)) = shared.get_mut(root(&leader, owner)) {
                *safety = (*safety).max(mend.safety);
                summaries.push(mend.summary.clone());
                *lost = lost.saturating_add(mend.events_lost);
            }
        }
        for (owner, mend) in std::mem::take(&mut self.mends).into_iter().enumerate() {
            let Mend { mut finding, direct, summary, .. } = mend;
            let top = root(&leader, owner);
            if !summary.is_empty() && top == owner {
                let stream = fixes.get_mut(owner).and_then(Option::take);
                let (safety, summaries, lost) =
                    shared.get(owner).cloned().unwrap_or((Safety::Exact, Vec::new(), 0));
                let fix = match stream {
                    Some((stream, anew)) => {
                        let mut edits = [direct, stream].concat();
                        edits.sort_by_key(|edit| edit.span.start);
                        Fix {
                            records_lost: lost,
                            anew,
                            ..Fix::new(safety, joined_summary(&summaries), edits)
                        }
                    }
                    None => {
                        Fix::manual("what has to be written anew is more than a round may insert")
                    }
                };
                finding = finding.fix(fix);
            } else if !summary.is_empty() {
                finding = finding.fix(Fix::new(
                    shared.get(top).map_or(Safety::Lossy, |(safety, ..)| *safety),
                    format!(
                        "{summary} (with a finding before it, as they share a {})",
                        self.container.unit()
                    ),
                    Vec::new(),
                ));
            }
            report.push(finding);
        }
    }
}

/// The finding that speaks for another one.
fn root(leader: &[usize], mut owner: usize) -> usize {
    while let Some(next) = leader.get(owner).copied().filter(|next| *next < owner) {
        owner = next;
    }
    owner
}

/// At most so many summaries are told one by one.
const SUMMARIES_SHOWN: usize = 4;

fn joined_summary(summaries: &[String]) -> String {
    let shown = summaries.get(..SUMMARIES_SHOWN).unwrap_or(summaries);
    let more = summaries.len().saturating_sub(shown.len());
    match more {
        0 => shown.join("; "),
        more => format!("{}; and {more} more", shown.join("; ")),
    }
}

pub(super) fn joined(ranges: impl Iterator<Item = String>, most: usize) -> String {
    let all: Vec<String> = ranges.collect();
    let shown = all.get(..most).unwrap_or(&all);
    let more = all.len().saturating_sub(shown.len());
    let mut text = shown.join(", ");
    if more > 0 {
        let _infallible = write!(text, " and {more} more");
    }
    text
}

pub(super) fn calls(count: u64) -> String {
    if count == 1 { "1 call".to_string() } else { format!("{count} calls") }
}

const fn plural_ending(space: Space, count: usize) -> &'static str {
    match space {
        _ if count == 1 => "",
        Space::Function | Space::Struct | Space::Enum | Space::Bitmask | Space::Frame => "s",
    }
}

/// What a repair does about something odd.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OddFix {
    /// It goes.
    Drop(&'static str),
    /// The integer is written in as few bytes as it needs.
    Shorten,
}

/// The integer of a note, as short as it can be.
fn shortest(noted: &Noted) -> Option<Vec<u8>> {
    let excerpt = noted.excerpt.as_ref()?;
    let from = usize::try_from(noted.at.checked_sub(excerpt.start)?).ok()?;
    let to = usize::try_from(noted.end.checked_sub(excerpt.start)?).ok()?;
    let bytes = excerpt.bytes.get(from..to)?;
    let mut value = 0_u64;
    for (index, byte) in bytes.iter().enumerate().take(10) {
        let shift = u32::try_from(index.saturating_mul(7)).ok()?;
        value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
    }
    Some(repair::uint(value))
}

pub(super) fn describe(noted: &Noted) -> (&'static Rule, String, Option<OddFix>) {
    match noted.oddity {
        Oddity::ArgumentIndex { index, count } => (
            &rules::ARGUMENT_INDEX,
            format!("argument {index} of a function that has {count}"),
            Some(OddFix::Drop("the argument")),
        ),
        Oddity::NeverEntered(number) => (
            &rules::LEAVE_NEVER_ENTERED,
            format!("call {number} is left and was never entered"),
            Some(OddFix::Drop("the leave")),
        ),
        Oddity::LeftTwice(number) => (
            &rules::LEAVE_TWICE,
            format!("call {number} is left, and was before"),
            Some(OddFix::Drop("the leave")),
        ),
        Oddity::BlobText => (
            &rules::BLOB_AS_TEXT,
            "a text stands for the bytes of a blob: they are gone".to_string(),
            None,
        ),
        Oddity::OddText => {
            (&rules::TEXT_ODD, "a text is not UTF-8 or holds a NUL".to_string(), None)
        }
        Oddity::Property => {
            (&rules::PROPERTY_ODD, "a property holds control characters".to_string(), None)
        }
        Oddity::Sign(sign) => describe_sign(sign),
    }
}

fn describe_sign(sign: Sign) -> (&'static Rule, String, Option<OddFix>) {
    match sign {
        Sign::Overlong(len) => (
            &rules::INTEGER_OVERLONG,
            format!("an integer takes {len} bytes, more than it needs"),
            Some(OddFix::Shorten),
        ),
        Sign::Oversized(len) => (
            &rules::INTEGER_OVERSIZED,
            format!("an integer of {len} bytes has more than 64 bits"),
            None,
        ),
        Sign::EnumValue(kind) => (
            &rules::ENUM_VALUE,
            format!("the value of an enum has type {kind}, not 3 or 4"),
            Some(OddFix::Drop("the argument")),
        ),
        Sign::OddName(space) => {
            (&rules::NAME_ODD, format!("a name of a {} is not UTF-8", space.name()), None)
        }
        Sign::WildName(space) => (
            &rules::NAME_ODD,
            format!("a name of a {} holds control characters", space.name()),
            None,
        ),
        Sign::ZeroFlag => (
            &rules::ZERO_FLAG,
            "a flag of a bitmask is zero and not the first one".to_string(),
            None,
        ),
        Sign::ThreadDetail => (
            &rules::THREAD_DETAIL,
            "the thread is a detail of the call".to_string(),
            Some(OddFix::Drop("the detail")),
        ),
        Sign::Flags(flags) => {
            (&rules::FLAGS_UNKNOWN, format!("flags {flags:#x}, known is 0x1"), None)
        }
    }
}

pub(super) fn describe_cause(cause: Cause) -> (&'static Rule, String) {
    let damaged = &rules::STREAM_DAMAGED;
    match cause {
        Cause::Event(tag) => (damaged, format!("{tag:#04x} begins no event")),
        Cause::Detail(tag) => (damaged, format!("{tag:#04x} is no detail of a call")),
        Cause::Type(tag) => (damaged, format!("{tag:#04x} is no type of a value")),
        Cause::FrameDetail(tag) => (damaged, format!("{tag:#04x} is no detail of a stack frame")),
        Cause::EnumType(tag) => {
            (damaged, format!("the value of an enum's name has type {tag:#04x}, not 3 or 4"))
        }
        Cause::Count(what, count) => {
            (&rules::COUNT_WILD, format!("{count} {what}: no reader has room for them"))
        }
        Cause::Id(space, id) => {
            (&rules::ID_WILD, format!("{} id {id}: no reader has room for the table", space.name()))
        }
        Cause::Endless => (damaged, "an integer does not end after 64 bytes".to_string()),
        Cause::Depth(max) => {
            (&rules::NESTING_TOO_DEEP, format!("values inside values, more than {max} deep"))
        }
        Cause::Header => (damaged, "the stream does not begin with a header".to_string()),
        Cause::Version(version) => (damaged, format!("version {version}")),
        Cause::Thread(thread) => (damaged, format!("thread {thread} is none")),
        Cause::Limit(what, max) => (damaged, format!("more than {max} {what}")),
        Cause::Name(space) => (damaged, format!("the name of a {} is none", space.name())),
        Cause::Incoherent => {
            (damaged, "enters and leaves do not belong to one another".to_string())
        }
    }
}
