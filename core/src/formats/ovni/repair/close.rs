//! Events that bring a thread to its end.
//!
//! Everything that is open is closed in reverse order, at the thread's last clock. Equal clocks are
//! legal, so no time is invented. First come the kernel's hold and the flush, then the innermost
//! runtime: bodies of tasks together with the states that they opened, marks, and last OHe. A
//! paused thread has to run for that; it does so on the virtual CPU, where it is in nobody's way.

use crate::formats::ovni::layout::{self, Stack, TASK_BODY, TASK_STACKS, ThreadState, ThreadStep};
use crate::formats::ovni::repair::encode::{EncodedEvents, EventWriter};
use crate::formats::ovni::state::thread::{LabelSource, ThreadEnd, ThreadStatus, ThreadSummary};

/// Facts about the trace that the end of a thread depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CloseTerms {
    /// Clock for a stream without an event.
    pub clock: u64,
    /// Id of the thread, if known.
    pub tid: Option<i32>,
    /// The thread is on a physical CPU.
    pub is_on_cpu: bool,
    /// Another thread moves it at this clock, after its own last event, and whether to a physical
    /// CPU.
    pub moved_after_end: Option<(u64, bool)>,
}

impl EventWriter {
    /// Closes every stack, body, label and mark.
    fn close_all(&mut self, status: &ThreadStatus) {
        for stack in Stack::ALL {
            if stack == Stack::OpenmpSubsystem {
                self.close_labels(status);
            }
            self.close_stack(status, stack);
        }
        for (kind, values) in &status.marks {
            for value in values.iter().rev() {
                let payload = [&value.to_le_bytes()[..], &kind.to_le_bytes()].concat();
                self.put(b"OM]", &payload);
            }
        }
    }

    fn close_stack(&mut self, status: &ThreadStatus, stack: Stack) {
        let table = TASK_STACKS.iter().position(|shown| *shown == Some(stack));
        let mut bodies = table.map_or(&[][..], |table| status.bodies(table)).iter().rev();
        for state in status.stack(stack).iter().rev() {
            if *state != TASK_BODY {
                if let Some(closer) = layout::closer(stack, *state) {
                    self.put(&closer.code, &[]);
                }
            } else if let (Some(body), Some(table)) = (bodies.next(), table) {
                self.close_body(table, body);
            }
        }
    }

    /// Adds the end of a task or worksharing of OpenMP.
    pub fn put_label_end(&mut self, label: LabelSource) {
        match label {
            LabelSource::Task(task) => self.put(b"PPe", &task.to_le_bytes()),
            LabelSource::Work(kind) => self.put(b"PQe", &kind.to_le_bytes()),
        }
    }

    fn close_labels(&mut self, status: &ThreadStatus) {
        for label in status.labels.iter().rev() {
            self.put_label_end(*label);
        }
    }

    /// From paused or warming to running, on the virtual CPU.
    fn resume(&mut self, tid: Option<i32>, is_on_cpu: bool) {
        if let Some(tid) = tid.filter(|_| is_on_cpu) {
            let payload = [(-1_i32).to_le_bytes(), tid.to_le_bytes()].concat();
            self.put(b"OAr", &payload);
        }
        self.put(b"OHr", &[]);
    }
}

/// Whether anything is open that only a running thread can close.
fn needs_running(status: &ThreadStatus) -> bool {
    let stacks = [Stack::Mpi, Stack::Tampi, Stack::Nodes, Stack::OpenmpSubsystem];
    !status.labels.is_empty() || stacks.iter().any(|stack| !status.stack(*stack).is_empty())
}

/// Whether the linter finds a stack that is not empty.
pub fn has_open_states(status: &ThreadStatus) -> bool {
    Stack::ALL.iter().any(|stack| stack.is_linted() && !status.stack(*stack).is_empty())
}

/// Returns the events after the last one of a thread that has not ended.
pub fn end_thread(thread: &ThreadSummary, terms: &CloseTerms) -> EncodedEvents {
    let status = &thread.status;
    let clock = if thread.events == 0 { terms.clock } else { thread.last_clock };
    let mut writer = EventWriter::new(clock, thread.usage.has_old_nosv);
    let mut state = status.state;
    let mut is_on_cpu = terms.is_on_cpu;
    if state == ThreadState::Dead {
        return writer.out;
    }
    if status.is_off_cpu {
        writer.put(b"KCI", &[]);
    }
    if status.is_flushing {
        writer.put(b"OF]", &[]);
    }
    if state == ThreadState::Unknown {
        writer.put_step(ThreadStep::Execute);
        (state, is_on_cpu) = (ThreadState::Running, false);
    }
    if state == ThreadState::Cooling && needs_running(status) {
        writer.put(b"OHp", &[]);
        state = ThreadState::Paused;
    }
    if matches!(state, ThreadState::Paused | ThreadState::Warming) {
        writer.resume(terms.tid, is_on_cpu);
    }
    writer.close_all(status);
    if let Some((moved, is_on_cpu)) = terms.moved_after_end {
        // Off its CPU until the last thread that moves it has done so.
        writer.put(b"OHp", &[]);
        writer.clock = moved.saturating_add(1).max(writer.clock);
        writer.resume(terms.tid, is_on_cpu);
    }
    writer.put(b"OHe", &[]);
    writer.out
}

/// Returns the events before the OHe of a thread that ended with states open.
pub fn close_before_end(thread: &ThreadSummary, end: &ThreadEnd) -> EncodedEvents {
    let mut writer = EventWriter::new(end.clock, thread.usage.has_old_nosv);
    if end.state == ThreadState::Cooling && needs_running(&thread.status) {
        writer.put(b"OAs", &(-1_i32).to_le_bytes());
        writer.put(b"OHp", &[]);
        writer.put(b"OHr", &[]);
    }
    writer.close_all(&thread.status);
    writer.out
}
