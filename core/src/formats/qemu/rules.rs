//! The codes of QEMU's logs: what each means, why it matters, what a repair does.
//!
//! The static of a rule is named like the rule; its text is its documentation.

use crate::report::rule::rules;
use crate::report::{Remedy, Rule, Severity};

rules! {
    HEADER_TORN = Rule {
        code: "QR0001",
        name: "header-torn",
        severity: Severity::Error,
        summary: "the file is shorter than its header",
        problem: "A log begins with a u32 version and 8 unused bytes. QEMU says \"error reading the replay \
            data\". A file that was cut there holds no event.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    UNFINISHED = Rule {
        code: "QR0002",
        name: "unfinished-recording",
        severity: Severity::Error,
        summary: "the version is 0: the recorder never finished",
        problem: "QEMU leaves the header for the end: it writes the version after END. A killed QEMU \
            leaves 0 there, and so does a full disk, of which QEMU says \"replay write error\" and \
            exits with 0. The log then ends in the middle of an event, at a multiple of 4096 bytes \
            behind the header, and up to 4095 bytes of it were never written. rr=replay refuses it: \
            \"invalid input log file version\".",
        impact: "",
        remedy: Remedy::Fix("exact, synthetic or lossy, as it needs: writes the version if the events leave one, or \
            --qemu-version names it; drops the torn event at the end, and whole events behind which \
            a guest would demand the next one (INSTRUCTION, CP_CLOCK_VIRTUAL and AUDIO_OUT); adds \
            the events that the layout's own writer ends with. The log is structurally closed then: \
            that it replays to its end is for QEMU, the guest and the command line to show"),
        source: "",
    };
    UNKNOWN_VERSION = Rule {
        code: "QR0003",
        name: "unknown-version",
        severity: Severity::Error,
        summary: "the version word is none that a release of QEMU wrote",
        problem: "QEMU reads logs of its own version word alone. 0xe02003, 0xe02005 and 0xe0200b lived \
            between releases and have layouts that are not known here; any other unknown word is \
            damage.",
        impact: "",
        remedy: Remedy::Fix("exact: writes the version if it is no such word between releases, and the events leave \
            one or --qemu-version names it"),
        source: "",
    };
    NEWER_VERSION = Rule {
        code: "QR0004",
        name: "newer-version",
        severity: Severity::Warning,
        summary: "the version word is newer than this program knows",
        problem: "Newer releases of QEMU add events and renumber them without notice. The events are \
            checked as those of the newest layout that explains them, which may be wrong.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    HEADER_RESERVED = Rule {
        code: "QR0005",
        name: "header-reserved",
        severity: Severity::Warning,
        summary: "the unused bytes of the header are not 0",
        problem: "The recorder seeks over the header before it writes the first event, so that bytes 4 to \
            11 are a hole. Nothing reads them; something else wrote them.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    CHOICE_CONTRADICTED = Rule {
        code: "QR0006",
        name: "choice-contradicted",
        severity: Severity::Error,
        summary: "the log is not of the release that --qemu-version names",
        problem: "The version word belongs to other releases, or the events cannot be read as the release \
            writes them. Giving a log another version only moves the fault: ids would mean other \
            events.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    UNKNOWN_EVENT = Rule {
        code: "QR1001",
        name: "unknown-event",
        severity: Severity::Error,
        summary: "no event of the layout has the id",
        problem: "Events have no length and no mark, so that nothing behind an unknown id can be read with \
            certainty. QEMU says \"unknown event kind\" and exits with 1, or aborts. The bytes were \
            damaged, or an event before them was and took part of them for its own.",
        impact: "",
        remedy: Remedy::Fix("lossy, with --strategy prefix: drops everything from the event on and closes the log \
            before it as for QR0002; otherwise none"),
        source: "",
    };
    END_MISSING = Rule {
        code: "QR1002",
        name: "end-missing",
        severity: Severity::Error,
        summary: "the log ends without END",
        problem: "The version says that the recorder finished, so the file was cut afterwards: by a broken \
            copy, head, or a full disk. QEMU replays to the cut and exits with 1: \"error reading \
            the replay data\".",
        impact: "",
        remedy: Remedy::Fix("synthetic, or lossy if something is dropped: closes the log at its last whole event as \
            for QR0002"),
        source: "",
    };
    LENGTH_PAST_END = Rule {
        code: "QR1003",
        name: "length-past-end",
        severity: Severity::Error,
        summary: "the length in an event is more than what is left, and more than a writer would have \
            meant",
        problem: "An array or the samples of AUDIO_IN end behind the end of the file. Lengths that occur \
            are taken for a cut file (QR1002); this one is damage, or the log goes on to an END that \
            the length would swallow. QEMU allocates it, or reads it into a buffer of the caller.",
        impact: "",
        remedy: Remedy::Fix("as for QR1001"),
        source: "",
    };
    BYTES_AFTER_END = Rule {
        code: "QR1004",
        name: "bytes-after-end",
        severity: Severity::Warning,
        summary: "bytes follow END",
        problem: "END is the last event; QEMU never reads what follows. A file that was written over a \
            longer one keeps the old tail.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops them, unless they read as a log of their own"),
        source: "",
    };
    END_DOUBLED = Rule {
        code: "QR1005",
        name: "end-doubled",
        severity: Severity::Warning,
        summary: "a second END follows END",
        problem: "A log that was closed once more, by a tool that did not see that it was closed. Nothing \
            reads the second END.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops it"),
        source: "",
    };
    END_INSIDE = Rule {
        code: "QR1006",
        name: "end-inside",
        severity: Severity::Error,
        summary: "END stands before events that go on to another END",
        problem: "QEMU stops at the first END. What follows reads as events up to an END at the end of the \
            file, so that the first one is most likely a damaged id.",
        impact: "",
        remedy: Remedy::Fix("lossy, with --strategy prefix: drops what follows the first END; otherwise none"),
        source: "",
    };
    INPUT_KIND = Rule {
        code: "QR2001",
        name: "input-kind",
        severity: Severity::Error,
        summary: "an input event has a kind that the layout does not have",
        problem: "Key, button, relative and absolute pointer are 0 to 3, touch is 4 since 8.1. The kind \
            gives the length, so that nothing behind it can be read. QEMU aborts.",
        impact: "",
        remedy: Remedy::Fix("as for QR1001"),
        source: "",
    };
    KEY_KIND = Rule {
        code: "QR2002",
        name: "key-kind",
        severity: Severity::Error,
        summary: "a key has a kind of value that is neither number nor qcode",
        problem: "The kind gives the length of the event, so that nothing behind it can be read. QEMU \
            aborts.",
        impact: "",
        remedy: Remedy::Fix("as for QR1001"),
        source: "",
    };
    KEY_RANGE = Rule {
        code: "QR2003",
        name: "key-range",
        severity: Severity::Error,
        summary: "a key has a code that the layout's releases do not have",
        problem: "Qcodes are an enum that grew from 123 in 2.5 to 162 in 8.0; since 11.1 keys are keycodes \
            of Linux, below 0x300. QEMU looks the code up in a table of that size.",
        impact: "",
        remedy: Remedy::Fix("as for QR1001"),
        source: "",
    };
    POINTER_RANGE = Rule {
        code: "QR2004",
        name: "pointer-range",
        severity: Severity::Error,
        summary: "a button, an axis or a touch is none that there is",
        problem: "There are 5 buttons through 2.8, 7 through 4.2, 9 through 8.0 and 10 since, two axes, \
            and five kinds of touch. QEMU looks them up in tables of that size.",
        impact: "",
        remedy: Remedy::Fix("as for QR1001"),
        source: "",
    };
    DOWN_RANGE = Rule {
        code: "QR2005",
        name: "down-range",
        severity: Severity::Warning,
        summary: "whether a key or button is down is neither 0 nor 1",
        problem: "The writer stores a boolean. Readers take any value but 0 for down.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    DEVICE_RANGE = Rule {
        code: "QR2006",
        name: "device-range",
        severity: Severity::Error,
        summary: "the index of a character device is more than any machine has",
        problem: "CHAR_READ names the device by its number on the command line, which the log does not \
            hold. Replay takes the index unchecked: 200 makes QEMU crash. From 64 on it is taken for \
            damage.",
        impact: "",
        remedy: Remedy::Fix("as for QR1001"),
        source: "",
    };
    FILTER_RANGE = Rule {
        code: "QR2007",
        name: "filter-range",
        severity: Severity::Error,
        summary: "the index of a network filter is more than any machine has",
        problem: "NET names the filter-replay object by its number on the command line. Replay asserts \
            that it exists. From 64 on it is taken for damage.",
        impact: "",
        remedy: Remedy::Fix("as for QR1001"),
        source: "",
    };
    NET_FLAGS = Rule {
        code: "QR2008",
        name: "net-flags",
        severity: Severity::Warning,
        summary: "a packet has flags that do not exist",
        problem: "The one flag of a packet is 1, for raw packets.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    INSTRUCTION_ZERO = Rule {
        code: "QR2009",
        name: "instruction-zero",
        severity: Severity::Error,
        summary: "an INSTRUCTION event counts 0 instructions",
        problem: "The writer counts what was executed and writes nothing if that is 0. Replay waits for \
            ever for a count to become 0 that is 0 already.",
        impact: "",
        remedy: Remedy::Fix("as for QR1001"),
        source: "",
    };
    INSTRUCTION_RANGE = Rule {
        code: "QR2010",
        name: "instruction-range",
        severity: Severity::Error,
        summary: "an INSTRUCTION event counts 2^31 instructions or more",
        problem: "The reader counts down in a signed 32-bit integer and aborts.",
        impact: "",
        remedy: Remedy::Fix("as for QR1001"),
        source: "",
    };
    AUDIO_RANGE = Rule {
        code: "QR2011",
        name: "audio-range",
        severity: Severity::Error,
        summary: "an audio event counts more samples than a ring holds",
        problem: "Replay advances the ring by the count, unchecked: 2^40 makes QEMU crash. Rings hold a \
            fraction of a second; from 1048577 samples on it is taken for damage.",
        impact: "",
        remedy: Remedy::Fix("as for QR1001"),
        source: "",
    };
    FULL_RING = Rule {
        code: "QR2012",
        name: "full-ring",
        severity: Severity::Info,
        summary: "AUDIO_IN counts samples that the writer left out",
        problem: "Before 11.0 the loop that writes the samples ends before it begins when as many were \
            recorded as the ring holds, and the size of the ring is not in the log. What follows \
            shows that the samples are not there. Replay has the same loop and agrees; other readers \
            lose their way.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    ASYNC_CHECKPOINT = Rule {
        code: "QR2013",
        name: "async-checkpoint",
        severity: Severity::Error,
        summary: "an asynchronous event belongs to a checkpoint that does not exist",
        problem: "Through 7.0 such an event names the checkpoint at which it is to be replayed, by number. \
            Replay waits for that checkpoint for ever.",
        impact: "",
        remedy: Remedy::Fix("as for QR1001"),
        source: "",
    };
    CHAR_WRITE_RANGE = Rule {
        code: "QR2014",
        name: "char-write-range",
        severity: Severity::Error,
        summary: "CHAR_WRITE has an offset beyond any buffer",
        problem: "Replay asserts that the offset lies within what the guest wrote. From 1048577 bytes on \
            it is taken for damage.",
        impact: "",
        remedy: Remedy::Fix("as for QR1001"),
        source: "",
    };
    READ_ERROR_SIGN = Rule {
        code: "QR2015",
        name: "read-error-sign",
        severity: Severity::Error,
        summary: "CHAR_READ_ALL_ERROR holds no error",
        problem: "The writer asserts that the code is negative; a reader takes another for a number of \
            bytes.",
        impact: "",
        remedy: Remedy::Fix("as for QR1001"),
        source: "",
    };
    RANDOM_RESULT = Rule {
        code: "QR2016",
        name: "random-result",
        severity: Severity::Warning,
        summary: "the result of RANDOM is neither 0 nor -1",
        problem: "The function that is recorded returns 0 or -1.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    SHUTDOWN_MISSING = Rule {
        code: "QR3001",
        name: "shutdown-missing",
        severity: Severity::Error,
        summary: "END is not preceded by SHUTDOWN+HOST_SIGNAL",
        problem: "Since 5.1 a recorder that ends writes the shutdown by which replay ends too, and then \
            END. With END alone rr=replay hangs for ever. A tool that closed the log with END alone \
            leaves this.",
        impact: "",
        remedy: Remedy::Fix("synthetic, or lossy if something is dropped: closes the log before END as for QR0002"),
        source: "",
    };
    CLOCK_BACKWARDS = Rule {
        code: "QR3002",
        name: "clock-backwards",
        severity: Severity::Warning,
        summary: "a clock shows less than before",
        problem: "Both clocks rise in a recording, unless the host's clock was set back in the meantime.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    INSTRUCTION_TWICE = Rule {
        code: "QR3003",
        name: "instruction-twice",
        severity: Severity::Warning,
        summary: "two INSTRUCTION events follow each other",
        problem: "The writer sums instructions up until something else happens.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    CLOCK_MISSING = Rule {
        code: "QR3004",
        name: "clock-missing",
        severity: Severity::Warning,
        summary: "CP_CLOCK_VIRTUAL_RT is not followed by its clock",
        problem: "The timers that run at the checkpoint read the clock first, in all logs at hand.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    INIT_LATE = Rule {
        code: "QR3005",
        name: "init-late",
        severity: Severity::Warning,
        summary: "CP_INIT is not among the first three events",
        problem: "The machine is made before it runs, in all logs at hand. What stood before is lost, or \
            was not recorded by QEMU.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    INSTRUCTION_MISSING = Rule {
        code: "QR3006",
        name: "instruction-missing",
        severity: Severity::Warning,
        summary: "CHAR_WRITE or INTERRUPT is not followed by INSTRUCTION",
        problem: "The guest goes on, in all logs at hand.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    INPUT_SYNC_MISSING = Rule {
        code: "QR3007",
        name: "input-sync-missing",
        severity: Severity::Warning,
        summary: "an input event is followed neither by another nor by INPUT_SYNC",
        problem: "Inputs come in groups that a sync ends. A log that is read by the layout of another \
            release shows this where its keys have another length.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    CHECKPOINT_OTHER = Rule {
        code: "QR3008",
        name: "checkpoint-other",
        severity: Severity::Warning,
        summary: "an asynchronous event belongs to another checkpoint than the one before it",
        problem: "Through 7.0 the events in the queue are written right behind a checkpoint and name it.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
}
