//! Bytes to a head, an extent and events. Knows no rule.
//!
//! [`head`] reads everything before the events, with [`gamepad`] and [`time`] for its parts;
//! [`evidence`] finds the layout of a recording without a magic, [`recover`] a head that cannot be
//! read; [`extent`] finds the number of events and where they end; [`event`] reads one event,
//! [`stretch`] many, [`pieces`] all of them with the damage between them, which [`align`] finds
//! by the [`shape`] of an event unless [`sound`] shows that there is none; [`walk`] sorts them into
//! records and damage; [`recording`] holds all of it for the check.

pub mod align;
pub mod event;
pub mod evidence;
pub mod extent;
pub mod gamepad;
pub mod head;
pub mod head_error;
pub mod layout_choice;
pub mod pieces;
pub mod recording;
pub mod recover;
pub mod shape;
pub mod sound;
pub mod stretch;
pub mod tile;
pub mod time;
pub mod walk;

use crate::kit::span::Layer;

/// The only file of a recording.
pub const FILE: Layer = Layer::stored(0);
