//! Bytes to events. States facts and judges nothing: it names no rule.
//!
//! ```text
//!  header   version word, unused bytes         regular  usual values and successors, as data
//!  decoder  one event of one layout            skim     the fast loop over regular events
//!  event    the types of an event              defect   facts that contradict the writers of QEMU
//!  walk     the events in order                clock    clocks that go back
//!  place    an event among those before it     turns    checkpoints that alternate
//!  counts   the events by their kinds
//!  defect_log   the defects in order, and where they show damage
//! ```

pub mod clock;
pub mod counts;
pub mod decoder;
pub mod defect;
pub mod defect_log;
pub mod event;
pub mod header;
pub mod pattern;
pub mod place;
pub mod regular;
pub mod skim;
pub mod turns;
pub mod walk;
