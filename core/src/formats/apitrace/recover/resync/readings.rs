//! How the unknown ids of a place are read: as defined there, or as lost.

use std::collections::BTreeMap;

use super::{LostId, MEMBERS_MAX};
use crate::formats::apitrace::decode::grammar::Space;
use crate::formats::apitrace::layout::{FUNCTION_IDS, PLACEHOLDER_IDS};

/// One way to read an unknown id.
#[derive(Clone, Copy, Debug)]
pub(super) struct IdReading {
    pub(super) space: Space,
    pub(super) id: u64,
    /// Where the id ends.
    pub(super) at: u64,
    /// `None`: its definition follows. Otherwise it was lost, with so many members.
    pub(super) lost: Option<u64>,
    /// The number of members in a donor.
    pub(super) donated_members: Option<u64>,
    /// The number of members of the struct with this id in a known build, which is tried first.
    pub(super) usual_members: Option<u64>,
}

/// The readings of the unknown ids, the first one first. An array may define an id per element, so
/// an id is found without a look at all others.
#[derive(Debug, Default)]
pub(super) struct Readings {
    list: Vec<IdReading>,
    places: BTreeMap<(Space, u64), usize>,
}

impl Readings {
    pub(super) fn get(&self, space: Space, id: u64) -> Option<&IdReading> {
        self.list.get(*self.places.get(&(space, id))?)
    }

    /// Adds a reading of an id that has none.
    pub(super) fn push(&mut self, reading: IdReading) {
        self.places.insert((reading.space, reading.id), self.list.len());
        self.list.push(reading);
    }

    /// Returns the ids that are read as lost.
    pub(super) fn lost(&self) -> impl Iterator<Item = LostId> {
        self.list.iter().filter_map(|reading| {
            let IdReading { space, id, at, .. } = *reading;
            Some(LostId { space, id, at, members: reading.lost? })
        })
    }

    /// Turns to the next reading of the latest id; `false` if all were tried.
    pub(super) fn advance(&mut self) -> bool {
        while let Some(last) = self.list.last_mut() {
            if last.advance() {
                return true;
            }
            self.places.remove(&(last.space, last.id));
            self.list.pop();
        }
        false
    }
}

impl IdReading {
    /// Turns to the next reading; `false` if all were tried.
    fn advance(&mut self) -> bool {
        let is_struct = self.space == Space::Struct && self.donated_members.is_none();
        let is_call_number = self.space == Space::Function
            && self.id >= FUNCTION_IDS
            && !PLACEHOLDER_IDS.contains(&self.id);
        self.lost = match self.lost {
            None if is_call_number => return false,
            None => self.donated_members.or(self.usual_members).or(Some(0)),
            Some(_) if is_struct && self.usual_members.take().is_some() => Some(0),
            Some(members) if is_struct && members < MEMBERS_MAX => Some(members.saturating_add(1)),
            Some(_) => return false,
        };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READING: IdReading = IdReading {
        space: Space::Struct,
        id: 7,
        at: 10,
        lost: None,
        donated_members: None,
        usual_members: Some(3),
    };

    #[test]
    fn a_struct_is_defined_then_usual_then_of_any_size() {
        let mut readings = Readings::default();
        readings.push(READING);
        let mut members = Vec::new();
        while readings.advance() {
            members.extend(readings.get(Space::Struct, 7).and_then(|reading| reading.lost));
        }
        let all: Vec<u64> = std::iter::once(3).chain(0..=MEMBERS_MAX).collect();
        assert_eq!(members, all);
        assert!(readings.get(Space::Struct, 7).is_none());
    }

    #[test]
    fn the_latest_id_is_turned_to_first() {
        let mut readings = Readings::default();
        readings.push(IdReading { donated_members: Some(2), ..READING });
        readings.push(IdReading { space: Space::Enum, usual_members: None, ..READING });
        let lost = |readings: &Readings| -> Vec<(Space, u64)> {
            readings.lost().map(|lost| (lost.space, lost.members)).collect()
        };
        assert!(readings.advance());
        assert_eq!(lost(&readings), [(Space::Enum, 0)]);
        assert!(readings.advance(), "an enum has no members");
        assert_eq!(lost(&readings), [(Space::Struct, 2)], "a donor knows the members");
        assert!(readings.get(Space::Enum, 7).is_none());
        assert!(!readings.advance());
    }
}
