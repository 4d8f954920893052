//! Bytes to events. States facts and judges nothing: it names no rule.
//!
//! ```text
//!  header   version word, unused bytes         regular  usual values and successors, as data
//!  decoder  one event of one layout            skim     the fast loop over regular events
//!  event    the types of an event              defect   facts that contradict the writers of QEMU
//!  walk     the events in order                lane     a log as some of the layouts read it
//!  ending   how the log ends                   race     the layouts that a log may have
//!  cut      where to cut it                    log      the log as it was read
//!  sniff    whether a file is a log            tile     every byte of a log
//!  place    an event among those before it     clock    clocks that go back
//!  turns    checkpoints that alternate
//!  defect_log   the defects in order, and where they show damage
//!  start        where that damage began
//!  inserted     bytes that were inserted
//! ```

pub mod clock;
pub mod counts;
pub mod cut;
pub mod decoder;
pub mod defect;
pub mod defect_log;
pub mod ending;
pub mod event;
pub mod header;
pub mod inserted;
pub mod lane;
pub mod log;
pub mod place;
pub mod race;
pub mod regular;
pub mod skim;
pub mod sniff;
pub mod start;
pub mod tile;
pub mod turns;
pub mod walk;
