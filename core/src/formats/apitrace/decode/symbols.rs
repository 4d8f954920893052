//! The values that enums and bitmasks list, as far as an unlisted one shows damage.
//!
//! Measured on 188 sound traces: an enum of the values 0 and 1 never has another one, and a bitmask
//! never has a bit that no flag has. The enum of all names of an API lists nearly every value.
//! Smaller enums often have values that they do not list.

use super::grammar::{Space, Unlisted};
use super::raw::Raw;
use crate::kit::num::to_usize;

/// Values from which an enum is one of all names of an API.
const ALL_NAMES: usize = 256;
/// Ids above this are not looked at.
const ID_MAX: u64 = 1 << 12;

/// The values of a signature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Values {
    /// They show nothing.
    #[default]
    Any,
    /// 0 and 1.
    Boolean,
    /// All names of an API.
    All(AllValues),
    /// The bits of all flags.
    Flags(u64),
}

/// Values from 0 to this are looked up by a bit each: those of GL are.
const LOW_END: u64 = 1 << 16;

/// Many values: a search among those of GL would take a dozen steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct AllValues {
    /// A bit for each number from 0 on that is listed.
    low: Vec<u64>,
    /// The others, sorted.
    others: Vec<i128>,
}

impl AllValues {
    fn of(sorted: &[i128]) -> Self {
        let mut all = Self::default();
        for value in sorted {
            let Some(low) = u64::try_from(*value).ok().filter(|value| *value < LOW_END) else {
                all.others.push(*value);
                continue;
            };
            let index = to_usize(low / 64);
            if index >= all.low.len() {
                all.low.resize(index.saturating_add(1), 0);
            }
            if let Some(bits) = all.low.get_mut(index) {
                *bits |= 1_u64 << (low % 64);
            }
        }
        all
    }

    #[inline]
    fn holds(&self, is_negative: bool, value: u64) -> bool {
        if value < LOW_END && !is_negative {
            let bits = self.low.get(to_usize(value / 64)).copied().unwrap_or(0);
            return bits & 1_u64 << (value % 64) != 0;
        }
        // A negative 0 is 0.
        let number = signed(is_negative, value);
        self.others.binary_search(&number).is_ok() || (number == 0 && self.holds(false, 0))
    }
}

/// The values of all signatures by id.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    enums: Vec<Values>,
    bitmasks: Vec<Values>,
}

impl Symbols {
    /// Adds a definition, as it is stored after its id.
    pub fn add(&mut self, space: Space, id: u64, raw: &[u8]) {
        let (values, parsed) = match space {
            Space::Enum => (&mut self.enums, parse_enum(raw)),
            Space::Bitmask => (&mut self.bitmasks, parse_bitmask(raw)),
            Space::Function | Space::Struct | Space::Frame => return,
        };
        let Some(parsed) = parsed.filter(|_| id <= ID_MAX) else { return };
        let index = to_usize(id);
        if values.len() <= index {
            values.resize(index.saturating_add(1), Values::Any);
        }
        if let Some(cell) = values.get_mut(index) {
            *cell = parsed;
        }
    }

    /// Returns how a value is judged that its signature does not list; `None` if it may be sound.
    #[inline]
    pub fn judge(&self, space: Space, id: u64, is_negative: bool, value: u64) -> Option<Unlisted> {
        let values = if space == Space::Enum { &self.enums } else { &self.bitmasks };
        match values.get(to_usize(id))? {
            Values::Any => None,
            Values::Boolean => (value > 1 || is_negative).then_some(Unlisted::Impossible),
            Values::Flags(flags) => (value & !flags != 0).then_some(Unlisted::Impossible),
            Values::All(all) => (!all.holds(is_negative, value)).then_some(Unlisted::Unusual),
        }
    }
}

fn signed(is_negative: bool, value: u64) -> i128 {
    let value = i128::from(value);
    if is_negative { value.saturating_neg() } else { value }
}

/// Returns the names in the definition of an enum, as it is stored after its id.
pub fn enum_names(raw: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut reader = Raw(raw);
    let count = reader.uint().unwrap_or(0);
    (0..count).map_while(move |_| {
        let name = reader.name()?;
        reader.byte()?;
        reader.uint()?;
        Some(name)
    })
}

fn parse_enum(raw: &[u8]) -> Option<Values> {
    let mut reader = Raw(raw);
    let mut values = Vec::new();
    for _ in 0..reader.uint()? {
        reader.name()?;
        let is_negative = reader.byte()? == 3;
        values.push(signed(is_negative, reader.uint()?));
    }
    values.sort_unstable();
    Some(match values.as_slice() {
        [0, 1] => Values::Boolean,
        all if all.len() >= ALL_NAMES => Values::All(AllValues::of(all)),
        _ => Values::Any,
    })
}

fn parse_bitmask(raw: &[u8]) -> Option<Values> {
    let mut reader = Raw(raw);
    let mut flags = 0;
    for _ in 0..reader.uint()? {
        reader.name()?;
        flags |= reader.uint()?;
    }
    Some(if flags == 0 { Values::Any } else { Values::Flags(flags) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_values_are_found_again_wherever_they_lie() {
        let listed = [0, 1, 63, 64, 0x8892, 0xffff, 0x1_0000, u64::MAX];
        let mut sorted: Vec<i128> = listed.iter().map(|value| i128::from(*value)).collect();
        sorted.splice(..0, [-9, -1]);
        let all = AllValues::of(&sorted);
        assert!(listed.iter().all(|value| all.holds(false, *value)));
        assert!(all.holds(true, 9) && all.holds(true, 1) && all.holds(true, 0));
        assert!(
            [2, 62, 65, 0x8891, 0xfffe, 0x1_0001, u64::MAX - 1]
                .iter()
                .all(|value| { !all.holds(false, *value) && !all.holds(true, *value) })
        );
        assert!(!AllValues::of(&[1]).holds(true, 0) && !AllValues::of(&[1]).holds(true, 1));
    }

    #[test]
    fn only_values_that_show_damage_are_judged() {
        let mut symbols = Symbols::default();
        symbols.add(Space::Enum, 0, b"\x02\x01T\x04\x01\x01F\x04\x00");
        symbols.add(Space::Enum, 5, b"\x01\x01B\x04\x07");
        symbols.add(Space::Bitmask, 0, b"\x02\x01A\x01\x01B\x04");
        let judge = |space, id, value| symbols.judge(space, id, false, value);
        let names: Vec<&[u8]> = enum_names(b"\x02\x01T\x04\x01\x02FA\x04\x00").collect();
        assert_eq!(names, [b"T".as_slice(), b"FA"]);
        assert_eq!(enum_names(b"\x02\x01T\x04\x01\x02F").count(), 1);
        assert_eq!(judge(Space::Enum, 0, 1), None);
        assert_eq!(judge(Space::Enum, 0, 2), Some(Unlisted::Impossible));
        assert_eq!(judge(Space::Enum, 5, 2), None);
        assert_eq!(judge(Space::Enum, 6, 2), None);
        assert_eq!(judge(Space::Bitmask, 0, 5), None);
        assert_eq!(judge(Space::Bitmask, 0, 7), Some(Unlisted::Impossible));
    }
}
