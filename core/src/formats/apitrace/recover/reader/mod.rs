//! From the blocks of a stream to events and damage: reads, and where reading stops, seeks.
//!
//! ```text
//!         stop: not an event, or a unit that lost bytes
//!   read -------------------------------------------------> seek: try every place
//!    ^                                                        |
//!    +--------------------------------------------------------+ sync: the call numbers and the
//!                                                               lost definitions are known
//! ```
//!
//! - `read`: reads blocks, with the bytes that the block before left
//! - `stop`: finds where damage begins that was seen later
//! - `seek`: looks for the place from which events follow one another
//! - `sync`: continues there
//! - `foreign`: stretches that come from another place of the stream
//! - `unit_fault`: faults of the stored units

mod foreign;
mod read;
mod seek;
mod stop;
mod sync;
mod unit_fault;

use crate::formats::apitrace::decode::damage::{DamageCause, StreamFaults, TruncatedEvent};
use crate::formats::apitrace::decode::definitions::Definitions;
use crate::formats::apitrace::decode::grammar::{Parser, StreamError};
use crate::formats::apitrace::decode::places::StreamPlaces;
use crate::formats::apitrace::decode::stretch::Stretch;
use crate::formats::apitrace::decode::tracker::StreamTracker;
use crate::formats::apitrace::expand::{Block, Fault};
use crate::formats::apitrace::layout::VERSION_PLAUSIBLE;
use crate::formats::apitrace::limits::NESTING;
use crate::kit::num::{to_u64, to_usize};
use crate::model::Excerpt;
use crate::model::limits::Limits;
use foreign::ForeignStretches;
use seek::{SearchBudget, Seek};

/// Bytes of a string past the end of the stream from which its length is doubted.
const LONG_STRING: u64 = 64 << 10;
/// Bytes after the sound properties from which the length of the next one is doubted.
const LONG_PROPERTY: u64 = 256;
/// Events that the middle of a stream may be taken for if it is read as the beginning of one.
const FEW_EVENTS: u64 = 64;
/// Bytes at the end of a stream that are searched again with lost definitions at every place.
const THOROUGH_MAX: u64 = 64 << 10;
/// Bytes around a fault that are shown.
const EXCERPT_LEN: u64 = 48;

/// The next step of whoever feeds the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Give the next block.
    NextBlock,
    /// Begin again with the block that holds this offset of the stream.
    Rewind(u64),
    /// Nothing more is to be read.
    Stop,
}

enum Mode {
    Read,
    Seek(Seek),
    Finished,
}

/// The bytes of a token that is not complete at the end of a block.
#[derive(Debug, Default)]
struct Carry {
    bytes: Vec<u8>,
    /// Their offset in the stream.
    start: u64,
}

/// Attempts so far, so that reading comes to an end.
#[derive(Debug, Default)]
struct Attempts {
    /// How often the stream was read again from an earlier place.
    rewinds: u64,
    /// Where reading resumed without dropping a byte.
    resumed_in_place: Option<u64>,
    /// The event with a string whose length was doubted.
    doubted_event: Option<u64>,
    /// Where the units end in the file whose faults are known.
    known_faults_end: u64,
    /// Where the damage begins whose end was searched for with lost definitions at every place.
    searched_thoroughly: Option<u64>,
    /// The version of a stream whose header was lost.
    assumed_version: Option<u64>,
    /// Whether the first unit is damaged before its first byte.
    begins_with_fault: bool,
    /// The fault of the first unit, if what is left of it is read as the beginning.
    first_fault: FirstFault,
    /// Stretches from another place of the stream.
    foreign: ForeignStretches,
}

/// What becomes of a first unit that is damaged before its first byte.
#[derive(Debug, Default)]
enum FirstFault {
    /// It is damage.
    #[default]
    Damage,
    /// The bytes that are left of it are read; the fault is the cause of the damage among them.
    Passed(Option<Fault>),
}

/// Reads a stream block by block.
pub struct StreamReader<'a> {
    limits: Limits,
    parser: Parser,
    /// The meaning of the tokens.
    pub tracker: StreamTracker,
    /// The way from the stream to the stored bytes.
    pub places: StreamPlaces,
    /// The faults of the stream and its units.
    pub faults: StreamFaults,
    donor: Option<&'a Definitions>,
    mode: Mode,
    carry: Carry,
    attempts: Attempts,
    budget: SearchBudget,
}

impl<'a> StreamReader<'a> {
    /// A reader at the beginning of a stream; `keep_raw`: keeps the stored bytes of definitions.
    pub fn new(limits: &Limits, keep_raw: bool, donor: Option<&'a Definitions>) -> Self {
        Self {
            limits: limits.clone(),
            parser: Parser::new(limits.of(&NESTING)),
            tracker: StreamTracker::new(limits, keep_raw),
            places: StreamPlaces::default(),
            faults: StreamFaults::default(),
            donor,
            mode: Mode::Read,
            carry: Carry::default(),
            attempts: Attempts::default(),
            budget: SearchBudget::new(limits),
        }
    }

    /// A reader for a stream whose first unit is damaged before its first byte: what is left of it
    /// may begin with the header and the first events.
    pub fn past_first_fault(
        limits: &Limits,
        keep_raw: bool,
        donor: Option<&'a Definitions>,
    ) -> Self {
        let mut reader = Self::new(limits, keep_raw, donor);
        reader.attempts.first_fault = FirstFault::Passed(None);
        reader
    }

    /// A reader for a stream of a version whose header is lost: it begins somewhere in its middle.
    pub fn without_header(
        limits: &Limits,
        keep_raw: bool,
        donor: Option<&'a Definitions>,
        version: u64,
    ) -> Self {
        let mut reader = Self::new(limits, keep_raw, donor);
        reader.attempts.assumed_version = Some(version);
        reader.open_damage(0, DamageCause::Stream(StreamError::MissingHeader), 0);
        if let Some(damage) = reader.faults.damages.last_mut() {
            damage.has_header = true;
        }
        reader.mode = Mode::Seek(Seek::from(0));
        reader
    }

    /// A reader that refuses stretches of the stream, which come from another place of it.
    pub fn without_stretches(
        limits: &Limits,
        keep_raw: bool,
        donor: Option<&'a Definitions>,
        refused: Vec<Stretch>,
    ) -> Self {
        let mut reader = Self::new(limits, keep_raw, donor);
        reader.attempts.foreign = ForeignStretches::refused(refused);
        reader
    }

    /// Leaves to the searches of this reader only the steps that those of another one, of the same
    /// stream, have left.
    pub fn search_after(&mut self, other: &Self) {
        self.budget = other.budget.rest();
    }

    /// Returns the stretches that another reading has to refuse, if it may read more calls then.
    pub fn stretches_to_refuse(&self) -> Option<Vec<Stretch>> {
        self.attempts.foreign.to_refuse()
    }

    /// Whether next to nothing was read: the stream may have no header.
    pub fn is_implausible(&self) -> bool {
        let version = self.tracker.header.version;
        let is_unknown = version.is_some_and(|(version, _)| version > VERSION_PLAUSIBLE);
        let is_damaged = is_unknown || !self.faults.damages.is_empty();
        is_damaged && self.tracker.history.count < FEW_EVENTS && self.faults.limit.is_none()
    }

    /// Whether neither a property of the header nor an event was read.
    pub const fn lacks_beginning(&self) -> bool {
        self.tracker.header.properties == 0 && self.tracker.history.count == 0
    }

    /// Whether the first unit is damaged before its first byte.
    pub const fn begins_with_fault(&self) -> bool {
        self.attempts.begins_with_fault
    }

    /// Returns the version of the stream.
    pub const fn version(&self) -> u64 {
        self.parser.version()
    }

    /// Reads the next block.
    pub fn read_block(&mut self, block: &Block) -> Flow {
        if let Some(segment) = self.places.add_block(block, self.tracker.calls.next) {
            self.budget.grow(segment.expanded.len(), segment.stored.end);
            if block.unit.1 == block.start {
                self.budget.refill();
            }
        }
        self.tracker.lost_calls.made_up.add_all(&block.made_up);
        let flow = match &self.mode {
            Mode::Finished => return Flow::Stop,
            Mode::Read => self.read(&block.bytes, block.start),
            Mode::Seek(_) => match self.read_across(block) {
                Some(flow) => flow,
                None => self.seek(&block.bytes, block.start, false),
            },
        };
        if flow != Flow::NextBlock {
            return flow;
        }
        self.settle_suspects(self.places.end, false);
        self.set_places();
        match (&block.fault, block.segment()) {
            (Some(fault), Some(segment)) => self.add_unit_fault(fault, segment, &block.bytes),
            _ => Flow::NextBlock,
        }
    }

    /// Looks up the units of new warnings and leaves while they are known.
    fn set_places(&mut self) {
        let places = &self.places;
        self.tracker.warnings.set_places(|start, end| places.place(start, end));
        self.tracker.lost_calls.set_places(|start, end| places.place(start, end));
    }

    /// Ends the stream: no block follows.
    pub fn finish(&mut self) -> Flow {
        while let Mode::Seek(seek) = &self.mode {
            // Further damage may follow the place that is found. The stream may end earlier than in
            // a reading before: a chunk gives fewer bytes if it is expanded again by itself.
            if seek.is_exhausted() || self.budget.left == 0 {
                break;
            }
            match self.seek(&[], self.places.end, true) {
                Flow::NextBlock => {}
                other => return other,
            }
        }
        if let Some(from) = self.find_thorough_search() {
            self.attempts.searched_thoroughly = Some(from);
            return self.rewind(from);
        }
        if let Mode::Read = self.mode {
            let is_inside = !self.parser.is_between_events() || !self.carry.bytes.is_empty();
            let doubts = self.doubts_string_length() || self.doubts_property_length();
            if is_inside && doubts {
                let again = self.read_after_doubtful_string();
                if again != Flow::NextBlock {
                    return again;
                }
                self.end_open_damage();
            } else if is_inside {
                self.record_truncated_event();
            }
        } else {
            self.end_open_damage();
        }
        self.settle_suspects(self.places.end, true);
        self.tracker.settle_warnings(true);
        self.set_places();
        Flow::Stop
    }

    /// Returns where the damage begins in which the stream ends, if another search for its end may
    /// find more: it is short, and was searched with few lost definitions.
    fn find_thorough_search(&self) -> Option<u64> {
        let start = self.faults.damages.last().filter(|damage| damage.is_open)?.start;
        let is_short = self.places.end.saturating_sub(start) <= THOROUGH_MAX;
        let is_new = self.attempts.searched_thoroughly != Some(start);
        let is_seeking = matches!(self.mode, Mode::Seek(_)) && self.budget.left > 0;
        let is_held = self.places.segment(start).is_some();
        (is_short && is_new && is_seeking && is_held).then_some(start)
    }

    /// Ends damage after which no event was found.
    fn end_open_damage(&mut self) {
        let end = self.places.end;
        let Some(damage) = self.faults.damages.last_mut().filter(|damage| damage.is_open) else {
            return;
        };
        damage.units.place = self.places.place(damage.start, end);
        damage.end = end;
        let (start, call) = (damage.start, damage.calls.first);
        let is_header = damage.has_header;
        // The length was right: the stream ends inside the string, or inside its header.
        if self.attempts.doubted_event == Some(start) {
            self.faults.damages.pop();
            self.faults.truncated = Some(TruncatedEvent { start, end, call, is_header });
        }
    }

    /// Whether the stream ends in a string whose length may be wrong.
    fn doubts_string_length(&self) -> bool {
        let event = self.parser.event();
        self.parser.string_bytes_left() > 0
            && self.faults.tail.is_none()
            && self.attempts.doubted_event != Some(event)
            && self.places.end.saturating_sub(event) > LONG_STRING
    }

    /// Whether the stream ends in a property although many bytes follow the sound ones.
    fn doubts_property_length(&self) -> bool {
        let header = self.tracker.header;
        self.parser.is_in_header()
            && header.version.is_some()
            && self.attempts.doubted_event.is_none()
            && self.places.end.saturating_sub(header.sound_end) > LONG_PROPERTY
    }

    /// Takes the event with the string, or the properties, for damage and reads again from the
    /// second byte on.
    fn read_after_doubtful_string(&mut self) -> Flow {
        let has_header = self.parser.is_in_header();
        let (start, cause) = match has_header {
            true => (self.find_header_damage(), StreamError::Properties),
            false => {
                let left = self.parser.string_bytes_left();
                (self.parser.event(), StreamError::StringPastEnd(left))
            }
        };
        self.attempts.doubted_event = Some(start);
        self.open_damage(start, DamageCause::Stream(cause), start);
        if let Some(damage) = self.faults.damages.last_mut() {
            damage.has_header = has_header;
        }
        self.rewind(start.saturating_add(1))
    }

    fn record_truncated_event(&mut self) {
        let is_header = self.parser.is_in_header();
        let start = match (is_header, self.parser.is_between_events()) {
            (true, _) => 0,
            (false, true) => self.carry.start,
            (false, false) => self.parser.event(),
        };
        let call = self.tracker.current_call();
        self.tracker.take_back_current();
        let end = self.places.end;
        self.faults.truncated = Some(TruncatedEvent { start, end, call, is_header });
    }

    /// Returns how far the doubts reach if a damage ends at `at`, or before it, and they do not
    /// reach to the end of the unit.
    fn find_doubt_end(&mut self, at: u64) -> Option<u64> {
        self.faults.unsettled_mut().next().filter(|damage| !damage.is_open)?;
        self.places.reach(at)
    }

    /// Calls up to `end` of the stream may be wrong if there is damage before it: the block ends
    /// there, or a part of it that was packed by itself.
    fn settle_suspects(&mut self, end: u64, at_end: bool) {
        let next = self.tracker.calls.next;
        for damage in self.faults.unsettled_mut() {
            if !damage.is_open {
                damage.calls.suspects.1 = next;
                damage.calls.doubt_end = end;
                damage.calls.is_settled = true;
            } else if at_end {
                damage.calls.is_settled = true;
            }
        }
        self.faults.update_settled();
    }
}

/// Cuts out the part of `bytes`, which begin at `start` of the stream, around `at`.
fn excerpt_around(bytes: &[u8], start: u64, at: u64) -> Excerpt {
    let first = at.saturating_sub(16).max(start);
    let from = to_usize(first.saturating_sub(start));
    let to = from.saturating_add(to_usize(EXCERPT_LEN)).min(bytes.len());
    Excerpt { start: first, bytes: bytes.get(from..to).unwrap_or_default().to_vec() }
}

/// The part of `bytes`, which begin at `base` of the stream, from `at` on.
fn bytes_from(bytes: &[u8], base: u64, at: u64) -> &[u8] {
    bytes.get(to_usize(at.saturating_sub(base))..).unwrap_or_default()
}

/// The part of `bytes`, which begin at `base` of the stream, up to `at`.
fn bytes_up_to(bytes: &[u8], base: u64, at: u64) -> &[u8] {
    bytes.get(..to_usize(at.saturating_sub(base))).unwrap_or(bytes)
}

/// Offset in the stream of the end of `bytes`, which begin at `base`.
fn end_of(bytes: &[u8], base: u64) -> u64 {
    base.saturating_add(to_u64(bytes.len()))
}
