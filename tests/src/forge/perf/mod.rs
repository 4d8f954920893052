//! Assembles perf.data files byte by byte, independently of the core of tracemend.
//!
//! - [`bytes`]: numbers in a byte order. [`attr`]: events. [`sample`]: bodies of SAMPLE records.
//!   [`record`]: every record. [`feature`]: every section after the records.
//! - [`recording`]: puts them together and describes the result.
//! - [`damage`]: breaks it, one method per fault.
//! - [`simpleperf`]: recordings of the recorder of Android.
//! - [`trace`]: recordings with traces of a processor. [`hostile`]: with hostile numbers in them.
//! - [`worded`]: records and a feature in which each word differs.
//! - [`rot`]: damages any finished file at places that a seed chooses.
//! - [`mod@clean`]: the ready-made recordings.
//!
//! ```
//! use tracemend_tests::forge::perf::{Attr, Order, Recording, sample_type};
//! let attr = Attr::cpu_clock(sample_type::IP | sample_type::TID | sample_type::TIME);
//! let mut recording = Recording::new(Order::Little, vec![attr]);
//! let mut maker = recording.maker(0);
//! recording.push(maker.comm("forge")).push(maker.sample()).push(maker.sample());
//! let built = recording.build();
//! assert_eq!(built.samples(), 2);
//! let crashed = built.crashed();
//! assert_eq!(crashed.len(), built.data.end);
//! ```

pub mod attr;
pub mod bytes;
pub mod clean;
pub mod damage;
pub mod feature;
pub mod hostile;
pub mod record;
pub mod recording;
pub mod rot;
pub mod sample;
pub mod simpleperf;
pub mod trace;
pub mod worded;

pub use attr::{ATTR_SIZES, Attr, flag, read_format, sample_type};
pub use bytes::{Bytes, Order};
pub use clean::{Clean, all, by_name, clean, directory};
pub use feature::number as feature_bit;
pub use record::{Maker, Record};
pub use recording::{Built, FeatureSpan, Layout, Mode, RecordSpan, Recording, Wrapper};
pub use sample::{Branch, Sample, Value};
