//! ovni: an event of a stream is a record.

use std::path::Path;
use std::sync::LazyLock;

use tracemend::FormatId;

use super::{Bound, Bounds, Files, Original, Reach, Record, Subject};
use crate::forge::ovni::{Trace, clean};

/// The format.
pub static SUBJECT: Subject = Subject {
    format: FormatId::OVNI,
    originals: LazyLock::new(originals),
    records,
    places: |_| Vec::new(),
    flags: |_| Vec::new(),
    reach: Reach::Everything,
    remains: None,
    judge: None,
    bounds: Bounds {
        false_labels: Bound::NONE,
        losing: Bound::new(340, "events that damaged ones contradict are dropped or shifted"),
        given_up: Bound::new(60, "damaged metadata has no second copy"),
        unclean: Bound::NONE,
        unstable: Bound::NONE,
    },
};

fn originals() -> Vec<Original> {
    let files = |trace: Trace| -> Files {
        let files = trace.files.into_iter();
        files.filter_map(|(name, bytes)| Some((name, bytes?))).collect()
    };
    let mut all: Vec<Original> = clean()
        .into_iter()
        .map(|clean| Original { name: clean.name.to_string(), files: files(clean.trace) })
        .collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/ovni/clean");
    for name in ["attach", "looms", "nanos6", "openmp", "parallel", "tampi"] {
        let trace = Trace::below(&folder.join(name));
        all.push(Original { name: format!("corpus {name}"), files: files(trace) });
    }
    all
}

/// Bytes of the header of a stream.
const HEADER: usize = 8;
/// Bytes of an event before its payload.
const EVENT: usize = 12;

/// Returns the length of the event at an offset.
fn event_len(bytes: &[u8], at: usize) -> Option<usize> {
    let flags = *bytes.get(at)?;
    let payload = match flags & 0xf {
        0 => 0,
        size => usize::from(size) + 1,
    };
    if flags & 0x10 == 0 {
        return Some(EVENT + payload);
    }
    let size = bytes.get(at + EVENT..at + EVENT + 4)?.try_into().ok()?;
    Some(EVENT + 4 + u32::from_le_bytes(size) as usize)
}

fn records(_: &Original, files: &Files) -> Vec<Record> {
    let mut found = Vec::new();
    for (file, (name, bytes)) in files.iter().enumerate() {
        if !name.ends_with(".obs") {
            continue;
        }
        let mut at = HEADER;
        while let Some(len) = event_len(bytes, at).filter(|len| at + len <= bytes.len()) {
            let identity = bytes[at..at + len].to_vec();
            found.push(Record { file, stored: at..at + len, needs: Vec::new(), identity });
            at += len;
        }
    }
    found
}
