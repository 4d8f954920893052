//! The codes of revent recordings: what each means, why it matters, what a repair does.
//!
//! The static of a rule is named like the rule; its text is its documentation.

use crate::report::{Rule, Severity};

/// Every rule of the format, by code.
pub static RULES: &[&Rule] = &[
    &NO_MAGIC,
    &HEADER_TORN,
    &HEADER_ONLY,
    &VERSION_UNKNOWN,
    &MODE_UNKNOWN,
    &HEADER_PAD,
    &DEVICE_COUNT,
    &PATH_LENGTH,
    &TOO_MANY_DEVICES,
    &DEVICE_PATH,
    &DUPLICATE_PATH,
    &GAMEPAD_NAME,
    &ABSINFO_COUNT,
    &ABSINFO_CODE,
    &ABSINFO_BITS,
    &FILE_NAME,
    &OLD_LAYOUT,
    &TIMES_WIDE,
    &TIMES_IMPLAUSIBLE,
    &START_AFTER_END,
    &COUNT_ZERO,
    &COUNT_TOO_LARGE,
    &COUNT_TOO_SMALL,
    &TORN_EVENT,
    &TRAILING_BYTES,
    &ENTER_PAIR,
    &WHOLE_PAGES,
    &NO_EVENTS,
    &DEVICE_OUTSIDE,
    &TIME_IMPLAUSIBLE,
    &WORDS_WIDE,
    &NOTHING_EVENT,
    &CODE_UNKNOWN,
    &KEY_VALUE,
    &EVENT_PAD,
    &GAMEPAD_CODE,
    &GAMEPAD_RANGE,
    &SLOT_OUTSIDE,
    &TIME_BACK,
    &EVENT_OUTSIDE,
    &GAP,
    &FRAME_OPEN,
    &EVENTS_DROPPED,
    &RELEASE_UNPRESSED,
    &HELD,
    &CLOCK,
];

/// RV0001: the file has neither the magic nor a layout from before it.
pub static NO_MAGIC: Rule = Rule {
    code: "RV0001",
    name: "no-magic",
    severity: Severity::Error,
    summary: "the file has neither the magic nor a layout from before it",
    explanation: "Recordings since 2016-07 begin with `REVENT`; older ones with a number of \
        devices and their paths. Only a file that is said to be a recording (`--type \
        revent`) can break this rule. Workload Automation refuses it.",
    fix: Some(
        "exact: writes the magic if version, devices and events behind it are those of a \
        recording; otherwise none",
    ),
};

/// RV0002: the file ends before its first event could begin.
pub static HEADER_TORN: Rule = Rule {
    code: "RV0002",
    name: "header-torn",
    severity: Severity::Error,
    summary: "the file ends before its first event could begin",
    explanation: "Header, devices, event count and times come first. A copy that broke off leaves \
        such a file. There is no event in it.",
    fix: None,
};

/// RV0003: the file is its 16-byte header: nothing that was recorded reached the disk.
pub static HEADER_ONLY: Rule = Rule {
    code: "RV0003",
    name: "header-only",
    severity: Severity::Error,
    summary: "the file is its 16-byte header: nothing that was recorded reached the disk",
    explanation: "The recorder writes the header at once and everything else through a buffer of \
        4096 bytes. Killed within the first 150 events or so, it leaves exactly 16 \
        bytes. The official tool reports nothing useful about such a file; there is \
        nothing in it to save.",
    fix: None,
};

/// RV0004: the version is none that a recorder writes (1, 2 and 3).
pub static VERSION_UNKNOWN: Rule = Rule {
    code: "RV0004",
    name: "version-unknown",
    severity: Severity::Error,
    summary: "the version is none that a recorder writes (1, 2 and 3)",
    explanation: "Readers refuse versions above 3. Version 0 is accepted by them, read as version \
        1, and written by no recorder.",
    fix: Some(
        "exact: writes the version whose layout explains the events, if it is the only \
        one; otherwise none",
    ),
};

/// RV0005: the mode is neither 0 (all devices) nor 1 (a gamepad).
pub static MODE_UNKNOWN: Rule = Rule {
    code: "RV0005",
    name: "mode-unknown",
    severity: Severity::Error,
    summary: "the mode is neither 0 (all devices) nor 1 (a gamepad)",
    explanation: "The mode says what stands before the events: paths, or the description of a \
        gamepad. Readers refuse other values.",
    fix: Some("exact: writes the mode that explains what follows; otherwise none"),
};

/// RV0006: the padding of the header is not zero.
pub static HEADER_PAD: Rule = Rule {
    code: "RV0006",
    name: "header-pad",
    severity: Severity::Warning,
    summary: "the padding of the header is not zero",
    explanation: "The recorder clears the six bytes behind the mode. Readers skip them today; a \
        later version may give them a meaning.",
    fix: Some("exact: writes zeros"),
};

/// RV0007: the number of devices is 0 or more than a system can have.
pub static DEVICE_COUNT: Rule = Rule {
    code: "RV0007",
    name: "device-count",
    severity: Severity::Error,
    summary: "the number of devices is 0 or more than a system can have",
    explanation: "Without devices there are no events; Linux numbers at most 1024 input devices. \
        The reader of Workload Automation follows the number and allocates for it.",
    fix: None,
};

/// RV0008: the path of a device is empty or longer than a path can be.
pub static PATH_LENGTH: Rule = Rule {
    code: "RV0008",
    name: "path-length",
    severity: Severity::Error,
    summary: "the path of a device is empty or longer than a path can be",
    explanation: "Paths stand behind their length, without a NUL. The recorder writes 17 or 18 \
        bytes; no system opens a path of more than 4096. What follows a wrong length \
        cannot be found.",
    fix: None,
};

/// RV0009: there are more devices than the recorder opens.
pub static TOO_MANY_DEVICES: Rule = Rule {
    code: "RV0009",
    name: "too-many-devices",
    severity: Severity::Warning,
    summary: "there are more devices than the recorder opens",
    explanation: "It opens /dev/input/event0 to event15. A longer list was made by something else.",
    fix: None,
};

/// RV0010: the path of a device is not /dev/input/eventN.
pub static DEVICE_PATH: Rule = Rule {
    code: "RV0010",
    name: "device-path",
    severity: Severity::Info,
    summary: "the path of a device is not /dev/input/eventN",
    explanation: "A replay opens the path as it stands; the recorder writes no other.",
    fix: None,
};

/// RV0011: two devices have the same path.
pub static DUPLICATE_PATH: Rule = Rule {
    code: "RV0011",
    name: "duplicate-path",
    severity: Severity::Info,
    summary: "two devices have the same path",
    explanation: "Events of both are replayed into one device.",
    fix: None,
};

/// RV0012: the gamepad's name has no length that its readers can take.
pub static GAMEPAD_NAME: Rule = Rule {
    code: "RV0012",
    name: "gamepad-name",
    severity: Severity::Error,
    summary: "the gamepad's name has no length that its readers can take",
    explanation: "The replay tool refuses a name of 0 bytes and writes a longer one than 254 bytes \
        past the end of its buffer.",
    fix: None,
};

/// RV0013: there are more descriptions of axes than there are axes.
pub static ABSINFO_COUNT: Rule = Rule {
    code: "RV0013",
    name: "absinfo-count",
    severity: Severity::Error,
    summary: "there are more descriptions of axes than there are axes",
    explanation: "The kernel has 64 absolute axes. The replay tool has room for as many and writes \
        further ones past the end of its buffer.",
    fix: None,
};

/// RV0014: a description is of an axis that there is not.
pub static ABSINFO_CODE: Rule = Rule {
    code: "RV0014",
    name: "absinfo-code",
    severity: Severity::Error,
    summary: "a description is of an axis that there is not",
    explanation: "Codes of absolute axes go from 0 to 0x3f. The replay tool uses the code as an \
        index.",
    fix: None,
};

/// RV0015: the bits of absolute axes are not those of the described axes.
pub static ABSINFO_BITS: Rule = Rule {
    code: "RV0015",
    name: "absinfo-bits",
    severity: Severity::Error,
    summary: "the bits of absolute axes are not those of the described axes",
    explanation: "The recorder writes a description for each bit that is set, so both have to \
        agree. It writes the bitmaps in the order abs, rel, key; the published \
        description of the format, and the Python reader that follows it, say key, rel, \
        abs. A writer that follows the description makes a file that no replay \
        understands.",
    fix: Some(
        "exact: swaps the first and the third bitmap if the descriptions belong to the \
        third; otherwise none",
    ),
};

/// RV0016: Workload Automation would not find the file by its name.
pub static FILE_NAME: Rule = Rule {
    code: "RV0016",
    name: "file-name",
    severity: Severity::Info,
    summary: "Workload Automation would not find the file by its name",
    explanation: "It looks for `<device>.<stage>.revent`, takes the first two parts between dots, \
        compares them with their case, and knows the stages setup, run, extract_results \
        and teardown. A device whose name has a dot is never found; `startup` is no \
        stage.",
    fix: None,
};

/// RV0017: the layout is older than what today's tools write.
pub static OLD_LAYOUT: Rule = Rule {
    code: "RV0017",
    name: "old-layout",
    severity: Severity::Info,
    summary: "the layout is older than what today's tools write",
    explanation: "Without the magic (before 2016-07) no current tool reads a recording: all that \
        were published with Workload Automation are of this kind. Version 1 is read by \
        the Python reader, but the replay tool never ends. Version 2 is read, and \
        replayed without its last pause.",
    fix: Some(
        "exact, with --upgrade only: writes the recording as version 3, with every event; \
        start and end become the times of the first and the last event",
    ),
};

/// RV0018: start or end have nanoseconds in the high word of their seconds.
pub static TIMES_WIDE: Rule = Rule {
    code: "RV0018",
    name: "times-wide",
    severity: Severity::Error,
    summary: "start or end have nanoseconds in the high word of their seconds",
    explanation: "32-bit recorders of 2017-09 to 2018-10 (Workload Automation 3.0.0) wrote eight \
        bytes of a four-byte number. Every reader then takes the start for a time in \
        billions of years, and a replay injects all events at once.",
    fix: Some(
        "exact: clears the high words; the microseconds beside them say that they are the \
        ones meant",
    ),
};

/// RV0019: start or end of the recording are no times.
pub static TIMES_IMPLAUSIBLE: Rule = Rule {
    code: "RV0019",
    name: "times-implausible",
    severity: Severity::Error,
    summary: "start or end of the recording are no times",
    explanation: "Microseconds are below a million, seconds below 2^33. The Python reader ends \
        with an error.",
    fix: Some("exact: writes the times of the first and the last event"),
};

/// RV0020: the recording ends before it starts, or apart from all its events.
pub static START_AFTER_END: Rule = Rule {
    code: "RV0020",
    name: "start-after-end",
    severity: Severity::Warning,
    summary: "the recording ends before it starts, or apart from all its events",
    explanation: "A replay counts from the start and waits for the end. What stands there was \
        never written, or is of another clock.",
    fix: Some("exact: writes the times of the first and the last event"),
};

/// RV1001: the event count is 0 though events follow: the recorder never finished.
pub static COUNT_ZERO: Rule = Rule {
    code: "RV1001",
    name: "count-zero",
    severity: Severity::Error,
    summary: "the event count is 0 though events follow: the recorder never finished",
    explanation: "The recorder writes count, start and end when it ends; killed, it leaves 0 and \
        whatever its stack held, whole buffers of 4096 bytes and an event that is cut. A \
        replay of such a file ends with exit 0 and injects nothing.",
    fix: Some(
        "exact, synthetic or lossy, as it needs: writes count, start and end, cuts behind \
        the last whole frame, and lets go of what is held there (--release)",
    ),
};

/// RV1002: the header counts more events than the file holds.
pub static COUNT_TOO_LARGE: Rule = Rule {
    code: "RV1002",
    name: "count-too-large",
    severity: Severity::Error,
    summary: "the header counts more events than the file holds",
    explanation: "The file was cut, or the count was damaged. The Python reader ends with an error \
        in the middle; the official dump prints what its memory held before.",
    fix: Some("as for RV1001"),
};

/// RV1003: the header counts fewer events than the file holds.
pub static COUNT_TOO_SMALL: Rule = Rule {
    code: "RV1003",
    name: "count-too-small",
    severity: Severity::Error,
    summary: "the header counts fewer events than the file holds",
    explanation: "The events behind the counted ones go on in time and end before the recording \
        does. Readers leave them out without a word.",
    fix: Some("exact: writes the number of events"),
};

/// RV1004: the last event is cut.
pub static TORN_EVENT: Rule = Rule {
    code: "RV1004",
    name: "torn-event",
    severity: Severity::Error,
    summary: "the last event is cut",
    explanation: "Layouts without a count (before version 2) have events to the end of the file. A \
        killed recorder leaves whole buffers of 4096 bytes, and so part of an event; the \
        Python reader ends with an error there.",
    fix: Some(
        "lossy or synthetic, as it needs: cuts behind the last whole frame, and lets go \
        of what is held there (--release)",
    ),
};

/// RV1005: bytes follow the counted events that are none.
pub static TRAILING_BYTES: Rule = Rule {
    code: "RV1005",
    name: "trailing-bytes",
    severity: Severity::Warning,
    summary: "bytes follow the counted events that are none",
    explanation: "The recorder ends a file behind its last event or, ended by the return key, 52 \
        bytes behind it. Readers do not look there.",
    fix: Some("lossy: drops them"),
};

/// RV1006: the recorder's own release of the return key stands at the end.
pub static ENTER_PAIR: Rule = Rule {
    code: "RV1006",
    name: "enter-pair",
    severity: Severity::Info,
    summary: "the recorder's own release of the return key stands at the end",
    explanation: "Ended by the return key, the recorder adds its release and the end of its frame. \
        Versions 2 and 3 do not count them; in older layouts they are part of the \
        events.",
    fix: None,
};

/// RV1007: the file is whole buffers of 4096 bytes long: the recorder was killed.
pub static WHOLE_PAGES: Rule = Rule {
    code: "RV1007",
    name: "whole-pages",
    severity: Severity::Warning,
    summary: "the file is whole buffers of 4096 bytes long: the recorder was killed",
    explanation: "A recorder that ends by itself writes what is left in its buffer. One recording \
        in 4096 has such a length by chance.",
    fix: Some(
        "lossy or synthetic, if a frame is unfinished or something is held: as for \
        RV1004; otherwise none",
    ),
};

/// RV1008: there is no event.
pub static NO_EVENTS: Rule = Rule {
    code: "RV1008",
    name: "no-events",
    severity: Severity::Warning,
    summary: "there is no event",
    explanation: "A replay does nothing. Workload Automation publishes one such file.",
    fix: None,
};

/// RV2001: an event names a device that is not in the list.
pub static DEVICE_OUTSIDE: Rule = Rule {
    code: "RV2001",
    name: "device-outside",
    severity: Severity::Error,
    summary: "an event names a device that is not in the list",
    explanation: "Readers use the number as an index: the replay tool writes to whatever file its \
        memory names.",
    fix: Some("lossy: drops these events, unless they are more than half of all"),
};

/// RV2002: the time of an event is none.
pub static TIME_IMPLAUSIBLE: Rule = Rule {
    code: "RV2002",
    name: "time-implausible",
    severity: Severity::Error,
    summary: "the time of an event is none",
    explanation: "Microseconds are below a million, seconds from 0 to 2^33. A replay waits for the \
        time to come; the Python reader ends with an error.",
    fix: Some("lossy: drops these events, unless they are more than half of all"),
};

/// RV2003: the times of events have type and code in their high words.
pub static WORDS_WIDE: Rule = Rule {
    code: "RV2003",
    name: "words-wide",
    severity: Severity::Error,
    summary: "the times of events have type and code in their high words",
    explanation: "32-bit recorders of 2016-10-26 to 2016-11-18 wrote eight bytes of a four-byte \
        number, so that the microseconds follow the seconds and type and code follow the \
        microseconds. Every reader then sees times in billions of years.",
    fix: Some(
        "exact: clears the high words; the fields behind them say that they are the ones \
        meant",
    ),
};

/// RV2004: events without time, type, code and value: a device was lost.
pub static NOTHING_EVENT: Rule = Rule {
    code: "RV2004",
    name: "nothing-event",
    severity: Severity::Warning,
    summary: "events without time, type, code and value: a device was lost",
    explanation: "The recorder does not look at the result of a read. When a device is unplugged \
        it records thousands of events of zeros a second until it is ended, and counts \
        them.",
    fix: Some("lossy: drops them; they say nothing"),
};

/// RV2005: an event has a type or a code that linux/input-event-codes.h does not have.
pub static CODE_UNKNOWN: Rule = Rule {
    code: "RV2005",
    name: "code-unknown",
    severity: Severity::Warning,
    summary: "an event has a type or a code that linux/input-event-codes.h does not have",
    explanation: "The kernel injects no such event. The byte may be damaged, or the device's \
        driver has codes of its own.",
    fix: None,
};

/// RV2006: a key has another value than 0 (up), 1 (down) and 2 (repeat).
pub static KEY_VALUE: Rule = Rule {
    code: "RV2006",
    name: "key-value",
    severity: Severity::Warning,
    summary: "a key has another value than 0 (up), 1 (down) and 2 (repeat)",
    explanation: "The kernel knows no other and takes any but 0 for a press.",
    fix: None,
};

/// RV2007: the padding of an event is not 0xdeadbeef.
pub static EVENT_PAD: Rule = Rule {
    code: "RV2007",
    name: "event-pad",
    severity: Severity::Info,
    summary: "the padding of an event is not 0xdeadbeef",
    explanation: "Recorders of 2015 and 2016 left this value in every event. It tells their \
        layouts apart; nothing reads it.",
    fix: None,
};

/// RV2008: the gamepad is said not to have the key or axis of an event.
pub static GAMEPAD_CODE: Rule = Rule {
    code: "RV2008",
    name: "gamepad-code",
    severity: Severity::Warning,
    summary: "the gamepad is said not to have the key or axis of an event",
    explanation: "A replay builds a virtual gamepad from the bits in the file; the kernel drops \
        what it was not told of.",
    fix: None,
};

/// RV2009: an axis of the gamepad has a value outside its range.
pub static GAMEPAD_RANGE: Rule = Rule {
    code: "RV2009",
    name: "gamepad-range",
    severity: Severity::Warning,
    summary: "an axis of the gamepad has a value outside its range",
    explanation: "The description of each axis has its smallest and its largest value.",
    fix: None,
};

/// RV2010: a multi-touch slot has a number that no device has.
pub static SLOT_OUTSIDE: Rule = Rule {
    code: "RV2010",
    name: "slot-outside",
    severity: Severity::Warning,
    summary: "a multi-touch slot has a number that no device has",
    explanation: "Touch screens have ten slots or so. Contacts in such a slot are not followed.",
    fix: None,
};

/// RV3001: the time of a device goes back.
pub static TIME_BACK: Rule = Rule {
    code: "RV3001",
    name: "time-back",
    severity: Severity::Warning,
    summary: "the time of a device goes back",
    explanation: "Events of one device come in the order of their times; those of two may overlap \
        a little. A replay injects the event at once.",
    fix: None,
};

/// RV3002: an event lies before the start or behind the end of the recording.
pub static EVENT_OUTSIDE: Rule = Rule {
    code: "RV3002",
    name: "event-outside",
    severity: Severity::Warning,
    summary: "an event lies before the start or behind the end of the recording",
    explanation: "The recorder takes the start before its first event and the end behind its last.",
    fix: None,
};

/// RV3003: more than an hour passes between two events.
pub static GAP: Rule = Rule {
    code: "RV3003",
    name: "gap",
    severity: Severity::Warning,
    summary: "more than an hour passes between two events",
    explanation: "A replay waits as long. Two clocks in one recording, or a damaged time, are \
        likelier than patience.",
    fix: None,
};

/// RV3004: the last frame of a device does not end.
pub static FRAME_OPEN: Rule = Rule {
    code: "RV3004",
    name: "frame-open",
    severity: Severity::Warning,
    summary: "the last frame of a device does not end",
    explanation: "The kernel ends every group of events with SYN_REPORT, and programs act on it \
        then. What stands in an open frame takes effect with the next recording.",
    fix: Some("synthetic, with --release=always only: adds SYN_REPORT"),
};

/// RV3005: the kernel dropped events while the recording was made.
pub static EVENTS_DROPPED: Rule = Rule {
    code: "RV3005",
    name: "events-dropped",
    severity: Severity::Warning,
    summary: "the kernel dropped events while the recording was made",
    explanation: "SYN_DROPPED says that the recorder did not read fast enough: what happened in \
        between is missing.",
    fix: None,
};

/// RV3006: something is let go that was not pressed.
pub static RELEASE_UNPRESSED: Rule = Rule {
    code: "RV3006",
    name: "release-unpressed",
    severity: Severity::Warning,
    summary: "something is let go that was not pressed",
    explanation: "A key goes up, or a contact ends, that did not begin in the recording: it began \
        before, or its beginning was lost.",
    fix: None,
};

/// RV3007: keys or contacts are still held at the end.
pub static HELD: Rule = Rule {
    code: "RV3007",
    name: "held",
    severity: Severity::Warning,
    summary: "keys or contacts are still held at the end",
    explanation: "revent replays into the device itself: a finger that is never lifted spoils \
        whatever is replayed next.",
    fix: Some(
        "synthetic, where the tail was lost (with RV1001, RV1002, RV1004, RV1007) or with \
        --release=always: adds the release of each and SYN_REPORT at the last event's \
        time; never a position",
    ),
};

/// RV3008: the times are not of the clock that the layout's recorders use.
pub static CLOCK: Rule = Rule {
    code: "RV3008",
    name: "clock",
    severity: Severity::Info,
    summary: "the times are not of the clock that the layout's recorders use",
    explanation: "Version 3 counts from the start of the machine, older ones from 1970. A replay \
        needs differences only.",
    fix: None,
};
