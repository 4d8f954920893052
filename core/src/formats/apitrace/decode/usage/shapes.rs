//! The arguments that the events of a function have, and the types of their values.
//!
//! The tracer writes the same arguments in every enter of a function, and mostly in every leave. An
//! event with others, alone among many, is probably damaged. So is one with a value of another
//! type, since an argument has the type that the function declares. Only parameters that another
//! argument names differ in type from call to call: the program may pass a number or a constant.

use super::{ID_MAX, Misuse};
use crate::formats::apitrace::decode::repeats::FirstUse;
use crate::formats::apitrace::layout::kind;
use crate::kit::num::to_usize;

/// Events of the usual shape from which another one is unusual.
const OFTEN: u32 = 8;
/// Enters with the usual arguments from which others are unusual: no sound enter has others.
const ENTERS_OFTEN: u32 = 3;
/// The bit of the result.
const RESULT: u32 = 63;
/// Bits of a type, and the number of types in an integer. The last one is that of the result.
const TYPE_BITS: u32 = 4;
const TYPES: u32 = u64::BITS / TYPE_BITS;
/// Words in the names of arguments whose type depends on the call.
const VARIABLE: [&str; 3] = ["param", "value", "data"];

/// The types that are told apart. A pointer may be an address, null, or the data it points to.
const TYPE_NAMES: [&str; 5] = [
    "a value that is not a pointer",
    "an integer",
    "a float",
    "a double",
    "a pointer, string or blob",
];
/// The bit that only the type of pointers has.
const POINTER: u64 = 4;
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
    arguments: u64,
    /// The types of the first arguments and of the result.
    types: u64,
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
    fn difference(self, usual: Self) -> String {
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

/// Returns how far the type of an argument or the result is shifted: past the end for an argument
/// that has none.
#[inline(always)]
fn type_shift(index: Option<u64>) -> u32 {
    let result = TYPES.saturating_sub(1);
    let slot = match index.map(u32::try_from) {
        None => result,
        Some(Ok(index)) if index < result => index,
        Some(_) => TYPES,
    };
    slot.saturating_mul(TYPE_BITS)
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    shape: Shape,
    count: u32,
    first: FirstUse,
}

/// The shapes of a function's enters, or of its leaves.
#[derive(Clone, Copy, Debug, Default)]
struct Kinds {
    first: Option<Seen>,
    second: Option<Seen>,
    /// Whether there are more than two: then none is usual.
    has_more: bool,
}

impl Kinds {
    fn add(&mut self, shape: Shape, first: FirstUse) {
        for cell in [&mut self.first, &mut self.second] {
            match cell {
                Some(seen) if seen.shape == shape => {
                    seen.count = seen.count.saturating_add(1);
                    return;
                }
                Some(_) => {}
                None => {
                    *cell = Some(Seen { shape, count: 1, first });
                    return;
                }
            }
        }
        self.has_more = true;
    }
}

impl Kinds {
    /// Returns the shape that most events have.
    fn usual(&self) -> Option<Seen> {
        [self.first, self.second].into_iter().flatten().max_by_key(|seen| seen.count)
    }
}

/// The events of a function.
#[derive(Clone, Copy, Debug)]
struct FunctionShapes {
    enters: Kinds,
    leaves: Kinds,
    /// The bits of all types that do not depend on the call.
    fixed_types: u64,
}

impl Default for FunctionShapes {
    fn default() -> Self {
        Self { enters: Kinds::default(), leaves: Kinds::default(), fixed_types: u64::MAX }
    }
}

/// The arguments that the usual calls of a function have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionUse {
    /// The id of the function.
    pub id: u64,
    /// Calls with the usual arguments.
    pub calls: u32,
    /// A bit for each argument of the enter or the leave.
    pub arguments: u64,
}

/// The shapes of all events by the ids of their functions.
#[derive(Debug, Default)]
pub struct Shapes {
    functions: Vec<FunctionShapes>,
}

impl Shapes {
    pub(super) fn add_function(&mut self, id: u64, arguments: &[&[u8]]) {
        let mut fixed_types = u64::MAX;
        for (index, name) in (0..).zip(arguments) {
            let name = name.to_ascii_lowercase();
            let has = |word: &&str| name.windows(word.len()).any(|part| part == word.as_bytes());
            if VARIABLE.iter().any(has) {
                // A pointer is passed in every call or in none.
                let variable = 0xf & !POINTER;
                fixed_types &= !variable.checked_shl(type_shift(Some(index))).unwrap_or(0);
            }
        }
        if let Some(function) = self.function_mut(id) {
            function.fixed_types = fixed_types;
        }
    }

    fn function_mut(&mut self, id: u64) -> Option<&mut FunctionShapes> {
        let index = to_usize(id);
        if id <= ID_MAX && index >= self.functions.len() {
            self.functions.resize(index.saturating_add(1), FunctionShapes::default());
        }
        self.functions.get_mut(index)
    }

    /// Adds an event of a function: an enter or a leave.
    #[inline(always)]
    pub fn add(&mut self, function: u64, is_leave: bool, shape: Shape, first: FirstUse) {
        let Some(known) = self.functions.get_mut(to_usize(function)) else {
            return self.add_other(function, is_leave, shape, first);
        };
        let kinds = if is_leave { &mut known.leaves } else { &mut known.enters };
        let types = shape.types & known.fixed_types;
        match &mut kinds.first {
            Some(seen) if seen.shape == (Shape { types, ..shape }) => {
                seen.count = seen.count.saturating_add(1);
            }
            _ => self.add_other(function, is_leave, shape, first),
        }
    }

    /// Adds a call that is entered and left without a value.
    #[inline(always)]
    pub fn add_bare_call(&mut self, function: u64, shape: Shape, enter: FirstUse, leave: FirstUse) {
        if let Some(known) = self.functions.get_mut(to_usize(function)) {
            let shape = Shape { types: shape.types & known.fixed_types, ..shape };
            let firsts = (&mut known.enters.first, &mut known.leaves.first);
            if let (Some(entered), Some(left)) = firsts
                && entered.shape == shape
                && left.shape == Shape::default()
            {
                entered.count = entered.count.saturating_add(1);
                left.count = left.count.saturating_add(1);
                return;
            }
        }
        self.add_other(function, false, shape, enter);
        self.add_other(function, true, Shape::default(), leave);
    }

    /// Adds an event that is not like the first one of its function.
    #[inline(never)]
    fn add_other(&mut self, function: u64, is_leave: bool, mut shape: Shape, first: FirstUse) {
        let function = match self.functions.get_mut(to_usize(function)) {
            Some(function) => function,
            None => match self.function_mut(function) {
                Some(function) => function,
                None => return,
            },
        };
        shape.types &= function.fixed_types;
        let kinds = if is_leave { &mut function.leaves } else { &mut function.enters };
        kinds.add(shape, first);
    }

    /// Returns the events with other arguments than all other events of the function, or with
    /// values of another type.
    pub fn find_unusual(&self) -> Vec<Misuse> {
        let both = |kinds: &Kinds| Some((kinds.first?, kinds.second?)).filter(|_| !kinds.has_more);
        let find = |FunctionShapes { enters, leaves, .. }: &FunctionShapes| {
            let of = |kinds, event| Self::unusual(both(kinds)?, event);
            [of(enters, "enters"), of(leaves, "leaves")]
        };
        self.functions.iter().flat_map(find).flatten().collect()
    }

    /// Returns how the functions are used that were called.
    pub fn uses(&self) -> impl Iterator<Item = FunctionUse> {
        (0..).zip(&self.functions).filter_map(|(id, function)| {
            let enter = function.enters.usual()?;
            let leave = function.leaves.usual().map_or(0, |seen| seen.shape.arguments);
            let arguments = (enter.shape.arguments | leave) & !(1 << RESULT);
            Some(FunctionUse { id, calls: enter.count, arguments })
        })
    }

    fn unusual((one, other): (Seen, Seen), events: &str) -> Option<Misuse> {
        let (rare, usual) = if one.count < other.count { (one, other) } else { (other, one) };
        let has_others = rare.shape.arguments != usual.shape.arguments;
        let often = if events == "enters" && has_others { ENTERS_OFTEN } else { OFTEN };
        let difference = rare.shape.difference(usual.shape);
        let message = || {
            format!("call has {difference}, unlike {} other {events} of the function", usual.count)
        };
        let is_unusual = rare.count == 1 && usual.count >= often;
        is_unusual.then(|| Misuse { at: rare.first, message: message() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(indices: &[u64]) -> Shape {
        let mut shape = Shape::default();
        indices.iter().for_each(|index| _ = shape.add(Some(*index)));
        shape
    }

    #[test]
    fn arguments_ascend() {
        let mut shape = Shape::default();
        let ascends: Vec<bool> = [Some(0), Some(2), Some(1), Some(2), None, Some(3), Some(1 << 40)]
            .map(|index| shape.add(index))
            .to_vec();
        assert_eq!(ascends, [true, true, false, false, true, true, true]);
    }

    #[test]
    fn one_event_among_many_is_unusual_and_two_kinds_of_events_are_not() {
        let first = |call| FirstUse { call, argument: None, at: call, end: call + 1 };
        let mut shapes = Shapes::default();
        for call in 0..9 {
            shapes.add(7, false, shape(&[0, 1]), first(call));
        }
        shapes.add(7, true, shape(&[2]), first(9));
        assert_eq!(shapes.find_unusual(), []);
        shapes.add(7, false, shape(&[0, 3]), first(10));
        let [found] = shapes.find_unusual().try_into().unwrap();
        assert_eq!(found.at.call, 10);
        let message = "call has argument 3 instead of argument 1, unlike 9 other enters of the \
                       function";
        assert_eq!(found.message, message);
        shapes.add(7, false, shape(&[0, 3]), first(11));
        assert_eq!(shapes.find_unusual(), []);
        shapes.add(u64::MAX, false, shape(&[]), first(12));
        assert_eq!(shapes.functions.len(), 8);
    }

    #[test]
    fn an_enter_with_other_arguments_than_three_others_is_unusual_and_a_leave_is_not() {
        let first = |call| FirstUse { call, argument: None, at: call, end: call + 1 };
        for (is_leave, found) in [(false, 1), (true, 0)] {
            let mut shapes = Shapes::default();
            shapes.add(7, is_leave, shape(&[0]), first(0));
            shapes.add(7, is_leave, shape(&[0, 1]), first(1));
            shapes.add(7, is_leave, shape(&[0, 1]), first(2));
            assert_eq!(shapes.find_unusual(), []);
            shapes.add(7, is_leave, shape(&[0, 1]), first(3));
            assert_eq!(shapes.find_unusual().len(), found);
        }
    }

    #[test]
    fn a_value_of_another_type_is_unusual_unless_the_type_depends_on_the_call() {
        let first = |call| FirstUse { call, argument: None, at: call, end: call + 1 };
        let typed = |index, tag| {
            let mut shape = shape(&[0, 1]);
            shape.set_type(index, tag, 9);
            shape
        };
        let message = |index, argument: &str| {
            let mut shapes = Shapes::default();
            shapes.add_function(7, &[b"target".as_slice(), argument.as_bytes()]);
            for call in 0..8 {
                shapes.add(7, false, typed(index, kind::ENUM), first(call));
            }
            shapes.add(7, false, typed(index, kind::UINT), first(8));
            shapes.find_unusual().first().map(|found| found.message.clone())
        };
        let text = |place: &str| {
            let others = "unlike 8 other enters of the function";
            Some(format!("call has an integer {place} instead of an enum, {others}"))
        };
        assert_eq!(message(Some(0), "pname"), text("as argument 0"));
        assert_eq!(message(Some(1), "mode"), text("as argument 1"));
        assert_eq!(message(None, "mode"), text("as its result"));
        assert_eq!(message(Some(1), "params"), None);
        let pointer = |tag: u8| {
            let mut shapes = Shapes::default();
            shapes.add_function(7, &[b"target".as_slice(), b"value"]);
            for call in 0..9 {
                let tag = if call == 8 { tag } else { kind::ARRAY };
                shapes.add(7, true, typed(Some(1), tag), first(call));
            }
            shapes.find_unusual().first().map(|found| found.message.clone())
        };
        let others = "instead of a pointer, string or blob, unlike 8 other leaves of the function";
        // The types of those that are not pointers may vary.
        assert_eq!(
            pointer(kind::SINT),
            Some(format!("call has a value that is not a pointer as argument 1 {others}"))
        );
        assert_eq!(pointer(kind::NULL), None);
        assert_eq!(message(Some(15), "mode"), None);
        let of_enum = |id| {
            let mut shape = shape(&[0]);
            shape.set_type(Some(0), kind::ENUM, id);
            shape
        };
        assert_eq!(of_enum(2).difference(of_enum(3)), "a value of another enum as argument 0");
        // A pointer may be null or point to data that the tracer knows.
        let pointers = [kind::NULL, kind::OPAQUE, kind::ARRAY, kind::STRING, kind::BLOB];
        assert!(pointers.iter().all(|tag| typed(None, *tag) == typed(None, kind::STRUCT)));
    }

    #[test]
    fn arguments_below_the_bit_of_the_result_have_one() {
        let last = u64::from(RESULT) - 1;
        assert!([0, last].into_iter().all(Shape::holds));
        assert!(!Shape::holds(last + 1) && !Shape::holds(u64::MAX));
    }
}
