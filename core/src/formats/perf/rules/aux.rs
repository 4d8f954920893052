//! Rules of traces of the processor (AUX data).

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    AUX_INDEX_WRONG = Rule {
        code: "PD0039",
        name: "aux-index-wrong",
        severity: Severity::Error,
        summary: "AUXTRACE does not list the AUXTRACE records of the recording",
        problem: "The feature AUXTRACE is an index: the number of AUXTRACE records, and place and \
            size of each. The records are complete, so the index is damaged. An index without \
            entries, or of a recording without such records, is only a warning.",
        impact: "With a wrong size, perf script and perf report end without a sample (exit 234); \
            with a place outside of the file, perf 6.1 crashes (SIGSEGV) and perf 7.2 exits 255. \
            A trace that is not listed, or at whose place another record is, is left out without \
            a message; one that is listed twice is decoded wrongly. Without entries, perf takes \
            the records as they come.",
        remedy: Remedy::Fix(
            "Writes the number, the places and the sizes of the records.\n\
             Class: exact; lossy if the recording has no such record. Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/auxtrace.c: auxtrace_queues__process_index; measured \
            with perf 6.1 and 7.2",
    };
    TRACER_UNKNOWN = Rule {
        code: "PD2013",
        name: "tracer-unknown",
        severity: Severity::Error,
        summary: "traces of the processor without AUXTRACE_INFO",
        problem: "AUXTRACE_INFO names the tracer (Intel PT, Arm SPE, CoreSight or another one), \
            and how it was set up. The record is missing, so nothing can decode the traces in the \
            AUXTRACE records.",
        impact: "perf script and perf report end at the first trace without a sample (failed to \
            process type: 71, exit 234). With --no-itrace they show all samples.",
        remedy: Remedy::Fix(
            "Drops the traces.\n\
             Class: lossy. Cost: the traces; no sample.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data\n\
             To keep the traces for another tool, read the file as it is:\n\
             \x20 perf script --no-itrace -i perf.data",
        ),
        source: "perf 6.1, tools/perf/util/auxtrace.c: perf_event__process_auxtrace; measured \
            with perf 6.1 and 7.2",
    };
    TRACE_MISSING = Rule {
        code: "PD3006",
        name: "trace-missing",
        severity: Severity::Warning,
        summary: "AUX records tell of bytes of a trace that no AUXTRACE has",
        problem: "For each part of a trace, the kernel writes an AUX record with its place in the \
            buffer, and the recorder copies the part into an AUXTRACE record. The AUXTRACE of \
            that place is missing, or place or size of one of the two is damaged. Buffers that \
            are written over and over (snapshots) are not compared.",
        impact: "perf shows nothing of this part of the trace. For CoreSight it warns (Couldn't \
            find auxtrace buffer for aux_offset), for other tracers it does not.",
        remedy: Remedy::Next(
            "Nothing has to be done if the samples are enough. The trace itself is not in the \
             recording: record again, or take another copy.",
        ),
        source: "perf 6.1, tools/perf/util/cs-etm.c: cs_etm__queue_aux_records_cb; Linux, \
            kernel/events/ring_buffer.c: perf_aux_output_end",
    };
    TRACE_DAMAGED = Rule {
        code: "PD3007",
        name: "trace-damaged",
        severity: Severity::Warning,
        summary: "bytes of a trace are not those of its tracer",
        problem: "A trace has a structure that can be checked without decoding branches. Intel PT: \
            packets from one PSB to the next. Arm SPE: packets, each with a header. CoreSight: \
            frames of 16 bytes with numbers of sources. The bytes have a header or a number that \
            does not exist, or 512 zeros or more between packets. Not judged are the beginning of \
            a trace of Intel PT up to its first PSB, traces of which bytes were lost or written \
            over while recording, and packets that occur again and again.",
        impact: "perf skips to the next place at which it can decode, and counts an instruction \
            trace error (perf script --itrace=e shows it), or prints Bad packet in perf script -D. \
            All samples are shown.",
        remedy: Remedy::Next(
            "Nothing has to be done. The rest of the trace can be decoded; the right bytes cannot \
             be determined.",
        ),
        source: "Intel SDM, volume 3, Intel Processor Trace; Arm Architecture Reference Manual, \
            Statistical Profiling Extension; Arm CoreSight Architecture Specification; measured \
            with perf 6.1 and 7.2",
    };
}
