//! What to do: edits, patches, the rounds of a repair, its plan and its proof.
//!
//! Nothing here knows a format. A format attaches fixes to its findings; [`rounds`] chooses among
//! them, [`patch`] composes them, [`plan`] writes them down and [`proof`] checks that the result is
//! what was promised.

pub mod edit;
pub mod patch;
pub mod plan;
pub mod proof;
pub mod rounds;
