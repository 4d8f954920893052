//! apitrace traces, byte by byte.
//!
//! [`Stream`] writes events like apitrace's own writer (`lib/trace/trace_writer.cpp`), and any
//! other bytes with `raw`; [`container`] stores them. It shares no code with the library under
//! test. The brotli stream is stored without compression.

pub mod clean;
pub mod container;

use std::collections::{BTreeMap, BTreeSet};

pub use clean::{Clean, all, call_heavy, clean, old_threads, structs, threaded};
pub use container::{Container, chunks, snappy, snappy_of, zstd};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Null pointer.
    Null,
    /// False or true.
    Bool(bool),
    /// The magnitude of a negative integer.
    Negative(u64),
    /// An integer.
    Uint(u64),
    /// 32 bits.
    Float(f32),
    /// 64 bits.
    Double(f64),
    /// Text.
    String(Vec<u8>),
    /// Bytes.
    Blob(Vec<u8>),
    /// Id of a signature, and a value of it.
    Enum(u64, i64),
    /// Id of a signature, and flags.
    Bitmask(u64, u64),
    /// Values.
    Array(Vec<Value>),
    /// Id of a signature, and its members.
    Struct(u64, Vec<Value>),
    /// An address.
    Opaque(u64),
    /// For people and for machines.
    Repr(Box<Value>, Box<Value>),
    /// Code points.
    Wide(Vec<u64>),
}

/// A detail of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Detail {
    /// An argument.
    Arg(u64, Value),
    /// The value that the call returned.
    Ret(Value),
    /// Ids of stack frames.
    Backtrace(Vec<u64>),
    /// Flags.
    Flags(u64),
}

/// The id of the struct of Direct3D that names an interface.
pub const GUID: u64 = 900;

/// A value of that struct.
pub fn guid(first: u64, second: u64, third: u64, bytes: [u8; 8]) -> Value {
    let bytes = bytes.map(|byte| Value::Uint(byte.into())).to_vec();
    let members = [first, second, third].map(Value::Uint);
    Value::Struct(GUID, [members.as_slice(), &[Value::Array(bytes)]].concat())
}

/// Writes a stream.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// The bytes so far.
    pub bytes: Vec<u8>,
    /// Where each event begins.
    pub events: Vec<usize>,
    /// The number of each call that was left, and where its leave ends.
    pub left: Vec<(u64, usize)>,
    version: u64,
    known: BTreeSet<(u8, u64)>,
    /// Names of functions that have other ones than most.
    names: BTreeMap<u64, String>,
    /// Names of their arguments.
    arguments: BTreeMap<u64, &'static [&'static str]>,
    calls: u64,
}

/// Encodes an integer in its shortest form.
pub fn uint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn text(bytes: &[u8]) -> Vec<u8> {
    [uint(bytes.len() as u64).as_slice(), bytes].concat()
}

impl Stream {
    /// A stream of a version, without properties.
    pub fn new(version: u64) -> Self {
        let mut stream = Self { version, ..Self::default() };
        stream.bytes = uint(version);
        if version >= 6 {
            stream.bytes.extend([6, 0]);
        }
        stream
    }

    /// A stream of version 6 with properties.
    pub fn with_properties(properties: &[(&str, &str)]) -> Self {
        let mut stream = Self { version: 6, bytes: vec![6, 6], ..Self::default() };
        for (name, value) in properties {
            stream.bytes.extend(text(name.as_bytes()));
            stream.bytes.extend(text(value.as_bytes()));
        }
        stream.bytes.push(0);
        stream
    }

    /// Bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Numbers of calls that were entered.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    fn first(&mut self, space: u8, id: u64) -> bool {
        self.bytes.extend(uint(id));
        self.known.insert((space, id))
    }

    /// Forgets the definition of a function: the next use defines it again.
    pub fn forget(&mut self, function: u64) {
        self.known.remove(&(0, function));
    }

    /// Enters function `id`, which has `count` arguments. Returns the call's number.
    pub fn enter(&mut self, thread: u64, id: u64, count: u64, details: &[Detail]) -> u64 {
        self.events.push(self.bytes.len());
        self.bytes.push(0);
        if self.version >= 4 {
            self.bytes.extend(uint(thread));
        }
        if self.first(0, id) {
            let forged = || format!("glForged{id}");
            let name = self.names.get(&id).cloned().unwrap_or_else(forged);
            self.bytes.extend(text(name.as_bytes()));
            self.bytes.extend(uint(count));
            let names = self.arguments.get(&id).copied().unwrap_or_default();
            for index in 0..count {
                let forged = || format!("arg{index}");
                let name = names.get(index as usize).map_or_else(forged, ToString::to_string);
                self.bytes.extend(text(name.as_bytes()));
            }
        }
        self.details(details);
        self.calls += 1;
        self.calls - 1
    }

    /// Enters and leaves a function with a name of its own.
    pub fn named_call(&mut self, thread: u64, id: u64, name: &str, args: &[Value]) -> u64 {
        self.names.insert(id, name.to_string());
        self.call(thread, id, args)
    }

    /// Gives a function and its arguments names of their own.
    pub fn name(&mut self, id: u64, name: &str, arguments: &'static [&'static str]) -> &mut Self {
        self.names.insert(id, name.to_string());
        self.arguments.insert(id, arguments);
        self
    }

    /// Leaves a call.
    pub fn leave(&mut self, call: u64, details: &[Detail]) -> &mut Self {
        self.events.push(self.bytes.len());
        self.bytes.push(1);
        self.bytes.extend(uint(call));
        self.details(details);
        self.left.push((call, self.bytes.len()));
        self
    }

    /// Enters and leaves.
    pub fn call(&mut self, thread: u64, id: u64, args: &[Value]) -> u64 {
        let args: Vec<Detail> =
            (0..).zip(args).map(|(index, value)| Detail::Arg(index, value.clone())).collect();
        let number = self.enter(thread, id, args.len() as u64, &args);
        self.leave(number, &[]);
        number
    }

    fn details(&mut self, details: &[Detail]) {
        for detail in details {
            match detail {
                Detail::Arg(index, value) => {
                    self.bytes.push(1);
                    self.bytes.extend(uint(*index));
                    self.value(value);
                }
                Detail::Ret(value) => {
                    self.bytes.push(2);
                    self.value(value);
                }
                Detail::Backtrace(frames) => {
                    self.bytes.push(4);
                    self.bytes.extend(uint(frames.len() as u64));
                    for id in frames {
                        self.frame(*id);
                    }
                }
                Detail::Flags(flags) => {
                    self.bytes.push(5);
                    self.bytes.extend(uint(*flags));
                }
            }
        }
        self.bytes.push(0);
    }

    fn frame(&mut self, id: u64) {
        if self.first(4, id) {
            self.bytes.push(1);
            self.bytes.extend(text(b"/usr/lib/libforge.so"));
            if id.is_multiple_of(2) {
                self.bytes.push(2);
                self.bytes.extend(text(b"forge::main"));
                self.bytes.push(3);
                self.bytes.extend(text(b"main.cpp"));
                self.bytes.push(4);
                self.bytes.extend(uint(id + 100));
            }
            self.bytes.push(5);
            self.bytes.extend(uint(0x1000 + id));
            self.bytes.push(0);
        }
    }

    fn sint(&mut self, value: i64) {
        self.bytes.push(if value < 0 { 3 } else { 4 });
        self.bytes.extend(uint(value.unsigned_abs()));
    }

    /// A value.
    pub fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.bytes.push(0),
            Value::Bool(value) => self.bytes.push(1 + u8::from(*value)),
            Value::Negative(value) => {
                self.bytes.push(3);
                self.bytes.extend(uint(*value));
            }
            Value::Uint(value) => {
                self.bytes.push(4);
                self.bytes.extend(uint(*value));
            }
            Value::Float(value) => {
                self.bytes.push(5);
                self.bytes.extend(value.to_le_bytes());
            }
            Value::Double(value) => {
                self.bytes.push(6);
                self.bytes.extend(value.to_le_bytes());
            }
            Value::String(value) => {
                self.bytes.push(7);
                self.bytes.extend(text(value));
            }
            Value::Blob(value) => {
                self.bytes.push(8);
                self.bytes.extend(text(value));
            }
            Value::Enum(id, value) => self.enumeration(*id, *value),
            Value::Bitmask(id, flags) => {
                self.bytes.push(10);
                if self.first(3, *id) {
                    self.bytes.extend(uint(3));
                    for (name, flag) in [("NONE", 0), ("FORGE_A", 1), ("FORGE_B", 0x4000)] {
                        self.bytes.extend(text(name.as_bytes()));
                        self.bytes.extend(uint(flag));
                    }
                }
                self.bytes.extend(uint(*flags));
            }
            Value::Array(values) => {
                self.bytes.push(11);
                self.bytes.extend(uint(values.len() as u64));
                values.iter().for_each(|value| self.value(value));
            }
            Value::Struct(id, members) => {
                self.bytes.push(12);
                if self.first(1, *id) {
                    let forged = format!("ForgedStruct{id}");
                    let name = if *id == GUID { "GUID" } else { &forged };
                    self.bytes.extend(text(name.as_bytes()));
                    self.bytes.extend(uint(members.len() as u64));
                    for index in 0..members.len() {
                        self.bytes.extend(text(format!("member{index}").as_bytes()));
                    }
                }
                members.iter().for_each(|value| self.value(value));
            }
            Value::Opaque(value) => {
                self.bytes.push(13);
                self.bytes.extend(uint(*value));
            }
            Value::Repr(human, machine) => {
                self.bytes.push(14);
                self.value(human);
                self.value(machine);
            }
            Value::Wide(characters) => {
                self.bytes.push(15);
                self.bytes.extend(uint(characters.len() as u64));
                characters.iter().for_each(|one| self.bytes.extend(uint(*one)));
            }
        }
    }

    fn enumeration(&mut self, id: u64, value: i64) {
        self.bytes.push(9);
        let first = self.first(2, id);
        if self.version >= 3 {
            if first {
                self.bytes.extend(uint(2));
                self.bytes.extend(text(b"GL_FORGED"));
                self.sint(value);
                self.bytes.extend(text(b"GL_NEGATIVE"));
                self.sint(-7);
            }
            self.sint(value);
        } else if first {
            self.bytes.extend(text(b"GL_FORGED"));
            self.sint(value);
        }
    }
}
