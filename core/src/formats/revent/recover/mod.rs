//! The layout, the head and the events of a recording, damaged or not. Knows no rule; `decode` does
//! not import it.
//!
//! [`layout_choice`] chooses the layout, for which [`evidence`] reads the events of a recording
//! without a magic; [`lost_head`] finds a head that cannot be read; [`extent`] finds the number of
//! events and where they end; [`pieces`] has all events with the damage between them, which
//! [`align`] finds by the [`shape`] of an event unless [`sound`] shows that there is none;
//! [`zero_pages`] finds pages that were inserted; [`recording`] holds all of it for the check.

pub mod align;
pub mod displaced;
pub mod evidence;
pub mod extent;
pub mod layout_choice;
pub mod lost_head;
pub mod pieces;
pub mod recording;
pub mod shape;
pub mod sound;
pub mod tile;
pub mod zero_pages;
