//! Events of several streams at one clock that concern the same thing.
//!
//! The order of equal clocks matters only for these. A merge without one gives the same result in
//! any order of equal clocks; one with a tie is repeated in the order of the emulator.

/// Something that events of several threads change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedThing {
    /// A CPU: loom, and number.
    Cpu(usize, i32),
    /// The thread of a stream.
    Thread(usize),
    /// A type: process, task table, id.
    Type(usize, u8, u32),
    /// A task: process, task table, id.
    Task(usize, u8, u32),
}

/// Things that are remembered of one clock. More of them count as a tie.
const THINGS_MAX: usize = 64;

/// The things that the events of the latest clock have changed.
#[derive(Debug, Default)]
pub struct Ties {
    clock: i128,
    touched: Vec<(SharedThing, usize)>,
    is_found: bool,
}

impl Ties {
    /// Takes note that an event of a stream changes a thing.
    #[inline]
    pub fn note(&mut self, clock: i128, thing: SharedThing, stream: usize) {
        if clock != self.clock {
            self.clock = clock;
            self.touched.clear();
        }
        let is_tie = |(other, by): &(SharedThing, usize)| *other == thing && *by != stream;
        self.is_found |= self.touched.len() >= THINGS_MAX || self.touched.iter().any(is_tie);
        if self.touched.len() < THINGS_MAX {
            self.touched.push((thing, stream));
        }
    }

    /// Returns whether two streams have changed a thing at one clock.
    pub const fn is_found(&self) -> bool {
        self.is_found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tie_is_one_thing_at_one_clock_by_two_streams() {
        let noted = |notes: &[(i128, SharedThing, usize)]| {
            let mut ties = Ties::default();
            notes.iter().for_each(|(clock, thing, stream)| ties.note(*clock, *thing, *stream));
            ties.is_found()
        };
        let (cpu, task) = (SharedThing::Cpu(0, 1), SharedThing::Task(0, 0, 1));
        assert!(noted(&[(5, cpu, 0), (5, task, 1), (5, cpu, 1)]));
        assert!(!noted(&[(5, cpu, 0), (5, cpu, 0), (5, task, 1), (6, cpu, 1)]));
        let many: Vec<_> = (0..=64).map(|id| (5, SharedThing::Task(0, 0, id), 0)).collect();
        assert!(noted(&many) && !noted(&many[1..]));
    }
}
