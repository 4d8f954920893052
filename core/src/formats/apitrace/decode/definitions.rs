//! The five namespaces of ids and their definitions.

use std::collections::BTreeMap;

use crate::formats::apitrace::decode::grammar::Space;
use crate::kit::num::{to_u64, to_usize};

/// Ids below this are looked up in a table; all ids of tracers are.
const TABLE: u64 = 1 << 16;

/// An id that is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownId {
    /// Arguments of a function, members of a struct, items otherwise.
    pub count: u64,
    /// Whether the definition was lost and the count is what its uses show.
    pub lost: bool,
}

#[derive(Clone, Debug, Default)]
struct IdTable {
    /// Count and one, with the high bit for a lost definition; 0 for an unknown id.
    table: Vec<u32>,
    beyond: BTreeMap<u64, u32>,
}

const LOST: u32 = 1 << 31;

impl IdTable {
    fn cell_mut(&mut self, id: u64) -> Option<&mut u32> {
        if id >= TABLE {
            return Some(self.beyond.entry(id).or_default());
        }
        let index = to_usize(id);
        if index >= self.table.len() {
            self.table.resize(index.saturating_add(64), 0);
        }
        self.table.get_mut(index)
    }

    #[inline]
    fn value(&self, id: u64) -> u32 {
        match self.table.get(to_usize(id)) {
            Some(value) => *value,
            None if id >= TABLE => self.beyond.get(&id).copied().unwrap_or(0),
            None => 0,
        }
    }
}

/// The definitions up to a place of the stream.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    functions: IdTable,
    structs: IdTable,
    enums: IdTable,
    bitmasks: IdTable,
    frames: IdTable,
    /// In the order of their places, so that the latest can be taken back.
    order: Vec<(Space, u64)>,
    /// The stored bytes of each after its id, if they are kept.
    raw: Option<BTreeMap<(Space, u64), Vec<u8>>>,
    /// Where those begin in the stream.
    places: BTreeMap<(Space, u64), u64>,
    has_frames: bool,
}

impl Definitions {
    /// Creates a set that keeps the stored bytes of each definition, to compare with a donor.
    pub fn with_raw() -> Self {
        Self { raw: Some(BTreeMap::new()), ..Self::default() }
    }

    const fn table(&self, space: Space) -> &IdTable {
        match space {
            Space::Function => &self.functions,
            Space::Struct => &self.structs,
            Space::Enum => &self.enums,
            Space::Bitmask => &self.bitmasks,
            Space::Frame => &self.frames,
        }
    }

    const fn table_mut(&mut self, space: Space) -> &mut IdTable {
        match space {
            Space::Function => &mut self.functions,
            Space::Struct => &mut self.structs,
            Space::Enum => &mut self.enums,
            Space::Bitmask => &mut self.bitmasks,
            Space::Frame => &mut self.frames,
        }
    }

    /// Returns the definition of an id.
    #[inline]
    pub fn known(&self, space: Space, id: u64) -> Option<KnownId> {
        let value = self.table(space).value(id);
        let count = (value & !LOST).checked_sub(1)?;
        Some(KnownId { count: u64::from(count), lost: value & LOST != 0 })
    }

    /// Whether a stack frame was ever defined.
    pub const fn has_frames(&self) -> bool {
        self.has_frames
    }

    /// Adds a definition.
    pub fn add(&mut self, space: Space, id: u64, known: KnownId) {
        let count = u32::try_from(known.count).unwrap_or(u32::MAX >> 2).saturating_add(1);
        let value = if known.lost { count | LOST } else { count };
        self.has_frames |= space == Space::Frame;
        if let Some(cell) = self.table_mut(space).cell_mut(id) {
            if *cell == 0 {
                self.order.push((space, id));
            }
            if let Some(cell) = self.table_mut(space).cell_mut(id) {
                *cell = value;
            }
        }
    }

    /// Whether the stored bytes are kept.
    pub const fn keeps_raw(&self) -> bool {
        self.raw.is_some()
    }

    /// Adds the stored bytes of a definition after its id.
    ///
    /// Stack frames are numbered anew in every run, so that no other trace has them.
    pub fn add_raw(&mut self, space: Space, id: u64, raw: Vec<u8>) {
        if let Some(kept) = self.raw.as_mut().filter(|_| space != Space::Frame) {
            kept.insert((space, id), raw);
        }
    }

    /// Remembers where the stored bytes of a definition begin in the stream.
    pub fn set_place(&mut self, space: Space, id: u64, at: u64) {
        if space != Space::Frame {
            self.places.insert((space, id), at);
        }
    }

    /// Returns where the stored bytes of a definition begin in the stream.
    pub fn place(&self, space: Space, id: u64) -> Option<u64> {
        self.places.get(&(space, id)).copied()
    }

    /// Returns the stored bytes of a definition after its id, if they are kept.
    pub fn raw(&self, space: Space, id: u64) -> Option<&[u8]> {
        self.raw.as_ref()?.get(&(space, id)).map(Vec::as_slice)
    }

    /// Returns every definition whose stored bytes were kept.
    pub fn all_raw(&self) -> impl Iterator<Item = (Space, u64, &[u8])> {
        let kept = self.raw.iter().flatten();
        kept.map(|((space, id), raw)| (*space, *id, raw.as_slice()))
    }

    /// Removes a definition.
    pub fn remove(&mut self, space: Space, id: u64) {
        self.order.retain(|one| *one != (space, id));
        self.forget(space, id);
    }

    fn forget(&mut self, space: Space, id: u64) {
        if let Some(cell) = self.table_mut(space).cell_mut(id) {
            *cell = 0;
        }
        if let Some(raw) = &mut self.raw {
            raw.remove(&(space, id));
        }
    }

    /// Returns the number of definitions, for [`take_back`](Self::take_back).
    pub fn mark(&self) -> usize {
        self.order.len()
    }

    /// Returns the number of definitions.
    pub fn len(&self) -> u64 {
        to_u64(self.order.len())
    }

    /// Whether nothing is defined.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns the number of definitions in one namespace.
    pub fn count(&self, space: Space) -> usize {
        self.order.iter().filter(|(of, _)| *of == space).count()
    }

    /// Removes the definitions added since `mark`.
    pub fn take_back(&mut self, mark: usize) {
        while self.order.len() > mark {
            let Some((space, id)) = self.order.pop() else { return };
            self.forget(space, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_known_until_taken_back() {
        let mut definitions = Definitions::default();
        let known = |count| KnownId { count, lost: false };
        definitions.add(Space::Function, 7, known(3));
        let mark = definitions.mark();
        definitions.add(Space::Function, 1 << 20, known(0));
        definitions.add(Space::Struct, 7, KnownId { count: 2, lost: true });
        assert_eq!(definitions.known(Space::Function, 7), Some(known(3)));
        assert_eq!(definitions.known(Space::Function, 1 << 20), Some(known(0)));
        assert_eq!(definitions.known(Space::Struct, 7), Some(KnownId { count: 2, lost: true }));
        assert_eq!(definitions.known(Space::Enum, 7), None);
        definitions.take_back(mark);
        assert_eq!(definitions.known(Space::Function, 7), Some(known(3)));
        assert_eq!(definitions.known(Space::Function, 1 << 20), None);
        assert_eq!(definitions.known(Space::Struct, 7), None);
    }

    #[test]
    fn a_removed_definition_is_unknown_and_the_others_stay() {
        let mut definitions = Definitions::default();
        let known = KnownId { count: 1, lost: true };
        definitions.add(Space::Function, 7, known);
        definitions.add(Space::Struct, 7, known);
        definitions.remove(Space::Function, 7);
        assert_eq!(definitions.known(Space::Function, 7), None);
        assert_eq!(definitions.known(Space::Struct, 7), Some(known));
        assert_eq!((definitions.len(), definitions.count(Space::Struct)), (1, 1));
    }

    #[test]
    fn a_stack_frame_is_remembered_after_other_definitions() {
        let mut definitions = Definitions::default();
        let known = KnownId { count: 1, lost: false };
        definitions.add(Space::Function, 0, known);
        assert!(!definitions.has_frames());
        definitions.add(Space::Frame, 0, known);
        definitions.add(Space::Function, 1, known);
        assert!(definitions.has_frames());
    }
}
