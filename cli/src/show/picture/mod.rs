//! Pictures of recordings: where damage lies, what a repair keeps, and when nothing was recorded.
//!
//! ```text
//!  Stretch  --Strip::lay-->  blocks and flags      bytes along a file, or losses along the time
//!  Timeline --axis::draw-->  columns               records per interval, by thread or CPU
//!  both     --Sheet------->  Picture               one below the other, with a legend
//!  Picture  --svg::------->  text                  alone, or inside a page
//! ```
//!
//! Places along a picture are shares of its width, so that its text has one size at any width. A
//! column of a strip shows by its height how many of its bytes are of a kind; what is too narrow to
//! be seen has a flag above its place. Colours are those of Okabe and Ito, and each kind that
//! matters has a pattern and a flag of its own.

mod axis;
mod class;
mod recording;
mod rows;
mod sheet;
mod strip;
mod svg;
mod timeline;

pub(crate) use class::Class;
pub(crate) use recording::draw_recording;
pub(crate) use rows::{Row, Rows};
pub(crate) use sheet::{Picture, Sheet};
pub(crate) use strip::{Stretch, Strip, paint, stretches_of};
pub(crate) use svg::{DEFINITIONS, STYLE, alone, embedded};
