//! The events of an earlier run, after those of a shorter one that was written over them.
//!
//! ```text
//!  OHx ... OHe | rest of an event | events of the run before | rest | events of an older run
//!                                   ^ from             until ^
//! ```
//!
//! libovni opens a stream without truncating it, so a program that calls exec, or a second run with
//! the same ids, leaves the longer stream of the first one after its own end. The first event
//! there is usually cut in two; the others are complete.

use crate::formats::ovni::decode::event_walk::Event;
use crate::formats::ovni::decode::stream::Stream;
use crate::kit::walk::Item;

/// The events after the end of the newest run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OlderRun {
    /// Offset of the first complete event of the run directly before.
    pub from: u64,
    /// Offset after its last event.
    pub until: u64,
    /// Number of its events.
    pub events: u64,
    /// Its first and last clock.
    pub clocks: (u64, u64),
    /// The code of its first event.
    pub first_code: [u8; 3],
    /// Complete events of all earlier runs.
    pub all: u64,
}

impl OlderRun {
    /// Adds an event, if it is of the run directly before. An even older one has lower clocks than
    /// its first event.
    fn add(&mut self, event: &Event<'_>, has_ended: &mut bool) {
        self.all = self.all.saturating_add(1);
        if self.events == 0 {
            self.from = event.at;
            self.first_code = event.code;
            self.clocks = (event.clock, event.clock);
        }
        *has_ended |= event.clock < self.clocks.0;
        if !*has_ended {
            self.until = event.end();
            self.events = self.events.saturating_add(1);
            self.clocks.1 = self.clocks.1.max(event.clock);
        }
    }
}

/// Returns the events of earlier runs from offset `at` on, or `None` if none is complete. A search
/// for the next event after bytes that are not one looks at `resync` bytes.
pub fn find_older_run(stream: &Stream<'_>, at: u64, resync: u64) -> Option<OlderRun> {
    let mut walk = stream.events(at);
    let (mut run, mut has_ended) = (OlderRun::default(), false);
    while let Some(item) = walk.next() {
        match item {
            Item::Record(event) => run.add(&event, &mut has_ended),
            Item::Damage(damage) => drop(walk.resync(damage.at, 0, resync)),
        }
    }
    (run.all > 0).then_some(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::source::Source;
    use crate::kit::span::Layer;

    /// Events of 12 bytes with these clocks.
    fn events(clocks: impl IntoIterator<Item = u64>) -> Vec<u8> {
        let event = |clock: u64| [b"\0OB.".as_slice(), &clock.to_le_bytes()].concat();
        clocks.into_iter().flat_map(event).collect()
    }

    #[test]
    fn the_run_before_ends_where_an_older_one_begins() {
        let newest = [b"ovni\x01\0\0\0".to_vec(), events(90..94)].concat();
        let at = u64::try_from(newest.len()).unwrap();
        for rest in [0, 5, 11] {
            let cut = |bytes: Vec<u8>| bytes[12 - rest..].to_vec();
            let bytes = [newest.clone(), cut(events(49..59)), cut(events(9..19))].concat();
            let stream = Stream::open(Source::new(&bytes), Layer::stored(0));
            let run = find_older_run(&stream, at, 1 << 20).unwrap();
            // Nothing shows that the first event of a rest of 0 bytes is not the first of its run.
            assert_eq!((run.events, run.all), (9, 18), "{rest}");
            assert_eq!(run.clocks, (50, 58), "{rest}");
            assert_eq!(run.until - run.from, 9 * 12, "{rest}");
        }
        let stream = Stream::open(Source::new(&newest), Layer::stored(0));
        assert_eq!(find_older_run(&stream, at, 1 << 20), None);
    }
}
