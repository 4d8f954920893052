//! The format of a recording whose beginning is not that of any format.
//!
//! ```text
//!  other bytes | recording      something was written before it: a line of a tool, a mark
//!  zeros, noise, or nothing | records      the beginning was lost
//! ```
//!
//! The formats are asked in this order: by the beginning, by the beginning after other bytes, by
//! the records. A folder is searched by the beginning alone; this is for a file that a user names.

use crate::catalogue;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::reading::Reading;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::wrapper::Wrapper;
use crate::mend::view::{check_plain, view};
use crate::model::Report;
use crate::model::description::FormatId;
use crate::model::edit::Edit;
use crate::model::limits::{READING_BYTES, RESYNC};
use crate::model::options::Options;
use crate::model::patch::Patch;
use crate::model::recording::FileSet;

/// Most bytes before a recording: lines of the tool that copied it.
const PREFIX_MAX: u64 = 4 << 10;
/// Bytes before a recording that need not be text: marks of a byte order have 2 to 4.
const MARK_MAX: u64 = 4;
/// Places that are tried: each is a search for a beginning.
const PLACES_MAX: usize = 64;
/// Records that show a format without its beginning: fewer are there by chance.
const RECORDS_LEAST: u64 = 8;

/// Returns the format of a recording that a user names.
pub(crate) fn recognise(files: &FileSet<'_>, options: &Options) -> Option<FormatId> {
    if files.obstacle().is_some() {
        return None;
    }
    let sniffed = options.format.or_else(|| catalogue::sniff(files, options));
    if sniffed.is_some() || files.files().len() != 1 || files.is_empty() {
        return sniffed;
    }
    // Of a packed recording the report names the command that unpacks it.
    if Wrapper::certain(&files.bytes(0)).is_some() {
        return None;
    }
    if files.len() > options.limits.of(&READING_BYTES) {
        return None;
    }
    let prefix = find_prefix(files, options);
    prefix.map(|(format, _)| format).or_else(|| find_by_records(files, options))
}

/// Returns the reading of a recording that other bytes precede; `None` if it begins as its format
/// demands, or if no recording follows.
pub(super) fn read_prefix(files: &FileSet<'_>, options: &Options) -> Option<Reading> {
    let is_single = files.files().len() == 1;
    if !is_single || catalogue::sniff(files, &at_its_beginning(options)).is_some() {
        return None;
    }
    let (_, len) = find_prefix(files, options)?;
    let first = Span::sized(Layer::stored(0), len, 1);
    let mut reading = Reading::inserted(0, 0..len);
    // Other bytes may be the rest of the beginning, which was damaged or moved.
    reading.is_determined = is_line_or_mark(&files.bytes(0).read(0, len));
    Some(reading.witness(first, "the recording begins here"))
}

/// Returns the format of a recording that other bytes precede, and their number.
fn find_prefix(files: &FileSet<'_>, options: &Options) -> Option<(FormatId, u64)> {
    let places = find_places(&files.bytes(0));
    places.into_iter().take(PLACES_MAX).find_map(|len| {
        let patches = vec![drop_first(&files.bytes(0), len)?];
        let after = view(files, &patches);
        let format = catalogue::sniff(&after, &at_its_beginning(options))?;
        if options.format.is_some_and(|named| named != format) {
            return None;
        }
        // Short magics turn up in other bytes.
        let report = check_plain(&after, &options.clone().with_format(format));
        (report.tally.records > 0 && !report.incomplete()).then_some((format, len))
    })
}

/// Returns the places at which a recording may begin after other bytes, those of a magic first.
fn find_places(source: &Source<'_>) -> Vec<u64> {
    let first = source.read(0, PREFIX_MAX.min(source.len().saturating_sub(1)));
    let text = to_u64(first.iter().take_while(|byte| is_text(**byte)).count());
    let magics = catalogue::magics();
    let (mut by_magic, mut others) = (Vec::new(), Vec::new());
    for (at, byte) in (1_u64..).zip(first.iter()) {
        let rest = first.get(to_usize(at)..).unwrap_or_default();
        if magics.clone().any(|magic| rest.starts_with(magic)) {
            by_magic.push(at);
        } else if at <= MARK_MAX || *byte == b'\n' && at <= text {
            others.push(at);
        }
    }
    by_magic.extend(others);
    by_magic
}

/// Whether a tool writes a byte in a line.
const fn is_text(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\t' | b'\r' | b'\n')
}

/// Whether bytes are whole lines of text, or the mark of a byte order.
fn is_line_or_mark(bytes: &[u8]) -> bool {
    let is_mark = [&b"\xef\xbb\xbf"[..], b"\xff\xfe", b"\xfe\xff"].contains(&bytes);
    is_mark || bytes.ends_with(b"\n") && bytes.iter().all(|byte| is_text(*byte))
}

/// Returns the format whose records a recording has, although its beginning is lost.
fn find_by_records(files: &FileSet<'_>, options: &Options) -> Option<FormatId> {
    let has_enough = |report: &Report| report.tally.records >= RECORDS_LEAST;
    let found = catalogue::held_in(files, options).find(|format| {
        let options = options.clone().with_format(catalogue::id(*format));
        let report = check_plain(files, &options);
        if has_enough(&report) {
            return true;
        }
        let Some(resort) = format.last_resort(files, &options, &report) else {
            return false;
        };
        let edits: Vec<Edit> = resort.edits().cloned().collect();
        let patch = Patch::from_edits(files.bytes(0).len(), &edits);
        patch.is_ok_and(|patch| has_enough(&check_plain(&view(files, &[patch]), &options)))
    });
    found.map(catalogue::id)
}

fn drop_first(source: &Source<'_>, len: u64) -> Option<Patch> {
    let edit = Edit::replace(Span::new(Layer::stored(0), 0, len), Vec::new());
    Patch::from_edits(source.len(), &[edit]).ok()
}

/// Returns the options of a look at the beginning: what follows other bytes is whole there, and no
/// format searches for more.
fn at_its_beginning(options: &Options) -> Options {
    let mut options = options.clone();
    options.format = None;
    options.limits.set(&RESYNC, 0);
    options
}
