//! The signs of a recording of simpleperf, the recorder of Android.
//!
//! Both write the same header, attrs and records. simpleperf has features from 128 on and records
//! from 32769 on, writes the sections of the features in any order, and has none of those features
//! that every file of perf has, such as HOSTNAME. Its first versions had none of its own features
//! either; their files have ARCH and CMDLINE without those of perf.
//!
//! Sources: `record_file_format.h`, `record.h` and `record_file.proto` in
//! `system/extras/simpleperf` of Android.

use super::header::{Body, Flags};
use crate::formats::perf::layout::feature;
use crate::formats::perf::layout::features::FEATURES;

/// Features of every file of perf.
const OF_PERF: [u32; 6] = [
    feature::HOSTNAME,
    feature::VERSION,
    feature::NRCPUS,
    feature::CPUDESC,
    feature::TOTAL_MEM,
    feature::EVENT_DESC,
];
/// Features of every file of simpleperf.
const OF_SIMPLEPERF: [u32; 2] = [feature::ARCH, feature::CMDLINE];

/// Whether simpleperf recorded a file with a header of sections. One damaged feature bit changes
/// no answer about a file of perf, and none about a file with features of simpleperf.
pub fn is_recorder(body: &Body) -> bool {
    let of_perf = OF_PERF.iter().filter(|bit| body.flags.has(**bit)).count();
    let is_first_version = || of_perf == 0 && OF_SIMPLEPERF.iter().all(|bit| body.flags.has(*bit));
    of_perf <= 1 && (has_own_feature(&body.flags) || is_first_version())
}

fn has_own_feature(flags: &Flags) -> bool {
    let mut own = FEATURES.iter().filter(|feature| feature.is_simpleperf());
    own.any(|feature| flags.has(feature.number))
}
