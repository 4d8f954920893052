//! Rules of gamepads, the file name and the recorded times.
#![allow(missing_docs, reason = "the texts of a rule are its documentation")]

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    GAMEPAD_NAME = Rule {
        code: "RV0012",
        name: "gamepad-name",
        severity: Severity::Error,
        summary: "name of the gamepad is empty or longer than 254 bytes",
        problem: "The name follows its length. revent replay has a buffer of 255 bytes for it.",
        impact: "revent replay refuses an empty name and writes a longer one past the end of its \
            buffer; Workload Automation's reader accepts both.",
        remedy: Remedy::Fix("Sets the length, if bitmaps, axes and events can be read with only \
            one value.\n\
            Class: lossy (the name may be the damaged part). Cost: none; all events stay.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "revent.c of Workload Automation",
    };
    ABSINFO_COUNT = Rule {
        code: "RV0013",
        name: "absinfo-count",
        severity: Severity::Error,
        summary: "num_absinfo is above 64",
        problem: "The kernel has 64 absolute axes, and the recorder writes one description per \
            axis.",
        impact: "revent replay writes the descriptions past the end of a buffer for 64; Workload \
            Automation's reader accepts them.",
        remedy: Remedy::Fix("Sets the number of bits in abs_bits, if those match the axes and the \
            events can be read then.\n\
            Class: exact (witnesses: the bitmaps and the events), or lossy if the bitmaps have \
            an unknown key or lack one of the events. Cost: none; all events stay.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "revent.c of Workload Automation; Linux, include/uapi/linux/input-event-codes.h: \
            ABS_CNT",
    };
    ABSINFO_CODE = Rule {
        code: "RV0014",
        name: "absinfo-code",
        severity: Severity::Error,
        summary: "code of an axis description is above 63",
        problem: "The codes of absolute axes are 0 to 63 (ABS_MAX).",
        impact: "revent replay uses the code as an index without a check; Workload Automation's \
            reader accepts it.",
        remedy: Remedy::Fix("Sets the codes to the bits of abs_bits, if there are as many.\n\
            Class: lossy. Cost: the damaged codes; all events stay.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "Linux, include/uapi/linux/input-event-codes.h: ABS_MAX",
    };
    ABSINFO_BITS = Rule {
        code: "RV0015",
        name: "absinfo-bits",
        severity: Severity::Error,
        summary: "abs_bits does not match the axis descriptions",
        problem: "The recorder writes one axis description (absinfo) per bit in abs_bits, so \
            both must name the same axes. The recorder stores the bitmaps as abs, rel, key. The \
            published description of the format and Workload Automation's Python reader use key, \
            rel, abs: a writer that follows them swaps two.",
        impact: "revent replay takes the first bitmap for axes: buttons become axes, and axes \
            become buttons.",
        remedy: Remedy::Fix("Swaps both bitmaps if the third one matches the axis descriptions. \
            Otherwise sets the bits to the codes, if those are in order, or the codes to the \
            bits.\n\
            Class: exact if it swaps (witness: the codes of the axis descriptions), else lossy. \
            Cost: none; all events stay.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "revent.c (recorder) and Workload Automation 3.3.1, wa/utils/revent.py: \
            UinputDeviceInfo; real files follow the recorder",
    };
    FILE_NAME = Rule {
        code: "RV0016",
        name: "file-name",
        severity: Severity::Info,
        summary: "Workload Automation does not find the file by its name",
        problem: "Workload Automation looks for <device>.<stage>.revent, or <stage>.revent for \
            any device. It compares the first parts between dots, with their case, and knows the \
            stages setup, run, extract_results and teardown. It never finds a device with a dot \
            in its name.",
        impact: "Workload Automation does not replay the recording and reports that it is \
            missing.",
        remedy: Remedy::Next("Rename the file:\n\
            \x20 mv pad.startup.revent pad.setup.revent"),
        source: "Workload Automation 3.3, wa/framework/getters.py: get_generic_resource; \
            wa/framework/resource.py: ReventFile.match_path",
    };
    OLD_LAYOUT = Rule {
        code: "RV0017",
        name: "old-layout",
        severity: Severity::Info,
        summary: "the layout is older than version 3",
        problem: "Recorders before 2016-07 wrote no magic (four layouts), later ones version 1 \
            and 2. All recordings that were published with Workload Automation are of the first \
            kind.",
        impact: "No current tool reads a recording without the magic. Version 1: Workload \
            Automation's reader accepts it, revent replay does not terminate. Version 2: both \
            read it, and revent replay leaves out the pause at the end.",
        remedy: Remedy::Fix("With --upgrade, writes the recording as version 3 with every event. \
            Start and end become the times of the first and the last event.\n\
            Class: synthetic. Cost: none; all events stay.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent --upgrade -o repaired.run.revent"),
        source: "revent.c (recorder), its history from 2012 to 2018; Workload Automation 3.3.1, \
            wa/utils/revent.py",
    };
    TIMES_WIDENED = Rule {
        code: "RV0018",
        name: "times-widened",
        severity: Severity::Error,
        summary: "high half of start or end holds nanoseconds",
        problem: "32-bit recorders of 2017-09 to 2018-10 (in Workload Automation 3.0.0) wrote \
            eight bytes from the address of the four-byte seconds, so that the nanoseconds \
            follow in the high half.",
        impact: "Workload Automation's reader raises ValueError (\"year 1361066614 is out of \
            range\"), and revent replay injects all events at once.",
        remedy: Remedy::Fix("Clears the high halves. The microseconds confirm it: they are a \
            thousandth of the nanoseconds.\n\
            Class: exact (witness: the microseconds). Cost: none.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "revent.c (recorder), 2017-09-25 to 2018-10-12",
    };
    TIMES_IMPLAUSIBLE = Rule {
        code: "RV0019",
        name: "times-implausible",
        severity: Severity::Error,
        summary: "start or end is out of range",
        problem: "Microseconds are below 1000000, seconds below 2^33. A recorder that does not \
            finish leaves uninitialised bytes; so does damage.",
        impact: "Workload Automation's reader raises ValueError for a year above 9999. It \
            accepts microseconds from 1000000 on and shows a wrong time; revent replay waits for \
            a wrong time.",
        remedy: Remedy::Fix("Sets start and end to the times of the first and the last event, \
            each only if its own value does not fit.\n\
            Class: lossy: the recorder takes the start before the first event. Cost: the stored \
            time.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "Workload Automation 3.3.1, wa/utils/revent.py: start_time, end_time",
    };
    TIMES_MISMATCH = Rule {
        code: "RV0020",
        name: "times-mismatch",
        severity: Severity::Warning,
        summary: "start and end do not fit the events",
        problem: "The end is before the start, all events are outside of both, the start is more \
            than ten minutes before the first event, or the end more than an hour after the last \
            one. The recorder did not write these values, they are from another clock, or nobody \
            touched the device for that long.",
        impact: "revent replay sleeps from the start to the first event, and after the last event \
            until the end.",
        remedy: Remedy::Fix("Sets start and end to the times of the first and the last event, \
            each only if its own value does not fit.\n\
            Class: lossy: the recorder takes the start before the first event. Cost: the stored \
            time.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "revent.c of Workload Automation: replay_buffer_play",
    };
    TIMES_UNWRITTEN = Rule {
        code: "RV0024",
        name: "times-unwritten",
        severity: Severity::Error,
        summary: "start or end is 0, but the events are later",
        problem: "The clock counts from the boot, and the recorder takes start and end later. It \
            writes both when it ends, so a time of 0 was never written. A start of 0 is reported \
            if the first event is more than a minute after it.",
        impact: "revent replay sleeps from the start to the first event: if the device had been \
            up for 44 minutes, it injects nothing for 44 minutes. Workload Automation's reader \
            shows a recording that began in 1970.",
        remedy: Remedy::Fix("Sets start and end to the times of the first and the last event, \
            each only if its own value does not fit.\n\
            Class: synthetic; lossy if it replaces a time that is not 0. Cost: none; all events \
            stay. The pause before the first event was not recorded.\n\
            Run:\n\
            \x20 tracemend repair pad.run.revent -o repaired.run.revent"),
        source: "Workload Automation 3.3.1, wa/tools/revent/revent.c: record, adjust_timestamps, \
            replay_buffer_play",
    };
}
