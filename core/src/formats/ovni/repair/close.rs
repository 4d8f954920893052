//! Events that bring a thread to its end.
//!
//! What is open is closed in reverse order, at the thread's last clock (equal clocks are legal, so no
//! time is invented): the flush, the kernel's hold, then the innermost runtime first, bodies of
//! tasks together with the states that they opened, marks, and OHe. A paused thread has to run for
//! that; it does so on the virtual CPU, where nobody is in its way.

use crate::formats::ovni::check::thread::{AtEnd, Body, Label, Machine, State, TASK_CODES};
use crate::formats::ovni::layout::{self, JUMBO, JUMBO_CODE, Stack, TASK_BODY};
use crate::kit::num::to_u64;

/// What has to be known of the trace to close a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Closing {
    /// Clock where the stream has none of its own.
    pub clock: u64,
    /// Its thread, if known.
    pub tid: Option<i32>,
    /// It is on a physical CPU.
    pub on_cpu: bool,
    /// Another thread moves it at this clock, after its own last one, and whether to a physical CPU.
    pub late: Option<(u64, bool)>,
}

/// An event.
pub fn event(code: [u8; 3], clock: u64, payload: &[u8]) -> Vec<u8> {
    let [model, category, value] = code;
    let flags = match payload.len() {
        0 => 0,
        len => u8::try_from(len.saturating_sub(1)).unwrap_or(0x0f),
    };
    let mut bytes = vec![flags, model, category, value];
    bytes.extend_from_slice(&clock.to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// A jumbo event.
pub fn jumbo(code: [u8; 3], clock: u64, data: &[u8]) -> Vec<u8> {
    let [model, category, value] = code;
    let mut bytes = vec![JUMBO | JUMBO_CODE, model, category, value];
    bytes.extend_from_slice(&clock.to_le_bytes());
    let size = u32::try_from(to_u64(data.len())).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes.extend_from_slice(data);
    bytes
}

struct Writer {
    out: Vec<u8>,
    clock: u64,
    count: u64,
}

impl Writer {
    fn put(&mut self, code: &[u8; 3], payload: &[u8]) {
        self.out.extend_from_slice(&event(*code, self.clock, payload));
        self.count = self.count.saturating_add(1);
    }

    /// Closes every stack, body, label and mark.
    fn close(&mut self, machine: &Machine<'_, '_>) {
        for stack in Stack::ALL {
            let table = match stack {
                Stack::Nanos6Subsystem => Some(0),
                Stack::NosvSubsystem => Some(1),
                _ => None,
            };
            if stack == Stack::OpenmpSubsystem {
                self.labels(machine);
            }
            let mut bodies = table.map_or(&[][..], |table| machine.bodies(table)).iter().rev();
            for state in machine.stack(stack).iter().rev() {
                if *state != TASK_BODY {
                    if let Some(closer) = layout::closer(stack, *state) {
                        self.put(&closer.code, &[]);
                    }
                } else if let (Some(body), Some(table)) = (bodies.next(), table) {
                    self.body(table, body, machine.old_nosv);
                }
            }
        }
        for (kind, values) in &machine.marks {
            for value in values.iter().rev() {
                let payload = [&value.to_le_bytes()[..], &kind.to_le_bytes()].concat();
                self.put(b"OM]", &payload);
            }
        }
    }

    fn body(&mut self, table: usize, body: &Body, old: bool) {
        let first = TASK_CODES.get(table).copied().unwrap_or_default();
        let mut payload = body.task.to_le_bytes().to_vec();
        if first == b'V' && !old {
            payload.extend_from_slice(&body.body.to_le_bytes());
        }
        let category = if first == b'P' { b'P' } else { b'T' };
        if body.paused {
            self.put(&[first, category, b'r'], &payload);
        }
        self.put(&[first, category, b'e'], &payload);
    }

    fn labels(&mut self, machine: &Machine<'_, '_>) {
        for label in machine.labels.iter().rev() {
            match label {
                Label::Task(task) => self.put(b"PPe", &task.to_le_bytes()),
                Label::Work(kind) => self.put(b"PQe", &kind.to_le_bytes()),
            }
        }
    }

    /// From paused or warming to running, on the virtual CPU.
    fn resume(&mut self, closing: &Closing) {
        if closing.on_cpu
            && let Some(tid) = closing.tid
        {
            let payload = [(-1_i32).to_le_bytes(), tid.to_le_bytes()].concat();
            self.put(b"OAr", &payload);
        }
        self.put(b"OHr", &[]);
    }
}

/// Whether something is open that only a running thread can close.
fn needs_running(machine: &Machine<'_, '_>) -> bool {
    let stacks = [Stack::Mpi, Stack::Tampi, Stack::Nodes, Stack::OpenmpSubsystem];
    !machine.labels.is_empty() || stacks.iter().any(|stack| !machine.stack(*stack).is_empty())
}

/// Whether the linter finds a stack that is not empty.
pub fn is_open(machine: &Machine<'_, '_>) -> bool {
    Stack::ALL.iter().any(|stack| stack.linted() && !machine.stack(*stack).is_empty())
}

/// The events behind the last one of a thread that has not ended, and their number.
pub fn end(machine: &Machine<'_, '_>, closing: &Closing) -> (Vec<u8>, u64) {
    let clock = if machine.events == 0 { closing.clock } else { machine.clock };
    let mut writer = Writer { out: Vec::new(), clock, count: 0 };
    let mut state = machine.state;
    let mut on_cpu = closing.on_cpu;
    if state == State::Dead {
        return (writer.out, 0);
    }
    if machine.out {
        writer.put(b"KCI", &[]);
    }
    if machine.flushing {
        writer.put(b"OF]", &[]);
    }
    if state == State::Unknown {
        let mut payload = [0xff; 16];
        if let Some((_, tag)) = payload.split_at_mut_checked(8) {
            tag.fill(0);
        }
        writer.put(b"OHx", &payload);
        (state, on_cpu) = (State::Running, false);
    }
    if state == State::Cooling && needs_running(machine) {
        writer.put(b"OHp", &[]);
        state = State::Paused;
    }
    if matches!(state, State::Paused | State::Warming) {
        writer.resume(&Closing { on_cpu, ..*closing });
    }
    writer.close(machine);
    if let Some((late, on_cpu)) = closing.late {
        // Off its CPU until the last thread that moves it has done so.
        writer.put(b"OHp", &[]);
        writer.clock = late.saturating_add(1).max(writer.clock);
        writer.resume(&Closing { on_cpu, ..*closing });
    }
    writer.put(b"OHe", &[]);
    (writer.out, writer.count)
}

/// The events before the OHe of a thread that ended with states open, and their number.
pub fn before_end(machine: &Machine<'_, '_>, died: &AtEnd) -> (Vec<u8>, u64) {
    let mut writer = Writer { out: Vec::new(), clock: died.clock, count: 0 };
    if died.state == State::Cooling && needs_running(machine) {
        writer.put(b"OAs", &(-1_i32).to_le_bytes());
        writer.put(b"OHp", &[]);
        writer.put(b"OHr", &[]);
    }
    writer.close(machine);
    (writer.out, writer.count)
}
