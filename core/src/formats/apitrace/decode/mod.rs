//! Bytes of a trace to events and damage. Names no rule.
//!
//! ```text
//!  expand --blocks--> reader --tokens--> tracker: ids, calls, warnings
//!                       |  ^
//!                  stop v  | sync
//!                     resync: the next place from which events follow one another
//!
//!  arrangement   whether the units are in their order, and which are copies
//!  parts     two traces in one file
//!  trace     the result: what was read, and the damage between
//!  grammar   the tokens of the stream        places   where the stream lies in the file
//!  signatures    the definitions of known builds of the tracer
//!  symbols   the values that enums and bitmasks list
//!  repeats   values that repeat, and those near them
//!  usage     how calls use their functions
//!  calls, definitions, names, ranges         damage   stretches that are not events
//! ```

pub mod arrangement;
pub mod beginning;
pub mod calls;
pub mod damage;
pub mod definitions;
pub mod grammar;
pub mod names;
pub mod parts;
pub mod places;
pub mod ranges;
pub mod reader;
pub mod repeats;
pub mod resync;
pub mod signatures;
pub mod stretch;
pub mod symbols;
pub mod trace;
pub mod tracker;
pub mod usage;
