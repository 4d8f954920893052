//! Builds the edits that findings carry. Decides nothing about policy.

use crate::FileSet;
use crate::formats::perf::decode::header::{self, Body, FlagWords, Flags, Header, Section};
use crate::formats::perf::layout::{COMP_MMAP_LEN, HEADER_SIZE_OLD, SECTION_SIZE, feature, field};
use crate::kit::cursor::{Cursor, Order};
use crate::kit::num::{align8, to_u64, to_usize};
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::mend::edit::Edit;

/// `value` in the recording's byte order.
pub fn u64_bytes(value: u64, order: Order) -> [u8; 8] {
    match order {
        Order::Little => value.to_le_bytes(),
        Order::Big => value.to_be_bytes(),
    }
}

/// `value` in the recording's byte order.
pub fn u32_bytes(value: u32, order: Order) -> [u8; 4] {
    match order {
        Order::Little => value.to_le_bytes(),
        Order::Big => value.to_be_bytes(),
    }
}

/// `value` in the recording's byte order.
pub fn u16_bytes(value: u16, order: Order) -> [u8; 2] {
    match order {
        Order::Little => value.to_le_bytes(),
        Order::Big => value.to_be_bytes(),
    }
}

/// Writes a u64 of the header.
pub fn header_u64(offset: u64, value: u64, order: Order) -> Edit {
    Edit::replace(Span::sized(Layer::stored(0), offset, 8), u64_bytes(value, order))
}

/// The four words of the feature bits as they lie in the file.
fn flag_bytes(flags: Flags, words: FlagWords, order: Order) -> Vec<u8> {
    let word = |word: u64| match words {
        FlagWords::U64 => word,
        FlagWords::U32 => word.rotate_left(32),
    };
    flags.0.iter().flat_map(|bits| u64_bytes(word(*bits), order)).collect()
}

/// A feature to be added: its bit and its content.
pub type NewFeature = (u32, Vec<u8>);

/// Whether the header has the bits that name features. A header of 72 bytes ends before them.
pub const fn has_feature_bits(header: &Header) -> bool {
    header.size != HEADER_SIZE_OLD
}

/// What the features of a recording become.
#[derive(Clone, Debug, Default)]
pub struct Features {
    /// Those that stay, ascending, where their sections lie now.
    pub keep: Vec<(u32, Section)>,
    /// Those that are added.
    pub add: Vec<NewFeature>,
}

impl Features {
    fn flags(&self) -> Flags {
        let bits =
            self.keep.iter().map(|(bit, _)| *bit).chain(self.add.iter().map(|(bit, _)| *bit));
        bits.fold(Flags::default(), Flags::with)
    }

    /// The table, with the kept sections moved by `shift` and the new ones from `at` on, and the
    /// new sections' contents.
    fn table(&self, shift: u64, at: u64, order: Order) -> (Vec<u8>, Vec<u8>) {
        let mut entries: Vec<(u32, Section)> = self
            .keep
            .iter()
            .map(|(bit, s)| (*bit, Section { offset: s.offset.saturating_add(shift), ..*s }))
            .collect();
        let mut contents = Vec::new();
        for (bit, content) in &self.add {
            let offset = at.saturating_add(to_u64(contents.len()));
            entries.push((*bit, Section { offset, size: to_u64(content.len()) }));
            contents.extend_from_slice(content);
        }
        entries.sort_by_key(|(bit, _)| *bit);
        let table = entries
            .iter()
            .flat_map(|(_, s)| [u64_bytes(s.offset, order), u64_bytes(s.size, order)].concat())
            .collect();
        (table, contents)
    }
}

/// The edit of the feature bits, if they change.
fn flags_edit(body: &Body, flags: Flags, order: Order) -> Option<Edit> {
    (body.flags != flags).then(|| {
        let span = Span::sized(Layer::stored(0), field::FLAGS, 32);
        Edit::replace(span, flag_bytes(flags, body.words, order))
    })
}

/// Where the whole records end, and what has to be done so that they end there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seam {
    /// Offset after the last byte of the source that belongs to a whole record.
    pub end: u64,
    /// Edits of the last record's header, if it was cut.
    pub edits: Vec<Edit>,
    /// Bytes that the last record needs behind `end`.
    pub padding: Vec<u8>,
}

/// Closes a recording at `seam`: data.size, feature bits, and a table with the features of `add` in
/// place of everything that follows.
pub fn close(
    header: &Header,
    body: &Body,
    source_len: u64,
    seam: Seam,
    add: Vec<NewFeature>,
) -> Vec<Edit> {
    let order = header.order;
    // Where the records end in the target.
    let data_end = seam.end.saturating_add(to_u64(seam.padding.len()));
    let size = data_end.saturating_sub(body.data.offset);
    let features = Features { keep: Vec::new(), add };
    let mut edits = Vec::new();
    if size != body.data.size {
        edits.push(header_u64(field::DATA_SIZE, size, order));
    }
    edits.extend(flags_edit(body, features.flags(), order));
    let table_len = to_u64(features.add.len()).saturating_mul(SECTION_SIZE);
    let (table, contents) = features.table(0, data_end.saturating_add(table_len), order);
    edits.extend(seam.edits);
    let tail = [seam.padding, table, contents].concat();
    if seam.end < source_len || !tail.is_empty() {
        edits.push(Edit::replace(Span::new(Layer::stored(0), seam.end, source_len), tail));
    }
    edits
}

/// Rewrites the features of a recording whose records end rightly at `end`. Bytes behind the last
/// section that stays go if `drop_tail`.
pub fn rewrite(
    header: &Header,
    body: &Body,
    source_len: u64,
    end: u64,
    features: &Features,
    drop_tail: bool,
) -> Vec<Edit> {
    let order = header.order;
    let layer = Layer::stored(0);
    let mut edits: Vec<Edit> = flags_edit(body, features.flags(), order).into_iter().collect();
    let old_table = end.saturating_add(body.flags.count().saturating_mul(SECTION_SIZE));
    let count = to_u64(features.keep.len()).saturating_add(to_u64(features.add.len()));
    let new_table = end.saturating_add(count.saturating_mul(SECTION_SIZE));
    let kept = features.keep.iter().filter(|(_, section)| section.size > 0);
    let first = kept.clone().map(|(_, s)| s.offset).min().unwrap_or(source_len);
    let last = kept.filter_map(|(_, s)| s.end()).max().unwrap_or(end).max(new_table);
    // The hole between table and first section takes what the table grows by, if it can.
    let room = first.max(old_table);
    let shift = new_table.saturating_sub(room);
    let tail = if drop_tail { last.min(source_len) } else { source_len };
    let (table, contents) = features.table(shift, tail.saturating_add(shift), order);
    let replaced = new_table.min(room).min(source_len);
    if replaced < tail {
        edits.push(Edit::replace(Span::new(layer, end, replaced), table));
        if tail < source_len || !contents.is_empty() {
            edits.push(Edit::replace(Span::new(layer, tail, source_len), contents));
        }
    } else {
        edits.push(Edit::replace(Span::new(layer, end, source_len), [table, contents].concat()));
    }
    edits.retain(|edit| !edit.span.is_empty() || !edit.insert.is_empty());
    edits
}

/// The content of a COMPRESSED feature: version 0, type 1 (zstd), level, ratio, mmap_len.
///
/// Level and ratio are for people; nothing depends on them. `mmap_len` must hold what any one record
/// expands to, or perf loses the samples behind it without a word.
pub fn compressed_feature(longest: u64, ratio: u64, order: Order) -> Vec<u8> {
    let mmap_len = mmap_len(longest);
    let ratio = u32::try_from(ratio).unwrap_or(u32::MAX).max(1);
    [0, 1, 1, ratio, mmap_len].into_iter().flat_map(|value| u32_bytes(value, order)).collect()
}

/// An `mmap_len` that holds `longest` bytes, in whole pages, and at least perf's default.
pub fn mmap_len(longest: u64) -> u32 {
    let pages = longest.saturating_add(4095) & !4095;
    u32::try_from(pages).unwrap_or(u32::MAX).max(COMP_MMAP_LEN)
}

/// Cuts a COMPRESSED record (or COMPRESSED2, if `two`) behind its last whole block, `good` bytes
/// into its payload. `None` if that is no size of a record.
pub fn cut_compressed(offset: u64, two: bool, good: u64, order: Order) -> Option<Seam> {
    let layer = Layer::stored(0);
    let size = good.saturating_add(if two { 16 } else { 8 });
    let padded = if two { align8(size) } else { size };
    let field = u16_bytes(u16::try_from(padded).ok()?, order);
    let mut edits = vec![Edit::replace(Span::sized(layer, offset.saturating_add(6), 2), field)];
    if two {
        let span = Span::sized(layer, offset.saturating_add(8), 8);
        edits.push(Edit::replace(span, u64_bytes(good, order)));
    }
    let padding = vec![0; to_usize(padded.saturating_sub(size))];
    Some(Seam { end: offset.saturating_add(size), edits, padding })
}

/// What follows from edits inside the records: data.size, and where the features' sections lie.
///
/// A fix of a record says only what happens to its own bytes; sizes and offsets are settled once
/// for all fixes of a round.
pub fn settle(files: &FileSet<'_>, edits: &[Edit]) -> Vec<Edit> {
    let source = files.bytes(0);
    let Ok(header) = header::header(&source, 0) else { return Vec::new() };
    let Some(body) = header.body else { return Vec::new() };
    let (Some(end), order) = (body.data.end(), header.order) else { return Vec::new() };
    let inside = |edit: &&Edit| {
        edit.span.layer == Layer::stored(0)
            && edit.span.start >= body.data.offset
            // What is put in at the very end is the features' table.
            && edit.span.start < end
            && edit.span.end <= end
    };
    let settled_already = edits
        .iter()
        .any(|edit| edit.span.layer == Layer::stored(0) && edit.span.overlaps(&size_field()));
    let dropped =
        edits.iter().filter(inside).fold(0_u64, |sum, e| sum.saturating_add(e.span.len()));
    let added = edits
        .iter()
        .filter(inside)
        .fold(0_u64, |sum, e| sum.saturating_add(to_u64(e.insert.len())));
    if settled_already || dropped == added || end > source.len() {
        return Vec::new();
    }
    let moved = |offset: u64| offset.saturating_sub(dropped).saturating_add(added);
    let mut out = vec![header_u64(field::DATA_SIZE, moved(body.data.size), order)];
    let (table, entries) = table(&source, &body, end, order);
    if entries.is_empty() {
        return out;
    }
    let bytes: Vec<u8> = entries
        .iter()
        .flat_map(|(_, s)| [u64_bytes(moved(s.offset), order), u64_bytes(s.size, order)].concat())
        .collect();
    out.push(Edit::replace(table, bytes));
    out
}

/// The field data.size.
pub fn size_field() -> Span {
    Span::sized(Layer::stored(0), field::DATA_SIZE, 8)
}

/// The entries of the feature table at `at` that the file still holds, and their place.
pub fn table(
    source: &Source<'_>,
    body: &Body,
    at: u64,
    order: Order,
) -> (Span, Vec<(u32, Section)>) {
    let len = body.flags.count().saturating_mul(SECTION_SIZE);
    let bytes = source.read(at, at.saturating_add(len));
    let mut cursor = Cursor::new(&bytes, Layer::stored(0), at, order);
    let mut entries = Vec::new();
    for bit in body.flags.bits() {
        let Ok(section) = Section::read(&mut cursor) else { break };
        entries.push((bit, section));
    }
    (cursor.since(at), entries)
}

/// Features whose absence makes readers lose records, from what the records are, but for those in
/// `kept`.
pub fn needed(
    compressed: Option<(u64, u64)>,
    stat: bool,
    directory: bool,
    order: Order,
    kept: impl Fn(u32) -> bool,
) -> Vec<NewFeature> {
    let mut add = Vec::new();
    if stat {
        add.push((feature::STAT, Vec::new()));
    }
    if directory {
        add.push((feature::DIR_FORMAT, u64_bytes(1, order).to_vec()));
    }
    if let Some((longest, ratio)) = compressed {
        add.push((feature::COMPRESSED, compressed_feature(longest, ratio, order)));
    }
    add.retain(|(bit, _)| !kept(*bit));
    with_hostname(add, order, kept)
}

/// `add` in order, and with a HOSTNAME where a reader needs one to find them.
///
/// A reader of the other byte order tells by the HOSTNAME bit how the bits lie; without it perf
/// takes BUILD_ID for the only feature. Big-endian recordings are read on other machines as a rule,
/// so they get one, with a name that says that it was lost.
pub fn with_hostname(
    mut add: Vec<NewFeature>,
    order: Order,
    kept: impl Fn(u32) -> bool,
) -> Vec<NewFeature> {
    if order == Order::Big && !add.is_empty() && !kept(feature::HOSTNAME) {
        let mut content = u32_bytes(8, order).to_vec();
        content.extend(b"(lost)\0\0");
        add.push((feature::HOSTNAME, content));
    }
    add.sort_by_key(|(bit, _)| *bit);
    add
}
