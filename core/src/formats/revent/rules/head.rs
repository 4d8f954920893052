//! Rules of the header and the device list.
#![allow(missing_docs, reason = "the texts of a rule are its documentation")]

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    NO_MAGIC = Rule {
        code: "RV0001",
        name: "no-magic",
        severity: Severity::Error,
        summary: "the magic REVENT is missing",
        problem: "Recordings since 2016-07 begin with the magic REVENT, older ones with a device \
            list. The file has neither. Files without both are not taken for recordings, so only \
            `--type revent` can report this rule.",
        impact: "revent and Workload Automation refuse the file (ValueError: \"does not appear to \
            be an revent recording\").",
        remedy: Remedy::Fix("Writes the magic, if version, devices and at least 90 % of the \
            first events fit a recording; otherwise there is no fix.\n\
            Class: exact (witness: the events). Cost: none.\n\
            Run:\n\
            \x20 tracemend repair --type revent pad.run.revent -o repaired.run.revent"),
        source: "Workload Automation 3.3.1, wa/utils/revent.py: \
            ReventRecording._parse_header_and_devices",
    };
    HEADER_TRUNCATED = Rule {
        code: "RV0002",
        name: "header-truncated",
        severity: Severity::Error,
        summary: "the file ends before the first event",
        problem: "Header, devices, event count and times precede the events. The copy of the \
            file was interrupted, or the disk was full.",
        impact: "Workload Automation's reader raises struct.error, and revent replay exits with \
            an error.",
        remedy: Remedy::Next("The file has no event, so nothing can be repaired. Use another \
            copy of the file if there is one, or record again:\n\
            \x20 revent record pad.run.revent"),
        source: "Workload Automation 3.3.1, wa/utils/revent.py: read_struct",
    };
    HEADER_ONLY = Rule {
        code: "RV0003",
        name: "header-only",
        severity: Severity::Error,
        summary: "the file consists of the 16-byte header",
        problem: "The recorder writes the header directly and everything else through a buffer \
            of 4096 bytes. If it is killed within about the first 150 events, the file ends \
            after the header.",
        impact: "Workload Automation's reader raises struct.error: nothing was recorded.",
        remedy: Remedy::Next("No event reached the disk, so nothing can be repaired. Record \
            again, and stop the recorder with the return key or SIGINT, which write the buffer:\n\
            \x20 revent record pad.run.revent"),
        source: "revent.c of Workload Automation; measured with killed recorders of 2018",
    };
    VERSION_UNKNOWN = Rule {
        code: "RV0004",
        name: "version-unknown",
        severity: Severity::Error,
        summary: "version is not 1, 2 or 3",
        problem: "The version after the magic selects the layout. Recorders write 1, 2 and 3.",
        impact: "Workload Automation's reader refuses versions above 3 (ValueError: \"Invalid \
            recording version\").",
        remedy: Remedy::Fix("Sets the version to the only one whose layout explains the events; \
            if none or several do, there is no fix.\n\
            Class: exact (witness: at least 90 % of the first events). Cost: none.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "Workload Automation 3.3.1, wa/utils/revent.py: \
            ReventRecording._parse_header_and_devices",
    };
    MODE_UNKNOWN = Rule {
        code: "RV0005",
        name: "mode-unknown",
        severity: Severity::Error,
        summary: "mode is not 0 (all devices) or 1 (gamepad)",
        problem: "The mode selects what precedes the events: a list of device paths (0), or the \
            description of a gamepad (1).",
        impact: "Workload Automation's reader refuses the file (ValueError: \"Unexpected recording \
            mode\").",
        remedy: Remedy::Fix("Sets the mode that fits: 0 if only paths of input devices follow, 1 \
            if the axis descriptions match the bitmap of axes; otherwise there is no fix.\n\
            Class: exact. Cost: none.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "Workload Automation 3.3.1, wa/utils/revent.py: \
            ReventRecording._parse_header_and_devices",
    };
    HEADER_PAD = Rule {
        code: "RV0006",
        name: "header-pad",
        severity: Severity::Warning,
        summary: "padding of the header is not zero",
        problem: "The recorder writes six zero bytes after the mode.",
        impact: "No reader of today uses these bytes; a later version may give them a meaning.",
        remedy: Remedy::Fix("Sets the six bytes to zero.\n\
            Class: exact. Cost: none.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "revent.c of Workload Automation",
    };
    DEVICE_COUNT = Rule {
        code: "RV0007",
        name: "device-count",
        severity: Severity::Error,
        summary: "number of devices is 0 or above 1024",
        problem: "Every event names a device of the list, and Linux supports at most 1024 input \
            devices.",
        impact: "Workload Automation's reader takes the paths for the event count and fails \
            there; revent replay allocates memory for the number.",
        remedy: Remedy::Next("The position of the events is unknown. Use another copy of the \
            file if there is one, or record again:\n\
            \x20 revent record pad.run.revent"),
        source: "Linux, include/linux/input.h: INPUT_MAX_CHAR_DEVICES; Workload Automation \
            3.3.1, wa/utils/revent.py: _read_devices",
    };
    PATH_LENGTH = Rule {
        code: "RV0008",
        name: "path-length",
        severity: Severity::Error,
        summary: "length of a device path is 0 or above 4096",
        problem: "Each path follows its length, without a NUL. The recorder writes paths of 17 \
            or 18 bytes, and no system opens one of more than 4096.",
        impact: "Workload Automation's reader raises struct.error at this path.",
        remedy: Remedy::Next("The position of everything after the length is unknown. Use \
            another copy of the file if there is one, or record again:\n\
            \x20 revent record pad.run.revent"),
        source: "Workload Automation 3.3.1, wa/utils/revent.py: read_string; Linux, \
            include/uapi/linux/limits.h: PATH_MAX",
    };
    TOO_MANY_DEVICES = Rule {
        code: "RV0009",
        name: "too-many-devices",
        severity: Severity::Warning,
        summary: "there are more than 16 devices",
        problem: "The recorder opens /dev/input/event0 to /dev/input/event15. Another program \
            wrote or changed this list.",
        impact: "revent replay opens every path for writing; Workload Automation's reader \
            accepts the list.",
        remedy: Remedy::Next("Check the paths before you replay the recording:\n\
            \x20 tracemend dump pad.run.revent"),
        source: "revent.c of Workload Automation: INPDEV_MAX_DEVICES",
    };
    DEVICE_PATH = Rule {
        code: "RV0010",
        name: "device-path",
        severity: Severity::Warning,
        summary: "path of a device is not /dev/input/eventN",
        problem: "The recorder writes only paths of this form, of 17 to 20 printable bytes.",
        impact: "revent replay opens the path for writing, up to its first NUL, and exits with \
            an error if it is not a device. Workload Automation's reader accepts it.",
        remedy: Remedy::Fix("Writes /dev/input/event, if only some bytes of it are damaged and \
            a number follows; any other path stays.\n\
            Class: exact (witness: the length of the path). Cost: none; all events stay.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "revent.c of Workload Automation: replay_buffer_init",
    };
    DUPLICATE_PATH = Rule {
        code: "RV0011",
        name: "duplicate-path",
        severity: Severity::Info,
        summary: "two devices have the same path",
        problem: "The recorder lists every device once.",
        impact: "revent replay injects the events of both devices into one.",
        remedy: Remedy::Next("Check that the recording is the one that you expect:\n\
            \x20 tracemend dump pad.run.revent"),
        source: "revent.c of Workload Automation: inpdev_init",
    };
    VERSION_ZERO = Rule {
        code: "RV0021",
        name: "version-zero",
        severity: Severity::Warning,
        summary: "version is 0, which readers take for 1",
        problem: "Recorders write the versions 1, 2 and 3. The events have the layout of \
            version 1.",
        impact: "Workload Automation's reader and revent replay read the recording as version 1.",
        remedy: Remedy::Fix("Sets the version to 1.\n\
            Class: exact (witness: the events). Cost: none; all events stay.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "Workload Automation 3.3.1, wa/utils/revent.py: \
            ReventRecording._parse_header_and_devices",
    };
    DEVICE_PATH_OUTSIDE = Rule {
        code: "RV0022",
        name: "device-path-outside",
        severity: Severity::Error,
        summary: "path of a device is outside /dev/input",
        problem: "The recorder writes paths below /dev/input. This one names another file, \
            directly or by `..`.",
        impact: "revent replay opens the path for writing and overwrites the file with the \
            events.",
        remedy: Remedy::Next("Do not replay the recording. If it is your own, the path is \
            damaged; look at the others:\n\
            \x20 tracemend dump pad.run.revent"),
        source: "revent.c of Workload Automation: replay_buffer_init",
    };
    HEAD_DAMAGED = Rule {
        code: "RV0023",
        name: "head-damaged",
        severity: Severity::Error,
        summary: "header or device list is damaged, but events follow",
        problem: "The position of the events follows from the device list, which cannot be read. \
            The events were found by themselves: at least four with a device, a time and a known \
            code.",
        impact: "Workload Automation's reader raises struct.error or ValueError, or returns \
            wrong events.",
        remedy: Remedy::Fix("Writes header and device list again, with the paths that can still \
            be read. A device without a path gets one that no other device has.\n\
            Class: lossy. Cost: the paths that cannot be read; all events stay.\n\
            Look at the paths before you replay the recording:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "Workload Automation 3.3.1, wa/utils/revent.py: _read_devices; revent.c: \
            replay_buffer_init",
    };
}
