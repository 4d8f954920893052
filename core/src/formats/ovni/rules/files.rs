//! Rules of the files: headers of streams, and the keys of `stream.json`.
#![allow(missing_docs, reason = "the texts of a rule are its documentation")]

use super::{CORRECT_METADATA, NOTHING_REQUIRED};
use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    STREAM_MAGIC = Rule {
        code: "OV0001",
        name: "stream-magic",
        severity: Severity::Error,
        summary: "stream.obs does not begin with `ovni`",
        problem: "The first four bytes of a stream are `ovni`. Other bytes mean that the start of \
            the file was overwritten, or that it is not a stream.",
        impact: "ovniemu refuses the whole trace. The other tools of ovni refuse the stream as \
            well.",
        remedy: Remedy::Fix("Writes `ovni` and version 1. If no event follows anywhere, replaces \
            the \
            stream by one in which the thread starts and ends.\n\
            Class: exact if a known event follows the header, else lossy. Cost: none; what cannot \
            be read.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/stream.c",
    };
    STREAM_VERSION = Rule {
        code: "OV0002",
        name: "stream-version",
        severity: Severity::Error,
        summary: "the version of stream.obs is not 1",
        problem: "Every release of libovni has written version 1 into the header of a stream. \
            Another number is damage.",
        impact: "ovniemu refuses the whole trace. The other tools of ovni refuse the stream as \
            well.",
        remedy: Remedy::Fix("Writes version 1. If no event follows anywhere, replaces the \
            stream by one in which the thread starts and ends.\n\
            Class: exact if a known event follows the header, else lossy. Cost: none; what cannot \
            be read.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/stream.c",
    };
    FOREIGN_ORDER = Rule {
        code: "OV0003",
        name: "foreign-byte-order",
        severity: Severity::Error,
        summary: "stream.obs was written on a machine of the other byte order",
        problem: "libovni writes numbers in the byte order of the machine. The version of this \
            stream is 1 when it is read as a big-endian number. Its events are not checked.",
        impact: "ovniemu on a little-endian machine refuses the whole trace.",
        remedy: Remedy::Next("Read the trace with the tools of ovni on a machine of the byte order \
            that wrote it:\n\
            \x20 ovniemu -l trace/"),
        source: "ovni 1.14.0, include/ovni.h: struct ovni_stream_header; src/emu/stream.c",
    };
    STREAM_HEADER_TRUNCATED = Rule {
        code: "OV0004",
        name: "stream-header-truncated",
        severity: Severity::Error,
        summary: "stream.obs is shorter than its header of 8 bytes",
        problem: "A full disk or an interrupted copy leaves less than the header, or an empty \
            file. No event of the thread is left.",
        impact: "ovniemu refuses the whole trace because of one such stream.",
        remedy: Remedy::Fix("Writes a header and two events: the thread starts on the virtual CPU \
            and ends.\n\
            Class: synthetic; lossy if a part of the header is replaced.\n\
            Cost: no event. The events of the thread were never written, or were cut off.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/stream.c; measured with streams of 0 to 7 bytes",
    };
    RESERVED_FLAGS = Rule {
        code: "OV0005",
        name: "reserved-flags",
        severity: Severity::Warning,
        summary: "reserved bits in the flags of an event are set",
        problem: "Bits 5 to 7 of the flags have no meaning in any version, and libovni writes 0. A \
            set bit is damage, or a newer version. Reported once per stream.",
        impact: "The tools of ovni 1.14 ignore these bits.",
        remedy: NOTHING_REQUIRED,
        source: "ovni 1.14.0, include/ovni.h: enum ovni_ev_flags",
    };
    JSON_SYNTAX = Rule {
        code: "OV0101",
        name: "json-syntax",
        severity: Severity::Error,
        summary: "stream.json is not a JSON object",
        problem: "A full disk or an interrupted copy leaves an empty or truncated file. Editors of \
            Windows write UTF-16, or a byte order mark before UTF-8. Comments are legal for the \
            tools of ovni, every other deviation from JSON is not.",
        impact: "ovniemu refuses the whole trace because of one such file.",
        remedy: Remedy::Fix("Writes UTF-16 as UTF-8, and drops a byte order mark. Corrects the \
            syntax: adds missing quotes, commas and brackets, drops \
            bytes that do not fit, and a line at worst. If most of the text is lost, writes the \
            metadata again: loom, process and thread from the path, models and CPUs from the \
            events, other keys from the other threads. Closes the thread if it has not ended.\n\
            Class: lossy; exact for a byte order mark; synthetic if the file is empty.\n\
            Cost: the bytes that do not fit; or keys that only this file had, such as titles of \
            marks.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/stream.c; RFC 8259",
    };
    JSON_DUPLICATE_KEY = Rule {
        code: "OV0102",
        name: "json-duplicate-key",
        severity: Severity::Error,
        summary: "an object in stream.json has a key twice",
        problem: "libovni writes each key once. An editor or a merge of two files can write it \
            twice.",
        impact: "ovniemu refuses the whole trace. Other JSON readers take the first or the last \
            value.",
        remedy: Remedy::Fix("Drops the second one, if both have the same value. If the values \
            differ, remove one of them with an editor.\n\
            Class: lossy. Cost: none, because both values are equal.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/parson.c: parse_object_value",
    };
    JSON_TRAILING = Rule {
        code: "OV0103",
        name: "json-trailing",
        severity: Severity::Warning,
        summary: "stream.json has trailing bytes after the value",
        problem: "A shorter text that was written over a longer one leaves the rest of the longer \
            one.",
        impact: "ovniemu ignores these bytes. Other JSON readers refuse the file.",
        remedy: Remedy::Next("Remove the trailing bytes with an editor. The span of the finding is \
            the part to remove."),
        source: "ovni 1.14.0, src/parson.c: json_parse_string_with_comments",
    };
    METADATA_VERSION = Rule {
        code: "OV0110",
        name: "metadata-version",
        severity: Severity::Error,
        summary: "`version` of stream.json is not 3",
        problem: "libovni 1.11 and later write version 3. Older versions have other files: \
            versions 1 and 2 use thread.TID.obs instead of stream.obs.",
        impact: "ovniemu 1.14 refuses the whole trace.",
        remedy: Remedy::Fix("Adds version 3, if the key is missing and the other keys are those of \
            version 3. Sets another value to 3, if other streams have version 3, or libovni 1.11 \
            to 1.14 wrote this one.\n\
            Class: synthetic; lossy if it replaces a value. Cost: none; the other value.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/stream.c: check_version",
    };
    MISSING_KEY = Rule {
        code: "OV0111",
        name: "missing-key",
        severity: Severity::Error,
        summary: "a mandatory key of stream.json is missing",
        problem: "The keys ovni.part, tid, pid, loom, require, lib.version and lib.commit are \
            mandatory in every stream of a thread, and app_id in one stream of each process. \
            `nranks` is mandatory if `rank` exists.",
        impact: "ovniemu refuses the whole trace because of one missing key.",
        remedy: Remedy::Fix("Adds the missing keys: tid, pid and loom from the path, require from \
            the events, app_id and nranks from the other processes, or else app_id 1 and the \
            highest rank plus 1.\n\
            Class: synthetic.\n\
            Cost: none. An unknown version of libovni is written as `unknown`.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/stream.c, src/emu/thread.c, src/emu/proc.c",
    };
    BAD_VALUE = Rule {
        code: "OV0112",
        name: "bad-value",
        severity: Severity::Error,
        summary: "a value in stream.json has the wrong type or is out of range",
        problem: "The emulator casts numbers to int: ids are above 0, ranks, CPUs and physical ids \
            are at least 0 and at most 2147483647. Mark types and counters are numbered from 0 to \
            99.",
        impact: "ovniemu refuses the whole trace.",
        remedy: Remedy::Fix("Sets the value as if the key were missing: tid, pid and loom from the \
            path, require from the events, app_id, rank and nranks from the other threads and \
            processes. Of rank and nranks that contradict each other, the one that the other \
            processes contradict; nothing without other processes. Other keys have no fix: correct \
            them with an editor.\n\
            Class: lossy. Cost: the invalid value.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/thread.c, src/emu/proc.c, src/emu/loom.c, \
            src/emu/ovni/mark.c",
    };
    TOLERATED_VALUE = Rule {
        code: "OV0113",
        name: "tolerated-value",
        severity: Severity::Warning,
        summary: "a value in stream.json is invalid, but the tools accept it",
        problem: "libovni does not write such values: fractions, a version of 3.9, CPUs without a \
            key, values of the wrong type where the tools do not look.",
        impact: "ovniemu reads another value than the file has. It cuts off fractions, reads \
            version 3.9 as 3, a missing index or phyid as 0 and a rank that is not a number as 0, \
            reads a text up to NUL, and ignores other values of the wrong type.",
        remedy: Remedy::Fix("Sets a value of ovni as that of OV0112 is set, and version 3 and \
            app_id as ovniemu reads them. Other keys have no fix: correct them with an editor.\n\
            Class: lossy. Cost: the invalid value.\n\
            Run:\n\
            \x20 tracemend repair trace/ --lossy-warnings -o repaired/"),
        source: "ovni 1.14.0, src/emu/stream.c, src/emu/loom.c; measured",
    };
    UNSUPPORTED_MODEL = Rule {
        code: "OV0114",
        name: "unsupported-model-version",
        severity: Severity::Error,
        summary: "ovni.require asks for an unsupported version of a model",
        problem: "The major version must be the emulator's, and the minor version at most the \
            emulator's. ovni 1.14.0 supports ovni 1.1, nanos6 1.1, nosv 2.7, nodes 1.0, tampi 1.0, \
            mpi 1.0, kernel 1.0 and openmp 1.2.",
        impact: "ovniemu 1.14 refuses the whole trace.",
        remedy: Remedy::Fix("If another stream requires a supported version of the model, sets the \
            newest of these: one run has one runtime.\n\
            Class: lossy. Cost: the stored version.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/\n\
            Otherwise use the release of ovni that the runtime was built with, or a newer one. If \
            only the minor version is too high and the events are known, lower it in a copy with \
            an editor, then check it:\n\
            \x20 tracemend check corrected/"),
        source: "ovni 1.14.0, src/emu/model.c: version comparison; the lists of events of each \
            model",
    };
    UNSAFE_NAME = Rule {
        code: "OV0115",
        name: "unsafe-name",
        severity: Severity::Error,
        summary: "a name in stream.json is a path that leads out of the trace",
        problem: "The emulator makes file names from the names of hardware counters without a \
            check. Names of looms must not have a slash. Titles and labels with `../` are \
            suspicious.",
        impact: "ovniemu writes outside the trace directory for a counter named `../../x`. It \
            refuses a loom whose name has a slash. Do not run it on such a trace.",
        remedy: Remedy::Fix("Sets the name of a loom to that of its directory.\n\
            Class: lossy. Cost: the stored name.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/\n\
            Treat the trace as hostile if you did not write it. Otherwise rename the counter or \
            mark in a copy with an editor, then check it:\n\
            \x20 tracemend check corrected/"),
        source: "ovni 1.14.0, src/emu/loom.c, src/emu/nosv; measured",
    };
    UNKNOWN_PART = Rule {
        code: "OV0116",
        name: "unknown-part",
        severity: Severity::Warning,
        summary: "ovni.part is not `thread`",
        problem: "Every stream of libovni 1.14 belongs to a thread. The format allows streams of \
            other parts for future versions. It is an error if the stream has an event.",
        impact: "ovniemu ignores the stream, or refuses the whole trace if it has an event.",
        remedy: Remedy::Fix("Sets it to `thread`, if the stream has events and lies in the \
            directory of a thread.\n\
            Class: lossy. Cost: the other name.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/system.c; measured",
    };
    UNFINISHED_STREAM = Rule {
        code: "OV0117",
        name: "unfinished-stream",
        severity: Severity::Error,
        summary: "ovni.finished is missing or not 1",
        problem: "libovni writes ovni.finished in ovni_thread_free. The process was killed or the \
            thread never made that call. Its metadata is incomplete: require, loom_cpus, rank and \
            marks are missing. Its stream ends at the last flush, sometimes inside an event.",
        impact: "ovniemu refuses the whole trace because of one such thread. It stops with \
            \"missing ovni.finished\".",
        remedy: Remedy::Fix("Closes everything that is open at the last clock of the thread, \
            innermost first, and adds the missing keys.\n\
            Class: synthetic; lossy if a truncated event or events of an earlier run are dropped.\n\
            Cost: no complete event of this run. Events that were buffered at the end are lost (up \
            to 2 MiB per thread).\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/\n\
            To end all streams at the earliest last clock instead (lossy: drops later events):\n\
            \x20 tracemend repair trace/ --strategy cut -o repaired/"),
        source: "ovni 1.14.0, src/rt/ovni.c: ovni_thread_free; src/emu/thread.c: \
            thread_load_metadata",
    };
    LIB_MIXED = Rule {
        code: "OV0118",
        name: "lib-versions-differ",
        severity: Severity::Info,
        summary: "streams were written by different versions of libovni",
        problem: "ovni.lib.version differs between streams: processes were linked with different \
            versions, or two traces were merged.",
        impact: "ovniemu prints a warning.",
        remedy: NOTHING_REQUIRED,
        source: "ovni 1.14.0, src/emu/ovni/event.c; measured",
    };
    OLD_LAYOUT = Rule {
        code: "OV0119",
        name: "old-layout",
        severity: Severity::Info,
        summary: "the trace has the layout of a libovni before 1.11",
        problem: "Version 1 (libovni 1.0 to 1.4) has thread.TID.obs and one metadata.json per \
            process; version 2 (1.5 to 1.10) adds thread.TID.json. The events are the same in all \
            versions.",
        impact: "ovniemu 1.11 and later find no stream in such a trace. They finish with \
            \"emulation finished ok\" and an empty result.",
        remedy: Remedy::Fix("With --upgrade: writes stream.json for each thread and moves its \
            events to thread.TID/stream.obs, if every thread has ended.\n\
            Class: synthetic; lossy for version 2, whose version number is replaced.\n\
            Cost: none; the old metadata.json stays.\n\
            Run:\n\
            \x20 tracemend repair trace/ --upgrade -o repaired/"),
        source: "libovni 1.4.1, 1.9.1 and 1.14.0, src/rt/ovni.c",
    };
    DAMAGED_KEY = Rule {
        code: "OV0120",
        name: "damaged-key",
        severity: Severity::Error,
        summary: "a key of stream.json is unknown, and resembles a known one that is missing",
        problem: "The key begins and ends like one that libovni writes, its value has the right \
            type, and the object lacks that key: `lo1m_cpus` for `loom_cpus`. A bit or a few bytes \
            of it were changed.",
        impact: "ovniemu ignores unknown keys. It refuses the trace if the key is mandatory, or \
            goes on without the CPUs, the rank or the marks that it names.",
        remedy: Remedy::Fix("Writes the known key over the other one.\n\
            Class: lossy. Cost: the bytes of the key; its value stays.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/stream.c, src/emu/thread.c, src/emu/proc.c, src/emu/loom.c",
    };
    LINK_OUTSIDE = Rule {
        code: "OV0121",
        name: "link-not-followed",
        severity: Severity::Error,
        summary: "a symbolic link in the trace is not followed",
        problem: "A stream, its metadata, the table of clock offsets or a directory is a symbolic \
            link that leads out of the trace, to a directory, or nowhere. Only links to files of \
            the same trace are followed, so that a trace of a stranger cannot make tracemend read \
            other files.",
        impact: "ovniemu follows the link and reads whatever lies there. A copy or an archive of \
            the trace lacks it. The verdict does not include it.",
        remedy: Remedy::Next("Copy the trace with the content of its links, then check the copy:\n\
            \x20 cp -rL trace/ complete/\n\
            \x20 tracemend check complete/"),
        source: "ovni 1.14.0, src/emu/trace.c: nftw without FTW_PHYS; src/emu/stream.c: fopen",
    };
    FOLDER_DIFFERS = Rule {
        code: "OV0122",
        name: "folder-differs",
        severity: Severity::Warning,
        summary: "stream.json names another loom, process or thread than its directory",
        problem: "libovni writes the stream of a thread into loom.LOOM/proc.PID/thread.TID and the \
            same names into stream.json. One of the two was changed: a directory was copied or \
            renamed, or a number in stream.json is damaged.",
        impact: "ovniemu takes the names in stream.json and shows the events under these.",
        remedy: Remedy::Fix("Sets the name in stream.json to that of the directory, if the rest of \
            the trace shows that the directory is right: the first thread of a process has its \
            number, other streams of the directory name the same loom or process, and libovni \
            writes no empty loom. Otherwise nothing shows which of the two is right: correct it by \
            hand.\n\
            Class: lossy. Cost: the stored name.\n\
            Run:\n\
            \x20 tracemend repair trace/ --lossy-warnings -o repaired/"),
        source: "ovni 1.14.0, src/rt/ovni.c: create_trace_dirs; src/emu/system.c; measured",
    };
    RANK_TWICE = Rule {
        code: "OV0123",
        name: "rank-twice",
        severity: Severity::Warning,
        summary: "two processes of an application have the same rank",
        problem: "Each MPI process of an application has a rank of its own. ovni.rank of one of \
            them was changed, or a process of another run is in the trace.",
        impact: "ovniemu shows both. The order of their CPUs, which follows the ranks, is not that \
            of the run.",
        remedy: CORRECT_METADATA,
        source: "ovni 1.14.0, src/emu/proc.c, src/emu/system.c: cmp_loom; measured",
    };
    NRANKS_DIFFER = Rule {
        code: "OV0124",
        name: "nranks-differ",
        severity: Severity::Warning,
        summary: "the number of ranks differs between processes of an application",
        problem: "ovni.nranks is the number of MPI processes of the run, the same in all of them. \
            It was changed in one, or a process of another run is in the trace.",
        impact: "ovniemu compares the values within a process only. Nothing else shows the \
            difference.",
        remedy: Remedy::Fix("Sets the number that most other processes have, if at least two of \
            them have it.\n\
            Class: lossy. Cost: the stored number.\n\
            Run:\n\
            \x20 tracemend repair trace/ --lossy-warnings -o repaired/"),
        source: "ovni 1.14.0, src/emu/proc.c; measured",
    };
}
