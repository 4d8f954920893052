//! Bytes of a trace to events and damage. Names no rule.
//!
//! ```text
//!  grammar   the tokens of the stream        places   where the stream lies in the file
//!  tracker   ids, calls, warnings
//!  raw       the bytes of a definition
//!  symbols   the values that enums and bitmasks list
//!  repeats   values that repeat, and those near them
//!  usage     how calls use their functions
//!  calls, definitions, names, ranges         damage   stretches that are not events
//! ```

pub mod calls;
pub mod damage;
pub mod definitions;
pub mod grammar;
pub mod names;
pub mod places;
pub mod raw;
pub mod repeats;
pub mod stretch;
pub mod symbols;
pub mod tracker;
pub mod usage;
