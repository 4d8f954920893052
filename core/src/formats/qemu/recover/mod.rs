//! Readings of a log, and the place where it can be closed. Names no rule; `decode` does not import
//! it.
//!
//! ```text
//!  sniff    whether a file is a log            lane     a log as some of the layouts read it
//!  race     the layouts that a log may have    log      the log as it was read
//!  start    where damage began                 inserted bytes that were inserted
//!  ending   how the log ends                   cut      where to cut it
//!  tile     every byte of a log
//! ```

pub mod cut;
pub mod ending;
pub mod inserted;
pub mod lane;
pub mod log;
pub mod race;
pub mod sniff;
pub mod start;
pub mod tile;
