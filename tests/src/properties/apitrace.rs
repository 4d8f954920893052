//! Laws of apitrace traces, besides those of all recordings: options, containers, damaged streams.

use tracemend::FormatId;
use tracemend::{Choices, FileSet, Options};

use super::{Held, recording, seed};
use crate::forge::apitrace::{Container, call_heavy, clean};

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
