//! Built-in signatures: the definitions of known builds of the tracer.
//!
//! Ids are constants of a build, so that a build which agrees with the definitions that survive has
//! those that were lost. `tables.bin` is made by `tests/tools/apitrace_signatures.rs` from the
//! libraries of the tracer:
//!
//! ```text
//! deflate( count, (length, definition)*       every definition once, as a stream stores it
//!          count, (name, 4 * runs)* )         tables: functions, structs, enums, bitmasks
//! runs := count, (first id, first definition, number)*
//! ```
//!
//! All numbers are integers as in the stream. A table is chosen if at least `AGREEING` definitions
//! of the trace agree with it and next to none differs: a damaged definition differs, too. If fewer
//! are left, the calls may show the build (`by_use`).

mod by_use;

use std::sync::LazyLock;

use flate2::{Decompress, FlushDecompress};

use crate::formats::apitrace::decode::definitions::{Definitions, KnownId};
use crate::formats::apitrace::decode::grammar::Space;
use crate::formats::apitrace::decode::tracker::StreamTracker;
use crate::kit::num::to_usize;
use by_use::find_by_use;

/// The tables, packed.
static PACKED: &[u8] = include_bytes!("tables.bin");
/// Bytes of the unpacked tables at most.
const UNPACKED_MAX: usize = 16 << 20;
/// Definitions that have to agree with a table.
const AGREEING: u64 = 4;
/// Of so many definitions that agree, one more may differ.
const AGREEING_PER_DIFFERING: u64 = 32;
/// Of so many definitions that agree, one more may differ in a byte, besides the first one.
const AGREEING_PER_DAMAGED: u64 = 8;
/// The namespaces of a table, in order.
const SPACES: [Space; 4] = [Space::Function, Space::Struct, Space::Enum, Space::Bitmask];

/// The definitions of a build.
#[derive(Debug)]
pub struct Signatures {
    /// The build and its library.
    pub name: String,
    /// The definitions.
    pub definitions: Definitions,
}

/// The facts that show which build wrote a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The definitions that are left.
    Definitions,
    /// The ids and arguments of the calls.
    Calls,
}

/// The unpacked tables.
static TABLES: LazyLock<Vec<Signatures>> = LazyLock::new(|| {
    let bytes = unpack(PACKED);
    Reader(&bytes).tables().unwrap_or_default()
});

/// Returns the number of members that a struct has in the first build that defines its id. Another
/// build may have another struct there, so the number is a guess that events have to prove.
pub fn count_members(id: u64) -> Option<u64> {
    let mut known = TABLES.iter().filter_map(|table| table.definitions.known(Space::Struct, id));
    known.next().map(|known| known.count)
}

/// Whether a call of a function may have no arguments, as far as the known builds show: in one of
/// them it takes none, or none has its id.
pub fn may_take_none(id: u64) -> bool {
    let known = TABLES.iter().filter_map(|table| table.definitions.known(Space::Function, id));
    let mut counts = known.map(|known| known.count).peekable();
    counts.peek().is_none() || counts.any(|count| count == 0)
}

/// Returns the signatures of the build that wrote a trace that lost definitions, if it is known.
pub fn find_build(tracker: &StreamTracker) -> Option<(&'static Signatures, Evidence)> {
    let definitions = &tracker.definitions;
    let by_definitions = find_signatures(definitions).map(|found| (found, Evidence::Definitions));
    let by_calls = || {
        let is_needed = !tracker.lost_definitions.all.is_empty();
        let uses = tracker.values.usage.shapes.uses();
        let found = is_needed.then(|| find_by_use(definitions, uses)).flatten()?;
        Some((found, Evidence::Calls))
    };
    by_definitions.or_else(by_calls)
}

/// Returns the signatures of the build that wrote a trace with these definitions, if it is known.
pub fn find_signatures(definitions: &Definitions) -> Option<&'static Signatures> {
    let mut best: Option<(u64, &Signatures)> = None;
    for table in TABLES.iter() {
        let found = compare(definitions, &table.definitions);
        let most_damaged = (found.agreeing / AGREEING_PER_DAMAGED).saturating_add(1);
        let fits = found.agreeing >= AGREEING
            && found.damaged <= most_damaged
            && found.differing.saturating_mul(AGREEING_PER_DIFFERING) <= found.agreeing;
        if fits && best.is_none_or(|(most, _)| found.agreeing > most) {
            best = Some((found.agreeing, table));
        }
    }
    best.map(|(_, table)| table)
}

/// The ids that two sets define.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Ids with the same definition.
    pub agreeing: u64,
    /// Ids whose definitions differ in one byte.
    pub damaged: u64,
    /// Ids whose definitions differ in more.
    pub differing: u64,
}

/// Compares the definitions of the ids that both sets define.
pub fn compare(definitions: &Definitions, others: &Definitions) -> Comparison {
    let mut found = Comparison::default();
    for (space, id, raw) in definitions.all_raw() {
        let Some(other) = others.raw(space, id) else { continue };
        let count = match find_difference(raw, other) {
            Difference::None => &mut found.agreeing,
            Difference::Byte(_) => &mut found.damaged,
            Difference::More => &mut found.differing,
        };
        *count = count.saturating_add(1);
    }
    found
}

/// The difference of two definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// None.
    None,
    /// The byte at this index.
    Byte(usize),
    /// Several bytes, or the length.
    More,
}

/// Returns the difference of two definitions.
pub fn find_difference(raw: &[u8], other: &[u8]) -> Difference {
    let mut differing = raw.iter().zip(other).enumerate().filter(|(_, (a, b))| a != b);
    match (raw.len() == other.len(), differing.next(), differing.next()) {
        (true, None, _) => Difference::None,
        (true, Some((index, _)), None) => Difference::Byte(index),
        _ => Difference::More,
    }
}

fn unpack(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1 << 20);
    let mut inflate = Decompress::new(false);
    let mut rest = packed;
    while bytes.len() < UNPACKED_MAX {
        let (read, made) = (inflate.total_in(), bytes.len());
        bytes.reserve(64 << 10);
        if inflate.decompress_vec(rest, &mut bytes, FlushDecompress::None).is_err() {
            break;
        }
        let read = inflate.total_in().saturating_sub(read);
        rest = rest.get(to_usize(read)..).unwrap_or_default();
        if read == 0 && bytes.len() == made {
            break;
        }
    }
    bytes
}

/// The unread bytes of the tables.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn uint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.uint()?;
        let (bytes, rest) = self.0.split_at_checked(to_usize(len))?;
        self.0 = rest;
        Some(bytes)
    }

    fn tables(&mut self) -> Option<Vec<Signatures>> {
        let mut pool = Vec::new();
        for _ in 0..self.uint()? {
            pool.push(self.bytes()?);
        }
        let mut tables = Vec::new();
        for _ in 0..self.uint()? {
            let name = String::from_utf8_lossy(self.bytes()?).into_owned();
            let mut definitions = Definitions::with_raw();
            for space in SPACES {
                self.runs(space, &pool, &mut definitions)?;
            }
            tables.push(Signatures { name, definitions });
        }
        Some(tables)
    }

    fn runs(&mut self, space: Space, pool: &[&[u8]], definitions: &mut Definitions) -> Option<()> {
        for _ in 0..self.uint()? {
            let (id, place, count) = (self.uint()?, self.uint()?, self.uint()?);
            for index in 0..count {
                let raw = pool.get(to_usize(place.checked_add(index)?))?;
                let id = id.checked_add(index)?;
                let count = item_count(space, raw)?;
                definitions.add(space, id, KnownId { count, lost: false });
                definitions.add_raw(space, id, raw.to_vec());
            }
        }
        Some(())
    }
}

/// Returns the number of items of a definition.
fn item_count(space: Space, raw: &[u8]) -> Option<u64> {
    let mut reader = Reader(raw);
    if matches!(space, Space::Function | Space::Struct) {
        reader.bytes()?;
    }
    reader.uint()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_complete_and_a_build_is_recognised_by_its_definitions() {
        let bytes = unpack(PACKED);
        let mut reader = Reader(&bytes);
        let tables = reader.tables().unwrap();
        assert!(reader.0.is_empty());
        for table in &tables {
            let count = |space| table.definitions.count(space);
            assert!(count(Space::Function) > 3_000 && count(Space::Enum) > 8, "{}", table.name);
            let found = find_signatures(&table.definitions).unwrap();
            assert_eq!(found.name, table.name);
        }
        assert!(find_signatures(&Definitions::with_raw()).is_none());
        // XVisualInfo, and the pixmap of a client.
        assert_eq!([0, 1, 2].map(count_members), [Some(10), Some(4), None]);
        // memcpy, glXGetCurrentContext or another without arguments, and no function.
        let bare: Vec<u64> = (0..200).filter(|id| may_take_none(*id)).collect();
        assert!(!bare.contains(&0) && !bare.is_empty() && bare.len() < 40, "{bare:?}");
        assert!(may_take_none(1 << 20));
        assert_eq!(tables.len(), 2);
    }
}
