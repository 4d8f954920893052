//! Events around damage, and the definitions that it took. Names no rule; `decode` does not import
//! it.
//!
//! ```text
//!  expand --blocks--> reader --tokens--> tracker of `decode`: ids, calls, warnings
//!                       |  ^
//!                  stop v  | sync
//!                     resync: the next place from which events follow one another
//!
//!  beginning    recognises a trace by its first bytes
//!  arrangement  whether the units are in their order, and which are copies
//!  parts        two traces in one file
//!  signatures   the definitions of known builds of the tracer
//!  trace        the result: the events that were read, and the damage between
//! ```

pub mod arrangement;
pub mod beginning;
pub mod displaced;
pub mod parts;
pub mod reader;
pub mod resync;
pub mod signatures;
pub mod trace;
