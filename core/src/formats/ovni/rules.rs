//! The codes of ovni: what each means, why it matters, what a repair does.
//!
//! The static of a rule is named like the rule; its text is its documentation.

use crate::report::rule::rules;
use crate::report::{Remedy, Rule, Severity};

rules! {
    STREAM_MAGIC = Rule {
        code: "OV0001",
        name: "stream-magic",
        severity: Severity::Error,
        summary: "stream.obs does not begin with `ovni`",
        problem: "Every reader compares the first four bytes and refuses the whole trace \
            (src/emu/stream.c).",
        impact: "",
        remedy: Remedy::Fix("exact: writes `ovni`, if events follow behind the header"),
        source: "",
    };
    STREAM_VERSION = Rule {
        code: "OV0002",
        name: "stream-version",
        severity: Severity::Error,
        summary: "stream.obs has another version than 1",
        problem: "The version of streams has been 1 in every release of libovni; readers refuse any \
            other number.",
        impact: "",
        remedy: Remedy::Fix("exact: writes 1, if events follow behind the header"),
        source: "",
    };
    FOREIGN_ORDER = Rule {
        code: "OV0003",
        name: "foreign-byte-order",
        severity: Severity::Error,
        summary: "stream.obs was written on a machine of the other byte order",
        problem: "libovni writes numbers as the machine has them, and the tools read them the same \
            way: a trace of a big-endian machine can only be read there. Its events are not \
            looked at.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    STREAM_HEADER_TORN = Rule {
        code: "OV0004",
        name: "stream-header-torn",
        severity: Severity::Error,
        summary: "stream.obs is shorter than its header",
        problem: "The header has 8 bytes. A full disk or a copy that broke off leaves less, down to \
            nothing; the tools refuse the whole trace for it.",
        impact: "",
        remedy: Remedy::Fix("synthetic: writes a header; the thread then begins and ends without another event"),
        source: "",
    };
    RESERVED_FLAGS = Rule {
        code: "OV0005",
        name: "reserved-flags",
        severity: Severity::Warning,
        summary: "an event has flags that mean nothing",
        problem: "Bits 5 to 7 of the flags are reserved. libovni writes 0 and no tool looks at them, \
            so a set bit is a sign of damage, or of a version that is not known here. Counted \
            once a stream.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    JSON_SYNTAX = Rule {
        code: "OV0101",
        name: "json-syntax",
        severity: Severity::Error,
        summary: "stream.json is no JSON",
        problem: "The reader gives up at the first byte that does not fit, and with it at the whole \
            trace. A full disk leaves an empty or cut file.",
        impact: "",
        remedy: Remedy::Fix("lossy: writes the metadata anew from the path and the events (synthetic if the file \
            is empty)"),
        source: "",
    };
    JSON_DUPLICATE_KEY = Rule {
        code: "OV0102",
        name: "json-duplicate-key",
        severity: Severity::Error,
        summary: "a key stands twice in one object",
        problem: "The emulator's reader refuses such a text; others take the first or the last value.",
        impact: "",
        remedy: Remedy::Fix("exact: drops the second one, if both have the same value"),
        source: "",
    };
    JSON_TRAILING = Rule {
        code: "OV0103",
        name: "json-trailing",
        severity: Severity::Warning,
        summary: "something follows the value in stream.json",
        problem: "The emulator's reader does not look behind the value. A shorter text written over a \
            longer one leaves such a rest.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    METADATA_VERSION = Rule {
        code: "OV0110",
        name: "metadata-version",
        severity: Severity::Error,
        summary: "`version` is not 3",
        problem: "The emulator reads version 3 of the metadata only (ovni 1.11 and later).",
        impact: "",
        remedy: Remedy::Fix("synthetic: writes 3, if the key is missing and the rest is of version 3"),
        source: "",
    };
    MISSING_KEY = Rule {
        code: "OV0111",
        name: "missing-key",
        severity: Severity::Error,
        summary: "a mandatory key is missing",
        problem: "ovni.part, tid, pid, loom, require, lib.version and lib.commit stand in every stream \
            of a thread, app_id in one of each process.",
        impact: "",
        remedy: Remedy::Fix("exact: takes tid, pid and loom from the path; synthetic: adds the others, require \
            from the events"),
        source: "",
    };
    BAD_VALUE = Rule {
        code: "OV0112",
        name: "bad-value",
        severity: Severity::Error,
        summary: "a value has the wrong type or lies outside its range",
        problem: "The emulator takes numbers as they are cast to int and refuses the rest of the trace \
            with them.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    ODD_VALUE = Rule {
        code: "OV0113",
        name: "odd-value",
        severity: Severity::Warning,
        summary: "a value is accepted by the tools, but no writer means it",
        problem: "Numbers with a fraction are cut, a version of 3.9 is taken for 3, CPU entries \
            without a key are taken for 0.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    UNSUPPORTED_MODEL = Rule {
        code: "OV0114",
        name: "unsupported-model-version",
        severity: Severity::Error,
        summary: "a required version of a model is not supported",
        problem: "The major number has to be the emulator's, the minor one at most its own; 1.14.0 \
            knows ovni 1.1, nanos6 1.1, nosv 2.7, nodes 1.0, tampi 1.0, mpi 1.0, kernel 1.0 and \
            openmp 1.2.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    UNSAFE_NAME = Rule {
        code: "OV0115",
        name: "unsafe-name",
        severity: Severity::Error,
        summary: "a name that becomes a path leads out of its directory",
        problem: "The emulator makes file names of the names of hardware counters without looking at \
            them: `../../x` writes outside the trace. Loom names with a slash are refused by it, \
            and titles and labels with one are suspicious. Do not run the tools on such a trace.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    UNKNOWN_PART = Rule {
        code: "OV0116",
        name: "unknown-part",
        severity: Severity::Warning,
        summary: "ovni.part is not `thread`",
        problem: "The emulator passes over streams of other parts, and refuses the trace if one holds \
            an event.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    UNFINISHED_STREAM = Rule {
        code: "OV0117",
        name: "unfinished-stream",
        severity: Severity::Error,
        summary: "ovni.finished is not 1: the thread's run did not end",
        problem: "libovni writes `finished` as the last thing. A process that was killed, or a thread \
            that ended without ovni_thread_free, leaves metadata without it (and without \
            require, loom_cpus, rank and marks) and a stream that ends at the last flush, \
            perhaps inside an event. The emulator refuses the whole trace for one such stream.",
        impact: "",
        remedy: Remedy::Fix("synthetic: closes what is open at the thread's last clock, in reverse order, and \
            completes the metadata; lossy where a torn event or the tail of an older run has to \
            go (with --strategy cut: cuts all streams at the earliest last clock)"),
        source: "",
    };
    LIB_MIXED = Rule {
        code: "OV0118",
        name: "lib-versions-differ",
        severity: Severity::Info,
        summary: "streams were written by different versions of libovni",
        problem: "The emulator warns about it.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    OLD_LAYOUT = Rule {
        code: "OV0119",
        name: "old-layout",
        severity: Severity::Info,
        summary: "the trace has the layout of an older libovni",
        problem: "Version 1 (libovni 1.0 to 1.4) keeps thread.T.obs and one metadata.json a process, \
            version 2 (1.5 to 1.10) adds thread.T.json. The emulator of 1.11 and later finds no \
            stream in them.",
        impact: "",
        remedy: Remedy::Fix("synthetic, with --upgrade: writes stream.json and moves the events to \
            thread.T/stream.obs"),
        source: "",
    };
    TORN_EVENT = Rule {
        code: "OV1001",
        name: "torn-event",
        severity: Severity::Error,
        summary: "the stream ends inside an event",
        problem: "A disk that is full, a killed process and a cut copy leave part of the last event. \
            The tools refuse the stream.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops the incomplete event and closes what is open"),
        source: "",
    };
    STALE_TAIL = Rule {
        code: "OV1002",
        name: "stale-tail",
        severity: Severity::Error,
        summary: "behind the thread's end stand events of an older run",
        problem: "libovni opens a stream without truncating it: a second run with the same loom, pid \
            and tid writes over the first one's beginning. After the last OHe the first lower \
            clock, or the first bytes that are no event, are the older run's.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops the older run's rest"),
        source: "",
    };
    CLOCK_BACKWARDS = Rule {
        code: "OV1003",
        name: "clock-backwards",
        severity: Severity::Error,
        summary: "a clock is lower than the one before it",
        problem: "Clocks ascend within a stream (equal ones are legal), as signed numbers: a set top \
            bit is refused as well.",
        impact: "",
        remedy: Remedy::Fix("synthetic: gives the events that are out of order the clock before them; where one \
            event is too late by itself, it is that one"),
        source: "",
    };
    UNSORTED_REGION = Rule {
        code: "OV1004",
        name: "unsorted-region",
        severity: Severity::Error,
        summary: "a region of events out of order was not sorted",
        problem: "Between OU[ and OU] events may be out of order, until `ovnisort` has moved them. The \
            emulator wants them sorted.",
        impact: "",
        remedy: Remedy::Fix("exact: sorts the events by their clocks, as ovnisort does; equal clocks keep their \
            order"),
        source: "",
    };
    DAMAGED_BYTES = Rule {
        code: "OV1005",
        name: "damaged-bytes",
        severity: Severity::Error,
        summary: "bytes in the stream are no event",
        problem: "The code of every event is three printable characters. Where something else stands \
            the stream is searched for the next place where several known events follow each \
            other.",
        impact: "",
        remedy: Remedy::Fix("lossy: drops the bytes in between"),
        source: "",
    };
    JUMBO_CODE = Rule {
        code: "OV1006",
        name: "jumbo-code",
        severity: Severity::Info,
        summary: "a jumbo event has another payload code than libovni writes",
        problem: "Readers go by the flag alone; libovni writes 3. Counted once a stream.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    PAYLOAD_SIZE = Rule {
        code: "OV2001",
        name: "payload-size",
        severity: Severity::Error,
        summary: "the payload is not what the event's signature says",
        problem: "Missing fields are read by the tools from whatever follows. A warning where only \
            more is there than belongs, or where the event has no field at all.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    UNKNOWN_EVENT = Rule {
        code: "OV2002",
        name: "unknown-event",
        severity: Severity::Error,
        summary: "a model does not have this event",
        problem: "The emulator refuses codes that a model it has enabled does not know. Information \
            where the emulator passes over them (categories U and B of ovni).",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    UNKNOWN_MODEL = Rule {
        code: "OV2003",
        name: "unknown-model",
        severity: Severity::Info,
        summary: "events of a model that is not known here",
        problem: "Models of one's own exist and are kept as they are. The emulator refuses their \
            events. Counted once a stream and model.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    MODEL_NOT_REQUIRED = Rule {
        code: "OV2004",
        name: "model-not-required",
        severity: Severity::Error,
        summary: "events of a model that no thread requires",
        problem: "One thread's ovni.require enables a model for the whole trace; without it the \
            emulator stops at the first event of the model.",
        impact: "",
        remedy: Remedy::Fix("synthetic: adds the model to ovni.require of the first stream that uses it; the \
            major version of nosv follows from the payload of VTx"),
        source: "",
    };
    EVENT_NEWER = Rule {
        code: "OV2005",
        name: "event-newer",
        severity: Severity::Info,
        summary: "an event is newer than the required version of its model",
        problem: "The thread requires a version that did not have this event yet. Counted once a \
            stream and model.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    LABEL_UNTERMINATED = Rule {
        code: "OV2006",
        name: "label-unterminated",
        severity: Severity::Error,
        summary: "a label has no NUL at its end",
        problem: "The tools read on behind the event until some byte is 0.",
        impact: "",
        remedy: Remedy::Fix("synthetic: adds the NUL and one to the size"),
        source: "",
    };
    LABEL_TOO_LONG = Rule {
        code: "OV2007",
        name: "label-too-long",
        severity: Severity::Error,
        summary: "a label has 512 bytes or more",
        problem: "The emulator refuses it (MAX_PCF_LABEL).",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    BAD_ARGUMENT = Rule {
        code: "OV2008",
        name: "bad-argument",
        severity: Severity::Error,
        summary: "a field of an event has a value that is refused",
        problem: "The value of a mark, a task's id when it runs, and the id of a type are not 0; the \
            body of a parallel task is above 0, that of any other one is 0.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    COUNTERS_SIZE = Rule {
        code: "OV2009",
        name: "counters-size",
        severity: Severity::Error,
        summary: "VWC does not hold one value for each counter",
        problem: "nosv.hwc names the counters; each event gives 8 bytes for every one.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    NO_CPU = Rule {
        code: "OV2010",
        name: "no-such-cpu",
        severity: Severity::Error,
        summary: "an event names a CPU that no machine has",
        problem: "A CPU is an index into ovni.loom_cpus, or -1 for none that is known. A negative number, \
            or one so high that a repair cannot add the CPUs up to it, is damage.",
        impact: "",
        remedy: Remedy::Fix("lossy: writes -1"),
        source: "",
    };
    THREAD_STATE = Rule {
        code: "OV3001",
        name: "thread-state",
        severity: Severity::Error,
        summary: "the thread cannot do this in its state",
        problem: "unknown -OHx-> running; running -OHc-> cooling; running or cooling -OHp-> paused; \
            paused -OHw-> warming; paused or warming -OHr-> running; running or cooling -OHe-> \
            dead; dead -OHx-> running.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    EVENT_STATE = Rule {
        code: "OV3002",
        name: "event-in-wrong-state",
        severity: Severity::Error,
        summary: "an event of a model comes while the thread is not running",
        problem: "nanos6 and nosv need a thread that is running, cooling or warming; nodes, tampi, mpi \
            and openmp one that is running. Reported once until the state changes.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    OUT_OF_CPU = Rule {
        code: "OV3003",
        name: "event-out-of-cpu",
        severity: Severity::Error,
        summary: "an event comes while the kernel has the thread off its CPU",
        problem: "Between KCO and KCI there is no event of ovni or nosv; KCO and KCI alternate. \
            Reported once until KCI.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    NOT_ENDED = Rule {
        code: "OV3004",
        name: "thread-not-ended",
        severity: Severity::Error,
        summary: "the thread has not ended",
        problem: "Every thread has to end with OHe, whatever `finished` says. Events that were never \
            flushed, or a copy that the disk had no room for, leave such a stream.",
        impact: "",
        remedy: Remedy::Fix("synthetic: closes what is open, in reverse order, and ends the thread at its last \
            clock"),
        source: "",
    };
    STACK_MISMATCH = Rule {
        code: "OV3005",
        name: "stack-mismatch",
        severity: Severity::Error,
        summary: "an event closes what is not open, or opens what is open already",
        problem: "States nest: only the innermost can be closed. Except for nosv, openmp and marks a \
            state cannot be opened directly inside itself; 512 may be open.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    LEFT_OPEN = Rule {
        code: "OV3006",
        name: "left-open",
        severity: Severity::Error,
        summary: "states are open when the thread ends",
        problem: "The linter (`ovniemu -l`) wants every stack of subsystems and functions empty at the \
            end.",
        impact: "",
        remedy: Remedy::Fix("synthetic: closes them before the thread ends"),
        source: "",
    };
    MARK_LEFT_OPEN = Rule {
        code: "OV3007",
        name: "mark-left-open",
        severity: Severity::Warning,
        summary: "marks or bodies of tasks are open when the thread ends",
        problem: "The tools do not look at it, but what was begun never ends.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    FLUSH_ORDER = Rule {
        code: "OV3008",
        name: "flush-order",
        severity: Severity::Error,
        summary: "OF[ and OF] do not alternate",
        problem: "The emulator refuses to begin a flush twice, and to end one that did not begin. One \
            that is open at the end is legal.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    REGION_ORDER = Rule {
        code: "OV3009",
        name: "region-order",
        severity: Severity::Warning,
        summary: "OU[ and OU] do not alternate",
        problem: "The emulator passes over them, ovnisort does not.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    SAME_IDLE = Rule {
        code: "OV3010",
        name: "same-idle-state",
        severity: Severity::Error,
        summary: "the idle state is set to what it is",
        problem: "Threads begin as progressing; the emulator refuses to set the state that is set.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    TASK_STEP = Rule {
        code: "OV3011",
        name: "task-step",
        severity: Severity::Error,
        summary: "a body of a task cannot do this now",
        problem: "A body runs on top of its thread's bodies. It is paused, resumed and ended there; \
            nosv does not begin one over another that runs; parallel ones do not pause; openmp \
            has no pause.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    EVENT_AFTER_END = Rule {
        code: "OV3012",
        name: "event-after-end",
        severity: Severity::Warning,
        summary: "something follows the end of the thread",
        problem: "The tools accept events of ovni behind OHe, and a second OHx.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    UNDEFINED_MARK = Rule {
        code: "OV3013",
        name: "undefined-mark",
        severity: Severity::Error,
        summary: "a mark has a type that no metadata defines",
        problem: "ovni.mark names each type (0 to 99), its title and whether it is single or a stack; \
            OM= sets a single one, OM[ and OM] a stack.",
        impact: "",
        remedy: Remedy::Fix("synthetic: adds the type to the metadata"),
        source: "",
    };
    MARK_KIND = Rule {
        code: "OV3014",
        name: "mark-kind",
        severity: Severity::Error,
        summary: "a mark is set like a stack, or pushed like a single value",
        problem: "ovni.mark says which of the two its type is.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    JSON_MISSING = Rule {
        code: "OV4001",
        name: "stream-without-json",
        severity: Severity::Error,
        summary: "a stream.obs has no stream.json beside it",
        problem: "The tools find streams by stream.json alone: without it all its events are silently \
            left out.",
        impact: "",
        remedy: Remedy::Fix("synthetic: writes the metadata anew from the path and the events"),
        source: "",
    };
    OBS_MISSING = Rule {
        code: "OV4002",
        name: "json-without-stream",
        severity: Severity::Error,
        summary: "a stream.json has no stream.obs beside it",
        problem: "The tools refuse the whole trace.",
        impact: "",
        remedy: Remedy::Fix("synthetic: writes a stream in which the thread begins and ends"),
        source: "",
    };
    EMPTY_TRACE = Rule {
        code: "OV4003",
        name: "empty-trace",
        severity: Severity::Error,
        summary: "the trace holds no stream",
        problem: "Nothing was recorded, or everything was left in OVNI_TMPDIR when the process was \
            killed: look there. The emulator finishes such a trace as if it were sound.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    DUPLICATE_THREAD = Rule {
        code: "OV4004",
        name: "duplicate-thread",
        severity: Severity::Error,
        summary: "two streams are of the same thread",
        problem: "Loom, pid and tid together name a thread.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    METADATA_CONFLICT = Rule {
        code: "OV4005",
        name: "metadata-conflict",
        severity: Severity::Error,
        summary: "streams contradict each other",
        problem: "app_id, rank and nranks are the same for all threads of a process; CPUs of a loom, \
            types of marks and names of hardware counters are the same wherever they are \
            defined.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    LOOM_CPUS = Rule {
        code: "OV4006",
        name: "loom-cpus",
        severity: Severity::Error,
        summary: "the CPUs of a loom are not numbered 0 to N-1",
        problem: "All ovni.loom_cpus of a loom together have to give every index from 0 on once, and \
            at least one; every CPU that a thread runs on is one of them, or -1.",
        impact: "",
        remedy: Remedy::Fix("synthetic: adds the missing ones with physical ids that are not used"),
        source: "",
    };
    RANK_MISSING = Rule {
        code: "OV4007",
        name: "rank-missing",
        severity: Severity::Error,
        summary: "a process of a loom has no rank, and others have",
        problem: "The emulator wants a rank for all processes of a loom or for none.",
        impact: "",
        remedy: Remedy::Fix("synthetic: adds a rank that no process has"),
        source: "",
    };
    CLOCK_GATE = Rule {
        code: "OV4008",
        name: "clock-gate",
        severity: Severity::Error,
        summary: "the first clocks of two streams are more than one hour apart",
        problem: "Clocks of different machines do not count from the same moment. `ovnisync` measures \
            the offsets and writes clock-offsets.txt.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    CLOCK_OFFSETS = Rule {
        code: "OV4009",
        name: "clock-offsets",
        severity: Severity::Error,
        summary: "clock-offsets.txt cannot be used",
        problem: "A line for the header, then `rank hostname median mean stdev` for each host of the \
            trace, none twice. The host is the loom's name up to the first dot.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    CPU_CONFLICT = Rule {
        code: "OV4010",
        name: "cpu-conflict",
        severity: Severity::Error,
        summary: "two threads run on one physical CPU",
        problem: "The emulator refuses it. Reported where the second one begins.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    REMOTE_TARGET = Rule {
        code: "OV4011",
        name: "remote-affinity",
        severity: Severity::Error,
        summary: "OAr moves a thread that cannot be moved",
        problem: "The thread has to be in the same loom, to have begun and not to have ended, and to \
            be on another CPU.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    LOST_DEFINITION = Rule {
        code: "OV4012",
        name: "lost-definition",
        severity: Severity::Error,
        summary: "tasks or types are used that no event creates",
        problem: "A type is defined and a task created once a process, before any thread uses them. \
            Where the buffer with the definition was lost, what other threads recorded still \
            uses it.",
        impact: "",
        remedy: Remedy::Fix("synthetic: defines them directly before their first use"),
        source: "",
    };
    TASK_REDEFINED = Rule {
        code: "OV4013",
        name: "task-redefined",
        severity: Severity::Error,
        summary: "a task or a type is created twice",
        problem: "Ids of tasks and of types are unique in a process.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    BODY_STATE = Rule {
        code: "OV4014",
        name: "body-state",
        severity: Severity::Error,
        summary: "a body of a task is begun that cannot begin now",
        problem: "A body runs in one thread at a time. One of nanos6, or of a parallel task, runs \
            once.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
    COUNTERS_UNDEFINED = Rule {
        code: "OV4015",
        name: "undefined-counters",
        severity: Severity::Error,
        summary: "VWC gives values of counters that no metadata names",
        problem: "nosv.hwc names the counters 0 to n-1, the same in all threads.",
        impact: "",
        remedy: Remedy::Fix("synthetic: adds as many names as the event has values"),
        source: "",
    };
    HOLLOW_STREAM = Rule {
        code: "OV4016",
        name: "hollow-stream",
        severity: Severity::Warning,
        summary: "a directory of a thread holds no stream",
        problem: "With OVNI_TMPDIR libovni makes the directories first and moves the streams there \
            when their threads end. A process that was killed has left its streams in \
            OVNI_TMPDIR.",
        impact: "",
        remedy: Remedy::Next(""),
        source: "",
    };
}
