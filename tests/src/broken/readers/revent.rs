//! revent: Workload Automation's own reader returns the events. It refuses recordings without a
//! magic, so those of the layouts before version 1 are not used.

use super::{Place, Reading, Shown, Sound};
use crate::judge::revent::Wlauto;
use crate::known_originals::Files;
use crate::known_originals::revent::SUBJECT;

/// Reads a recording.
pub(super) fn read(judge: &Wlauto, files: &Files) -> Reading {
    let answer = judge.read(std::slice::from_ref(&files[0].1)).remove(0);
    let (accepted, events) = match answer {
        Ok(read) => (Ok(()), read.events),
        Err(error) => (Err(error), Vec::new()),
    };
    let shown = events.into_iter().map(|event| Shown {
        lane: String::new(),
        label: format!("{event:?}"),
        offset: None,
        bytes: None,
    });
    Reading { accepted, shown: shown.collect() }
}

/// Finds the events. One belongs to a frame, which the kernel acts on as a whole.
pub(super) fn place(sound: &mut Sound) -> Option<()> {
    sound.group = "revent";
    let records = (SUBJECT.records)(&sound.original, &sound.original.files);
    let place = |stored| Place { own: (0, stored), needs: Vec::new() };
    sound.places = records.into_iter().map(|record| place(record.stored)).collect();
    (sound.places.len() == sound.shown.len()).then_some(())
}
