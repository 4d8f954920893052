//! The codes of apitrace traces: what each means, why it matters, what a repair does.
//!
//! The static of a rule is named like the rule; its text is its documentation.

use crate::report::rule::rules;
use crate::report::{Remedy, Rule, Severity};

rules! {
    NOTHING_RECORDED = Rule {
        code: "AT0001",
        name: "nothing-recorded",
        severity: Severity::Error,
        summary: "the container holds nothing of a stream",
        problem: "The tracer writes a chunk when 1 MiB of the stream has come together, so that a \
            program killed before that leaves the two letters `at` and nothing else. apitrace \
            exits with 0 on such a file and shows nothing.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    VERSION_UNKNOWN = Rule {
        code: "AT0002",
        name: "version-unknown",
        severity: Severity::Error,
        summary: "the stream's version is none that is known",
        problem: "Versions 0 to 6 exist (lib/trace/trace_format.hpp). Readers refuse a higher one, and a \
            wrong one makes all that follows unreadable.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    SEMANTIC_VERSION = Rule {
        code: "AT0003",
        name: "semantic-version-newer",
        severity: Severity::Error,
        summary: "the semantic version is higher than the version",
        problem: "apitrace 11.1 asserts that it is not (trace_parser.cpp, Parser::open) and dies. \
            Writers have written 6 in both ever since there are two.",
        impact: "",
        remedy: Remedy::Fix("exact: writes the version in both places"),
        source: "",
    };
    HEADER_TORN = Rule {
        code: "AT0004",
        name: "header-torn",
        severity: Severity::Error,
        summary: "the stream ends in its header",
        problem: "No call was recorded, so that there is nothing to bring back.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    PROPERTY_ODD = Rule {
        code: "AT0005",
        name: "property-odd",
        severity: Severity::Warning,
        summary: "a property holds control characters",
        problem: "Properties are shown by `apitrace info`. A NUL ends one early there, an escape reaches \
            the terminal.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    TORN_EVENT = Rule {
        code: "AT1001",
        name: "torn-event",
        severity: Severity::Error,
        summary: "the stream ends inside an event",
        problem: "A program killed by SIGKILL leaves whole chunks of 1 MiB, and the last event ends \
            where the last chunk does. apitrace 11.1 says nothing about it and exits with 0. A \
            call whose leave is cut keeps its enter and stays open, which is legal.",
        impact: "",
        remedy: Remedy::Fix("lossy: cuts behind the last whole event"),
        source: "",
    };
    STREAM_DAMAGED = Rule {
        code: "AT1002",
        name: "stream-damaged",
        severity: Severity::Error,
        summary: "bytes of the stream are no events",
        problem: "Readers end with `unknown event`, `unknown call detail` or `unknown type`, or read on \
            and show calls that nobody made: the format has no check sum. Where the stream goes on \
            is found by trying: 60 events have to follow one another, with names, indices and \
            numbers that fit. Leaves carry their call's number, which tells how many calls were \
            lost.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops the bytes, puts a placeholder in the place of every lost call so that all \
            others keep their numbers, and defines lost ids anew, from --donor if that knows them"),
        source: "",
    };
    CALLS_MISSING = Rule {
        code: "AT1003",
        name: "calls-missing",
        severity: Severity::Error,
        summary: "the leaves' numbers say that calls are missing",
        problem: "Enters are numbered by their position. Where whole events are missing every later \
            leave belongs to another call for the reader than for the writer, and its values are \
            lost without a word.",
        impact: "",
        remedy: Remedy::Fix("synthetic: puts a placeholder in the place of every lost call"),
        source: "",
    };
    DEFINITION_MISSING = Rule {
        code: "AT1004",
        name: "definition-missing",
        severity: Severity::Error,
        summary: "an id is used that nothing defines",
        problem: "An id's definition stands where it is used first. Without it readers take what follows \
            for the definition. The lost definition may lie in a stretch that was cut out.",
        impact: "",
        remedy: Remedy::Fix("synthetic: defines the id where it is used first, by a name that says that it was \
            lost, or as --donor has it"),
        source: "",
    };
    SECOND_TRACE = Rule {
        code: "AT1005",
        name: "second-trace",
        severity: Severity::Error,
        summary: "a second trace follows the first one in the file",
        problem: "A process that forks and its child write through one file (apitrace issues 110 and \
            493). Readers take the second magic for a chunk's length.",
        impact: "",
        remedy: Remedy::Fix("with --part 1 or --part 2, lossy: keeps the one or the other; otherwise none"),
        source: "",
    };
    ARGUMENT_INDEX = Rule {
        code: "AT2001",
        name: "argument-index",
        severity: Severity::Error,
        summary: "an argument's index is not below the number of arguments",
        problem: "`apitrace dump` reads the argument's name from behind the list of names and dies of \
            SIGSEGV.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops the argument"),
        source: "",
    };
    ENUM_VALUE = Rule {
        code: "AT2002",
        name: "enum-value",
        severity: Severity::Error,
        summary: "the value of an enum is no integer",
        problem: "Behind an enum's signature an integer of type 3 or 4 has to follow; readers exit with \
            `unexpected type`.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops the argument"),
        source: "",
    };
    INTEGER_OVERSIZED = Rule {
        code: "AT2003",
        name: "integer-oversized",
        severity: Severity::Warning,
        summary: "an integer has more than 64 bits",
        problem: "Readers shift bits out of their word, and disagree on what is left.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    INTEGER_OVERLONG = Rule {
        code: "AT2004",
        name: "integer-overlong",
        severity: Severity::Warning,
        summary: "an integer takes more bytes than it needs",
        problem: "No writer does that; all readers take it.",
        impact: "",
        remedy: Remedy::Fix("exact: writes it as short as it can be"),
        source: "",
    };
    NAME_ODD = Rule {
        code: "AT2005",
        name: "name-odd",
        severity: Severity::Warning,
        summary: "a name is not UTF-8 or holds control characters",
        problem: "Names of functions, arguments, members, values and frames come from header files and \
            debug information. A NUL ends one early in C programs.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    ZERO_FLAG = Rule {
        code: "AT2006",
        name: "zero-flag",
        severity: Severity::Warning,
        summary: "a flag of a bitmask is zero and not the first one",
        problem: "apitrace warns of it whenever it reads the trace, and shows the flags as if it was \
            never set.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    THREAD_DETAIL = Rule {
        code: "AT2007",
        name: "thread-detail",
        severity: Severity::Error,
        summary: "the thread is a detail of the call",
        problem: "The format's document has it for versions below 4; the parser of today exits with \
            `unknown call detail 3`.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops the detail"),
        source: "",
    };
    FLAGS_UNKNOWN = Rule {
        code: "AT2008",
        name: "flags-unknown",
        severity: Severity::Info,
        summary: "a call has flags that are not known",
        problem: "Bit 0 says that the tracer made the call up. Readers pass over all others.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    BLOB_AS_TEXT = Rule {
        code: "AT2009",
        name: "blob-as-text",
        severity: Severity::Warning,
        summary: "a text stands for the bytes of a blob",
        problem: "Tools that write a trace anew from text (apitrace issue 466) leave `blob(N)` as a text \
            of that form. The bytes are gone, and a replay uses the text's address.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    TEXT_ODD = Rule {
        code: "AT2010",
        name: "text-odd",
        severity: Severity::Info,
        summary: "a text is not UTF-8 or holds a NUL",
        problem: "Texts are what the program gave; readers show them escaped, or end them at the NUL.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    COUNT_WILD = Rule {
        code: "AT2011",
        name: "count-wild",
        severity: Severity::Error,
        summary: "a count or length is more than any reader has room for",
        problem: "Readers reserve room for all of it before they read the first item, and die of \
            bad_alloc: a few bytes are enough to end them.",
        impact: "",
        remedy: Remedy::Fix("as for AT1002"),
        source: "",
    };
    ID_WILD = Rule {
        code: "AT2012",
        name: "id-wild",
        severity: Severity::Error,
        summary: "an id is higher than any reader has room for",
        problem: "Readers hold a table of all ids up to the highest. The highest of any tracer is 2464.",
        impact: "",
        remedy: Remedy::Fix("as for AT1002"),
        source: "",
    };
    LEAVE_NEVER_ENTERED = Rule {
        code: "AT3001",
        name: "leave-never-entered",
        severity: Severity::Warning,
        summary: "a call is left that was never entered",
        problem: "Readers pass over the leave without a word (trace_parser.cpp, parse_leave), and with \
            it over its values.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops the leave"),
        source: "",
    };
    LEAVE_TWICE = Rule {
        code: "AT3002",
        name: "leave-twice",
        severity: Severity::Warning,
        summary: "a call is left that was left before",
        problem: "Readers pass over the second leave without a word.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops the leave"),
        source: "",
    };
    CALLS_OPEN = Rule {
        code: "AT3003",
        name: "calls-open",
        severity: Severity::Info,
        summary: "calls were entered and never left",
        problem: "Legal: the call in which a program died, and those of its other threads. Readers show \
            them as incomplete and replay them as any other.",
        impact: "",
        remedy: Remedy::Fix("with --close-calls, synthetic: adds empty leaves; otherwise none"),
        source: "",
    };
    PLACEHOLDERS = Rule {
        code: "AT3004",
        name: "placeholders",
        severity: Severity::Info,
        summary: "calls stand in for lost ones",
        problem: "A repair put them there, so that all other calls keep their numbers. They are calls of \
            a query that replays pass over, flagged as made up, with an argument named \
            `lost_call`.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    DONOR_DIFFERS = Rule {
        code: "AT3005",
        name: "donor-differs",
        severity: Severity::Warning,
        summary: "the donor defines ids in another way",
        problem: "Ids are fixed in a build of the tracer, so that a trace of the same build can supply \
            lost definitions. A trace of another build cannot, and nothing is taken from it.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    TORN_CHUNK = Rule {
        code: "AT8001",
        name: "torn-chunk",
        severity: Severity::Error,
        summary: "the file ends inside a chunk or a compressed stream",
        problem: "A copy that broke off, a full disk, or a program killed while it wrote. apitrace warns \
            of a cut chunk and is silent about gzip, zstd and brotli.",
        impact: "",
        remedy: Remedy::Fix("lossy: keeps what can be expanded, cuts behind the last whole event, and writes the \
            unit anew"),
        source: "",
    };
    CHUNK_CORRUPT = Rule {
        code: "AT8002",
        name: "chunk-corrupt",
        severity: Severity::Error,
        summary: "a chunk or a compressed stream does not decode",
        problem: "apitrace does not look at the decoder's answer and parses what the buffer held before. \
            What stands before the fault can be read; calls near it may be wrong, since the bytes \
            at fault lie somewhere before the place where decoding fails.",
        impact: "",
        remedy: Remedy::Fix("as for AT1002; the unit is written anew"),
        source: "",
    };
    CHUNK_LENGTH_WRONG = Rule {
        code: "AT8003",
        name: "chunk-length-wrong",
        severity: Severity::Error,
        summary: "a chunk's length does not lead to the next chunk",
        problem: "Readers lose everything behind it. The next chunk is found by its own form: full ones \
            begin with `80 80 40`.",
        impact: "",
        remedy: Remedy::Fix("exact: writes the length with which the chunk decodes; or as for AT1002"),
        source: "",
    };
    CHUNK_TOO_LARGE = Rule {
        code: "AT8004",
        name: "chunk-too-large",
        severity: Severity::Error,
        summary: "a chunk is larger than readers have room for",
        problem: "apitrace's buffer holds 1,223,370 compressed bytes, what 1 MiB takes at most; the \
            length is not compared with it (trace_file_snappy.cpp), so that a larger chunk \
            overwrites the reader's memory.",
        impact: "",
        remedy: Remedy::Fix("exact: writes it as chunks of at most 1 MiB"),
        source: "",
    };
    CHUNK_EMPTY = Rule {
        code: "AT8005",
        name: "chunk-empty",
        severity: Severity::Error,
        summary: "a chunk holds nothing",
        problem: "Readers take it for the end of the trace, or lose step. The writer never makes one.",
        impact: "",
        remedy: Remedy::Fix("exact: drops it"),
        source: "",
    };
    TRAILING_BYTES = Rule {
        code: "AT8006",
        name: "trailing-bytes",
        severity: Severity::Warning,
        summary: "bytes follow that are no chunk",
        problem: "Too few for a length, or bytes behind the end of a compressed stream.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops them"),
        source: "",
    };
    CHECKSUM_WRONG = Rule {
        code: "AT8007",
        name: "checksum-wrong",
        severity: Severity::Error,
        summary: "a check sum contradicts the bytes",
        problem: "Somewhere bytes are wrong that decode nevertheless. apitrace passes over the error. \
            Nothing says which calls are wrong, so that no sum is written over them.",
        impact: "",
        remedy: Remedy::Fix("none by itself: a check sum is not written over what may be wrong"),
        source: "",
    };
    SEEK_TABLE_WRONG = Rule {
        code: "AT8008",
        name: "seek-table-wrong",
        severity: Severity::Warning,
        summary: "the table to seek by does not list the frames that there are",
        problem: "Readers that seek go astray.",
        impact: "",
        remedy: Remedy::Fix("exact: builds the table anew"),
        source: "",
    };
    NESTING_TOO_DEEP = Rule {
        code: "AT9001",
        name: "nesting-too-deep",
        severity: Severity::Error,
        summary: "values inside values, deeper than the limit",
        problem: "Readers recurse and die of SIGSEGV at some ten thousand levels. Real values were never \
            deeper than 2; the limit is 1,024.",
        impact: "",
        remedy: Remedy::Fix("as for AT1002"),
        source: "",
    };
}
