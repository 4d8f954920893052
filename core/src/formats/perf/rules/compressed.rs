//! Rules of compressed records.

use crate::report::rule::rules;
use crate::report::{Remedy, Rule, Severity};

rules! {
    ZSTD_BROKEN = Rule {
        code: "PD8001",
        name: "zstd-broken",
        severity: Severity::Error,
        summary: "a compressed record cannot be expanded",
        problem: "The zstd stream is invalid. Blocks refer to earlier ones, so the rest of the \
            frame cannot be expanded either.",
        impact: "perf 6.1 loses the samples from that place on. perf script exits 0 or 255; perf \
            report exits 0.",
        remedy: Remedy::Fix(
            "Keeps the blocks before the fault and drops the rest of the compressed \
             records, up to the next zstd frame.\n\
             Class: lossy. Cost: all records in the dropped blocks.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "RFC 8878; perf 6.1, tools/perf/util/zstd.c: zstd_decompress_stream; measured",
    };
    EXPANDED_BROKEN = Rule {
        code: "PD8002",
        name: "expanded-broken",
        severity: Severity::Error,
        summary: "the expanded data is not a sequence of records",
        problem: "The zstd stream expands without an error, but at this place no record begins. \
            perf writes no check sums, so a changed byte can expand to invalid data.",
        impact: "perf 6.1 stops with an error at the same place, and shows only earlier \
            samples.",
        remedy: Remedy::Fix(
            "Drops the compressed records from that place on, including the complete \
             records in the first of them.\n\
             Class: lossy. Cost: all records in the dropped compressed records.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/session.c: perf_session__process_decomp_events",
    };
    EXPANDED_TRUNCATED = Rule {
        code: "PD8003",
        name: "expanded-truncated",
        severity: Severity::Warning,
        summary: "the last record in the compressed records is truncated",
        problem: "The recorder ended between two compressed records that share a record.",
        impact: "perf 6.1 ignores the incomplete record and shows all others.",
        remedy: Remedy::Next(
            "Nothing has to be done. The rest of the record was never written.",
        ),
        source: "perf 6.1, tools/perf/util/session.c: __perf_session__process_decomp_events",
    };
}
