//! Rules of records: framing, fields, ids and times.

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    TRUNCATED_RECORD = Rule {
        code: "PD1001",
        name: "truncated-record",
        severity: Severity::Error,
        summary: "the last record is truncated",
        problem: "The recorder, the disk or the copy ended in the middle of the record.",
        impact: "perf 6.1 shows all complete records of a pipe recording and warns (\"unexpected \
            end of event stream\"). In a data.N file of perf record --threads it stops with an \
            error.",
        remedy: Remedy::Fix(
            "Drops the bytes of the truncated record. Of a truncated compressed record, \
             the complete blocks stay.\n\
             Class: lossy. Cost: the truncated record.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/session.c: __perf_session__process_pipe_events; \
            measured",
    };
    RECORD_TOO_SMALL = Rule {
        code: "PD1002",
        name: "record-too-small",
        severity: Severity::Error,
        summary: "header.size of a record is less than 8, or less than its fields need",
        problem: "A record has a header of 8 bytes. A page that was lost and is zero now looks \
            like this. The size of a record places the next one, so the next record has to \
            be searched for. One flipped bit makes a size smaller than the fields of the record.",
        impact: "perf script 6.1 exits 234 without a sample. perf report shows nothing and \
            exits 0.",
        remedy: Remedy::Fix(
            "If the fields of one record fill the bytes up to the next record, sets its size; if \
             the type is invalid, also that, which is that of a sample or the only one that fits, \
             and whether the kernel or a user was interrupted, by the address. Otherwise drops the \
             bytes up to the next place at which four records follow one another with valid \
             headers. If there is no such place, drops the rest.\n\
             Class: exact for the size of a record at the time of the one before, unless 8 zeros \
             follow the size, or a sample lacks the fields of its event; otherwise lossy. If 16 \
             zeros follow it, the record is dropped. Cost: the records in the dropped bytes.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/session.c: reader__read_event; measured",
    };
    RECORD_PAST_END = Rule {
        code: "PD1003",
        name: "record-past-end",
        severity: Severity::Error,
        summary: "a record ends after the end of the records, or of its own fields",
        problem: "The size of the record, or of an earlier one, is wrong. Or bytes of it are \
            missing, so that the records after it are in the place of its fields.",
        impact: "perf script 6.1 exits 234 without a sample. perf report shows nothing and \
            exits 0.",
        remedy: Remedy::Fix(
            "If the fields of the record fill the bytes up to the next record, sets its size. \
             Otherwise drops the bytes up to the next place at which four records follow one \
             another with valid headers. If there is no such place, drops the rest.\n\
             Class: exact for the size of a record as PD1002 has it; otherwise lossy. Cost: the \
             records in the dropped bytes.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/session.c: reader__read_event; measured",
    };
    RECORD_TYPE_INVALID = Rule {
        code: "PD1004",
        name: "record-type-invalid",
        severity: Severity::Error,
        summary: "invalid record type",
        problem: "The kernel writes types from 1, perf writes types from 64. A type of 0 or \
            above 127 is damage.",
        impact: "perf script 6.1 exits 234 without a sample. perf report shows nothing and \
            exits 0.",
        remedy: Remedy::Fix(
            "If the bytes up to the next record are a sample, or the fields of only one type fill \
             them, sets the header (PD1007 if only the type is damaged). Otherwise drops the bytes \
             up to the next place at which four records follow one another with valid headers, \
             which often is the next record.\n\
             Class: lossy. Cost: the records in the dropped bytes.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/session.c: perf_session__process_event; measured",
    };
    UNKNOWN_RECORD = Rule {
        code: "PD1005",
        name: "unknown-record",
        severity: Severity::Info,
        summary: "unknown record type",
        problem: "Newer versions of the kernel and of perf add types. The record has a valid \
            header and is kept.",
        impact: "A perf that does not know the type stops there: perf script 6.1 shows the \
            samples before the record at most, and exits 234 or 255.",
        remedy: Remedy::Next(
            "Read the file with a perf that is at least as new as the recorder.",
        ),
        source: "perf 6.1, tools/perf/util/session.c: perf_session__process_event; measured",
    };
    RECORD_UNALIGNED = Rule {
        code: "PD1006",
        name: "record-unaligned",
        severity: Severity::Warning,
        summary: "the size of a record is not a multiple of 8",
        problem: "The kernel writes records in multiples of 8 bytes, and so does perf 7 with its \
            own. Earlier versions of perf write some of their own in other sizes, which PD2012 \
            covers.",
        impact: "perf 6.1 shows all samples. perf 7.2 ends at the record without a sample (\"event \
            size is not 8-byte aligned\", exit 234), so this is an error if perf 7 or an unknown \
            version recorded.",
        remedy: Remedy::Fix(
            "If it is an error, adds zeros after a record of perf and sets its size. Drops a \
             record of the kernel, and a HEADER_ATTR. Otherwise nothing has to be done.\n\
             Class: lossy. Cost: the size, or the record.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "Linux, kernel/events/core.c: perf_output_begin; perf 7.2, \
            tools/perf/util/session.c: perf_session__process_event; measured with perf 6.1, 6.12 \
            and 7.2",
    };
    RECORD_TYPE_DAMAGED = Rule {
        code: "PD1007",
        name: "record-type-damaged",
        severity: Severity::Error,
        summary: "the type of a record is damaged",
        problem: "The type differs from SAMPLE (9) in one bit, and the body is a sample: it has \
            the size that its fields give, an event that exists and a time close to that of the \
            record before it. No later type has the fields of a sample; if the type is a known \
            one, its own fields do not fit, or give a time that is far away. Or a HEADER_ATTR (64) \
            has no attr, but the fields of a HEADER_FEATURE (80). Or the type is above 127, which \
            no kernel and no perf writes, and the record has all fields of the known type that \
            differs in one bit. Or the type is 0, or other bits of it are damaged, and the record \
            is a sample, or has the fields of only one type. Or the type is far above those \
            that exist: the kernel has types up to 22 and perf up to 86, and at the rate of the \
            past, types above 34 and 98 come in nine years. VERSION, in a pipe if it comes before, \
            shows which types perf had and asked the kernel for: those of perf 6.12 end with 82 \
            and 21.",
        impact: "perf script 6.1 misses the sample, or stops at an unknown type: it then shows the \
            samples before the record at most, and exits 234 or 255. perf 6.16 and later skip the \
            record if its type is above those of perf.",
        remedy: Remedy::Fix(
            "Sets the type that differs in one bit and whose fields the record has, if there is \
             only one. Otherwise drops the record.\n\
             Class: exact for a sample with a time and an event, and for a type above 127 whose \
             other bits name the type that fits, if all samples have the fields of their events; \
             otherwise lossy. Cost: the type, or the record.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/session.c: perf_session__process_event, \
            machines__deliver_event; measured",
    };
    ATTR_AFTER_SAMPLES = Rule {
        code: "PD1008",
        name: "attr-after-samples",
        severity: Severity::Error,
        summary: "the attrs of a pipe come after its samples",
        problem: "A HEADER_ATTR record describes the samples after it. perf record -o - \
            --tail-synthesize writes it last.",
        impact: "perf 6.1, 6.12 and 7.2 end at the first sample and show none.",
        remedy: Remedy::Fix(
            "Moves the HEADER_ATTR records before all other records.\n\
             Class: synthetic. Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 7.2, tools/perf/builtin-record.c: record__synthesize; measured with perf \
            6.1, 6.12 and 7.2",
    };
    ATTR_IN_FILE = Rule {
        code: "PD1009",
        name: "attr-in-file",
        severity: Severity::Error,
        summary: "a HEADER_ATTR record gives an id of another event",
        problem: "Pipes describe their events in HEADER_ATTR records, files in their attr table. \
            perf takes a HEADER_ATTR in a file for a further event. This one has an id that the \
            attr table gives to another event.",
        impact: "perf 6.1 shows the samples with this id under the wrong event.",
        remedy: Remedy::Fix(
            "Drops the record.\n\
             Class: lossy. Cost: the record; no sample.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/session.c: perf_session__process_user_event; measured",
    };
    SAMPLE_MALFORMED = Rule {
        code: "PD2001",
        name: "sample-malformed",
        severity: Severity::Error,
        summary: "the fields of a sample do not fit in its record, or all are 0",
        problem: "A count or a size in the sample exceeds the record, or the record is too short \
            for the fields of sample_type. Or all fields are 0, even the time: the bytes were \
            lost.",
        impact: "perf script 6.1 stops at the sample (\"Can't parse sample, err = -14\", exit \
            242). perf report shows nothing and exits 0. A sample of zeros is shown as one of \
            swapper at address 0.",
        remedy: Remedy::Fix(
            "Drops the sample.\n\
             Class: lossy. Cost: the sample.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data\n\
             If every sample of an event is malformed, its attr is damaged and not the \
             samples. Compare the attr with another copy before you drop them.",
        ),
        source: "perf 6.1, tools/perf/util/evsel.c: evsel__parse_sample; measured",
    };
    SAMPLE_TRAILING_BYTES = Rule {
        code: "PD2002",
        name: "sample-trailing-bytes",
        severity: Severity::Warning,
        summary: "a sample has trailing bytes after its last field",
        problem: "The record is longer than the fields of sample_type. The sample may belong to \
            another attr, or sample_type has lost a bit. If the bytes are complete records, its \
            header.size is damaged; this is an error.",
        impact: "perf 6.1 ignores the bytes and shows the sample, but not the records in them.",
        remedy: Remedy::Fix(
            "If the bytes are complete records, sets header.size to the end of the fields.\n\
             Class: exact. Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data\n\
             Otherwise nothing has to be done if a few samples are affected. If all samples of an \
             event are, compare its attr with another copy of the file.",
        ),
        source: "perf 6.1, tools/perf/util/evsel.c: evsel__parse_sample; measured",
    };
    RECORD_MALFORMED = Rule {
        code: "PD2003",
        name: "record-malformed",
        severity: Severity::Error,
        summary: "the fields of a record do not fit in it",
        problem: "A count, a size or a string in the record exceeds it, or the type of a CPU_MAP \
            or the number of a HEADER_FEATURE (0, or above 53) is unknown. An AUXTRACE_INFO has \
            type 0 or an unknown one, fewer data than its tracer needs, or a word that contradicts \
            the others, the events or the traces: the number of CPUs, a CPU, its magic, the number \
            of parameters, the PMU, the clock. The records of the kernel about CoreSight have an \
            unknown flag, version or CPU, those about Intel PT a CPU that cannot exist. The type \
            of an AUXTRACE_ERROR is negative. The numbers in a feature of a pipe contradict one \
            another, or the CPU_TOPOLOGY of a pipe of perf 7 comes without NRCPUS. An EVENT_UPDATE \
            has a name for an id that the only event does not have.",
        impact: "MMAP, COMM and other records with a name: perf 6.1 reads on past the end, and \
            shows all samples, some with a wrong name. HEADER_FEATURE in a pipe, CPU_MAP and \
            AUXTRACE_INFO: perf script ends there without a sample (exit 234, 242 or 244), or \
            crashes, as perf 6.1 does at an AUXTRACE_ERROR. EVENT_UPDATE: perf shows all samples \
            under the name in it. Other records: perf may read what \
            follows as their fields.",
        remedy: Remedy::Fix(
            "Drops the record. Writes a word of AUXTRACE_INFO that the others determine, and the \
             id of an EVENT_UPDATE if one byte of it is wrong. Adds \
             NRCPUS if CPU_TOPOLOGY determines it.\n\
             Class: lossy; synthetic for NRCPUS. Cost: the record. Samples may lose the name of \
             their process or binary.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "include/uapi/linux/perf_event.h; perf 6.1, tools/perf/util/event.c; measured",
    };
    UNKNOWN_EVENT_ID = Rule {
        code: "PD2005",
        name: "unknown-event-id",
        severity: Severity::Error,
        summary: "a record has an event id that no attr lists",
        problem: "A recording with several events finds the attr of a sample, and of the sample_id \
            at the end of other records, by the id. Without the attr the record cannot be read. \
            A HEADER_ATTR in a file is one event more. The values of counters in a sample \
            (PERF_SAMPLE_READ) have ids of their own.",
        impact: "perf script 6.1 exits 242 without a sample. perf report shows nothing and \
            exits 0. A counter value with an unknown id is left out, also by perf script.",
        remedy: Remedy::Fix(
            "Drops the record.\n\
             Class: lossy. Cost: the record.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data\n\
             If all samples of an event have unknown ids, its ids section is damaged and \
             not the samples. Compare it with another copy before you drop them.",
        ),
        source: "perf 6.1, tools/perf/util/evlist.c: evlist__event2evsel; util/session.c: \
            deliver_sample_value; measured",
    };
    TRACEPOINT_DATA_WRONG = Rule {
        code: "PD2010",
        name: "tracepoint-data-wrong",
        severity: Severity::Error,
        summary: "a sample has the data of a tracepoint that the recording lacks",
        problem: "The raw data of a tracepoint's sample begin with its id (common_type), by which \
            perf finds the format of the data. No attr has this id, so the data are damaged. \
            perf inject 6.1 writes such samples for sleep times, with the id 0.",
        impact: "perf script and perf report 6.1 crash (SIGSEGV): they print the data by a format \
            that does not exist.",
        remedy: Remedy::Fix(
            "Sets common_type to the tracepoint of the sample's event, if the data have the thread \
             of the sample (common_pid). Otherwise drops the sample. If no sample of the event has \
             its tracepoint, config of the attr may be the damaged field, and nothing is changed \
             here: PD0026 restores config if TRACING_DATA confirms it.\n\
             Class: lossy. Cost: the type, or the sample.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/trace-event-parse.c: event_format__fprintf; \
            libtraceevent, event-parse.c: tep_print_event; measured",
    };
    SAMPLE_CONTRADICTED = Rule {
        code: "PD2017",
        name: "sample-contradicted",
        severity: Severity::Warning,
        summary: "a value of a sample contradicts the rest of the recording",
        problem: "A sample names the event dummy, which counts nothing; or its raw data have the \
            id of another tracepoint (common_type) than the event of the sample. In a recording of \
            64 samples or more: one sample alone has a mode (the lowest bits of misc) that is not \
            defined, that of a guest, or one that contradicts its address; one sample alone has a \
            thread that no COMM, FORK or MMAP names, and no record was lost; a time is more than \
            an hour from those of the samples before and after it, without a SAMPLE_TIME.",
        impact: "perf 6.1 shows the sample under the wrong event, thread or time, or its address \
            without a symbol.",
        remedy: Remedy::Next(
            "Do not rely on this sample. The right value cannot be determined.",
        ),
        source: "Linux, kernel/events/core.c: perf_swevent_init, perf_misc_flags; perf 6.1, \
            tools/perf/util/machine.c: machine__findnew_thread; measured",
    };
    SAMPLE_CPU_IMPOSSIBLE = Rule {
        code: "PD2011",
        name: "sample-cpu-impossible",
        severity: Severity::Error,
        summary: "the CPU of a sample is one that no machine has",
        problem: "Linux supports 8,192 CPUs at most. The number is at least 65,536, and not -1, \
            which stands for an unknown CPU.",
        impact: "If the file has CPU_TOPOLOGY, perf script and perf report 6.1 look up the socket \
            of the CPU there, and crash (SIGSEGV). Otherwise they show the number.",
        remedy: Remedy::Fix(
            "Drops the sample.\n\
             Class: lossy. Cost: the sample.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/event.c: machine__resolve; measured",
    };
    COUNT_UNLISTED = Rule {
        code: "PD2009",
        name: "count-unlisted",
        severity: Severity::Error,
        summary: "a count of perf stat has a CPU or thread that no map lists",
        problem: "perf stat record writes a THREAD_MAP and a CPU_MAP before the first count \
            (STAT), which has the number of a CPU and of a thread, and before the first \
            STAT_ROUND. A map is missing or damaged, or a number of the count is damaged.",
        impact: "perf script and perf stat report 6.1 stop at the count (\"Invalid CPU\" or \
            \"Failed to find perf count\", exit 234), or crash at STAT_ROUND. perf report shows no \
            counts.",
        remedy: Remedy::Fix(
            "Adds the missing maps: CPU_MAP with the CPUs of the counts, THREAD_MAP with unnamed \
             threads. If the maps list less than half of the counts, they are written again; \
             otherwise the other counts are dropped.\n\
             Class: synthetic, or lossy if a map is written again or counts are dropped. \
             Cost: the pids of the threads, or the counts.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/stat.c: perf_event__process_stat_event; measured",
    };
    TIME_BEFORE_ROUND = Rule {
        code: "PD3001",
        name: "time-before-round",
        severity: Severity::Warning,
        summary: "records are older than a finished round",
        problem: "FINISHED_ROUND promises that no older record follows, so that a reader can \
            sort and show the records before it. The times are damaged, or the clocks of \
            the CPUs differ.",
        impact: "perf 6.1 shows these records out of order.",
        remedy: Remedy::Next(
            "Nothing has to be done if the order does not matter. The right time of a \
             record cannot be determined.",
        ),
        source: "perf 6.1, tools/perf/util/ordered-events.c: __ordered_events__flush",
    };
}
