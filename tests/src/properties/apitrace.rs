//! Laws of apitrace traces, besides those of all recordings: options, containers, damaged streams.

use arbitrary::Arbitrary;
use tracemend::FormatId;
use tracemend::{Choices, FileSet, Options};

use super::{Held, ensure, recording, seed};
use crate::forge::apitrace::{Container, Detail, Stream, Value, call_heavy, clean};
use crate::known_originals::{Dice, damage};

fn options(choices: Choices) -> Options {
    Options { format: Some(FormatId::APITRACE), choices, ..Options::default() }
}

/// Tests check, tiles and repair, with the bytes as a trace.
pub fn every(bytes: &[u8]) -> Held {
    chosen(bytes, Choices::default())
}

/// As [`every`], with what the user decides.
pub fn chosen(bytes: &[u8], choices: Choices) -> Held {
    let files = FileSet::single("recording", bytes);
    let options = options(choices);
    recording::checked_with(&files, &options)?;
    recording::repaired_with(&files, &options)
}

/// Tests a trace with one of the options.
pub fn container(bytes: &[u8]) -> Held {
    let mut choices = Choices::default();
    if seed(bytes) & 1 != 0 {
        choices.set("close-calls", "").unwrap();
    }
    if let Some(part) = [None, Some("1"), Some("2")][seed(bytes) as usize / 2 % 3] {
        choices.set("part", part).unwrap();
    }
    chosen(bytes, choices)
}

/// Tests a bare stream in one of the containers.
pub fn stream(bytes: &[u8]) -> Held {
    let container = Container::ALL[seed(bytes) as usize % Container::ALL.len()];
    every(&container.file(bytes))
}

/// Tests a sound stream that is damaged before it is stored. Four bytes describe each damage: place
/// and kind.
pub fn mutated(bytes: &[u8]) -> Held {
    let Some((first, rest)) = bytes.split_first() else { return Ok(()) };
    let sound = clean();
    let which = usize::from(*first) % (sound.len() + 1);
    let mut stream = match sound.get(which) {
        Some(clean) => clean.stream.bytes.clone(),
        None => call_heavy(40).bytes,
    };
    for step in rest.chunks_exact(4).take(16) {
        let at = usize::from(u16::from_le_bytes([step[0], step[1]])) % stream.len().max(1);
        let len = usize::from(step[3]).min(stream.len() - at);
        match step[2] % 5 {
            0 => stream.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= step[3] | 1),
            1 => drop(stream.drain(at..at + len)),
            2 => stream[at..at + len].fill(0),
            3 => {
                let again = stream[at..at + len].to_vec();
                stream.splice(at..at, again);
            }
            _ => stream.truncate(at),
        }
    }
    self::stream(&stream)
}

/// A description of a trace and of its damage. Every value is valid.
#[derive(Arbitrary, Clone, Debug)]
pub struct Description {
    /// Selects the version of the stream.
    pub version: u8,
    /// Selects the container.
    pub container: u8,
    /// The calls.
    pub calls: Vec<Call>,
    /// The numbers that drive the damage of the file; none in a sound trace.
    pub damage: Vec<u8>,
}

/// A call of a description.
#[derive(Arbitrary, Clone, Debug)]
pub struct Call {
    /// Its thread, below 4.
    pub thread: u8,
    /// Its function, below 16, which also is the number of its arguments modulo 4.
    pub function: u8,
    /// The kind of each argument, and a number for its content.
    pub arguments: [(u8, u32); 3],
    /// Whether it has a backtrace, flags and a result.
    pub details: u8,
}

/// Greatest number of calls of a description.
const CALLS_MAX: usize = 64;

/// Tests the laws on the trace of a description; without damage it has no error.
pub fn described(description: &Description) -> Held {
    let mut stream = Stream::new(u64::from(description.version) % 7);
    for call in description.calls.iter().take(CALLS_MAX) {
        push_call(&mut stream, call);
    }
    let container = Container::ALL[usize::from(description.container) % Container::ALL.len()];
    let sound = container.file(&stream.bytes);
    if container == Container::Brotli && description.calls.is_empty() {
        // Brotli has no magic: without an event the file may be anything.
        return every(&sound);
    }
    if description.damage.is_empty() {
        let files = FileSet::single("recording", &sound);
        let report = tracemend::check(&files, &options(Choices::default()));
        ensure(!report.has_errors(), "a sound trace has no error", || {
            format!("{:?}", report.findings())
        })?;
        return every(&sound);
    }
    let original = vec![("recording".to_string(), sound)];
    let damaged = damage::damage(&original, &mut Dice::new(&description.damage));
    every(&damaged.files[0].1)
}

fn push_call(stream: &mut Stream, call: &Call) {
    let function = u64::from(call.function % 16);
    let count = function % 4;
    let arguments = (0..count).zip(call.arguments);
    let mut entered: Vec<Detail> =
        arguments.map(|(index, (kind, number))| Detail::Arg(index, value(kind, number))).collect();
    if call.details & 1 != 0 {
        entered.push(Detail::Flags(u64::from(call.details >> 4)));
    }
    if call.details & 2 != 0 {
        entered.push(Detail::Backtrace(vec![u64::from(call.details >> 5), 9]));
    }
    let number = stream.enter(u64::from(call.thread % 4), function, count, &entered);
    let result = value(call.details, call.arguments[0].1);
    let left = (call.details & 4 != 0).then_some(Detail::Ret(result));
    stream.leave(number, left.as_slice());
}

fn value(kind: u8, number: u32) -> Value {
    let bytes = || number.to_le_bytes().repeat(1 + usize::from(kind >> 4));
    let words = || number.to_le_bytes().map(|byte| b'a' + byte % 26).to_vec();
    let wide = u64::from(number);
    match kind % 16 {
        0 => Value::Null,
        1 => Value::Bool(number & 1 == 1),
        2 => Value::Negative(wide),
        3 => Value::Uint(wide << 16),
        4 => Value::Float(f32::from_bits(number)),
        5 => Value::Double(f64::from(number)),
        6 => Value::String(words()),
        7 => Value::Blob(bytes()),
        8 => Value::Enum(wide % 3, i64::from(number) - 7),
        9 => Value::Bitmask(wide % 3, wide),
        10 => Value::Array(vec![Value::Uint(wide), Value::String(words())]),
        11 => Value::Struct(0, vec![Value::Uint(wide), Value::Null]),
        12 => Value::Repr(Box::new(Value::String(words())), Box::new(Value::Blob(bytes()))),
        13 => Value::Wide(vec![u64::from(b'w'), 0x20ac]),
        _ => Value::Opaque(wide << 4),
    }
}
