//! Bytes that a dump does not show.

use crate::format::Format;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::kit::span::Layer;
use crate::map;
use crate::model::difference::HiddenDifference;
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::row::Row;

/// Where the last record of each recording ended; `None` if it has no record.
pub(super) type Ends = [Option<u64>; 2];

/// Bytes that a difference shows.
const SHOWN: u64 = 16;
/// Bytes that are compared at once.
const CHUNK: u64 = 64 << 10;

/// Compares the bytes of two records, of which every member is equal. They are only known where a
/// recording is one file, and its records are stored as they are.
pub(super) fn find_in_record(
    files: [&FileSet<'_>; 2],
    lines: [&str; 2],
) -> Option<HiddenDifference> {
    if files.iter().any(|files| files.files().len() != 1) {
        return None;
    }
    let [Some(one), Some(two)] = lines.map(place_of) else { return None };
    let sources = files.map(|files| files.bytes(0));
    // Other lengths are padding.
    let len = one.1.min(two.1);
    let at = find([&sources[0], &sources[1]], [one.0, two.0], len)?;
    let offsets = [one.0, two.0].map(|start| start.saturating_add(at));
    Some(describe([&sources[0], &sources[1]], files[0].files().first()?.name.as_str(), offsets))
}

/// Returns where a record begins, and its length; `None` for one in an expanded layer.
fn place_of(line: &str) -> Option<(u64, u64)> {
    let row = Row::read(line).filter(|row| row.member("layer").is_none())?;
    Some((row.integer("offset")?.try_into().ok()?, row.integer("length")?.try_into().ok()?))
}

/// Compares all bytes of all files.
pub(super) fn find_anywhere(
    [one, two]: [&FileSet<'_>; 2],
    how: (&dyn Format, &Options),
) -> Option<HiddenDifference> {
    let are_single = one.files().len() == 1 && two.files().len() == 1;
    for (index, file) in (0_u32..).zip(one.files()) {
        let other = match are_single {
            true => two.files().first(),
            // Names may be there twice.
            false => {
                let same = two.files().get(to_usize(index.into()));
                let mut all = same.into_iter().chain(two.files());
                all.find(|other| other.name == file.name)
            }
        };
        let Some(other) = other else { return Some(missing(&file.name, [true, false])) };
        let sources = [&file.bytes, &other.bytes];
        if let Some(at) = find(sources, [0, 0], u64::MAX) {
            let found = describe(sources, &file.name, [at, at]);
            let place = name_place(one, how, (index, at));
            return Some(HiddenDifference { place, ..found });
        }
    }
    let is_new = |name: &str| one.files().iter().all(|file| file.name != name);
    let new = two.files().iter().find(|file| !are_single && is_new(&file.name));
    new.map(|file| missing(&file.name, [false, true]))
}

fn missing(name: &str, is_there: [bool; 2]) -> HiddenDifference {
    HiddenDifference {
        file: name.to_string(),
        number: None,
        is_there,
        offsets: [0, 0],
        place: Vec::new(),
        bytes: [Vec::new(), Vec::new()],
    }
}

/// Compares the bytes after the last records.
pub(super) fn find_after(files: [&FileSet<'_>; 2], ends: Ends) -> Option<HiddenDifference> {
    let [one, two] = ends.map(|end| end.unwrap_or(0));
    let sources = files.map(|files| files.bytes(0));
    let at = find([&sources[0], &sources[1]], [one, two], u64::MAX)?;
    let offsets = [one, two].map(|start| start.saturating_add(at));
    Some(describe([&sources[0], &sources[1]], files[0].files().first()?.name.as_str(), offsets))
}

/// Returns the names of the regions that hold a byte of a file.
pub(super) fn name_place(
    files: &FileSet<'_>,
    (format, options): (&dyn Format, &Options),
    (file, offset): (u32, u64),
) -> Vec<String> {
    let regions = map::locate((files, format), options, (Layer::stored(file), offset));
    regions.into_iter().map(|region| region.name.into_owned()).collect()
}

/// Returns how far after the starts the first byte differs, in the next `len` bytes; if one source
/// ends there, its end differs.
fn find([one, two]: [&Source<'_>; 2], [first, second]: [u64; 2], len: u64) -> Option<u64> {
    let mut at = 0_u64;
    while at < len {
        let run = |source: &Source<'_>, start: u64| -> Vec<u8> {
            let start = start.saturating_add(at);
            source.read(start, start.saturating_add(CHUNK.min(len.saturating_sub(at)))).into_owned()
        };
        let (a, b) = (run(one, first), run(two, second));
        if a != b {
            let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
            return Some(at.saturating_add(to_u64(same)));
        }
        if a.is_empty() {
            return None;
        }
        at = at.saturating_add(to_u64(a.len()));
    }
    None
}

fn describe([one, two]: [&Source<'_>; 2], file: &str, offsets: [u64; 2]) -> HiddenDifference {
    let bytes =
        |source: &Source<'_>, at: u64| source.read(at, at.saturating_add(SHOWN)).into_owned();
    HiddenDifference {
        file: file.to_string(),
        number: None,
        is_there: [true, true],
        offsets,
        place: Vec::new(),
        bytes: [bytes(one, offsets[0]), bytes(two, offsets[1])],
    }
}
