//! An apitrace trace that may be anything: the laws of all recordings, and damage inside the stream.

use tracemend::FormatId;
use tracemend::{Choices, FileSet, Options};

use super::{Held, recording, seed};
use crate::forge::apitrace::{Container, call_heavy, clean};

fn options(choices: Choices) -> Options {
    Options { format: Some(FormatId::APITRACE), choices, ..Options::default() }
}

/// Check, tiles and repair, taking the bytes for a trace.
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

/// A trace as it comes, with one of the user's choices.
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

/// A bare stream, in each of the containers by turns.
pub fn stream(bytes: &[u8]) -> Held {
    let container = Container::ALL[seed(bytes) as usize % Container::ALL.len()];
    every(&container.file(bytes))
}

/// Bytes that say what happens to a sound stream before it is stored: four each, the place and what
/// is done there.
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
