//! QR0: the file and its header.

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    HEADER_TRUNCATED = Rule {
        code: "QR0001",
        name: "header-truncated",
        severity: Severity::Error,
        summary: "truncated header: the file is shorter than 12 bytes",
        problem: "A log begins with a u32 version and 8 unused bytes. The file ends inside them, \
            so it contains no event.",
        impact: "QEMU refuses the log: \"error reading the replay data\", exit 1.",
        remedy: Remedy::Next("Use another copy of the log, or record again. No event reached this \
            file."),
        source: "QEMU, replay/replay.c: replay_enable",
    };
    UNFINISHED = Rule {
        code: "QR0002",
        name: "unfinished-recording",
        severity: Severity::Error,
        summary: "version is 0: QEMU did not finish the log",
        problem: "QEMU writes the version last, after END. If it is killed, the version stays 0. \
            The same happens when the disk is full: QEMU prints \"replay write error\" and exits \
            0. The log then ends inside an event, at a multiple of 4096 bytes after the header; \
            up to 4095 bytes of it were never written.",
        impact: "QEMU refuses the log: \"invalid input log file version\", exit 1. With only the \
            version repaired, replay runs to the cut and exits 1; with only the version and END, \
            it hangs.",
        remedy: Remedy::Fix("Writes the version. If the events fit several and the log is the \
            same in all but the version word, the newest is assumed: QEMU refuses a wrong word at \
            once, and the report has the commands for the others. Drops the truncated event at the \
            end and complete events after which a guest demands the next one (INSTRUCTION, \
            CP_CLOCK_VIRTUAL, AUDIO_OUT). Adds the events with which this release ends a log.\n\
            Class: lossy if events are dropped, or if the 8 bytes after the version are not 0, as \
            where events stand in the place of a lost header; synthetic if events are added or the \
            version is assumed; exact if only the version is missing and the events fit one only.\n\
            Cost: the truncated event and up to three complete events. The log is structurally \
            closed; QEMU, the guest and the command line decide whether it replays to its end.\n\
            Run:\n\
            \x20 tracemend repair boot.log -o repaired.log\n\
            If QEMU refuses the version, or the releases that fit end a log in different ways, \
            name the one that \"qemu-system-x86_64 --version\" prints:\n\
            \x20 tracemend repair boot.log --qemu-version 7.2 -o repaired.log\n\
            Replay the result with the command line of the recording, the same build, images, \
            firmware and devices, and rr=replay,rrfile=repaired.log instead of rr=record. It ends \
            at the cut."),
        source: "QEMU, replay/replay.c: replay_finish; measured with 5.2, 7.2, 10.0 and 11.1",
    };
    UNKNOWN_VERSION = Rule {
        code: "QR0003",
        name: "unknown-version",
        severity: Severity::Error,
        summary: "unknown version: no release of QEMU wrote this word",
        problem: "The version word is damaged, or it is 0xe02003, 0xe02005 or 0xe0200b. Those \
            three existed only between releases, and their layouts are not known.",
        impact: "QEMU refuses the log: \"invalid input log file version\", exit 1. Each build \
            reads only its own version.",
        remedy: Remedy::Fix("Writes the version, if one byte of the word is damaged and the other \
            bytes lead to one version that the events fit, if the events fit one version only, or \
            if --qemu-version names the release. There is no fix for the three words between \
            releases.\n\
            Class: exact; lossy if only --qemu-version determines the version, if unused bytes of \
            the header are not 0, so that it may be lost, or if events are dropped; synthetic if \
            the log has to be closed as well.\n\
            Cost: none for the version.\n\
            Run:\n\
            \x20 tracemend repair boot.log -o repaired.log\n\
            \x20 tracemend repair boot.log --qemu-version 7.2 -o repaired.log"),
        source: "QEMU, replay/replay.c: replay_enable; REPLAY_VERSION in the releases 2.5 to 11.1",
    };
    NEWER_VERSION = Rule {
        code: "QR0004",
        name: "newer-version",
        severity: Severity::Warning,
        summary: "version is newer than the newest known release",
        problem: "New releases of QEMU add events and renumber all later ones without notice. The \
            events are checked against the known layout that explains most of them, which may be \
            wrong.",
        impact: "QEMU of that release reads the log. Every other release refuses it, and the \
            findings about its events may be wrong.",
        remedy: Remedy::Next("Check the log with a version of tracemend that knows the release:\n\
            \x20 tracemend formats"),
        source: "QEMU, replay/replay.c: REPLAY_VERSION; releases up to 11.1 are known",
    };
    HEADER_RESERVED = Rule {
        code: "QR0005",
        name: "header-reserved",
        severity: Severity::Warning,
        summary: "unexpected data in the unused bytes of the header",
        problem: "QEMU seeks over the header before it writes the first event, so bytes 4 to 11 \
            are 0 in every log that it writes. Another program wrote these bytes.",
        impact: "QEMU ignores the bytes. They may show that other bytes were changed as well.",
        remedy: Remedy::Next("Nothing has to be done to replay the log. Compare it with another \
            copy if there is one:\n\
            \x20 cmp boot.log other.log"),
        source: "QEMU, replay/replay.c: replay_enable (fseek to HEADER_SIZE)",
    };
    CHOICE_CONTRADICTED = Rule {
        code: "QR0006",
        name: "choice-contradicted",
        severity: Severity::Error,
        summary: "--qemu-version does not fit the log",
        problem: "The version word belongs to other releases, or the events cannot be read as the \
            named release writes them. The same id means different events in different releases.",
        impact: "A log with the version of another release replays wrong events. Nothing is \
            repaired as long as the release is wrong.",
        remedy: Remedy::Next("Name the release that recorded the log, as \"qemu-system-x86_64 \
            --version\" prints it, or leave the option out:\n\
            \x20 tracemend repair boot.log --qemu-version 7.2 -o repaired.log\n\
            \x20 tracemend check boot.log"),
        source: "QEMU, replay/replay-internal.h: enum ReplayEvents in the releases 2.5 to 11.1",
    };
}
