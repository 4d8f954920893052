//! Built-in signatures: the definitions of known builds of the tracer.
//!
//! Ids are constants of a build, so that a build which agrees with the definitions that survive has
//! those that were lost. `tables.bin` is made by `tests/tools/apitrace_signatures.rs` from the
//! libraries of the tracer, which know the values of enums, and from listings of other builds, with
//! functions and structs only:
//!
//! ```text
//! deflate( count, (length, definition)*       every definition once, as a stream stores it
//!          count, (name, 4 * runs)* )         tables: functions, structs, enums, bitmasks
//! runs := count, (first id, first definition, number)*
//! ```
//!
//! All numbers are integers as in the stream. A table is chosen if at least `AGREEING` definitions
//! of the trace agree with it and next to none differs: a damaged definition differs, too. If fewer
//! are left, the calls may show the build (`by_use`). Builds that fit alike are asked together: an
//! id has a name if all of them give it the same (`table`).

mod by_use;
mod names;
mod table;

use std::sync::LazyLock;

use flate2::{Decompress, FlushDecompress};

use crate::formats::apitrace::decode::definitions::Definitions;
use crate::formats::apitrace::decode::grammar::Space;
use crate::formats::apitrace::decode::raw::Raw;
use crate::formats::apitrace::decode::tracker::StreamTracker;
use crate::kit::num::to_usize;
use by_use::find_by_use;
pub use names::known_names;
use table::{Table, Tables};

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
/// The first tables, which are those of the build that Debian 12 has.
const USUAL_BUILDS: usize = 2;

/// The definitions of a build, or those that several builds agree on.
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
static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let bytes = unpack(PACKED);
    Tables::read(&bytes).unwrap_or_default()
});

/// Returns the number of members that a struct has in the first build that defines its id. Another
/// build may have another struct there, so the number is a guess that events have to prove.
pub fn count_members(id: u64) -> Option<u64> {
    usual_builds().find_map(|table| table.count(Space::Struct, id))
}

/// Whether a call of a function may have no arguments, as far as the usual builds show: in one of
/// them it takes none, or none has its id.
pub fn may_take_none(id: u64) -> bool {
    let known = usual_builds().filter_map(|table| table.count(Space::Function, id));
    let mut counts = known.peekable();
    counts.peek().is_none() || counts.any(|count| count == 0)
}

/// Returns the tables of the usual builds. All builds together have a function of every kind for
/// nearly every id, so that they would show nothing.
fn usual_builds() -> impl Iterator<Item = Table<'static>> {
    TABLES.all().take(USUAL_BUILDS)
}

/// Returns the signatures of the build that wrote a trace that lost definitions, if it is known.
pub fn find_build(tracker: &StreamTracker) -> Option<(Signatures, Evidence)> {
    let definitions = &tracker.definitions;
    let by_definitions = find_signatures(definitions).map(|found| (found, Evidence::Definitions));
    let by_calls = || {
        let is_needed = !tracker.lost_definitions.all.is_empty();
        let uses = tracker.values.usage.shapes.uses();
        let found = is_needed.then(|| find_by_use(definitions, uses)).flatten()?;
        Some((found, Evidence::Calls))
    };
    let (mut found, evidence) = by_definitions.or_else(by_calls)?;
    leave_out_contradicted(&mut found, tracker);
    Some((found, evidence))
}

/// Removes the lost functions whose calls have other arguments than the build gives them: their id
/// is damaged, and the build names a function that was never called.
fn leave_out_contradicted(found: &mut Signatures, tracker: &StreamTracker) {
    for used in tracker.values.usage.shapes.uses() {
        let (space, id) = (Space::Function, used.id);
        let is_lost = tracker.lost_definitions.all.contains_key(&(space, id));
        let known = found.definitions.known(space, id).filter(|_| is_lost);
        if known.is_some_and(|known| !used.fits(known.count)) {
            found.definitions.remove(space, id);
        }
    }
}

/// Returns the signatures of the build that wrote a trace with these definitions, if it is known.
/// Several builds may agree with all that is left: then those of their signatures that are alike.
pub fn find_signatures(definitions: &Definitions) -> Option<Signatures> {
    // A definition that differs in a byte is one that agrees, but for its damage.
    let mut best: ([u64; 2], Vec<Table<'_>>) = ([0; 2], Vec::new());
    for table in TABLES.all() {
        let found = table.compare(definitions);
        let most_damaged = (found.agreeing / AGREEING_PER_DAMAGED).saturating_add(1);
        let fits = found.agreeing >= AGREEING
            && found.damaged <= most_damaged
            && found.differing.saturating_mul(AGREEING_PER_DIFFERING) <= found.agreeing;
        let rank = [found.agreeing.saturating_add(found.damaged), found.agreeing];
        if fits && rank > best.0 {
            best = (rank, Vec::new());
        }
        if fits && rank == best.0 {
            best.1.push(table);
        }
    }
    table::merge(&best.1)
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
    compare_with(definitions, |space, id| others.raw(space, id))
}

/// Compares definitions with those of the same ids that `other` returns.
fn compare_with<'o>(
    definitions: &Definitions,
    other: impl Fn(Space, u64) -> Option<&'o [u8]>,
) -> Comparison {
    let mut found = Comparison::default();
    for (space, id, raw) in definitions.all_raw() {
        let Some(other) = other(space, id) else { continue };
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

/// Returns the number of items of a definition.
fn item_count(space: Space, raw: &[u8]) -> Option<u64> {
    let mut reader = Raw(raw);
    if matches!(space, Space::Function | Space::Struct) {
        reader.name()?;
    }
    reader.uint()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::apitrace::decode::definitions::KnownId;
    use crate::formats::apitrace::decode::repeats::FirstUse;
    use crate::formats::apitrace::decode::tracker::lost::LostDefinition;
    use crate::formats::apitrace::decode::usage::shape::Shape;
    use crate::model::limits::Limits;

    /// The tables of releases 1.0 to 13.0, without those that equal an earlier one.
    const TABLE_COUNT: usize = 78;

    #[test]
    fn the_tables_are_complete_and_a_build_is_recognised_by_its_definitions() {
        let bytes = unpack(PACKED);
        let tables = Tables::read(&bytes).unwrap();
        assert_eq!(tables.all().count(), TABLE_COUNT);
        for (index, table) in tables.all().enumerate() {
            let whole = table::merge(&[table]).unwrap();
            let count = |space| whole.definitions.count(space);
            assert!(count(Space::Function) > 50, "{}", table.name());
            if index < USUAL_BUILDS {
                assert!(count(Space::Function) > 3_000 && count(Space::Enum) > 8);
            }
            // The search takes most of the time; neighbours are releases of one library.
            if index % 8 != 0 {
                continue;
            }
            let found = find_signatures(&whole.definitions).unwrap();
            let (name, begin) = (found.name, format!("{} or ", table.name()));
            assert!(name == table.name() || name.starts_with(&begin), "{name}, {begin}");
        }
        assert!(find_signatures(&Definitions::with_raw()).is_none());
        // XVisualInfo, and the pixmap of a client.
        assert_eq!([0, 1, 2].map(count_members), [Some(10), Some(4), None]);
        // memcpy, glXGetCurrentContext or another without arguments, and no function.
        let bare: Vec<u64> = (0..200).filter(|id| may_take_none(*id)).collect();
        assert!(!bare.contains(&0) && !bare.is_empty() && bare.len() < 40, "{bare:?}");
        assert!(may_take_none(1 << 20));
    }

    #[test]
    fn a_lost_function_has_no_name_whose_arguments_its_calls_do_not_have() {
        let table = TABLES.all().next().unwrap();
        // Functions of three arguments, from 200 on.
        let has_three = |id: &u64| table.count(Space::Function, *id) == Some(3);
        let lost = (200..).find(has_three).unwrap();
        let name = |indices: &[u64], is_left: bool| {
            let mut tracker = StreamTracker::new(&Limits::default(), true);
            for id in 100..110 {
                let raw = table.raw(Space::Function, id).unwrap();
                tracker.definitions.add(Space::Function, id, KnownId { count: 0, lost: false });
                tracker.definitions.add_raw(Space::Function, id, raw.to_vec());
            }
            let definition = LostDefinition { at: 0, place: None, items: 0, is_donated: false };
            tracker.lost_definitions.all.insert((Space::Function, lost), definition);
            let first = FirstUse { call: 0, argument: None, at: 0, end: 1 };
            let mut shape = Shape::default();
            indices.iter().for_each(|index| _ = shape.add(Some(*index)));
            let shapes = &mut tracker.values.usage.shapes;
            shapes.add(lost, false, shape, first);
            if is_left {
                shapes.add(lost, true, Shape::default(), first);
            }
            let (found, _) = find_build(&tracker).unwrap();
            found.definitions.raw(Space::Function, lost).map(<[u8]>::to_vec)
        };
        let known = table.raw(Space::Function, lost).map(<[u8]>::to_vec);
        assert_eq!(name(&[0, 1, 2], true), known);
        assert_eq!(name(&[0], false), known);
        for (indices, is_left) in [(&[][..], false), (&[0, 1], true), (&[0, 1, 2, 3], true)] {
            assert_eq!(name(indices, is_left), None, "{indices:?}");
        }
    }

    #[test]
    fn a_name_that_fitting_builds_dispute_is_not_given() {
        let of = |release: &str| {
            let name = format!("apitrace {release}, glxtrace");
            TABLES.all().find(|table| table.name() == name).unwrap()
        };
        let (old, new) = (of("11.1"), of("12.0"));
        let mut left = Definitions::with_raw();
        for id in 100..110 {
            let raw = old.raw(Space::Function, id).unwrap();
            left.add(Space::Function, id, KnownId { count: 0, lost: false });
            left.add_raw(Space::Function, id, raw.to_vec());
        }
        let found = find_signatures(&left).unwrap();
        assert!(found.name.starts_with("apitrace 11.1, glxtrace or "), "{}", found.name);
        let disputed = 2_000;
        assert_ne!(old.raw(Space::Function, disputed), new.raw(Space::Function, disputed));
        assert_eq!(found.definitions.raw(Space::Function, disputed), None);
        let shared = found.definitions.raw(Space::Function, 120).unwrap();
        assert_eq!(old.raw(Space::Function, 120), Some(shared));
    }
}
