//! Rules of the trace as a whole: files that belong together, looms, CPUs, tasks.
#![allow(missing_docs, reason = "the texts of a rule are its documentation")]

use super::{CORRECT_METADATA, DROP};
use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    JSON_MISSING = Rule {
        code: "OV4001",
        name: "stream-without-json",
        severity: Severity::Error,
        summary: "stream.json is missing beside a stream.obs",
        problem: "The tools find streams by the name stream.json alone. It was deleted, or not \
            copied.",
        impact: "ovniemu silently ignores the stream with all its events.",
        remedy: Remedy::Fix("Writes the metadata: loom, process and thread from the path, models \
            and CPUs from the events. Closes the thread if it has not ended.\n\
            Class: synthetic; lossy if a truncated event is dropped. Cost: none.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/trace.c",
    };
    OBS_MISSING = Rule {
        code: "OV4002",
        name: "json-without-stream",
        severity: Severity::Error,
        summary: "stream.obs is missing beside a stream.json",
        problem: "Each stream has two files. The file of events was deleted, or not copied.",
        impact: "ovniemu refuses the whole trace.",
        remedy: Remedy::Fix("Writes a stream in which the thread starts on the virtual CPU and \
            ends. Look for the lost file first.\n\
            Class: synthetic. Cost: none; the events of the thread stay lost.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/stream.c",
    };
    EMPTY_TRACE = Rule {
        code: "OV4003",
        name: "empty-trace",
        severity: Severity::Error,
        summary: "the trace has no stream",
        problem: "Nothing was recorded, or a killed process has left all streams in the directory \
            that OVNI_TMPDIR named.",
        impact: "ovniemu accepts the trace and shows nothing. It prints \"emulation finished \
            ok\".",
        remedy: Remedy::Next("Look for the streams in the temporary directory, and check them \
            there:\n\
            \x20 tracemend check \"$OVNI_TMPDIR\""),
        source: "ovni 1.14.0, src/rt/ovni.c (OVNI_TMPDIR); src/emu/trace.c",
    };
    DUPLICATE_THREAD = Rule {
        code: "OV4004",
        name: "duplicate-thread",
        severity: Severity::Error,
        summary: "two streams belong to the same thread",
        problem: "Loom, pid and tid together identify a thread. A directory that was copied into \
            the trace gives a second stream.",
        impact: "ovniemu refuses the whole trace.",
        remedy: Remedy::Fix("Renames both files of one stream to stream.json.copy and \
            stream.obs.copy, which no tool looks for. Without equal files it is the stream whose \
            directory is not named after the thread.\n\
            Class: synthetic; lossy if the streams differ. Cost: no byte; if the streams differ, \
            the tools do not see the events of one.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/system.c, src/emu/proc.c",
    };
    METADATA_CONFLICT = Rule {
        code: "OV4005",
        name: "metadata-conflict",
        severity: Severity::Error,
        summary: "the metadata of two streams is inconsistent",
        problem: "All threads of a process have the same app_id, rank and nranks. CPUs of a loom, \
            mark types and names of hardware counters are the same wherever they are defined.",
        impact: "ovniemu refuses the whole trace.",
        remedy: CORRECT_METADATA,
        source: "ovni 1.14.0, src/emu/proc.c, src/emu/loom.c, src/emu/ovni/mark.c, src/emu/nosv",
    };
    LOOM_CPUS = Rule {
        code: "OV4006",
        name: "loom-cpus",
        severity: Severity::Error,
        summary: "the CPUs of a loom are not numbered 0 to N-1, or an event uses another one",
        problem: "All ovni.loom_cpus of a loom together have every index from 0 to N-1 once, and \
            at least one CPU. Every CPU that an event names is one of them, or -1.",
        impact: "ovniemu refuses the whole trace.",
        remedy: Remedy::Fix("Adds the missing CPUs with physical ids that no other CPU has. If two \
            CPUs have the same number, the one that is out of its place in the list gets a free \
            one.\n\
            Class: synthetic; lossy if it replaces a number. Cost: none; the stored number.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/loom.c; src/emu/ovni/event.c",
    };
    RANK_MISSING = Rule {
        code: "OV4007",
        name: "rank-missing",
        severity: Severity::Error,
        summary: "a process has no rank, but others of its loom have one",
        problem: "Either all processes of a loom have an MPI rank, or none. Processes that were \
            killed lose the key. A warning if the loom has one process, and the processes of the \
            other looms have all ranks but one.",
        impact: "ovniemu refuses the whole trace. It accepts a loom of one process, whose CPUs it \
            does not order by rank.",
        remedy: Remedy::Fix("Adds a rank that no process has, and nranks.\n\
            Class: synthetic. Cost: none; the original rank is lost.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/loom.c",
    };
    CLOCK_GATE = Rule {
        code: "OV4008",
        name: "clock-gate",
        severity: Severity::Error,
        summary: "the first clocks of two streams are more than one hour apart",
        problem: "Clocks of different machines start at different times. ovnisync measures the \
            distances and writes clock-offsets.txt, which is missing or does not name the host.",
        impact: "ovniemu refuses the whole trace. It asks for ovnisync.",
        remedy: Remedy::Fix("Writes the table, or the lines that it lacks, with the offsets after \
            which the hosts start together. No fix if the streams of one host are too far apart.\n\
            Class: synthetic; lossy if a line is replaced. Cost: none; else the line.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/\n\
            ovnisync gives exact offsets, if the machines have not been started again:\n\
            \x20 mpirun ovnisync -o trace/clock-offsets.txt"),
        source: "ovni 1.14.0, src/emu/player.c: check_clock_gate",
    };
    CLOCK_OFFSETS = Rule {
        code: "OV4009",
        name: "clock-offsets",
        severity: Severity::Error,
        summary: "clock-offsets.txt is malformed or does not match the trace",
        problem: "The table has one line of headings and one line per host: rank, hostname, \
            median, mean and standard deviation. Each host of the trace occurs once. A host is the \
            name of a loom up to its first dot.",
        impact: "ovniemu refuses the whole trace.",
        remedy: Remedy::Fix("Writes the line of a host without one, with the offset after which \
            it starts with the others; drops the line if every host has one.\n\
            Class: lossy. Cost: the line.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/clkoff.c, src/emu/system.c",
    };
    CPU_CONFLICT = Rule {
        code: "OV4010",
        name: "cpu-conflict",
        severity: Severity::Error,
        summary: "two threads run on one physical CPU",
        problem: "At most one thread runs on a physical CPU. Reported at the event with which the \
            second thread starts to run.",
        impact: "ovniemu refuses the whole trace at this event.",
        remedy: Remedy::Fix("The second thread runs on the virtual CPU instead: adds an OAr \
            before OHr, or sets the CPU of OHx, OAs or OAr to -1.\n\
            Class: synthetic; lossy if a CPU is set. Cost: the recorded CPU.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/cpu.c",
    };
    REMOTE_TARGET = Rule {
        code: "OV4011",
        name: "remote-affinity",
        severity: Severity::Error,
        summary: "OAr moves a thread that cannot move",
        problem: "The thread is in the same loom, has started, has not ended, and is on another \
            CPU.",
        impact: "ovniemu refuses the whole trace at this event.",
        remedy: DROP,
        source: "ovni 1.14.0, src/emu/ovni/event.c: pre_affinity_remote",
    };
    LOST_DEFINITION = Rule {
        code: "OV4012",
        name: "lost-definition",
        severity: Severity::Error,
        summary: "an undefined task or task type is used",
        problem: "A process defines each type and creates each task once, before any of its \
            threads uses them. If the buffer with the definition was lost, the events of other \
            threads still use it.",
        impact: "ovniemu refuses the whole trace at the first use.",
        remedy: Remedy::Fix("Defines the tasks and types directly before their first use, with the \
            label `lost task type`.\n\
            Class: synthetic. Cost: none; the original labels are lost.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/task.c",
    };
    TASK_REDEFINED = Rule {
        code: "OV4013",
        name: "task-redefined",
        severity: Severity::Error,
        summary: "a task or task type is created twice",
        problem: "Ids of tasks and ids of types are unique within a process.",
        impact: "ovniemu refuses the whole trace at the second event.",
        remedy: DROP,
        source: "ovni 1.14.0, src/emu/task.c: task_create, task_type_create",
    };
    BODY_STATE = Rule {
        code: "OV4014",
        name: "body-state",
        severity: Severity::Error,
        summary: "the body of a task cannot start now",
        problem: "A body runs in one thread at a time. A body of nanos6, or of a parallel task, \
            runs only once.",
        impact: "ovniemu refuses the whole trace at this event.",
        remedy: Remedy::Fix("Drops the body: the event that starts it, and those that pause, \
            resume and end it. Events of other kinds inside it stay.\n\
            Class: lossy. Cost: these events.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/body.c",
    };
    COUNTERS_UNDEFINED = Rule {
        code: "OV4015",
        name: "undefined-counters",
        severity: Severity::Error,
        summary: "VWC has values of undefined hardware counters",
        problem: "nosv.hwc names the counters 0 to N-1, the same in all threads. Threads that were \
            killed lose the key.",
        impact: "ovniemu refuses the whole trace at the first such event.",
        remedy: Remedy::Fix("Adds a name for each value of the event: counter0, counter1 and so \
            on.\n\
            Class: synthetic. Cost: none; the original names are lost.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/nosv",
    };
    THREAD_WITHOUT_STREAM = Rule {
        code: "OV4016",
        name: "thread-without-stream",
        severity: Severity::Warning,
        summary: "the directory of a thread has no stream",
        problem: "With OVNI_TMPDIR, libovni creates the directories first and moves the streams \
            there when the threads end. A killed process has left its streams in OVNI_TMPDIR.",
        impact: "ovniemu ignores the directory, and the thread is missing without a message.",
        remedy: Remedy::Next("Look for the stream in the temporary directory, and copy it to its \
            place:\n\
            \x20 cp -r \"$OVNI_TMPDIR\"/loom.* trace/\n\
            \x20 tracemend check trace/"),
        source: "ovni 1.14.0, src/rt/ovni.c (OVNI_TMPDIR)",
    };
    CPU_HANDOVER = Rule {
        code: "OV4017",
        name: "cpu-handover",
        severity: Severity::Error,
        summary: "a CPU is taken and left by two threads at one clock, in the wrong order",
        problem: "The clocks do not show which of the two events came first. ovniemu plays events \
            of equal clocks in an order that depends on all events before them. Here it takes the \
            start before the release.",
        impact: "ovniemu refuses the whole trace: two threads run on one CPU.",
        remedy: Remedy::Fix("Adds 1 ns to the clock of the event that takes the CPU, and to those \
            after it in its stream with the same clock.\n\
            Class: lossy. Cost: these clocks, by 1 ns.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/player.c; measured with ovnidump on 300 traces",
    };
    USE_BEFORE_DEFINITION = Rule {
        code: "OV4018",
        name: "use-before-definition",
        severity: Severity::Error,
        summary: "a task or type is used and defined by two threads at one clock, in wrong order",
        problem: "A thread uses a task or a type that another thread creates at the same clock, or \
            runs a body again that another one ends there. ovniemu plays events of equal clocks in \
            an order that depends on all events before them. Here it plays the use first.",
        impact: "ovniemu refuses the whole trace: \"cannot find task\".",
        remedy: Remedy::Fix("Adds 1 ns to the clock of the use, and to the events after it in its \
            stream with the same clock.\n\
            Class: lossy. Cost: these clocks, by 1 ns.\n\
            Run:\n\
            \x20 tracemend repair trace/ -o repaired/"),
        source: "ovni 1.14.0, src/emu/player.c, src/emu/task.c",
    };
}
