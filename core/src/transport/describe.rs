//! Findings about the ways that were undone.

use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::text::Untrusted;
use crate::kit::words::{byte_count, list, plural};
use crate::kit::wrapper::Wrapper;
use crate::model::arrival::{Undone, rules};
use crate::model::edit::{Fix, Safety};
use crate::model::recording::File;
use crate::model::{Excerpt, Finding, Rule, Severity};

/// Bytes that a finding shows.
const SHOWN: u64 = 16;
/// Recordings of an archive that a finding names.
const NAMES_SHOWN: usize = 8;

/// Describes a step that gave `length` bytes; `fault` is the reason why it gave no more.
pub(super) fn undone(way: Wrapper, file: &File<'_>, length: u64, fault: Option<String>) -> Undone {
    let message = format!(
        "the file is {}: {} are stored as {}",
        way.description(),
        byte_count(length),
        byte_count(file.bytes.len())
    );
    // A way shows at the beginning, but for text after the recording.
    let shown = if way == Wrapper::TextAfter { length } else { 0 };
    describe(way, (file, shown), message, fault)
}

/// Describes an archive of `all` files, of which `taken` are the recording.
pub(super) fn unpacked(
    way: Wrapper,
    file: &File<'_>,
    (all, taken): (usize, usize),
    fault: Option<String>,
) -> Undone {
    let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let message = format!(
        "the file is {} of {}: the recording has {}",
        way.description(),
        plural(count(all), "file"),
        plural(count(taken), "file")
    );
    describe(way, (file, 0), message, fault)
}

/// Describes an archive of several recordings; `None` if these are fewer.
pub(super) fn several(way: Wrapper, file: &File<'_>, names: &[&str]) -> Option<Finding> {
    let count = to_u64(names.len());
    if count < 2 {
        return None;
    }
    let names: Vec<String> =
        names.iter().map(|name| Untrusted(name.as_bytes()).to_string()).collect();
    let names = list(&names, NAMES_SHOWN, count);
    let recordings = plural(count, "recording");
    let message = format!("the file is {} of {recordings}: {names}", way.description());
    let unpack = match way {
        Wrapper::Zip => "unzip -d DIR FILE",
        _ => "mkdir DIR && tar -xf FILE -C DIR",
    };
    let advice = format!("unpack it and check the folder: {unpack} && tracemend check DIR");
    let span = Span::new(Layer::stored(0), 0, SHOWN.min(file.bytes.len()));
    let finding = Finding::new(&rules::SEVERAL_RECORDINGS, span, "file", message);
    Some(finding.fix(Fix::manual(advice)))
}

/// Describes a step; the finding shows the bytes of the file from `start` on.
fn describe(
    way: Wrapper,
    (file, start): (&File<'_>, u64),
    message: String,
    fault: Option<String>,
) -> Undone {
    let end = start.saturating_add(SHOWN).min(file.bytes.len());
    let span = Span::new(Layer::stored(0), start, end);
    let mut finding = Finding::new(rule(way), span, "file", message);
    let bytes = file.bytes.read(start, end).to_vec();
    finding.excerpt = Some(Excerpt { start, bytes });
    let safety = match &fault {
        None => Safety::Exact,
        Some(reason) => {
            let reason = Untrusted(reason.as_bytes());
            finding = finding.note(format!("it cannot be read to its end: {reason}"));
            Safety::Lossy
        }
    };
    finding = finding.fix(Fix::new(safety, summary(way), Vec::new()));
    if has_ending(way, &file.name) {
        finding.severity = Severity::Info;
    }
    let crc32 = checksum(&file.bytes);
    Undone { wrapper: way, file: file.name.clone(), length: file.bytes.len(), crc32, finding }
}

/// Returns whether the name of a file says how it is packed: nobody takes it for the recording.
fn has_ending(way: Wrapper, name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let endings: &[&str] = match way {
        Wrapper::Gzip => &[".gz", ".tgz"],
        Wrapper::Zstd => &[".zst", ".tzst"],
        Wrapper::Xz => &[".xz", ".txz"],
        Wrapper::Bzip2 => &[".bz2", ".tbz2"],
        Wrapper::Lz4 => &[".lz4"],
        Wrapper::Zip => &[".zip"],
        // Also in a compressed one.
        Wrapper::Tar => &[".tar", ".tgz", ".txz", ".tzst", ".tbz2"],
        _ => &[],
    };
    let is_inner = way == Wrapper::Tar && name.contains(".tar.");
    is_inner || endings.iter().any(|ending| name.ends_with(ending))
}

fn checksum(source: &Source<'_>) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    source.pieces().for_each(|piece| hasher.update(piece));
    hasher.finalize()
}

/// Returns the rule about a way.
const fn rule(way: Wrapper) -> &'static Rule {
    match way {
        Wrapper::Gzip
        | Wrapper::Zstd
        | Wrapper::Xz
        | Wrapper::Bzip2
        | Wrapper::Lz4
        | Wrapper::Zip
        | Wrapper::Tar
        | Wrapper::SevenZip
        | Wrapper::Rar => &rules::PACKED,
        Wrapper::Base64
        | Wrapper::HexDump
        | Wrapper::QuotedPrintable
        | Wrapper::Uuencode
        | Wrapper::Array
        | Wrapper::Escaped => &rules::ENCODED_AS_TEXT,
        Wrapper::Utf8
        | Wrapper::Windows1252
        | Wrapper::CodePage437
        | Wrapper::MacRoman
        | Wrapper::Utf8Lossy => &rules::CONVERTED_CHARACTERS,
        Wrapper::CrLf => &rules::CONVERTED_LINE_ENDS,
        Wrapper::Swapped16 | Wrapper::Swapped32 => &rules::SWAPPED_WORDS,
        Wrapper::Stamped => &rules::STAMPED_LINES,
        Wrapper::TextBefore => &rules::TEXT_BEFORE,
        Wrapper::TextAfter => &rules::TEXT_AFTER,
    }
}

/// Returns what undoing a way does.
const fn summary(way: Wrapper) -> &'static str {
    match way {
        Wrapper::Gzip | Wrapper::Zstd | Wrapper::Xz | Wrapper::Bzip2 | Wrapper::Lz4 => {
            "decompress the file"
        }
        Wrapper::Zip | Wrapper::Tar | Wrapper::SevenZip | Wrapper::Rar => "unpack the recording",
        Wrapper::Base64
        | Wrapper::HexDump
        | Wrapper::QuotedPrintable
        | Wrapper::Uuencode
        | Wrapper::Array
        | Wrapper::Escaped => "decode the text",
        Wrapper::Utf8
        | Wrapper::Windows1252
        | Wrapper::CodePage437
        | Wrapper::MacRoman
        | Wrapper::Utf8Lossy => "convert the characters back to bytes",
        Wrapper::CrLf => "drop the carriage return before each line feed",
        Wrapper::Swapped16 | Wrapper::Swapped32 => "reverse the bytes of each word",
        Wrapper::Stamped => "drop the time stamp before each line",
        Wrapper::TextBefore => "drop the text before the recording",
        Wrapper::TextAfter => "drop the text after the recording",
    }
}
