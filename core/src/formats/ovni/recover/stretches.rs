//! The parts of a stream between losses, and what each place needs of those before it.
//!
//! ```text
//!  recorded   [A  [B   [C   C]   [D   D]  B]  A]
//!  lost           [B             [D
//!  left       [A   |   [C   C]    |   D]  B]  A]
//!  needs           B A            D B A          innermost first
//! ```
//!
//! One loss may take the opener of a state that is closed after another one. So the needs after the
//! last loss are found first, and those that nothing between two losses meets are needs of the one
//! before.

use crate::formats::ovni::decode::event_walk::EventWalk;
use crate::formats::ovni::recover::clock_shift::Gap;
use crate::formats::ovni::recover::needs::{Needs, Part};
use crate::formats::ovni::recover::stretch::{Past, Stretch, Taken};
use crate::kit::walk::Item;

/// Parts of a stream, at most. Where more is lost, such as every byte of a value, the parts need
/// states that none of them had, and the needs of one place contradict those of the next one.
const MOST: usize = 16;

/// The ends of the parts of a stream.
#[derive(Debug, Default)]
pub struct Stretches {
    /// Offset of each end, and the needs of all events after the loss there.
    ends: Vec<(u64, Needs)>,
}

impl Stretches {
    /// Finds the parts from a place on, up to the end of the thread. `gaps` are the bytes that do
    /// not count. Takes each event from `looks`.
    pub fn find(
        mut walk: EventWalk<'_, '_>,
        gaps: &[Gap],
        past: Past<'_>,
        looks: &mut u64,
    ) -> Self {
        let mut stretch = Stretch::new(past);
        let (mut parts, mut begin): (Vec<(u64, Part)>, u64) = (Vec::new(), walk.offset());
        while parts.len() < MOST {
            let next = walk.next();
            let at = match &next {
                Some(Item::Record(event)) => event.at,
                Some(Item::Damage(damage)) => damage.at,
                None => break,
            };
            let gap = gaps.binary_search_by_key(&at, |gap| gap.from).ok();
            let to = match (gap.and_then(|gap| gaps.get(gap)), &next) {
                (Some(gap), _) => gap.to,
                (None, Some(Item::Record(event))) => {
                    let Some(left) = looks.checked_sub(1) else { break };
                    *looks = left;
                    match stretch.take(event) {
                        Taken::Ends => break,
                        Taken::Contradicts if at > begin => at,
                        // By itself it is wrong, or it fits.
                        _ => continue,
                    }
                }
                _ => break,
            };
            let (part, past) = stretch.finish();
            parts.push((at, part));
            stretch = Stretch::new(past);
            walk = walk.restarted(to);
            begin = to;
        }
        if parts.len() >= MOST {
            return Self::default();
        }
        let mut ends = Vec::with_capacity(parts.len());
        let mut needs = stretch.finish().0.needs;
        for (end, part) in parts.into_iter().rev() {
            let before = needs.after(part, looks);
            ends.push((end, std::mem::replace(&mut needs, before)));
        }
        ends.reverse();
        Self { ends }
    }

    /// Returns the end of the part that holds an offset, and the needs of all events after it.
    pub fn end_after(&self, at: u64) -> Option<&(u64, Needs)> {
        self.ends.get(self.ends.partition_point(|(end, _)| *end <= at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::ovni::layout::Stack;
    use crate::formats::ovni::recover::needs::OpenState;
    use crate::formats::ovni::recover::stretch::find_needs;
    use crate::kit::source::Source;
    use crate::kit::span::Layer;

    #[test]
    fn a_state_that_is_closed_after_another_loss_is_needed_before_it() {
        let event = |code: &[u8; 3], clock: u64| [&[0][..], code, &clock.to_le_bytes()].concat();
        let bytes = [event(b"6C[", 1), event(b"6C]", 2), vec![0xff; 3], event(b"6WT", 3)].concat();
        let source = Source::new(&bytes);
        let walk = EventWalk::new(&source, Layer::stored(0), 0);
        let gaps = [Gap { from: 24, to: 27, copy_of: None }];
        let stretches = Stretches::find(walk.clone(), &gaps, Past::default(), &mut 1_000);
        let (end, next) = stretches.end_after(0).unwrap();
        assert_eq!(*end, 24);
        let part = find_needs(walk, *end, Past::default(), &mut 1_000);
        let (change, count) =
            next.after(part, &mut 1_000).bridge(Stack::Nanos6Subsystem, &[], &mut 1_000);
        let opened = vec![OpenState::Plain(u16::from_be_bytes(*b"Wt"))];
        assert_eq!((change.opens, count), (opened, 1));
        assert!(stretches.end_after(24).is_none());
    }
}
