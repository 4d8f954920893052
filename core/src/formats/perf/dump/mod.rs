//! Records as text or lines of JSON, in the order of the file, stored and expanded ones.
//!
//! - `line`: one record. `script`: one sample with all that it has.
//! - `names`, `registers`, `traced`: the names of events, of registers, of the fields of
//!   tracepoints.
//! - `groups`: events that are read together.
//! - `folded`: stacks; `frames`: those of one sample, with names from `spaces` and `symbols`.
//!
//! perf sorts samples by their times before it prints them; a dump does not, so that every line can
//! be found in the file. The names of threads and files are those of the time of a sample all the
//! same: a first pass gathers the records that give them.

mod folded;
mod frames;
mod groups;
mod line;
mod names;
mod registers;
mod script;
mod spaces;
mod symbols;
mod traced;

use self::folded::Stacks;
use self::frames::Frames;
use self::groups::{Groups, Member};
use self::names::name_event;
use self::registers::Registers;
use self::spaces::Gatherer;
use self::symbols::Symbols;
use self::traced::{Traced, Tracepoints};
use crate::formats::perf::decode::attr::Attr;
use crate::formats::perf::decode::attr_record;
use crate::formats::perf::decode::event::{Events, SampleRead};
use crate::formats::perf::decode::expand::{Expansion, Step, Wrapper, begins_frame};
use crate::formats::perf::decode::feature::{self, DescribedEvent};
use crate::formats::perf::decode::frame::Record;
use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::decode::record::{Named, named, of_sample, sample_log};
use crate::formats::perf::decode::recording::{Opened, RecordFile, Recording, open};
use crate::formats::perf::decode::sample::{Sample, SampleId};
use crate::formats::perf::decode::value::Value;
use crate::formats::perf::layout::attr::sample_type;
use crate::formats::perf::layout::{HEADER_SIZE_PIPE, feature as bit, record as kind};
use crate::formats::perf::limits::{SPACES, STACKS};
use crate::formats::perf::options::{self, Filter};
use crate::formats::perf::recover::outline::Outline;
use crate::formats::perf::recover::restore;
use crate::kit::cursor::Order;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::Span;
use crate::kit::walk::Item;
use crate::model::dump::{Dump, DumpError, Dumped};
use crate::model::limits::{EXPANSION_RATIO, Limits, RESYNC, WINDOW, ZSTD_WINDOW};
use crate::model::options::Options;
use crate::model::recording::FileSet;

/// The fields that all samples are shown with.
const PLAIN: u64 = sample_type::IDENTIFIER
    | sample_type::IP
    | sample_type::TID
    | sample_type::TIME
    | sample_type::ID
    | sample_type::CPU
    | sample_type::PERIOD
    | sample_type::RAW;
/// The masks that tell which registers a sample has: of the user, and of an interrupt.
const MASKS: [&str; 2] = ["user_regs_mask", "intr_regs_mask"];
/// Bytes of text that are passed on at once.
const TEXT_BATCH: usize = 32 << 10;
/// Expanded bytes that every recording may have, besides the multiple of its length.
const BUDGET_BASE: u64 = 64 << 20;

/// The styles, each with its purpose.
pub(super) static STYLES: &[(&str, &str)] = &[
    ("script", "samples as perf script shows them: a line each, with call chains a line per frame"),
    ("records", "one line per record with its offset, size and fields"),
    ("folded", "one line per stack with the number of its samples, for flame graphs"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Script,
    Records,
    Json,
    Folded,
}

/// A record with the names that it refers to.
struct Shown<'a> {
    number: u64,
    record: RecordView<'a>,
    origin: SampleId,
    /// When it was, among the records that give names.
    moment: u64,
    sample: Option<&'a Sample>,
    /// Name of the event, safe to print.
    event: String,
    /// Name of the thread, safe to print.
    thread: String,
    /// The lists of a sample, and its numbers that `sample` does not have.
    more: Named,
    /// The fields of a tracepoint.
    traced: Traced,
}

impl<'a> Shown<'a> {
    /// The raw data of a sample, if no field names them.
    fn unnamed_raw(&self) -> Option<&'a [u8]> {
        let raw = self.sample?.raw;
        let is_unnamed = self.traced.is_empty() && raw.size > 0;
        self.record.bytes_at(raw.start, raw.size.into()).filter(|_| is_unnamed)
    }
}

/// Passes the records to `out` as text.
pub(super) fn dump(
    files: &FileSet<'_>,
    options: &Options,
    request: &Dump,
    out: &mut dyn FnMut(&str) -> bool,
) -> Result<Dumped, DumpError> {
    let style = match request {
        Dump::JsonLines => Style::Json,
        Dump::Text { style } => match style.as_deref() {
            None | Some("script") => Style::Script,
            Some("records") => Style::Records,
            Some("folded") => Style::Folded,
            Some(other) => return Err(DumpError::Style(other.to_string())),
        },
    };
    let limits = &options.limits;
    let restoration = restore::restore(files, limits);
    if restoration.lacks_header() {
        return Err(DumpError::Unreadable);
    }
    let files = &restoration.apply(files);
    let opened = open(files).map_err(|_| DumpError::Unreadable)?;
    let order = restoration.order;
    let gathering = Pass::Gathering(Gatherer::new(limits.of(&SPACES)));
    let mut ignore = |_: &str| true;
    let mut gatherer = Writer::new(options, (style, order), gathering, &mut ignore);
    gatherer.write_all(&opened, limits);
    let Pass::Gathering(gathered) = gatherer.names.pass else {
        return Err(DumpError::Unreadable);
    };
    let symbols = match &opened {
        Opened::Pipe(_) => Symbols::default(),
        Opened::Sections(recording) => Symbols::read(recording, limits),
    };
    let showing = Pass::Showing(Frames::new(gathered.finish(), symbols));
    let mut writer = Writer::new(options, (style, order), showing, out);
    writer.write_all(&opened, limits);
    writer.write_stacks();
    writer.flush();
    Ok(writer.dumped)
}

/// Reads EVENT_DESC.
fn read_described(recording: &Recording<'_>, limits: &Limits) -> Vec<DescribedEvent> {
    let table = recording.body.data.end().map(|end| recording.table(end));
    let section = table.and_then(|table| table.section(bit::EVENT_DESC));
    section.map_or_else(Vec::new, |section| recording.described_events(section, limits.of(&WINDOW)))
}

/// The zstd stream of a file.
struct Stream {
    expansion: Expansion,
    /// Bytes that it may still expand to.
    budget: u64,
    /// Whether the stream, or a record in it, cannot be read.
    is_broken: bool,
}

/// The use that is made of records.
enum Pass {
    /// Those about threads and memory are gathered.
    Gathering(Gatherer),
    /// All are shown, with the names that were gathered.
    Showing(Frames),
}

/// The names that records refer to.
struct Names {
    described: Vec<DescribedEvent>,
    registers: Registers,
    tracepoints: Tracepoints,
    groups: Groups,
    pass: Pass,
}

impl Names {
    /// Follows a HEADER_FEATURE.
    fn observe_feature(&mut self, record: &RecordView<'_>, order: Order) {
        self.registers.observe(record, order);
        if self.described.is_empty() {
            self.described = feature::described_in_record(record, order);
        }
    }
}

/// Writes records and keeps what later ones refer to.
struct Writer<'o> {
    style: Style,
    filter: Filter<'o>,
    events: Events,
    names: Names,
    /// The stacks that are counted.
    stacks: Stacks,
    text: String,
    out: &'o mut dyn FnMut(&str) -> bool,
    /// Whether no more text is wanted.
    is_over: bool,
    dumped: Dumped,
    /// Number of the next record.
    number: u64,
}

impl<'o> Writer<'o> {
    fn new(
        options: &'o Options,
        (style, order): (Style, Order),
        pass: Pass,
        out: &'o mut dyn FnMut(&str) -> bool,
    ) -> Self {
        let (described, registers) = (Vec::new(), Registers::default());
        let (tracepoints, groups) = (Tracepoints::default(), Groups::default());
        Self {
            style,
            filter: options::filter(options),
            events: Events::new(order),
            names: Names { described, registers, tracepoints, groups, pass },
            stacks: Stacks::new(options.limits.of(&STACKS)),
            text: String::new(),
            out,
            is_over: false,
            dumped: Dumped { records: 0, left_out: 0 },
            number: 0,
        }
    }

    /// Writes the records of all files.
    fn write_all(&mut self, opened: &Opened<'_>, limits: &Limits) {
        match opened {
            Opened::Pipe(file) => self.write_file(file, (HEADER_SIZE_PIPE, file.length()), limits),
            Opened::Sections(recording) => {
                let outline = Outline::gather(recording, limits);
                self.names.described = read_described(recording, limits);
                self.events = outline.events;
                self.names.registers = Registers::of_file(recording);
                self.names.tracepoints.read(recording, self.events.attrs(), limits);
                let end = outline.end.area_end(recording.length());
                let area = (recording.body.data.offset, end);
                self.write_file(&recording.file, area, limits);
                for part in &recording.parts {
                    self.write_file(part, (0, part.length()), limits);
                }
            }
        }
    }

    /// Writes the records of a file.
    fn write_file(&mut self, file: &RecordFile<'_>, area: (u64, u64), limits: &Limits) {
        let order = file.order();
        let budget = file.length().saturating_mul(limits.of(&EXPANSION_RATIO));
        let mut stream = Stream {
            expansion: Expansion::new(file.dialect(), limits.of(&ZSTD_WINDOW)),
            budget: budget.saturating_add(BUDGET_BASE),
            is_broken: false,
        };
        stream.expansion.begin_file(file.index());
        let copy = self.events.sample_copy();
        let mut items = file.records(area, limits.of(&RESYNC));
        if let Some(events) = &copy {
            items = items.judged_by(events);
        }
        for item in items {
            match item {
                _ if self.is_over => return,
                Item::Damage(damage) => {
                    stream.expansion.note_damage(damage.span);
                    self.leave_out(damage.span.len());
                }
                Item::Record(record) => {
                    let view = record.view(file.layer(), self.number);
                    // In a file the attr table has the events.
                    if file.is_pipe() && record.frame.kind == kind::HEADER_ATTR {
                        let event = attr_record::read_record(&view, order);
                        event.into_iter().for_each(|(attr, ids)| self.events.push(attr, ids));
                    }
                    if file.is_pipe() && record.frame.kind == kind::TRACING_DATA {
                        let attrs = self.events.attrs();
                        self.names.tracepoints.read_record(file, &record, attrs, limits);
                    }
                    self.write(&view);
                    if let Some(wrapper) = Wrapper::of(record.frame.kind) {
                        self.write_expanded(&mut stream, &record, wrapper);
                    }
                }
            }
        }
        if !stream.is_broken {
            self.write_released(&mut stream);
        }
        let rest = stream.expansion.incomplete();
        self.leave_out(rest.map_or(0, |rest| to_u64(rest.bytes.len())));
    }

    fn leave_out(&mut self, bytes: u64) {
        self.dumped.left_out = self.dumped.left_out.saturating_add(bytes);
    }

    /// Writes the records that a compressed one completes, as long as the budget has bytes left.
    fn write_expanded(&mut self, stream: &mut Stream, record: &Record<'_>, wrapper: Wrapper) {
        let expansion = &mut stream.expansion;
        let stored = Span::sized(expansion.layer(), record.offset, record.frame.size);
        let payload = wrapper.payload(&record.bytes, expansion.order());
        // A new zstd frame does not depend on the broken one.
        if stream.is_broken && begins_frame(payload) {
            expansion.abandon();
            expansion.skip_to_end();
            stream.is_broken = false;
        }
        if stream.is_broken {
            return self.leave_out(to_u64(payload.len()));
        }
        let (budget, is_broken) = (&mut stream.budget, &mut stream.is_broken);
        let fed = expansion.expand(payload, stored, |_, step| self.take(&step, budget, is_broken));
        let left = fed.unwrap_or_else(|fault| {
            self.write_released(stream);
            stream.is_broken = true;
            payload.len().saturating_sub(to_usize(fault.valid))
        });
        self.leave_out(to_u64(left));
    }

    /// Writes the expanded records that are left in the stream.
    fn write_released(&mut self, stream: &mut Stream) {
        stream.expansion.finish();
        let (budget, is_broken) = (&mut stream.budget, &mut stream.is_broken);
        stream.expansion.release(|_, step| self.take(&step, budget, is_broken));
    }

    /// Writes an expanded record, and returns whether more are wanted.
    fn take(&mut self, step: &Step<'_>, budget: &mut u64, is_broken: &mut bool) -> bool {
        match step {
            Step::Expanded(bytes) => *budget = budget.saturating_sub(*bytes),
            Step::Record(record) => self.write(record),
            Step::Damage(damage) => {
                self.leave_out(to_u64(damage.bytes.len()));
                *is_broken = true;
            }
        }
        *budget > 0 && !self.is_over && !*is_broken
    }

    /// Writes a record, if it is wanted.
    fn write(&mut self, record: &RecordView<'_>) {
        let number = self.number;
        self.number = number.saturating_add(1);
        let order = self.events.order();
        if record.frame.kind == kind::HEADER_FEATURE {
            self.names.observe_feature(record, order);
        }
        let frames = match &mut self.names.pass {
            Pass::Gathering(gatherer) => return gatherer.observe(record, number, &self.events),
            Pass::Showing(frames) => frames,
        };
        let sample = match record.frame.kind {
            kind::SAMPLE => {
                let mut sample = Sample::default();
                let read = self.events.read_sample(record, &mut sample);
                if !matches!(read, SampleRead::Complete { .. }) {
                    return self.leave_out(record.frame.size);
                }
                Some(sample)
            }
            _ => None,
        };
        let origin = self.events.origin_of(record).unwrap_or_default();
        let index = sample.and_then(|_| self.events.index_of(origin.id));
        let attr = index.and_then(|index| Some((index, self.events.attrs().get(index)?)));
        let event = attr.map_or_else(String::new, |(index, attr)| {
            name_event(attr, self.names.described.get(index))
        });
        let is_wanted = self.filter.wants(number, record.frame.kind, origin.time, &event);
        let is_of_samples = matches!(self.style, Style::Script | Style::Folded);
        if !is_wanted || is_of_samples && sample.is_none() {
            return;
        }
        let moment = frames.moment(origin.time, number);
        let thread = origin.tid.map_or_else(String::new, |tid| frames.comm(tid, moment));
        let mut shown = Shown {
            number,
            record: *record,
            origin,
            moment,
            sample: sample.as_ref(),
            event,
            thread,
            more: Named::new(),
            traced: Traced::new(),
        };
        if let (Some(sample), Some((_, attr))) = (sample, attr) {
            self.add_more(&mut shown, &sample, attr);
        }
        self.write_shown(&shown);
    }

    /// Adds what only some samples have.
    fn add_more(&self, shown: &mut Shown<'_>, sample: &Sample, attr: &Attr) {
        let has_more = match self.style {
            Style::Folded => sample.callchain_len > 0,
            _ => attr.sample_type & !PLAIN != 0,
        };
        if has_more {
            let log = sample_log();
            self.events.log_fields(&shown.record, &log);
            shown.more = of_sample(log);
            let masks = [attr.sample_regs_user, attr.sample_regs_intr];
            let abis = [sample.regs.user, sample.regs.intr];
            for ((name, mask), abi) in MASKS.into_iter().zip(masks).zip(abis) {
                shown.more.extend((abi > 0).then_some((name, Value::Hex(mask))));
            }
        }
        if attr.samples(sample_type::RAW) && self.style != Style::Folded {
            shown.traced = self.names.tracepoints.fields(attr, &shown.record, sample.raw);
        }
    }

    /// Writes a record that is wanted.
    fn write_shown(&mut self, shown: &Shown<'_>) {
        let order = self.events.order();
        let registers = self.names.registers;
        let members = self.members_of(shown);
        let Pass::Showing(frames) = &self.names.pass else { return };
        self.dumped.records = self.dumped.records.saturating_add(1);
        match (self.style, shown.sample) {
            (Style::Script, Some(sample)) => {
                let lines = script::lines_of(shown, sample, members);
                let names = (frames, registers);
                for line in &lines {
                    script::write_sample((shown, line), sample, names, order, &mut self.text);
                }
            }
            (Style::Folded, Some(sample)) => {
                if self.stacks.add(frames, shown, sample) {
                    self.write_stacks();
                }
            }
            (Style::Script | Style::Folded, None) => {}
            (Style::Records, _) => line::write_record(shown, &self.own(shown), &mut self.text),
            (Style::Json, _) => line::write_json(shown, &self.own(shown), &mut self.text),
        }
        if self.text.len() >= TEXT_BATCH {
            self.flush();
        }
    }

    /// Returns the events that are read together with that of a sample; `None` if none is.
    fn members_of(&mut self, shown: &Shown<'_>) -> Option<Vec<Member>> {
        let values = named::items(&shown.more, "read_values");
        if values.is_empty() || self.style != Style::Script {
            return None;
        }
        let (events, described) = (&self.events, &self.names.described);
        let name_of = |id: u64| {
            let index = events.find(id)?;
            Some(name_event(events.attrs().get(index)?, described.get(index)))
        };
        Some(self.names.groups.members(values, name_of))
    }

    /// Returns the fields of a record that is not a sample.
    fn own(&self, shown: &Shown<'_>) -> Named {
        match shown.sample {
            Some(_) => Named::new(),
            None => self.events.named_fields(&shown.record),
        }
    }

    /// Writes the stacks that were counted.
    fn write_stacks(&mut self) {
        for line in self.stacks.take() {
            self.text.push_str(&line);
            if self.text.len() >= TEXT_BATCH {
                self.flush();
            }
        }
    }

    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        self.is_over |= !text.is_empty() && !(self.out)(&text);
    }
}
