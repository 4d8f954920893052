//! The codes of revent recordings: what each means, why it matters, what a repair does.
//!
//! The static of a rule is named like the rule; its text is its documentation.

use crate::report::rule::rules;
use crate::report::{Remedy, Rule, Severity};

rules! {
    NO_MAGIC = Rule {
        code: "RV0001",
        name: "no-magic",
        severity: Severity::Error,
        summary: "the file has neither the magic nor a layout from before it",
        problem: "Recordings since 2016-07 begin with `REVENT`; older ones with a number of \
            devices and their paths. Only a file that is said to be a recording (`--type \
            revent`) can break this rule. Workload Automation refuses it.",
        impact: "",
        remedy: Remedy::Fix("exact: writes the magic if version, devices and events behind it are those of a \
            recording; otherwise none"),
        source: "",
    };
    HEADER_TORN = Rule {
        code: "RV0002",
        name: "header-torn",
        severity: Severity::Error,
        summary: "the file ends before its first event could begin",
        problem: "Header, devices, event count and times come first. A copy that broke off leaves \
            such a file. There is no event in it.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    HEADER_ONLY = Rule {
        code: "RV0003",
        name: "header-only",
        severity: Severity::Error,
        summary: "the file is its 16-byte header: nothing that was recorded reached the disk",
        problem: "The recorder writes the header at once and everything else through a buffer of \
            4096 bytes. Killed within the first 150 events or so, it leaves exactly 16 \
            bytes. The official tool reports nothing useful about such a file; there is \
            nothing in it to save.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    VERSION_UNKNOWN = Rule {
        code: "RV0004",
        name: "version-unknown",
        severity: Severity::Error,
        summary: "the version is none that a recorder writes (1, 2 and 3)",
        problem: "Readers refuse versions above 3. Version 0 is accepted by them, read as version \
            1, and written by no recorder.",
        impact: "",
        remedy: Remedy::Fix("exact: writes the version whose layout explains the events, if it is the only \
            one; otherwise none"),
        source: "",
    };
    MODE_UNKNOWN = Rule {
        code: "RV0005",
        name: "mode-unknown",
        severity: Severity::Error,
        summary: "the mode is neither 0 (all devices) nor 1 (a gamepad)",
        problem: "The mode says what stands before the events: paths, or the description of a \
            gamepad. Readers refuse other values.",
        impact: "",
        remedy: Remedy::Fix("exact: writes the mode that explains what follows; otherwise none"),
        source: "",
    };
    HEADER_PAD = Rule {
        code: "RV0006",
        name: "header-pad",
        severity: Severity::Warning,
        summary: "the padding of the header is not zero",
        problem: "The recorder clears the six bytes behind the mode. Readers skip them today; a \
            later version may give them a meaning.",
        impact: "",
        remedy: Remedy::Fix("exact: writes zeros"),
        source: "",
    };
    DEVICE_COUNT = Rule {
        code: "RV0007",
        name: "device-count",
        severity: Severity::Error,
        summary: "the number of devices is 0 or more than a system can have",
        problem: "Without devices there are no events; Linux numbers at most 1024 input devices. \
            The reader of Workload Automation follows the number and allocates for it.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    PATH_LENGTH = Rule {
        code: "RV0008",
        name: "path-length",
        severity: Severity::Error,
        summary: "the path of a device is empty or longer than a path can be",
        problem: "Paths stand behind their length, without a NUL. The recorder writes 17 or 18 \
            bytes; no system opens a path of more than 4096. What follows a wrong length \
            cannot be found.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    TOO_MANY_DEVICES = Rule {
        code: "RV0009",
        name: "too-many-devices",
        severity: Severity::Warning,
        summary: "there are more devices than the recorder opens",
        problem: "It opens /dev/input/event0 to event15. A longer list was made by something else.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    DEVICE_PATH = Rule {
        code: "RV0010",
        name: "device-path",
        severity: Severity::Info,
        summary: "the path of a device is not /dev/input/eventN",
        problem: "A replay opens the path as it stands; the recorder writes no other.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    DUPLICATE_PATH = Rule {
        code: "RV0011",
        name: "duplicate-path",
        severity: Severity::Info,
        summary: "two devices have the same path",
        problem: "Events of both are replayed into one device.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    GAMEPAD_NAME = Rule {
        code: "RV0012",
        name: "gamepad-name",
        severity: Severity::Error,
        summary: "the gamepad's name has no length that its readers can take",
        problem: "The replay tool refuses a name of 0 bytes and writes a longer one than 254 bytes \
            past the end of its buffer.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    ABSINFO_COUNT = Rule {
        code: "RV0013",
        name: "absinfo-count",
        severity: Severity::Error,
        summary: "there are more descriptions of axes than there are axes",
        problem: "The kernel has 64 absolute axes. The replay tool has room for as many and writes \
            further ones past the end of its buffer.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    ABSINFO_CODE = Rule {
        code: "RV0014",
        name: "absinfo-code",
        severity: Severity::Error,
        summary: "a description is of an axis that there is not",
        problem: "Codes of absolute axes go from 0 to 0x3f. The replay tool uses the code as an \
            index.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    ABSINFO_BITS = Rule {
        code: "RV0015",
        name: "absinfo-bits",
        severity: Severity::Error,
        summary: "the bits of absolute axes are not those of the described axes",
        problem: "The recorder writes a description for each bit that is set, so both have to \
            agree. It writes the bitmaps in the order abs, rel, key; the published \
            description of the format, and the Python reader that follows it, say key, rel, \
            abs. A writer that follows the description makes a file that no replay \
            understands.",
        impact: "",
        remedy: Remedy::Fix("exact: swaps the first and the third bitmap if the descriptions belong to the \
            third; otherwise none"),
        source: "",
    };
    FILE_NAME = Rule {
        code: "RV0016",
        name: "file-name",
        severity: Severity::Info,
        summary: "Workload Automation would not find the file by its name",
        problem: "It looks for `<device>.<stage>.revent`, takes the first two parts between dots, \
            compares them with their case, and knows the stages setup, run, extract_results \
            and teardown. A device whose name has a dot is never found; `startup` is no \
            stage.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    OLD_LAYOUT = Rule {
        code: "RV0017",
        name: "old-layout",
        severity: Severity::Info,
        summary: "the layout is older than what today's tools write",
        problem: "Without the magic (before 2016-07) no current tool reads a recording: all that \
            were published with Workload Automation are of this kind. Version 1 is read by \
            the Python reader, but the replay tool never ends. Version 2 is read, and \
            replayed without its last pause.",
        impact: "",
        remedy: Remedy::Fix("exact, with --upgrade only: writes the recording as version 3, with every event; \
            start and end become the times of the first and the last event"),
        source: "",
    };
    TIMES_WIDE = Rule {
        code: "RV0018",
        name: "times-wide",
        severity: Severity::Error,
        summary: "start or end have nanoseconds in the high word of their seconds",
        problem: "32-bit recorders of 2017-09 to 2018-10 (Workload Automation 3.0.0) wrote eight \
            bytes of a four-byte number. Every reader then takes the start for a time in \
            billions of years, and a replay injects all events at once.",
        impact: "",
        remedy: Remedy::Fix("exact: clears the high words; the microseconds beside them say that they are the \
            ones meant"),
        source: "",
    };
    TIMES_IMPLAUSIBLE = Rule {
        code: "RV0019",
        name: "times-implausible",
        severity: Severity::Error,
        summary: "start or end of the recording are no times",
        problem: "Microseconds are below a million, seconds below 2^33. The Python reader ends \
            with an error.",
        impact: "",
        remedy: Remedy::Fix("exact: writes the times of the first and the last event"),
        source: "",
    };
    START_AFTER_END = Rule {
        code: "RV0020",
        name: "start-after-end",
        severity: Severity::Warning,
        summary: "the recording ends before it starts, or apart from all its events",
        problem: "A replay counts from the start and waits for the end. What stands there was \
            never written, or is of another clock.",
        impact: "",
        remedy: Remedy::Fix("exact: writes the times of the first and the last event"),
        source: "",
    };
    COUNT_ZERO = Rule {
        code: "RV1001",
        name: "count-zero",
        severity: Severity::Error,
        summary: "the event count is 0 though events follow: the recorder never finished",
        problem: "The recorder writes count, start and end when it ends; killed, it leaves 0 and \
            whatever its stack held, whole buffers of 4096 bytes and an event that is cut. A \
            replay of such a file ends with exit 0 and injects nothing.",
        impact: "",
        remedy: Remedy::Fix("exact, synthetic or lossy, as it needs: writes count, start and end, cuts behind \
            the last whole frame, and lets go of what is held there (--release)"),
        source: "",
    };
    COUNT_TOO_LARGE = Rule {
        code: "RV1002",
        name: "count-too-large",
        severity: Severity::Error,
        summary: "the header counts more events than the file holds",
        problem: "The file was cut, or the count was damaged. The Python reader ends with an error \
            in the middle; the official dump prints what its memory held before.",
        impact: "",
        remedy: Remedy::Fix("as for RV1001"),
        source: "",
    };
    COUNT_TOO_SMALL = Rule {
        code: "RV1003",
        name: "count-too-small",
        severity: Severity::Error,
        summary: "the header counts fewer events than the file holds",
        problem: "The events behind the counted ones go on in time and end before the recording \
            does. Readers leave them out without a word.",
        impact: "",
        remedy: Remedy::Fix("exact: writes the number of events"),
        source: "",
    };
    TORN_EVENT = Rule {
        code: "RV1004",
        name: "torn-event",
        severity: Severity::Error,
        summary: "the last event is cut",
        problem: "Layouts without a count (before version 2) have events to the end of the file. A \
            killed recorder leaves whole buffers of 4096 bytes, and so part of an event; the \
            Python reader ends with an error there.",
        impact: "",
        remedy: Remedy::Fix("lossy or synthetic, as it needs: cuts behind the last whole frame, and lets go \
            of what is held there (--release)"),
        source: "",
    };
    TRAILING_BYTES = Rule {
        code: "RV1005",
        name: "trailing-bytes",
        severity: Severity::Warning,
        summary: "bytes follow the counted events that are none",
        problem: "The recorder ends a file behind its last event or, ended by the return key, 52 \
            bytes behind it. Readers do not look there.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops them"),
        source: "",
    };
    ENTER_PAIR = Rule {
        code: "RV1006",
        name: "enter-pair",
        severity: Severity::Info,
        summary: "the recorder's own release of the return key stands at the end",
        problem: "Ended by the return key, the recorder adds its release and the end of its frame. \
            Versions 2 and 3 do not count them; in older layouts they are part of the \
            events.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    WHOLE_PAGES = Rule {
        code: "RV1007",
        name: "whole-pages",
        severity: Severity::Warning,
        summary: "the file is whole buffers of 4096 bytes long: the recorder was killed",
        problem: "A recorder that ends by itself writes what is left in its buffer. One recording \
            in 4096 has such a length by chance.",
        impact: "",
        remedy: Remedy::Fix("lossy or synthetic, if a frame is unfinished or something is held: as for \
            RV1004; otherwise none"),
        source: "",
    };
    NO_EVENTS = Rule {
        code: "RV1008",
        name: "no-events",
        severity: Severity::Warning,
        summary: "there is no event",
        problem: "A replay does nothing. Workload Automation publishes one such file.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    DEVICE_OUTSIDE = Rule {
        code: "RV2001",
        name: "device-outside",
        severity: Severity::Error,
        summary: "an event names a device that is not in the list",
        problem: "Readers use the number as an index: the replay tool writes to whatever file its \
            memory names.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops these events, unless they are more than half of all"),
        source: "",
    };
    TIME_IMPLAUSIBLE = Rule {
        code: "RV2002",
        name: "time-implausible",
        severity: Severity::Error,
        summary: "the time of an event is none",
        problem: "Microseconds are below a million, seconds from 0 to 2^33. A replay waits for the \
            time to come; the Python reader ends with an error.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops these events, unless they are more than half of all"),
        source: "",
    };
    WORDS_WIDE = Rule {
        code: "RV2003",
        name: "words-wide",
        severity: Severity::Error,
        summary: "the times of events have type and code in their high words",
        problem: "32-bit recorders of 2016-10-26 to 2016-11-18 wrote eight bytes of a four-byte \
            number, so that the microseconds follow the seconds and type and code follow the \
            microseconds. Every reader then sees times in billions of years.",
        impact: "",
        remedy: Remedy::Fix("exact: clears the high words; the fields behind them say that they are the ones \
            meant"),
        source: "",
    };
    NOTHING_EVENT = Rule {
        code: "RV2004",
        name: "nothing-event",
        severity: Severity::Warning,
        summary: "events without time, type, code and value: a device was lost",
        problem: "The recorder does not look at the result of a read. When a device is unplugged \
            it records thousands of events of zeros a second until it is ended, and counts \
            them.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops them; they say nothing"),
        source: "",
    };
    CODE_UNKNOWN = Rule {
        code: "RV2005",
        name: "code-unknown",
        severity: Severity::Warning,
        summary: "an event has a type or a code that linux/input-event-codes.h does not have",
        problem: "The kernel injects no such event. The byte may be damaged, or the device's \
            driver has codes of its own.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    KEY_VALUE = Rule {
        code: "RV2006",
        name: "key-value",
        severity: Severity::Warning,
        summary: "a key has another value than 0 (up), 1 (down) and 2 (repeat)",
        problem: "The kernel knows no other and takes any but 0 for a press.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    EVENT_PAD = Rule {
        code: "RV2007",
        name: "event-pad",
        severity: Severity::Info,
        summary: "the padding of an event is not 0xdeadbeef",
        problem: "Recorders of 2015 and 2016 left this value in every event. It tells their \
            layouts apart; nothing reads it.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    GAMEPAD_CODE = Rule {
        code: "RV2008",
        name: "gamepad-code",
        severity: Severity::Warning,
        summary: "the gamepad is said not to have the key or axis of an event",
        problem: "A replay builds a virtual gamepad from the bits in the file; the kernel drops \
            what it was not told of.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    GAMEPAD_RANGE = Rule {
        code: "RV2009",
        name: "gamepad-range",
        severity: Severity::Warning,
        summary: "an axis of the gamepad has a value outside its range",
        problem: "The description of each axis has its smallest and its largest value.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    SLOT_OUTSIDE = Rule {
        code: "RV2010",
        name: "slot-outside",
        severity: Severity::Warning,
        summary: "a multi-touch slot has a number that no device has",
        problem: "Touch screens have ten slots or so. Contacts in such a slot are not followed.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    TIME_BACK = Rule {
        code: "RV3001",
        name: "time-back",
        severity: Severity::Warning,
        summary: "the time of a device goes back",
        problem: "Events of one device come in the order of their times; those of two may overlap \
            a little. A replay injects the event at once.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    EVENT_OUTSIDE = Rule {
        code: "RV3002",
        name: "event-outside",
        severity: Severity::Warning,
        summary: "an event lies before the start or behind the end of the recording",
        problem: "The recorder takes the start before its first event and the end behind its last.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    GAP = Rule {
        code: "RV3003",
        name: "gap",
        severity: Severity::Warning,
        summary: "more than an hour passes between two events",
        problem: "A replay waits as long. Two clocks in one recording, or a damaged time, are \
            likelier than patience.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    FRAME_OPEN = Rule {
        code: "RV3004",
        name: "frame-open",
        severity: Severity::Warning,
        summary: "the last frame of a device does not end",
        problem: "The kernel ends every group of events with SYN_REPORT, and programs act on it \
            then. What stands in an open frame takes effect with the next recording.",
        impact: "",
        remedy: Remedy::Fix("synthetic, with --release=always only: adds SYN_REPORT"),
        source: "",
    };
    EVENTS_DROPPED = Rule {
        code: "RV3005",
        name: "events-dropped",
        severity: Severity::Warning,
        summary: "the kernel dropped events while the recording was made",
        problem: "SYN_DROPPED says that the recorder did not read fast enough: what happened in \
            between is missing.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    RELEASE_UNPRESSED = Rule {
        code: "RV3006",
        name: "release-unpressed",
        severity: Severity::Warning,
        summary: "something is let go that was not pressed",
        problem: "A key goes up, or a contact ends, that did not begin in the recording: it began \
            before, or its beginning was lost.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    HELD = Rule {
        code: "RV3007",
        name: "held",
        severity: Severity::Warning,
        summary: "keys or contacts are still held at the end",
        problem: "revent replays into the device itself: a finger that is never lifted spoils \
            whatever is replayed next.",
        impact: "",
        remedy: Remedy::Fix("synthetic, where the tail was lost (with RV1001, RV1002, RV1004, RV1007) or with \
            --release=always: adds the release of each and SYN_REPORT at the last event's \
            time; never a position"),
        source: "",
    };
    CLOCK = Rule {
        code: "RV3008",
        name: "clock",
        severity: Severity::Info,
        summary: "the times are not of the clock that the layout's recorders use",
        problem: "Version 3 counts from the start of the machine, older ones from 1970. A replay \
            needs differences only.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
}
