//! Judging a trace: the stream as it is expanded, the calls and ids in it, and where it goes on
//! after damage.
//!
//! ```text
//!  expand ---- blocks ----> engine --- tokens ---> judge: ids, calls, signs --> findings
//!  (its own thread)           |  ^                                                  |
//!                        stop v  | sync                                             v
//!                            probe: the next place from which                   mends: edits
//!                            events follow one another                      of the stream, grouped
//!                                                                             by what is stored
//! ```

pub mod calls;
pub mod damage;
pub mod definitions;
pub mod engine;
pub mod file;
pub mod judge;
pub mod probe;
pub mod ranges;
