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
    TRACE_CLOCK_MISSING = Rule {
        code: "PD2014",
        name: "trace-clock-missing",
        severity: Severity::Error,
        summary: "a recording of Arm SPE without a TIME_CONV that can be used",
        problem: "TIME_CONV has the shift and the multiplier that turn ticks of the timer into \
            nanoseconds. perf reads it before AUXTRACE_INFO, and divides the time of each sample \
            by the multiplier. The record is missing or follows AUXTRACE_INFO, or the low 32 bits \
            of the multiplier are 0. perf before 5.11 writes no such record on Arm, so in its \
            recordings this is only a warning.",
        impact: "On x86, perf script and perf report of 6.1 and 7.2 die at the first sample with \
            a time (SIGFPE), also with --no-itrace. An Arm processor divides by 0 without a trap.",
        remedy: Remedy::Fix(
            "Adds a TIME_CONV, or sets the multiplier, so that a tick is a nanosecond.\n\
             Class: synthetic if the record is added, otherwise lossy. Cost: none; the times of \
             samples stay. Times inside the traces are ticks.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/tsc.c: perf_time_to_tsc; tools/perf/util/arm-spe.c: \
            arm_spe_process_event; measured with perf 6.1, 6.12 and 7.2",
    };
    TRACE_BUFFER_IMPOSSIBLE = Rule {
        code: "PD2015",
        name: "trace-buffer-impossible",
        severity: Severity::Error,
        summary: "an AUXTRACE record names a buffer that cannot exist",
        problem: "An AUXTRACE record names the buffer of its trace: its number (idx), and the \
            thread or the CPU to which it belongs. perf keeps a queue for each number up to idx, \
            and looks up the thread of the CPU. The number is above 2^26, the CPU above the \
            limit of the kernel, or there is neither a thread nor a CPU.",
        impact: "perf script ends without a sample (exit 234 or 244); with an idx of 2^32 - 1, \
            perf 6.1 crashes (SIGSEGV). With --no-itrace they show all samples.",
        remedy: Remedy::Fix(
            "Writes the buffer of which the record continues the trace; without such a buffer, \
             that of the same thread and CPU, or a number that no other buffer has.\n\
             Class: exact if the record continues the trace, otherwise lossy. Cost: none; the \
             trace may be decoded for another CPU.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/auxtrace.c: auxtrace_queues__grow; measured with perf \
            6.1, 6.12 and 7.2",
    };
    TRACE_SIZE_WRONG = Rule {
        code: "PD2016",
        name: "trace-size-wrong",
        severity: Severity::Error,
        summary: "the size of a trace is not that of its bytes",
        problem: "The size in an AUXTRACE record counts the bytes of the trace, which follow the \
            record. No record begins at their end, or they end after the file. Complete \
            records follow other bytes, where an AUX record or the next AUXTRACE of the buffer \
            has the end of the trace.",
        impact: "perf script reads bytes of the trace as records, or skips records as a part of \
            it: it ends without a sample (exit 234, 254 or 255), crashes (SIGBUS), or shows fewer \
            samples and exits 0.",
        remedy: Remedy::Fix(
            "Writes the number of bytes up to the next record.\n\
             Class: exact if an AUX or AUXTRACE record has the same end, otherwise lossy. Cost: \
             none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/session.c: perf_session__process_user_event; measured \
            with perf 6.1, 6.12 and 7.2",
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
