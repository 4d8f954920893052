//! Bytes to a head, an extent and events. Knows no rule.
//!
//! [`head`] reads everything before the events, with [`gamepad`] and [`time`] for its parts;
//! [`event`] reads one event, [`stretch`] many, and [`walk`] sorts them into records and damage.
//! [`device_list`] reads the input devices of another machine.

pub mod device_list;
pub mod event;
pub mod gamepad;
pub mod head;
pub mod head_error;
pub mod stretch;
pub mod time;
pub mod walk;

use crate::kit::span::Layer;

/// The only file of a recording.
pub const FILE: Layer = Layer::stored(0);
