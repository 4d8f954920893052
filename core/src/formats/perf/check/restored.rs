//! Damaged parts of the outline that the rest of the file restores.

use std::borrow::Cow;

use super::feature_check::title;
use crate::formats::perf::decode::header::Flags;
use crate::formats::perf::layout::{HEADER_SIZE, field};
use crate::formats::perf::recover::restore::{Blank, Correction, Dispute, Part, Restoration, Word};
use crate::formats::perf::{repair, rules};
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::text::Untrusted;
use crate::kit::words::{byte_count, join_and, plural};
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::{Finding, Report, Rule, Severity};

/// Reports every correction, with the bytes that determine it. `is_strict`: the perf that recorded
/// refuses the file at an entry of the feature table, a section of ids or a size of the attrs that
/// older ones read: with bytes after the last id or attr, or of too many ids.
pub(super) fn push(restoration: &Restoration, is_strict: bool, report: &mut Report) {
    if let Some(blank) = restoration.blank.as_ref().filter(|_| restoration.lacks_header()) {
        report.push(describe_blank(blank));
    }
    for correction in &restoration.corrections {
        let mut finding = describe(restoration, correction);
        if is_strict && matches!(correction.part, Part::Table | Part::IdSection(_) | Part::Attrs) {
            finding.severity = Severity::Error;
        }
        report.push(finding);
    }
    if let Some((first, more)) = restoration.disputes.split_first() {
        report.push(describe_dispute(restoration, first, to_u64(more.len())));
    }
}

/// Describes a header of zeros for which no donor has the bytes.
fn describe_blank(blank: &Blank) -> Finding {
    let span = Span::new(Layer::stored(0), 0, blank.start);
    let finding = Finding::new(&rules::HEADER_BLANK, span, "header", blank_message(blank.start));
    finding.fix(match &blank.donated {
        Some(Err(why)) => Fix::manual(format!("the donor cannot be used: {why}")),
        _ => Fix::manual("take header, ids and attrs from the file before it of the same run")
            .option("--donor perf.data.TIME"),
    })
}

fn blank_message(start: u64) -> String {
    format!("header, ids and attrs are zeros: the first record is at {start:#x}")
}

/// Returns the edits that fill the zeros of a header with these words, except `data.size` and the
/// feature bits.
fn fill(words: &[Word], start: u64, order: Order) -> Vec<Edit> {
    let ranges = [(0, field::DATA_SIZE), (HEADER_SIZE, start)];
    let edits = ranges.map(|(from, to)| {
        let value_at = |at: u64| {
            let word = words.binary_search_by_key(&at, |word| word.at).ok();
            word.and_then(|index| words.get(index)).map_or(0, |word| word.value)
        };
        let bytes = (from..to).step_by(8).flat_map(|at| repair::u64_bytes(value_at(at), order));
        Edit::fill(Span::new(Layer::stored(0), from, to), bytes.collect::<Vec<u8>>())
    });
    edits.into()
}

/// Describes the first difference between an attr and its copy, and counts the others.
fn describe_dispute(restoration: &Restoration, first: &Dispute, more: u64) -> Finding {
    let part = if first.is_attr { Part::DescribedAttr(0) } else { Part::DescribedIds };
    let word = Word { at: first.at, found: first.found, value: first.copy };
    let more = match more {
        0 => String::new(),
        more => format!(", and {} more", plural(more, "value")),
    };
    let message = format!(
        "{} is {:#x}, but {:#x} in EVENT_DESC{more}",
        label(part, &word),
        first.found,
        first.copy
    );
    let place = |at: u64| Span::sized(Layer::stored(0), at, 8);
    let (rule, path) = rule_of(part, restoration.is_pipe);
    let finding = Finding::new(rule, place(first.at), path, message);
    finding
        .related(place(first.copy_at), "the copy in EVENT_DESC")
        .fix(Fix::manual("nothing shows which of the two is right"))
}

/// Whether a correction changes a place or size on which the places of records and features depend.
pub(super) fn moves_outline(restoration: &Restoration) -> bool {
    restoration.corrections.iter().any(|correction| is_outline(correction.part))
}

const fn is_outline(part: Part) -> bool {
    matches!(
        part,
        Part::Head
            | Part::Magic
            | Part::HeaderSize
            | Part::AttrSize
            | Part::Attrs
            | Part::DataOffset
            | Part::DataSize
            | Part::EventTypes
            | Part::Flags
            | Part::Table
    )
}

fn describe(restoration: &Restoration, correction: &Correction) -> Finding {
    let order = restoration.order;
    let words = &correction.words;
    if let (Part::Head, Some(blank)) = (correction.part, &restoration.blank) {
        let span = Span::new(Layer::stored(0), 0, blank.start);
        let message = blank_message(blank.start);
        let fix =
            Fix::new(Safety::Synthetic, summarize(correction), fill(words, blank.start, order));
        return Finding::new(&rules::HEADER_BLANK, span, "header", message).fix(fix);
    }
    let edits = words.iter().map(|word| edit_of(word, order));
    let (rule, path) = rule_of(correction.part, restoration.is_pipe);
    let mut finding = Finding::new(rule, span_of(words), path, message(restoration, correction));
    // Bytes that are corrected themselves prove nothing.
    let sound = correction.witnesses.iter();
    let sound = sound.filter(|witness| !restoration.corrects(witness.span));
    let is_determined = correction.is_determined && !has_moved(restoration, correction);
    let has_witness = sound.clone().next().is_some() && is_determined;
    let safety = if has_witness { Safety::Exact } else { Safety::Lossy };
    // A fix that is only likely would be left out for a warning, and what depends on it as well.
    if correction.is_harmless && has_witness {
        finding.severity = Severity::Warning;
    }
    let fix = Fix::new(safety, summarize(correction), edits.collect());
    let altered = u64::from(correction.part == Part::IdIndex);
    let fix = sound.fold(fix, |fix, witness| fix.witness(witness.span, witness.meaning));
    finding.fix(fix.altered(altered))
}

/// Whether a place that is corrected is wrong by the same amount as another one. Then both are what
/// the recorder wrote: bytes before them were lost, or inserted, and what they point to moved.
fn has_moved(restoration: &Restoration, correction: &Correction) -> bool {
    let shifts = |correction: &Correction| -> Vec<u64> {
        let words = correction.words.iter().filter(|_| is_place(correction.part));
        words.map(|word| word.found.wrapping_sub(word.value)).collect()
    };
    let all: Vec<u64> = restoration.corrections.iter().flat_map(shifts).collect();
    let count = |shift: &u64| all.iter().filter(|other| *other == shift).count();
    shifts(correction).iter().any(|shift| *shift != 0 && count(shift) > 1)
}

const fn is_place(part: Part) -> bool {
    matches!(part, Part::Attrs | Part::DataOffset | Part::IdSection(_) | Part::Table)
}

/// Returns the edit of the bytes of a word that differ: nothing determines the others.
fn edit_of(word: &Word, order: Order) -> Edit {
    let new = repair::u64_bytes(word.value, order);
    let differs = new.iter().zip(repair::u64_bytes(word.found, order)).map(|(a, b)| *a != b);
    let differs: Vec<bool> = differs.collect();
    let first = differs.iter().position(|differs| *differs).unwrap_or(0);
    let last = differs.iter().rposition(|differs| *differs).unwrap_or(7);
    let start = word.at.saturating_add(to_u64(first));
    let bytes = new.get(first..=last).unwrap_or_default();
    Edit::replace(Span::sized(Layer::stored(0), start, to_u64(bytes.len())), bytes)
}

/// Returns the bytes from the first word to the last one.
fn span_of(words: &[Word]) -> Span {
    let start = words.first().map_or(0, |word| word.at);
    let end = words.last().map_or(0, |word| word.at.saturating_add(8));
    Span::new(Layer::stored(0), start, end)
}

fn rule_of(part: Part, is_pipe: bool) -> (&'static Rule, Cow<'static, str>) {
    let (rule, path) = match part {
        Part::Head => (&rules::HEADER_BLANK, "header"),
        Part::Magic => (&rules::MAGIC_DAMAGED, "header.magic"),
        Part::HeaderSize => (&rules::HEADER_SIZE, "header.size"),
        Part::AttrSize => (&rules::ATTR_SIZE_WRONG, "header.attr_size"),
        Part::Attrs => (&rules::SECTION_DISPLACED, "header.attrs"),
        Part::DataOffset => (&rules::SECTION_DISPLACED, "header.data.offset"),
        Part::DataSize => (&rules::DATA_SIZE_WRONG, "header.data.size"),
        Part::EventTypes => (&rules::EVENT_TYPES_DAMAGED, "header.event_types"),
        Part::Flags => (&rules::FLAGS_WRONG, "header.flags"),
        Part::Table => (&rules::TABLE_ENTRY_WRONG, "features"),
        Part::IdSection(index) => {
            return (&rules::SECTION_DISPLACED, format!("attrs[{index}].ids").into());
        }
        Part::Attr(index) => {
            let table = if is_pipe { "data.attr" } else { "attrs" };
            return (&rules::ATTR_WRONG, format!("{table}[{index}]").into());
        }
        Part::Ids if is_pipe => (&rules::ID_WRONG, "data.attr.ids"),
        Part::Ids => (&rules::ID_WRONG, "attrs.ids"),
        Part::DescribedAttr(_) | Part::DescribedIds if is_pipe => {
            (&rules::EVENT_DESC_WRONG, "data.EVENT_DESC")
        }
        Part::DescribedAttr(_) | Part::DescribedIds => {
            (&rules::EVENT_DESC_WRONG, "features.EVENT_DESC")
        }
        Part::IdIndex => (&rules::ID_INDEX_WRONG, "data.ID_INDEX"),
    };
    (rule, path.into())
}

/// Returns the name of a word of a part.
fn label(part: Part, word: &Word) -> String {
    let is_second = word.at & 8 != 0;
    match part {
        Part::Head => "header".into(),
        Part::Magic => "magic".into(),
        Part::HeaderSize => "header.size".into(),
        Part::AttrSize => "attr_size".into(),
        Part::Attrs if word.at == field::ATTRS => "attrs.offset".into(),
        Part::Attrs => "attrs.size".into(),
        Part::DataOffset => "data.offset".into(),
        Part::DataSize => "data.size".into(),
        Part::EventTypes if is_second => "event_types.offset".into(),
        Part::EventTypes => "event_types.size".into(),
        Part::Flags => "flags".into(),
        Part::IdSection(_) => format!("the section of ids at {:#x}", word.at),
        Part::Attr(_) | Part::DescribedAttr(_) => format!("the attr word at {:#x}", word.at),
        Part::Ids | Part::DescribedIds | Part::IdIndex => format!("the id at {:#x}", word.at),
        Part::Table => format!("the number at {:#x}", word.at),
    }
}

fn message(restoration: &Restoration, correction: &Correction) -> String {
    let words = &correction.words;
    let Some(first) = words.first() else { return String::new() };
    let name = label(correction.part, first);
    match correction.part {
        Part::Magic => {
            let [found, value] =
                [first.found, first.value].map(|magic| repair::u64_bytes(magic, restoration.order));
            let (found, value) = (Untrusted(&found), Untrusted(&value));
            format!("magic is `{found}`, expected `{value}`")
        }
        Part::Flags => {
            let (set, missing) = flipped_bits(words);
            let parts = [("without a section", set), ("missing", missing)];
            let parts = parts.into_iter().filter(|(_, names)| !names.is_empty());
            let parts: Vec<String> =
                parts.map(|(what, names)| format!("{what}: {}", join_and(&names))).collect();
            format!("feature bits contradict the sections: {}", parts.join("; "))
        }
        Part::DataSize => format!(
            "data.size is {}, but the feature table begins {} after data.offset",
            first.found,
            byte_count(first.value)
        ),
        _ => {
            let rest = to_u64(words.len()).saturating_sub(1);
            let more = match rest {
                0 => String::new(),
                _ => format!(", and {} more", plural(rest, "value")),
            };
            format!("{name} is {:#x}, expected {:#x}{more}", first.found, first.value)
        }
    }
}

/// Returns the names of the bits that are set without a section, and of those that are missing.
fn flipped_bits(words: &[Word]) -> (Vec<String>, Vec<String>) {
    let (mut found, mut value) = (Flags::default(), Flags::default());
    for word in words {
        let index = usize::try_from(word.at.saturating_sub(field::FLAGS) >> 3).unwrap_or(4);
        if let (Some(f), Some(v)) = (found.0.get_mut(index), value.0.get_mut(index)) {
            (*f, *v) = (word.found, word.value);
        }
    }
    let names = |of: Flags, not: Flags| {
        of.bits().filter(|bit| !not.has(*bit)).map(title).collect::<Vec<_>>()
    };
    (names(found, value), names(value, found))
}

fn summarize(correction: &Correction) -> String {
    let words = &correction.words;
    match (correction.part, words.as_slice()) {
        (Part::Flags, _) => {
            let (set, missing) = flipped_bits(words);
            let count = to_u64(set.len().saturating_add(missing.len()));
            format!("correct {}", plural(count, "feature bit"))
        }
        (Part::Head, _) => "take header, ids and attrs of the donor".into(),
        (Part::Magic, _) => "restore the magic".into(),
        _ if correction.is_unknown => {
            "set the attr's size, and name its event dummy: nothing tells what was counted".into()
        }
        (part, [word]) => format!("set {} to {:#x}", label(part, word), word.value),
        _ => format!("restore {}", plural(to_u64(words.len()), "value")),
    }
}
