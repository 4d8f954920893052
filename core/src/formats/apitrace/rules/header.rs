//! The header of the stream.

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    NOTHING_RECORDED = Rule {
        code: "AT0001",
        name: "nothing-recorded",
        severity: Severity::Error,
        summary: "the container holds no byte of a trace",
        problem: "The tracer writes a chunk once it has collected 1 MiB of the stream, or when the \
            program exits. A program that is killed before that leaves the two letters `at` and \
            nothing else. Damaged bytes may also read as calls that no tracer writes.",
        impact: "apitrace 11.1 shows nothing and exits 0. dump prints 0 calls.",
        remedy: Remedy::Next("No call was written to disk, so nothing can be repaired. Record \
            again. Let the program exit by itself or end it by SIGTERM or SIGINT: the tracer then \
            writes its buffer; SIGKILL loses it."),
        source: "apitrace 11.1, lib/trace/trace_ostream_snappy.cpp; measured with glxgears",
    };
    VERSION_UNKNOWN = Rule {
        code: "AT0002",
        name: "version-unknown",
        severity: Severity::Error,
        summary: "version_no is unknown, expected 0 to 6",
        problem: "The stream begins with its version. Versions 0 to 6 exist. The grammar of the \
            stream depends on the version, so nothing after an unknown one can be decoded with \
            certainty.",
        impact: "apitrace 11.1 refuses the trace. dump prints \"unsupported trace format version\" \
            and exits 1.",
        remedy: Remedy::Next("If a newer tracer wrote the trace, use a newer apitrace. Otherwise \
            the first chunk is damaged: if the semantic version after it is 6, repair sets both \
            to 6; else use another copy of the trace."),
        source: "apitrace 11.1, lib/trace/trace_format.hpp: TRACE_VERSION; \
            lib/trace/trace_parser.cpp: Parser::open",
    };
    SEMANTIC_VERSION = Rule {
        code: "AT0003",
        name: "semantic-version-newer",
        severity: Severity::Error,
        summary: "semantic_version_no is higher than version_no",
        problem: "From version 6 on the stream has two versions: one of the grammar and one of the \
            meaning of the calls. All writers have written 6 in both.",
        impact: "apitrace 11.1 aborts before the first call. An assertion in Parser::open fails \
            (SIGABRT).",
        remedy: Remedy::Fix("Sets the semantic version to the version.\n\
            Class: exact. Cost: none; every call stays.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_parser.cpp: Parser::open",
    };
    HEADER_TRUNCATED = Rule {
        code: "AT0004",
        name: "header-truncated",
        severity: Severity::Error,
        summary: "the stream ends inside its header",
        problem: "The header holds the versions and the properties of the trace, up to an empty \
            name. The stream ends before that: the file was cut, or a damaged length leads past \
            its end.",
        impact: "apitrace 11.1 shows no call and exits 0.",
        remedy: Remedy::Next("No call was recorded, so nothing can be repaired. Look for a \
            complete copy of the file, or record again."),
        source: "apitrace 11.1, lib/trace/trace_parser.cpp: Parser::open, parseProperties",
    };
    PROPERTY_CONTROL = Rule {
        code: "AT0005",
        name: "property-control-character",
        severity: Severity::Warning,
        summary: "a property contains a control character",
        problem: "Properties are pairs of text that the tracer writes, such as the name of the \
            process. No tracer writes control characters or a NUL into one, so the bytes are \
            damaged, or somebody made the trace by hand.",
        impact: "A program that prints the property passes the character to the terminal. \
            apitrace dump and info 11.1 do not show properties and accept the trace.",
        remedy: Remedy::Next("The original text is unknown, and the calls do not depend on it. \
            Treat the property as damaged; repair keeps it."),
        source: "apitrace 11.1, lib/trace/trace_parser.cpp: parseProperties",
    };
    MAGIC_WRONG = Rule {
        code: "AT0006",
        name: "magic-wrong",
        severity: Severity::Error,
        summary: "the magic of the file is invalid, but the data of a trace follows",
        problem: "A trace of snappy chunks begins with the two letters `at`, a gzip stream with \
            `1f 8b`, a zstd frame with `28 b5 2f fd`. Other bytes stand there, and data that \
            decodes to a trace follows them.",
        impact: "apitrace 11.1 takes the file for another container, and aborts (SIGABRT) while it \
            decodes it as brotli. dump prints no call.",
        remedy: Remedy::Fix("Writes the magic; of gzip the method and the flags, too.\n\
            Class: exact; lossy if the header of a gzip stream has another length. Cost: none; \
            every call stays.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_file.cpp: File::createForRead; measured with dump",
    };
    CONTAINER_MISSING = Rule {
        code: "AT0007",
        name: "container-missing",
        severity: Severity::Error,
        summary: "the stream of a trace is in no container",
        problem: "A trace is stored in chunks of snappy, or in gzip, zstd or brotli. The file \
            begins with the stream itself: a browser, a proxy or `gunzip` unpacked a trace that \
            was stored in gzip.",
        impact: "apitrace 11.1 takes the file for brotli, and aborts (SIGABRT) while it decodes \
            it. dump prints no call.",
        remedy: Remedy::Fix("Adds the magic and the headers of snappy chunks that store the stream \
            without compression; other faults of the stream are repaired first. `apitrace repack` \
            compresses the result.\n\
            Class: synthetic. Cost: none; every call stays.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_file.cpp: File::createForRead; apitrace issue 518; \
            measured with dump",
    };
}
