//! Rules of damaged fields that other parts of the file restore.

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    MAGIC_DAMAGED = Rule {
        code: "PD0021",
        name: "magic-damaged",
        severity: Severity::Error,
        summary: "a few bits of the magic are wrong",
        problem: "The first eight bytes differ from PERFILE2 in at most 8 bits, and the header \
            after them is one of perf.data.",
        impact: "perf 6.1 refuses the file (\"incompatible file format\", exit 255).",
        remedy: Remedy::Fix(
            "Writes the magic.\n\
             Class: exact. Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/header.c: is_perf_magic",
    };
    SECTION_DISPLACED = Rule {
        code: "PD0022",
        name: "section-displaced",
        severity: Severity::Error,
        summary: "the header places attrs or records where they are not",
        problem: "perf record writes ids, attrs, records and feature table one after the other, \
            and each of them shows where it begins. The header contradicts them.",
        impact: "perf 6.1 refuses the file (\"incompatible file format\", exit 255), or shows no \
            sample. It counts ids in 32 bits, and divides attrs.size by attr_size: if both numbers \
            come out right, it shows everything, and this is a warning. perf 7 refuses such a \
            file: in its own recordings it is an error.",
        remedy: Remedy::Fix(
            "Writes the offset and the size at which the attrs or the records were found.\n\
             Class: exact; lossy if several places are wrong by the same amount, since bytes \
             before them were lost or inserted then. Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/header.c: perf_session__write_header, \
            perf_session__read_header",
    };
    FLAGS_WRONG = Rule {
        code: "PD0023",
        name: "flags-wrong",
        severity: Severity::Error,
        summary: "the feature bits do not match the sections",
        problem: "The table has one entry per set bit, in the order of the bits. With a bit too \
            many or too few, every later section is taken for the wrong feature. The contents \
            of the sections show which bits are right, and VERSION, the version of perf that \
            recorded, shows which bits did not exist then.",
        impact: "perf 6.1 reads sections as features that they are not: perf report --header-only \
            crashes (SIGSEGV) or shows wrong values, and perf script often fails. If only bits \
            above 31 are wrong, which it ignores, and the right ones are certain, this is a \
            warning.",
        remedy: Remedy::Fix(
            "Writes the feature bits that the sections have.\n\
             Class: exact if the contents allow no other bits; otherwise lossy. Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/header.c: perf_header__process_sections; measured",
    };
    TABLE_ENTRY_WRONG = Rule {
        code: "PD0024",
        name: "table-entry-wrong",
        severity: Severity::Error,
        summary: "an entry of the feature table contradicts its neighbours",
        problem: "The sections of the features adjoin, so the entries before and after determine \
            the offset and the size of each one.",
        impact: "perf 6.1 reads the feature from the wrong place: perf report --header-only \
            crashes (SIGSEGV) or shows wrong values, and perf script may fail. Most features end \
            by themselves, and the last ones are often empty lists. If only such sizes are wrong, \
            that of CMDLINE is too large (below 16 MiB), that of CPU_TOPOLOGY still includes the \
            list of dies, or the offset of an empty list is negative or outside the file, perf \
            shows everything; this is a warning if the right values are certain.",
        remedy: Remedy::Fix(
            "Writes the offset and the size that the neighbours and the content determine.\n\
             Class: exact; lossy if bytes before the sections were lost or added, or if the end \
             of a section is only the likeliest one.\n\
             Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/header.c: perf_header__process_sections; measured",
    };
    EVENT_TYPES_DAMAGED = Rule {
        code: "PD0025",
        name: "event-types-damaged",
        severity: Severity::Warning,
        summary: "event_types in the header is neither 0 nor a section before the records",
        problem: "perf 3.8 and older write a section of event types between attrs and records, 72 \
            bytes per event; later versions write 0. The header names a section that is not there.",
        impact: "perf 6.1 ignores the field and shows all samples.",
        remedy: Remedy::Fix(
            "Writes 0.\n\
             Class: exact. Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/header.c: perf_session__write_header; public recordings \
            of perf 3.4 and 3.8",
    };
    ATTR_WRONG = Rule {
        code: "PD0026",
        name: "attr-wrong",
        severity: Severity::Error,
        summary: "an attr contradicts its copy in EVENT_DESC or the records",
        problem: "EVENT_DESC holds a copy of every attr, in a pipe of those in HEADER_ATTR. Where \
            the two differ, the one with values that no recorder writes is damaged; then \
            the one by which fewer records can be read. Without a copy, header.attr_size \
            determines attr.size, and samples that cannot be read show that sample_type or \
            read_format is wrong. If all samples have the data of one tracepoint, whose format is \
            in TRACING_DATA, and that of the attr is not, config is wrong.",
        impact: "perf 6.1 reads every sample of the event by the damaged attr: it shows wrong \
            values or no sample, or refuses the file; perf evlist -v prints every field. In \
            reserved bits, which nothing reads, this is a warning if the right value is certain.",
        remedy: Remedy::Fix(
            "Writes the words of the copy into the attr. Without a copy, writes the nearest \
             values by which the samples can be read, if most cannot be. No record changes.\n\
             Class: exact if impossible values or the records prove which one is damaged; \
             otherwise lossy. Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/header.c: write_event_desc, read_attr; measured",
    };
    ID_WRONG = Rule {
        code: "PD0027",
        name: "id-wrong",
        severity: Severity::Error,
        summary: "an id of an attr contradicts its copies",
        problem: "Each id is stored in the attr table, in EVENT_DESC and in ID_INDEX, in the same \
            order, and samples name it. The copies and the samples outvote the attr table.",
        impact: "perf 6.1 does not find the event of the samples with this id: perf script fails \
            or leaves them out.",
        remedy: Remedy::Fix(
            "Writes the id of the copies. No record changes.\n\
             Class: exact; lossy if an attr is damaged as well. Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/header.c: perf_session__read_header; measured",
    };
    ATTR_IMPOSSIBLE = Rule {
        code: "PD0028",
        name: "attr-impossible",
        severity: Severity::Error,
        summary: "an attr sets bits that no kernel will have for years",
        problem: "Kernels define the bits of sample_type, read_format and branch_sample_type from \
            the lowest on: 25, 5 and 20 of them up to Linux 6.12, about two a year. A bit far \
            above these is damage, and the fields of the samples are not known.",
        impact: "perf 6.1 misreads every sample of the event, or refuses the file (\"non matching \
            sample_type\", exit 255).",
        remedy: Remedy::Fix(
            "Writes the nearest values by which the samples can be read, or rebuilds the file from \
             the events by which they can, all records that these read to their last byte, and \
             the features whose sections are valid.\n\
             Class: lossy. Cost: everything else; the summary counts it.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "include/uapi/linux/perf_event.h: enum perf_event_sample_format; measured",
    };
    ATTRS_MISMATCHED = Rule {
        code: "PD0029",
        name: "attrs-mismatched",
        severity: Severity::Error,
        summary: "the attrs place the id of a record differently",
        problem: "Without the id, nobody knows the event of a record, so all events of a file \
            store it at the same place: sample_type has IDENTIFIER, or ID after the same fields. \
            sample_id_all is equal, too. perf record makes it so; one of the attrs is damaged.",
        impact: "perf 6.1 refuses the file (\"non matching sample_type\" or \"non matching \
            sample_id_all\", exit 255).",
        remedy: Remedy::Fix(
            "Writes the nearest values by which the samples can be read, or rebuilds the file from \
             the events by which they can, all records that these read to their last byte, and \
             the features whose sections are valid.\n\
             Class: lossy. Cost: everything else; the summary counts it.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/session.c: perf_session__open; evlist.c: \
            evlist__valid_sample_type, evlist__valid_sample_id_all",
    };
    READ_WITHOUT_ID = Rule {
        code: "PD0030",
        name: "read-without-id",
        severity: Severity::Error,
        summary: "samples have counter values, but no ids of their events",
        problem: "sample_type has READ, but read_format lacks ID. perf record sets ID in every \
            attr.",
        impact: "perf 6.1 refuses the file if this is the first attr (\"non matching \
            read_format\", exit 255). Otherwise it stops at the first sample of the event (exit \
            242; 234 in a pipe), since it reads an id in any case.",
        remedy: Remedy::Next(
            "A damaged sample_type or read_format is restored from EVENT_DESC or from the samples \
             (PD0025). These samples have no room for ids, so another program wrote them: read \
             them with that program, or record again with read_format ID.",
        ),
        source: "perf 6.1, tools/perf/util/session.c: perf_session__open; evlist.c: \
            evlist__valid_read_format; evsel.c: evsel__parse_sample; measured",
    };
    ATTR_TYPE_UNKNOWN = Rule {
        code: "PD0038",
        name: "attr-type-unknown",
        severity: Severity::Error,
        summary: "attr.type is the number of no PMU",
        problem: "The kernel numbers its PMUs from 6 on and has fewer than a thousand; perf keeps \
            the numbers from 0xfffe0000 on for its own counters. Another number is damage, and no \
            copy of the attr is left that tells the right one.",
        impact: "perf 6.1 shows each sample of the event as \"unknown attr type\", and those of a \
            tracepoint without their fields. If several bytes are damaged, this is a warning \
            without a fix.",
        remedy: Remedy::Fix(
            "Clears the byte of attr.type that makes it too large, if it is a single one.\n\
             Class: lossy: the byte may have been another one. Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "kernel/events/core.c: perf_pmu_register; perf 7.2, tools/perf/util/pmu.h: \
            PERF_PMU_TYPE_DRM_START; measured with perf 6.1",
    };
    SEVERAL_RECORDINGS = Rule {
        code: "PD0037",
        name: "several-recordings",
        severity: Severity::Error,
        summary: "the file holds several recordings, one after the other",
        problem: "Recordings were joined, for example by cat, or a recorder wrote its pipe with >> \
            to a file that had one. No perf reads such a file: each recording has its own header, \
            events and ids.",
        impact: "perf 6.1, 6.12 and 7.2 show the first recording if it is a file, and exit 0. \
            After a pipe they end at the header of the next recording, without a sample (exit \
            234), or with those of the first (unexpected end of event stream).",
        remedy: Remedy::Fix(
            "Keeps one of the recordings if you choose it. Repair once for each.\n\
             Class: lossy; not applied without the option. Cost: the other recordings.\n\
             Run:\n\
             \x20 tracemend repair perf.data --part 1 -o first.data\n\
             \x20 tracemend repair perf.data --part 2 -o second.data",
        ),
        source: "perf 6.1, tools/perf/util/session.c: __perf_session__process_events, \
            __perf_session__process_pipe_events; measured with perf 6.1, 6.12 and 7.2",
    };
    EVENT_DESC_WRONG = Rule {
        code: "PD2007",
        name: "event-desc-wrong",
        severity: Severity::Warning,
        summary: "EVENT_DESC contradicts the attr table",
        problem: "EVENT_DESC holds a copy of every attr and id. The attr table, the records and \
            ID_INDEX show that the copy is damaged, or nothing shows which of the two is.",
        impact: "perf 6.1 prints wrong values for the event in perf report --header-only and shows \
            all samples. Readers that take ids from EVENT_DESC, such as samply, lose samples.",
        remedy: Remedy::Fix(
            "Writes the value of the attr table into EVENT_DESC, if that is the right one. \
             Otherwise compare the event in perf evlist -v with the command that recorded.\n\
             Class: exact if impossible values or the records prove that the copy is damaged; \
             otherwise lossy, which --lossy-warnings applies. Cost: none.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/header.c: write_event_desc, print_event_desc",
    };
    ID_INDEX_WRONG = Rule {
        code: "PD2008",
        name: "id-index-wrong",
        severity: Severity::Error,
        summary: "an id in ID_INDEX contradicts its copies, or no attr has it",
        problem: "ID_INDEX lists the ids of all attrs, in the order of the attr table.",
        impact: "perf script 6.1 fails without a sample (exit 254).",
        remedy: Remedy::Fix(
            "Writes the id of the attr table. If nothing determines the id, drops the ID_INDEX \
             record, without which perf reads all samples.\n\
             Class: exact; lossy if it drops the record. Cost: the record.\n\
             Run:\n\
             \x20 tracemend repair perf.data -o repaired.data",
        ),
        source: "perf 6.1, tools/perf/util/session.c: perf_event__process_id_index; measured",
    };
}
