//! A block that was written twice: its events come again, and their clocks go back.

use super::late::NOISE_MAX;
use super::{Event, Gap, Item, Pass};
use crate::formats::ovni::recover::repeat::compare_repeat;

/// Earlier events with the same clock that a copy may begin with.
const ORIGINS: usize = 8;

impl Pass<'_, '_> {
    /// Returns the bytes of the copy that holds an event, if they are those before it. The copy may
    /// begin inside an event: its first events are then noise, or damage.
    ///
    /// `before` is the offset of an event before it that is not among the latest ones.
    pub(super) fn find_copy(&mut self, event: &Event<'_>, before: Option<u64>) -> Option<Gap> {
        let key = self.key(event);
        let first = self.recent.partition_point(|point| point.key < key);
        let origins = self.recent.iter().skip(first).take(ORIGINS);
        let origins = origins.take_while(|point| point.key == key).map(|point| point.at);
        let damage = self.out.gaps.last().map(|gap| gap.from);
        let noise = self.recent.iter().rev().take(NOISE_MAX).map(|point| point.at);
        let inside: Vec<u64> = before.into_iter().chain(damage).chain(noise).collect();
        for origin in origins.collect::<Vec<_>>() {
            let len = event.at.saturating_sub(origin);
            let starts = std::iter::once(event.at).chain(inside.iter().copied());
            for from in starts.filter(|from| *from > origin && *from <= event.at) {
                let to = from.saturating_add(len);
                if to > self.walk.stream_len() {
                    continue;
                }
                if self.searches.compared == 0 {
                    return None;
                }
                let (rest, compared) = compare_repeat(&self.walk, from, to);
                self.searches.compared = self.searches.compared.saturating_sub(compared);
                if rest.is_some() {
                    return Some(Gap { from, to, is_copy: true });
                }
                self.searches.looks = self.searches.looks.checked_sub(1)?;
            }
        }
        None
    }

    /// Returns the bytes of the copy that begins inside an event, which thus got a part of another
    /// clock.
    pub(super) fn find_copy_after(&mut self, event: &Event<'_>) -> Option<Gap> {
        let next = self.walk.restarted(event.end()).next().and_then(Item::record)?;
        self.find_copy(&next, Some(event.at))
    }

    /// Forgets the events and the damage from an offset on: they belong to a copy.
    pub(super) fn forget_from(&mut self, from: u64) {
        while self.recent.back().is_some_and(|point| point.at >= from) {
            self.recent.pop_back();
            self.number = self.number.saturating_sub(1);
            if let Some(part) = self.parts.last_mut() {
                part.events = part.events.saturating_sub(1);
            }
        }
        self.last = self.recent.back().map_or(self.last, |point| point.key);
        self.state.region.take_if(|region| region.at >= from);
        while self.out.gaps.last().is_some_and(|gap| gap.from >= from) {
            self.out.gaps.pop();
        }
    }
}
