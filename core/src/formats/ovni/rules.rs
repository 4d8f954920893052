//! The codes of ovni: what each means, why it matters, what a repair does.
//!
//! The static of a rule is named like the rule; its text is its documentation.

use crate::report::{Rule, Severity};

/// Every rule of the format, by code.
pub static RULES: &[&Rule] = &[
    &STREAM_MAGIC,
    &STREAM_VERSION,
    &FOREIGN_ORDER,
    &STREAM_HEADER_TORN,
    &RESERVED_FLAGS,
    &JSON_SYNTAX,
    &JSON_DUPLICATE_KEY,
    &JSON_TRAILING,
    &METADATA_VERSION,
    &MISSING_KEY,
    &BAD_VALUE,
    &ODD_VALUE,
    &UNSUPPORTED_MODEL,
    &UNSAFE_NAME,
    &UNKNOWN_PART,
    &UNFINISHED_STREAM,
    &LIB_MIXED,
    &OLD_LAYOUT,
    &TORN_EVENT,
    &STALE_TAIL,
    &CLOCK_BACKWARDS,
    &UNSORTED_REGION,
    &DAMAGED_BYTES,
    &JUMBO_CODE,
    &PAYLOAD_SIZE,
    &UNKNOWN_EVENT,
    &UNKNOWN_MODEL,
    &MODEL_NOT_REQUIRED,
    &EVENT_NEWER,
    &LABEL_UNTERMINATED,
    &LABEL_TOO_LONG,
    &BAD_ARGUMENT,
    &COUNTERS_SIZE,
    &NO_CPU,
    &THREAD_STATE,
    &EVENT_STATE,
    &OUT_OF_CPU,
    &NOT_ENDED,
    &STACK_MISMATCH,
    &LEFT_OPEN,
    &MARK_LEFT_OPEN,
    &FLUSH_ORDER,
    &REGION_ORDER,
    &SAME_IDLE,
    &TASK_STEP,
    &EVENT_AFTER_END,
    &UNDEFINED_MARK,
    &MARK_KIND,
    &JSON_MISSING,
    &OBS_MISSING,
    &EMPTY_TRACE,
    &DUPLICATE_THREAD,
    &METADATA_CONFLICT,
    &LOOM_CPUS,
    &RANK_MISSING,
    &CLOCK_GATE,
    &CLOCK_OFFSETS,
    &CPU_CONFLICT,
    &REMOTE_TARGET,
    &LOST_DEFINITION,
    &TASK_REDEFINED,
    &BODY_STATE,
    &COUNTERS_UNDEFINED,
    &HOLLOW_STREAM,
];

/// OV0001: stream.obs does not begin with `ovni`.
pub static STREAM_MAGIC: Rule = Rule {
    code: "OV0001",
    name: "stream-magic",
    severity: Severity::Error,
    summary: "stream.obs does not begin with `ovni`",
    explanation: "Every reader compares the first four bytes and refuses the whole trace \
        (src/emu/stream.c).",
    fix: Some("exact: writes `ovni`, if events follow behind the header"),
};

/// OV0002: stream.obs has another version than 1.
pub static STREAM_VERSION: Rule = Rule {
    code: "OV0002",
    name: "stream-version",
    severity: Severity::Error,
    summary: "stream.obs has another version than 1",
    explanation: "The version of streams has been 1 in every release of libovni; readers refuse any \
        other number.",
    fix: Some("exact: writes 1, if events follow behind the header"),
};

/// OV0003: stream.obs was written on a machine of the other byte order.
pub static FOREIGN_ORDER: Rule = Rule {
    code: "OV0003",
    name: "foreign-byte-order",
    severity: Severity::Error,
    summary: "stream.obs was written on a machine of the other byte order",
    explanation: "libovni writes numbers as the machine has them, and the tools read them the same \
        way: a trace of a big-endian machine can only be read there. Its events are not \
        looked at.",
    fix: None,
};

/// OV0004: stream.obs is shorter than its header.
pub static STREAM_HEADER_TORN: Rule = Rule {
    code: "OV0004",
    name: "stream-header-torn",
    severity: Severity::Error,
    summary: "stream.obs is shorter than its header",
    explanation: "The header has 8 bytes. A full disk or a copy that broke off leaves less, down to \
        nothing; the tools refuse the whole trace for it.",
    fix: Some("synthetic: writes a header; the thread then begins and ends without another event"),
};

/// OV0005: an event has flags that mean nothing.
pub static RESERVED_FLAGS: Rule = Rule {
    code: "OV0005",
    name: "reserved-flags",
    severity: Severity::Warning,
    summary: "an event has flags that mean nothing",
    explanation: "Bits 5 to 7 of the flags are reserved. libovni writes 0 and no tool looks at them, \
        so a set bit is a sign of damage, or of a version that is not known here. Counted \
        once a stream.",
    fix: None,
};

/// OV0101: stream.json is no JSON.
pub static JSON_SYNTAX: Rule = Rule {
    code: "OV0101",
    name: "json-syntax",
    severity: Severity::Error,
    summary: "stream.json is no JSON",
    explanation: "The reader gives up at the first byte that does not fit, and with it at the whole \
        trace. A full disk leaves an empty or cut file.",
    fix: Some(
        "lossy: writes the metadata anew from the path and the events (synthetic if the file \
        is empty)",
    ),
};

/// OV0102: a key stands twice in one object.
pub static JSON_DUPLICATE_KEY: Rule = Rule {
    code: "OV0102",
    name: "json-duplicate-key",
    severity: Severity::Error,
    summary: "a key stands twice in one object",
    explanation: "The emulator's reader refuses such a text; others take the first or the last value.",
    fix: Some("exact: drops the second one, if both have the same value"),
};

/// OV0103: something follows the value in stream.json.
pub static JSON_TRAILING: Rule = Rule {
    code: "OV0103",
    name: "json-trailing",
    severity: Severity::Warning,
    summary: "something follows the value in stream.json",
    explanation: "The emulator's reader does not look behind the value. A shorter text written over a \
        longer one leaves such a rest.",
    fix: None,
};

/// OV0110: `version` is not 3.
pub static METADATA_VERSION: Rule = Rule {
    code: "OV0110",
    name: "metadata-version",
    severity: Severity::Error,
    summary: "`version` is not 3",
    explanation: "The emulator reads version 3 of the metadata only (ovni 1.11 and later).",
    fix: Some("synthetic: writes 3, if the key is missing and the rest is of version 3"),
};

/// OV0111: a mandatory key is missing.
pub static MISSING_KEY: Rule = Rule {
    code: "OV0111",
    name: "missing-key",
    severity: Severity::Error,
    summary: "a mandatory key is missing",
    explanation: "ovni.part, tid, pid, loom, require, lib.version and lib.commit stand in every stream \
        of a thread, app_id in one of each process.",
    fix: Some(
        "exact: takes tid, pid and loom from the path; synthetic: adds the others, require \
        from the events",
    ),
};

/// OV0112: a value has the wrong type or lies outside its range.
pub static BAD_VALUE: Rule = Rule {
    code: "OV0112",
    name: "bad-value",
    severity: Severity::Error,
    summary: "a value has the wrong type or lies outside its range",
    explanation: "The emulator takes numbers as they are cast to int and refuses the rest of the trace \
        with them.",
    fix: None,
};

/// OV0113: a value is accepted by the tools, but no writer means it.
pub static ODD_VALUE: Rule = Rule {
    code: "OV0113",
    name: "odd-value",
    severity: Severity::Warning,
    summary: "a value is accepted by the tools, but no writer means it",
    explanation: "Numbers with a fraction are cut, a version of 3.9 is taken for 3, CPU entries \
        without a key are taken for 0.",
    fix: None,
};

/// OV0114: a required version of a model is not supported.
pub static UNSUPPORTED_MODEL: Rule = Rule {
    code: "OV0114",
    name: "unsupported-model-version",
    severity: Severity::Error,
    summary: "a required version of a model is not supported",
    explanation: "The major number has to be the emulator's, the minor one at most its own; 1.14.0 \
        knows ovni 1.1, nanos6 1.1, nosv 2.7, nodes 1.0, tampi 1.0, mpi 1.0, kernel 1.0 and \
        openmp 1.2.",
    fix: None,
};

/// OV0115: a name that becomes a path leads out of its directory.
pub static UNSAFE_NAME: Rule = Rule {
    code: "OV0115",
    name: "unsafe-name",
    severity: Severity::Error,
    summary: "a name that becomes a path leads out of its directory",
    explanation: "The emulator makes file names of the names of hardware counters without looking at \
        them: `../../x` writes outside the trace. Loom names with a slash are refused by it, \
        and titles and labels with one are suspicious. Do not run the tools on such a trace.",
    fix: None,
};

/// OV0116: ovni.part is not `thread`.
pub static UNKNOWN_PART: Rule = Rule {
    code: "OV0116",
    name: "unknown-part",
    severity: Severity::Warning,
    summary: "ovni.part is not `thread`",
    explanation: "The emulator passes over streams of other parts, and refuses the trace if one holds \
        an event.",
    fix: None,
};

/// OV0117: ovni.finished is not 1: the thread's run did not end.
pub static UNFINISHED_STREAM: Rule = Rule {
    code: "OV0117",
    name: "unfinished-stream",
    severity: Severity::Error,
    summary: "ovni.finished is not 1: the thread's run did not end",
    explanation: "libovni writes `finished` as the last thing. A process that was killed, or a thread \
        that ended without ovni_thread_free, leaves metadata without it (and without \
        require, loom_cpus, rank and marks) and a stream that ends at the last flush, \
        perhaps inside an event. The emulator refuses the whole trace for one such stream.",
    fix: Some(
        "synthetic: closes what is open at the thread's last clock, in reverse order, and \
        completes the metadata; lossy where a torn event or the tail of an older run has to \
        go (with --strategy cut: cuts all streams at the earliest last clock)",
    ),
};

/// OV0118: streams were written by different versions of libovni.
pub static LIB_MIXED: Rule = Rule {
    code: "OV0118",
    name: "lib-versions-differ",
    severity: Severity::Info,
    summary: "streams were written by different versions of libovni",
    explanation: "The emulator warns about it.",
    fix: None,
};

/// OV0119: the trace has the layout of an older libovni.
pub static OLD_LAYOUT: Rule = Rule {
    code: "OV0119",
    name: "old-layout",
    severity: Severity::Info,
    summary: "the trace has the layout of an older libovni",
    explanation: "Version 1 (libovni 1.0 to 1.4) keeps thread.T.obs and one metadata.json a process, \
        version 2 (1.5 to 1.10) adds thread.T.json. The emulator of 1.11 and later finds no \
        stream in them.",
    fix: Some(
        "synthetic, with --upgrade: writes stream.json and moves the events to \
        thread.T/stream.obs",
    ),
};

/// OV1001: the stream ends inside an event.
pub static TORN_EVENT: Rule = Rule {
    code: "OV1001",
    name: "torn-event",
    severity: Severity::Error,
    summary: "the stream ends inside an event",
    explanation: "A disk that is full, a killed process and a cut copy leave part of the last event. \
        The tools refuse the stream.",
    fix: Some("lossy: drops the incomplete event and closes what is open"),
};

/// OV1002: behind the thread's end stand events of an older run.
pub static STALE_TAIL: Rule = Rule {
    code: "OV1002",
    name: "stale-tail",
    severity: Severity::Error,
    summary: "behind the thread's end stand events of an older run",
    explanation: "libovni opens a stream without truncating it: a second run with the same loom, pid \
        and tid writes over the first one's beginning. After the last OHe the first lower \
        clock, or the first bytes that are no event, are the older run's.",
    fix: Some("lossy: drops the older run's rest"),
};

/// OV1003: a clock is lower than the one before it.
pub static CLOCK_BACKWARDS: Rule = Rule {
    code: "OV1003",
    name: "clock-backwards",
    severity: Severity::Error,
    summary: "a clock is lower than the one before it",
    explanation: "Clocks ascend within a stream (equal ones are legal), as signed numbers: a set top \
        bit is refused as well.",
    fix: Some(
        "synthetic: gives the events that are out of order the clock before them; where one \
        event is too late by itself, it is that one",
    ),
};

/// OV1004: a region of events out of order was not sorted.
pub static UNSORTED_REGION: Rule = Rule {
    code: "OV1004",
    name: "unsorted-region",
    severity: Severity::Error,
    summary: "a region of events out of order was not sorted",
    explanation: "Between OU[ and OU] events may be out of order, until `ovnisort` has moved them. The \
        emulator wants them sorted.",
    fix: Some(
        "exact: sorts the events by their clocks, as ovnisort does; equal clocks keep their \
        order",
    ),
};

/// OV1005: bytes in the stream are no event.
pub static DAMAGED_BYTES: Rule = Rule {
    code: "OV1005",
    name: "damaged-bytes",
    severity: Severity::Error,
    summary: "bytes in the stream are no event",
    explanation: "The code of every event is three printable characters. Where something else stands \
        the stream is searched for the next place where several known events follow each \
        other.",
    fix: Some("lossy: drops the bytes in between"),
};

/// OV1006: a jumbo event has another payload code than libovni writes.
pub static JUMBO_CODE: Rule = Rule {
    code: "OV1006",
    name: "jumbo-code",
    severity: Severity::Info,
    summary: "a jumbo event has another payload code than libovni writes",
    explanation: "Readers go by the flag alone; libovni writes 3. Counted once a stream.",
    fix: None,
};

/// OV2001: the payload is not what the event's signature says.
pub static PAYLOAD_SIZE: Rule = Rule {
    code: "OV2001",
    name: "payload-size",
    severity: Severity::Error,
    summary: "the payload is not what the event's signature says",
    explanation: "Missing fields are read by the tools from whatever follows. A warning where only \
        more is there than belongs, or where the event has no field at all.",
    fix: None,
};

/// OV2002: a model does not have this event.
pub static UNKNOWN_EVENT: Rule = Rule {
    code: "OV2002",
    name: "unknown-event",
    severity: Severity::Error,
    summary: "a model does not have this event",
    explanation: "The emulator refuses codes that a model it has enabled does not know. Information \
        where the emulator passes over them (categories U and B of ovni).",
    fix: None,
};

/// OV2003: events of a model that is not known here.
pub static UNKNOWN_MODEL: Rule = Rule {
    code: "OV2003",
    name: "unknown-model",
    severity: Severity::Info,
    summary: "events of a model that is not known here",
    explanation: "Models of one's own exist and are kept as they are. The emulator refuses their \
        events. Counted once a stream and model.",
    fix: None,
};

/// OV2004: events of a model that no thread requires.
pub static MODEL_NOT_REQUIRED: Rule = Rule {
    code: "OV2004",
    name: "model-not-required",
    severity: Severity::Error,
    summary: "events of a model that no thread requires",
    explanation: "One thread's ovni.require enables a model for the whole trace; without it the \
        emulator stops at the first event of the model.",
    fix: Some(
        "synthetic: adds the model to ovni.require of the first stream that uses it; the \
        major version of nosv follows from the payload of VTx",
    ),
};

/// OV2005: an event is newer than the required version of its model.
pub static EVENT_NEWER: Rule = Rule {
    code: "OV2005",
    name: "event-newer",
    severity: Severity::Info,
    summary: "an event is newer than the required version of its model",
    explanation: "The thread requires a version that did not have this event yet. Counted once a \
        stream and model.",
    fix: None,
};

/// OV2006: a label has no NUL at its end.
pub static LABEL_UNTERMINATED: Rule = Rule {
    code: "OV2006",
    name: "label-unterminated",
    severity: Severity::Error,
    summary: "a label has no NUL at its end",
    explanation: "The tools read on behind the event until some byte is 0.",
    fix: Some("synthetic: adds the NUL and one to the size"),
};

/// OV2007: a label has 512 bytes or more.
pub static LABEL_TOO_LONG: Rule = Rule {
    code: "OV2007",
    name: "label-too-long",
    severity: Severity::Error,
    summary: "a label has 512 bytes or more",
    explanation: "The emulator refuses it (MAX_PCF_LABEL).",
    fix: None,
};

/// OV2008: a field of an event has a value that is refused.
pub static BAD_ARGUMENT: Rule = Rule {
    code: "OV2008",
    name: "bad-argument",
    severity: Severity::Error,
    summary: "a field of an event has a value that is refused",
    explanation: "The value of a mark, a task's id when it runs, and the id of a type are not 0; the \
        body of a parallel task is above 0, that of any other one is 0.",
    fix: None,
};

/// OV2009: VWC does not hold one value for each counter.
pub static COUNTERS_SIZE: Rule = Rule {
    code: "OV2009",
    name: "counters-size",
    severity: Severity::Error,
    summary: "VWC does not hold one value for each counter",
    explanation: "nosv.hwc names the counters; each event gives 8 bytes for every one.",
    fix: None,
};

/// OV2010: an event names a CPU that no machine has.
pub static NO_CPU: Rule = Rule {
    code: "OV2010",
    name: "no-such-cpu",
    severity: Severity::Error,
    summary: "an event names a CPU that no machine has",
    explanation: "A CPU is an index into ovni.loom_cpus, or -1 for none that is known. A negative number, \
        or one so high that a repair cannot add the CPUs up to it, is damage.",
    fix: Some("lossy: writes -1"),
};

/// OV3001: the thread cannot do this in its state.
pub static THREAD_STATE: Rule = Rule {
    code: "OV3001",
    name: "thread-state",
    severity: Severity::Error,
    summary: "the thread cannot do this in its state",
    explanation: "unknown -OHx-> running; running -OHc-> cooling; running or cooling -OHp-> paused; \
        paused -OHw-> warming; paused or warming -OHr-> running; running or cooling -OHe-> \
        dead; dead -OHx-> running.",
    fix: None,
};

/// OV3002: an event of a model comes while the thread is not running.
pub static EVENT_STATE: Rule = Rule {
    code: "OV3002",
    name: "event-in-wrong-state",
    severity: Severity::Error,
    summary: "an event of a model comes while the thread is not running",
    explanation: "nanos6 and nosv need a thread that is running, cooling or warming; nodes, tampi, mpi \
        and openmp one that is running. Reported once until the state changes.",
    fix: None,
};

/// OV3003: an event comes while the kernel has the thread off its CPU.
pub static OUT_OF_CPU: Rule = Rule {
    code: "OV3003",
    name: "event-out-of-cpu",
    severity: Severity::Error,
    summary: "an event comes while the kernel has the thread off its CPU",
    explanation: "Between KCO and KCI there is no event of ovni or nosv; KCO and KCI alternate. \
        Reported once until KCI.",
    fix: None,
};

/// OV3004: the thread has not ended.
pub static NOT_ENDED: Rule = Rule {
    code: "OV3004",
    name: "thread-not-ended",
    severity: Severity::Error,
    summary: "the thread has not ended",
    explanation: "Every thread has to end with OHe, whatever `finished` says. Events that were never \
        flushed, or a copy that the disk had no room for, leave such a stream.",
    fix: Some(
        "synthetic: closes what is open, in reverse order, and ends the thread at its last \
        clock",
    ),
};

/// OV3005: an event closes what is not open, or opens what is open already.
pub static STACK_MISMATCH: Rule = Rule {
    code: "OV3005",
    name: "stack-mismatch",
    severity: Severity::Error,
    summary: "an event closes what is not open, or opens what is open already",
    explanation: "States nest: only the innermost can be closed. Except for nosv, openmp and marks a \
        state cannot be opened directly inside itself; 512 may be open.",
    fix: None,
};

/// OV3006: states are open when the thread ends.
pub static LEFT_OPEN: Rule = Rule {
    code: "OV3006",
    name: "left-open",
    severity: Severity::Error,
    summary: "states are open when the thread ends",
    explanation: "The linter (`ovniemu -l`) wants every stack of subsystems and functions empty at the \
        end.",
    fix: Some("synthetic: closes them before the thread ends"),
};

/// OV3007: marks or bodies of tasks are open when the thread ends.
pub static MARK_LEFT_OPEN: Rule = Rule {
    code: "OV3007",
    name: "mark-left-open",
    severity: Severity::Warning,
    summary: "marks or bodies of tasks are open when the thread ends",
    explanation: "The tools do not look at it, but what was begun never ends.",
    fix: None,
};

/// OV3008: OF[ and OF] do not alternate.
pub static FLUSH_ORDER: Rule = Rule {
    code: "OV3008",
    name: "flush-order",
    severity: Severity::Error,
    summary: "OF[ and OF] do not alternate",
    explanation: "The emulator refuses to begin a flush twice, and to end one that did not begin. One \
        that is open at the end is legal.",
    fix: None,
};

/// OV3009: OU[ and OU] do not alternate.
pub static REGION_ORDER: Rule = Rule {
    code: "OV3009",
    name: "region-order",
    severity: Severity::Warning,
    summary: "OU[ and OU] do not alternate",
    explanation: "The emulator passes over them, ovnisort does not.",
    fix: None,
};

/// OV3010: the idle state is set to what it is.
pub static SAME_IDLE: Rule = Rule {
    code: "OV3010",
    name: "same-idle-state",
    severity: Severity::Error,
    summary: "the idle state is set to what it is",
    explanation: "Threads begin as progressing; the emulator refuses to set the state that is set.",
    fix: None,
};

/// OV3011: a body of a task cannot do this now.
pub static TASK_STEP: Rule = Rule {
    code: "OV3011",
    name: "task-step",
    severity: Severity::Error,
    summary: "a body of a task cannot do this now",
    explanation: "A body runs on top of its thread's bodies. It is paused, resumed and ended there; \
        nosv does not begin one over another that runs; parallel ones do not pause; openmp \
        has no pause.",
    fix: None,
};

/// OV3012: something follows the end of the thread.
pub static EVENT_AFTER_END: Rule = Rule {
    code: "OV3012",
    name: "event-after-end",
    severity: Severity::Warning,
    summary: "something follows the end of the thread",
    explanation: "The tools accept events of ovni behind OHe, and a second OHx.",
    fix: None,
};

/// OV3013: a mark has a type that no metadata defines.
pub static UNDEFINED_MARK: Rule = Rule {
    code: "OV3013",
    name: "undefined-mark",
    severity: Severity::Error,
    summary: "a mark has a type that no metadata defines",
    explanation: "ovni.mark names each type (0 to 99), its title and whether it is single or a stack; \
        OM= sets a single one, OM[ and OM] a stack.",
    fix: Some("synthetic: adds the type to the metadata"),
};

/// OV3014: a mark is set like a stack, or pushed like a single value.
pub static MARK_KIND: Rule = Rule {
    code: "OV3014",
    name: "mark-kind",
    severity: Severity::Error,
    summary: "a mark is set like a stack, or pushed like a single value",
    explanation: "ovni.mark says which of the two its type is.",
    fix: None,
};

/// OV4001: a stream.obs has no stream.json beside it.
pub static JSON_MISSING: Rule = Rule {
    code: "OV4001",
    name: "stream-without-json",
    severity: Severity::Error,
    summary: "a stream.obs has no stream.json beside it",
    explanation: "The tools find streams by stream.json alone: without it all its events are silently \
        left out.",
    fix: Some("synthetic: writes the metadata anew from the path and the events"),
};

/// OV4002: a stream.json has no stream.obs beside it.
pub static OBS_MISSING: Rule = Rule {
    code: "OV4002",
    name: "json-without-stream",
    severity: Severity::Error,
    summary: "a stream.json has no stream.obs beside it",
    explanation: "The tools refuse the whole trace.",
    fix: Some("synthetic: writes a stream in which the thread begins and ends"),
};

/// OV4003: the trace holds no stream.
pub static EMPTY_TRACE: Rule = Rule {
    code: "OV4003",
    name: "empty-trace",
    severity: Severity::Error,
    summary: "the trace holds no stream",
    explanation: "Nothing was recorded, or everything was left in OVNI_TMPDIR when the process was \
        killed: look there. The emulator finishes such a trace as if it were sound.",
    fix: None,
};

/// OV4004: two streams are of the same thread.
pub static DUPLICATE_THREAD: Rule = Rule {
    code: "OV4004",
    name: "duplicate-thread",
    severity: Severity::Error,
    summary: "two streams are of the same thread",
    explanation: "Loom, pid and tid together name a thread.",
    fix: None,
};

/// OV4005: streams contradict each other.
pub static METADATA_CONFLICT: Rule = Rule {
    code: "OV4005",
    name: "metadata-conflict",
    severity: Severity::Error,
    summary: "streams contradict each other",
    explanation: "app_id, rank and nranks are the same for all threads of a process; CPUs of a loom, \
        types of marks and names of hardware counters are the same wherever they are \
        defined.",
    fix: None,
};

/// OV4006: the CPUs of a loom are not numbered 0 to N-1.
pub static LOOM_CPUS: Rule = Rule {
    code: "OV4006",
    name: "loom-cpus",
    severity: Severity::Error,
    summary: "the CPUs of a loom are not numbered 0 to N-1",
    explanation: "All ovni.loom_cpus of a loom together have to give every index from 0 on once, and \
        at least one; every CPU that a thread runs on is one of them, or -1.",
    fix: Some("synthetic: adds the missing ones with physical ids that are not used"),
};

/// OV4007: a process of a loom has no rank, and others have.
pub static RANK_MISSING: Rule = Rule {
    code: "OV4007",
    name: "rank-missing",
    severity: Severity::Error,
    summary: "a process of a loom has no rank, and others have",
    explanation: "The emulator wants a rank for all processes of a loom or for none.",
    fix: Some("synthetic: adds a rank that no process has"),
};

/// OV4008: the first clocks of two streams are more than one hour apart.
pub static CLOCK_GATE: Rule = Rule {
    code: "OV4008",
    name: "clock-gate",
    severity: Severity::Error,
    summary: "the first clocks of two streams are more than one hour apart",
    explanation: "Clocks of different machines do not count from the same moment. `ovnisync` measures \
        the offsets and writes clock-offsets.txt.",
    fix: None,
};

/// OV4009: clock-offsets.txt cannot be used.
pub static CLOCK_OFFSETS: Rule = Rule {
    code: "OV4009",
    name: "clock-offsets",
    severity: Severity::Error,
    summary: "clock-offsets.txt cannot be used",
    explanation: "A line for the header, then `rank hostname median mean stdev` for each host of the \
        trace, none twice. The host is the loom's name up to the first dot.",
    fix: None,
};

/// OV4010: two threads run on one physical CPU.
pub static CPU_CONFLICT: Rule = Rule {
    code: "OV4010",
    name: "cpu-conflict",
    severity: Severity::Error,
    summary: "two threads run on one physical CPU",
    explanation: "The emulator refuses it. Reported where the second one begins.",
    fix: None,
};

/// OV4011: OAr moves a thread that cannot be moved.
pub static REMOTE_TARGET: Rule = Rule {
    code: "OV4011",
    name: "remote-affinity",
    severity: Severity::Error,
    summary: "OAr moves a thread that cannot be moved",
    explanation: "The thread has to be in the same loom, to have begun and not to have ended, and to \
        be on another CPU.",
    fix: None,
};

/// OV4012: tasks or types are used that no event creates.
pub static LOST_DEFINITION: Rule = Rule {
    code: "OV4012",
    name: "lost-definition",
    severity: Severity::Error,
    summary: "tasks or types are used that no event creates",
    explanation: "A type is defined and a task created once a process, before any thread uses them. \
        Where the buffer with the definition was lost, what other threads recorded still \
        uses it.",
    fix: Some("synthetic: defines them directly before their first use"),
};

/// OV4013: a task or a type is created twice.
pub static TASK_REDEFINED: Rule = Rule {
    code: "OV4013",
    name: "task-redefined",
    severity: Severity::Error,
    summary: "a task or a type is created twice",
    explanation: "Ids of tasks and of types are unique in a process.",
    fix: None,
};

/// OV4014: a body of a task is begun that cannot begin now.
pub static BODY_STATE: Rule = Rule {
    code: "OV4014",
    name: "body-state",
    severity: Severity::Error,
    summary: "a body of a task is begun that cannot begin now",
    explanation: "A body runs in one thread at a time. One of nanos6, or of a parallel task, runs \
        once.",
    fix: None,
};

/// OV4015: VWC gives values of counters that no metadata names.
pub static COUNTERS_UNDEFINED: Rule = Rule {
    code: "OV4015",
    name: "undefined-counters",
    severity: Severity::Error,
    summary: "VWC gives values of counters that no metadata names",
    explanation: "nosv.hwc names the counters 0 to n-1, the same in all threads.",
    fix: Some("synthetic: adds as many names as the event has values"),
};

/// OV4016: a directory of a thread holds no stream.
pub static HOLLOW_STREAM: Rule = Rule {
    code: "OV4016",
    name: "hollow-stream",
    severity: Severity::Warning,
    summary: "a directory of a thread holds no stream",
    explanation: "With OVNI_TMPDIR libovni makes the directories first and moves the streams there \
        when their threads end. A process that was killed has left its streams in \
        OVNI_TMPDIR.",
    fix: None,
};
