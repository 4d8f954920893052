//! QR3: the order of events. Most of these rules are regularities of 37 clean logs, so they are
//! warnings.

use crate::formats::qemu::rules::COMPARE_COPY;
use crate::report::rule::rules;
use crate::report::{Remedy, Rule, Severity};

rules! {
    SHUTDOWN_MISSING = Rule {
        code: "QR3001",
        name: "shutdown-missing",
        severity: Severity::Error,
        summary: "missing SHUTDOWN+HOST_SIGNAL before END",
        problem: "Since 5.1 a recorder ends a log with SHUTDOWN+HOST_SIGNAL and END. A program \
            that closed an unfinished log with END alone leaves this.",
        impact: "QEMU hangs at END, because nothing ends the replay.",
        remedy: Remedy::Fix("Adds SHUTDOWN+HOST_SIGNAL before END. Drops complete events before it \
            after which a guest demands the next one (INSTRUCTION, CP_CLOCK_VIRTUAL, AUDIO_OUT).\n\
            Class: lossy if events are dropped, else synthetic.\n\
            Cost: up to three complete events. The log is structurally closed; QEMU, the guest \
            and the command line decide whether it replays to its end.\n\
            Run:\n\
            \x20 tracemend repair boot.log -o repaired.log"),
        source: "QEMU, replay/replay.c: replay_finish; measured with 5.2, 7.2, 10.0 and 11.1",
    };
    CLOCK_BACKWARDS = Rule {
        code: "QR3002",
        name: "clock-backwards",
        severity: Severity::Warning,
        summary: "a clock goes back",
        problem: "The virtual clock always rises. The host clock rises unless somebody or NTP set \
            it back during the recording.",
        impact: "QEMU replays the value as it is. A guest may misbehave, and a virtual clock that \
            goes back shows damage.",
        remedy: COMPARE_COPY,
        source: "QEMU, replay/replay-time.c: replay_read_clock; 37 clean logs of 7.2, 10.0 and \
            11.1",
    };
    INSTRUCTION_TWICE = Rule {
        code: "QR3003",
        name: "instruction-twice",
        severity: Severity::Warning,
        summary: "duplicate INSTRUCTION: two events in a row",
        problem: "The writer adds up instructions until another event happens, so INSTRUCTION \
            never follows INSTRUCTION.",
        impact: "QEMU may stop here. If an event between the two was lost, the guest demands it.",
        remedy: COMPARE_COPY,
        source: "QEMU, replay/replay-internal.c: replay_save_instructions; 37 clean logs",
    };
    CLOCK_MISSING = Rule {
        code: "QR3004",
        name: "clock-missing",
        severity: Severity::Warning,
        summary: "missing CLOCK_VIRTUAL_RT after CP_CLOCK_VIRTUAL_RT",
        problem: "The timers that run at this checkpoint read their clock first, in every clean \
            log.",
        impact: "QEMU may stop here: the guest demands the clock and the log has another event.",
        remedy: COMPARE_COPY,
        source: "37 clean logs of 7.2, 10.0 and 11.1; through 7.0 asynchronous events may come \
            between",
    };
    INIT_LATE = Rule {
        code: "QR3005",
        name: "init-late",
        severity: Severity::Warning,
        summary: "missing CP_INIT in the first 3 events",
        problem: "QEMU creates the machine before it runs it, so CP_INIT is one of the first three \
            events in every clean log. Events before it are lost, or another program wrote the \
            log.",
        impact: "QEMU may hang at the start, because it waits for the checkpoint.",
        remedy: COMPARE_COPY,
        source: "QEMU, include/sysemu/replay.h: CHECKPOINT_INIT; 37 clean logs of 7.2, 10.0 and \
            11.1",
    };
    INSTRUCTION_MISSING = Rule {
        code: "QR3006",
        name: "instruction-missing",
        severity: Severity::Warning,
        summary: "missing INSTRUCTION after CHAR_WRITE or INTERRUPT",
        problem: "The guest continues after these events, so INSTRUCTION follows in every clean \
            log. Undamaged killed logs of 10.0 and 11.1 can have CP_CLOCK_HOST after INTERRUPT.",
        impact: "QEMU may stop here if an INSTRUCTION was lost.",
        remedy: COMPARE_COPY,
        source: "37 clean logs of 7.2, 10.0 and 11.1",
    };
    INPUT_SYNC_MISSING = Rule {
        code: "QR3007",
        name: "input-sync-missing",
        severity: Severity::Warning,
        summary: "missing ASYNC_INPUT_SYNC after an input",
        problem: "Inputs come in groups that end with ASYNC_INPUT_SYNC. A log that is read by the \
            layout of another release shows this, because its keys have another length.",
        impact: "No reader checks this. The guest may see the inputs late.",
        remedy: COMPARE_COPY,
        source: "QEMU, ui/input.c: qemu_input_event_sync; 37 clean logs of 7.2, 10.0 and 11.1",
    };
    CHECKPOINT_MISMATCH = Rule {
        code: "QR3008",
        name: "checkpoint-mismatch",
        severity: Severity::Warning,
        summary: "checkpoint of an asynchronous event is inconsistent",
        problem: "Through 7.0 QEMU writes the queued events directly after a checkpoint, and each \
            contains the number of that checkpoint.",
        impact: "QEMU replays the event only at the checkpoint that it names, and may hang.",
        remedy: COMPARE_COPY,
        source: "QEMU 7.0, replay/replay-events.c: replay_save_events",
    };
}
