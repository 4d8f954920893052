//! The limits of perf.data.

use crate::model::limits::Limit;

/// All limits of the format.
pub static LIMITS: &[&Limit] =
    &[&ATTRS, &IDS, &ROUNDS, &FILES, &TRIED, &CHANGES, &SPACES, &STACKS, &AUX_RECORDS];

/// Events (attrs) of one recording.
pub static ATTRS: Limit = Limit::new(
    "perf-attrs",
    65_536,
    "attrs",
    "perf record writes one attr per event; the largest recording seen has some hundreds",
);

/// Ids of all attrs together.
pub static IDS: Limit = Limit::new(
    "perf-ids",
    4 << 20,
    "ids",
    "there is one id per event and CPU or thread; 4 million take 32 MiB",
);

/// Finished rounds that wait until the compressed records before them are expanded. Older ones are
/// forgotten, so PD3001 may miss a late record.
pub static ROUNDS: Limit = Limit::new(
    "perf-rounds",
    65_536,
    "rounds",
    "perf writes one per pass over the ring buffers, and a window of 128 MiB delays some hundreds",
);

/// Files of one recording that is a directory.
pub static FILES: Limit = Limit::new(
    "perf-files",
    65_536,
    "files",
    "perf record --threads writes one per CPU, and the kernel maps about this many at a time",
);

/// Attrs and records that are read to find the values of damaged attrs by which samples can be
/// read. Where the search ends, an attr keeps the values that it has.
pub static TRIED: Limit = Limit::new(
    "perf-tried",
    1 << 19,
    "attrs and records",
    "all values of one event take up to 507,390, and each try reads all events again",
);

/// Steps of the search for the byte of a zstd block that was changed. If all values of all bytes
/// would take more, only single bits are changed.
pub static CHANGES: Limit = Limit::new(
    "perf-changes",
    24 << 20,
    "steps",
    "a block of 6 KiB takes less, and perf record -z writes blocks of 0.3 to 6 KiB",
);

/// Bytes of the names and maps by which a dump names threads and the frames of stacks. What does
/// not fit is unknown.
pub static SPACES: Limit = Limit::new(
    "perf-spaces",
    256 << 20,
    "bytes",
    "a map takes 128 bytes and its name; a machine with 10,000 processes of 40 maps takes 80 MB",
);

/// Bytes of the stacks whose samples a dump counts. When they are full, they are written, so that a
/// stack may have several lines, which programs for flame graphs add up.
pub static STACKS: Limit = Limit::new(
    "perf-stacks",
    64 << 20,
    "bytes",
    "a stack of 20 frames takes some 400 bytes, so 160,000 different ones are counted",
);

/// AUX and AUXTRACE records that are compared with each other and with their index. Of more, none
/// is checked.
pub static AUX_RECORDS: Limit = Limit::new(
    "perf-aux-records",
    1 << 19,
    "records",
    "perf writes one AUXTRACE for some 100 KiB of trace, so the records of 20 GB fit into 40 MB",
);
