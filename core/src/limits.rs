//! Every limit of the library: its name, its number and its reason, in one place.
//!
//! A limit is spent before anything is allocated. Reaching one makes the verdict `incomplete`
//! (exit 6 on the command line), never a wrong answer and never a dead process.

/// What a check or a repair may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Findings that a report holds; further ones are counted only. A damaged file of tens of GB
    /// can have one fault per record, and nobody reads ten thousand.
    pub findings: usize,
    /// Fixes that one round of a repair holds and applies; the next round takes the rest.
    pub fixes: usize,
    /// Rounds of check and mend before a repair gives up. Faults hide behind each other at most a
    /// few levels deep (header, then framing, then bodies, then counts); the sound end is 2.
    pub rounds: usize,
    /// Bytes that all fixes of one round may insert: a repair adds tables and closing records, it
    /// does not write recordings.
    pub inserted: u64,
    /// Bytes held of one structure that must be seen whole (an attr table, a feature's section).
    pub window: u64,
    /// Window that a compressed stream may ask for: 128 MiB is what `perf record -z 22` uses and
    /// what libzstd's reader accepts by default.
    pub zstd_window: u64,
    /// Bytes that one recording may expand to, as a multiple of its length plus 64 MiB. zstd stays
    /// below 1 : 50,000 by its block structure, real perf recordings below 1 : 100.
    pub expansion_ratio: u64,
    /// Events (attrs) of one recording. `perf record` on a 1024-CPU machine writes one attr an event,
    /// and hundreds of events are the most that was seen.
    pub attrs: u64,
    /// Ids of all attrs together: one per event and CPU or thread; 4 M are 32 MiB.
    pub ids: u64,
    /// Bytes that a search for the next sound record looks at after damage in the middle.
    pub resync: u64,
    /// Contacts that are followed on one device (revent). Touch screens have ten slots, the largest
    /// tables some dozens.
    pub input_slots: u64,
    /// Events that a repair adds to let go of what is held (revent). Ten fingers, a mouse and a
    /// keyboard come to fifty, and each is listed.
    pub released: u64,
    /// Definitions (functions, structs, enums, bit masks, stack frames) of one apitrace trace. The
    /// largest API has 3,000 functions; frames are one a place in the program.
    pub definitions: u64,
    /// Calls of one apitrace trace that are open at once: one a thread as a rule.
    pub open_calls: u64,
    /// Placeholders that a repair puts for the calls which one stretch of damage took (apitrace). A
    /// gap of a million calls is some 20 MB of a trace; a flipped bit in a call's number can ask for
    /// any.
    pub placeholders: u64,
    /// Values inside values of one apitrace argument. Readers of today recurse and die at some ten
    /// thousand; real ones were never deeper than 2.
    pub nesting: u64,
    /// Dropped bytes that a plan may hold: a plan carries them so that it can be reversed, and is
    /// held in memory as text of twice that length.
    pub plan: u64,
    /// Tasks, types and bodies of an ovni trace that are remembered, some 30 bytes each: a process
    /// that creates more has a trace of hundreds of MB for them alone.
    pub tasks: u64,
    /// CPUs of one loom that a repair adds to the metadata of an ovni trace. No Linux kernel is built
    /// for more than 8,192; a flipped bit in an event can name any.
    pub loom_cpus: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            findings: 1_000,
            fixes: 65_536,
            rounds: 16,
            inserted: 64 << 20,
            window: 16 << 20,
            zstd_window: 128 << 20,
            expansion_ratio: 1_000,
            attrs: 65_536,
            ids: 4 << 20,
            resync: 64 << 20,
            input_slots: 128,
            released: 1_024,
            definitions: 1 << 20,
            open_calls: 1 << 20,
            placeholders: 1 << 20,
            nesting: 1_024,
            plan: 256 << 20,
            tasks: 8 << 20,
            loom_cpus: 8_192,
        }
    }
}
