//! The content of events.

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    ARGUMENT_INDEX = Rule {
        code: "AT2001",
        name: "argument-index",
        severity: Severity::Error,
        summary: "an argument index is out of range",
        problem: "An argument carries its index in the signature of the function. This index is \
            not below the number of arguments of the signature.",
        impact: "apitrace dump 11.1 crashes (SIGSEGV). It reads the name of the argument past the \
            end of the list of names and prints no call at all.",
        remedy: Remedy::Fix("Writes the index of the only argument that the event lacks: a call \
            has all arguments of its function, and an enter those that other enters have. If \
            several are missing, drops the argument; the call and its other arguments stay.\n\
            Class: lossy. Cost: the value of an argument that is dropped.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_dump.cpp: Dumper::visit; measured with dump",
    };
    ENUM_VALUE = Rule {
        code: "AT2002",
        name: "enum-value",
        severity: Severity::Error,
        summary: "an enum value is not an integer",
        problem: "After the signature of an enum follows its value, an integer of type 3 or 4. \
            Here another type follows.",
        impact: "apitrace 11.1 stops at the call. dump prints \"unexpected type\" and exits 1.",
        remedy: Remedy::Fix("Drops the argument; the call and its other arguments stay.\n\
            Class: lossy. Cost: the value of this argument.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_parser.cpp: parse_enum, parse_sint",
    };
    INTEGER_OVERSIZED = Rule {
        code: "AT2003",
        name: "integer-oversized",
        severity: Severity::Warning,
        summary: "an integer is out of range: more than 64 bits",
        problem: "Integers are stored in groups of 7 bits without a length. This one has more \
            than 64 bits.",
        impact: "Readers drop different bits of the integer. apitrace dump 11.1 keeps the lower \
            64 bits and exits 0.",
        remedy: Remedy::Next("The intended value is unknown, so repair keeps the bytes. If the \
            call matters, compare it with another recording of the same program."),
        source: "apitrace 11.1, lib/trace/trace_parser.cpp: read_uint; measured with dump",
    };
    INTEGER_OVERLONG = Rule {
        code: "AT2004",
        name: "integer-overlong",
        severity: Severity::Warning,
        summary: "an integer takes more bytes than it needs",
        problem: "Integers are stored in groups of 7 bits. This one ends in groups that are zero. \
            The tracer always writes the shortest form, so another program wrote these bytes, or \
            they are damaged.",
        impact: "All known readers accept the integer. apitrace dump 11.1 shows the right value.",
        remedy: Remedy::Next("Nothing has to be done if another program wrote the trace. \
            Otherwise a bit may be damaged and the value wrong; compare with another copy."),
        source: "apitrace 11.1, lib/trace/trace_writer.cpp: _writeUInt; \
            lib/trace/trace_parser.cpp: read_uint",
    };
    NAME_INVALID = Rule {
        code: "AT2005",
        name: "invalid-name",
        severity: Severity::Warning,
        summary: "a name is not UTF-8, has a control character, or is not an identifier",
        problem: "Names of functions, arguments, members, enum values and stack frames come from \
            header files and debug information, which are plain text.",
        impact: "apitrace dump 11.1 prints the bytes as they are, up to a NUL. A terminal may act \
            on a control character.",
        remedy: Remedy::Next("The right name is unknown, and calls are decoded without it, so \
            repair keeps the name. The API's header files or a trace by the same build of the \
            tracer show it."),
        source: "apitrace 11.1, lib/trace/trace_parser.cpp: read_string; measured with dump",
    };
    ZERO_FLAG = Rule {
        code: "AT2006",
        name: "zero-flag",
        severity: Severity::Warning,
        summary: "a bitmask flag is 0, but it is not the first flag",
        problem: "The signature of a bitmask lists its flags. A flag of value 0 stands for no bit \
            set and has to be the first one.",
        impact: "apitrace 11.1 warns on every read (\"bitmask B is zero but is not first flag\") \
            and never shows the flag.",
        remedy: Remedy::Next("The calls are complete and replay as recorded; only the name of the \
            flag is missing from dump. Repair keeps the signature."),
        source: "apitrace 11.1, lib/trace/trace_parser.cpp: parse_bitmask_sig; measured with dump",
    };
    THREAD_DETAIL = Rule {
        code: "AT2007",
        name: "thread-detail",
        severity: Severity::Error,
        summary: "the thread of a call is stored as a detail",
        problem: "The published description of the format has the thread as detail 3 of a call \
            in versions below 4. No release of apitrace reads it.",
        impact: "apitrace 11.1 stops at the call. dump prints \"unknown call detail 3\" and exits \
            1.",
        remedy: Remedy::Fix("Drops the detail; the call counts for thread 0, as in all traces of \
            these versions.\n\
            Class: lossy. Cost: the number of the thread.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_parser.cpp: parse_call_details; measured with dump",
    };
    FLAGS_UNKNOWN = Rule {
        code: "AT2008",
        name: "flags-unknown",
        severity: Severity::Info,
        summary: "a call has unknown flags",
        problem: "Bit 0 of the flags marks a call that the tracer made up. Other bits are unknown \
            to this version.",
        impact: "apitrace 11.1 ignores the flags and shows the call.",
        remedy: Remedy::Next("Nothing has to be done: the call is complete. A newer apitrace may \
            know the flags."),
        source: "apitrace 11.1, lib/trace/trace_format.hpp: CALL_FLAGS; measured with dump",
    };
    BLOB_AS_TEXT = Rule {
        code: "AT2009",
        name: "blob-as-text",
        severity: Severity::Warning,
        summary: "a string of the form blob(N) replaces a blob",
        problem: "Programs that rewrite a trace from text cannot copy the bytes of a blob, such \
            as a texture or a shader, and leave its size as a string.",
        impact: "apitrace replay passes the string to the API instead of the data. dump 11.1 shows \
            the string and exits 0.",
        remedy: Remedy::Next("The bytes are lost. Use the trace from before it was rewritten, or \
            record again."),
        source: "apitrace issue 466; measured with dump 11.1",
    };
    TEXT_NOT_UTF8 = Rule {
        code: "AT2010",
        name: "text-not-utf8",
        severity: Severity::Info,
        summary: "a string is not UTF-8 or contains a NUL",
        problem: "Strings are the bytes that the program passed to the API, in any encoding.",
        impact: "apitrace dump 11.1 shows such bytes as octal escapes, up to a NUL.",
        remedy: Remedy::Next("Nothing has to be done if the program uses another encoding. In a \
            trace of ASCII text it may be damage; compare with another copy."),
        source: "apitrace 11.1, lib/trace/trace_dump.cpp: Dumper::visit; measured with dump",
    };
    COUNT_RANGE = Rule {
        code: "AT2011",
        name: "count-out-of-range",
        severity: Severity::Error,
        summary: "a count or length is out of range",
        problem: "An array, a string or a signature states more items than readers have room for. \
            The count is damaged, or the trace is hostile: a few bytes are enough.",
        impact: "apitrace 11.1 aborts before the first call. It reserves memory for all items \
            first and dies of std::bad_alloc.",
        remedy: Remedy::Fix("Takes the event for damage: drops it, and resumes at the first \
            position from which events follow one another. A placeholder replaces each lost \
            call.\n\
            Class: lossy. Cost: the call with the count, and calls that cannot be told from it.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_parser.cpp: parse_array, read_string; measured \
            with dump",
    };
    ID_RANGE = Rule {
        code: "AT2012",
        name: "id-out-of-range",
        severity: Severity::Error,
        summary: "an id is out of range",
        problem: "Readers hold a table of all ids up to the highest one. The highest id of any \
            tracer is 3427 (D3D), so this one is damaged or hostile.",
        impact: "apitrace 11.1 aborts before the first call. It grows the table up to the id and \
            dies of std::bad_alloc.",
        remedy: Remedy::Fix("Takes the event for damage: drops it, and resumes at the first \
            position from which events follow one another. A placeholder replaces each lost \
            call.\n\
            Class: lossy. Cost: the call with the id, and calls that cannot be told from it.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_parser.cpp: lookup; measured with dump",
    };
    VALUE_UNLISTED = Rule {
        code: "AT2013",
        name: "value-unlisted",
        severity: Severity::Info,
        summary: "an enum has a value that the names of its API do not include",
        problem: "The signature lists all names of an API with their values. The program passed \
            another value, or the value is damaged. Each value is reported at its first use.",
        impact: "apitrace 11.1 shows the number instead of a name and replays the call.",
        remedy: Remedy::Next("Nothing has to be done if the program passes such a value. If it \
            should not, compare the call with another recording."),
        source: "188 sound traces: 3 of 588,026 such values are not listed; measured with dump",
    };
    VALUE_IMPOSSIBLE = Rule {
        code: "AT2014",
        name: "value-impossible",
        severity: Severity::Warning,
        summary: "a boolean is neither 0 nor 1, or a bitmask has a bit that no flag has",
        problem: "An enum of the values 0 and 1 has another one, or a bit is set that the \
            signature of the bitmask does not list. The value is damaged, or the program passed \
            it by mistake. Each value is reported at its first use.",
        impact: "apitrace 11.1 shows the number instead of a name and replays the call.",
        remedy: Remedy::Next("The original value is unknown, so repair keeps the bytes. Compare \
            the call with another recording of the same program."),
        source: "188 sound traces: none of 464,201 such values; measured with dump 11.1",
    };
    DEFINITION_DIFFERS = Rule {
        code: "AT2015",
        name: "definition-differs",
        severity: Severity::Error,
        summary: "one byte of a definition differs from the build that wrote the trace",
        problem: "Ids, names and values are constants of a build of the tracer. All other \
            definitions agree with a known build, and one byte of this definition does not: it is \
            damaged.",
        impact: "apitrace 11.1 shows the wrong name or value in every call that uses the \
            definition. replay does not call a function whose name is wrong.",
        remedy: Remedy::Fix("Writes the definition of the build.\n\
            Class: lossy, since nothing in the file determines the byte. Cost: none.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "195 traces of several releases: 0 conflicts within a build; measured with dump \
            11.1",
    };
    VALUE_RARE = Rule {
        code: "AT2016",
        name: "value-rare",
        severity: Severity::Info,
        summary: "a value that is used once differs in one bit from one that repeats",
        problem: "Programs pass the same handles again and again, and drivers report the same \
            names. Here an address is used once in the whole trace, and one that differs in a \
            single bit at least 8 times, or twice if the two are 256 MiB or more apart. Or an \
            address or enum stands once between two values that have another one, which differs \
            in one bit, between them in all other lists or rounds. Or a name occurs once and its \
            neighbour at least twice, or has a part that no other name has; or a list of names \
            has one character that no name has. Or all numbers of an argument repeat but one, \
            which differs in one bit from another, not by rounding or by a factor of 2, 4 or 16, \
            and is neither a round number nor one of few decimal digits; or a number interrupts \
            a row of numbers that count upwards, and one bit continues the row. The value may be \
            damaged: nothing in the trace proves it.",
        impact: "apitrace 11.1 shows the value as it is. replay cannot map a handle that no call \
            returned.",
        remedy: Remedy::Next("Nothing has to be done if the program passes such a value. If it \
            should not, compare the call with another recording."),
        source: "measured with flipped bits: cargo run -p tracemend-tools --bin \
            apitrace_campaign -- silent",
    };
}
