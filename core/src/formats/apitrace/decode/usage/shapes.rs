//! The arguments that the events of a function have, and the types of their values.
//!
//! The tracer writes the same arguments in every enter of a function, and mostly in every leave. An
//! event with others, alone among many, is probably damaged. So is one with a value of another
//! type, since an argument has the type that the function declares. Only parameters that another
//! argument names differ in type from call to call: the program may pass a number or a constant.

use super::shape::{POINTER, RESULT, Shape, all_arguments, type_shift};
use super::{ID_MAX, Misuse};
use crate::formats::apitrace::decode::repeats::FirstUse;
use crate::kit::num::to_usize;

/// Events of the usual shape from which another one is unusual.
const OFTEN: u32 = 8;
/// Enters with the usual arguments from which others are unusual: no sound enter has others.
const ENTERS_OFTEN: u32 = 3;
/// Words in the names of arguments whose type depends on the call.
const VARIABLE: [&str; 3] = ["param", "value", "data"];

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
    /// Whether calls were left.
    pub is_left: bool,
}

impl FunctionUse {
    /// Whether the function may have `count` arguments: a call that was left has all of them, and
    /// an enter the first one.
    pub fn fits(&self, count: u64) -> bool {
        let Some(all) = all_arguments(count) else { return true };
        let has_first = all == 0 || self.arguments & 1 == 1;
        self.arguments == all || (!self.is_left && has_first && self.arguments & !all == 0)
    }
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

    /// Adds an event of a function: an enter or a leave. Returns whether it is an enter that lacks
    /// an argument which others have.
    #[inline(always)]
    pub fn add(&mut self, function: u64, is_leave: bool, shape: Shape, first: FirstUse) -> bool {
        let Some(known) = self.functions.get_mut(to_usize(function)) else {
            return self.add_other(function, is_leave, shape, first);
        };
        let kinds = if is_leave { &mut known.leaves } else { &mut known.enters };
        let types = shape.types & known.fixed_types;
        match &mut kinds.first {
            Some(seen) if seen.shape == (Shape { types, ..shape }) => {
                seen.count = seen.count.saturating_add(1);
                false
            }
            _ => self.add_other(function, is_leave, shape, first),
        }
    }

    /// Adds a call that is entered and left without a value, like [`add`](Self::add).
    #[inline(always)]
    pub fn add_bare_call(
        &mut self,
        function: u64,
        shape: Shape,
        enter: FirstUse,
        leave: FirstUse,
    ) -> bool {
        if let Some(known) = self.functions.get_mut(to_usize(function)) {
            let shape = Shape { types: shape.types & known.fixed_types, ..shape };
            let firsts = (&mut known.enters.first, &mut known.leaves.first);
            if let (Some(entered), Some(left)) = firsts
                && entered.shape == shape
                && left.shape == Shape::default()
            {
                entered.count = entered.count.saturating_add(1);
                left.count = left.count.saturating_add(1);
                return false;
            }
        }
        let is_partial = self.add_other(function, false, shape, enter);
        self.add_other(function, true, Shape::default(), leave);
        is_partial
    }

    /// Adds an event that is not like the first one of its function, like [`add`](Self::add).
    #[inline(never)]
    fn add_other(
        &mut self,
        function: u64,
        is_leave: bool,
        mut shape: Shape,
        first: FirstUse,
    ) -> bool {
        let function = match self.functions.get_mut(to_usize(function)) {
            Some(function) => function,
            None => match self.function_mut(function) {
                Some(function) => function,
                None => return false,
            },
        };
        shape.types &= function.fixed_types;
        let kinds = if is_leave { &mut function.leaves } else { &mut function.enters };
        kinds.add(shape, first);
        let often = kinds.usual().filter(|usual| !is_leave && usual.count >= ENTERS_OFTEN);
        often.is_some_and(|usual| usual.shape.arguments & !shape.arguments != 0)
    }

    /// Returns the only argument that an event of a function with `count` of them lacks: of those
    /// that others have, if there are enough, otherwise of all.
    pub fn find_missing(
        &self,
        function: u64,
        is_leave: bool,
        shape: Shape,
        count: u64,
    ) -> Option<u64> {
        let kinds = self.functions.get(to_usize(function)).map(|known| match is_leave {
            true => known.leaves,
            false => known.enters,
        });
        let usual = kinds.and_then(|kinds| kinds.usual());
        let usual = usual.filter(|usual| usual.count >= ENTERS_OFTEN);
        let all = all_arguments(count)?;
        let missing = usual.map_or(all, |usual| usual.shape.arguments) & all & !shape.arguments;
        (missing.count_ones() == 1).then(|| u64::from(missing.trailing_zeros()))
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
            let leave = function.leaves.usual();
            let left = leave.map_or(0, |seen| seen.shape.arguments);
            let arguments = (enter.shape.arguments | left) & !(1 << RESULT);
            Some(FunctionUse { id, calls: enter.count, arguments, is_left: leave.is_some() })
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
    use crate::formats::apitrace::layout::kind;

    fn shape(indices: &[u64]) -> Shape {
        let mut shape = Shape::default();
        indices.iter().for_each(|index| _ = shape.add(Some(*index)));
        shape
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
    fn the_argument_that_an_event_lacks_is_the_one_that_others_have() {
        let first = FirstUse { call: 0, argument: None, at: 0, end: 1 };
        let mut shapes = Shapes::default();
        let find = |shapes: &Shapes, indices: &[u64], count| {
            shapes.find_missing(7, false, shape(indices), count)
        };
        // Of a function that was not called before, all arguments are expected.
        assert_eq!(find(&shapes, &[0, 9], 2), Some(1));
        assert_eq!(find(&shapes, &[0, 9], 3), None);
        // Others have the first two in the enter, and the third one in the leave.
        (0..ENTERS_OFTEN).for_each(|_| _ = shapes.add(7, false, shape(&[0, 1]), first));
        assert_eq!(find(&shapes, &[0, 9], 3), Some(1));
        assert_eq!(find(&shapes, &[9], 3), None);
        assert_eq!(find(&shapes, &[0, 1], 3), None);
    }

    #[test]
    fn a_call_that_was_left_has_all_arguments_and_an_enter_the_first() {
        let fits = |arguments, is_left, count| {
            FunctionUse { id: 7, calls: 1, arguments, is_left }.fits(count)
        };
        assert!(fits(0b111, true, 3) && fits(0, true, 0) && fits(0, false, 0));
        assert!(!fits(0b11, true, 3) && !fits(0b111, true, 2) && !fits(0, true, 3));
        assert!(fits(0b11, false, 3) && !fits(0b110, false, 3) && !fits(0, false, 3));
        assert!(!fits(0b111, false, 2));
    }
}
