//! Events that concern several threads.
//!
//! A thread puts them into a queue while its stream is walked; [`merge`](super::merge) takes the
//! queues of all threads in the order of their clocks.

use crate::formats::ovni::state::thread::LabelSource;

/// An event that concerns other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedEvent {
    /// Its clock, never lower than the clock before it in the stream.
    pub clock: u64,
    /// Offset in the stream.
    pub at: u64,
    /// Number of events up to and including it.
    pub number: u64,
    /// Length in bytes.
    pub len: u32,
    /// Task table, for events about tasks.
    pub table: u8,
    /// Its effect on other threads.
    pub effect: SharedEffect,
}

/// Effect of an event on other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedEffect {
    /// OHx: the thread starts on a CPU.
    Start(i32),
    /// The thread runs (again).
    Run,
    /// The thread does not run any more.
    Stop,
    /// OHe.
    End,
    /// OAs: the thread moves to a CPU.
    Move(i32),
    /// OAr: another thread moves; its CPU and its id.
    MoveOther(i32, i32),
    /// Defines a type: its id and a hash of its label.
    DefineType(u32, u64),
    /// Creates a task: its id, its type, and whether it is parallel.
    CreateTask(u32, u32, bool),
    /// A body starts: task and body.
    StartBody(u32, u32),
    /// A body ends: task and body.
    EndBody(u32, u32),
    /// A worksharing of this type starts or ends.
    UseType(u32),
    /// The innermost task or worksharing, and the one that ends: their labels must be equal.
    CompareLabels(LabelSource, LabelSource),
    /// Events were lost before this place.
    Loss,
    /// The stream ends before its thread.
    EndOfStream,
    /// None. Such events are queued only if the order of equal clocks matters.
    Nothing,
}

impl SharedEvent {
    /// Returns its place among events of other streams at the same clock: a release of a CPU, a
    /// task or a definition comes before its use. A merge in which this matters is repeated in the
    /// order of the emulator.
    pub const fn precedence(&self) -> u8 {
        match self.effect {
            SharedEffect::Stop
            | SharedEffect::End
            | SharedEffect::EndOfStream
            | SharedEffect::DefineType(..)
            | SharedEffect::EndBody(..)
            | SharedEffect::Move(-1) => 0,
            SharedEffect::CreateTask(..) => 1,
            _ => 2,
        }
    }
}
