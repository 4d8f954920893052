//! Dictionaries for libFuzzer, made from the layouts: words that a fuzzer would have to guess.

use std::fmt::Write as _;

use tracemend::FormatId;
use tracemend::formats::{apitrace, ovni, perf, qemu, revent};

/// Returns the words of each format, under its name.
pub fn all() -> [(FormatId, Vec<Vec<u8>>); 5] {
    [
        (FormatId::PERF, perf_words()),
        (FormatId::APITRACE, apitrace_words()),
        (FormatId::OVNI, ovni_words()),
        (FormatId::QEMU, qemu_words()),
        (FormatId::REVENT, revent_words()),
    ]
}

/// Magics, the type of each record, and the sizes of attrs, little-endian.
fn perf_words() -> Vec<Vec<u8>> {
    use perf::layout::{ATTR_SIZES, MAGIC_BIG, MAGIC_LITTLE, MAGIC_V1, record};
    let kernel = 1..=record::KERNEL_LAST;
    let user = record::USER_FIRST..=record::USER_LAST;
    let numbers = kernel.chain(user).chain(ATTR_SIZES).map(|number| number.to_le_bytes().to_vec());
    let magics = [MAGIC_LITTLE, MAGIC_BIG].into_iter().chain(MAGIC_V1);
    magics.map(|magic| magic.to_vec()).chain(numbers).collect()
}

/// Magics, the header of a full chunk, and the first bytes of events.
fn apitrace_words() -> Vec<Vec<u8>> {
    use apitrace::layout::{
        FULL_CHUNK, GZIP_HEADER, SNAPPY_MAGIC, ZSTD_MAGIC, ZSTD_SEEKABLE_MAGIC,
    };
    let magics: [&[u8]; 5] =
        [&SNAPPY_MAGIC, &GZIP_HEADER, &ZSTD_MAGIC, &ZSTD_SEEKABLE_MAGIC, &FULL_CHUNK];
    let events: [&[u8]; 4] = [&[6, 0], &[0, 0, 0], &[1, 0, 0], b"glForged0"];
    magics.into_iter().chain(events).map(<[u8]>::to_vec).collect()
}

/// The magic, the code of each event, and the keys of the metadata.
fn ovni_words() -> Vec<Vec<u8>> {
    let codes = ovni::layout::events::EVENTS.iter().map(|row| row.code.to_vec());
    let json = crate::forge::ovni::Thread::new(7, 7).require("nosv", "2.7.0").json();
    let keys = json.split('"').skip(1).step_by(2).map(|key| format!("\"{key}\"").into_bytes());
    let mut words: Vec<_> = codes.chain(keys).chain([ovni::layout::MAGIC.to_vec()]).collect();
    words.sort();
    words.dedup();
    words
}

/// The version of each layout, big-endian, and the end of its logs.
fn qemu_words() -> Vec<Vec<u8>> {
    let layouts = qemu::layout::LAYOUTS.iter();
    layouts.flat_map(|one| [one.version.to_be_bytes().to_vec(), one.closing().to_vec()]).collect()
}

/// The magic with each version.
fn revent_words() -> Vec<Vec<u8>> {
    let magic = revent::layout::MAGIC.as_slice();
    (0..4_u16).map(|version| [magic, &version.to_le_bytes()].concat()).collect()
}

/// Returns words as the text of a dictionary.
pub fn text(words: &[Vec<u8>]) -> String {
    let mut text = String::new();
    for word in words {
        let escaped: String = word.iter().map(|byte| format!("\\x{byte:02x}")).collect();
        _ = writeln!(text, "\"{escaped}\"");
    }
    text
}
