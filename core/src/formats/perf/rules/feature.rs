//! Rules of the features: their table, their sections, and their agreement with the records.

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    FEATURE_OUTSIDE = Rule {
        code: "PD0010",
        name: "feature-outside",
        severity: Severity::Error,
        summary: "feature sections lie outside the file or before the end of the records",
        problem: "The file was truncated inside its features, or entries of the feature table \
            are damaged. The records are complete.",
        impact: "perf 6.1 shows all samples of an uncompressed file, but without the lost \
            features. With compressed records perf report --header-only crashes (SIGSEGV).",
        remedy: Remedy::Fix(
            "Clears the flags of the lost features and keeps the others. Builds the \
             features that the records need (COMPRESSED, STAT, DIR_FORMAT).\n\
             Class: lossy. Cost: the rest of the truncated sections; no record.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/header.c: perf_header__process_sections; measured",
    };
    FEATURE_MISSING = Rule {
        code: "PD0011",
        name: "feature-missing",
        severity: Severity::Error,
        summary: "the records need a feature that the header does not flag, or that cannot be read",
        problem: "Compressed records need COMPRESSED, records of perf stat need STAT, and data.N \
            files need DIR_FORMAT.",
        impact: "perf report 6.1 shows nothing and exits 0. Without COMPRESSED or STAT perf \
            script exits 255 without a sample; without DIR_FORMAT perf ignores the data.N \
            files.",
        remedy: Remedy::Fix(
            "Adds the feature, with values that the records imply, and drops one that cannot be \
             read. mmap_len is at least 528384, the value of perf record.\n\
             Class: synthetic; lossy if one is dropped, if bytes that no flag leads to follow the \
             records, or if STAT is needed for a single record, whose type may be damaged.\n\
             Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/session.c: perf_session__process_compressed_event; \
            measured",
    };
    UNKNOWN_FEATURE = Rule {
        code: "PD0012",
        name: "unknown-feature",
        severity: Severity::Info,
        summary: "unknown feature",
        problem: "Newer versions of perf add features: perf 6.1 and 6.12 know those up to 31, \
            later ones CPU_DOMAIN_INFO (32), E_MACHINE (33) and CLN_SIZE (34).",
        impact: "perf skips unknown features of a file, but at one in a pipe perf report stops, \
            shows no sample and exits 0. perf script shows all samples.",
        remedy: Remedy::Next(
            "Nothing has to be done. Read the file with a perf that is at least as new as the \
             recorder to see the feature.",
        ),
        source: "perf 6.1, tools/perf/util/header.c: perf_file_section__process; \
            tools/perf/builtin-report.c: process_feature_event; measured",
    };
    TRAILING_BYTES = Rule {
        code: "PD0013",
        name: "trailing-bytes",
        severity: Severity::Warning,
        summary: "trailing bytes at the end of the file",
        problem: "The bytes belong to no section and no record. A file that was written over a \
            longer one keeps the old tail.",
        impact: "perf 6.1 ignores the bytes and shows all samples.",
        remedy: Remedy::Fix(
            "Drops the trailing bytes.\n\
             Class: lossy. Cost: the trailing bytes; no record and no feature.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/header.c: perf_header__process_sections",
    };
    MACHINE_MISSING = Rule {
        code: "PD0031",
        name: "machine-missing",
        severity: Severity::Warning,
        summary: "features of the machine are lost, and the donor has them",
        problem: "perf record writes host, kernel, processor, topologies and build ids when it \
            exits, so a recording that crashed has none of them. Another recording of the same \
            machine has the same. It is reported only with a donor.",
        impact: "perf report --header-only shows nothing of the machine. Without build ids, perf \
            takes the files of the machine on which it runs, and shows their symbols.",
        remedy: Remedy::Fix(
            "Adds the features of the donor that describe the machine and not the recording, and \
             the build ids of the files that the recording maps. A donor is only used if its \
             kernel lies at the same address, which differs with each start of a machine, and if \
             no feature that is left shows another host, kernel, architecture or processor.\n\
             Class: synthetic; lossy if other bytes are where the features go. Cost: none. A file \
             that changed between the two recordings has another build id. If the kernel always \
             lies at the same address (nokaslr), two machines with one kernel look alike.\n\
             Run:\n\
             \x20 perf record -o donor.data -- true\n\
             \x20 tracemend repair perf.data --donor donor.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/header.c: write_* functions; measured",
    };
    PART_MISSING = Rule {
        code: "PD0032",
        name: "part-missing",
        severity: Severity::Error,
        summary: "a data.N file of a perf directory is missing",
        problem: "perf record --threads writes the records of each thread into a file of its own: \
            data.0, data.1 and so on, without a gap. The files were copied or packed \
            incompletely, the file `data` was taken out of its directory, or a file that is not \
            one of them has such a name. One file may be a copy of another, or the sample at the \
            start or the end of SAMPLE_TIME may be missing. Otherwise a missing last file does \
            not show. An empty file is usual: no event occurred on that CPU.",
        impact: "perf 6.1 shows the records of the files that exist and does not mention the \
            others, and shows the samples of a copy twice. Without any of them, perf report ends \
            (no samples), which is an error. The other cases are warnings.",
        remedy: Remedy::Next("Copy the complete directory from the machine that recorded it."),
        source: "perf 6.1, tools/perf/util/data.c: perf_data__create_dir, perf_data__open_dir; \
            measured",
    };
    TRACING_DATA_MISSING = Rule {
        code: "PD0019",
        name: "tracing-data-missing",
        severity: Severity::Error,
        summary: "tracepoint events without TRACING_DATA",
        problem: "Only TRACING_DATA describes the fields of tracepoints, and perf record writes \
            it when it exits. Ids and fields of tracepoints differ between kernels, so a \
            description from another kernel makes every sample wrong without a warning.",
        impact: "perf 6.1 refuses the file (\"incompatible file format\", exit 255). If a pipe \
            recording lacks it, perf script crashes (SIGSEGV).",
        remedy: Remedy::Fix(
            "Takes TRACING_DATA from a donor: a complete recording of the same kernel and \
             events. tracemend refuses a donor that does not describe every tracepoint, or \
             whose sizes contradict a sample. Without a donor it builds a TRACING_DATA that \
             describes the tracepoints without their fields: perf shows every sample with its \
             time and thread, and `fields lost` instead of the fields. The names are those in \
             EVENT_DESC, or `unknown:tracepoint_ID`. A lost EVENT_DESC is built with these \
             names.\n\
             Class: synthetic; lossy if other bytes are where TRACING_DATA goes, or if a \
             tracepoint has no id or no raw data, so that the type of its attr may be damaged. \
             Cost: none. With a donor, the names of the fields cannot be verified.\n\
             Run:\n\
             \x20 perf record -e EVENTS -o donor.data -- true\n\
             \x20 tracemend repair perf.data --donor donor.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/header.c: evlist__prepare_tracepoint_events; \
            util/trace-event-read.c; measured",
    };
    FEATURE_MALFORMED = Rule {
        code: "PD2004",
        name: "feature-malformed",
        severity: Severity::Warning,
        summary: "the content of a feature does not fit its section",
        problem: "A length or count inside the feature exceeds the section that the feature \
            table gives it.",
        impact: "perf 6.1 skips the feature or shows a wrong value, and shows all samples. For \
            HOSTNAME, for example, perf report --header-only prints (null). A text without any \
            bytes is only information: perf 3.14 writes CPUDESC so on ARM. A name in EVENT_DESC \
            without a NUL is an error: perf before 7 shows samples under the bytes after it.",
        remedy: Remedy::Fix(
            "Removes the feature and its entry in the feature table. Builds it again if \
             the records need it.\n\
             Class: lossy. Cost: the content of this feature; no record and no other \
             feature.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data\n\
             To keep the feature as it is:\n\
             \x20 tracemend repair perf.data --safety synthetic -o repaired.data\n\
             If several features are malformed at once, a wrong feature bit in the header \
             is more likely: it assigns every later section to the wrong feature. Compare \
             with another copy before you drop them.",
        ),
        source: "perf 6.1, tools/perf/util/header.c; measured with perf 6.1",
    };
    FEATURE_FATAL = Rule {
        code: "PD2006",
        name: "feature-fatal",
        severity: Severity::Error,
        summary: "a malformed feature at which perf fails",
        problem: "A length or count inside the feature exceeds the section that the feature \
            table gives it, TRACING_DATA does not describe a tracepoint of the recording, or the \
            text of a format in it is malformed: a word, a number or a mark is not one that the \
            kernel writes, or the text to print has an open quote or an unknown field. perf 6.1 \
            fails at this in CMDLINE, CPU_TOPOLOGY, PMU_MAPPINGS and TRACING_DATA, and at a build \
            id of more than 20 bytes in BUILD_ID. perf 7, which reads the features before the \
            records, fails in every feature but BUILD_ID and EVENT_DESC, so this also covers a \
            recording that perf 7 or an unknown version of perf wrote, and features that \
            contradict one another or have impossible numbers: more CPUs online than available, a \
            CPU_TOPOLOGY without NRCPUS, a list longer than that of any machine. \
            PD2004 covers all other features.",
        impact: "perf 6.1 crashes (SIGSEGV). With a malformed PMU_MAPPINGS or a truncated CMDLINE, \
            perf script and perf report show no sample; with a wrong count in CMDLINE or \
            CPU_TOPOLOGY, perf report --header-only crashes. With a malformed TRACING_DATA, perf \
            refuses the file (exit 255), crashes, does not end, or shows wrong fields. A build id \
            that is too long overwrites the stack, and every command aborts (SIGABRT). perf 7.2 \
            refuses the file (\"incompatible file format\", exit 255).",
        remedy: Remedy::Fix(
            "Removes the feature and its entry in the feature table, and those that are read by \
             it. TRACING_DATA is built again from the formats in it that are left; a tracepoint \
             without one is shown without its fields. NRCPUS is written again if CPU_TOPOLOGY \
             determines it.\n\
             Class: lossy; exact or synthetic for NRCPUS. Cost: the content of this feature; no \
             record and no other feature.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data\n\
             If several features are malformed at once, a wrong feature bit in the header \
             is more likely: it assigns every later section to the wrong feature. Compare \
             with another copy before you drop them.",
        ),
        source: "perf 6.1, tools/perf/util/header.c: process_cmdline, process_pmu_mappings, \
            evlist__prepare_tracepoint_events; measured with perf 6.1",
    };
    NEWER_REFUSES = Rule {
        code: "PD2012",
        name: "newer-perf-refuses",
        severity: Severity::Info,
        summary: "a newer perf refuses a file that the perf that recorded reads",
        problem: "perf 7 is stricter than earlier versions. It demands the size of each record to \
            be a multiple of 8, NRCPUS beside CPU_TOPOLOGY, and numbers in the features that fit \
            each other: no more CPUs online than available, an mmap_len in COMPRESSED of complete \
            pages, lists that are not longer than those of any machine. The perf that recorded \
            (VERSION) is an earlier one and reads the recording.",
        impact: "perf 7.2 refuses the file (\"incompatible file format\", exit 255), or ends at \
            the record (exit 234). perf 6.1 and 6.12 show all samples.",
        remedy: Remedy::Next(
            "Nothing has to be done. Read the file with a perf of the version that recorded, or \
             with one before 7.",
        ),
        source: "perf 7.2, tools/perf/util/header.c and util/session.c; measured with perf 6.1, \
            6.12 and 7.2",
    };
    SAMPLE_TIME_WRONG = Rule {
        code: "PD3002",
        name: "sample-time-wrong",
        severity: Severity::Warning,
        summary: "SAMPLE_TIME does not enclose the samples",
        problem: "SAMPLE_TIME is the time of the first and of the last sample. At least 3 samples \
            lie beyond one of the two, and no sample has that time.",
        impact: "perf report 6.1 --time and perf script --time with percentages select the \
            wrong samples, or none. Without --time all samples are shown.",
        remedy: Remedy::Fix(
            "Writes the time of the first or last sample, if a sample has the other time of \
             SAMPLE_TIME and nothing else is damaged. Otherwise there is no fix.\n\
             Class: exact. Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/time-utils.c: perf_time__parse_for_ranges; measured",
    };
    SAMPLE_OUTSIDE_TIME = Rule {
        code: "PD3004",
        name: "sample-outside-time",
        severity: Severity::Warning,
        summary: "a sample lies outside of SAMPLE_TIME",
        problem: "perf record saw the times of all samples when it wrote SAMPLE_TIME, so the time \
            of this one was damaged later, or SAMPLE_TIME was.",
        impact: "perf 6.1 shows the sample at the wrong time.",
        remedy: Remedy::Fix(
            "Writes the end of SAMPLE_TIME into the sample if no other sample has that time, the \
             two differ in at most 3 bits, the sample is out of order, and nothing else is \
             damaged. Otherwise there is no fix: nothing shows the right time.\n\
             Class: exact. Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/builtin-record.c: process_sample_event; measured",
    };
    MMAP_LEN_SMALL = Rule {
        code: "PD3003",
        name: "mmap-len-small",
        severity: Severity::Error,
        summary: "mmap_len in COMPRESSED is smaller than an expanded record",
        problem: "perf allocates mmap_len bytes for the expansion of each compressed record.",
        impact: "perf script 6.1 and perf report lose the samples that do not fit, and exit 0. The \
            only sign is a message (\"failed to decompress\") if not even one block fits.",
        remedy: Remedy::Fix(
            "Sets mmap_len to the ring buffer size that differs from it in at most 2 bits, or \
             else to complete pages that hold the longest expansion, and to at least 528384, the \
             value of perf record.\n\
             Class: exact; lossy if no size is near. Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/session.c: perf_session__process_compressed_event; \
            measured",
    };
    MMAP_LEN_LARGE = Rule {
        code: "PD3005",
        name: "mmap-len-large",
        severity: Severity::Error,
        summary: "mmap_len in COMPRESSED is larger than any ring buffer",
        problem: "mmap_len is the size of the ring buffer of perf record: a power of two of \
            pages and one more, at most 1 GiB where pages have 4 KiB.",
        impact: "perf script and perf report map mmap_len bytes for each compressed record. Where \
            the machine has less memory, they show no record after the first compressed one \
            (Couldn't allocate memory for decompression).",
        remedy: Remedy::Fix(
            "Sets mmap_len to the ring buffer size that differs from it in at most 2 bits, or \
             else to complete pages that hold the longest expansion, and to at least 528384, the \
             value of perf record.\n\
             Class: exact; lossy if no size is near. Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/session.c: perf_session__process_compressed_event; \
            Linux 6.1, kernel/events/ring_buffer.c: rb_alloc; measured",
    };
}
