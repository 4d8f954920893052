//! Turns bytes into items and values. Names no rule.
//!
//! ```text
//!  recording   the opened files: the way to their bytes
//!  header      the file header            outline  attrs, ids and end, before the first record
//!  attr attr_bytes attrs  events          end      where the records end
//!  table feature tracing donor            features, and TRACING_DATA of another recording
//!  machine                                features of the machine that a donor has
//!  tracepoints format                     what is left of a damaged TRACING_DATA; its texts
//!  restore     damaged parts of the outline, restored from their copies
//!  walk frame payload  records of a file  expand   records inside compressed records
//!  changed     the byte that makes a compressed record invalid
//!  partly      the records that are known although a block is damaged
//!  flip        records with a flipped bit in their type
//!  simpleperf  the signs of a recording of simpleperf
//!  event       the layout of records      body record sample  their fields
//!  event_name                             names of events, by their attrs
//! ```

pub mod attr;
mod attr_bytes;
pub mod attr_record;
pub mod attrs;
pub mod body;
pub mod changed;
pub mod donor;
pub mod end;
pub mod event;
pub mod event_name;
pub mod expand;
pub mod feature;
mod flip;
pub mod format;
pub mod frame;
pub mod header;
pub mod machine;
pub mod outline;
pub mod partly;
mod payload;
pub mod record;
pub mod recording;
pub mod restore;
pub mod sample;
mod simpleperf;
pub mod table;
pub mod tile;
pub mod tracepoints;
pub mod tracing;
pub mod walk;
