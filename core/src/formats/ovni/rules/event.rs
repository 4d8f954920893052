//! Rules of single events.
#![allow(missing_docs, reason = "the texts of a rule are its documentation")]

use super::{DROP, NOTHING_REQUIRED};
use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    PAYLOAD_SIZE = Rule {
        code: "OV2001",
        name: "payload-size",
        severity: Severity::Error,
        summary: "the payload does not match the signature of the event",
        problem: "Each event has a fixed payload, or a jumbo payload with a smallest size. A \
            warning if the payload has more bytes than fields, or if no tool reads a field of the \
            event.",
        impact: "ovniemu reads missing fields from the bytes after the event. For affinities and \
            marks it checks the size and refuses the whole trace.",
        remedy: Remedy::Fix("Sets the flags if the next event shows where this one ends. Otherwise \
            restores the code if one flipped bit explains it, or drops the event.\n\
            Class: exact for flags that no event has, else lossy. Cost: the recorded code, or the \
            event.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, the lists of events of each model; measured",
    };
    UNKNOWN_EVENT = Rule {
        code: "OV2002",
        name: "unknown-event",
        severity: Severity::Error,
        summary: "unknown event of a known model",
        problem: "The model does not define the event in any version up to ovni 1.14. Information \
            if the emulator ignores the event (categories U and B of ovni) or the model is not \
            enabled.",
        impact: "ovniemu refuses the whole trace if the model is enabled.",
        remedy: Remedy::Fix("Restores the code if one flipped bit explains it and the event is \
            possible there. Otherwise drops the event. If a newer runtime wrote the trace, use a \
            newer release of ovni instead.\n\
            Class: lossy. Cost: the recorded code, or the event.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, the lists of events of each model",
    };
    UNKNOWN_MODEL = Rule {
        code: "OV2003",
        name: "unknown-model",
        severity: Severity::Error,
        summary: "events of an unknown model",
        problem: "Programs may emit events of a private model, which ovni.require of a thread then \
            names: such events are kept, and the finding is information, once per stream and \
            model. An unknown model that no thread requires is damage.",
        impact: "ovniemu refuses the whole trace at the first event of a model that is not \
            registered.",
        remedy: Remedy::Fix("Restores the code if one flipped bit explains it, otherwise drops \
            the event. If a stream has more than 4 events of the model, it is not damage: use the \
            build of ovni that defines it.\n\
            Class: lossy. Cost: the recorded code, or the event.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/model.c",
    };
    MODEL_NOT_REQUIRED = Rule {
        code: "OV2004",
        name: "model-not-required",
        severity: Severity::Error,
        summary: "events of a model that no thread requires",
        problem: "ovni.require of one thread enables a model for the whole trace. Threads that \
            were killed lose the key, because libovni writes it at the end.",
        impact: "ovniemu refuses the whole trace at the first event of the model.",
        remedy: Remedy::Fix("Adds the model to ovni.require of the first stream that uses it. The \
            payload of VTx gives the major version of nosv.\n\
            Class: synthetic. Cost: none.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/model.c",
    };
    EVENT_NEWER = Rule {
        code: "OV2005",
        name: "event-newer",
        severity: Severity::Info,
        summary: "an event is newer than the required version of its model",
        problem: "The thread requires a version of the model that does not have the event. \
            Reported once per stream and model.",
        impact: "ovniemu 1.14 accepts the event, because it knows the newer version.",
        remedy: NOTHING_REQUIRED,
        source: "ovni 1.14.0, the change logs of the models",
    };
    LABEL_UNTERMINATED = Rule {
        code: "OV2006",
        name: "label-unterminated",
        severity: Severity::Error,
        summary: "the label of a type is unterminated",
        problem: "The label at the end of VYc, 6Yc and POc ends with a NUL.",
        impact: "ovniemu reads on after the event until a byte is 0. The label then includes other \
            events.",
        remedy: Remedy::Fix("Adds a NUL, and 1 to the size of the event.\n\
            Class: lossy. Cost: the recorded size.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/nosv/event.c, src/emu/nanos6/event.c; measured",
    };
    LABEL_TOO_LONG = Rule {
        code: "OV2007",
        name: "label-too-long",
        severity: Severity::Error,
        summary: "a label or title has 512 bytes or more",
        problem: "The emulator keeps labels of task types and marks, and titles of marks, in \
            buffers of 512 bytes (MAX_PCF_LABEL).",
        impact: "ovniemu refuses the whole trace.",
        remedy: Remedy::Next("Shorten the label in the program and record again. A label of a mark \
            can be shortened in stream.json with an editor, in a copy of the trace."),
        source: "ovni 1.14.0, src/emu/pv/pcf.h: MAX_PCF_LABEL",
    };
    BAD_ARGUMENT = Rule {
        code: "OV2008",
        name: "bad-argument",
        severity: Severity::Error,
        summary: "a field of an event is out of range",
        problem: "The value of a mark, a task id and a type id are not 0. A mark type is at most \
            99. \
            The body id of a parallel task is above 0; that of any other task is 0.",
        impact: "ovniemu refuses the whole trace at this event.",
        remedy: DROP,
        source: "ovni 1.14.0, src/emu/task.c, src/emu/body.c, src/emu/ovni/mark.c",
    };
    COUNTERS_SIZE = Rule {
        code: "OV2009",
        name: "counters-size",
        severity: Severity::Error,
        summary: "VWC does not have one value per hardware counter",
        problem: "nosv.hwc names the counters. Each VWC has a value of 8 bytes for each of them.",
        impact: "ovniemu refuses the whole trace at this event.",
        remedy: DROP,
        source: "ovni 1.14.0, src/emu/nosv",
    };
    NO_CPU = Rule {
        code: "OV2010",
        name: "no-such-cpu",
        severity: Severity::Error,
        summary: "the CPU of an event is out of range",
        problem: "A CPU is an index into ovni.loom_cpus, or -1 for the virtual CPU. A negative \
            number, or one so high that a repair cannot add the CPUs up to it, is damage.",
        impact: "ovniemu refuses the whole trace at this event.",
        remedy: Remedy::Fix("Sets the CPU to -1.\n\
            Class: lossy. Cost: the recorded number; the thread is on no known CPU from here on.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/ovni/event.c; src/emu/loom.c: loom_get_cpu",
    };
    FLIPPED_BIT = Rule {
        code: "OV2011",
        name: "flipped-bit",
        severity: Severity::Error,
        summary: "one inverted bit makes an event contradict those around it",
        problem: "With one bit of the code, of a task or of a type inverted, the event and at \
            least 16 after it fit those before it; without, they do not, and no other bit gives \
            as much.",
        impact: "ovniemu refuses the whole trace at the first event that contradicts another one, \
            which can be hundreds of events later.",
        remedy: Remedy::Fix("Inverts the bit.\n\
            Class: lossy. Cost: the recorded value.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/task.c, src/emu/chan.c; measured",
    };
}
