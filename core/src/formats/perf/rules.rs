//! The codes of perf.data: what each means, why it matters, what a repair does.
//!
//! The static of a rule is named like the rule; its text is its documentation.

use crate::report::rule::rules;
use crate::report::{Remedy, Rule, Severity};

rules! {
    HEADER_TORN = Rule {
        code: "PD0001",
        name: "header-torn",
        severity: Severity::Error,
        summary: "the file is shorter than its header",
        problem: "A reader needs 16 bytes to know a pipe recording and 104 (72 before Linux 2.6.33) to \
            know where attrs and records lie. A recorder that was killed at once, or a copy that \
            broke off, leaves such a file.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    HEADER_SIZE = Rule {
        code: "PD0002",
        name: "header-size",
        severity: Severity::Error,
        summary: "header.size is none of 104, 72 and 16",
        problem: "perf reads the size first and refuses every other value (util/header.c, \
            perf_file_header__read).",
        impact: "",
        remedy: Remedy::Fix("exact: writes 104 if the sections that the header names begin behind byte 104 and the \
            attrs can be read; otherwise none"),
        source: "",
    };
    ATTR_SIZE_WRONG = Rule {
        code: "PD0003",
        name: "attr-size-wrong",
        severity: Severity::Error,
        summary: "header.attr_size is not the size of the attr entries",
        problem: "perf divides attrs.size by it to learn how many events there are, and refuses 0. Every \
            entry says its own size, so the right value can be read off.",
        impact: "",
        remedy: Remedy::Fix("exact: writes the first entry's own size plus its 16-byte ids section"),
        source: "",
    };
    DATA_SIZE_ZERO = Rule {
        code: "PD0004",
        name: "data-size-zero",
        severity: Severity::Error,
        summary: "data.size is 0 though records follow: the recorder never finished",
        problem: "perf record writes data.size and the features last, when it ends. SIGKILL, SIGSEGV and a \
            full disk leave 0 there and, in the flags, every feature that was planned. perf report \
            shows nothing and exits 0, perf script exits 255, other readers take records for section \
            tables.",
        impact: "",
        remedy: Remedy::Fix("exact, synthetic or lossy, as it needs: data.size becomes the length of the whole \
            records, the planned features go, the features that the records need (COMPRESSED, STAT, \
            DIR_FORMAT) are built anew, a torn record at the end is dropped"),
        source: "",
    };
    DATA_PAST_END = Rule {
        code: "PD0005",
        name: "data-past-end",
        severity: Severity::Error,
        summary: "the records' section reaches behind the end of the file",
        problem: "The file was cut after it was written. perf maps what is not there and dies of SIGBUS. \
            The features lay behind the cut and are lost with it.",
        impact: "",
        remedy: Remedy::Fix("as for PD0004: closes the recording at its last whole record"),
        source: "",
    };
    DATA_SIZE_WRONG = Rule {
        code: "PD0006",
        name: "data-size-wrong",
        severity: Severity::Error,
        summary: "the features do not begin where data.size says, but elsewhere",
        problem: "perf looks for the table of features at data.offset + data.size. A wrong size makes it \
            read records as a table, or the table as records.",
        impact: "",
        remedy: Remedy::Fix("exact: data.size becomes the distance to the table that was found, which every feature's \
            section confirms"),
        source: "",
    };
    SECTION_OUTSIDE = Rule {
        code: "PD0007",
        name: "section-outside",
        severity: Severity::Error,
        summary: "a section of the header lies outside the file",
        problem: "perf seeks there and fails, or reads zeros.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    SECTIONS_OVERLAP = Rule {
        code: "PD0008",
        name: "sections-overlap",
        severity: Severity::Error,
        summary: "two sections of the header share bytes",
        problem: "One of them is not what the header says. perf inject -b of Linux 6.1 writes such files \
            from a pipe and cannot read them.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    ATTRS_SIZE_ODD = Rule {
        code: "PD0009",
        name: "attrs-size-odd",
        severity: Severity::Warning,
        summary: "attrs.size is no multiple of the entries' size",
        problem: "perf rounds the number of entries down; the bytes behind the last one are never read.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    FEATURE_OUTSIDE = Rule {
        code: "PD0010",
        name: "feature-outside",
        severity: Severity::Error,
        summary: "sections of features lie outside the file or before the records' end",
        problem: "A file that was cut inside its features keeps its records. perf reads past the end, and \
            with compressed records it crashes.",
        impact: "",
        remedy: Remedy::Fix("lossy: the features whose sections are cut go, the others stay"),
        source: "",
    };
    FEATURE_MISSING = Rule {
        code: "PD0011",
        name: "feature-missing",
        severity: Severity::Error,
        summary: "the records need a feature that the header does not name",
        problem: "Without COMPRESSED perf cannot expand compressed records, without STAT perf script shows \
            no counts, without DIR_FORMAT the data.N files beside it are not read.",
        impact: "",
        remedy: Remedy::Fix("synthetic: adds the feature, with values that the records imply and mmap_len of at least \
            528384"),
        source: "",
    };
    UNKNOWN_FEATURE = Rule {
        code: "PD0012",
        name: "unknown-feature",
        severity: Severity::Info,
        summary: "a feature has a number that this version does not know",
        problem: "Newer perf versions add features; readers pass over those they do not know.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    TRAILING_BYTES = Rule {
        code: "PD0013",
        name: "trailing-bytes",
        severity: Severity::Warning,
        summary: "bytes at the end of the file belong to nothing",
        problem: "No section and no record covers them; readers do not see them. A file that was written \
            over a longer one keeps the old tail.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops them"),
        source: "",
    };
    NO_ATTRS = Rule {
        code: "PD0014",
        name: "no-attrs",
        severity: Severity::Error,
        summary: "the recording describes no event",
        problem: "Without an attr no sample can be decoded: its layout is what sample_type says.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    ATTR_TORN = Rule {
        code: "PD0015",
        name: "attr-torn",
        severity: Severity::Error,
        summary: "an attr entry cannot be read",
        problem: "The entry's own size is below 64 bytes or passes the end of its section.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    ATTR_NEWER = Rule {
        code: "PD0016",
        name: "attr-newer",
        severity: Severity::Info,
        summary: "an attr holds fields that this version does not know",
        problem: "Bytes behind those of VER8 (136) are not zero. A reader of an older kernel's perf \
            refuses such a file; its samples may hold fields of unknown meaning.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    ATTR_SIZE_UNPUBLISHED = Rule {
        code: "PD0017",
        name: "attr-size-unpublished",
        severity: Severity::Warning,
        summary: "an attr has a size that no kernel headers published",
        problem: "Known sizes are 64 72 80 96 104 112 120 128 136.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    IDS_ODD = Rule {
        code: "PD0018",
        name: "ids-odd",
        severity: Severity::Warning,
        summary: "the size of an ids section is no multiple of 8",
        problem: "perf rounds the number of ids down.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    TRACING_DATA_MISSING = Rule {
        code: "PD0019",
        name: "tracing-data-missing",
        severity: Severity::Error,
        summary: "tracepoint events without the TRACING_DATA feature",
        problem: "The fields of tracepoints are described in TRACING_DATA alone, which perf record writes \
            at its end. perf refuses the file (incompatible file format). It can come only from \
            another recording of the same kernel and events, which `repair --donor FILE` names. \
            Tracepoints have other numbers and fields in another kernel: from a donor of one every \
            sample would be read wrongly without a word.",
        impact: "",
        remedy: Remedy::Fix("synthetic: adds the donor's TRACING_DATA, if it describes every tracepoint of the \
            recording and no sample's size contradicts it; none without a donor"),
        source: "",
    };
    VERSION_1 = Rule {
        code: "PD0020",
        name: "version-1",
        severity: Severity::Warning,
        summary: "the magic is of version 1, which perf has not written since 2010",
        problem: "Its layout is the same, but ids and sample fields were never documented; the check may \
            misread it.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    TORN_RECORD = Rule {
        code: "PD1001",
        name: "torn-record",
        severity: Severity::Error,
        summary: "the last record is cut",
        problem: "The recorder, the disk or the copy ended in the middle of it. Readers stop with an error \
            or, in a mapped file, die.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops the bytes of the cut record"),
        source: "",
    };
    RECORD_TOO_SMALL = Rule {
        code: "PD1002",
        name: "record-too-small",
        severity: Severity::Error,
        summary: "a record's size is below its own 8-byte header",
        problem: "Every reader stops here; what follows cannot be found by the size. A lost page of the \
            file (zeros) looks like this.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops the bytes up to the next place from which records follow one another; none \
            if there is no such place"),
        source: "",
    };
    RECORD_PAST_END = Rule {
        code: "PD1003",
        name: "record-past-end",
        severity: Severity::Error,
        summary: "a record is longer than what is left",
        problem: "Its size, or an earlier one, is wrong: perf stops with an error.",
        impact: "",
        remedy: Remedy::Fix("lossy: as for PD1002"),
        source: "",
    };
    RECORD_TYPE_WILD = Rule {
        code: "PD1004",
        name: "record-type-wild",
        severity: Severity::Error,
        summary: "a record has a type that no kernel and no perf writes",
        problem: "Types of the kernel are small numbers from 1, those of perf begin at 64. perf refuses \
            the whole file at such a record.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops the record, or all bytes up to the next place from which records follow one \
            another"),
        source: "",
    };
    UNKNOWN_RECORD = Rule {
        code: "PD1005",
        name: "unknown-record",
        severity: Severity::Info,
        summary: "a record has a type that this version does not know",
        problem: "Newer kernels and perf versions add types; the record is framed well and is kept. An \
            older perf may refuse it.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    RECORD_UNALIGNED = Rule {
        code: "PD1006",
        name: "record-unaligned",
        severity: Severity::Warning,
        summary: "a kernel record's size is no multiple of 8",
        problem: "The kernel writes records in multiples of 8 bytes; only perf's own may be of any size.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    SAMPLE_MALFORMED = Rule {
        code: "PD2001",
        name: "sample-malformed",
        severity: Severity::Error,
        summary: "a sample's fields do not fit its record",
        problem: "perf gives up the whole file at such a sample (Can't parse sample, err = -14).",
        impact: "",
        remedy: Remedy::Fix("lossy: drops the sample"),
        source: "",
    };
    SAMPLE_LEFTOVER = Rule {
        code: "PD2002",
        name: "sample-leftover",
        severity: Severity::Warning,
        summary: "a sample is longer than its fields",
        problem: "Bytes behind the last field of sample_type have no meaning; the attr may not be the one \
            that the sample was written for.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    RECORD_MALFORMED = Rule {
        code: "PD2003",
        name: "record-malformed",
        severity: Severity::Error,
        summary: "a record's fields do not fit it",
        problem: "Readers that trust its counts or its strings read past its end.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops the record"),
        source: "",
    };
    FEATURE_MALFORMED = Rule {
        code: "PD2004",
        name: "feature-malformed",
        severity: Severity::Warning,
        summary: "a feature's content does not fit its section",
        problem: "perf reads past it, prints nonsense or crashes (report --header-only).",
        impact: "",
        remedy: Remedy::Fix("lossy: drops the feature; one that the records need is built anew"),
        source: "",
    };
    UNKNOWN_EVENT_ID = Rule {
        code: "PD2005",
        name: "unknown-event-id",
        severity: Severity::Error,
        summary: "a sample names an event id that no attr lists",
        problem: "Without its attr a sample cannot be read; perf gives up the whole file at such a record.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops the record"),
        source: "",
    };
    TIME_BEFORE_ROUND = Rule {
        code: "PD3001",
        name: "time-before-round",
        severity: Severity::Warning,
        summary: "records are older than a round that was finished before them",
        problem: "FINISHED_ROUND promises that no older record follows; perf sorts within rounds and shows \
            these records out of order.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    SAMPLE_TIME_WRONG = Rule {
        code: "PD3002",
        name: "sample-time-wrong",
        severity: Severity::Warning,
        summary: "the SAMPLE_TIME feature does not enclose the samples",
        problem: "perf report --time with percentages cuts by it.",
        impact: "",
        remedy: Remedy::Fix("exact: writes the earliest and the latest time of the samples"),
        source: "",
    };
    MMAP_LEN_SMALL = Rule {
        code: "PD3003",
        name: "mmap-len-small",
        severity: Severity::Error,
        summary: "the COMPRESSED feature's mmap_len is smaller than what a record expands to",
        problem: "perf allocates that much per compressed record and silently loses the samples behind it.",
        impact: "",
        remedy: Remedy::Fix("exact: writes a length that holds every record"),
        source: "",
    };
    ZSTD_BROKEN = Rule {
        code: "PD8001",
        name: "zstd-broken",
        severity: Severity::Error,
        summary: "compressed records do not expand",
        problem: "Blocks refer to earlier ones, so that what follows in the same frame cannot be expanded \
            either.",
        impact: "",
        remedy: Remedy::Fix("lossy: the blocks before the fault stay, the compressed records behind it go"),
        source: "",
    };
    EXPANDED_BROKEN = Rule {
        code: "PD8002",
        name: "expanded-broken",
        severity: Severity::Error,
        summary: "what the compressed records expand to is no sequence of records",
        problem: "The format has no checksum: a changed byte in a block may expand to nonsense.",
        impact: "",
        remedy: Remedy::Fix("lossy: the compressed records from that place on go, with the whole records in the first \
            of them"),
        source: "",
    };
    EXPANDED_TORN = Rule {
        code: "PD8003",
        name: "expanded-torn",
        severity: Severity::Warning,
        summary: "the last record in the compressed ones is not whole",
        problem: "The recorder was ended between two compressed records. Readers leave the part out.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
}
