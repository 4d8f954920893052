//! Rules of the events of one thread.
#![allow(missing_docs, reason = "the texts of a rule are its documentation")]

use super::{ADD_OR_DROP, COMPARE_EVENTS, DROP, NOTHING_REQUIRED};
use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    THREAD_STATE = Rule {
        code: "OV3001",
        name: "thread-state",
        severity: Severity::Error,
        summary: "the thread cannot change its state like this",
        problem: "OHx starts a thread that has not started. A running thread can cool (OHc), and a \
            running or cooling thread can pause (OHp) or end (OHe). A paused thread can warm \
            (OHw), and a paused or warming thread can resume (OHr). OAs needs a thread that is \
            running, cooling or warming.",
        impact: "ovniemu refuses the whole trace at this event.",
        remedy: ADD_OR_DROP,
        source: "ovni 1.14.0, src/emu/ovni/event.c: pre_thread; src/emu/thread.c",
    };
    EVENT_STATE = Rule {
        code: "OV3002",
        name: "event-in-wrong-state",
        severity: Severity::Error,
        summary: "an event of a model in a thread that does not run",
        problem: "Events of nanos6 and nosv need a thread that is running, cooling or warming; \
            those of nodes, tampi, mpi and openmp a running thread.",
        impact: "ovniemu refuses the whole trace at this event.",
        remedy: ADD_OR_DROP,
        source: "ovni 1.14.0, the event.c of each model",
    };
    OUT_OF_CPU = Rule {
        code: "OV3003",
        name: "event-out-of-cpu",
        severity: Severity::Error,
        summary: "an event while the kernel has the thread off its CPU",
        problem: "KCO and KCI alternate, and no event of ovni or nosv lies between them.",
        impact: "ovniemu refuses the whole trace at this event.",
        remedy: ADD_OR_DROP,
        source: "ovni 1.14.0, src/emu/kernel/event.c; measured",
    };
    NOT_ENDED = Rule {
        code: "OV3004",
        name: "thread-not-ended",
        severity: Severity::Error,
        summary: "the stream ends before its thread",
        problem: "Every thread ends with OHe, even if ovni.finished is 1. A thread that calls \
            ovni_thread_free without ovni_flush, or a disk that was full, leaves such a stream.",
        impact: "ovniemu refuses the whole trace because of one such thread.",
        remedy: Remedy::Fix("Closes everything that is open, innermost first, and ends the thread \
            at its last clock. A thread without an event starts and ends on the virtual CPU.\n\
            Class: synthetic. Cost: none; events that were never written stay lost.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/ovni/event.c: model_ovni_finish; src/rt/ovni.c",
    };
    STACK_MISMATCH = Rule {
        code: "OV3005",
        name: "stack-mismatch",
        severity: Severity::Error,
        summary: "an event closes a state that is not the innermost, or opens one twice",
        problem: "States nest: only the innermost one can be closed. A state cannot be opened \
            directly inside itself, except for nosv, openmp and marks. At most 512 are open at \
            once.",
        impact: "ovniemu refuses the whole trace at this event.",
        remedy: ADD_OR_DROP,
        source: "ovni 1.14.0, src/emu/chan.c: chan_push, chan_pop (MAX_CHAN_STACK)",
    };
    LEFT_OPEN = Rule {
        code: "OV3006",
        name: "left-open",
        severity: Severity::Error,
        summary: "states are open when the thread ends",
        problem: "A subsystem or function was entered and not left before OHe.",
        impact: "ovniemu -l (the linter) refuses the whole trace; ovniemu without -l accepts it.",
        remedy: Remedy::Fix("Adds the events that close the states, innermost first, before OHe \
            and with its clock.\n\
            Class: synthetic. Cost: none.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, the setup.c of each model: end_lint",
    };
    MARK_LEFT_OPEN = Rule {
        code: "OV3007",
        name: "mark-left-open",
        severity: Severity::Warning,
        summary: "marks or bodies of tasks are open when the thread ends",
        problem: "A mark was pushed and never popped, or the body of a task has not ended.",
        impact: "ovniemu accepts it, with and without -l. The timeline shows the mark or task up \
            to the end.",
        remedy: NOTHING_REQUIRED,
        source: "ovni 1.14.0, src/emu/ovni/mark.c; measured",
    };
    FLUSH_ORDER = Rule {
        code: "OV3008",
        name: "flush-order",
        severity: Severity::Error,
        summary: "OF[ and OF] do not alternate",
        problem: "libovni writes OF[ and OF] around each flush of its buffer. A flush that is open \
            at the end is legal.",
        impact: "ovniemu refuses a flush that starts twice or ends without a start.",
        remedy: ADD_OR_DROP,
        source: "ovni 1.14.0, src/emu/ovni/event.c: pre_flush",
    };
    REGION_ORDER = Rule {
        code: "OV3009",
        name: "region-order",
        severity: Severity::Warning,
        summary: "OU[ and OU] do not alternate",
        problem: "A region of events out of order starts with OU[ and ends with OU]. Regions do \
            not nest.",
        impact: "ovnisort refuses the stream; ovniemu ignores both events.",
        remedy: COMPARE_EVENTS,
        source: "ovni 1.14.0, src/emu/ovnisort.c; measured",
    };
    SAME_IDLE = Rule {
        code: "OV3010",
        name: "same-idle-state",
        severity: Severity::Error,
        summary: "the idle state is set twice in a row",
        problem: "Threads start as progressing. Each idle event changes the state.",
        impact: "ovniemu refuses the whole trace at this event.",
        remedy: ADD_OR_DROP,
        source: "ovni 1.14.0, src/emu/chan.c: chan_set",
    };
    TASK_STEP = Rule {
        code: "OV3011",
        name: "task-step",
        severity: Severity::Error,
        summary: "the body of a task cannot move like this",
        problem: "A body starts on top of the other bodies of its thread, and only the innermost \
            body pauses, resumes or ends. In nosv no body starts while another one runs, and \
            parallel tasks do not pause.",
        impact: "ovniemu refuses the whole trace at this event.",
        remedy: ADD_OR_DROP,
        source: "ovni 1.14.0, src/emu/body.c, src/emu/task.c",
    };
    EVENT_AFTER_END = Rule {
        code: "OV3012",
        name: "event-after-end",
        severity: Severity::Warning,
        summary: "OHx follows the end of the thread",
        problem: "A thread normally ends once. A second OHx means that two runs of a thread with \
            the same id share one stream.",
        impact: "ovniemu accepts it and shows the thread as running again.",
        remedy: NOTHING_REQUIRED,
        source: "ovni 1.14.0, src/emu/thread.c; measured",
    };
    UNDEFINED_MARK = Rule {
        code: "OV3013",
        name: "undefined-mark",
        severity: Severity::Error,
        summary: "an event uses an undefined mark type",
        problem: "ovni.mark defines each type (0 to 99) with its title, and whether it has a \
            single value (OM=) or a stack (OM[ and OM]). Threads that were killed lose the key.",
        impact: "ovniemu refuses the whole trace at the first such event.",
        remedy: Remedy::Fix("Adds the type to ovni.mark, with the title `mark N`.\n\
            Class: synthetic. Cost: none; the original title is lost.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/ovni/mark.c",
    };
    MARK_KIND = Rule {
        code: "OV3014",
        name: "mark-kind",
        severity: Severity::Error,
        summary: "a mark event does not match the type of the mark",
        problem: "ovni.mark defines whether a type has a single value, which OM= sets, or a stack, \
            to which OM[ pushes and from which OM] pops.",
        impact: "ovniemu refuses the whole trace at this event.",
        remedy: DROP,
        source: "ovni 1.14.0, src/emu/ovni/mark.c",
    };
}
