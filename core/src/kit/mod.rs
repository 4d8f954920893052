//! The layer below the formats: positions, bytes, bounded reading, text from files.
//!
//! Nothing here knows a format, a rule or a repair. A helper enters the kit when three formats
//! need it, as a plain function.

pub mod controls;
pub mod cursor;
pub mod expand;
pub mod field_log;
pub mod holes;
pub mod json;
pub mod layer;
pub mod num;
pub mod race;
pub mod ranges;
pub mod reading;
pub mod resync;
pub mod row;
pub mod source;
pub mod span;
pub mod steps;
pub mod text;
pub mod walk;
pub mod watch;
pub mod words;
pub mod wrapper;
