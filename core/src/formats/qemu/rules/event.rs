//! QR2: the payload of one event.

use crate::formats::qemu::rules::KEEP_PREFIX;
use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    INPUT_KIND = Rule {
        code: "QR2001",
        name: "input-kind",
        severity: Severity::Error,
        summary: "unknown input kind",
        problem: "An input is a key (0), a button (1), a relative (2) or absolute (3) pointer \
            position, or since 8.1 a touch (4). The kind determines the length of the event, so \
            nothing after it can be decoded.",
        impact: "QEMU aborts at the event. Measured with kind 200.",
        remedy: KEEP_PREFIX,
        source: "QEMU, replay/replay-input.c: replay_read_input_event; qapi/ui.json: \
            InputEventKind",
    };
    KEY_KIND = Rule {
        code: "QR2002",
        name: "key-kind",
        severity: Severity::Error,
        summary: "unknown kind of key value",
        problem: "A key value is a number (0) or a qcode (1). The kind determines the length of \
            the event, so nothing after it can be decoded.",
        impact: "QEMU aborts at the event.",
        remedy: KEEP_PREFIX,
        source: "QEMU, replay/replay-input.c: replay_read_input_event; qapi/ui.json: KeyValueKind",
    };
    KEY_RANGE = Rule {
        code: "QR2003",
        name: "key-range",
        severity: Severity::Error,
        summary: "key code is out of range",
        problem: "Qcodes are an enum that grew from 123 values in 2.5 to 162 in 8.0. Since 11.1 \
            keys are Linux keycodes below 0x300. Key numbers are scancodes below 0x10000.",
        impact: "QEMU looks the code up in a table without a check and may crash.",
        remedy: KEEP_PREFIX,
        source: "QEMU, qapi/ui.json: QKeyCode; ui/input-keymap.c",
    };
    POINTER_RANGE = Rule {
        code: "QR2004",
        name: "pointer-range",
        severity: Severity::Error,
        summary: "button, axis or touch kind is out of range",
        problem: "There are 5 buttons through 2.8, 7 through 4.2, 9 through 8.0 and 10 since then; \
            two axes; five kinds of touch.",
        impact: "QEMU looks the value up in a table without a check and may crash.",
        remedy: KEEP_PREFIX,
        source: "QEMU, qapi/ui.json: InputButton, InputAxis, InputMultiTouchType",
    };
    DOWN_RANGE = Rule {
        code: "QR2005",
        name: "down-range",
        severity: Severity::Warning,
        summary: "down is out of range, expected 0 or 1",
        problem: "The writer stores a boolean for the state of a key or button, so another value \
            shows damage or another program.",
        impact: "QEMU reads every value except 0 as pressed.",
        remedy: Remedy::Next("Nothing has to be done to replay the log. Compare the event with \
            another copy if there is one:\n\
            \x20 cmp boot.log other.log"),
        source: "QEMU, replay/replay-input.c: replay_save_input_event",
    };
    DEVICE_RANGE = Rule {
        code: "QR2006",
        name: "device-range",
        severity: Severity::Error,
        summary: "char device index is out of range",
        problem: "CHAR_READ names a character device by its number on the command line, which the \
            log does not contain. 64 and more are taken for damage.",
        impact: "QEMU uses the index without a check. Index 200 crashes it (SIGSEGV).",
        remedy: KEEP_PREFIX,
        source: "QEMU, replay/replay-char.c: replay_event_char_read_run",
    };
    FILTER_RANGE = Rule {
        code: "QR2007",
        name: "filter-range",
        severity: Severity::Error,
        summary: "network filter index is out of range",
        problem: "NET names a filter-replay object by its number on the command line, which the \
            log does not contain. 64 and more are taken for damage.",
        impact: "QEMU aborts if no filter has the index.",
        remedy: KEEP_PREFIX,
        source: "QEMU, replay/replay-net.c: replay_event_net_run",
    };
    NET_FLAGS = Rule {
        code: "QR2008",
        name: "net-flags",
        severity: Severity::Warning,
        summary: "unknown packet flags",
        problem: "The only flag of a packet is 1 (raw packet), so a larger value shows damage or a \
            newer release.",
        impact: "QEMU passes the flags on and ignores unknown ones.",
        remedy: Remedy::Next("Nothing has to be done to replay the log. Compare the event with \
            another copy if there is one:\n\
            \x20 cmp boot.log other.log"),
        source: "QEMU, include/net/queue.h: QEMU_NET_PACKET_FLAG_RAW",
    };
    INSTRUCTION_ZERO = Rule {
        code: "QR2009",
        name: "instruction-zero",
        severity: Severity::Error,
        summary: "INSTRUCTION count is 0",
        problem: "The writer counts executed instructions and writes no event for 0.",
        impact: "QEMU hangs: it waits for a count to reach 0 that is 0 already.",
        remedy: KEEP_PREFIX,
        source: "QEMU, replay/replay.c: replay_advance_current_icount; measured",
    };
    INSTRUCTION_RANGE = Rule {
        code: "QR2010",
        name: "instruction-range",
        severity: Severity::Error,
        summary: "INSTRUCTION count is out of range",
        problem: "The count is 2^31 or more. The reader counts down in a signed 32-bit integer.",
        impact: "QEMU aborts at the event.",
        remedy: KEEP_PREFIX,
        source: "QEMU, replay/replay-internal.c: replay_fetch_data_kind",
    };
    AUDIO_RANGE = Rule {
        code: "QR2011",
        name: "audio-range",
        severity: Severity::Error,
        summary: "audio sample count is out of range",
        problem: "An audio event counts more samples than a ring can hold. Rings hold a fraction \
            of a second; more than 1048576 samples are taken for damage.",
        impact: "QEMU advances the ring by the count without a check. 2^40 samples crash it \
            (SIGSEGV).",
        remedy: KEEP_PREFIX,
        source: "QEMU, replay/replay-audio.c: replay_audio_out, replay_audio_in",
    };
    FULL_RING = Rule {
        code: "QR2012",
        name: "full-ring",
        severity: Severity::Info,
        summary: "AUDIO_IN samples are missing, as for a full ring",
        problem: "Before 11.0, if as many samples were recorded as the ring holds, the loop that \
            writes them ends before it begins. The log does not contain the size of the ring; \
            the following events show that the samples are missing.",
        impact: "QEMU has the same loop in replay and agrees. Other readers lose their way at this \
            event.",
        remedy: Remedy::Next("Nothing has to be done: the log replays as it is."),
        source: "QEMU before 11.0, replay/replay-audio.c: replay_audio_in",
    };
    ASYNC_CHECKPOINT = Rule {
        code: "QR2013",
        name: "async-checkpoint",
        severity: Severity::Error,
        summary: "checkpoint of an asynchronous event is out of range",
        problem: "Through 7.0 an asynchronous event contains the number of the checkpoint at which \
            it is replayed. There are 8 checkpoints in 2.5 and 9 since then.",
        impact: "QEMU hangs: it waits for a checkpoint that never comes.",
        remedy: KEEP_PREFIX,
        source: "QEMU 7.0, replay/replay-events.c: replay_read_event",
    };
    CHAR_WRITE_RANGE = Rule {
        code: "QR2014",
        name: "char-write-range",
        severity: Severity::Error,
        summary: "CHAR_WRITE offset is out of range",
        problem: "The offset is the number of bytes that a device wrote, so it is at most the \
            length of the write of the guest. More than 1048576 bytes are taken for damage.",
        impact: "QEMU aborts if the offset exceeds the length of the write.",
        remedy: KEEP_PREFIX,
        source: "QEMU, replay/replay-char.c: replay_char_write_event_load; chardev/char.c",
    };
    READ_ERROR_SIGN = Rule {
        code: "QR2015",
        name: "read-error-sign",
        severity: Severity::Error,
        summary: "CHAR_READ_ALL_ERROR code is not negative",
        problem: "The event stores the error of a failed read. The writer asserts that it is \
            negative.",
        impact: "QEMU takes the code for a number of bytes that were read, and the device uses \
            bytes that nobody wrote.",
        remedy: KEEP_PREFIX,
        source: "QEMU, replay/replay-char.c: replay_char_read_all_load, \
            replay_char_read_all_save_error",
    };
    RANDOM_RESULT = Rule {
        code: "QR2016",
        name: "random-result",
        severity: Severity::Warning,
        summary: "RANDOM result is out of range, expected 0 or -1",
        problem: "The recorded function returns 0, or -1 if it fails.",
        impact: "QEMU returns the value to the caller, which takes everything except 0 for a \
            failure.",
        remedy: Remedy::Next("Nothing has to be done to replay the log. Compare the event with \
            another copy if there is one:\n\
            \x20 cmp boot.log other.log"),
        source: "QEMU, replay/replay-random.c: replay_read_random; util/guest-random.c",
    };
    CHAR_WRITE_RESULT = Rule {
        code: "QR2017",
        name: "char-write-result",
        severity: Severity::Warning,
        summary: "CHAR_WRITE offset differs from its result",
        problem: "The result is what the last write of the device returned, and the offset is the \
            number of bytes written in all. Both are equal, in 21,910 of 21,910 events of clean \
            logs, unless a device takes the bytes in several parts.",
        impact: "QEMU aborts if the offset exceeds the length of the write (measured with 7.2). A \
            wrong result goes to the device of the guest.",
        remedy: Remedy::Next("Nothing has to be done if the log replays. Compare the event with \
            another copy if there is one:\n\
            \x20 cmp boot.log other.log"),
        source: "QEMU, chardev/char.c: qemu_chr_write; replay/replay-char.c: \
            replay_char_write_event_save",
    };
}
