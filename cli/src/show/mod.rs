//! Reports as text for people, JSON of repairs, and pages.
//!
//! ```text
//!  finding < group < summary < plain < salvage, salvage_json
//!  page      HTML, with markdown and examples
//!  picture   SVG: bytes and records by time
//! ```

pub(crate) mod difference;
pub(crate) mod example;
pub(crate) mod finding;
pub(crate) mod group;
pub(crate) mod history;
pub mod markdown;
pub(crate) mod markup;
pub(crate) mod page;
pub(crate) mod picture;
pub(crate) mod plain;
pub(crate) mod record;
pub(crate) mod salvage;
pub(crate) mod salvage_json;
pub(crate) mod summary;
