//! QR3: the order of events. A rule that QEMU cannot break and whose breach it does not survive is
//! an error; regularities of clean logs are warnings.

use crate::formats::qemu::rules::{COMPARE_COPY, KEEP_PREFIX};
use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    SHUTDOWN_MISSING = Rule {
        code: "QR3001",
        name: "shutdown-missing",
        severity: Severity::Error,
        summary: "missing SHUTDOWN+HOST_SIGNAL before END",
        problem: "Since 5.1 a recorder ends a log with SHUTDOWN+HOST_SIGNAL and END. A program \
            that closed an unfinished log with END alone leaves this.",
        impact: "QEMU hangs at END, because nothing ends the replay.",
        remedy: Remedy::Fix("Adds SHUTDOWN+HOST_SIGNAL before END, or writes it over the first of \
            two END. Drops complete events before it after which a guest demands the next one \
            (INSTRUCTION, CP_CLOCK_VIRTUAL, AUDIO_OUT).\n\
            Class: lossy if events are dropped or END is replaced, else synthetic.\n\
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
        source: "QEMU, replay/replay-time.c: replay_read_clock; clean logs of 7.2, 10.0 and 11.1",
    };
    INSTRUCTION_TWICE = Rule {
        code: "QR3003",
        name: "instruction-twice",
        severity: Severity::Error,
        summary: "duplicate INSTRUCTION: two events in a row",
        problem: "The writer adds up instructions until another event happens and writes both \
            together, so INSTRUCTION never follows INSTRUCTION. One of the two is damage, or an \
            event between them was lost.",
        impact: "QEMU hangs: the guest executes another number of instructions than it did. \
            Measured with 7.2.",
        remedy: KEEP_PREFIX,
        source: "QEMU, replay/replay-internal.c: replay_save_instructions; clean logs",
    };
    CLOCK_MISSING = Rule {
        code: "QR3004",
        name: "clock-missing",
        severity: Severity::Warning,
        summary: "missing clock after its checkpoint",
        problem: "QEMU reads the host clock at CP_CLOCK_HOST, and the virtual real-time clock at \
            CP_CLOCK_VIRTUAL_RT and CP_CLOCK_WARP_START. The reading follows the checkpoint in \
            every clean log.",
        impact: "QEMU takes the last reading instead, and mostly replays on (measured with 7.2). \
            The damage may have changed other events as well.",
        remedy: COMPARE_COPY,
        source: "QEMU, util/qemu-timer.c: timerlist_run_timers; icount_start_warp_timer; clean \
            logs of 7.2, 10.0 and 11.1; through 7.0 asynchronous events may come between",
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
        source: "QEMU, include/sysemu/replay.h: CHECKPOINT_INIT; clean logs of 7.2, 10.0 and 11.1",
    };
    INSTRUCTION_MISSING = Rule {
        code: "QR3006",
        name: "instruction-missing",
        severity: Severity::Warning,
        summary: "missing INSTRUCTION next to CHAR_WRITE, INTERRUPT or EXCEPTION",
        problem: "The guest continues after these events, so INSTRUCTION follows, or a checkpoint \
            if the main loop of QEMU had its turn. An EXCEPTION never comes directly after a clock \
            or a checkpoint. A guest whose exception handler fails at once may break the rule \
            without damage.",
        impact: "QEMU mostly hangs if the event or its INSTRUCTION was lost or doubled.",
        remedy: COMPARE_COPY,
        source: "QEMU, accel/tcg/cpu-exec.c: replay_interrupt, replay_exception; clean logs \
            of 7.2, 10.0 and 11.1",
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
        source: "QEMU, ui/input.c: qemu_input_event_sync; clean logs of 7.2, 10.0 and 11.1",
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
    INIT_TWICE = Rule {
        code: "QR3009",
        name: "init-twice",
        severity: Severity::Error,
        summary: "duplicate CP_INIT",
        problem: "QEMU passes this checkpoint once, when it has created the machine. A later \
            CP_INIT is damage, or another recording was appended.",
        impact: "QEMU hangs: nothing passes the checkpoint again. Measured with 7.2.",
        remedy: KEEP_PREFIX,
        source: "QEMU, softmmu/vl.c: replay_checkpoint(CHECKPOINT_INIT); clean logs",
    };
    BOTTOM_HALF_ID = Rule {
        code: "QR3010",
        name: "bottom-half-id",
        severity: Severity::Error,
        summary: "id of a bottom half exceeds the instructions so far",
        problem: "The id of ASYNC_BH and ASYNC_BH_ONESHOT is the number of instructions that the \
            guest had executed when the bottom half was scheduled. A larger id is damage, or an \
            INSTRUCTION before it was lost or changed.",
        impact: "QEMU hangs: no bottom half with this id is ever scheduled. Measured with \
            7.2.",
        remedy: KEEP_PREFIX,
        source: "QEMU, replay/replay-events.c: replay_bh_schedule_event, \
            replay_bh_schedule_oneshot_event; 31 of 31 events of clean logs",
    };
    BLOCK_ID = Rule {
        code: "QR3011",
        name: "block-id",
        severity: Severity::Error,
        summary: "unexpected id of a block request",
        problem: "Requests count up from 0, each is done once, and few are under way at a time. An \
            id that is 64 or more ahead of the others, or that occurs again, is damage.",
        impact: "QEMU hangs: it waits for a request that the guest does not make. Measured with \
            7.2.",
        remedy: KEEP_PREFIX,
        source: "QEMU, block/blkreplay.c: block_request_create; replay/replay-events.c: \
            replay_block_event",
    };
    FILTER_GAP = Rule {
        code: "QR3012",
        name: "filter-gap",
        severity: Severity::Warning,
        summary: "network filter index skips filters without a packet",
        problem: "Filters are numbered from 0 in the order of the command line. The index of this \
            packet is higher than that of any filter before it, and filters between them have no \
            packet. A machine with several network cards can record this; in every clean log the \
            indexes have no gap.",
        impact: "QEMU aborts if the command line has no filter with the index.",
        remedy: Remedy::Next("Count the filter-replay objects of the command line. If there are \
            too few, the index is damage; compare the log with another copy if there is one:\n\
            \x20 cmp boot.log other.log"),
        source: "QEMU, replay/replay-net.c: replay_event_net_run; clean logs",
    };
    INSTRUCTION_RATE = Rule {
        code: "QR3013",
        name: "instruction-rate",
        severity: Severity::Error,
        summary: "INSTRUCTION count is too large for the time that passed",
        problem: "The readings of CLOCK_VIRTUAL_RT before and after the event bound the time in \
            which the instructions were executed. More than 16 per nanosecond, and 1048576 more, \
            are damage; the fastest recording measured has 2.7.",
        impact: "QEMU hangs: the guest executes more instructions than the events after them \
            allow. Measured with 7.2.",
        remedy: KEEP_PREFIX,
        source: "QEMU, replay/replay-internal.c: replay_save_instructions; clean logs, a Linux \
            boot among them",
    };
    NOTHING_RAN = Rule {
        code: "QR3014",
        name: "nothing-ran",
        severity: Severity::Info,
        summary: "no instruction was recorded",
        problem: "The log is complete, but the guest executed nothing. QEMU leaves such a log if \
            it refuses to start the machine, for example with -smp 4.",
        impact: "QEMU replays the log, and nothing happens.",
        remedy: Remedy::Next("Look for an error message of the recording QEMU, and record again."),
        source: "QEMU 7.2 with -smp 4; replay/replay.c: replay_finish",
    };
    BLOCK_MISSING = Rule {
        code: "QR3015",
        name: "block-missing",
        severity: Severity::Warning,
        summary: "block request is never done",
        problem: "Requests count up from 0 and finish nearly in this order. This one is missing, \
            although at least 8 later ones finished, and four times as many as ever overtook \
            another request in the log. A guest that was switched off while its disk was busy may \
            leave such a log; otherwise events are lost.",
        impact: "QEMU hangs if events are lost: it waits for another request than the guest makes.",
        remedy: COMPARE_COPY,
        source: "QEMU, block/blkreplay.c: block_request_create; replay/replay-events.c: \
            blkreplay_next_id",
    };
    TURN_LEFT_OUT = Rule {
        code: "QR3016",
        name: "turn-left-out",
        severity: Severity::Error,
        summary: "CP_CLOCK_HOST and CP_CLOCK_VIRTUAL_RT do not alternate",
        problem: "Each pass of QEMU's main loop runs the timers of the host clock, then those of \
            the virtual real-time clock, and writes a checkpoint for each. In 256 passes or more \
            one or two are missing, so events were lost, doubled or exchanged. A log without \
            timers of one clock, as with a fixed shift, leaves out far more.",
        impact: "QEMU mostly hangs: it waits for a checkpoint, or events before it are missing as \
            well.",
        remedy: KEEP_PREFIX,
        source: "QEMU, util/qemu-timer.c: qemu_clock_run_all_timers; 8 logs of 7.2 and 11.1, a \
            Linux boot among them (0 of 5,284 passes); 14 logs with a fixed shift",
    };
    INSTRUCTION_PATTERN = Rule {
        code: "QR3017",
        name: "instruction-pattern",
        severity: Severity::Warning,
        summary: "INSTRUCTION count breaks a row that repeats",
        problem: "A guest that waits runs the same loops, so its counts of instructions repeat in \
            rows of one to eight. Six counts on each side of this one, and those of its row, do \
            so, the row goes on after it, and the count did not occur shortly before: one count \
            was changed. Of 18,000 counts of 9 sound logs, one is such; at most 16 of a log are \
            named.",
        impact: "QEMU hangs or aborts if the count was changed: each later event belongs to an \
            exact number of instructions.",
        remedy: Remedy::Next(
            "Nothing has to be done if the log replays. If it does not, the count that the message \
            expects is most likely the recorded one. Compare the log with another copy if there is \
            one:\n\
            \x20 cmp boot.log other.log",
        ),
        source: "QEMU, replay/replay-internal.c: replay_save_instructions; logs of 5.2 to 11.1 \
            with one inverted bit, replayed on 7.2",
    };
}
