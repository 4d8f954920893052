//! The codes of apitrace traces: what each means, why it matters, what a repair does.
//!
//! The static of a rule is named like the rule; its text is its documentation.

use crate::report::{Rule, Severity};

/// Every rule of the format, by code.
pub static RULES: &[&Rule] = &[
    &NOTHING_RECORDED,
    &VERSION_UNKNOWN,
    &SEMANTIC_VERSION,
    &HEADER_TORN,
    &PROPERTY_ODD,
    &TORN_EVENT,
    &STREAM_DAMAGED,
    &CALLS_MISSING,
    &DEFINITION_MISSING,
    &SECOND_TRACE,
    &ARGUMENT_INDEX,
    &ENUM_VALUE,
    &INTEGER_OVERSIZED,
    &INTEGER_OVERLONG,
    &NAME_ODD,
    &ZERO_FLAG,
    &THREAD_DETAIL,
    &FLAGS_UNKNOWN,
    &BLOB_AS_TEXT,
    &TEXT_ODD,
    &COUNT_WILD,
    &ID_WILD,
    &LEAVE_NEVER_ENTERED,
    &LEAVE_TWICE,
    &CALLS_OPEN,
    &PLACEHOLDERS,
    &DONOR_DIFFERS,
    &TORN_CHUNK,
    &CHUNK_CORRUPT,
    &CHUNK_LENGTH_WRONG,
    &CHUNK_TOO_LARGE,
    &CHUNK_EMPTY,
    &TRAILING_BYTES,
    &CHECKSUM_WRONG,
    &SEEK_TABLE_WRONG,
    &NESTING_TOO_DEEP,
];

/// AT0001: the container holds nothing of a stream.
pub static NOTHING_RECORDED: Rule = Rule {
    code: "AT0001",
    name: "nothing-recorded",
    severity: Severity::Error,
    summary: "the container holds nothing of a stream",
    explanation: "The tracer writes a chunk when 1 MiB of the stream has come together, so that a \
        program killed before that leaves the two letters `at` and nothing else. apitrace \
        exits with 0 on such a file and shows nothing.",
    fix: None,
};

/// AT0002: the stream's version is none that is known.
pub static VERSION_UNKNOWN: Rule = Rule {
    code: "AT0002",
    name: "version-unknown",
    severity: Severity::Error,
    summary: "the stream's version is none that is known",
    explanation: "Versions 0 to 6 exist (lib/trace/trace_format.hpp). Readers refuse a higher one, and a \
        wrong one makes all that follows unreadable.",
    fix: None,
};

/// AT0003: the semantic version is higher than the version.
pub static SEMANTIC_VERSION: Rule = Rule {
    code: "AT0003",
    name: "semantic-version-newer",
    severity: Severity::Error,
    summary: "the semantic version is higher than the version",
    explanation: "apitrace 11.1 asserts that it is not (trace_parser.cpp, Parser::open) and dies. \
        Writers have written 6 in both ever since there are two.",
    fix: Some("exact: writes the version in both places"),
};

/// AT0004: the stream ends in its header.
pub static HEADER_TORN: Rule = Rule {
    code: "AT0004",
    name: "header-torn",
    severity: Severity::Error,
    summary: "the stream ends in its header",
    explanation: "No call was recorded, so that there is nothing to bring back.",
    fix: None,
};

/// AT0005: a property holds control characters.
pub static PROPERTY_ODD: Rule = Rule {
    code: "AT0005",
    name: "property-odd",
    severity: Severity::Warning,
    summary: "a property holds control characters",
    explanation: "Properties are shown by `apitrace info`. A NUL ends one early there, an escape reaches \
        the terminal.",
    fix: None,
};

/// AT1001: the stream ends inside an event.
pub static TORN_EVENT: Rule = Rule {
    code: "AT1001",
    name: "torn-event",
    severity: Severity::Error,
    summary: "the stream ends inside an event",
    explanation: "A program killed by SIGKILL leaves whole chunks of 1 MiB, and the last event ends \
        where the last chunk does. apitrace 11.1 says nothing about it and exits with 0. A \
        call whose leave is cut keeps its enter and stays open, which is legal.",
    fix: Some("lossy: cuts behind the last whole event"),
};

/// AT1002: bytes of the stream are no events.
pub static STREAM_DAMAGED: Rule = Rule {
    code: "AT1002",
    name: "stream-damaged",
    severity: Severity::Error,
    summary: "bytes of the stream are no events",
    explanation: "Readers end with `unknown event`, `unknown call detail` or `unknown type`, or read on \
        and show calls that nobody made: the format has no check sum. Where the stream goes on \
        is found by trying: 60 events have to follow one another, with names, indices and \
        numbers that fit. Leaves carry their call's number, which tells how many calls were \
        lost.",
    fix: Some(
        "lossy: drops the bytes, puts a placeholder in the place of every lost call so that all \
        others keep their numbers, and defines lost ids anew, from --donor if that knows them",
    ),
};

/// AT1003: the leaves' numbers say that calls are missing.
pub static CALLS_MISSING: Rule = Rule {
    code: "AT1003",
    name: "calls-missing",
    severity: Severity::Error,
    summary: "the leaves' numbers say that calls are missing",
    explanation: "Enters are numbered by their position. Where whole events are missing every later \
        leave belongs to another call for the reader than for the writer, and its values are \
        lost without a word.",
    fix: Some("synthetic: puts a placeholder in the place of every lost call"),
};

/// AT1004: an id is used that nothing defines.
pub static DEFINITION_MISSING: Rule = Rule {
    code: "AT1004",
    name: "definition-missing",
    severity: Severity::Error,
    summary: "an id is used that nothing defines",
    explanation: "An id's definition stands where it is used first. Without it readers take what follows \
        for the definition. The lost definition may lie in a stretch that was cut out.",
    fix: Some(
        "synthetic: defines the id where it is used first, by a name that says that it was \
        lost, or as --donor has it",
    ),
};

/// AT1005: a second trace follows the first one in the file.
pub static SECOND_TRACE: Rule = Rule {
    code: "AT1005",
    name: "second-trace",
    severity: Severity::Error,
    summary: "a second trace follows the first one in the file",
    explanation: "A process that forks and its child write through one file (apitrace issues 110 and \
        493). Readers take the second magic for a chunk's length.",
    fix: Some("with --part 1 or --part 2, lossy: keeps the one or the other; otherwise none"),
};

/// AT2001: an argument's index is not below the number of arguments.
pub static ARGUMENT_INDEX: Rule = Rule {
    code: "AT2001",
    name: "argument-index",
    severity: Severity::Error,
    summary: "an argument's index is not below the number of arguments",
    explanation: "`apitrace dump` reads the argument's name from behind the list of names and dies of \
        SIGSEGV.",
    fix: Some("lossy: drops the argument"),
};

/// AT2002: the value of an enum is no integer.
pub static ENUM_VALUE: Rule = Rule {
    code: "AT2002",
    name: "enum-value",
    severity: Severity::Error,
    summary: "the value of an enum is no integer",
    explanation: "Behind an enum's signature an integer of type 3 or 4 has to follow; readers exit with \
        `unexpected type`.",
    fix: Some("lossy: drops the argument"),
};

/// AT2003: an integer has more than 64 bits.
pub static INTEGER_OVERSIZED: Rule = Rule {
    code: "AT2003",
    name: "integer-oversized",
    severity: Severity::Warning,
    summary: "an integer has more than 64 bits",
    explanation: "Readers shift bits out of their word, and disagree on what is left.",
    fix: None,
};

/// AT2004: an integer takes more bytes than it needs.
pub static INTEGER_OVERLONG: Rule = Rule {
    code: "AT2004",
    name: "integer-overlong",
    severity: Severity::Warning,
    summary: "an integer takes more bytes than it needs",
    explanation: "No writer does that; all readers take it.",
    fix: Some("exact: writes it as short as it can be"),
};

/// AT2005: a name is not UTF-8 or holds control characters.
pub static NAME_ODD: Rule = Rule {
    code: "AT2005",
    name: "name-odd",
    severity: Severity::Warning,
    summary: "a name is not UTF-8 or holds control characters",
    explanation: "Names of functions, arguments, members, values and frames come from header files and \
        debug information. A NUL ends one early in C programs.",
    fix: None,
};

/// AT2006: a flag of a bitmask is zero and not the first one.
pub static ZERO_FLAG: Rule = Rule {
    code: "AT2006",
    name: "zero-flag",
    severity: Severity::Warning,
    summary: "a flag of a bitmask is zero and not the first one",
    explanation: "apitrace warns of it whenever it reads the trace, and shows the flags as if it was \
        never set.",
    fix: None,
};

/// AT2007: the thread is a detail of the call.
pub static THREAD_DETAIL: Rule = Rule {
    code: "AT2007",
    name: "thread-detail",
    severity: Severity::Error,
    summary: "the thread is a detail of the call",
    explanation: "The format's document has it for versions below 4; the parser of today exits with \
        `unknown call detail 3`.",
    fix: Some("lossy: drops the detail"),
};

/// AT2008: a call has flags that are not known.
pub static FLAGS_UNKNOWN: Rule = Rule {
    code: "AT2008",
    name: "flags-unknown",
    severity: Severity::Info,
    summary: "a call has flags that are not known",
    explanation: "Bit 0 says that the tracer made the call up. Readers pass over all others.",
    fix: None,
};

/// AT2009: a text stands for the bytes of a blob.
pub static BLOB_AS_TEXT: Rule = Rule {
    code: "AT2009",
    name: "blob-as-text",
    severity: Severity::Warning,
    summary: "a text stands for the bytes of a blob",
    explanation: "Tools that write a trace anew from text (apitrace issue 466) leave `blob(N)` as a text \
        of that form. The bytes are gone, and a replay uses the text's address.",
    fix: None,
};

/// AT2010: a text is not UTF-8 or holds a NUL.
pub static TEXT_ODD: Rule = Rule {
    code: "AT2010",
    name: "text-odd",
    severity: Severity::Info,
    summary: "a text is not UTF-8 or holds a NUL",
    explanation: "Texts are what the program gave; readers show them escaped, or end them at the NUL.",
    fix: None,
};

/// AT2011: a count or length is more than any reader has room for.
pub static COUNT_WILD: Rule = Rule {
    code: "AT2011",
    name: "count-wild",
    severity: Severity::Error,
    summary: "a count or length is more than any reader has room for",
    explanation: "Readers reserve room for all of it before they read the first item, and die of \
        bad_alloc: a few bytes are enough to end them.",
    fix: Some("as for AT1002"),
};

/// AT2012: an id is higher than any reader has room for.
pub static ID_WILD: Rule = Rule {
    code: "AT2012",
    name: "id-wild",
    severity: Severity::Error,
    summary: "an id is higher than any reader has room for",
    explanation: "Readers hold a table of all ids up to the highest. The highest of any tracer is 2464.",
    fix: Some("as for AT1002"),
};

/// AT3001: a call is left that was never entered.
pub static LEAVE_NEVER_ENTERED: Rule = Rule {
    code: "AT3001",
    name: "leave-never-entered",
    severity: Severity::Warning,
    summary: "a call is left that was never entered",
    explanation: "Readers pass over the leave without a word (trace_parser.cpp, parse_leave), and with \
        it over its values.",
    fix: Some("lossy: drops the leave"),
};

/// AT3002: a call is left that was left before.
pub static LEAVE_TWICE: Rule = Rule {
    code: "AT3002",
    name: "leave-twice",
    severity: Severity::Warning,
    summary: "a call is left that was left before",
    explanation: "Readers pass over the second leave without a word.",
    fix: Some("lossy: drops the leave"),
};

/// AT3003: calls were entered and never left.
pub static CALLS_OPEN: Rule = Rule {
    code: "AT3003",
    name: "calls-open",
    severity: Severity::Info,
    summary: "calls were entered and never left",
    explanation: "Legal: the call in which a program died, and those of its other threads. Readers show \
        them as incomplete and replay them as any other.",
    fix: Some("with --close-calls, synthetic: adds empty leaves; otherwise none"),
};

/// AT3004: calls stand in for lost ones.
pub static PLACEHOLDERS: Rule = Rule {
    code: "AT3004",
    name: "placeholders",
    severity: Severity::Info,
    summary: "calls stand in for lost ones",
    explanation: "A repair put them there, so that all other calls keep their numbers. They are calls of \
        a query that replays pass over, flagged as made up, with an argument named \
        `lost_call`.",
    fix: None,
};

/// AT3005: the donor defines ids in another way.
pub static DONOR_DIFFERS: Rule = Rule {
    code: "AT3005",
    name: "donor-differs",
    severity: Severity::Warning,
    summary: "the donor defines ids in another way",
    explanation: "Ids are fixed in a build of the tracer, so that a trace of the same build can supply \
        lost definitions. A trace of another build cannot, and nothing is taken from it.",
    fix: None,
};

/// AT8001: the file ends inside a chunk or a compressed stream.
pub static TORN_CHUNK: Rule = Rule {
    code: "AT8001",
    name: "torn-chunk",
    severity: Severity::Error,
    summary: "the file ends inside a chunk or a compressed stream",
    explanation: "A copy that broke off, a full disk, or a program killed while it wrote. apitrace warns \
        of a cut chunk and is silent about gzip, zstd and brotli.",
    fix: Some(
        "lossy: keeps what can be expanded, cuts behind the last whole event, and writes the \
        unit anew",
    ),
};

/// AT8002: a chunk or a compressed stream does not decode.
pub static CHUNK_CORRUPT: Rule = Rule {
    code: "AT8002",
    name: "chunk-corrupt",
    severity: Severity::Error,
    summary: "a chunk or a compressed stream does not decode",
    explanation: "apitrace does not look at the decoder's answer and parses what the buffer held before. \
        What stands before the fault can be read; calls near it may be wrong, since the bytes \
        at fault lie somewhere before the place where decoding fails.",
    fix: Some("as for AT1002; the unit is written anew"),
};

/// AT8003: a chunk's length does not lead to the next chunk.
pub static CHUNK_LENGTH_WRONG: Rule = Rule {
    code: "AT8003",
    name: "chunk-length-wrong",
    severity: Severity::Error,
    summary: "a chunk's length does not lead to the next chunk",
    explanation: "Readers lose everything behind it. The next chunk is found by its own form: full ones \
        begin with `80 80 40`.",
    fix: Some("exact: writes the length with which the chunk decodes; or as for AT1002"),
};

/// AT8004: a chunk is larger than readers have room for.
pub static CHUNK_TOO_LARGE: Rule = Rule {
    code: "AT8004",
    name: "chunk-too-large",
    severity: Severity::Error,
    summary: "a chunk is larger than readers have room for",
    explanation: "apitrace's buffer holds 1,223,370 compressed bytes, what 1 MiB takes at most; the \
        length is not compared with it (trace_file_snappy.cpp), so that a larger chunk \
        overwrites the reader's memory.",
    fix: Some("exact: writes it as chunks of at most 1 MiB"),
};

/// AT8005: a chunk holds nothing.
pub static CHUNK_EMPTY: Rule = Rule {
    code: "AT8005",
    name: "chunk-empty",
    severity: Severity::Error,
    summary: "a chunk holds nothing",
    explanation: "Readers take it for the end of the trace, or lose step. The writer never makes one.",
    fix: Some("exact: drops it"),
};

/// AT8006: bytes follow that are no chunk.
pub static TRAILING_BYTES: Rule = Rule {
    code: "AT8006",
    name: "trailing-bytes",
    severity: Severity::Warning,
    summary: "bytes follow that are no chunk",
    explanation: "Too few for a length, or bytes behind the end of a compressed stream.",
    fix: Some("lossy: drops them"),
};

/// AT8007: a check sum contradicts the bytes.
pub static CHECKSUM_WRONG: Rule = Rule {
    code: "AT8007",
    name: "checksum-wrong",
    severity: Severity::Error,
    summary: "a check sum contradicts the bytes",
    explanation: "Somewhere bytes are wrong that decode nevertheless. apitrace passes over the error. \
        Nothing says which calls are wrong, so that no sum is written over them.",
    fix: Some("none by itself: a check sum is not written over what may be wrong"),
};

/// AT8008: the table to seek by does not list the frames that there are.
pub static SEEK_TABLE_WRONG: Rule = Rule {
    code: "AT8008",
    name: "seek-table-wrong",
    severity: Severity::Warning,
    summary: "the table to seek by does not list the frames that there are",
    explanation: "Readers that seek go astray.",
    fix: Some("exact: builds the table anew"),
};

/// AT9001: values inside values, deeper than the limit.
pub static NESTING_TOO_DEEP: Rule = Rule {
    code: "AT9001",
    name: "nesting-too-deep",
    severity: Severity::Error,
    summary: "values inside values, deeper than the limit",
    explanation: "Readers recurse and die of SIGSEGV at some ten thousand levels. Real values were never \
        deeper than 2; the limit is 1,024.",
    fix: Some("as for AT1002"),
};
