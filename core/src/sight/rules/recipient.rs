//! Rules about content that can harm whoever opens a recording.

#![allow(missing_docs, reason = "the texts of a rule are its documentation")]

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    CONTROL_CHARACTERS = Rule {
        code: "AU0001",
        name: "control-characters",
        severity: Severity::Warning,
        summary: "a text of the recording has control characters",
        problem: "Control characters and escape sequences move the cursor, change the title of a \
            terminal or clear it. No recorder needs them in names; a program can choose its own \
            name, and the author of a file any.",
        impact: "perf script 6.1 prints the name of a process as it is, so that the terminal acts \
            on it. So does every tool that does not escape the texts that it prints.",
        remedy: Remedy::Next("Look at the text with tracemend, which escapes it, and do not print \
            it with other tools:\n\
            \x20 tracemend audit --show FILE"),
        source: "ECMA-48; measured with perf 6.1.192",
    };
    HIDDEN_CHARACTERS = Rule {
        code: "AU0002",
        name: "hidden-characters",
        severity: Severity::Warning,
        summary: "a text of the recording has bidirectional or invisible characters",
        problem: "Characters such as U+202E reverse the order in which the text after them is \
            shown, and others have no width. A name can look like another one.",
        impact: "People read another name than the tools do. Viewers show the text reversed or \
            without these characters.",
        remedy: Remedy::Next("Compare the escaped text with what it looks like:\n\
            \x20 tracemend audit --show FILE"),
        source: "Unicode Standard Annex 9, Unicode Bidirectional Algorithm",
    };
    PATH_CLIMBS = Rule {
        code: "AU0003",
        name: "path-climbs",
        severity: Severity::Warning,
        summary: "a path climbs out of its folder",
        problem: "A path has a name `..`, or a symbolic link leads out of the recording. The \
            kernel and the recorders write absolute paths without such names.",
        impact: "A tool that joins the path to a folder of its own reads or writes outside of it. \
            perf opens the files that mmap records name, to read their symbols.",
        remedy: Remedy::Next("Look at the paths, and open the recording only where the files that \
            they name do not matter:\n\
            \x20 tracemend audit --show FILE"),
        source: "perf 6.1, tools/perf/util/dso.c: dso__read_binary_type_filename",
    };
    DEVICE_PATH = Rule {
        code: "AU0004",
        name: "device-path",
        severity: Severity::Warning,
        summary: "a path is that of a device or of a file of the kernel",
        problem: "The path names a device that blocks, never ends, or holds memory or a disk, or \
            a file below /proc or /sys. For revent, it is any path outside /dev/input.",
        impact: "A tool that opens the path can hang or change a device. revent replay opens the \
            paths of its devices for writing.",
        remedy: Remedy::Next("Do not replay the recording. Look at its paths first:\n\
            \x20 tracemend map --depth 3 FILE"),
        source: "Workload Automation, revent.c; perf 6.1, tools/perf/util/dso.c",
    };
    READER_HAZARD = Rule {
        code: "AU0005",
        name: "reader-hazard",
        severity: Severity::Warning,
        summary: "a fault of the recording endangers its readers",
        problem: "The check found a fault that makes a reader of today crash, hang, allocate \
            without a bound or write past a buffer. Damage can cause it as well as an attacker.",
        impact: "The reader that the finding names fails on this recording. A crash on chosen \
            bytes is often more than a crash.",
        remedy: Remedy::Next("Read the page about the code in the finding, and repair the \
            recording before you open it:\n\
            \x20 tracemend repair FILE -o OUT"),
        source: "the pages of the codes; measured with the releases that they name",
    };
    EXPANSION_BOMB = Rule {
        code: "AU0006",
        name: "expansion-bomb",
        severity: Severity::Warning,
        summary: "the compressed data expands to far more than it stores",
        problem: "The expanded bytes exceed the file by more than the limit audit-ratio. A zstd \
            or gzip stream of zeros does.",
        impact: "A reader that holds the expanded bytes runs out of memory, and one that does not \
            may run for hours.",
        remedy: Remedy::Next("Read it only with limits on memory and disk. tracemend itself stays \
            within its own:\n\
            \x20 tracemend check FILE"),
        source: "zstd and deflate expand zeros by factors of 1,000 and more",
    };
    UNCLAIMED_BYTES = Rule {
        code: "AU0007",
        name: "unclaimed-bytes",
        severity: Severity::Warning,
        summary: "bytes of the recording belong to no structure",
        problem: "The bytes are damage, follow the last structure, or lie between structures or \
            after the end of a text, and are not 0. Readers ignore them, so they can carry \
            anything.",
        impact: "They can smuggle content past whoever looks at the recording with its own tools, \
            and can hold memory of the recorder.",
        remedy: Remedy::Next("Look at the bytes, and drop them with a repair if nothing needs \
            them:\n\
            \x20 tracemend map --at OFFSET FILE"),
        source: "the tiles of `tracemend map`",
    };
    EXECUTABLE_CONTENT = Rule {
        code: "AU0008",
        name: "executable-content",
        severity: Severity::Warning,
        summary: "a part of the recording is a program or a script",
        problem: "The first bytes are those of a program or a script. Blobs of a recording hold \
            textures, packets or samples.",
        impact: "The recording does not run it. It can be the payload of another attack, and \
            scanners of other programs may quarantine the file.",
        remedy: Remedy::Next("Do not extract it. Look at the first bytes:\n\
            \x20 tracemend map --at OFFSET FILE"),
        source: "magic numbers of ELF, PE, Mach-O, WebAssembly and scripts",
    };
    EMBEDDED_FILE = Rule {
        code: "AU0009",
        name: "embedded-file",
        severity: Severity::Warning,
        summary: "a part of the recording is an archive or a document",
        problem: "The first bytes of a part, or the last bytes of the file, are those of an \
            archive or a document. A file whose end is that of a zip archive is a recording and an \
            archive at once. So is one with `%PDF-` in its first 1,024 bytes, a header of tar at \
            its beginning, a volume descriptor of ISO 9660 at 0x8000, or the header of a 7z or \
            rar archive where programs look for one that extracts itself.",
        impact: "Programs that recognise files by their content can open the recording as \
            something else.",
        remedy: Remedy::Next("Find out why the archive is there before you pass the recording on:\n\
            \x20 tracemend map --at OFFSET FILE"),
        source: "magic numbers of zip, gzip, xz, 7z, zstd, tar, rar, PDF, OLE and SQLite; where \
            readers accept them: core/src/audit/polyglot.rs",
    };
}
