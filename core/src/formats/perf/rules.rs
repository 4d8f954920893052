//! The codes of perf.data: what each means, why it matters, what a repair does.
//!
//! The static of a rule is named like the rule; its text is its documentation.

use crate::report::{Rule, Severity};

/// Every rule of the format, by code.
pub static RULES: &[&Rule] = &[
    &HEADER_TORN,
    &HEADER_SIZE,
    &ATTR_SIZE_WRONG,
    &DATA_SIZE_ZERO,
    &DATA_PAST_END,
    &DATA_SIZE_WRONG,
    &SECTION_OUTSIDE,
    &SECTIONS_OVERLAP,
    &ATTRS_SIZE_ODD,
    &FEATURE_OUTSIDE,
    &FEATURE_MISSING,
    &UNKNOWN_FEATURE,
    &TRAILING_BYTES,
    &NO_ATTRS,
    &ATTR_TORN,
    &ATTR_NEWER,
    &ATTR_SIZE_UNPUBLISHED,
    &IDS_ODD,
    &TRACING_DATA_MISSING,
    &VERSION_1,
    &TORN_RECORD,
    &RECORD_TOO_SMALL,
    &RECORD_PAST_END,
    &RECORD_TYPE_WILD,
    &UNKNOWN_RECORD,
    &RECORD_UNALIGNED,
    &SAMPLE_MALFORMED,
    &SAMPLE_LEFTOVER,
    &RECORD_MALFORMED,
    &FEATURE_MALFORMED,
    &UNKNOWN_EVENT_ID,
    &TIME_BEFORE_ROUND,
    &SAMPLE_TIME_WRONG,
    &MMAP_LEN_SMALL,
    &ZSTD_BROKEN,
    &EXPANDED_BROKEN,
    &EXPANDED_TORN,
];

/// PD0001: the file is shorter than its header.
pub static HEADER_TORN: Rule = Rule {
    code: "PD0001",
    name: "header-torn",
    severity: Severity::Error,
    summary: "the file is shorter than its header",
    explanation: "A reader needs 16 bytes to know a pipe recording and 104 (72 before Linux 2.6.33) to \
        know where attrs and records lie. A recorder that was killed at once, or a copy that \
        broke off, leaves such a file.",
    fix: None,
};

/// PD0002: header.size is none of 104, 72 and 16.
pub static HEADER_SIZE: Rule = Rule {
    code: "PD0002",
    name: "header-size",
    severity: Severity::Error,
    summary: "header.size is none of 104, 72 and 16",
    explanation: "perf reads the size first and refuses every other value (util/header.c, \
        perf_file_header__read).",
    fix: Some(
        "exact: writes 104 if the sections that the header names begin behind byte 104 and the \
        attrs can be read; otherwise none",
    ),
};

/// PD0003: header.attr_size is not the size of the attr entries.
pub static ATTR_SIZE_WRONG: Rule = Rule {
    code: "PD0003",
    name: "attr-size-wrong",
    severity: Severity::Error,
    summary: "header.attr_size is not the size of the attr entries",
    explanation: "perf divides attrs.size by it to learn how many events there are, and refuses 0. Every \
        entry says its own size, so the right value can be read off.",
    fix: Some("exact: writes the first entry's own size plus its 16-byte ids section"),
};

/// PD0004: data.size is 0 though records follow: the recorder never finished.
pub static DATA_SIZE_ZERO: Rule = Rule {
    code: "PD0004",
    name: "data-size-zero",
    severity: Severity::Error,
    summary: "data.size is 0 though records follow: the recorder never finished",
    explanation: "perf record writes data.size and the features last, when it ends. SIGKILL, SIGSEGV and a \
        full disk leave 0 there and, in the flags, every feature that was planned. perf report \
        shows nothing and exits 0, perf script exits 255, other readers take records for section \
        tables.",
    fix: Some(
        "exact, synthetic or lossy, as it needs: data.size becomes the length of the whole \
        records, the planned features go, the features that the records need (COMPRESSED, STAT, \
        DIR_FORMAT) are built anew, a torn record at the end is dropped",
    ),
};

/// PD0005: the records' section reaches behind the end of the file.
pub static DATA_PAST_END: Rule = Rule {
    code: "PD0005",
    name: "data-past-end",
    severity: Severity::Error,
    summary: "the records' section reaches behind the end of the file",
    explanation: "The file was cut after it was written. perf maps what is not there and dies of SIGBUS. \
        The features lay behind the cut and are lost with it.",
    fix: Some("as for PD0004: closes the recording at its last whole record"),
};

/// PD0006: the features do not begin where data.size says, but elsewhere.
pub static DATA_SIZE_WRONG: Rule = Rule {
    code: "PD0006",
    name: "data-size-wrong",
    severity: Severity::Error,
    summary: "the features do not begin where data.size says, but elsewhere",
    explanation: "perf looks for the table of features at data.offset + data.size. A wrong size makes it \
        read records as a table, or the table as records.",
    fix: Some(
        "exact: data.size becomes the distance to the table that was found, which every feature's \
        section confirms",
    ),
};

/// PD0007: a section of the header lies outside the file.
pub static SECTION_OUTSIDE: Rule = Rule {
    code: "PD0007",
    name: "section-outside",
    severity: Severity::Error,
    summary: "a section of the header lies outside the file",
    explanation: "perf seeks there and fails, or reads zeros.",
    fix: None,
};

/// PD0008: two sections of the header share bytes.
pub static SECTIONS_OVERLAP: Rule = Rule {
    code: "PD0008",
    name: "sections-overlap",
    severity: Severity::Error,
    summary: "two sections of the header share bytes",
    explanation: "One of them is not what the header says. perf inject -b of Linux 6.1 writes such files \
        from a pipe and cannot read them.",
    fix: None,
};

/// PD0009: attrs.size is no multiple of the entries' size.
pub static ATTRS_SIZE_ODD: Rule = Rule {
    code: "PD0009",
    name: "attrs-size-odd",
    severity: Severity::Warning,
    summary: "attrs.size is no multiple of the entries' size",
    explanation: "perf rounds the number of entries down; the bytes behind the last one are never read.",
    fix: None,
};

/// PD0010: sections of features lie outside the file or before the records' end.
pub static FEATURE_OUTSIDE: Rule = Rule {
    code: "PD0010",
    name: "feature-outside",
    severity: Severity::Error,
    summary: "sections of features lie outside the file or before the records' end",
    explanation: "A file that was cut inside its features keeps its records. perf reads past the end, and \
        with compressed records it crashes.",
    fix: Some("lossy: the features whose sections are cut go, the others stay"),
};

/// PD0011: the records need a feature that the header does not name.
pub static FEATURE_MISSING: Rule = Rule {
    code: "PD0011",
    name: "feature-missing",
    severity: Severity::Error,
    summary: "the records need a feature that the header does not name",
    explanation: "Without COMPRESSED perf cannot expand compressed records, without STAT perf script shows \
        no counts, without DIR_FORMAT the data.N files beside it are not read.",
    fix: Some(
        "synthetic: adds the feature, with values that the records imply and mmap_len of at least \
        528384",
    ),
};

/// PD0012: a feature has a number that this version does not know.
pub static UNKNOWN_FEATURE: Rule = Rule {
    code: "PD0012",
    name: "unknown-feature",
    severity: Severity::Info,
    summary: "a feature has a number that this version does not know",
    explanation: "Newer perf versions add features; readers pass over those they do not know.",
    fix: None,
};

/// PD0013: bytes at the end of the file belong to nothing.
pub static TRAILING_BYTES: Rule = Rule {
    code: "PD0013",
    name: "trailing-bytes",
    severity: Severity::Warning,
    summary: "bytes at the end of the file belong to nothing",
    explanation: "No section and no record covers them; readers do not see them. A file that was written \
        over a longer one keeps the old tail.",
    fix: Some("lossy: drops them"),
};

/// PD0014: the recording describes no event.
pub static NO_ATTRS: Rule = Rule {
    code: "PD0014",
    name: "no-attrs",
    severity: Severity::Error,
    summary: "the recording describes no event",
    explanation: "Without an attr no sample can be decoded: its layout is what sample_type says.",
    fix: None,
};

/// PD0015: an attr entry cannot be read.
pub static ATTR_TORN: Rule = Rule {
    code: "PD0015",
    name: "attr-torn",
    severity: Severity::Error,
    summary: "an attr entry cannot be read",
    explanation: "The entry's own size is below 64 bytes or passes the end of its section.",
    fix: None,
};

/// PD0016: an attr holds fields that this version does not know.
pub static ATTR_NEWER: Rule = Rule {
    code: "PD0016",
    name: "attr-newer",
    severity: Severity::Info,
    summary: "an attr holds fields that this version does not know",
    explanation: "Bytes behind those of VER8 (136) are not zero. A reader of an older kernel's perf \
        refuses such a file; its samples may hold fields of unknown meaning.",
    fix: None,
};

/// PD0017: an attr has a size that no kernel headers published.
pub static ATTR_SIZE_UNPUBLISHED: Rule = Rule {
    code: "PD0017",
    name: "attr-size-unpublished",
    severity: Severity::Warning,
    summary: "an attr has a size that no kernel headers published",
    explanation: "Known sizes are 64 72 80 96 104 112 120 128 136.",
    fix: None,
};

/// PD0018: the size of an ids section is no multiple of 8.
pub static IDS_ODD: Rule = Rule {
    code: "PD0018",
    name: "ids-odd",
    severity: Severity::Warning,
    summary: "the size of an ids section is no multiple of 8",
    explanation: "perf rounds the number of ids down.",
    fix: None,
};

/// PD0019: tracepoint events without the TRACING_DATA feature.
pub static TRACING_DATA_MISSING: Rule = Rule {
    code: "PD0019",
    name: "tracing-data-missing",
    severity: Severity::Error,
    summary: "tracepoint events without the TRACING_DATA feature",
    explanation: "The fields of tracepoints are described in TRACING_DATA alone, which perf record writes \
        at its end. perf refuses the file (incompatible file format). It can come only from \
        another recording of the same kernel and events, which `repair --donor FILE` names. \
        Tracepoints have other numbers and fields in another kernel: from a donor of one every \
        sample would be read wrongly without a word.",
    fix: Some(
        "synthetic: adds the donor's TRACING_DATA, if it describes every tracepoint of the \
        recording and no sample's size contradicts it; none without a donor",
    ),
};

/// PD0020: the magic is of version 1, which perf has not written since 2010.
pub static VERSION_1: Rule = Rule {
    code: "PD0020",
    name: "version-1",
    severity: Severity::Warning,
    summary: "the magic is of version 1, which perf has not written since 2010",
    explanation: "Its layout is the same, but ids and sample fields were never documented; the check may \
        misread it.",
    fix: None,
};

/// PD1001: the last record is cut.
pub static TORN_RECORD: Rule = Rule {
    code: "PD1001",
    name: "torn-record",
    severity: Severity::Error,
    summary: "the last record is cut",
    explanation: "The recorder, the disk or the copy ended in the middle of it. Readers stop with an error \
        or, in a mapped file, die.",
    fix: Some("lossy: drops the bytes of the cut record"),
};

/// PD1002: a record's size is below its own 8-byte header.
pub static RECORD_TOO_SMALL: Rule = Rule {
    code: "PD1002",
    name: "record-too-small",
    severity: Severity::Error,
    summary: "a record's size is below its own 8-byte header",
    explanation: "Every reader stops here; what follows cannot be found by the size. A lost page of the \
        file (zeros) looks like this.",
    fix: Some(
        "lossy: drops the bytes up to the next place from which records follow one another; none \
        if there is no such place",
    ),
};

/// PD1003: a record is longer than what is left.
pub static RECORD_PAST_END: Rule = Rule {
    code: "PD1003",
    name: "record-past-end",
    severity: Severity::Error,
    summary: "a record is longer than what is left",
    explanation: "Its size, or an earlier one, is wrong: perf stops with an error.",
    fix: Some("lossy: as for PD1002"),
};

/// PD1004: a record has a type that no kernel and no perf writes.
pub static RECORD_TYPE_WILD: Rule = Rule {
    code: "PD1004",
    name: "record-type-wild",
    severity: Severity::Error,
    summary: "a record has a type that no kernel and no perf writes",
    explanation: "Types of the kernel are small numbers from 1, those of perf begin at 64. perf refuses \
        the whole file at such a record.",
    fix: Some(
        "lossy: drops the record, or all bytes up to the next place from which records follow one \
        another",
    ),
};

/// PD1005: a record has a type that this version does not know.
pub static UNKNOWN_RECORD: Rule = Rule {
    code: "PD1005",
    name: "unknown-record",
    severity: Severity::Info,
    summary: "a record has a type that this version does not know",
    explanation: "Newer kernels and perf versions add types; the record is framed well and is kept. An \
        older perf may refuse it.",
    fix: None,
};

/// PD1006: a kernel record's size is no multiple of 8.
pub static RECORD_UNALIGNED: Rule = Rule {
    code: "PD1006",
    name: "record-unaligned",
    severity: Severity::Warning,
    summary: "a kernel record's size is no multiple of 8",
    explanation: "The kernel writes records in multiples of 8 bytes; only perf's own may be of any size.",
    fix: None,
};

/// PD2001: a sample's fields do not fit its record.
pub static SAMPLE_MALFORMED: Rule = Rule {
    code: "PD2001",
    name: "sample-malformed",
    severity: Severity::Error,
    summary: "a sample's fields do not fit its record",
    explanation: "perf gives up the whole file at such a sample (Can't parse sample, err = -14).",
    fix: Some("lossy: drops the sample"),
};

/// PD2002: a sample is longer than its fields.
pub static SAMPLE_LEFTOVER: Rule = Rule {
    code: "PD2002",
    name: "sample-leftover",
    severity: Severity::Warning,
    summary: "a sample is longer than its fields",
    explanation: "Bytes behind the last field of sample_type have no meaning; the attr may not be the one \
        that the sample was written for.",
    fix: None,
};

/// PD2003: a record's fields do not fit it.
pub static RECORD_MALFORMED: Rule = Rule {
    code: "PD2003",
    name: "record-malformed",
    severity: Severity::Error,
    summary: "a record's fields do not fit it",
    explanation: "Readers that trust its counts or its strings read past its end.",
    fix: Some("lossy: drops the record"),
};

/// PD2004: a feature's content does not fit its section.
pub static FEATURE_MALFORMED: Rule = Rule {
    code: "PD2004",
    name: "feature-malformed",
    severity: Severity::Warning,
    summary: "a feature's content does not fit its section",
    explanation: "perf reads past it, prints nonsense or crashes (report --header-only).",
    fix: Some("lossy: drops the feature; one that the records need is built anew"),
};

/// PD2005: a sample names an event id that no attr lists.
pub static UNKNOWN_EVENT_ID: Rule = Rule {
    code: "PD2005",
    name: "unknown-event-id",
    severity: Severity::Error,
    summary: "a sample names an event id that no attr lists",
    explanation: "Without its attr a sample cannot be read; perf gives up the whole file at such a record.",
    fix: Some("lossy: drops the record"),
};

/// PD3001: records are older than a round that was finished before them.
pub static TIME_BEFORE_ROUND: Rule = Rule {
    code: "PD3001",
    name: "time-before-round",
    severity: Severity::Warning,
    summary: "records are older than a round that was finished before them",
    explanation: "FINISHED_ROUND promises that no older record follows; perf sorts within rounds and shows \
        these records out of order.",
    fix: None,
};

/// PD3002: the SAMPLE_TIME feature does not enclose the samples.
pub static SAMPLE_TIME_WRONG: Rule = Rule {
    code: "PD3002",
    name: "sample-time-wrong",
    severity: Severity::Warning,
    summary: "the SAMPLE_TIME feature does not enclose the samples",
    explanation: "perf report --time with percentages cuts by it.",
    fix: Some("exact: writes the earliest and the latest time of the samples"),
};

/// PD3003: the COMPRESSED feature's mmap_len is smaller than what a record expands to.
pub static MMAP_LEN_SMALL: Rule = Rule {
    code: "PD3003",
    name: "mmap-len-small",
    severity: Severity::Error,
    summary: "the COMPRESSED feature's mmap_len is smaller than what a record expands to",
    explanation: "perf allocates that much per compressed record and silently loses the samples behind it.",
    fix: Some("exact: writes a length that holds every record"),
};

/// PD8001: compressed records do not expand.
pub static ZSTD_BROKEN: Rule = Rule {
    code: "PD8001",
    name: "zstd-broken",
    severity: Severity::Error,
    summary: "compressed records do not expand",
    explanation: "Blocks refer to earlier ones, so that what follows in the same frame cannot be expanded \
        either.",
    fix: Some("lossy: the blocks before the fault stay, the compressed records behind it go"),
};

/// PD8002: what the compressed records expand to is no sequence of records.
pub static EXPANDED_BROKEN: Rule = Rule {
    code: "PD8002",
    name: "expanded-broken",
    severity: Severity::Error,
    summary: "what the compressed records expand to is no sequence of records",
    explanation: "The format has no checksum: a changed byte in a block may expand to nonsense.",
    fix: Some(
        "lossy: the compressed records from that place on go, with the whole records in the first \
        of them",
    ),
};

/// PD8003: the last record in the compressed ones is not whole.
pub static EXPANDED_TORN: Rule = Rule {
    code: "PD8003",
    name: "expanded-torn",
    severity: Severity::Warning,
    summary: "the last record in the compressed ones is not whole",
    explanation: "The recorder was ended between two compressed records. Readers leave the part out.",
    fix: None,
};
