//! Events that lost bytes put together of two: a clock far from all others, and a task that no
//! other event names.

use std::collections::BTreeMap;

use crate::formats::ovni::decode::event_walk::{Event, EventWalk};
use crate::formats::ovni::layout::{self, DAY_NS, Effect};
use crate::formats::ovni::recover::clock_shift::{ClockShift, Gap, Outline};
use crate::kit::walk::Item;

/// Events that are looked for at most.
const MOST: usize = 64;

/// Lets such events be gaps of the outline, instead of events with a shifted clock.
pub(super) fn drop_cut_events(walk: &EventWalk<'_, '_>, outline: &mut Outline) {
    let is_far =
        |shift: &&ClockShift| shift.events == 1 && shift.own.unsigned_abs() > u128::from(DAY_NS);
    let far = outline.shifts.iter().filter(is_far).take(MOST);
    let mut named: BTreeMap<(u8, u32), (Gap, u32)> = BTreeMap::new();
    for shift in far {
        let event = walk.restarted(shift.from).next().and_then(Item::record);
        if let Some(task) = event.as_ref().and_then(task_of) {
            let gap = Gap { from: shift.from, to: shift.until, is_copy: false };
            named.entry(task).or_insert((gap, 0));
        }
    }
    if named.is_empty() {
        return;
    }
    let mut rest = walk.clone();
    while let Some(item) = rest.next() {
        match item {
            Item::Record(event) => {
                let found = task_of(&event).and_then(|task| named.get_mut(&task));
                found.into_iter().for_each(|(_, count)| *count = count.saturating_add(1));
            }
            Item::Damage(damage) => {
                let after = outline.gaps.iter().find(|gap| gap.from == damage.at);
                let Some(gap) = after else { break };
                rest = rest.restarted(gap.to);
            }
        }
    }
    let alone = named.into_values().filter(|(_, count)| *count <= 1).map(|(gap, _)| gap);
    let alone: Vec<Gap> = alone.collect();
    outline.shifts.retain(|shift| alone.iter().all(|gap| gap.from != shift.from));
    outline.gaps.extend(alone);
    outline.gaps.sort_by_key(|gap| gap.from);
}

/// Returns the model and the task that an event is about.
fn task_of(event: &Event<'_>) -> Option<(u8, u32)> {
    let row = event.row.and_then(layout::row_at)?;
    let is_of_task = matches!(row.effect, Effect::Task(_) | Effect::Create(_));
    let [model, ..] = event.code;
    is_of_task.then(|| (model, event.u32_at(0)))
}

#[cfg(test)]
mod tests {
    use super::super::{OutlineTerms, outline_irregular};
    use super::*;
    use crate::kit::source::Source;
    use crate::kit::span::Layer;

    /// Outlines 20 events, of which one starts a task at a clock that is a year too late.
    fn outline(task: u32) -> Outline {
        let event = |code: &[u8; 3], clock: u64, task: u32| {
            [&[3][..], code, &clock.to_le_bytes(), &task.to_le_bytes()].concat()
        };
        let mut bytes: Vec<u8> = (0..20).flat_map(|n| event(b"6Te", 1_000 + n, 7)).collect();
        bytes.splice(160..176, event(b"6Tx", 365 * DAY_NS, task));
        let source = Source::new(&bytes);
        let walk = EventWalk::new(&source, Layer::stored(0), 0);
        outline_irregular(
            &walk,
            OutlineTerms { resync: 1 << 20, places: 100, ..Default::default() },
        )
    }

    #[test]
    fn only_an_event_whose_task_no_other_one_names_does_not_count() {
        let known = outline(7);
        assert_eq!((known.shifts.len(), known.gaps.len()), (1, 0));
        let unknown = outline(8);
        assert_eq!(unknown.gaps, [Gap { from: 160, to: 176, is_copy: false }]);
        assert!(unknown.shifts.is_empty());
    }
}
