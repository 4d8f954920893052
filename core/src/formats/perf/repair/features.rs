//! Rewrites the feature bits, the feature table and the sections after it.

use super::encode::{u32_bytes, u64_bytes};
use crate::formats::perf::decode::feature::Cpus;
use crate::formats::perf::decode::header::{Body, FlagWords, Flags, Section};
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::layout::features::{self, Trait};
use crate::formats::perf::layout::{COMP_MMAP_LEN, SECTION_SIZE, feature, field};
use crate::kit::cursor::Order;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::{Layer, Span};
use crate::model::edit::Edit;

/// A feature to be added: its bit and its content.
pub type NewFeature = (u32, Vec<u8>);

/// The features of a recording after a repair.
#[derive(Clone, Debug, Default)]
pub struct Features {
    /// Features that stay, in ascending order, with their present sections.
    pub keep: Vec<(u32, Section)>,
    /// Features that are added.
    pub add: Vec<NewFeature>,
}

impl Features {
    /// Whether the feature stays.
    pub fn keeps(&self, bit: u32) -> bool {
        self.keep.iter().any(|(kept, _)| *kept == bit)
    }

    /// The bits of all features.
    pub(super) fn flags(&self) -> Flags {
        let kept = self.keep.iter().map(|(bit, _)| *bit);
        let bits = kept.chain(self.add.iter().map(|(bit, _)| *bit));
        bits.fold(Flags::default(), Flags::with)
    }

    /// Builds the table. Kept sections move by `shift`, and the new ones are inserted among them in
    /// the order of their bits, those after the last one at `tail`. Returns the table, and the
    /// contents with the offsets in front of which they go.
    ///
    /// Readers take sections in the order of their bits, and so does a check that looks for a
    /// damaged table. Kept sections that are in another order stay so, before the new ones.
    pub(super) fn table(
        &self,
        shift: u64,
        tail: u64,
        order: Order,
    ) -> (Vec<u8>, Vec<(u64, Vec<u8>)>) {
        let used = || self.keep.iter().filter(|(_, section)| section.size > 0);
        let is_sorted = used().is_sorted_by_key(|(_, section)| section.offset);
        let place_of = |bit: u32| {
            let mut after = used().filter(|(kept, _)| is_sorted && *kept > bit);
            after.next().map_or(tail, |(_, section)| section.offset)
        };
        let mut entries: Vec<(u32, Section)> = Vec::new();
        let mut contents: Vec<(u64, Vec<u8>)> = Vec::new();
        let mut inserted = 0_u64;
        for (bit, content) in &self.add {
            let (place, size) = (place_of(*bit), to_u64(content.len()));
            let offset = place.saturating_add(shift).saturating_add(inserted);
            entries.push((*bit, Section { offset, size }));
            inserted = inserted.saturating_add(size);
            match contents.last_mut().filter(|(last, _)| *last == place) {
                Some((_, bytes)) => bytes.extend_from_slice(content),
                None => contents.push((place, content.clone())),
            }
        }
        for (bit, section) in &self.keep {
            let before = contents.iter().filter(|(place, _)| *place <= section.offset);
            let inserted = before.fold(shift, |sum, (_, c)| sum.saturating_add(to_u64(c.len())));
            let is_unused = section.size == 0 && section.offset == 0;
            let moved = if is_unused { 0 } else { section.offset.saturating_add(inserted) };
            entries.push((*bit, Section { offset: moved, ..*section }));
        }
        entries.sort_by_key(|(bit, _)| *bit);
        (entries.iter().flat_map(|(_, s)| section_bytes(*s, order)).collect(), contents)
    }
}

/// Encodes an entry of the table.
pub(super) fn section_bytes(section: Section, order: Order) -> Vec<u8> {
    [u64_bytes(section.offset, order), u64_bytes(section.size, order)].concat()
}

/// Encodes the four words of the feature bits as they lie in the file.
pub(super) fn flag_bytes(flags: Flags, words: FlagWords, order: Order) -> Vec<u8> {
    let word = |word: u64| match words {
        FlagWords::U64 => word,
        FlagWords::U32 => word.rotate_left(32),
    };
    flags.0.iter().flat_map(|bits| u64_bytes(word(*bits), order)).collect()
}

/// Writes the feature bits; `None` if they do not change.
pub(super) fn flags_edit(body: &Body, flags: Flags, order: Order) -> Option<Edit> {
    (body.flags != flags).then(|| {
        let span = Span::sized(Layer::stored(0), field::FLAGS, 32);
        Edit::replace(span, flag_bytes(flags, body.words, order))
    })
}

/// Rewrites the features of a recording whose records end at `end`. If `drop_tail`, drops the bytes
/// after the last section that stays.
pub fn rewrite(
    recording: &Recording<'_>,
    end: u64,
    features: &Features,
    drop_tail: bool,
) -> Vec<Edit> {
    let (order, body, len) = (recording.order(), &recording.body, recording.length());
    let layer = Layer::stored(0);
    let mut edits: Vec<Edit> = flags_edit(body, features.flags(), order).into_iter().collect();
    let old_table = end.saturating_add(body.flags.count().saturating_mul(SECTION_SIZE));
    let count = to_u64(features.keep.len()).saturating_add(to_u64(features.add.len()));
    let new_table = end.saturating_add(count.saturating_mul(SECTION_SIZE));
    let kept = features.keep.iter().filter(|(_, section)| section.size > 0);
    let first = kept.clone().map(|(_, s)| s.offset).min().unwrap_or(len);
    let last = kept.filter_map(|(_, s)| s.end()).max().unwrap_or(end).max(new_table);
    // The table grows into the hole before the first section, as far as there is one.
    let room = first.max(old_table);
    let shift = new_table.saturating_sub(room);
    let tail = if drop_tail { last.min(len) } else { len };
    let (mut table, contents) = features.table(shift, tail, order);
    let mut replaced = new_table.min(room).min(len);
    if new_table < old_table && old_table <= tail {
        // Entries that are left over would look like those of further features.
        table.resize(to_usize(old_table.saturating_sub(end)), 0);
        replaced = old_table;
    }
    if replaced >= tail {
        replaced = len;
    }
    let mut inserts = Vec::new();
    let mut last = Vec::new();
    for (place, content) in contents {
        match place {
            _ if place <= replaced => table.extend(content),
            _ if place == tail => last = content,
            _ => inserts.push(Edit::replace(Span::new(layer, place, place), content)),
        }
    }
    edits.push(Edit::replace(Span::new(layer, end, replaced), table));
    edits.extend(inserts);
    edits.push(Edit::replace(Span::new(layer, tail.max(replaced), len), last));
    edits.retain(|edit| !edit.span.is_empty() || !edit.insert.is_empty());
    edits
}

/// Builds the content of a COMPRESSED feature: version 0, type 1 (zstd), level, ratio, mmap_len.
///
/// Level and ratio are only shown to people. `mmap_len` must hold the longest expansion of one
/// record: perf silently loses the samples after it.
fn compressed_feature(longest: u64, ratio: u64, order: Order) -> Vec<u8> {
    let mmap_len = mmap_len(longest);
    let ratio = u32::try_from(ratio).unwrap_or(u32::MAX).max(1);
    [0, 1, 1, ratio, mmap_len].into_iter().flat_map(|value| u32_bytes(value, order)).collect()
}

/// Returns an `mmap_len` that holds `longest` bytes: complete pages, and at least perf's default.
pub fn mmap_len(longest: u64) -> u32 {
    let pages = longest.saturating_add(4095) & !4095;
    u32::try_from(pages).unwrap_or(u32::MAX).max(COMP_MMAP_LEN)
}

/// The sizes of the ring buffers that `perf record` can map.
///
/// A ring buffer is a power of two of pages, and one page for its header (util/evlist.c:
/// `evlist__mmap_size`). Pages have 4, 16 or 64 KiB. The kernel keeps the addresses of the pages in
/// one block of memory, which holds 2^18 of them where pages have 4 KiB
/// (kernel/events/ring_buffer.c: `rb_alloc`).
fn ring_sizes() -> impl Iterator<Item = u32> {
    [(4096_u32, 18_u32), (16_384, 17), (65_536, 15)].into_iter().flat_map(|(page, most)| {
        (0..=most).filter_map(move |pages| page.checked_mul((1_u32 << pages).saturating_add(1)))
    })
}

/// Whether an `mmap_len` is larger than a ring buffer: perf maps as much for each compressed
/// record, and ends where the machine has less.
pub fn is_mmap_len_large(mmap_len: u32) -> bool {
    /// 2^18 pages of 4 KiB, and the header.
    const LARGEST: u32 = (1 << 30) + 4096;
    mmap_len > LARGEST && ring_sizes().all(|size| size != mmap_len)
}

/// Returns the one `mmap_len` that holds `longest` bytes and differs from a damaged one in few
/// bits.
pub fn nearest_mmap_len(damaged: u32, longest: u64) -> Option<u32> {
    const MOST_BITS: u32 = 2;
    let near = ring_sizes()
        .filter(|len| u64::from(*len) >= longest && (len ^ damaged).count_ones() <= MOST_BITS);
    let near: Vec<u32> = near.collect();
    match near.as_slice() {
        [one] => Some(*one),
        _ => None,
    }
}

/// Builds the features without which readers lose records, except those for which `is_kept` holds.
/// `compressed` is the longest expansion of a compressed record, and the ratio.
pub fn needed(
    compressed: Option<(u64, u64)>,
    has_stat: bool,
    has_parts: bool,
    order: Order,
    is_kept: impl Fn(u32) -> bool,
) -> Vec<NewFeature> {
    let mut add = Vec::new();
    if has_stat {
        add.push((feature::STAT, Vec::new()));
    }
    if has_parts {
        add.push((feature::DIR_FORMAT, u64_bytes(1, order).to_vec()));
    }
    if let Some((longest, ratio)) = compressed {
        add.push((feature::COMPRESSED, compressed_feature(longest, ratio, order)));
    }
    add.retain(|(bit, _)| !is_kept(*bit));
    with_hostname(add, order, is_kept)
}

/// Encodes the content of NRCPUS.
pub fn cpu_counts(cpus: Cpus, order: Order) -> Vec<u8> {
    [cpus.available, cpus.online].into_iter().flat_map(|value| u32_bytes(value, order)).collect()
}

/// Returns the feature NRCPUS if `keep` lacks it and CPU_TOPOLOGY determines it. Otherwise leaves
/// out the features that are read by it: perf 7 refuses a file that has them alone.
pub fn keep_cpus(recording: &Recording<'_>, keep: &mut Vec<(u32, Section)>) -> Option<NewFeature> {
    if keep.iter().any(|(bit, _)| *bit == feature::NRCPUS) {
        return None;
    }
    let cpus = recording.cpus_of_topology(keep);
    if cpus.is_none() {
        let needs_cpus =
            |bit: u32| features::feature(bit).is_some_and(|feature| feature.is(Trait::NeedsCpus));
        keep.retain(|(bit, _)| !needs_cpus(*bit));
    }
    cpus.map(|cpus| (feature::NRCPUS, cpu_counts(cpus, recording.order())))
}

/// Sorts `add`, and adds HOSTNAME to it if a reader needs one to find the others.
///
/// A reader of the other byte order finds out how the bits lie in the file by the HOSTNAME bit;
/// without it, perf takes BUILD_ID for the only feature. Big-endian recordings are usually read on
/// other machines, so they get one with the name "(lost)".
pub fn with_hostname(
    mut add: Vec<NewFeature>,
    order: Order,
    is_kept: impl Fn(u32) -> bool,
) -> Vec<NewFeature> {
    let has_hostname =
        is_kept(feature::HOSTNAME) || add.iter().any(|(bit, _)| *bit == feature::HOSTNAME);
    if order == Order::Big && !add.is_empty() && !has_hostname {
        add.push(lost_hostname(order));
    }
    add.sort_by_key(|(bit, _)| *bit);
    add
}

/// Builds HOSTNAME with the name "(lost)".
pub fn lost_hostname(order: Order) -> NewFeature {
    (feature::HOSTNAME, [&u32_bytes(8, order)[..], b"(lost)\0\0"].concat())
}
