//! Repairs: edits, patches, rounds, plans and proofs.
//!
//! Nothing here knows a format. A format attaches fixes to its findings; [`rounds`] chooses among
//! them, a [`Patch`](crate::model::patch::Patch) composes them, [`plan`] records them and [`proof`]
//! compares the result with them.

pub mod applied;
pub(crate) mod arrival;
pub(crate) mod beginning;
pub(crate) mod cause;
mod choice;
pub(crate) mod explained;
pub mod outcome;
pub mod plan;
pub mod proof;
mod proof_error;
pub mod reading;
mod remainder;
pub mod rounds;
pub(crate) mod trial;
pub(crate) mod view;
