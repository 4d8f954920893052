//! Rules of the header and of the attrs.

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    HEADER_TRUNCATED = Rule {
        code: "PD0001",
        name: "header-truncated",
        severity: Severity::Error,
        summary: "the file is shorter than its header",
        problem: "A reader needs 16 bytes to recognize a pipe recording, and 104 (72 before \
            Linux 2.6.33) to find the attrs and the records. A recorder that is killed at \
            once, or a copy that breaks off, leaves such a file.",
        impact: "perf 6.1 refuses the file (\"incompatible file format\", exit 255).",
        remedy: Remedy::Next(
            "The file contains no record, so nothing can be repaired. Use another copy of \
             the file if there is one, or record again.",
        ),
        source: "perf 6.1, tools/perf/util/header.c: perf_file_header__read",
    };
    HEADER_SIZE = Rule {
        code: "PD0002",
        name: "header-size",
        severity: Severity::Error,
        summary: "header.size is not 104, 72 or 16",
        problem: "header.size is 104 in files, 72 in files before Linux 2.6.33 and 16 in pipe \
            recordings. Any other value is damage.",
        impact: "perf 6.1 refuses the file (\"incompatible file format\", exit 255).",
        remedy: Remedy::Fix(
            "Sets header.size to 16 if records follow, to 72 if attrs or data begin where newer \
             headers have feature bits, else to 104.\n\
             Class: exact. Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/header.c: perf_file_header__read",
    };
    ATTR_SIZE_WRONG = Rule {
        code: "PD0003",
        name: "attr-size-wrong",
        severity: Severity::Error,
        summary: "header.attr_size does not match the attr entries",
        problem: "header.attr_size is the size of an attr and of the section of its ids. Each \
            attr also states its own size, so the right value is known.",
        impact: "perf 6.1 refuses the file (\"incompatible file format\", exit 255). It divides \
            attrs.size by the value to count the events, and refuses 0. If it gets the right \
            number, it shows everything; this is a warning if the right value is certain.",
        remedy: Remedy::Fix(
            "Sets header.attr_size to the size that the first attr states plus 16, if \
             attrs.size is a multiple of it.\n\
             Class: exact. Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/header.c: perf_session__read_header",
    };
    DATA_SIZE_ZERO = Rule {
        code: "PD0004",
        name: "data-size-zero",
        severity: Severity::Error,
        summary: "data.size is 0",
        problem: "perf record writes data.size and the features when it exits. If it is killed, \
            crashes or runs out of disk space, data.size stays 0 and the header still \
            flags every feature that perf had planned. A finished file without any record has a \
            data.size of 0, too, and nothing to save.",
        impact: "perf report 6.1 shows no samples and exits 0. perf script exits 255 without a \
            sample. Other readers look for the feature table at the wrong offset and \
            refuse the file or run out of memory.",
        remedy: Remedy::Fix(
            "Sets data.size to the length of the complete records, clears the flags of \
             missing features, and builds the features that the records need (COMPRESSED, \
             STAT, DIR_FORMAT) and, for several events, EVENT_DESC, by which linux-perf-data \
             finds the event of a sample.\n\
             Class: synthetic; lossy if it drops a truncated last record.\n\
             Cost: no complete record. Features such as the host name and the build ids \
             were never written, or are lost with the end of the file: the finding names them.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/header.c: perf_session__write_header, \
            perf_session__read_header",
    };
    DATA_PAST_END = Rule {
        code: "PD0005",
        name: "data-past-end",
        severity: Severity::Error,
        summary: "the records end after the end of the file",
        problem: "The file was truncated after it was written, for example by an incomplete \
            copy. The features followed the records, so they are lost too.",
        impact: "perf 6.1 loses samples: perf report often shows none and exits 0. perf script \
            exits 234 without a sample, or shows a part of them. If a complete page is missing, \
            perf dies of SIGBUS.",
        remedy: Remedy::Fix(
            "Closes the recording after its last complete record: sets data.size, clears \
             the flags of the lost features, and builds those that the records need \
             (COMPRESSED, STAT, DIR_FORMAT).\n\
             Class: lossy. Cost: no complete record.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/session.c: reader__mmap; measured",
    };
    DATA_SIZE_WRONG = Rule {
        code: "PD0006",
        name: "data-size-wrong",
        severity: Severity::Error,
        summary: "data.size does not lead to the feature table",
        problem: "The feature table begins at data.offset + data.size. At that place there is no \
            valid table, but there is one after another record, or the records themselves \
            end elsewhere.",
        impact: "perf 6.1 reads records as a feature table, or features as records. perf script \
            exits 234 without a sample while perf report shows nothing and exits 0, or perf report \
            --header-only crashes (SIGSEGV).",
        remedy: Remedy::Fix(
            "Sets data.size to the distance between data.offset and the table that was \
             found, or the end of the last record.\n\
             Class: exact; lossy if nothing shows that no byte of the records is missing.\n\
             Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/header.c: perf_header__process_sections",
    };
    SECTION_OUTSIDE = Rule {
        code: "PD0007",
        name: "section-outside",
        severity: Severity::Error,
        summary: "a section of the header lies outside the file",
        problem: "The attrs, the ids of an attr or the start of the records lie after the end of \
            the file: the header is damaged, or the file is truncated and attrs follow the \
            records.",
        impact: "perf 6.1 refuses the file (\"incompatible file format\", exit 255).",
        remedy: Remedy::Fix(
            "Rebuilds the file from the parts that can be trusted: events from any copy of the \
             attrs by which records can be read, all records that these events read to their \
             last byte, and the features whose sections are valid.\n\
             Class: lossy. Cost: everything else; the summary counts it.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/header.c: perf_session__read_header",
    };
    SECTIONS_OVERLAP = Rule {
        code: "PD0008",
        name: "sections-overlap",
        severity: Severity::Error,
        summary: "two sections of the header share bytes",
        problem: "Header, attrs, ids and records lie one after the other. If two of them share \
            bytes, one offset or size is wrong. perf inject -b of Linux 6.1 writes such \
            files from a pipe.",
        impact: "perf 6.1 fails if the records are one of the two sections (perf script exits \
            234 without a sample, perf report shows nothing and exits 0). It ignores \
            event_types.",
        remedy: Remedy::Fix(
            "Rebuilds the file from the parts that can be trusted: events from any copy of the \
             attrs by which records can be read, all records that these events read to their \
             last byte, and the features whose sections are valid.\n\
             Class: lossy. Cost: everything else; the summary counts it.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data\n\
             If perf inject wrote the file, run it again with an output of perf record that is a \
             file and not a pipe.",
        ),
        source: "perf 6.1, tools/perf/util/header.c: perf_session__read_header; measured",
    };
    ATTRS_SIZE_MISALIGNED = Rule {
        code: "PD0009",
        name: "attrs-size-misaligned",
        severity: Severity::Warning,
        summary: "attrs.size is not a multiple of the entry size",
        problem: "The section of the attrs has trailing bytes after its last complete entry.",
        impact: "perf 6.1 ignores the bytes. It rounds the number of entries down and shows all \
            samples.",
        remedy: Remedy::Next(
            "Nothing has to be done. If attrs are missing, compare with another copy of \
             the file.",
        ),
        source: "perf 6.1, tools/perf/util/header.c: perf_session__read_header",
    };
    NO_ATTRS = Rule {
        code: "PD0014",
        name: "no-attrs",
        severity: Severity::Error,
        summary: "attrs are missing",
        problem: "attr.sample_type determines the layout of every sample. The attr table is \
            empty, or a pipe recording has no HEADER_ATTR record, or none of an event that its \
            EVENT_DESC describes.",
        impact: "perf script 6.1 exits 242 or 254 without a sample. perf report shows nothing and \
            exits 0. If only some attrs of a pipe are missing, their samples are shown under other \
            events.",
        remedy: Remedy::Fix(
            "Rebuilds the file from the parts that can be trusted: events from any copy of the \
             attrs by which records can be read, all records that these events read to their \
             last byte, and the features whose sections are valid.\n\
             Class: lossy. Cost: everything else; the summary counts it.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data\n\
             A pipe recording gets the HEADER_ATTR records that its EVENT_DESC describes \
             (synthetic), or else one, if its attr is found.",
        ),
        source: "perf 6.1, tools/perf/util/evlist.c: evlist__id2evsel; measured",
    };
    ATTR_TRUNCATED = Rule {
        code: "PD0015",
        name: "attr-truncated",
        severity: Severity::Error,
        summary: "an attr does not fit in the attr table",
        problem: "The size in the attr exceeds the rest of the attr table. Attrs follow one \
            another by their sizes, so later attrs cannot be found.",
        impact: "perf 6.1 refuses the file (\"incompatible file format\", exit 255).",
        remedy: Remedy::Fix(
            "Rebuilds the file from the parts that can be trusted: events from any copy of the \
             attrs by which records can be read, all records that these events read to their \
             last byte, and the features whose sections are valid.\n\
             Class: lossy. Cost: everything else; the summary counts it.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/header.c: read_attr",
    };
    ATTR_NEWER = Rule {
        code: "PD0016",
        name: "attr-newer",
        severity: Severity::Info,
        summary: "an attr has fields that tracemend does not know",
        problem: "The attr is larger than 144 bytes, or it sets unknown bits of sample_type, \
            read_format or branch_sample_type. A newer kernel or perf wrote it.",
        impact: "A perf that is older than the recorder may refuse the file or misread the \
            samples. tracemend does not check the samples of such a recording if their \
            layout is unknown.",
        remedy: Remedy::Next(
            "Read the file with a perf that is at least as new as the recorder.",
        ),
        source: "include/uapi/linux/perf_event.h; perf 6.1, tools/perf/util/header.c: read_attr",
    };
    HEADER_BLANK = Rule {
        code: "PD0034",
        name: "header-blank",
        severity: Severity::Error,
        summary: "zeros in the place of header, ids and attrs",
        problem: "perf record --switch-output writes header, ids and attrs of a file when it goes \
            on to the next one. If it is killed, the last file begins with zeros, and nothing in \
            it describes its samples. The files before it have the same header, ids and attrs.",
        impact: "perf 6.1 refuses the file (\"incompatible file format\", exit 255). tracemend \
            does not judge its records without a donor.",
        remedy: Remedy::Fix(
            "Takes header, ids and attrs from a donor: an earlier file of the same run. tracemend \
             refuses a donor whose records begin elsewhere, whose ids are not those of the file, \
             or by whose events its records cannot be read.\n\
             Class: synthetic. Cost: none. That the events of a donor with the same layout and \
             without ids are the same cannot be verified.\n\
             Run:\n\
             \x20 tracemend repair perf.data --donor perf.data.2026112501275628 -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/builtin-record.c: record__switch_output; measured",
    };
    ATTR_LARGER = Rule {
        code: "PD0033",
        name: "attr-larger",
        severity: Severity::Warning,
        summary: "attrs are larger than asked for with --for-perf or --abi",
        problem: "Each version of perf_event_attr is larger than the one before: 128 bytes since \
            Linux 5.13, 136 since 6.3, 144 since 6.19. The option --for-perf names the version of \
            perf that has to read the file, --abi the size of its attrs. This is an \
            error if that perf refuses the file, or if a field that a smaller attr leaves out is \
            used: the samples cannot be described without it.",
        impact: "A perf that is older than the recorder refuses larger attrs, even if the fields \
            that it does not know are 0 (\"incompatible file format\", exit 255).",
        remedy: Remedy::Fix(
            "With one of the options, cuts the last bytes of each attr and of its copy in \
             EVENT_DESC, which are all 0, and moves what follows. A reader takes absent fields as \
             0. --abi changes nothing else: an older perf may still not know a type of record \
             (PD0036).\n\
             Class: synthetic, a change on request. Cost: none; every value stays.\n\
             Run:\n\
             \x20 tracemend repair perf.data --for-perf 6.1 -o repaired.data",
        ),
        source: "include/uapi/linux/perf_event.h: PERF_ATTR_SIZE_VER0 to VER9; perf 6.1, \
            tools/perf/util/header.c: read_attr",
    };
    NEWER_NEEDED = Rule {
        code: "PD0035",
        name: "newer-perf-needed",
        severity: Severity::Info,
        summary: "a perf newer than 6.1 is needed to read the recording",
        problem: "The recording has attrs, records or features of a pipe that came after perf 6.1. \
            The message names them with the versions that were the first to read them.",
        impact: "An older perf refuses larger attrs in a file (\"incompatible file format\", exit \
            255) and stops at an unknown type of record (exit 234 or 255). At an unknown feature \
            of a pipe perf report shows nothing and exits 0; perf script reads on.",
        remedy: Remedy::Next(
            "Read it with one of the versions that the message names, or write it for an older \
             one:\n\
             \x20 tracemend repair perf.data --for-perf 6.1 -o old.data",
        ),
        source: "include/uapi/linux/perf_event.h and tools/perf in their history; measured with \
            perf 6.1, 6.12 and 7.2",
    };
    RECORDS_NEWER = Rule {
        code: "PD0036",
        name: "records-newer",
        severity: Severity::Error,
        summary: "records that the perf of --for-perf does not read",
        problem: "The option --for-perf names the version of perf that has to read the recording. \
            It does not know the type of some records, or the number of some features in a pipe.",
        impact: "perf 6.1 stops at such a record (\"failed to process type\", exit 234 or 255). At \
            such a feature perf report shows nothing and exits 0.",
        remedy: Remedy::Fix(
            "Writes COMPRESSED2 records as COMPRESSED, which hold the same zstd data, and drops \
             other records that the version does not know. Those inside compressed \
             records, or of a file whose AUXTRACE stores offsets of records, have no fix.\n\
             Class: synthetic for COMPRESSED2, lossy for dropped records. Cost: the dropped \
             records.\n\
             Run:\n\
             \x20 tracemend repair perf.data --for-perf 6.1 -o old.data",
        ),
        source: "tools/lib/perf/include/perf/event.h in its history; perf 6.1, \
            tools/perf/util/session.c: perf_session__process_event; builtin-report.c: \
            process_feature_event",
    };
    ATTR_SIZE_UNPUBLISHED = Rule {
        code: "PD0017",
        name: "attr-size-unpublished",
        severity: Severity::Warning,
        summary: "attr.size is not a published size",
        problem: "The published sizes are 64, 72, 80, 96, 104, 112, 120, 128, 136 and 144 bytes; \
            a larger multiple of 8 is a newer version. Any other size is damage.",
        impact: "perf 6.1 refuses the file (\"incompatible file format\", exit 255) unless the \
            next attr begins where the size leads.",
        remedy: Remedy::Next(
            "The size cannot be repaired with certainty, because it also places the next \
             attr. Use another copy of the file if there is one, or record again.",
        ),
        source: "include/uapi/linux/perf_event.h: PERF_ATTR_SIZE_VER0 to VER9; measured",
    };
    IDS_MISALIGNED = Rule {
        code: "PD0018",
        name: "ids-misaligned",
        severity: Severity::Warning,
        summary: "the size of an ids section is not a multiple of 8",
        problem: "An id has 8 bytes, so a section of ids has a multiple of 8.",
        impact: "perf 6.1 rounds the number of ids down and shows all samples.",
        remedy: Remedy::Next(
            "Nothing has to be done. If samples have unknown ids (PD2005), compare with \
             another copy of the file.",
        ),
        source: "perf 6.1, tools/perf/util/header.c: perf_session__read_header",
    };
    VERSION_1 = Rule {
        code: "PD0020",
        name: "version-1",
        severity: Severity::Warning,
        summary: "the magic is of version 1",
        problem: "The magic is PERFFILE. perf has written PERFILE2 since 2012. The layout is the \
            same, but the fields of samples were never documented.",
        impact: "perf 6.1 refuses the file unless attr_size is 80, the only size of that time. \
            tracemend may misread the samples.",
        remedy: Remedy::Next(
            "If the file is from a newer perf, only the magic is damaged. Then write the \
             right one into a copy:\n\
             \x20 printf PERFILE2 | dd of=copy.data conv=notrunc",
        ),
        source: "perf 6.1, tools/perf/util/header.c: is_perf_magic, try_all_file_abis",
    };
}
