//! Events that lost bytes put together of two: a task that no other event names, and a clock far
//! from all others or bytes after it that are not an event.

use std::collections::BTreeMap;

use super::Pass;
use crate::formats::ovni::decode::event_walk::{Event, EventWalk};
use crate::formats::ovni::layout::{self, DAY_NS, EVENT_HEADER, Effect};
use crate::formats::ovni::recover::clock_shift::{ClockShift, Gap, Outline};
use crate::kit::walk::Item;

/// Events that are looked for at most.
const MOST: usize = 64;
/// An id that other bytes overwrote is this many times the highest other one, at least. Programs
/// count their tasks.
const HIGHER: u32 = 2;

/// The tasks of a stream, by model and id.
#[derive(Default)]
struct Tasks {
    /// How often events name those of the cut events.
    named: BTreeMap<(u8, u32), u32>,
    /// The highest id that is not one of them.
    highest: BTreeMap<u8, u32>,
}

/// Lets such events be gaps of the outline, instead of events with a shifted clock, or of a task
/// that would have to be made up.
pub(super) fn drop_cut_events(walk: &EventWalk<'_, '_>, outline: &mut Outline) {
    let is_far =
        |shift: &&ClockShift| shift.events == 1 && shift.own.unsigned_abs() > u128::from(DAY_NS);
    let far = outline.shifts.iter().filter(is_far).take(MOST);
    let far = far.filter_map(|shift| {
        let task = task_of(&walk.restarted(shift.from).next().and_then(Item::record)?)?;
        Some((task, Gap { from: shift.from, to: shift.until, copy_of: None }))
    });
    let far: Vec<((u8, u32), Gap)> = far.collect();
    let torn = find_torn(walk, &outline.gaps);
    if far.is_empty() && torn.is_empty() {
        return;
    }
    let mut tasks = Tasks::default();
    tasks.named.extend(far.iter().chain(&torn).map(|(task, _)| (*task, 0)));
    each_event(walk, &outline.gaps, |event, _| tasks.add(event));
    let far = far.into_iter().filter(|(task, _)| tasks.is_alone(*task));
    let far: Vec<Gap> = far.map(|(_, gap)| gap).collect();
    let torn =
        torn.into_iter().filter(|(task, _)| tasks.is_alone(*task) && tasks.is_foreign(*task));
    let torn: Vec<Gap> = torn.map(|(_, gap)| gap).collect();
    outline.shifts.retain(|shift| far.iter().chain(&torn).all(|gap| gap.from != shift.from));
    outline.gaps.retain(|gap| torn.iter().all(|torn| torn.to != gap.to));
    outline.gaps.extend(far.into_iter().filter(|gap| torn.iter().all(|one| one.from != gap.from)));
    outline.gaps.extend(torn);
    outline.gaps.sort_by_key(|gap| gap.from);
}

/// Returns the events of tasks that end where bytes begin that are not an event: their last bytes
/// may be as foreign. Each with the gap that holds both.
fn find_torn(walk: &EventWalk<'_, '_>, gaps: &[Gap]) -> Vec<((u8, u32), Gap)> {
    let mut found = Vec::new();
    each_event(walk, gaps, |event, gap| {
        let gap = gap.filter(|gap| gap.copy_of.is_none() && found.len() < MOST);
        if let (Some(gap), Some(task)) = (gap, task_of(event)) {
            found.push((task, Gap { from: event.at, ..*gap }));
        }
    });
    found
}

/// Passes each event to `take`, with the gap that begins where it ends.
fn each_event(
    walk: &EventWalk<'_, '_>,
    gaps: &[Gap],
    mut take: impl FnMut(&Event<'_>, Option<&Gap>),
) {
    let mut rest = walk.clone();
    let gap_at = |at: u64| gaps.get(gaps.binary_search_by_key(&at, |gap| gap.from).ok()?);
    while let Some(item) = rest.next() {
        match item {
            Item::Record(event) => take(&event, gap_at(event.end())),
            Item::Damage(damage) => {
                let Some(gap) = gap_at(damage.at) else { break };
                rest = rest.restarted(gap.to);
            }
        }
    }
}

impl Tasks {
    fn add(&mut self, event: &Event<'_>) {
        let Some(task) = task_of(event) else { return };
        if let Some(count) = self.named.get_mut(&task) {
            *count = count.saturating_add(1);
            return;
        }
        let highest = self.highest.entry(task.0).or_default();
        *highest = task.1.max(*highest);
    }

    fn is_alone(&self, task: (u8, u32)) -> bool {
        self.named.get(&task).is_none_or(|count| *count <= 1)
    }

    /// Whether an id is not one that the program gave to a task.
    fn is_foreign(&self, (model, id): (u8, u32)) -> bool {
        let highest = self.highest.get(&model).copied().unwrap_or(u32::MAX);
        id == 0 || id / HIGHER > highest
    }
}

impl Pass<'_, '_> {
    /// Returns the gap from the last event on, which ends where damage begins, if the next events
    /// begin inside it: they follow the place at which it was cut.
    pub(super) fn find_inside(&mut self, damage: u64) -> Option<Gap> {
        let mut latest = self.recent.iter().rev();
        let (cut, before) = (latest.next()?, latest.next()?);
        let clock = u64::try_from(before.key.saturating_sub(self.offset())).ok()?;
        let (from, len) = (cut.at, cut.end.saturating_sub(cut.at));
        let looks = usize::try_from(len).ok()?;
        if cut.end != damage || clock == 0 {
            return None;
        }
        self.searches.looks = self.searches.looks.checked_sub(looks)?;
        // Places up to the last byte of the event.
        let limit = len.saturating_add(EVENT_HEADER).saturating_sub(1);
        let to = self.walk.clone().resync(from, clock, limit)?;
        Some(Gap { from, to, copy_of: None })
    }
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
    use crate::kit::num::to_u64;
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

    /// Outlines 20 events that end a task each, changed by `change`.
    fn outline_changed(change: impl Fn(&mut Vec<u8>)) -> Outline {
        let event = |task: u32| {
            [&b"\x036Te"[..], &u64::from(task).to_le_bytes(), &task.to_le_bytes()].concat()
        };
        let mut bytes: Vec<u8> = (1..21).flat_map(event).collect();
        change(&mut bytes);
        let source = Source::new(&bytes);
        let walk = EventWalk::new(&source, Layer::stored(0), 0);
        let terms = OutlineTerms { resync: 1 << 20, places: 100, ..Default::default() };
        outline_irregular(&walk, terms)
    }

    #[test]
    fn an_event_before_damage_is_a_part_of_it_if_the_id_of_its_task_is_foreign() {
        let gaps = outline_changed(|bytes| bytes[174..190].fill(0xff)).gaps;
        assert_eq!(gaps, [Gap { from: 160, to: 192, copy_of: None }]);
        // Its id is its own.
        let gaps = outline_changed(|bytes| bytes[176..190].fill(0xff)).gaps;
        assert_eq!(gaps, [Gap { from: 176, to: 192, copy_of: None }]);
    }

    #[test]
    fn the_event_after_lost_bytes_is_found_inside_the_one_that_they_cut() {
        // Inside a clock, and inside an id.
        for cut in [166, 173] {
            let outline = outline_changed(|bytes| drop(bytes.drain(cut..176)));
            assert_eq!(outline.gaps, [Gap { from: 160, to: to_u64(cut), copy_of: None }], "{cut}");
            assert!(outline.shifts.is_empty());
        }
    }

    #[test]
    fn only_an_event_whose_task_no_other_one_names_does_not_count() {
        let known = outline(7);
        assert_eq!((known.shifts.len(), known.gaps.len()), (1, 0));
        let unknown = outline(8);
        assert_eq!(unknown.gaps, [Gap { from: 160, to: 176, copy_of: None }]);
        assert!(unknown.shifts.is_empty());
    }
}
