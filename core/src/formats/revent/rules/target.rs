//! Rules of the device of a replay, which `--target` names.
#![allow(missing_docs, reason = "the texts of a rule are its documentation")]

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    TARGET_MODEL = Rule {
        code: "RV4001",
        name: "target-model",
        severity: Severity::Error,
        summary: "the file name is of another model than --target",
        problem: "Workload Automation chooses a recording by the model of the device, which is the \
            first part of the file name. A file with two parts is for all models.",
        impact: "Workload Automation does not find the recording on that device: it stops when \
            the workload is set up.",
        remedy: Remedy::Next("Record on that model. If both have the same input devices, copy the \
            file:\n\
            \x20 cp Nexus10.run.revent MODEL.run.revent"),
        source: "Workload Automation 3.3, wa/framework/resource.py: ReventFile.match_path",
    };
    TARGET_DEVICE = Rule {
        code: "RV4002",
        name: "target-device",
        severity: Severity::Error,
        summary: "a device of the recording is not in the list of --target",
        problem: "The recording names its devices by their paths, and events of one are not in the \
            list of the device of the replay: it has other devices, or the kernel found them in \
            another order.",
        impact: "revent replay stops when it opens the devices.",
        remedy: Remedy::Next("Compare the devices, and record on the device of the replay:\n\
            \x20 adb shell getevent -lp > devices.txt\n\
            \x20 tracemend check pad.run.revent --target devices.txt"),
        source: "Workload Automation 3.3.1, wa/tools/revent/revent.c: \
            open_general_input_devices_for_playback_or_die",
    };
    TARGET_EVENT = Rule {
        code: "RV4003",
        name: "target-event",
        severity: Severity::Error,
        summary: "the device of --target does not have an event of the recording",
        problem: "A key, axis or switch of the recording is not in the list for its path, or an \
            axis has other limits there. The path is of another device, such as the keys instead \
            of the touch screen, or the screen has another size.",
        impact: "The kernel drops events that a device does not have, without an error: the \
            workload waits for something that does not happen. Values outside of the limits are \
            points outside the screen.",
        remedy: Remedy::Next("Compare the devices, and record on the device of the replay:\n\
            \x20 adb shell getevent -lp > devices.txt\n\
            \x20 tracemend check pad.run.revent --target devices.txt"),
        source: "Linux, drivers/input/input.c: input_get_disposition, is_event_supported",
    };
}
