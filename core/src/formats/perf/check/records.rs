//! The stream of records: framing, bodies, ids, times, and what compressed records expand to.
//!
//! Stored and expanded records go through the same function; an expanded one's findings name both
//! its place in the expanded stream and the compressed records that it came from.

use crate::limits::ZSTD_WINDOW;
use crate::limits::FIXES;
use crate::limits::EXPANSION_RATIO;
use std::collections::VecDeque;

use crate::formats::perf::check::donor::RawSizes;
use crate::formats::perf::decode::attr::{Attr, branch_sample_type};
use crate::formats::perf::decode::record;
use crate::formats::perf::decode::sample::{self, BodyError, Sample, SampleLayout};
use crate::formats::perf::decode::walk::{self, Frame, FrameFault, Record};
use crate::formats::perf::layout::{self, RECORD_HEADER, record as kind};
use crate::formats::perf::{repair, rules};
use crate::kit::cursor::{Cursor, Order};
use crate::kit::expand::zstd::{ExpandError, Expander};
use crate::kit::layer::{LayerMap, Segment};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::{Layer, Span};
use crate::limits::Limits;
use crate::mend::edit::{Edit, Fix, Safety};
use crate::report::rule::common;
use crate::report::{Excerpt, Finding, Report, Rule, Severity};

/// Bytes taken from the expander at a time.
const EXPANDED_STEP: usize = 256 << 10;
/// Marks of finished rounds that wait for the expanded records before them.
const MARKS_KEPT: usize = 65_536;
/// Bytes of an expanded record that a finding keeps to show.
const EXCERPT_BYTES: usize = 96;
/// First bytes of a zstd frame.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The attrs of a recording and what is derived from them.
#[derive(Debug, Default)]
pub struct Events {
    attrs: Vec<Attr>,
    layouts: Vec<SampleLayout>,
    /// Event id and index of its attr, sorted by id once complete.
    ids: Vec<(u64, usize)>,
    sorted: bool,
    /// Whether samples of all attrs look the same, so that no id has to be looked up.
    uniform: bool,
    /// Whether an attr has fields that only a newer version knows the layout of.
    unreadable: bool,
    /// Whether attrs or ids are missing here, so that an unknown id says nothing about its sample.
    partial: bool,
}

impl Events {
    /// Adds an attr with its ids.
    pub fn push(&mut self, attr: Attr, ids: impl IntoIterator<Item = u64>) {
        let index = self.attrs.len();
        self.layouts.push(SampleLayout::new(&attr));
        self.unreadable |= !attr.layout_known();
        let counters = |attr: &Attr| attr.branch_sample_type & branch_sample_type::COUNTERS != 0;
        if self.attrs.iter().chain([&attr]).any(counters) {
            let likely = self.layouts.iter().map(|layout| layout.with_counters_likely());
            self.layouts = likely.collect();
        }
        self.uniform = self.layouts.iter().all(|layout| Some(layout) == self.layouts.first());
        self.attrs.push(attr);
        self.ids.extend(ids.into_iter().map(|id| (id, index)));
        self.sorted = false;
    }

    /// Attrs or ids could not be taken: that has a finding of its own, and samples have none.
    pub const fn mark_partial(&mut self) {
        self.partial = true;
    }

    /// Whether attrs or ids are missing here.
    pub const fn partial(&self) -> bool {
        self.partial
    }

    /// The attrs in order.
    pub fn attrs(&self) -> &[Attr] {
        &self.attrs
    }

    /// Number of event ids.
    pub fn id_count(&self) -> u64 {
        to_u64(self.ids.len())
    }

    fn sort(&mut self) {
        if !self.sorted {
            self.ids.sort_unstable();
            self.sorted = true;
        }
    }

    /// The attr of an event id.
    fn index(&self, id: u64) -> Option<usize> {
        let at = self.ids.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.ids.get(at).map(|(_, index)| *index)
    }
}

/// What the compressed records were like.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compressed {
    /// Number of compressed records.
    pub records: u64,
    /// Their payloads in bytes.
    pub stored: u64,
    /// What they expand to in bytes.
    pub expanded: u64,
    /// What the longest of them expands to, with the part of a record that waits before it.
    pub longest: u64,
}

impl Compressed {
    /// Longest expansion and ratio, for the COMPRESSED feature.
    pub fn parameters(&self) -> Option<(u64, u64)> {
        let ratio = self.expanded.checked_div(self.stored.max(1)).unwrap_or(1);
        (self.records > 0).then_some((self.longest, ratio))
    }
}

/// Where a record stands.
#[derive(Clone, Copy)]
struct Place {
    layer: Layer,
    offset: u64,
    index: u64,
}

impl Place {
    fn span(self, frame: Frame) -> Span {
        Span::sized(self.layer, self.offset, frame.size)
    }

    fn path(self, field: &str) -> String {
        let stream = if self.layer.is_stored() { "data" } else { "expanded" };
        format!("{stream}.record[{}]{field}", self.index)
    }
}

/// Checks records as they come.
pub struct Stream<'a> {
    order: Order,
    file: u32,
    limits: &'a Limits,
    /// Whether a record that is dropped can be taken out of the file in this round.
    pub droppable: bool,
    /// The events, complete before the first record of a file.
    pub events: Events,
    /// What the compressed records were like.
    pub compressed: Compressed,
    /// Whether records of `perf stat` were seen.
    pub stat: bool,
    /// Sizes of raw data by event, where a donor has to be compared; else empty.
    pub raw_sizes: Vec<RawSizes>,
    /// Bits of HEADER_FEATURE records, for pipes.
    pub features: Vec<u64>,
    stored_records: u64,
    expanded_records: u64,
    /// What the present compressed record expands to, so far.
    record_expanded: u64,
    budget: u64,
    expander: Option<Expander>,
    map: LayerMap,
    /// Expanded bytes of a record that is not whole yet, and where they begin.
    carry: Vec<u8>,
    carry_start: u64,
    /// Stored spans of compressed records that cannot be used, and how many there are.
    lost: Vec<Span>,
    lost_records: u64,
    broken: Option<Finding>,
    /// Finished rounds that stand behind expanded bytes which are still inside the expander.
    marks: VecDeque<u64>,
    rounds: Rounds,
    misaligned: u64,
}

/// Time stamps against finished rounds, as perf's ordered queue sees them.
#[derive(Clone, Copy, Debug, Default)]
struct Rounds {
    latest: u64,
    /// Nothing older than this may follow.
    bound: u64,
    /// What becomes the bound when the next round is finished.
    next_bound: u64,
    late: u64,
    first_late: Option<(Span, u64, u64, u64)>,
}

impl Rounds {
    // util/ordered-events.c: a finished round flushes up to the latest time of the round before.
    fn finish_round(&mut self) {
        self.bound = self.next_bound;
        self.next_bound = self.latest;
    }

    #[inline]
    fn saw(&mut self, time: u64, span: impl FnOnce() -> (Span, u64)) {
        if time < self.bound {
            self.late = self.late.saturating_add(1);
            if self.first_late.is_none() {
                let (span, index) = span();
                self.first_late = Some((span, index, time, self.bound));
            }
        }
        self.latest = self.latest.max(time);
    }
}

impl<'a> Stream<'a> {
    /// A stream in file number `file` of a recording of `length` bytes.
    pub fn new(order: Order, file: u32, length: u64, limits: &'a Limits) -> Self {
        Self {
            order,
            file,
            limits,
            droppable: true,
            events: Events::default(),
            compressed: Compressed::default(),
            stat: false,
            raw_sizes: Vec::new(),
            features: Vec::new(),
            stored_records: 0,
            expanded_records: 0,
            record_expanded: 0,
            budget: length.saturating_mul(limits.of(&EXPANSION_RATIO)).saturating_add(64 << 20),
            expander: None,
            map: LayerMap::default(),
            carry: Vec::new(),
            carry_start: 0,
            lost: Vec::new(),
            lost_records: 0,
            broken: None,
            marks: VecDeque::new(),
            rounds: Rounds::default(),
            misaligned: 0,
        }
    }

    /// Turns to the next file of a directory: the events stay, the stream begins anew.
    pub fn next_file(&mut self, file: u32) {
        self.file = file;
        self.stored_records = 0;
        self.expanded_records = 0;
        self.expander = None;
        self.map = LayerMap::default();
        self.carry.clear();
        self.carry_start = 0;
        self.marks.clear();
        self.rounds = Rounds { late: self.rounds.late, ..Rounds::default() };
    }

    fn stored(&self) -> Layer {
        Layer::stored(self.file)
    }

    /// A record of the file.
    #[inline]
    pub fn stored_record(&mut self, record: &Record<'_>, report: &mut Report) {
        let place =
            Place { layer: self.stored(), offset: record.offset, index: self.stored_records };
        self.stored_records = self.stored_records.saturating_add(1);
        match record.frame.kind {
            kind::COMPRESSED | kind::COMPRESSED2 => {
                report.tally.records = report.tally.records.saturating_add(1);
                self.expand(record, report);
            }
            kind::FINISHED_ROUND if self.expander.is_some() => {
                report.tally.records = report.tally.records.saturating_add(1);
                self.marks.push_back(self.compressed.expanded);
                if self.marks.len() > MARKS_KEPT {
                    self.marks.pop_front();
                }
            }
            _ => self.record(record.frame, &record.bytes, place, report),
        }
    }

    /// Any record, stored or expanded.
    #[inline]
    fn record(&mut self, frame: Frame, bytes: &[u8], place: Place, report: &mut Report) {
        report.tally.records = report.tally.records.saturating_add(1);
        self.events.sort();
        let body = bytes.get(to_usize(RECORD_HEADER)..).unwrap_or_default();
        let start = place.offset.saturating_add(RECORD_HEADER);
        let mut cursor = Cursor::new(body, place.layer, start, self.order);
        if frame.kind == kind::SAMPLE {
            report.tally.samples = report.tally.samples.saturating_add(1);
            if !self.events.unreadable {
                self.sample(frame, bytes, place, &mut cursor, report);
            }
            return;
        }
        if frame.kind == kind::FINISHED_ROUND {
            self.rounds.finish_round();
            return;
        }
        self.stat |= (kind::STAT_CONFIG..=kind::STAT_ROUND).contains(&frame.kind);
        if record::name(frame.kind).is_none() {
            report.push_with(&rules::UNKNOWN_RECORD, Severity::Info, || {
                let message = format!("record type {} is none of this version's", frame.kind);
                Finding::new(
                    &rules::UNKNOWN_RECORD,
                    place.span(frame),
                    place.path(".header.type"),
                    message,
                )
            });
            return;
        }
        if frame.kind < kind::USER_FIRST && frame.size & 7 != 0 {
            self.misaligned(frame, place, report);
        }
        let kernel = frame.kind < kind::USER_FIRST;
        let layout = if kernel { self.layout_of(body, frame.kind) } else { None };
        let trailer_len = layout.map_or(0, SampleLayout::trailer_len);
        match record::body(frame.kind, frame.misc, &mut cursor, trailer_len) {
            Ok(_) => {}
            Err(error) => {
                self.malformed(&rules::RECORD_MALFORMED, &error, frame, bytes, place, report);
                return;
            }
        }
        let Some(layout) = layout else { return };
        if let Some(time) = sample::trailer(body, layout, self.order).and_then(|id| id.time) {
            self.time(time, frame, place, report);
        }
    }

    /// A sample: its fields by the attr that its id names.
    #[inline]
    fn sample(
        &mut self,
        frame: Frame,
        bytes: &[u8],
        place: Place,
        cursor: &mut Cursor<'_>,
        report: &mut Report,
    ) {
        if frame.size & 7 != 0 {
            self.misaligned(frame, place, report);
        }
        let index = if self.events.uniform { Some(0) } else { self.sample_event(cursor.rest()) };
        let Some(layout) = index.and_then(|index| self.events.layouts.get(index)) else {
            if !self.events.layouts.is_empty() {
                self.unknown_id(frame, bytes, place, report);
            }
            return;
        };
        match sample::sample(cursor, layout) {
            Ok(sample) => {
                if !cursor.is_empty() {
                    let left = cursor.ahead();
                    report.push_with(&rules::SAMPLE_LEFTOVER, Severity::Warning, || {
                        let message = format!(
                            "{} bytes follow the last field of the {}-byte sample",
                            left.len(),
                            frame.size
                        );
                        self.finding(
                            &rules::SAMPLE_LEFTOVER,
                            left,
                            place.path(""),
                            message,
                            bytes,
                            place,
                        )
                    });
                }
                if !self.raw_sizes.is_empty() {
                    self.raw_size(&sample, index);
                }
                let known = sample.id.is_none_or(|id| id == 0 || self.events.index(id).is_some());
                if !known && self.events.layouts.len() > 1 {
                    self.unknown_id(frame, bytes, place, report);
                } else if let Some(time) = sample.time {
                    self.time(time, frame, place, report);
                }
            }
            Err(error) => {
                self.malformed(&rules::SAMPLE_MALFORMED, &error, frame, bytes, place, report);
            }
        }
    }

    /// Takes note of how much raw data a sample has.
    #[cold]
    fn raw_size(&mut self, sample: &Sample, index: Option<usize>) {
        let index = match sample.id {
            Some(id) if id != 0 => self.events.index(id),
            _ => index.filter(|_| self.events.layouts.len() == 1),
        };
        let slot = index.and_then(|index| self.raw_sizes.get_mut(index));
        let size = sample.raw_size;
        if let Some(slot) = slot {
            let (least, most) = slot.unwrap_or((size, size));
            *slot = Some((least.min(size), most.max(size)));
        }
    }

    /// Which attr a sample belongs to. perf takes the first for id 0.
    fn sample_event(&self, body: &[u8]) -> Option<usize> {
        let first = self.events.layouts.first()?;
        match sample::event_id(body, kind::SAMPLE, first, self.order) {
            None | Some(0) => Some(0),
            Some(id) => self.events.index(id),
        }
    }

    /// The layout of a kernel record's trailer.
    fn layout_of(&self, body: &[u8], kind: u32) -> Option<&SampleLayout> {
        let first = self.events.layouts.first()?;
        if self.events.uniform {
            return Some(first);
        }
        let index = sample::event_id(body, kind, first, self.order)
            .and_then(|id| self.events.index(id))
            .unwrap_or(0);
        self.events.layouts.get(index)
    }

    #[inline]
    fn time(&mut self, time: u64, frame: Frame, place: Place, report: &mut Report) {
        // util/ordered-events.c: such records are delivered at once.
        if time == 0 || time == u64::MAX {
            return;
        }
        if frame.kind == kind::SAMPLE {
            report.tally.observe_time(time);
        }
        self.rounds.saw(time, || (place.span(frame), place.index));
    }

    #[cold]
    fn misaligned(&mut self, frame: Frame, place: Place, report: &mut Report) {
        self.misaligned = self.misaligned.saturating_add(1);
        report.push_with(&rules::RECORD_UNALIGNED, Severity::Warning, || {
            let message = format!("the size {} is no multiple of 8", frame.size);
            let path = place.path(".header.size");
            Finding::new(&rules::RECORD_UNALIGNED, place.span(frame), path, message)
        });
    }

    #[cold]
    fn unknown_id(&mut self, frame: Frame, bytes: &[u8], place: Place, report: &mut Report) {
        if self.events.partial {
            return;
        }
        let rule = &rules::UNKNOWN_EVENT_ID;
        report.push_with(rule, rule.severity, || {
            let message = format!(
                "the sample's event id is none of the {} ids of {} events",
                self.events.ids.len(),
                self.events.attrs.len()
            );
            self.finding(rule, place.span(frame), place.path(".id"), message, bytes, place)
                .fix_if(self.drop_record(frame, place))
        });
    }

    #[cold]
    fn malformed(
        &mut self,
        rule: &'static Rule,
        error: &BodyError,
        frame: Frame,
        bytes: &[u8],
        place: Place,
        report: &mut Report,
    ) {
        report.push_with(rule, rule.severity, || {
            let name = record::name(frame.kind).unwrap_or("record");
            let message = format!("{name} of {} bytes: {error}", frame.size);
            let path = place.path(&format!(".{}", error.label()));
            self.finding(rule, place.span(frame), path, message, bytes, place)
                .fix_if(self.drop_record(frame, place))
        });
    }

    fn drop_record(&self, frame: Frame, place: Place) -> Option<Fix> {
        let summary = format!("drops the record of {} bytes", frame.size);
        let span = place.span(frame);
        if !place.layer.is_stored() {
            // A zstd block cannot lose bytes: later blocks count back over them.
            return Some(Fix::manual(
                "the record lies inside compressed ones and cannot be dropped",
            ));
        }
        let edits = if self.droppable { vec![Edit::drop(span)] } else { Vec::new() };
        Some(Fix { records_lost: 1, ..Fix::new(Safety::Lossy, summary, edits) })
    }

    /// A finding on a record; an expanded one keeps its bytes to show and its stored place.
    fn finding(
        &self,
        rule: &'static Rule,
        span: Span,
        path: String,
        message: String,
        bytes: &[u8],
        place: Place,
    ) -> Finding {
        let mut finding = Finding::new(rule, span, path, message);
        if !place.layer.is_stored() {
            finding.stored = self.map.stored(span);
            let shown = bytes.get(..EXCERPT_BYTES).unwrap_or(bytes).to_vec();
            finding.excerpt = Some(Excerpt { start: place.offset, bytes: shown });
        }
        finding
    }

    /// Bytes of the file that are no record.
    pub fn damage(&mut self, span: Span, fault: FrameFault, resumes: bool, report: &mut Report) {
        let (rule, what) = describe(fault, span);
        let place = Place { layer: span.layer, offset: span.start, index: self.stored_records };
        report.push_with(rule, rule.severity, || {
            let then = if resumes {
                format!("; records follow one another again from {:#x}", span.end)
            } else {
                String::new()
            };
            let field = match fault {
                FrameFault::Type(_) => ".header.type",
                FrameFault::HeaderTorn => ".header",
                _ => ".header.size",
            };
            let message = format!("{what}{then}");
            let summary = format!("drops the {} bytes at {span}", span.len());
            let edits = if self.droppable { vec![Edit::drop(span)] } else { Vec::new() };
            Finding::new(rule, span, place.path(field), message).fix(Fix::new(
                Safety::Lossy,
                summary,
                edits,
            ))
        });
    }

    /// Expands a compressed record and checks the records that become whole.
    fn expand(&mut self, record: &Record<'_>, report: &mut Report) {
        let two = record.frame.kind == kind::COMPRESSED2;
        let payload = payload(&record.bytes, two, self.order);
        let stored = Span::sized(self.stored(), record.offset, record.frame.size);
        self.compressed.records = self.compressed.records.saturating_add(1);
        self.compressed.stored = self.compressed.stored.saturating_add(to_u64(payload.len()));
        if self.broken.is_some() {
            // A frame that begins anew needs nothing of the broken one.
            let restarts = payload.starts_with(&ZSTD_MAGIC) && self.broken_in_expander();
            if !restarts {
                self.lose(stored);
                return;
            }
            self.report_broken(report);
            self.expander = None;
        }
        if let Err((good, error)) = self.feed(payload, stored, report) {
            self.break_off(record.offset, stored, two, good, &error, report);
        }
    }

    /// Gives the expander a payload and checks the records that become whole. On a fault: the
    /// payload's bytes before it, and what it is.
    fn feed(
        &mut self,
        payload: &[u8],
        stored: Span,
        report: &mut Report,
    ) -> Result<(), (u64, ExpandError)> {
        let window = self.limits.of(&ZSTD_WINDOW);
        let mut rest = payload;
        self.record_expanded = 0;
        while !rest.is_empty() && self.broken.is_none() {
            let expander = self.expander.get_or_insert_with(|| Expander::new(window));
            match expander.feed(rest) {
                Ok(fed) => {
                    let taken = self.segment(stored, fed.expanded, report);
                    rest = rest.get(fed.stored..).unwrap_or_default();
                    if fed.stored == 0 && !taken {
                        break;
                    }
                }
                Err(fault) => {
                    let before = payload.len().saturating_sub(rest.len());
                    let good = to_u64(before).saturating_add(to_u64(fault.good.stored));
                    self.segment(stored, fault.good.expanded, report);
                    return Err((good, fault.error));
                }
            }
        }
        Ok(())
    }

    /// The whole blocks of a compressed record that was cut, as bytes of its payload; `None` if the
    /// cut record gives nothing.
    pub fn torn_compressed(
        &mut self,
        offset: u64,
        bytes: &[u8],
        two: bool,
        report: &mut Report,
    ) -> Option<u64> {
        if self.broken.is_some() {
            return None;
        }
        let head = if two { 16 } else { 8 };
        let payload = bytes.get(head..)?;
        let stored = Span::sized(self.stored(), offset, to_u64(bytes.len()));
        let before = self.compressed.expanded;
        let good = match self.feed(payload, stored, report) {
            // What waits for the rest of its block is not whole.
            Ok(()) => {
                let waits = self.expander.as_ref().map_or(0, Expander::pending);
                to_u64(payload.len()).saturating_sub(waits)
            }
            Err((good, _)) => good,
        };
        if good == 0 || self.compressed.expanded == before {
            return None;
        }
        self.compressed.records = self.compressed.records.saturating_add(1);
        self.compressed.stored = self.compressed.stored.saturating_add(good);
        Some(good)
    }

    /// Takes note of what (a part of) a compressed record expands to, and checks what can be
    /// released; true if that was anything.
    fn segment(&mut self, stored: Span, expanded: u64, report: &mut Report) -> bool {
        let start = self.compressed.expanded;
        let end = start.saturating_add(expanded);
        let layer = self.stored().expanded();
        self.map.push(Segment { expanded: Span::new(layer, start, end), stored });
        self.compressed.expanded = end;
        self.record_expanded = self.record_expanded.saturating_add(expanded);
        self.compressed.longest = self.compressed.longest.max(self.record_expanded);
        report.tally.expanded = report.tally.expanded.saturating_add(expanded);
        if report.tally.expanded > self.budget && self.broken.is_none() {
            let message = format!(
                "the compressed records expand to more than {} bytes, {} times the recording",
                self.budget, self.limits.of(&EXPANSION_RATIO)
            );
            report.push(Finding::new(&common::LIMIT_REACHED, stored, "data", message));
            // Without a message it is not reported again.
            self.broken = Some(Finding::new(&rules::ZSTD_BROKEN, stored, "data", ""));
            self.expander = None;
            return false;
        }
        self.drain(report)
    }

    /// Checks the records that the expander releases; true if it released anything.
    fn drain(&mut self, report: &mut Report) -> bool {
        let mut any = false;
        while let Some(expander) = &mut self.expander {
            let taken = expander.take(&mut self.carry, EXPANDED_STEP);
            if taken == 0 || !self.expanded_records(report) {
                break;
            }
            any = true;
        }
        any
    }

    /// Checks the whole records in the carry; false once they make no sense.
    fn expanded_records(&mut self, report: &mut Report) -> bool {
        let carry = std::mem::take(&mut self.carry);
        let mut rest = carry.as_slice();
        let mut sound = true;
        while sound && !rest.is_empty() {
            while self.marks.front().is_some_and(|mark| *mark <= self.carry_start) {
                self.marks.pop_front();
                self.rounds.finish_round();
            }
            let frame = match walk::frame(rest, self.order) {
                Ok(frame) if frame.size <= to_u64(rest.len()) => frame,
                Ok(_) | Err(FrameFault::HeaderTorn) => break,
                Err(fault) => {
                    self.expanded_fault(fault, rest);
                    sound = false;
                    break;
                }
            };
            let (bytes, after) = rest.split_at_checked(to_usize(frame.size)).unwrap_or((rest, &[]));
            let layer = self.stored().expanded();
            let place = Place { layer, offset: self.carry_start, index: self.expanded_records };
            self.expanded_records = self.expanded_records.saturating_add(1);
            self.record(frame, bytes, place, report);
            self.carry_start = self.carry_start.saturating_add(frame.size);
            rest = after;
        }
        self.carry = rest.to_vec();
        sound
    }

    /// The expanded bytes make no record: from the segment they lie in on, nothing can be used.
    fn expanded_fault(&mut self, fault: FrameFault, rest: &[u8]) {
        if self.broken.is_some() {
            return;
        }
        let at = self.carry_start;
        let layer = self.stored().expanded();
        let span = Span::sized(layer, at, to_u64(rest.len()).min(RECORD_HEADER));
        let (_, what) = describe(fault, span);
        let place = Place { layer, offset: at, index: self.expanded_records };
        let path = place.path(".header");
        let finding = self.finding(&rules::EXPANDED_BROKEN, span, path, what, rest, place);
        // Segments from the one that holds the fault on, as far as they were read ahead.
        let from = self.map.stored(Span::new(layer, at, self.compressed.expanded));
        self.lost.extend(from.or(finding.stored));
        self.broken = Some(finding);
        self.expander = None;
        self.carry.clear();
    }

    /// A compressed record that zstd cannot go on with.
    fn break_off(
        &mut self,
        offset: u64,
        stored: Span,
        two: bool,
        good: u64,
        error: &ExpandError,
        report: &mut Report,
    ) {
        if let ExpandError::WindowTooLarge { .. } = error {
            let path = "data.compressed.window";
            report.push(Finding::new(&common::LIMIT_REACHED, stored, path, error.to_string()));
        }
        let place =
            Place { layer: stored.layer, offset, index: self.stored_records.saturating_sub(1) };
        let message = format!("compressed record of {} bytes: {error}", stored.len());
        let mut finding =
            Finding::new(&rules::ZSTD_BROKEN, stored, place.path(".payload"), message);
        let head = if two { 16_u64 } else { 8 };
        let seam = repair::cut_compressed(offset, two, good, self.order);
        // A fault behind the last block (a content size that the blocks contradict) leaves
        // nothing to cut: the record goes whole.
        let cuts = |seam: &repair::Seam| seam.end < stored.end && seam.padding.is_empty();
        match seam.filter(|seam| good > 0 && cuts(seam)) {
            Some(seam) => {
                let rest = Span::new(
                    stored.layer,
                    offset.saturating_add(head).saturating_add(good),
                    stored.end,
                );
                finding = finding.fix(Fix::new(Safety::Lossy, "", seam.edits));
                self.lost.push(rest);
            }
            None => self.lose(stored),
        }
        if let Some(expander) = &mut self.expander {
            expander.finish();
        }
        self.drain(report);
        if self.broken.is_none() {
            self.broken = Some(finding);
        }
        self.expander = None;
        self.carry.clear();
        self.carry_start = self.compressed.expanded;
    }

    fn broken_in_expander(&self) -> bool {
        self.broken.as_ref().is_some_and(|finding| *finding.rule == rules::ZSTD_BROKEN)
    }

    fn lose(&mut self, stored: Span) {
        self.lost_records = self.lost_records.saturating_add(1);
        let room = self.lost.len() < self.limits.count_of(&FIXES);
        match self.lost.last_mut() {
            Some(last) if last.end == stored.start => last.end = stored.end,
            _ if room => self.lost.push(stored),
            _ => {}
        }
    }

    /// Reports the fault that ended the expansion, with all that it makes useless.
    fn report_broken(&mut self, report: &mut Report) {
        let Some(mut finding) = self.broken.take() else { return };
        let lost = merged(std::mem::take(&mut self.lost));
        let records = std::mem::take(&mut self.lost_records);
        if finding.message.is_empty() {
            return;
        }
        let bytes = lost.iter().fold(0_u64, |sum, span| sum.saturating_add(span.len()));
        let mut edits = finding.fix.take().map(|fix| fix.edits).unwrap_or_default();
        edits.retain(|edit| !lost.iter().any(|lost| lost.overlaps(&edit.span)));
        edits.extend(lost.into_iter().map(Edit::drop));
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        let summary =
            format!("drops {bytes} bytes of compressed data that nothing can expand any more");
        let edits = if self.droppable { edits } else { Vec::new() };
        finding.fix =
            Some(Fix { records_lost: records, ..Fix::new(Safety::Lossy, summary, edits) });
        report.push(finding);
    }

    /// What is left at the end of the last record of a file.
    pub fn finish(&mut self, report: &mut Report) {
        if let Some(expander) = &mut self.expander {
            expander.finish();
        }
        self.drain(report);
        if !self.carry.is_empty() && self.broken.is_none() {
            let layer = self.stored().expanded();
            let span = Span::sized(layer, self.carry_start, to_u64(self.carry.len()));
            let place = Place { layer, offset: span.start, index: self.expanded_records };
            let message = match walk::frame(&self.carry, self.order) {
                Ok(frame) => {
                    format!("{} of the record's {} bytes are there", span.len(), frame.size)
                }
                Err(_) => format!("{} bytes are no record's header", span.len()),
            };
            let bytes = self.carry.clone();
            report.push(self.finding(
                &rules::EXPANDED_TORN,
                span,
                place.path(""),
                message,
                &bytes,
                place,
            ));
        }
        self.report_broken(report);
        self.carry.clear();
    }

    /// What concerns all files of the recording together.
    pub fn summarise(&mut self, report: &mut Report) {
        if let Some((span, index, time, bound)) = self.rounds.first_late {
            let stream = if span.layer.is_stored() { "data" } else { "expanded" };
            let message = format!(
                "{} records are older than a finished round; the first has time {time}, {} ns before \
                 the round's {bound}",
                self.rounds.late,
                bound.saturating_sub(time)
            );
            let path = format!("{stream}.record[{index}].time");
            let mut finding = Finding::new(&rules::TIME_BEFORE_ROUND, span, path, message);
            finding.stored = self.map.stored(span).filter(|_| !span.layer.is_stored());
            report.push(finding);
        }
    }
}

/// Spans in order, those that share bytes or adjoin as one.
fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut merged: Vec<Span> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.layer == last.layer && span.start <= last.end => {
                last.end = last.end.max(span.end);
            }
            _ => merged.push(span),
        }
    }
    merged
}

/// The zstd data of a compressed record.
pub fn payload(bytes: &[u8], two: bool, order: Order) -> &[u8] {
    let mut cursor = Cursor::new(bytes, Layer::stored(0), 0, order);
    let head = cursor.skip(1, RECORD_HEADER, "header");
    if !two {
        return cursor.rest();
    }
    // Padded to 8; data_size says what is not padding.
    let size = head.and_then(|()| cursor.u64("data_size")).unwrap_or(0);
    cursor.rest().get(..to_usize(size)).unwrap_or(cursor.rest())
}

/// The rule of a framing fault, and the fault in numbers.
pub fn describe(fault: FrameFault, span: Span) -> (&'static Rule, String) {
    match fault {
        FrameFault::HeaderTorn => {
            let message =
                format!("{} bytes are left where a record's 8-byte header should be", span.len());
            (&rules::TORN_RECORD, message)
        }
        FrameFault::TooSmall(frame) => {
            let message = format!("record size {} is smaller than the 8-byte header", frame.size);
            (&rules::RECORD_TOO_SMALL, message)
        }
        FrameFault::Type(frame) => {
            let message = format!(
                "record type {} is above {}, the last that perf or a kernel may write",
                frame.kind,
                layout::record::PLAUSIBLE_LAST
            );
            let zero = format!("record type 0 with size {} is written by nothing", frame.size);
            (&rules::RECORD_TYPE_WILD, if frame.kind == 0 { zero } else { message })
        }
        FrameFault::PastEnd(frame) => {
            let message = format!("record of {} bytes, {} are left", frame.size, span.len());
            (&rules::RECORD_PAST_END, message)
        }
        FrameFault::PayloadPastEnd(frame, outside) => {
            let message = format!(
                "record of {} bytes with a payload of {outside}, {} are left in all",
                frame.size,
                span.len()
            );
            (&rules::RECORD_PAST_END, message)
        }
    }
}
