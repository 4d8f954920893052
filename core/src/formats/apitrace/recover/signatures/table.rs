//! The table of a build, which is a list of definitions that it shares with other builds.

use super::{Comparison, SPACES, Signatures, compare_with, item_count};
use crate::formats::apitrace::decode::definitions::{Definitions, KnownId};
use crate::formats::apitrace::decode::grammar::Space;
use crate::formats::apitrace::decode::raw::Raw;
use crate::kit::num::to_usize;
use crate::kit::words::plural;

/// All tables.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// Every definition once.
    pool: Vec<Box<[u8]>>,
    stored: Vec<StoredTable>,
}

#[derive(Debug)]
struct StoredTable {
    name: String,
    /// For each namespace.
    runs: [Vec<Run>; SPACES.len()],
}

/// Ids in a row that have definitions in a row.
#[derive(Clone, Copy, Debug)]
struct Run {
    id: u64,
    place: u64,
    count: u64,
}

impl Tables {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Raw(bytes);
        let mut pool = Vec::new();
        for _ in 0..reader.uint()? {
            pool.push(Box::from(reader.name()?));
        }
        let mut stored = Vec::new();
        for _ in 0..reader.uint()? {
            let name = String::from_utf8_lossy(reader.name()?).into_owned();
            let mut runs: [Vec<Run>; SPACES.len()] = Default::default();
            for of_space in &mut runs {
                for _ in 0..reader.uint()? {
                    let (id, place, count) = (reader.uint()?, reader.uint()?, reader.uint()?);
                    of_space.push(Run { id, place, count });
                }
            }
            stored.push(StoredTable { name, runs });
        }
        reader.0.is_empty().then_some(Self { pool, stored })
    }

    /// Returns the tables in their order.
    pub(super) fn all(&self) -> impl Iterator<Item = Table<'_>> {
        self.stored.iter().map(|stored| Table { pool: &self.pool, stored })
    }

    /// Returns every definition once, with its namespace.
    pub(super) fn definitions(&self) -> impl Iterator<Item = (Space, &[u8])> {
        let runs = |stored: &StoredTable| SPACES.into_iter().zip(stored.runs.clone());
        let mut spaces = vec![None; self.pool.len()];
        for (space, runs) in self.stored.iter().flat_map(runs) {
            for run in runs {
                let of_run = spaces.iter_mut().skip(to_usize(run.place)).take(to_usize(run.count));
                of_run.for_each(|one| *one = Some(space));
            }
        }
        let all = spaces.into_iter().zip(&self.pool);
        all.filter_map(|(space, raw)| Some((space?, raw.as_ref())))
    }
}

/// A table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'t> {
    pool: &'t [Box<[u8]>],
    stored: &'t StoredTable,
}

impl<'t> Table<'t> {
    /// Returns the build and its library.
    pub(super) fn name(self) -> &'t str {
        &self.stored.name
    }

    fn runs(self, space: Space) -> &'t [Run] {
        let index = SPACES.iter().position(|one| *one == space);
        index.and_then(|index| self.stored.runs.get(index)).map_or(&[], Vec::as_slice)
    }

    /// Returns a definition, as a stream stores it after its id.
    pub(super) fn raw(self, space: Space, id: u64) -> Option<&'t [u8]> {
        let runs = self.runs(space);
        let after = runs.partition_point(|run| run.id <= id);
        let run = runs.get(after.checked_sub(1)?)?;
        let index = id.checked_sub(run.id).filter(|index| *index < run.count)?;
        self.pool.get(to_usize(run.place.checked_add(index)?)).map(AsRef::as_ref)
    }

    /// Returns the number of arguments, members or items of a definition.
    pub(super) fn count(self, space: Space, id: u64) -> Option<u64> {
        item_count(space, self.raw(space, id)?)
    }

    /// Returns every definition of a namespace by its id.
    pub(super) fn all_raw(self, space: Space) -> impl Iterator<Item = (u64, &'t [u8])> {
        let ids = |run: &Run| run.id..run.id.saturating_add(run.count);
        let all = self.runs(space).iter().flat_map(ids);
        all.filter_map(move |id| Some((id, self.raw(space, id)?)))
    }

    /// Compares the definitions of the ids that both define.
    pub(super) fn compare(self, definitions: &Definitions) -> Comparison {
        compare_with(definitions, |space, id| self.raw(space, id))
    }
}

/// Returns the definitions that tables have alike; those of the first, if there is one only.
///
/// An id that another table does not define at all is not in dispute: listings have no enums.
pub(super) fn merge(tables: &[Table<'_>]) -> Option<Signatures> {
    let (first, others) = tables.split_first()?;
    let mut definitions = Definitions::with_raw();
    for space in SPACES {
        for (id, raw) in first.all_raw(space) {
            let is_alike = |table: &Table<'_>| match table.raw(space, id) {
                Some(other) => other == raw,
                None => table.runs(space).is_empty(),
            };
            let Some(count) = item_count(space, raw) else { continue };
            if others.iter().all(is_alike) {
                definitions.add(space, id, KnownId { count, lost: false });
                definitions.add_raw(space, id, raw.to_vec());
            }
        }
    }
    let name = match others.len() {
        0 => first.name().to_string(),
        more => {
            let more = u64::try_from(more).unwrap_or(u64::MAX);
            format!("{} or {}", first.name(), plural(more, "other build"))
        }
    };
    Some(Signatures { name, definitions })
}
