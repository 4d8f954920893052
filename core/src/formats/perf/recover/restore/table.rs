//! The feature table, found by its own structure.
//!
//! ```text
//!  | o0 s0 | o1 s1 | ... | unused, 0 0 |   section 0   |  section 1  | ... end of the file
//!                                          ^ o0        ^ o0 + s0 == o1
//! ```
//!
//! perf writes the sections one after the other, so every boundary between two of them is stored
//! three times: as an offset, as an offset and a size, and as the next offset minus a size. The
//! path through the boundaries that most of the stored numbers support is the table as it was
//! written. A number that the path contradicts is damaged.

use super::parted::Parted;
use super::peek::Peek;
use super::shape;
use super::table_reading::{CONTENT, Hints, NUMBER, TableReading};
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::layout::SECTION_SIZE;
use crate::kit::num::{to_u64, to_usize};

/// Sections whose contents prove that all of them have moved.
const LEAST_FITTING: u64 = 2;
/// Bytes of entries that perf reserves and then does not use.
pub(super) const MOST_HOLE: u64 = 8 * SECTION_SIZE;
/// Most entries of a table: perf plans about 30.
const MOST_ENTRIES: u64 = 64;
/// Bytes of an entry and of the offset in the next one.
const PAIR: usize = 24;
/// Candidates for one boundary that are followed.
const MOST_PLACES: usize = 12;

/// One candidate for the boundary before an entry.
#[derive(Clone, Copy, Debug)]
struct Node {
    place: u64,
    score: u64,
    /// The best node of the boundary before.
    from: usize,
    /// Whether another path to this place has the same score.
    is_tied: bool,
}

/// Finds the table of a file.
pub(super) fn find(peek: Peek<'_>, hints: &Hints) -> Option<TableReading> {
    if hints.count == 1 {
        return read_only_entry(peek, hints);
    }
    // The header places the table, its flags count the entries, and the first entry agrees: that is
    // the table, even if the file is cut and the last sections are not in it. It did not move, so
    // no shift of its offsets is considered. If it moved by a few entries, a later one is there.
    let stated = hints.declared.filter(|at| begins_at(peek, *at, hints.count));
    let is_whole = |at: u64| {
        let last = stored_entries(peek, at, hints.count).last().and_then(|last| last.end());
        last == Some(peek.len())
    };
    let moved = if stated.is_some_and(is_whole) { None } else { find_moved(peek, hints) };
    if moved.is_some() {
        return moved;
    }
    if let Some(at) = stated {
        let parted = Parted::find(peek, at, &hints.flags).and_then(|parted| parted.read(at));
        return parted.or_else(|| read_shifted(peek, (at, 0), hints.count));
    }
    let read = |at: &u64| read(peek, *at, hints);
    let hinted = hints.places.iter().filter_map(read);
    let best = hinted.max_by_key(|reading| reading.score);
    if best.is_some() {
        return best;
    }
    let starts = scan(peek, hints.from, hints.most);
    let mut found: Vec<TableReading> = starts.iter().filter_map(read).collect();
    // Bytes before the table may look like an entry; the flags count the entries.
    let is_flagged = |reading: &TableReading| to_u64(reading.sections.len()) == hints.count;
    if found.iter().any(is_flagged) {
        found.retain(is_flagged);
    }
    let best = found.iter().max_by_key(|reading| reading.score)?;
    let rivals = found.iter().filter(|other| other.score == best.score && other.at != best.at);
    (rivals.count() == 0).then(|| best.clone())
}

/// Reads a table of one entry where the header places it. The section fills the rest of the file
/// and has the shape of its feature; the entry has its offset or its size.
fn read_only_entry(peek: Peek<'_>, hints: &Hints) -> Option<TableReading> {
    let at = hints.declared?;
    let found = peek.section(at)?;
    let bit = hints.flags.bits().next()?;
    let first = at.checked_add(SECTION_SIZE)?;
    let hole = found.offset.checked_sub(first);
    let is_planned =
        hole.is_some_and(|hole| hole.is_multiple_of(SECTION_SIZE) && hole <= MOST_HOLE);
    let offset = if is_planned { found.offset } else { first };
    let section = Section { offset, size: peek.len().checked_sub(offset)? };
    let is_right = found.offset == offset || found.size == section.size;
    let fits = shape::is_known(bit) && shape::resembles(peek, bit, section);
    let score = NUMBER.saturating_add(CONTENT);
    let sections = vec![section];
    (is_right && fits).then_some(TableReading { at, sections, shift: 0, is_parted: false, score })
}

/// Finds a table that moved as a whole: its offsets are those that it would have where the header
/// places it, every section adjoins the next one, and the last one ends with the file.
fn find_moved(peek: Peek<'_>, hints: &Hints) -> Option<TableReading> {
    let (count, declared) = (hints.count, hints.declared?);
    if !(1..=MOST_ENTRIES).contains(&count) {
        return None;
    }
    let len = count.saturating_mul(SECTION_SIZE);
    let start = hints.from.max(peek.len().saturating_sub(hints.most));
    let last = peek.len().checked_sub(len)?;
    let mut found: Option<TableReading> = None;
    let bytes = peek.bytes(start, last.saturating_add(8));
    let is_first = |bytes: &[u8]| {
        let hole = peek.number(bytes).checked_sub(declared.saturating_add(len));
        hole.is_some_and(|hole| hole.is_multiple_of(SECTION_SIZE) && hole <= MOST_HOLE)
    };
    let places = (start..).zip(bytes.windows(8)).filter(|(_, bytes)| is_first(bytes));
    for at in places.map(|(at, _)| at).filter(|at| *at != declared) {
        let entries = stored_entries(peek, at, count);
        let adjoin = |pair: &[Section]| match pair {
            [one, next] => one.end() == Some(next.offset),
            _ => false,
        };
        let shift = at.wrapping_sub(declared);
        let end = entries.last().and_then(|last| last.end()).map(|end| end.wrapping_add(shift));
        if end != Some(peek.len()) || !entries.windows(2).all(adjoin) {
            continue;
        }
        if found.is_some() {
            return None;
        }
        let moved = |section: &Section| Section {
            offset: section.offset.wrapping_add(shift),
            size: section.size,
        };
        let sections: Vec<Section> = entries.iter().map(moved).collect();
        let is_parted = false;
        found = Some(TableReading { at, sections, shift, is_parted, score: u64::MAX });
    }
    found
}

/// Reads the table at `at`: as it is stored, or with all offsets shifted, because bytes before the
/// table were lost or added. Sizes support both readings alike, so the contents decide.
fn read(peek: Peek<'_>, at: u64, hints: &Hints) -> Option<TableReading> {
    let plain = read_shifted(peek, (at, 0), hints.count);
    if plain.as_ref().is_some_and(|plain| plain.end() == peek.len()) {
        return plain;
    }
    let entries = stored_entries(peek, at, MOST_ENTRIES);
    let mut ends = entries.windows(2).filter_map(|pair| match pair {
        [one, next] if one.offset > 0 => {
            one.end().filter(|end| *end == next.offset).and(next.end())
        }
        _ => None,
    });
    let to_end = ends.next_back().map(|last| peek.len().wrapping_sub(last));
    let moved = hints.declared.map(|declared| at.wrapping_sub(declared));
    let fits = |reading: &TableReading| {
        let sections = reading.sections.iter().filter(|section| shape::is_any(peek, **section));
        to_u64(sections.count())
    };
    let mut best = plain.map(|plain| (fits(&plain), plain));
    let mut shifts: Vec<u64> = [to_end, moved].into_iter().flatten().collect();
    shifts.retain(|shift| *shift != 0);
    shifts.dedup();
    for shift in shifts {
        let Some(reading) = read_shifted(peek, (at, shift), hints.count) else { continue };
        let held = fits(&reading);
        // A file that is only cut has its table where the header places it.
        let is_expected = to_end == Some(shift) && moved == Some(shift);
        let least = if is_expected { 0 } else { LEAST_FITTING };
        if held >= least && best.as_ref().is_none_or(|(most, _)| held > *most) {
            best = Some((held, reading));
        }
    }
    best.map(|(_, reading)| reading)
}

/// Returns whether the first of `count` entries at `at` place their sections one after another,
/// after the table.
fn begins_at(peek: Peek<'_>, at: u64, count: u64) -> bool {
    let end = at.saturating_add(count.saturating_mul(SECTION_SIZE));
    let entries = stored_entries(peek, at, count.min(4));
    let adjoin = |pair: &[Section]| match pair {
        [one, next] => one.end() == Some(next.offset),
        _ => false,
    };
    let Some(first) = entries.first() else { return false };
    let is_placed = first.offset == end || first.offset > end && entries.len() > 2;
    is_placed && entries.windows(2).all(adjoin)
}

/// Reads the table at `at` with `shift` added to every offset.
fn read_shifted(peek: Peek<'_>, (at, shift): (u64, u64), flagged: u64) -> Option<TableReading> {
    let stored = stored_entries(peek, at, MOST_ENTRIES);
    let moved = |section: &Section| match *section {
        Section { offset: 0, size: 0 } => *section,
        Section { offset, size } => Section { offset: offset.wrapping_add(shift), size },
    };
    let entries: Vec<Section> = stored.iter().map(moved).collect();
    let flagged_places = if shift == 0 { flagged } else { 0 };
    let firsts = first_places(&entries, at, flagged_places);
    let mut readings = Vec::new();
    for first in firsts {
        let planned = first.saturating_sub(at) / SECTION_SIZE;
        let planned = to_usize(planned).min(entries.len());
        let held = entries.get(..planned).unwrap_or_default();
        let used = held.iter().rposition(|entry| *entry != Section::default());
        let used = used.map_or(0, |last| last.saturating_add(1));
        // Damage may hide the last entry, or make an unused one look used.
        let mut counts = vec![used, to_usize(flagged)];
        counts.dedup();
        for count in counts.into_iter().filter(|count| *count > 0) {
            let path = held.get(..count).and_then(|held| best_path(peek, held, first));
            readings.extend(path.map(|(sections, score)| TableReading {
                at,
                sections,
                shift,
                is_parted: false,
                score,
            }));
        }
    }
    readings.retain(TableReading::is_supported);
    // With the same support, fewer sections explain as much.
    let rank =
        |reading: &TableReading| (reading.score, usize::MAX.saturating_sub(reading.sections.len()));
    let best = readings.iter().max_by_key(|reading| rank(reading))?;
    let rivals = readings.iter().filter(|other| rank(other) == rank(best) && *other != best);
    (rivals.count() == 0).then(|| best.clone())
}

/// Reads up to `most` entries at `at`.
fn stored_entries(peek: Peek<'_>, at: u64, most: u64) -> Vec<Section> {
    let places = (0..most).map(|index| at.saturating_add(index.saturating_mul(SECTION_SIZE)));
    places.map_while(|place| peek.section(place)).collect()
}

/// Returns where the first section can begin: as the first entry has it, as later ones imply, or
/// after an entry for each of the flagged features and some that perf dropped.
/// The table has a whole number of entries before that place.
fn first_places(entries: &[Section], at: u64, flagged: u64) -> Vec<u64> {
    // perf drops few of the features for which it reserves entries.
    let planned = (0..4_u64).map(|dropped| flagged.saturating_add(dropped));
    let planned = planned.filter(|_| flagged > 0);
    let mut places: Vec<u64> =
        planned.map(|count| at.saturating_add(count.saturating_mul(SECTION_SIZE))).collect();
    let mut before = 0_u64;
    for entry in entries.iter().take(4) {
        let place = entry.offset.wrapping_sub(before);
        before = before.wrapping_add(entry.size);
        let len = place.wrapping_sub(at);
        let is_whole = len.is_multiple_of(SECTION_SIZE);
        if is_whole && len > 0 && len <= MOST_ENTRIES * SECTION_SIZE && !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// Finds the path through the boundaries that the entries support best. `None` if two paths are
/// equally good.
fn best_path(peek: Peek<'_>, entries: &[Section], first: u64) -> Option<(Vec<Section>, u64)> {
    let start = Node { place: first, score: 0, from: 0, is_tied: false };
    let mut levels = vec![vec![start]];
    for index in 0..entries.len() {
        let nodes = levels.last()?;
        let places = next_places(peek, entries, index, nodes);
        let entry = entries.get(index).copied()?;
        let next: Vec<Node> =
            places.into_iter().filter_map(|place| reach(peek, entry, nodes, place)).collect();
        levels.push(next);
    }
    let end_bonus =
        |node: &Node| node.score.saturating_add(if node.place == peek.len() { NUMBER } else { 0 });
    let last = levels.last()?;
    let (mut index, best) = last.iter().enumerate().max_by_key(|(_, node)| end_bonus(node))?;
    let score = end_bonus(best);
    let rivals = last.iter().filter(|node| end_bonus(node) == score).count();
    if rivals > 1 {
        return None;
    }
    let mut places = Vec::new();
    for level in levels.iter().rev() {
        let node = level.get(index)?;
        if node.is_tied {
            return None;
        }
        places.push(node.place);
        index = node.from;
    }
    places.reverse();
    let sections = places.windows(2).filter_map(|pair| match pair {
        [start, end] => Some(Section { offset: *start, size: end.saturating_sub(*start) }),
        _ => None,
    });
    Some((sections.collect(), score))
}

/// Returns the candidates for the boundary after entry number `index`.
fn next_places(peek: Peek<'_>, entries: &[Section], index: usize, nodes: &[Node]) -> Vec<u64> {
    let Some(entry) = entries.get(index) else { return Vec::new() };
    let after = entries.get(index.saturating_add(1));
    let mut places: Vec<u64> = entry.end().into_iter().collect();
    places.extend(after.map(|after| after.offset));
    if let (Some(after), Some(second)) = (after, entries.get(index.saturating_add(2))) {
        places.extend(second.offset.checked_sub(after.size));
    }
    places.extend(nodes.iter().filter_map(|node| node.place.checked_add(entry.size)));
    if after.is_none() {
        places.push(peek.len());
    }
    let least = nodes.iter().map(|node| node.place).min().unwrap_or(0);
    places.retain(|place| (least..=peek.len()).contains(place));
    places.sort_unstable();
    places.dedup();
    places.truncate(MOST_PLACES);
    places
}

/// Returns the best way from `nodes` through the section of `entry` to `place`.
fn reach(peek: Peek<'_>, entry: Section, nodes: &[Node], place: u64) -> Option<Node> {
    let mut best: Option<Node> = None;
    for (from, node) in nodes.iter().enumerate().filter(|(_, node)| node.place <= place) {
        let section = Section { offset: node.place, size: place.saturating_sub(node.place) };
        let begins = entry.offset == section.offset;
        let ends = entry.size == section.size;
        let numbers = u64::from(begins).saturating_add(u64::from(ends)).saturating_mul(NUMBER);
        // An entry of zeros is unused or wiped, and supports nothing.
        let numbers = if entry.offset == 0 { 0 } else { numbers };
        // Contents are costly to read, so they decide only where numbers disagree.
        let is_agreed = begins && ends && entry.offset > 0;
        let fits = is_agreed || shape::is_any(peek, section);
        let gain = numbers.saturating_add(if fits { CONTENT } else { 0 });
        let score = node.score.saturating_add(gain);
        match &mut best {
            Some(found) if found.score == score => found.is_tied = true,
            Some(found) if found.score > score => {}
            _ => best = Some(Node { place, score, from, is_tied: false }),
        }
    }
    best
}

/// Searches the last `most` bytes of the file from `from` on for runs of entries that adjoin.
/// Returns the places where the longest runs can begin.
fn scan(peek: Peek<'_>, from: u64, most: u64) -> Vec<u64> {
    let start = from.max(peek.len().saturating_sub(most));
    let mut runs: Vec<(u64, u64)> = Vec::new();
    // The ends of the runs at the last 16 places.
    let mut recent = [None::<usize>; 16];
    let bytes = peek.bytes(start, peek.len());
    for (at, window) in (start..).zip(bytes.windows(PAIR)) {
        let slot = recent.get_mut(usize::try_from(at % SECTION_SIZE).unwrap_or(0));
        if let Some(slot) = slot {
            *slot = note_pair(peek, (at, window), *slot, &mut runs);
        }
    }
    let longest = runs.iter().map(|(_, pairs)| *pairs).max().unwrap_or(0);
    runs.retain(|(_, pairs)| *pairs >= 3 && pairs.saturating_mul(2) >= longest);
    runs.truncate(64);
    // Damage may hide entries before the run.
    let before = |(at, _): (u64, u64)| {
        (0..=6_u64).filter_map(move |n| at.checked_sub(n.saturating_mul(SECTION_SIZE)))
    };
    let mut places: Vec<u64> = runs.into_iter().flat_map(before).collect();
    places.retain(|place| *place >= from);
    places.sort_unstable();
    places.dedup();
    places
}

/// Notes whether two entries adjoin at `at`; `run` is the run that ends 16 bytes before. Returns
/// the run that ends here.
fn note_pair(
    peek: Peek<'_>,
    (at, bytes): (u64, &[u8]),
    run: Option<usize>,
    runs: &mut Vec<(u64, u64)>,
) -> Option<usize> {
    /// Runs that are kept; a file has one table.
    const MOST_RUNS: usize = 4096;
    let number = |at: usize| peek.number(bytes.get(at..).unwrap_or_default());
    let (entry, next) = (Section { offset: number(0), size: number(8) }, number(16));
    let is_pair = entry.offset > from_table(at) && entry.end() == Some(next);
    if !is_pair || next > peek.len().saturating_mul(2) {
        return None;
    }
    if let Some(found) = run.and_then(|index| runs.get_mut(index)) {
        found.1 = found.1.saturating_add(1);
        return run;
    }
    if runs.len() >= MOST_RUNS {
        return None;
    }
    runs.push((at, 1));
    Some(runs.len().saturating_sub(1))
}

/// The least offset of a section in an entry at `at`: bytes may be missing before it, but not more
/// than half of the file.
const fn from_table(at: u64) -> u64 {
    at >> 1
}
