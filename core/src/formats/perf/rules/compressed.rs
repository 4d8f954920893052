//! Rules of compressed records.

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    ZSTD_BROKEN = Rule {
        code: "PD8001",
        name: "zstd-broken",
        severity: Severity::Error,
        summary: "a compressed record cannot be expanded",
        problem: "The zstd stream is invalid. Later blocks copy from the invalid one, so they \
            cannot be expanded as they are either. Or bytes before the record are no record, and \
            compressed ones may be lost in them: the next blocks expand, but to other bytes. Or \
            the checksum of a frame does not match the expanded bytes; perf writes none.",
        impact: "perf 6.1 loses the samples from that place on. perf script exits 0 or 255; perf \
            report exits 0.",
        remedy: Remedy::Fix(
            "If one byte of the block was changed, sets it to the value with which the block \
             expands and all records follow one another. If times, threads or addresses \
             contradict them all the same, it states how many samples may have wrong values. If \
             nothing decides between several values, or if only Huffman-coded literals are \
             damaged, writes the records in the compressed records as they are, and drops those \
             with bytes that are not known: bytes of the block, and copies of them in later \
             blocks. Otherwise the length of the block is lost, and with it the place of all \
             later copies: keeps the blocks before the fault and drops the rest of the compressed \
             records, up to the next zstd frame. \
             Nothing is changed for a wrong checksum, which does not show the wrong bytes.\n\
             Class: lossy. Cost: none, the records with unknown bytes, or all records in the \
             dropped blocks.\n\
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
            perf writes no checksums, so a changed byte can expand to invalid data.",
        impact: "perf 6.1 stops with an error at the same place, and shows only earlier \
            samples.",
        remedy: Remedy::Fix(
            "Writes the records in the compressed records as they are, and drops or corrects the \
             damaged ones. From the compressed record with the first damage on, it also drops \
             those that the rest of the recording contradicts, and most of those around them: \
             their times step back, or samples have a thread or an address that no record names. \
             It states how many samples are kept there, since their values may be wrong. Where \
             that is not possible (a record of AUX data follows, or the limit redacted is \
             reached), drops the compressed records from that place on, including the complete \
             records in the first of them.\n\
             Class: lossy. Cost: the damaged records, or all in the dropped compressed records.\n\
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
    ZSTD_TRUNCATED = Rule {
        code: "PD8004",
        name: "zstd-truncated",
        severity: Severity::Error,
        summary: "the compressed data end inside a zstd block",
        problem: "A compressed record ends inside a zstd block, and no later record continues the \
            block; or a compressed record expands to nothing. perf record flushes the stream at \
            the end of each record, so bytes of the record were lost.",
        impact: "The records in the incomplete block are lost. perf script and perf report 6.1 \
            stop with exit status 255 at a compressed record that expands to nothing, and ignore \
            an incomplete block after complete ones.",
        remedy: Remedy::Fix(
            "Keeps the complete blocks and drops the incomplete one. A record without a complete \
             block is dropped, and records without data, all in a row at once.\n\
             Class: lossy. Cost: the bytes of the incomplete block, which cannot be expanded.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/session.c: perf_session__process_compressed_event; \
            tools/perf/util/zstd.c: zstd_compress_stream_to_records; measured",
    };
    DATA_LEN_WRONG = Rule {
        code: "PD8005",
        name: "compressed-data-size",
        severity: Severity::Error,
        summary: "the size of a compressed record does not match its data",
        problem: "Each zstd block has its length in its first bytes, so the blocks show where a \
            compressed record ends, even if its header is lost. COMPRESSED2 records also state in \
            data_size how many bytes of zstd data they hold. Zeros pad the data to a multiple of 8 \
            bytes, so data_size is at most 7 less than the rest of the record.",
        impact: "perf takes as many bytes as are stated: more than there are run past the record, \
            and fewer end inside a zstd block. Its records and all later ones are lost.",
        remedy: Remedy::Fix(
            "Writes the header of a record whose blocks end where other records begin, or the \
             number of bytes of the complete zstd blocks, if only padding follows them.\n\
             Class: exact, with the zstd blocks as witness. Otherwise lossy: takes all bytes of \
             the record as data.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.16, tools/perf/builtin-record.c: record__pushfn; \
            tools/perf/util/session.c: perf_session__process_compressed_event",
    };
}
