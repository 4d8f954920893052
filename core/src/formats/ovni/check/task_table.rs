//! Tasks by id.

use std::collections::BTreeMap;

/// Tasks of one page.
pub const PAGE: u64 = 32;
const PAGE_LEN: usize = 32;

/// A task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its type.
    pub kind: u32,
    /// It has several bodies.
    pub is_parallel: bool,
    /// State of its only body, unless it is parallel.
    pub body: BodyState,
}

/// State of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyState {
    /// It has not started.
    New,
    /// It runs, or is paused, in the thread of this stream.
    Alive(u32),
    /// It has ended.
    Dead,
}

/// Tasks by id. Runtimes count their tasks, so neighbours are used together: a page holds 32 of
/// them, and the page that was used last is looked at first.
#[derive(Debug, Default)]
pub struct TaskPages {
    pages: Vec<[Option<Task>; PAGE_LEN]>,
    /// Index of the page of 32 ids.
    places: BTreeMap<u32, usize>,
    last: Option<(u32, usize)>,
}

impl TaskPages {
    fn split(id: u32) -> (u32, usize) {
        (id >> PAGE_LEN.ilog2(), usize::try_from(id).unwrap_or(0) % PAGE_LEN)
    }

    /// Returns a task.
    #[inline]
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Task> {
        let (page, slot) = Self::split(id);
        let place = match self.last {
            Some((last, place)) if last == page => place,
            _ => {
                let place = *self.places.get(&page)?;
                self.last = Some((page, place));
                place
            }
        };
        self.pages.get_mut(place)?.get_mut(slot)?.as_mut()
    }

    /// Returns the number of pages that one more task adds: 0 or 1.
    pub fn grows_by(&self, id: u32) -> u64 {
        u64::from(!self.places.contains_key(&Self::split(id).0))
    }

    /// Adds a task; returns the task that had its id.
    pub fn insert(&mut self, id: u32, task: Task) -> Option<Task> {
        let (page, slot) = Self::split(id);
        let next = self.pages.len();
        let place = *self.places.entry(page).or_insert(next);
        if place == next {
            self.pages.push([None; PAGE_LEN]);
        }
        self.last = Some((page, place));
        self.pages.get_mut(place)?.get_mut(slot)?.replace(task)
    }
}
