//! The arguments of one event, and the types of their values.

use crate::formats::apitrace::layout::kind;
use crate::kit::num::to_usize;

/// The bit of the result.
pub(super) const RESULT: u32 = 63;
/// Bits of a type, and the number of types in an integer. The last one is that of the result.
const TYPE_BITS: u32 = 4;
const TYPES: u32 = u64::BITS / TYPE_BITS;

/// The types that are told apart. A pointer may be an address, null, or the data it points to.
const TYPE_NAMES: [&str; 5] = [
    "a value that is not a pointer",
    "an integer",
    "a float",
    "a double",
    "a pointer, string or blob",
];
/// The bit that only the type of pointers has.
pub(super) const POINTER: u64 = 4;
/// The first of the types of enums. The id of an enum differs by its remainder from all ids that
/// differ in one bit, since no power of 2 is divisible by 3.
const ENUMS: u64 = 8;
const ENUM_COUNT: u64 = 3;
const BITMASK: u64 = 11;

/// Returns the number of a type.
#[inline(always)]
pub const fn type_of(tag: u8, id: u64) -> u64 {
    match tag {
        kind::FALSE | kind::TRUE | kind::SINT | kind::UINT => 1,
        kind::FLOAT => 2,
        kind::DOUBLE => 3,
        kind::ENUM => ENUMS | (id % ENUM_COUNT),
        kind::BITMASK => BITMASK,
        _ => POINTER,
    }
}

/// Returns the name of a type.
fn type_name(number: u64) -> &'static str {
    match number {
        BITMASK => "a bitmask",
        ENUMS.. => "an enum",
        number => TYPE_NAMES.get(to_usize(number)).copied().unwrap_or_default(),
    }
}

/// The arguments of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// A bit for each index, and one for the result.
    pub(super) arguments: u64,
    /// The types of the first arguments and of the result.
    pub(super) types: u64,
}

impl Shape {
    /// Adds an argument, or the result; returns whether it comes after those of lower indices.
    /// Higher indices than functions have are left out.
    #[inline(always)]
    pub fn add(&mut self, index: Option<u64>) -> bool {
        let Some(index) = index else {
            self.arguments |= 1 << RESULT;
            return true;
        };
        let Some(index) = u32::try_from(index).ok().filter(|index| *index < RESULT) else {
            return true;
        };
        let others = self.arguments & !(1 << RESULT);
        self.arguments |= 1_u64.wrapping_shl(index);
        others.wrapping_shr(index) == 0
    }

    /// Whether there is a bit for an argument.
    #[inline(always)]
    pub fn holds(index: u64) -> bool {
        index < u64::from(RESULT)
    }

    /// Adds an argument that there is a bit for, with the type of its value.
    #[inline(always)]
    pub fn push(&mut self, index: u64, value_type: u64) {
        let index = u32::try_from(index).unwrap_or(RESULT);
        self.arguments |= 1_u64.wrapping_shl(index);
        if index < TYPES.saturating_sub(1) {
            self.types |= value_type.wrapping_shl(index.wrapping_mul(TYPE_BITS));
        }
    }

    /// Adds the result with its type.
    #[inline(always)]
    pub fn push_result(&mut self, value_type: u64) {
        self.arguments |= 1 << RESULT;
        self.types |= value_type.wrapping_shl(type_shift(None));
    }

    /// Whether there is neither an argument nor a result.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        self.arguments == 0
    }

    /// Whether an enter and a leave with these arguments have all `count` of their function.
    pub fn completes(self, leave: Self, count: u64) -> bool {
        all_arguments(count).is_none_or(|all| (self.arguments | leave.arguments) & all == all)
    }

    /// Whether there is a result.
    #[inline(always)]
    pub const fn has_result(self) -> bool {
        self.arguments & (1 << RESULT) != 0
    }

    /// Whether the result is neither a number nor missing: null, a pointer or a string.
    #[inline(always)]
    pub fn has_result_without_number(self) -> bool {
        self.types.wrapping_shr(type_shift(None)) == type_of(kind::NULL, 0)
    }

    /// Sets the type of the value of an argument or the result.
    #[inline(always)]
    pub fn set_type(&mut self, index: Option<u64>, tag: u8, id: u64) {
        self.types |= type_of(tag, id).checked_shl(type_shift(index)).unwrap_or(0);
    }

    /// Returns the difference to another shape, in words.
    pub(super) fn difference(self, usual: Self) -> String {
        let name = |bit: u32| match bit {
            RESULT => "result".to_string(),
            index => format!("argument {index}"),
        };
        let names = |bits: u64| {
            let set = (0..=RESULT).filter(|bit| bits.wrapping_shr(*bit) & 1 == 1);
            set.map(name).collect::<Vec<_>>().join(", ")
        };
        let missing = usual.arguments & !self.arguments;
        match (missing, self.arguments & !usual.arguments) {
            (0, 0) => self.type_difference(usual),
            (missing, 0) => format!("no {}", names(missing)),
            (0, added) => format!("also {}", names(added)),
            (missing, added) => format!("{} instead of {}", names(added), names(missing)),
        }
    }

    /// Returns the first difference in types to a shape of the same arguments.
    fn type_difference(self, usual: Self) -> String {
        let different = self.types ^ usual.types;
        let slot = different.trailing_zeros() / TYPE_BITS;
        let number = |types: u64| types.wrapping_shr(slot.saturating_mul(TYPE_BITS)) & 0xf;
        let (found, expected) = (number(self.types), number(usual.types));
        let place = match slot.saturating_add(1) < TYPES {
            true => format!("as argument {slot}"),
            false => "as its result".to_string(),
        };
        let is_enum = |number| (ENUMS..BITMASK).contains(&number);
        match is_enum(found) && is_enum(expected) {
            true => format!("a value of another enum {place}"),
            false => format!("{} {place} instead of {}", type_name(found), type_name(expected)),
        }
    }
}

/// Returns a bit for each argument of a function with `count` of them, if there are so many bits.
pub(super) fn all_arguments(count: u64) -> Option<u64> {
    let count = u32::try_from(count).ok().filter(|count| *count < RESULT)?;
    1_u64.wrapping_shl(count).checked_sub(1)
}

/// Returns how far the type of an argument or the result is shifted: past the end for an argument
/// that has none.
#[inline(always)]
pub(super) fn type_shift(index: Option<u64>) -> u32 {
    let result = TYPES.saturating_sub(1);
    let slot = match index.map(u32::try_from) {
        None => result,
        Some(Ok(index)) if index < result => index,
        Some(_) => TYPES,
    };
    slot.saturating_mul(TYPE_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_ascend() {
        let mut shape = Shape::default();
        let ascends: Vec<bool> = [Some(0), Some(2), Some(1), Some(2), None, Some(3), Some(1 << 40)]
            .map(|index| shape.add(index))
            .to_vec();
        assert_eq!(ascends, [true, true, false, false, true, true, true]);
    }

    #[test]
    fn arguments_below_the_bit_of_the_result_have_one() {
        let last = u64::from(RESULT) - 1;
        assert!([0, last].into_iter().all(Shape::holds));
        assert!(!Shape::holds(last + 1) && !Shape::holds(u64::MAX));
    }
}
