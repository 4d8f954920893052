//! The arguments that the events of a function have.
//!
//! The tracer writes the same arguments in every enter of a function, and mostly in every leave. An
//! event with others, alone among many, is probably damaged.

use super::{ID_MAX, Misuse};
use crate::formats::apitrace::decode::repeats::FirstUse;
use crate::kit::num::to_usize;

/// Events of the usual shape from which another one is unusual.
const OFTEN: u32 = 8;
/// The bit of the result.
const RESULT: u32 = 63;

/// The arguments of an event: a bit for each index, and one for the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape(u64);

impl Shape {
    /// Adds an argument, or the result; returns whether it comes after those of lower indices.
    /// Higher indices than functions have are left out.
    #[inline(always)]
    pub fn add(&mut self, index: Option<u64>) -> bool {
        let Some(index) = index else {
            self.0 |= 1 << RESULT;
            return true;
        };
        let Some(index) = u32::try_from(index).ok().filter(|index| *index < RESULT) else {
            return true;
        };
        let others = self.0 & !(1 << RESULT);
        self.0 |= 1_u64.wrapping_shl(index);
        others.wrapping_shr(index) == 0
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
        match (usual.0 & !self.0, self.0 & !usual.0) {
            (missing, 0) => format!("no {}", names(missing)),
            (0, added) => format!("also {}", names(added)),
            (missing, added) => format!("{} instead of {}", names(added), names(missing)),
        }
    }
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

/// The shapes of all events by the ids of their functions.
#[derive(Debug, Default)]
pub struct Shapes {
    functions: Vec<[Kinds; 2]>,
}

impl Shapes {
    /// Adds an event of a function: an enter or a leave.
    #[inline]
    pub fn add(&mut self, function: u64, is_leave: bool, shape: Shape, first: FirstUse) {
        let index = to_usize(function);
        if let Some(kinds) = self.functions.get_mut(index) {
            let [enters, leaves] = kinds;
            if is_leave { leaves } else { enters }.add(shape, first);
        } else if function <= ID_MAX {
            self.functions.resize(index.saturating_add(1), <[Kinds; 2]>::default());
            self.add(function, is_leave, shape, first);
        }
    }

    /// Returns the events with other arguments than all other events of the function.
    pub fn find_unusual(&self) -> Vec<Misuse> {
        let both = |kinds: &Kinds| Some((kinds.first?, kinds.second?)).filter(|_| !kinds.has_more);
        let find = |[enters, leaves]: &[Kinds; 2]| {
            let of = |kinds, event| Self::unusual(both(kinds)?, event);
            [of(enters, "enters"), of(leaves, "leaves")]
        };
        self.functions.iter().flat_map(find).flatten().collect()
    }

    fn unusual((one, other): (Seen, Seen), events: &str) -> Option<Misuse> {
        let (rare, usual) = if one.count < other.count { (one, other) } else { (other, one) };
        let difference = rare.shape.difference(usual.shape);
        let message = || {
            format!("call has {difference}, unlike {} other {events} of the function", usual.count)
        };
        let is_unusual = rare.count == 1 && usual.count >= OFTEN;
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
}
