//! Builds revent recordings byte by byte: sound ones in every layout, and one method per damage.

/// A layout of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layout {
    /// No magic, 20-byte events.
    P20,
    /// No magic, 24-byte events.
    P24,
    /// No magic, 28-byte events, device count of eight bytes.
    P28,
    /// No magic, 32-byte events.
    P32,
    /// Version 1.
    V1,
    /// Version 2.
    V2,
    /// Version 3.
    V3,
}

impl Layout {
    /// Every layout.
    pub const ALL: [Self; 7] =
        [Self::P20, Self::P24, Self::P28, Self::P32, Self::V1, Self::V2, Self::V3];

    /// Returns the name in lower case.
    pub fn name(self) -> &'static str {
        ["p20", "p24", "p28", "p32", "v1", "v2", "v3"][self as usize]
    }

    /// Returns the size of an event in bytes.
    pub fn stride(self) -> usize {
        [20, 24, 28, 32, 32, 26, 26][self as usize]
    }

    /// Returns whether the layout counts its events.
    pub fn counts(self) -> bool {
        self >= Self::V2
    }
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Index of the device.
    pub device: i32,
    /// Microseconds.
    pub time: i64,
    /// Type.
    pub kind: u16,
    /// Code.
    pub code: u16,
    /// Value.
    pub value: i32,
}

/// `EV_SYN SYN_REPORT`.
pub const SYN: (u16, u16) = (0, 0);
/// `EV_ABS ABS_MT_SLOT`.
pub const SLOT: (u16, u16) = (3, 0x2f);
/// `EV_ABS ABS_MT_TRACKING_ID`.
pub const ID: (u16, u16) = (3, 0x39);
/// `EV_ABS ABS_MT_POSITION_X`.
pub const X: (u16, u16) = (3, 0x35);
/// `EV_ABS ABS_MT_POSITION_Y`.
pub const Y: (u16, u16) = (3, 0x36);
/// `EV_KEY BTN_TOUCH`.
pub const TOUCH: (u16, u16) = (1, 0x14a);
/// `EV_KEY KEY_A`.
pub const KEY_A: (u16, u16) = (1, 30);
/// `EV_KEY KEY_ENTER`.
pub const ENTER: (u16, u16) = (1, 28);
/// `EV_KEY BTN_SOUTH`.
pub const SOUTH: (u16, u16) = (1, 0x130);
/// `EV_ABS ABS_X`.
pub const ABS_X: (u16, u16) = (3, 0);
/// `EV_REL REL_X`.
pub const REL_X: (u16, u16) = (2, 0);

/// An axis as the gamepad describes it: code, value, minimum, maximum, fuzz, flat, resolution.
pub type Axis = [i32; 7];

/// A gamepad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gamepad {
    /// Bus, vendor, product, version.
    pub id: [u16; 4],
    /// The name.
    pub name: Vec<u8>,
    /// Bits of types.
    pub types: u32,
    /// Bitmaps in the order of the file: abs, rel, key.
    pub bits: [[u8; 96]; 3],
    /// The axes.
    pub axes: Vec<Axis>,
}

impl Gamepad {
    /// Returns a gamepad with two axes and a button.
    pub fn pad() -> Self {
        let mut bits = [[0; 96]; 3];
        bits[0][0] = 0b11;
        bits[2][0x130 / 8] = 0b1;
        let axes = vec![[0, 0, -128, 127, 0, 15, 0], [1, 0, -128, 127, 0, 15, 0]];
        let id = [3, 0x45e, 0x28e, 0x114];
        Self { id, name: b"forged pad".to_vec(), types: 0xb, bits, axes }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.id.iter().flat_map(|part| part.to_le_bytes()).collect();
        bytes.extend((self.name.len() as u32).to_le_bytes());
        bytes.extend(&self.name);
        bytes.extend(self.types.to_le_bytes());
        bytes.extend(self.bits.concat());
        bytes.extend((self.axes.len() as u32).to_le_bytes());
        bytes.extend(self.axes.iter().flatten().flat_map(|value| value.to_le_bytes()));
        bytes
    }
}

/// A recording that is built later. Every field may be changed; [`Recording::new`] makes a sound
/// one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The layout.
    pub layout: Layout,
    /// Paths of the devices.
    pub paths: Vec<Vec<u8>>,
    /// The only device, instead of paths.
    pub gamepad: Option<Gamepad>,
    /// The events.
    pub events: Vec<Event>,
    /// The count in the header; the number of events if it is not set.
    pub count: Option<u64>,
    /// Start and end in microseconds; around the events if not set.
    pub times: Option<[(u64, u64); 2]>,
    /// Bytes after the events.
    pub tail: Vec<u8>,
    now: i64,
}

/// A recording as bytes, and the places of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The file.
    pub bytes: Vec<u8>,
    /// The layout.
    pub layout: Layout,
    /// Offset of the event count, in layouts that have one.
    pub prefix: usize,
    /// Offset of the first event.
    pub events: usize,
    /// Number of events.
    pub count: usize,
    /// Offsets after the last event of each frame.
    pub frames: Vec<usize>,
}

impl Recording {
    /// Returns a recording of a keyboard and a touch screen, without events.
    pub fn new(layout: Layout) -> Self {
        // Version 3 counts the time since boot.
        let now = if layout == Layout::V3 { 2_671_000_000 } else { 1_375_894_916_000_000 };
        let paths = vec![b"/dev/input/event0".to_vec(), b"/dev/input/event1".to_vec()];
        Self {
            layout,
            paths,
            gamepad: None,
            events: Vec::new(),
            count: None,
            times: None,
            tail: Vec::new(),
            now,
        }
    }

    /// Returns a recording of a gamepad, without events.
    pub fn gamepad(layout: Layout) -> Self {
        Self { gamepad: Some(Gamepad::pad()), paths: Vec::new(), ..Self::new(layout) }
    }

    /// Returns the time of the next event in microseconds.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// Lets `micros` microseconds pass before the next event.
    pub fn wait(&mut self, micros: i64) -> &mut Self {
        self.now += micros;
        self
    }

    /// Adds events of one device at the same time.
    pub fn add(&mut self, device: i32, events: &[((u16, u16), i32)]) -> &mut Self {
        let time = self.now;
        let event = |((kind, code), value): &((u16, u16), i32)| Event {
            device,
            time,
            kind: *kind,
            code: *code,
            value: *value,
        };
        self.events.extend(events.iter().map(event));
        self
    }

    /// Adds events and their SYN_REPORT, 10 ms after the last event.
    pub fn frame(&mut self, device: i32, events: &[((u16, u16), i32)]) -> &mut Self {
        self.wait(10_000).add(device, events).add(device, &[(SYN, 0)])
    }

    /// Adds a finger that touches the screen and leaves it.
    pub fn tap(&mut self, id: i32) -> &mut Self {
        self.frame(1, &[(ID, id), (X, 100), (Y, 200), (TOUCH, 1)]);
        self.frame(1, &[(ID, -1), (TOUCH, 0)])
    }

    /// Adds the events that the recorder adds when the return key ends it.
    pub fn enter(&mut self) -> &mut Self {
        let (before, time) = (self.events.len(), self.now);
        self.add(0, &[(ENTER, 0), (SYN, 0)]);
        if self.layout.counts() {
            let pair: Vec<u8> =
                self.events.drain(before..).flat_map(|event| encode(self.layout, &event)).collect();
            self.tail.extend(pair);
        }
        self.now = time;
        self
    }

    /// Builds the file.
    pub fn build(&self) -> Built {
        let mut bytes = Vec::new();
        if self.layout >= Layout::V1 {
            bytes.extend(b"REVENT");
            let version = self.layout as u16 - Layout::V1 as u16 + 1;
            bytes.extend(version.to_le_bytes());
        }
        if self.layout >= Layout::V2 {
            bytes.extend(u16::from(self.gamepad.is_some()).to_le_bytes());
            bytes.extend([0; 6]);
        }
        match &self.gamepad {
            Some(gamepad) => bytes.extend(gamepad.bytes()),
            None => {
                bytes.extend((self.paths.len() as u32).to_le_bytes());
                if self.layout == Layout::P28 {
                    bytes.extend([0; 4]);
                }
                for path in &self.paths {
                    bytes.extend((path.len() as u32).to_le_bytes());
                    bytes.extend(path);
                }
            }
        }
        let prefix = bytes.len();
        if self.layout.counts() {
            bytes.extend(self.count.unwrap_or(self.events.len() as u64).to_le_bytes());
        }
        if self.layout == Layout::V3 {
            for (sec, usec) in self.times.unwrap_or_else(|| self.around()) {
                bytes.extend(sec.to_le_bytes());
                bytes.extend(usec.to_le_bytes());
            }
        }
        let events = bytes.len();
        let mut frames = Vec::new();
        for event in &self.events {
            bytes.extend(encode(self.layout, event));
            if (event.kind, event.code) == SYN {
                frames.push(bytes.len());
            }
        }
        bytes.extend(&self.tail);
        Built { bytes, layout: self.layout, prefix, events, count: self.events.len(), frames }
    }

    /// Returns a second before the first event and a second after the last.
    fn around(&self) -> [(u64, u64); 2] {
        let split = |time: i64| ((time / 1_000_000) as u64, (time % 1_000_000) as u64);
        let first = self.events.iter().map(|event| event.time).min().unwrap_or(self.now);
        let last = self.events.iter().map(|event| event.time).max().unwrap_or(self.now);
        [split(first - 1_000_000), split(last + 1_000_000)]
    }
}

/// Returns an event as bytes.
pub fn encode(layout: Layout, event: &Event) -> Vec<u8> {
    let (sec, usec) = (event.time.div_euclid(1_000_000), event.time.rem_euclid(1_000_000));
    let mut bytes = Vec::new();
    match layout {
        Layout::V2 | Layout::V3 => bytes.extend((event.device as u16).to_le_bytes()),
        _ => bytes.extend(event.device.to_le_bytes()),
    }
    if matches!(layout, Layout::P24 | Layout::P32 | Layout::V1) {
        bytes.extend([0xef, 0xbe, 0xad, 0xde]);
    }
    if matches!(layout, Layout::P20 | Layout::P24) {
        bytes.extend((sec as i32).to_le_bytes());
        bytes.extend((usec as i32).to_le_bytes());
    } else {
        bytes.extend(sec.to_le_bytes());
        bytes.extend(usec.to_le_bytes());
    }
    bytes.extend(event.kind.to_le_bytes());
    bytes.extend(event.code.to_le_bytes());
    bytes.extend(event.value.to_le_bytes());
    bytes
}

impl Built {
    /// Returns the offset of event number `index`.
    pub fn at(&self, index: usize) -> usize {
        self.events + index * self.layout.stride()
    }

    /// Returns the first `len` bytes.
    pub fn cut(&self, len: usize) -> Vec<u8> {
        self.bytes[..len].to_vec()
    }

    /// Returns the file with `new` at offset `at`.
    pub fn with(&self, at: usize, new: &[u8]) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes[at..at + new.len()].copy_from_slice(new);
        bytes
    }

    /// Returns the file of a killed recorder: no count, no times, and a length of full buffers of
    /// `buffer` bytes (4096 in a real recorder).
    pub fn killed(&self, buffer: usize) -> Vec<u8> {
        let past = if self.layout >= Layout::V2 { 16 } else { 0 };
        let whole = (self.bytes.len() - past) / buffer * buffer;
        let mut bytes = self.cut(past + whole);
        if self.layout.counts() {
            let end = self.events.min(bytes.len());
            bytes[self.prefix.min(end)..end].fill(0);
        }
        bytes
    }

    /// Returns the file with `new` at byte `at` of event number `index`.
    pub fn with_event(&self, index: usize, at: usize, new: &[u8]) -> Vec<u8> {
        self.with(self.at(index) + at, new)
    }
}

/// Returns a recording of two fingers with slots, a button and a mouse, as most recordings are.
pub fn session(layout: Layout) -> Recording {
    let mut recording = Recording::new(layout);
    recording.tap(7);
    recording.frame(1, &[(ID, 8), (X, 10), (Y, 20), (TOUCH, 1)]);
    recording.frame(1, &[(SLOT, 1), (ID, 9), (X, 30), (Y, 40)]);
    recording.frame(0, &[(REL_X, -3)]);
    recording.frame(1, &[(SLOT, 0), (ID, -1), (SLOT, 1), (ID, -1), (TOUCH, 0)]);
    recording.frame(0, &[(KEY_A, 1)]);
    recording.frame(0, &[(KEY_A, 0)]);
    recording
}

/// Returns a recording with presses and axes of a gamepad.
pub fn play(layout: Layout) -> Recording {
    let mut recording = Recording::gamepad(layout);
    for step in 0..3 {
        recording.frame(0, &[(ABS_X, step * 30 - 30), (SOUTH, 1)]);
        recording.frame(0, &[(ABS_X, 0), (SOUTH, 0)]);
    }
    recording
}

/// Returns sound recordings with their names.
pub fn clean() -> Vec<(String, Built)> {
    let mut all: Vec<(String, Built)> = Vec::new();
    for layout in Layout::ALL {
        let name = layout.name();
        all.push((format!("session_{name}"), session(layout).build()));
        all.push((format!("ended_by_return_{name}"), session(layout).enter().build()));
        if layout.counts() {
            all.push((format!("gamepad_{name}"), play(layout).build()));
        }
    }
    // Contacts without slots: each ends in SYN_MT_REPORT, and an empty one means no contact.
    let mut unslotted = Recording::new(Layout::V3);
    unslotted.frame(1, &[(X, 1), (Y, 2), ((0, 2), 0), (X, 3), (Y, 4), ((0, 2), 0)]);
    unslotted.frame(1, &[((0, 2), 0)]);
    all.push(("protocol_a".into(), unslotted.build()));
    // Events of two devices may overlap a little; the time of each device ascends.
    let mut across = Recording::new(Layout::V3);
    across.tap(1).wait(-15_000).frame(0, &[(KEY_A, 1)]).frame(0, &[(KEY_A, 0)]);
    all.push(("two_devices_overlap".into(), across.build()));
    all
}

/// Returns sound recordings with their names, as bytes.
pub fn all() -> Vec<(String, Vec<u8>)> {
    clean().into_iter().map(|(name, built)| (name, built.bytes)).collect()
}
