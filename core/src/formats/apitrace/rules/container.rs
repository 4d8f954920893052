//! Chunks and compressed streams.

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    TRUNCATED_UNIT = Rule {
        code: "AT8001",
        name: "truncated-chunk",
        severity: Severity::Error,
        summary: "the file ends inside a chunk or a compressed stream",
        problem: "A copy was interrupted, the disk was full, or the program was killed while it \
            wrote.",
        impact: "apitrace 11.1 shows only the calls of complete chunks and exits 0. It warns of an \
            unexpected end of file for snappy, and does not warn for gzip, zstd and brotli.",
        remedy: Remedy::Fix("Decodes the truncated chunk as far as possible, cuts the stream after \
            the last complete event, and rewrites the chunk.\n\
            Class: lossy. Cost: the bytes of the truncated event.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_file_snappy.cpp: rawRead; measured with dump",
    };
    CHUNK_CORRUPT = Rule {
        code: "AT8002",
        name: "chunk-corrupt",
        severity: Severity::Error,
        summary: "a chunk or a compressed stream cannot be decoded",
        problem: "The compressed bytes are damaged. The damage lies somewhere before the place \
            where decoding fails, so calls shortly before that place may be wrong too.",
        impact: "apitrace 11.1 parses the previous content of its buffer instead of the chunk. \
            dump shows calls that were never made, or stops with for example \"unknown call detail \
            7\" and exits 1.",
        remedy: Remedy::Fix("Keeps the events that can be decoded before the damage, resumes after \
            it, and rewrites the chunk. A placeholder replaces each lost call, so all other calls \
            keep their numbers; lost definitions are added at their first use.\n\
            Class: lossy. Cost: the lost calls; the finding lists calls whose arguments may be \
            wrong.\n\
            Run:\n\
            \x20 tracemend repair app.trace --donor other.trace -o repaired.trace\n\
            --donor takes lost definitions from another trace by the same build of the tracer."),
        source: "apitrace 11.1, lib/trace/trace_file_snappy.cpp: flushReadCache; measured with \
            dump",
    };
    CHUNK_LENGTH_WRONG = Rule {
        code: "AT8003",
        name: "chunk-length-wrong",
        severity: Severity::Error,
        summary: "the length of a chunk does not lead to the next chunk",
        problem: "Each chunk begins with its compressed length. The length is damaged, or bytes of \
            the chunk were lost or added. The next chunk is recognised by its form: full ones \
            begin with `80 80 40` after their length.",
        impact: "apitrace 11.1 loses every call after this chunk. dump prints the calls before it \
            and exits 1, or warns of an unexpected end of file.",
        remedy: Remedy::Fix("Sets the length with which the chunk decodes completely. If there is \
            no such length, keeps the events that can be decoded, adds a placeholder for each lost \
            call, and rewrites the chunk.\n\
            Class: exact if the decoded bytes, compressed again, are the chunk: then none of it \
            was lost or added. Else lossy. Cost: none, or the lost calls.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_file_snappy.cpp: readCompressedLength; measured \
            with dump",
    };
    CHUNK_TOO_LARGE = Rule {
        code: "AT8004",
        name: "chunk-too-large",
        severity: Severity::Error,
        summary: "a chunk is larger than the buffers of readers",
        problem: "The tracer writes chunks of at most 1 MiB, which take at most 1,223,370 \
            compressed bytes. apitrace's buffers have exactly these sizes, and it does not compare \
            the length of a chunk with them.",
        impact: "apitrace 11.1 overwrites its memory and aborts (SIGABRT). dump prints no call.",
        remedy: Remedy::Fix("Rewrites the chunk as chunks of at most 1 MiB.\n\
            Class: synthetic. Cost: none; the stream stays the same.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_file_snappy.cpp: SNAPPY_CHUNK_SIZE, \
            createCache; measured with dump",
    };
    CHUNK_EMPTY = Rule {
        code: "AT8005",
        name: "chunk-empty",
        severity: Severity::Error,
        summary: "a chunk is empty",
        problem: "The chunk holds no byte of the stream. The tracer never writes one; a hole in \
            the file (a block of zeros) looks like this.",
        impact: "apitrace 11.1 parses the previous content of its buffer again. dump stops with \
            for example \"unknown call detail 48\" and exits 1.",
        remedy: Remedy::Fix("Drops the empty chunk.\n\
            Class: exact. Cost: none; the stream stays the same.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_file_snappy.cpp: flushReadCache; measured with \
            dump",
    };
    TRAILING_BYTES = Rule {
        code: "AT8006",
        name: "trailing-bytes",
        severity: Severity::Warning,
        summary: "trailing bytes after the last chunk or compressed stream",
        problem: "The bytes are too few for the length of a further chunk, they follow the end of \
            a compressed stream, or they are zeros that a file system reserved.",
        impact: "apitrace 11.1 ignores the bytes and shows every call.",
        remedy: Remedy::Fix("Drops the trailing bytes.\n\
            Class: lossy. Cost: bytes that belong to no call.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_file_snappy.cpp: readCompressedLength; measured \
            with dump",
    };
    CHECKSUM_WRONG = Rule {
        code: "AT8007",
        name: "checksum-wrong",
        severity: Severity::Error,
        summary: "the checksum does not match the bytes",
        problem: "gzip stores the CRC-32 and the length of the stream, and zstd can store a \
            checksum of each frame (apitrace writes none). They do not match the decoded bytes, \
            although these are a valid trace: bytes of calls are damaged, or the checksum is.",
        impact: "apitrace 11.1 exits 0 without a warning. dump prints 0 of 400 calls of a small \
            trace: zlib returns an error for the last block, and apitrace ignores it. `zstd -t` \
            refuses such a frame.",
        remedy: Remedy::Fix("Writes the length if only the length does not match, and the checksum \
            if one byte of it does not match: damaged calls would change all of its bytes. \
            Otherwise calls are damaged, and a new checksum would hide it: stores the stream in \
            snappy chunks, which have none. Compare the calls with another copy.\n\
            Class: exact; lossy if bytes follow them, or if the container changes. Cost: the \
            evidence of the damage.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "RFC 1952; RFC 8878; apitrace 11.1, lib/trace/trace_file_zlib.cpp; measured \
            with dump",
    };
    SEEK_TABLE_WRONG = Rule {
        code: "AT8008",
        name: "seek-table-wrong",
        severity: Severity::Warning,
        summary: "the seek table does not match the frames in the file",
        problem: "A zstd trace may end with a table that lists its frames. It lists another number \
            of frames than the file has.",
        impact: "Programs that seek by the table read the wrong frames. Programs that read from \
            the beginning are not affected.",
        remedy: Remedy::Fix("Rebuilds the table from the frames.\n\
            Class: exact. Cost: none.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "zstd, contrib/seekable_format/zstd_seekable_compression_format.md; apitrace of \
            January 2026, lib/trace/trace_ostream_zstd.cpp",
    };
    CHUNKS_OUT_OF_ORDER = Rule {
        code: "AT8009",
        name: "chunks-out-of-order",
        severity: Severity::Error,
        summary: "chunks or frames are not in the order in which they were written",
        problem: "A chunk ends anywhere in an event, which continues in the next chunk, and call \
            numbers count up. Here the next chunk does not continue the stream and another one \
            does: parts of the file were swapped, for example by a tool that joins pieces.",
        impact: "apitrace 11.1 parses the wrong chunk in the middle of an event. dump prints the \
            calls before it, then stops with for example \"unknown event 36\" and exits 1.",
        remedy: Remedy::Fix("Puts the chunks in order. The fix is offered only if events and call \
            numbers continue from each chunk to the next.\n\
            Class: exact; lossy if no chunk stays in its place. Cost: none.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_file_snappy.cpp; measured with dump",
    };
    CHUNK_REPEATED = Rule {
        code: "AT8010",
        name: "chunk-repeated",
        severity: Severity::Error,
        summary: "a chunk repeats the beginning of another one",
        problem: "A process that forks without exec has a copy of the tracer's buffer, and writes \
            it to the same file when it exits. The chunk has the same events as the beginning of \
            the chunk that the parent writes.",
        impact: "apitrace 11.1 parses the events twice, the second time in the middle of an event. \
            dump stops with for example \"unknown event 6\" and exits 1.",
        remedy: Remedy::Fix("Drops the copy.\n\
            Class: exact. Cost: none; every byte of the copy is in the other chunk.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace issues 110 and 493; a recording of a screen saver that forks; measured \
            with dump 11.1",
    };
}
