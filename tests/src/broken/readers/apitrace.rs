//! apitrace: `apitrace dump --verbose` prints a line per call. The number of a call is its place,
//! not its label: a lost call before it does not make it another one.

use super::{Left, Reading, Shown, Sound};
use crate::judge::apitrace::Apitrace;
use crate::judge::apitrace::survival::{self, readable};
use crate::known_originals::apitrace::call_spans;
use crate::known_originals::{Damaged, Files};

/// Reads a trace. One in zstd, which apitrace 11.1 does not know, is stored in snappy first.
pub(super) fn read(judge: &Apitrace, files: &Files) -> Reading {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let verdict = judge.dump(&readable(folder.path(), &files[0].1));
    let last = verdict.stderr.lines().last().unwrap_or_default();
    let accepted = match verdict.is_silent() {
        true => Ok(()),
        false => Err(format!("{:?}: {last}", verdict.code)),
    };
    let shown = verdict.calls.into_values();
    let shown = shown.map(|label| Shown { lane: String::new(), label, offset: None, bytes: None });
    Reading { accepted, shown: shown.collect() }
}

/// Finds the calls in the stream.
pub(super) fn place(sound: &mut Sound) -> Option<()> {
    let (_, bytes) = sound.original.files.first()?;
    let (group, container) = match bytes.as_slice() {
        [b'a', b't', ..] => ("apitrace, snappy", "snappy"),
        [0x1f, 0x8b, ..] => ("apitrace, gzip", "gzip"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => ("apitrace, zstd", "zstd"),
        _ => ("apitrace, brotli", "brotli"),
    };
    sound.group = group;
    let lines = sound.shown.iter().enumerate();
    let calls = lines.map(|(number, shown)| (number as u64, shown.label.clone())).collect();
    let name = &sound.original.name;
    let trace = survival::Original::stored(name, (container, bytes.clone()), calls);
    let is_whole = call_spans(&trace.stream).len() == sound.shown.len();
    sound.trace = Some((container, trace));
    is_whole.then_some(())
}

/// Returns which calls can still be read. One needs the definitions of its function and values.
pub(super) fn left(container: &str, trace: &survival::Original, damaged: &Damaged) -> Vec<Left> {
    let mut places = vec![None; trace.file(container).len()];
    for segment in &damaged.segments[0] {
        for (index, at) in segment.original.clone().enumerate() {
            if let Some(place) = places.get_mut(at) {
                *place = Some(segment.at + index);
            }
        }
    }
    let mut left = vec![Left::default(); trace.calls.len()];
    for (number, is_due) in trace.calls_left_at(container, &places) {
        if let Some(call) = left.get_mut(number as usize) {
            *call = Left { is_spared: true, is_due };
        }
    }
    left
}
