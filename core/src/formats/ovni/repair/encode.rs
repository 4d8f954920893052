//! Events and headers as libovni writes them.

use crate::formats::ovni::decode::body::Body;
use crate::formats::ovni::layout::{
    JUMBO, JUMBO_CODE, MAGIC, STREAM_VERSION, TASK_CODES, TaskStep, ThreadStep,
};
use crate::kit::num::to_u64;

/// Returns the header of a stream: 8 bytes.
pub fn encode_header() -> Vec<u8> {
    [&MAGIC[..], &STREAM_VERSION.to_le_bytes()].concat()
}

/// Returns an event with a payload of 0 or 2 to 16 bytes.
pub fn encode_event(code: [u8; 3], clock: u64, payload: &[u8]) -> Vec<u8> {
    let flags = match payload.len() {
        0 => 0,
        len => u8::try_from(len.saturating_sub(1)).unwrap_or(0x0f),
    };
    let mut bytes = encode_start(flags, code, clock);
    bytes.extend_from_slice(payload);
    bytes
}

/// Returns a jumbo event.
pub fn encode_jumbo(code: [u8; 3], clock: u64, data: &[u8]) -> Vec<u8> {
    let mut bytes = encode_start(JUMBO | JUMBO_CODE, code, clock);
    let size = u32::try_from(to_u64(data.len())).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes.extend_from_slice(data);
    bytes
}

fn encode_start(flags: u8, [model, category, value]: [u8; 3], clock: u64) -> Vec<u8> {
    let mut bytes = vec![flags, model, category, value];
    bytes.extend_from_slice(&clock.to_le_bytes());
    bytes
}

/// Events, encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodedEvents {
    /// Their bytes.
    pub bytes: Vec<u8>,
    /// Their number.
    pub count: u64,
}

/// Writes events that all have the same clock.
#[derive(Clone, Debug, Default)]
pub struct EventWriter {
    /// The events so far.
    pub out: EncodedEvents,
    /// Their clock.
    pub clock: u64,
    /// The payloads are those of nosv version 1.
    pub has_old_nosv: bool,
}

impl EventWriter {
    /// Starts without an event.
    pub fn new(clock: u64, has_old_nosv: bool) -> Self {
        Self { out: EncodedEvents::default(), clock, has_old_nosv }
    }

    /// Adds an event.
    pub fn put(&mut self, code: &[u8; 3], payload: &[u8]) {
        self.out.bytes.extend_from_slice(&encode_event(*code, self.clock, payload));
        self.out.count = self.out.count.saturating_add(1);
    }

    /// Adds a step of the state machine; OHx is on the virtual CPU.
    pub fn put_step(&mut self, step: ThreadStep) {
        match step {
            ThreadStep::Execute => {
                let mut payload = [0xff; 16];
                if let Some((_, tag)) = payload.split_at_mut_checked(8) {
                    tag.fill(0);
                }
                self.put(b"OHx", &payload);
            }
            step => self.put(&[b'O', b'H', step.value()], &[]),
        }
    }

    /// Adds a step of the body of a task.
    pub fn put_body_step(&mut self, table: usize, step: TaskStep, body: &Body) {
        let first = TASK_CODES.get(table).copied().unwrap_or_default();
        let mut payload = body.task.to_le_bytes().to_vec();
        if first == b'V' && !self.has_old_nosv {
            payload.extend_from_slice(&body.body.to_le_bytes());
        }
        self.put(&[first, if first == b'P' { b'P' } else { b'T' }, step.value()], &payload);
    }

    /// Adds the end of a body, which runs again first if it is paused.
    pub fn close_body(&mut self, table: usize, body: &Body) {
        if body.is_paused {
            self.put_body_step(table, TaskStep::Resume, body);
        }
        self.put_body_step(table, TaskStep::End, body);
    }
}
