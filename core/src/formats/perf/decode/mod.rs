//! Turns bytes into items and values. Names no rule.
//!
//! ```text
//!  recording   the opened files: the way to their bytes
//!  header      the file header            attr attr_bytes attrs   events
//!  table feature                          features
//!  tracing format trace_field             TRACING_DATA, its texts, the fields of tracepoints
//!  walk frame payload  records of a file  expand   records inside compressed records
//!  flip        records with a flipped bit in their type
//!  trace       the data of AUXTRACE records
//!  simpleperf  the signs of a recording of simpleperf
//!  event       the layout of records      body record sample  their fields; value
//!  event_name                             names of events, by their attrs
//! ```

pub mod attr;
pub mod attr_bytes;
pub mod attr_record;
pub mod attrs;
pub mod body;
pub mod event;
pub mod event_name;
pub mod expand;
pub mod feature;
pub mod flip;
pub mod format;
pub mod frame;
pub mod header;
pub mod payload;
pub mod record;
pub mod recording;
pub mod sample;
pub mod simpleperf;
pub mod table;
pub mod tile;
pub mod trace;
pub mod trace_field;
pub mod tracing;
pub mod value;
pub mod walk;
