//! Runs inside another program, such as the interpreter of Python, which keeps its own handlers of
//! signals and maps files of its own.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Maps whose places are known at a time. A recording of more files has maps that are not noted.
const MAPS_MAX: usize = 1024;

static IS_ON: AtomicBool = AtomicBool::new(false);
/// Start and end of each map; the start of a free entry is 0. A handler of signals reads them.
static MAPS: [[AtomicUsize; 2]; MAPS_MAX] =
    [const { [AtomicUsize::new(0), AtomicUsize::new(0)] }; MAPS_MAX];
/// Maps that did not fit. As long as there are any, every map counts as one of a recording.
static NOT_NOTED: AtomicUsize = AtomicUsize::new(0);

/// Makes the following runs guests in this process. Call it before the first one.
///
/// SIGINT, SIGTERM and SIGHUP keep their handlers: if one of them ends the process in the middle of
/// a repair, a file with a temporary name may stay. A recording that shrinks while it is read gives
/// [`Exit::Io`](crate::Exit::Io) instead of ending the process. SIGBUS of other maps goes to the
/// handler that the process had. The sandbox is never set up.
pub fn embed() {
    IS_ON.store(true, Ordering::SeqCst);
}

/// Whether runs are guests.
pub(super) fn is_on() -> bool {
    IS_ON.load(Ordering::SeqCst)
}

/// Notes a new map.
pub(super) fn note_map(start: usize, end: usize) {
    let order = Ordering::SeqCst;
    // No page lies at 1: an entry without its end contains nothing.
    let free = MAPS.iter().find(|[own, _]| own.compare_exchange(0, 1, order, order).is_ok());
    let Some([own, own_end]) = free else {
        NOT_NOTED.fetch_add(1, order);
        return;
    };
    own_end.store(end, order);
    own.store(start, order);
}

/// Forgets a map.
pub(super) fn forget_map(start: usize, end: usize) {
    let order = Ordering::SeqCst;
    let is_it = |own: &&[AtomicUsize; 2]| own.each_ref().map(|at| at.load(order)) == [start, end];
    match MAPS.iter().find(is_it) {
        Some([own, own_end]) => {
            own_end.store(0, order);
            own.store(0, order);
        }
        None => {
            NOT_NOTED.fetch_sub(1, order);
        }
    }
}

/// Whether a map contains the address. Allocates nothing.
pub(super) fn has_map_at(address: usize) -> bool {
    let order = Ordering::SeqCst;
    NOT_NOTED.load(order) > 0
        || MAPS.iter().any(|[start, end]| start.load(order) <= address && address < end.load(order))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_belongs_to_a_map_until_the_map_is_forgotten() {
        // No map of this process lies in the last pages of the address space.
        let [start, end] = [usize::MAX - 0x2fff, usize::MAX - 0xfff];
        assert!(!has_map_at(start));
        note_map(start, end);
        assert!(has_map_at(start) && has_map_at(end - 1) && !has_map_at(end));
        forget_map(start, end);
        assert!(!has_map_at(start));
    }
}
