//! The rules of an audit: one file per concern, in the order of the codes.

pub mod recipient;
pub mod sender;

use crate::model::Rule;

/// Returns every rule of an audit, in the order of the codes.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    recipient::RULES.iter().chain(sender::RULES).copied()
}
