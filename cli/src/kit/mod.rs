//! Used by every part: exit codes, the look of text, and work in order.
//!
//! - `exit`: exit codes, one meaning for each
//! - `look`: columns, colour and characters of text for people
//! - `command`: commands that a user can paste
//! - `figures`: sizes, counts and times as people read them
//! - `balance`: the bytes of a repair, as sums
//! - `ordered`: work on several threads, whose results come in order
//! - `interrupted`: the line about a run that a signal ends
//! - `progress`: a bar on standard error, or a line a minute

pub(crate) mod balance;
pub(crate) mod command;
pub(crate) mod exit;
pub(crate) mod figures;
pub(crate) mod interrupted;
pub(crate) mod look;
pub(crate) mod ordered;
pub(crate) mod progress;
