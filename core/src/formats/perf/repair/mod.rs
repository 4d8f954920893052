//! Builds the edits of fixes. Knows no rule and no policy.

mod abi;
mod aux_index;
mod close;
mod compressed;
mod cut;
mod encode;
mod event_desc;
mod features;
mod maps;
mod newer;
mod rebuild;
mod settle;
mod store;
mod trace;
mod tracing;
mod unpack;

pub use abi::{shrink_records, shrink_sections};
pub use aux_index::{aux_index, resize_section, write_words};
pub use close::{Seam, close, header_u64, size_field};
pub use compressed::{Tail, drop_after, join_records, truncate_record, write_data_size};
pub use cut::cut;
pub use encode::{header_bytes, record_bytes, u16_bytes, u32_bytes, u64_bytes};
pub use event_desc::event_desc;
pub use features::{
    Features, NewFeature, cpu_counts, is_mmap_len_large, keep_cpus, lost_hostname, mmap_len,
    nearest_mmap_len, needed, rewrite, with_hostname,
};
pub use maps::{THREADS, cpu_map, thread_map};
pub use newer::{drop_newer, repack};
pub use rebuild::{add_event, event_record, feature_record, rebuild};
pub use settle::settle;
pub use store::store;
pub use trace::truncate_trace;
pub use tracing::{tracing_data, tracing_record};
pub use unpack::{Unpacked, covers_records, room_of, unpack};
