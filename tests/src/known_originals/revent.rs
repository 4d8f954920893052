//! revent: an event is a record that needs its frame, because the kernel acts on complete frames
//! and a repair cuts an open frame at the end. The layout of the original says how long an event
//! is.

use std::sync::LazyLock;

use tracemend::FormatId;

use super::{Bound, Bounds, Files, Original, Reach, Record, Subject, corpus};
use crate::forge::revent::{Layout, clean, play, session};
use crate::judge::revent::Wlauto;

/// The format.
pub static SUBJECT: Subject = Subject {
    format: FormatId::REVENT,
    originals: LazyLock::new(originals),
    records,
    places: |_| Vec::new(),
    flags: |_| Vec::new(),
    reach: Reach::Everything,
    remains: None,
    judge: Some(accepted),
    bounds: Bounds {
        false_labels: Bound::NONE,
        losing: Bound::new(30, "a lone event between two damages is not believed"),
        given_up: Bound::new(51, "the description of a gamepad, and short recordings"),
        unclean: Bound::NONE,
        unstable: Bound::NONE,
    },
};

/// The forge, longer recordings of each layout, and the corpus.
fn originals() -> Vec<Original> {
    let mut all: Vec<Original> = Vec::new();
    for (name, built) in clean() {
        all.push(Original::single(name, built.bytes));
    }
    for layout in Layout::ALL {
        for times in [8, 60] {
            let mut long = session(layout);
            for id in 0..times {
                long.wait(30_000).tap(100 + id);
            }
            let name = format!("long_{times}_{}", layout.name());
            all.push(Original::single(name, long.build().bytes));
        }
    }
    let mut pad = play(Layout::V3);
    for step in 0..300 {
        pad.frame(0, &[(crate::forge::revent::ABS_X, step % 100)]);
    }
    all.push(Original::single("long_gamepad_v3", pad.build().bytes));
    all.extend(corpus("revent"));
    all
}

/// Returns the layout of a recording: by its magic, else by its name.
fn layout(original: &Original) -> Layout {
    let bytes = &original.files[0].1;
    if bytes.starts_with(b"REVENT") {
        return [Layout::V1, Layout::V2, Layout::V3][usize::from(bytes[6]) - 1];
    }
    let named = Layout::ALL.into_iter().find(|layout| original.name.contains(layout.name()));
    // The published recordings of the Nexus 10 are of a 32-bit recorder.
    named.unwrap_or(Layout::P20)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize)
}

/// Returns where the events begin, and how many the header counts.
fn events(bytes: &[u8], layout: Layout) -> Option<(usize, usize)> {
    let mut at = match layout {
        Layout::V1 => 8,
        Layout::V2 | Layout::V3 => 16,
        _ => 0,
    };
    if layout.counts() && *bytes.get(8)? == 1 {
        at += 8;
        at += 4 + u32_at(bytes, at)? + 4 + 3 * 96;
        at += 4 + 28 * u32_at(bytes, at)?;
    } else {
        let devices = u32_at(bytes, at)?;
        at += if layout == Layout::P28 { 8 } else { 4 };
        for _ in 0..devices {
            at += 4 + u32_at(bytes, at)?;
        }
    }
    if !layout.counts() {
        return Some((at, usize::MAX));
    }
    let count = u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?);
    Some((at + if layout == Layout::V3 { 40 } else { 8 }, count.try_into().ok()?))
}

fn records(original: &Original, files: &Files) -> Vec<Record> {
    let layout = layout(original);
    let bytes = &files[0].1;
    let Some((start, count)) = events(bytes, layout) else { return Vec::new() };
    let stride = layout.stride();
    let whole = bytes.len().saturating_sub(start) / stride;
    let events = (0..whole.min(count)).map(|number| start + number * stride);
    let mut found: Vec<Record> = Vec::new();
    let mut open = Vec::new();
    for at in events {
        open.push(at);
        // Type and code of SYN_REPORT are 0; the value follows them.
        if bytes[at + stride - 8..at + stride - 4] == [0; 4] {
            let stored = open[0]..at + stride;
            let record = |at: usize| Record {
                file: 0,
                identity: bytes[at..at + stride].to_vec(),
                stored: stored.clone(),
                needs: Vec::new(),
            };
            found.extend(open.drain(..).map(record));
        }
    }
    found
}

/// Asks Workload Automation's reader.
fn accepted(outputs: &[Files]) -> Option<Vec<Result<(), String>>> {
    let reader = Wlauto::find_or_skip()?;
    let outputs: Vec<Vec<u8>> = outputs.iter().map(|files| files[0].1.clone()).collect();
    Some(reader.read(&outputs).into_iter().map(|read| read.map(|_| ())).collect())
}
