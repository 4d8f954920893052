//! The header and the feature table.

use super::attr_copies::AttrCopies;
use super::flags::{self, Demand};
use super::harmless_entries::{Entries, is_read_alike};
use super::layout::{self, LayoutFacts, LayoutReading};
use super::magic::{
    correct_magic, correct_size, magic_of, magic_of_fields, nearest_magic, set_pipe_size,
};
use super::peek::Peek;
use super::proof::{Assigned, Proof, fitting};
use super::table_reading::TableReading;
use super::table_search::{Records, find_table};
use super::{
    Correction, Part, Restoration, blank, disputes, events, find_headless, shape, unordered,
};
use crate::formats::perf::decode::feature;
use crate::formats::perf::decode::frame::frame;
use crate::formats::perf::decode::header::{self, Body, FlagWords, Flags, Section};
use crate::formats::perf::decode::recording::{Opened, Recording, open};
use crate::formats::perf::decode::table::Table;
use crate::formats::perf::layout::attr::at as word;
use crate::formats::perf::layout::{
    self as facts, ATTR_SIZE_VER0, HEADER_SIZE, HEADER_SIZE_OLD, SECTION_SIZE, TYPE_TRACEPOINT,
    feature as bit, field, is_published, record,
};
use crate::kit::num::to_u64;
use crate::model::limits::{Limits, RESYNC};
use crate::model::recording::FileSet;

/// Restores the header and the table, stage by stage: each stage reads the file as the one before
/// left it.
pub(super) fn restore(files: &FileSet<'_>, limits: &Limits) -> Restoration {
    let source = files.bytes(0);
    if let Some(found) = blank::find(&source) {
        return blank::restore(files, found, limits);
    }
    let first = source.read(0, 8);
    let order = header::magic(&first).map(|(order, _)| order);
    let near = nearest_magic(&first);
    let headless = find_headless(&source, limits);
    let piped = headless.map(|(order, _)| (order, magic_of(order)));
    let nearest = near.or(piped).unwrap_or_else(|| magic_of_fields(&source));
    let order = order.unwrap_or(nearest.0);
    let mut restored = Restoration::new(order);
    let peek = Peek { source: &source, order };
    if header::magic(&first).is_none() {
        restored.extend(correct_magic(peek, nearest.1));
    }
    restored.extend(match headless {
        Some((_, first)) => set_pipe_size(peek, first),
        None => correct_size(peek),
    });
    let sections = {
        let now = restored.apply(files);
        match open(&now) {
            Ok(Opened::Sections(recording)) => Some(restore_sections(&recording, limits)),
            Ok(Opened::Pipe(_)) => None,
            Err(_) => return restored,
        }
    };
    restored.is_pipe = sections.is_none();
    restored.extend(sections.into_iter().flatten());
    let events = {
        let now = restored.apply(files);
        match open(&now) {
            Ok(Opened::Sections(recording)) => events::restore(&recording, limits),
            Ok(Opened::Pipe(file)) => events::restore_pipe(&file),
            Err(_) => Vec::new(),
        }
    };
    restored.extend(events);
    restored.disputes = {
        let now = restored.apply(files);
        match open(&now) {
            Ok(Opened::Sections(recording)) => disputes::find(AttrCopies::gather(&recording)),
            Ok(Opened::Pipe(file)) => disputes::find(AttrCopies::gather_pipe(&file)),
            Err(_) => Vec::new(),
        }
    };
    restored
}

/// Corrects the fields of the header after its size, and the feature table.
fn restore_sections(recording: &Recording<'_>, limits: &Limits) -> Vec<Correction> {
    let peek = Peek { source: recording.file.source(), order: recording.order() };
    let body = &recording.body;
    if recording.header.size == HEADER_SIZE_OLD || recording.header.version1 {
        return Vec::new();
    }
    let has_table = has_sound_table(recording, peek);
    if has_table && is_sound_head(recording, peek, true) {
        return Vec::new();
    }
    let records = Records { recording, budget: limits.of(&RESYNC) };
    let is_simpleperf = recording.file.is_simpleperf();
    let table = if is_simpleperf { None } else { find_table(recording, limits) };
    let mut corrections = Vec::new();
    if is_simpleperf && !has_table {
        corrections.extend(unordered::correct(recording, peek));
    }
    let layout =
        LayoutReading { attr_size: body.attr_size, attrs: body.attrs, data: body.data.offset };
    let layout = if is_sound_head(
        recording,
        peek,
        is_simpleperf || table.as_ref().is_some_and(|t| Some(t.at) == body.data.end()),
    ) {
        Some(layout)
    } else {
        let facts = LayoutFacts {
            event_desc: table.as_ref().and_then(|table| described(peek, &table.sections)),
            table: table.as_ref().map(|table| table.at),
        };
        layout::find(peek, body, &facts, &|from, to| records.reach(from, to))
    };
    let Some(layout) = layout else { return corrections };
    corrections.extend(correct_layout(body, layout, table.as_ref()));
    if let Some(table) = &table {
        let chain_end = records.chain_end(layout.data);
        let demand = demand(&records, peek, layout, table);
        let flags = assign_flags(peek, body.flags, table, &demand);
        let assigned = Assigned { flags: flags.unwrap_or(body.flags), demand };
        let proof = Proof::gather(peek, body, table, &assigned, chain_end);
        corrections.iter_mut().for_each(|one| one.is_determined &= proof.determines(one.part));
        corrections.extend(correct_table(peek, body, table, &assigned, &proof));
    }
    corrections
}

/// Whether the header leads to a table whose sections adjoin and have the shapes of their features.
fn has_sound_table(recording: &Recording<'_>, peek: Peek<'_>) -> bool {
    let Some(end) = recording.body.data.end().filter(|end| *end <= recording.length()) else {
        return false;
    };
    if recording.body.flags.count() == 0 {
        return end == recording.length();
    }
    let table = recording.table(end);
    let attrs = recording.body.attrs.offset;
    let mut cpus = None;
    let reads = |(number, section): &(u32, Section)| {
        let held = section.size.min(1 << 20);
        let contents = recording.read_feature((*number, *section), cpus, held);
        cpus = cpus.or(contents.as_ref().ok().and_then(|contents| contents.nr_cpus));
        // perf inject writes the attrs over its build ids if it makes a file of a pipe.
        let is_overwritten =
            *number == bit::BUILD_ID && section.offset <= attrs && section.end() > Some(attrs);
        feature::name(*number).is_none() || contents.is_ok() || is_overwritten
    };
    let pairs = || table.entries.windows(2);
    let adjoining = pairs().filter(|pair| match pair {
        [(_, one), (_, next)] => one.end() == Some(next.offset),
        _ => true,
    });
    // perf writes sections that adjoin; a single gap among them is damage.
    let (count, adjoining) = (pairs().count(), adjoining.count());
    let has_gap = adjoining < count && adjoining.saturating_mul(2) >= count;
    // In another order they adjoin as well; simpleperf may leave an old end of the file after them.
    let ends = |end: u64| end == recording.length() || recording.file.is_simpleperf();
    let has_gap = has_gap && !table.tiled_end().is_some_and(ends);
    table.is_valid(&recording.body, recording.length())
        && !has_gap
        && table.entries.iter().all(|(_, section)| section.offset > 0)
        && table.entries.iter().all(reads)
        && !has_unclaimed_entry(peek, &table)
        && table.entries.iter().all(|(bit, section)| shape::can_have_size(*bit, section.size))
        && !has_future_feature(peek, &table)
        && peek.len() > 0
}

/// Whether the last features are newer than the recorder.
fn has_future_feature(peek: Peek<'_>, table: &Table) -> bool {
    let sections = table.entries.iter().map(|(_, section)| section);
    table.entries.last().is_some_and(|(bit, _)| *bit > bit::LAST_OLD)
        && shape::is_recorder_old(peek, sections)
}

/// Whether an entry that no bit claims follows the last one, and its section the last section: a
/// bit is missing. Entries that perf reserved and did not use are 0.
fn has_unclaimed_entry(peek: Peek<'_>, table: &Table) -> bool {
    let first = table.entries.iter().map(|(_, section)| section.offset).min();
    let Some((_, last)) = table.entries.last() else { return false };
    let has_room = first.is_some_and(|first| table.span.end.saturating_add(SECTION_SIZE) <= first);
    let next = peek.section(table.span.end).filter(|next| has_room && next.size > 0);
    next.is_some_and(|next| Some(next.offset) == last.end() && next.fits(peek.len()))
}

/// Whether the fields of the header agree with one another and with the first attr.
fn is_sound_head(recording: &Recording<'_>, peek: Peek<'_>, has_table: bool) -> bool {
    let body = &recording.body;
    let Body { attr_size, attrs, data, .. } = *body;
    let count = attrs.size.checked_div(attr_size).unwrap_or(0);
    let is_whole = attr_size > SECTION_SIZE && attrs.size.checked_rem(attr_size) == Some(0);
    let is_placed = attrs.fits(peek.len()) && attrs.offset >= HEADER_SIZE && is_whole && count > 0;
    let entries = (0..count.min(64)).map(|index| {
        let start = attrs.offset.saturating_add(index.saturating_mul(attr_size));
        let size = peek.attr_size(start).map(u64::from);
        let size = size.map(|size| size.max(ATTR_SIZE_VER0).saturating_add(SECTION_SIZE));
        // simpleperf reserves more for an attr than the attr has.
        let is_smaller =
            recording.file.is_simpleperf() && size.is_some_and(|size| size < attr_size);
        (
            size == Some(attr_size) || is_smaller,
            peek.u64(start.saturating_add(attr_size).saturating_sub(16)),
        )
    });
    let entries: Vec<(bool, Option<u64>)> = entries.collect();
    let has_entry = entries.iter().any(|(is_sized, _)| *is_sized);
    // With the ids right after the header, everything adjoins.
    let is_usual = entries.first().is_some_and(|(_, ids)| *ids == Some(HEADER_SIZE));
    let has_event_types = body.has_event_types();
    let adjoins = !is_usual || attrs.end() == Some(data.offset) || has_event_types;
    let is_unfinished = data.size == 0 || data.end().is_none_or(|end| end > peek.len());
    // Without features there is no table that the size of the records has to lead to.
    let is_ended = has_table || is_unfinished || body.flags.count() == 0;
    let begins = || {
        let head = peek.bytes(data.offset, data.offset.saturating_add(facts::RECORD_HEADER));
        frame(&head, peek.order).is_ok()
    };
    is_placed
        && has_entry
        && adjoins
        && (body.event_types == Section::default() || has_event_types)
        && (HEADER_SIZE..=peek.len()).contains(&data.offset)
        && is_ended
        && (has_table || begins())
}

/// Returns the number of events in EVENT_DESC and the size of their attrs.
fn described(peek: Peek<'_>, sections: &[Section]) -> Option<(u64, u64)> {
    sections.iter().find_map(|section| {
        let count = peek.u32(section.offset)?;
        let size = peek.u32(section.offset.saturating_add(4))?;
        let is_plausible = is_published(size) && shape::resembles(peek, bit::EVENT_DESC, *section);
        is_plausible.then_some((count.into(), size.into()))
    })
}

/// Corrects the sections of the header.
fn correct_layout(
    body: &Body,
    layout: LayoutReading,
    table: Option<&TableReading>,
) -> Vec<Correction> {
    let LayoutReading { attr_size, attrs, data } = layout;
    let entry = attr_size.saturating_sub(SECTION_SIZE);
    let first = attrs.offset;
    let ids_at = first.saturating_add(entry);
    // perf reads each attr by its own size, and only counts the attrs by this one.
    let count = body.attrs.size.checked_div(body.attr_size);
    let is_counted = body.attrs == attrs && count == attrs.size.checked_div(attr_size);
    let found = body.attrs.size.checked_div(attr_size);
    let is_divided = body.attr_size == attr_size
        && body.attrs.offset == attrs.offset
        && found == attrs.size.checked_div(attr_size);
    let mut corrections = vec![
        Correction::new(Part::AttrSize)
            .word(field::ATTR_SIZE, body.attr_size, attr_size)
            .witness(first.saturating_add(word::SIZE), 4, "attr.size")
            .harmless_if(is_counted),
        Correction::new(Part::Attrs)
            .word(field::ATTRS, body.attrs.offset, attrs.offset)
            .word(field::ATTRS.saturating_add(8), body.attrs.size, attrs.size)
            .witness(ids_at, SECTION_SIZE, "section of ids, which end where the attrs begin")
            .harmless_if(is_divided),
        Correction::new(Part::DataOffset)
            .word(field::DATA, body.data.offset, data)
            .witness(attrs.end().unwrap_or(0).saturating_sub(SECTION_SIZE), 16, "end of the attrs")
            .witness(data, facts::RECORD_HEADER, "first record"),
    ];
    let event_types = field::DATA_SIZE.saturating_add(8);
    if !body.has_event_types() {
        corrections.push(
            Correction::new(Part::EventTypes)
                .word(event_types, body.event_types.offset, 0)
                .word(event_types.saturating_add(8), body.event_types.size, 0)
                .witness(field::ATTRS, 32, "attrs and records, which adjoin"),
        );
    }
    if let Some(table) = table {
        let size = table.at.saturating_sub(data);
        let len = to_u64(table.sections.len()).saturating_mul(SECTION_SIZE);
        corrections.push(
            Correction::new(Part::DataSize).word(field::DATA_SIZE, body.data.size, size).witness(
                table.at,
                len,
                "feature table, which follows the records",
            ),
        );
    }
    corrections
}

/// Corrects the entries of the table and the feature bits.
///
/// A boundary is corrected only if the sections on both of its sides have the shapes of their
/// features afterwards.
fn correct_table(
    peek: Peek<'_>,
    body: &Body,
    table: &TableReading,
    assigned: &Assigned,
    proof: &Proof,
) -> Vec<Correction> {
    let flags = assigned.flags;
    let fits = fitting(peek, table, flags);
    let fits =
        |index: Option<usize>| index.and_then(|index| fits.get(index)).is_none_or(|fits| *fits);
    let bits: Vec<u32> = flags.bits().collect();
    let right = Entries { peek, sections: &table.sections, bits: &bits };
    let mut is_harmless = true;
    let mut entries = Correction::new(Part::Table).determined_if(proof.determines(Part::Table));
    for (index, section) in table.sections.iter().enumerate() {
        let at = table.entry_at(index);
        let Some(found) = peek.section(at) else { break };
        let is_whole =
            fits(index.checked_sub(1)) && fits(Some(index)) && fits(index.checked_add(1));
        if found == *section || !(is_whole || table.shift != 0) {
            continue;
        }
        is_harmless &= right.are_read_by(index, found);
        let before = at.saturating_sub(SECTION_SIZE).max(table.at);
        entries = entries
            .word(at, found.offset, section.offset)
            .word(at.saturating_add(8), found.size, section.size)
            .witness(before, at.saturating_sub(before), "section before")
            .witness(at.saturating_add(SECTION_SIZE), 8, "offset of the next section")
            .witness(section.offset, section.size, "content of the section");
    }
    entries.witnesses.retain(|witness| !witness.span.is_empty());
    let mut corrections = vec![entries.harmless_if(is_harmless)];
    if flags != body.flags {
        let is_old = assigned.demand.is_old;
        let correction = correct_flags(body, flags, table);
        let correction = correction.harmless_if(is_read_alike(body.flags, flags, is_old));
        corrections.push(correction.determined_if(proof.determines(Part::Flags)));
    }
    corrections
}

/// Returns the feature bits of the sections if they contradict the stored bits and are determined.
fn assign_flags(
    peek: Peek<'_>,
    stored: Flags,
    table: &TableReading,
    demand: &Demand,
) -> Option<Flags> {
    let sections = &table.sections;
    // Damaged sections have no shapes, and all others have those of their bits.
    if table.is_parted {
        return None;
    }
    let misfits = stored
        .bits()
        .zip(sections)
        .filter(|(bit, section)| demand.knows(*bit) && !shape::resembles(peek, *bit, **section));
    // A feature that the records exclude, or a section of the wrong size, is not damaged content.
    let misfits: Vec<(u32, &Section)> = misfits.collect();
    let is_impossible = misfits.iter().any(|(bit, section)| {
        demand.excluded.has(*bit) || !shape::can_have_size(*bit, section.size)
    });
    let is_impossible = is_impossible || demand.is_old && stored.up_to(bit::LAST_OLD) != stored;
    if stored.count() == to_u64(sections.len()) && misfits.len() < 2 && !is_impossible {
        return None;
    }
    flags::assign(peek, sections, stored, demand)
}

/// Corrects the feature bits.
fn correct_flags(body: &Body, flags: Flags, table: &TableReading) -> Correction {
    let words = words_of(body.flags, body.words).into_iter().zip(words_of(flags, body.words));
    let mut correction = Correction::new(Part::Flags);
    for (index, (found, value)) in (0_u64..).zip(words) {
        let at = field::FLAGS.saturating_add(index.saturating_mul(8));
        correction = correction.word(at, found, value);
    }
    let len = to_u64(table.sections.len()).saturating_mul(SECTION_SIZE);
    let first = table.sections.first().map_or(table.at, |section| section.offset);
    correction.witness(table.at, len, "feature table").witness(
        first,
        table.end().saturating_sub(first),
        "sections",
    )
}

/// Returns the words of the flags as they lie in the file.
fn words_of(flags: Flags, words: FlagWords) -> [u64; 4] {
    match words {
        FlagWords::U64 => flags.0,
        FlagWords::U32 => flags.0.map(|word| word.rotate_left(32)),
    }
}

/// Returns the features that the records and the attrs need or exclude.
fn demand(
    records: &Records<'_>,
    peek: Peek<'_>,
    layout: LayoutReading,
    table: &TableReading,
) -> Demand {
    let kinds = records.kinds(layout.data, table.at);
    let has = |kind: u32| kinds >> kind & 1 == 1;
    let mut demand = Demand::default();
    let has_stat = (record::STAT_CONFIG..=record::STAT_ROUND).any(has);
    for (bit, is_seen) in [
        (bit::COMPRESSED, has(record::COMPRESSED) || has(record::COMPRESSED2)),
        (bit::STAT, has_stat),
    ] {
        if is_seen {
            demand.set(bit, true);
        }
    }
    demand.set(bit::AUXTRACE, has(record::AUXTRACE));
    let count = layout.attrs.size.checked_div(layout.attr_size).unwrap_or(0);
    let is_tracepoint = |index: u64| {
        let start = layout.attrs.offset.saturating_add(index.saturating_mul(layout.attr_size));
        peek.u32(start) == Some(TYPE_TRACEPOINT)
    };
    demand.set(bit::TRACING_DATA, (0..count.min(4096)).any(is_tracepoint));
    let has_parts = !records.recording.parts.is_empty();
    demand.set(bit::DIR_FORMAT, has_parts);
    demand.is_old = shape::is_recorder_old(peek, &table.sections);
    demand
}
