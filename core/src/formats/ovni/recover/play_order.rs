//! The order in which the emulator plays the events of several streams.
//!
//! ```text
//!  streams in the order of their paths -> the first event of each is added
//!  then, again and again: the next event of the stream that was played last is added,
//!                         and the earliest event is taken
//! ```
//!
//! The tools keep the next event of each stream in a binary heap and compare clocks alone. So the
//! order of equal clocks follows from where earlier steps left each stream in the heap. This heap
//! makes the same moves.
//!
//! Source: the behaviour of `ovnidump` and `ovniemu` 1.14.0 on traces with equal clocks.

/// The next event of each stream.
#[derive(Clone, Debug, Default)]
pub struct PlayOrder {
    /// Clock in the time of the trace, and stream. No clock is lower than that of its parent, which
    /// for position `n`, counted from 1, is position `n / 2`.
    heap: Vec<(i128, usize)>,
}

impl PlayOrder {
    /// Adds the next event of a stream.
    pub fn add(&mut self, clock: i128, stream: usize) {
        let mut place = self.heap.len();
        self.heap.push((clock, stream));
        while let Some(parent) = place.checked_sub(1).map(|place| place / 2) {
            if self.clock(parent).is_none_or(|above| above <= clock) {
                return;
            }
            self.heap.swap(place, parent);
            place = parent;
        }
    }

    /// Takes the event that is played next: its clock and stream.
    pub fn take(&mut self) -> Option<(i128, usize)> {
        let last = self.heap.pop()?;
        let Some(first) = self.heap.first_mut() else { return Some(last) };
        let taken = std::mem::replace(first, last);
        let mut place = 0_usize;
        loop {
            let left = place.saturating_mul(2).saturating_add(1);
            let right = left.saturating_add(1);
            let (mut lowest, mut clock) = (place, last.0);
            for child in [left, right] {
                if let Some(below) = self.clock(child).filter(|below| *below < clock) {
                    (lowest, clock) = (child, below);
                }
            }
            if lowest == place {
                return Some(taken);
            }
            self.heap.swap(place, lowest);
            place = lowest;
        }
    }

    fn clock(&self, place: usize) -> Option<i128> {
        self.heap.get(place).map(|(clock, _)| *clock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The streams in the order in which their events are played.
    fn played(streams: &[&[i128]]) -> Vec<usize> {
        let mut order = PlayOrder::default();
        let mut next = vec![0; streams.len()];
        let mut played = Vec::new();
        let mut add = |order: &mut PlayOrder, stream: usize| {
            if let Some(clock) = streams[stream].get(next[stream]) {
                order.add(*clock, stream);
                next[stream] += 1;
            }
        };
        (0..streams.len()).for_each(|stream| add(&mut order, stream));
        while let Some((_, stream)) = order.take() {
            played.push(stream);
            add(&mut order, stream);
        }
        played
    }

    #[test]
    fn clocks_decide_first() {
        assert_eq!(played(&[&[1, 4, 6], &[2, 3], &[], &[5]]), [0, 1, 1, 0, 3, 0]);
    }

    #[test]
    fn equal_clocks_are_played_as_the_tools_play_them() {
        // Measured with ovnidump 1.14.0.
        assert_eq!(played(&[&[5; 3], &[5; 3], &[5; 3]]), [0, 2, 0, 2, 0, 2, 1, 1, 1]);
        // The stream that was played last waits.
        assert_eq!(played(&[&[1, 5], &[5, 9]]), [0, 1, 0, 1]);
        assert_eq!(played(&[&[5, 9], &[1, 5]]), [1, 0, 1, 0]);
        assert_eq!(played(&[&[1, 5], &[3, 5, 9]]), [0, 1, 0, 1, 1]);
        assert_eq!(played(&[&[3, 5], &[1, 5, 9]]), [1, 0, 1, 0, 1]);
    }
}
