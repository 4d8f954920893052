//! ovni: `ovnidump -x` prints a line per event, `ovniemu -l` accepts a trace.

use std::collections::BTreeMap;

use super::{Place, Reading, Shown, Sound};
use crate::forge::ovni::Trace;
use crate::judge::ovni::Ovniemu;
use crate::known_originals::Files;
use crate::known_originals::ovni::SUBJECT;

/// The file of a stream.
const STREAM: &str = "/stream.obs";

/// Reads a trace.
pub(super) fn read(judge: &Ovniemu, files: &Files) -> Reading {
    let named = files.iter().map(|(name, bytes)| (name.clone(), Some(bytes.clone())));
    let trace = Trace { files: named.collect() };
    let verdict = judge.lint(&trace);
    let accepted = if verdict.accepted { Ok(()) } else { Err(verdict.first_error) };
    let lines = judge.lines(&trace).unwrap_or_default();
    let mut shown: Vec<Shown> = lines.lines().filter_map(event).collect();
    // Streams are printed together, by clock.
    shown.sort_by(|one, two| one.lane.cmp(&two.lane));
    Reading { accepted, shown }
}

/// Reads a line: clock, code, folder of the stream, payload.
fn event(line: &str) -> Option<Shown> {
    let mut words = line.split_whitespace();
    let (clock, code, lane) = (words.next()?, words.next()?, words.next()?.to_string());
    let payload = words.next().unwrap_or_default();
    Some(Shown { lane, label: format!("{clock} {code} {payload}"), offset: None, bytes: None })
}

/// Finds the events in the streams.
pub(super) fn place(sound: &mut Sound) -> Option<()> {
    sound.group = "ovni";
    let files = &sound.original.files;
    let mut by_lane: BTreeMap<&str, Vec<Place>> = BTreeMap::new();
    for record in (SUBJECT.records)(&sound.original, files) {
        let lane = files[record.file].0.strip_suffix(STREAM)?;
        let metadata = format!("{lane}/stream.json");
        let metadata = files.iter().position(|(name, _)| *name == metadata)?;
        let needs = vec![(metadata, 0..files[metadata].1.len())];
        let place = Place { own: (record.file, record.stored), needs };
        by_lane.entry(lane).or_default().push(place);
    }
    for (lane, places) in &by_lane {
        let count = sound.shown.iter().filter(|shown| shown.lane == **lane).count();
        if count != places.len() {
            return None;
        }
    }
    sound.places = by_lane.into_values().flatten().collect();
    (sound.places.len() == sound.shown.len()).then_some(())
}
