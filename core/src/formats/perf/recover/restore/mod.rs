//! The outline of a file, restored from the copies of its facts.
//!
//! A recording stores many facts more than once: sections adjoin, so each boundary is an offset, a
//! sum and a difference; attrs and ids lie in the attr table, in EVENT_DESC and in ID_INDEX; the
//! shapes of the sections show their feature bits. This pass gathers the copies before any record
//! is judged, and decides where they disagree. The result is a list of corrections, none of which
//! changes a length, and the file as it was before the damage.
//!
//! ```text
//!  magic, header.size      nearest known value, and what follows it
//!  blank                   the header of a donor, where zeros are
//!  headless                the header of a pipe that lost it
//!  table                   the path that the stored offsets and sizes support
//!  table_reading           such a table, and what other facts say about it
//!  parted                  sections that moved, after bytes that were lost or added among them
//!  unordered               the same of simpleperf, whose sections lie in any order
//!  layout                  header fields: hypotheses, scored by independent facts
//!  flags shape             the bits whose shapes the sections have
//!  harmless_entries        damaged entries that change nothing for perf
//!  proof                   whether the witnesses leave only one value for table and flags
//!  events compare           attrs and ids: votes of the attr table, EVENT_DESC, ID_INDEX, samples
//!  tracepoint              tracepoints: the data of the samples, and their formats
//!  pipe_attrs              the same of a pipe: votes of HEADER_ATTR and EVENT_DESC
//!  indexed                 events of a pipe that lost both: ID_INDEX, names, fields of the samples
//!  disputes                copies that differ, of which none is more likely
//!  described odd_values hints   the copies in EVENT_DESC, and values that no recorder writes
//!  abi                     attrs that are larger than asked for, and their copies
//!  displaced               bytes that were inserted before the records, or are missing there
//!  exchanged mixed         two blocks that changed places, of the records or of the features
//!  salvage                 the parts that can be trusted, if the outline cannot be restored
//! ```

mod abi;
mod attr_copies;
mod blank;
mod compare;
mod described;
mod displaced;
mod disputes;
mod events;
mod exchanged;
mod flags;
mod harmless_entries;
mod head;
mod headless;
mod hints;
mod identity;
mod ids;
mod indexed;
mod layout;
mod magic;
mod mixed;
mod odd_values;
mod parted;
mod peek;
mod pipe_attrs;
mod proof;
mod salvage;
mod shape;
mod table;
mod table_reading;
mod table_search;
mod tracepoint;
mod unordered;

use std::collections::BTreeMap;

pub use self::abi::{LargeAttr, LargeAttrs, Obstacle};
pub use self::blank::Blank;
pub use self::displaced::{find as find_displaced, find_range as find_displacement};
pub use self::indexed::{Indexed, find_indexed, has_several};
use self::peek::Peek;
pub use self::salvage::{Salvage, described_in, read_events, salvage, salvage_pipe};
use crate::kit::cursor::Order;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::model::limits::Limits;
use crate::model::recording::{File, FileSet};

/// The part of the outline that a correction concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Header, ids and attrs, of which the file has only zeros.
    Head,
    /// The magic.
    Magic,
    /// `header.size`.
    HeaderSize,
    /// `header.attr_size`.
    AttrSize,
    /// The section of the attrs.
    Attrs,
    /// The offset of the records.
    DataOffset,
    /// The size of the records.
    DataSize,
    /// The section of the event types, which is unused.
    EventTypes,
    /// The feature bits.
    Flags,
    /// An entry of the feature table.
    Table,
    /// The section of the ids of an attr.
    IdSection(usize),
    /// An attr in the attr table.
    Attr(usize),
    /// The copy of an attr in EVENT_DESC.
    DescribedAttr(usize),
    /// The ids of the attr table.
    Ids,
    /// The ids in EVENT_DESC.
    DescribedIds,
    /// The ids in ID_INDEX.
    IdIndex,
}

/// Eight bytes of the file and the value that they should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Offset of the first byte.
    pub at: u64,
    /// The stored value.
    pub found: u64,
    /// The value that the witnesses determine.
    pub value: u64,
}

/// Bytes that determine the value of a correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The bytes.
    pub span: Span,
    /// Their meaning.
    pub meaning: &'static str,
}

/// Words of one part that contradict the rest of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// The part.
    pub part: Part,
    /// The words, in the order of the file.
    pub words: Vec<Word>,
    /// The bytes that determine them.
    pub witnesses: Vec<Witness>,
    /// Whether the witnesses leave no other value. A value that is only the likeliest one, or that
    /// follows bytes that were lost or added before it, may differ from that of the original file.
    pub is_determined: bool,
    /// Whether every command of perf reads the recording as if the words were right.
    pub is_harmless: bool,
    /// Whether nothing tells what the event counted, so that it becomes `dummy`.
    pub is_unknown: bool,
}

/// A word of an attr, or an id, that differs from its copy in EVENT_DESC; nothing shows which of
/// the two is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispute {
    /// Whether it is a word of an attr.
    pub is_attr: bool,
    /// Offset of the word.
    pub at: u64,
    /// Its value.
    pub found: u64,
    /// Offset of its copy.
    pub copy_at: u64,
    /// The value of the copy.
    pub copy: u64,
}

impl Correction {
    fn new(part: Part) -> Self {
        Self {
            part,
            words: Vec::new(),
            witnesses: Vec::new(),
            is_determined: true,
            is_harmless: false,
            is_unknown: false,
        }
    }

    /// Notes that the witnesses may allow other values, unless `holds`.
    const fn determined_if(mut self, holds: bool) -> Self {
        self.is_determined &= holds;
        self
    }

    /// Notes whether perf reads the recording as if the words were right.
    const fn harmless_if(mut self, holds: bool) -> Self {
        self.is_harmless = holds;
        self
    }

    /// Notes that the event becomes `dummy`, if `holds`: other values would fit as well.
    const fn unknown_if(mut self, holds: bool) -> Self {
        self.is_unknown = holds;
        self.determined_if(!holds)
    }

    /// Adds a word if it differs.
    fn word(mut self, at: u64, found: u64, value: u64) -> Self {
        if found != value {
            self.words.push(Word { at, found, value });
        }
        self
    }

    fn witness(mut self, start: u64, len: u64, meaning: &'static str) -> Self {
        let span = Span::sized(Layer::stored(0), start, len);
        self.witnesses.push(Witness { span, meaning });
        self
    }
}

/// The corrections of a recording.
#[derive(Clone, Debug)]
pub struct Restoration {
    /// Byte order of the recording.
    pub order: Order,
    /// Whether the recording is a pipe, whose attrs are records.
    pub is_pipe: bool,
    /// The corrections; empty if no copy contradicts another one.
    pub corrections: Vec<Correction>,
    /// The room of a header that was not written.
    pub blank: Option<Blank>,
    /// What differs from its copy even so.
    pub disputes: Vec<Dispute>,
    /// The bytes of all words, by their offsets.
    patches: BTreeMap<u64, [u8; 8]>,
}

impl Restoration {
    const fn new(order: Order) -> Self {
        Self {
            order,
            is_pipe: false,
            corrections: Vec::new(),
            blank: None,
            disputes: Vec::new(),
            patches: BTreeMap::new(),
        }
    }

    /// Whether the file has no header, and no donor supplies one.
    pub fn lacks_header(&self) -> bool {
        self.blank.as_ref().is_some_and(|blank| !matches!(blank.donated, Some(Ok(()))))
    }

    /// Adds the corrections that have words. One that overlaps a word of an earlier one is left
    /// out: damaged offsets may place an attr in the header.
    fn extend(&mut self, corrections: impl IntoIterator<Item = Correction>) {
        for correction in corrections.into_iter().filter(|one| !one.words.is_empty()) {
            if correction.words.iter().any(|word| self.has_overlap(word.at)) {
                continue;
            }
            for word in &correction.words {
                self.patches.entry(word.at).or_insert_with(|| self.order.bytes(word.value));
            }
            self.corrections.push(correction);
        }
    }

    /// Whether a word at `at` overlaps one that is corrected, but is not the same.
    fn has_overlap(&self, at: u64) -> bool {
        let near = at.saturating_sub(7)..at.saturating_add(8);
        self.patches.range(near).any(|(other, _)| *other != at)
    }

    /// Whether bytes of a span are corrected.
    pub fn corrects(&self, span: Span) -> bool {
        let reaching = span.start.saturating_sub(7)..span.end.max(span.start);
        self.patches.range(reaching).next().is_some()
    }

    /// Returns the recording with all corrections applied, without a copy.
    pub fn apply<'a>(&'a self, files: &FileSet<'a>) -> FileSet<'a> {
        let mut list = files.files().to_vec();
        if let Some(first) = list.first_mut() {
            *first = File { name: first.name.clone(), bytes: self.patch(&first.bytes) };
        }
        FileSet::new(list).with_donor(files.donor().cloned())
    }

    fn patch<'a>(&'a self, source: &Source<'a>) -> Source<'a> {
        let mut pieces: Vec<&'a [u8]> = Vec::new();
        let mut at = 0_u64;
        for (start, bytes) in self.patches.range(..source.len()) {
            pieces.extend(source.slices(at, *start));
            pieces.push(bytes);
            at = start.saturating_add(8);
        }
        pieces.extend(source.slices(at, source.len()));
        Source::from_pieces(pieces).watched_as(source)
    }
}

/// Whether a file begins with room for a header, which is zeros, and then has records.
pub fn is_blank(source: &Source<'_>) -> bool {
    blank::find(source).is_some()
}

/// Whether a file is a pipe without its header.
pub fn is_headless(source: &Source<'_>, limits: &Limits) -> bool {
    find_headless(source, limits).is_some()
}

/// Returns the byte order and the first record of a pipe without its header. A file with features
/// is not one: perf inject leaves records of a pipe in it.
fn find_headless(source: &Source<'_>, limits: &Limits) -> Option<(Order, u64)> {
    let found = headless::find(source, limits);
    found.filter(|(order, _)| !displaced::has_table(Peek { source, order: *order }, limits))
}

/// Restores the outline of a recording. Reads the records only if something contradicts.
pub fn restore(files: &FileSet<'_>, limits: &Limits) -> Restoration {
    head::restore(files, limits)
}

/// Whether a file begins with a magic, or with a damaged one and a plausible header after it.
pub fn is_magic(source: &Source<'_>) -> bool {
    magic::is_magic(source)
}
