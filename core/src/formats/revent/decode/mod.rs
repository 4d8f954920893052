//! Bytes to a head, an extent and events: states, and judges nothing.
//!
//! [`head`] reads everything before the events, [`evidence`] tells recordings without a magic from
//! other files and from each other, [`extent`] says how many events there are and where they end,
//! [`event`] reads them.

pub mod event;
pub mod evidence;
pub mod extent;
pub mod head;
pub mod tile;
