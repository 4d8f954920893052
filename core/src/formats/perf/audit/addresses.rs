//! Addresses in records: they move with their maps, and stand-ins replace those in no map.

use std::borrow::Cow;

use super::maps::Lies;
use super::{CONTEXT_FIRST, KERNEL_FIRST, Record};
use crate::kit::field_log::{Field, FieldValue};
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::model::Rule;
use crate::sight::filler::Filler;
use crate::sight::rules::sender;
use crate::sight::{Auditor, Excerpt, Place, Private, Subject};

/// The field of addresses that no map holds: `3 addresses in no known map`.
const NO_MAP: &str = "no known map";
/// Words of call chains that no map holds: whatever lay on the stack.
const OUTSIDE: Subject = ("callchain outside of all maps", "word");
/// Stands for an address of the kernel that no map holds; for one of a program, 0 does.
const KERNEL_STAND_IN: u64 = KERNEL_FIRST;

/// The words of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// Addresses.
    Addresses,
    /// Where maps and symbols of the kernel begin.
    Starts,
    /// Branches: two addresses and flags each.
    Branches,
    /// A call chain: without frame pointers, perf takes whatever lies on the stack for addresses.
    Chain,
    /// Registers, or a stack; the noun for all of them.
    Memory(&'static str),
}

/// The judgement of a word.
#[derive(Clone, Copy, Debug)]
enum Judged {
    /// It is no address, or one that was moved already.
    Plain,
    /// It is an address that stays.
    Fixed,
    /// Another word can take its place.
    Private(&'static Rule, Subject, u64),
}

/// Words in a row with one judgement, and what takes their place.
struct Run {
    rule: &'static Rule,
    subject: Subject,
    start: usize,
    filled: Vec<u8>,
    count: u64,
}

/// Whether a number is an address of the kernel.
const fn is_kernel(number: u64) -> bool {
    number >= KERNEL_FIRST && number < CONTEXT_FIRST
}

/// The rule about an address, and the noun for it.
fn kind_of(address: u64) -> (&'static Rule, &'static str) {
    match is_kernel(address) {
        true => (&sender::KERNEL_ADDRESS, "kernel address"),
        false => (&sender::ADDRESS, "address"),
    }
}

impl Record<'_> {
    /// Judges a field that is one address.
    pub(super) fn audit_address(
        &self,
        auditor: &mut Auditor<'_>,
        field: &Field,
        section: &'static str,
        (number, words): (u64, Words),
    ) {
        let bytes = self.order.bytes(number);
        self.audit_words(auditor, self.place(field), (section, words), &bytes);
    }

    /// Judges the offset of a map in its file. In a map of the kernel it is the address of a
    /// symbol, in one without a file the address at which it began.
    pub(super) fn audit_offset(&self, auditor: &mut Auditor<'_>, field: &Field, number: u64) {
        if is_kernel(number) || self.map_start == Some(number) {
            self.audit_address(auditor, field, self.section, (number, Words::Starts));
        }
    }

    /// Judges a list of addresses, as far as it can be read.
    pub(super) fn audit_list(
        &self,
        auditor: &mut Auditor<'_>,
        field: &Field,
        bytes: &[u8],
        list: (&'static str, Words),
    ) {
        let all = read_all(auditor, field, bytes);
        self.audit_words(auditor, self.place(field), list, &all);
        self.see_rest(auditor, field, &all);
    }

    /// Judges registers or a stack: what lies in a map is an address, the rest is memory.
    pub(super) fn audit_memory_words(
        &self,
        auditor: &mut Auditor<'_>,
        field: &Field,
        bytes: &[u8],
        (section, noun): Subject,
    ) {
        let all = read_all(auditor, field, bytes);
        let place = self.place(field);
        let (words, odd) = all.as_chunks::<8>();
        self.audit_words(auditor, place, (section, Words::Memory(noun)), words.as_flattened());
        let unread = to_u64(all.len().saturating_sub(odd.len()));
        let start = field.span.start.saturating_add(unread);
        let rest = Span::new(field.span.layer, start.min(field.span.end), field.span.end);
        if !rest.is_empty() {
            let differs_later = to_u64(odd.len()) < rest.len();
            let private = Place { span: rest, ..place }.private(odd, Filler::Zeros);
            let private = Private { differs_later, ..private };
            let excerpt = Excerpt::Bytes(odd, rest.len());
            auditor.hide(&sender::MEMORY, (section, noun), 1, private, excerpt);
        }
    }

    /// Judges the words at `place`. Those in a row with one judgement are one sighting.
    fn audit_words(
        &self,
        auditor: &mut Auditor<'_>,
        place: Place,
        (section, words): (&'static str, Words),
        bytes: &[u8],
    ) {
        let mut run: Option<Run> = None;
        for (index, word) in bytes.as_chunks::<8>().0.iter().enumerate() {
            let value = self.order.u64(*word);
            let is_flags = words == Words::Branches && index % 3 == 2;
            let judged =
                if is_flags { Judged::Plain } else { self.judge_word(section, words, value) };
            let Judged::Private(rule, subject, other) = judged else {
                if matches!(judged, Judged::Fixed) {
                    let (rule, noun) = kind_of(value);
                    auditor.see(rule, (section, noun), place.of_part(bytes, word), Excerpt::None);
                }
                match &mut run {
                    // Stacks have many zeros, and each run is an edit.
                    Some(run) if value == 0 => run.filled.extend(word),
                    _ => flush_run(auditor, place, bytes, run.take()),
                }
                continue;
            };
            if run.as_ref().is_some_and(|run| (run.rule.code, run.subject) != (rule.code, subject))
            {
                flush_run(auditor, place, bytes, run.take());
            }
            let start = index.saturating_mul(8);
            let empty = || Run { rule, subject, start, filled: Vec::new(), count: 0 };
            let run = run.get_or_insert_with(empty);
            run.filled.extend(self.order.bytes(other));
            run.count = run.count.saturating_add(1);
        }
        flush_run(auditor, place, bytes, run);
    }

    fn judge_word(&self, section: &'static str, words: Words, value: u64) -> Judged {
        let (rule, noun) = kind_of(value);
        match (self.maps.find(value), words) {
            _ if value == 0 => Judged::Plain,
            (Lies::In(to), _) if to == value => Judged::Plain,
            (Lies::In(to), _) => Judged::Private(rule, (section, noun), to),
            (_, Words::Memory(noun)) => Judged::Private(&sender::MEMORY, (section, noun), 0),
            (Lies::Fixed, _) | (Lies::Outside, Words::Starts) => Judged::Fixed,
            // Marks of a context, and the stand-in.
            _ if value >= CONTEXT_FIRST || value == KERNEL_STAND_IN => Judged::Plain,
            _ if is_kernel(value) => Judged::Private(rule, (NO_MAP, noun), KERNEL_STAND_IN),
            (Lies::Outside, Words::Chain) => Judged::Private(&sender::MEMORY, OUTSIDE, 0),
            (Lies::Outside, _) => Judged::Private(rule, (NO_MAP, noun), 0),
        }
    }

    /// Names an address of the kernel that a reader looks up as it is.
    pub(super) fn see_kernel(&self, auditor: &mut Auditor<'_>, field: &Field, bytes: &[u8]) {
        let first = bytes.first_chunk().map(|word| self.order.u64(*word));
        if first.is_some_and(is_kernel) {
            let subject = (self.section, "kernel address");
            auditor.see(&sender::KERNEL_ADDRESS, subject, self.place(field), Excerpt::None);
        }
    }
}

/// Passes a run to the auditor.
fn flush_run(auditor: &mut Auditor<'_>, place: Place, bytes: &[u8], run: Option<Run>) {
    let Some(Run { rule, subject, start, filled, count }) = run else { return };
    let part = bytes.get(start..start.saturating_add(filled.len())).unwrap_or_default();
    let private = place.of_part(bytes, part).private(part, Filler::Value(&filled));
    // An address that stays would seem to lie in a map that has moved to its place.
    let also = (subject == OUTSIDE).then_some(&sender::ADDRESS);
    let excerpt = match rule.code == sender::MEMORY.code {
        true => Excerpt::Bytes(part, to_u64(part.len())),
        false => Excerpt::None,
    };
    auditor.hide(rule, subject, count, Private { also, ..private }, excerpt);
}

/// Returns all bytes of a field in a file, and the first ones of an expanded field.
fn read_all<'t>(auditor: &Auditor<'_>, field: &Field, bytes: &'t [u8]) -> Cow<'t, [u8]> {
    let span = field.span;
    if !span.layer.is_stored() || to_u64(bytes.len()) >= span.len() {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(auditor.bytes(span.layer.file).read(span.start, span.end).into_owned())
}

/// Returns where the map of a record begins.
pub(super) fn map_start(fields: &[Field]) -> Option<u64> {
    let mut starts = fields.iter().filter(|field| field.label.ends_with(".addr"));
    starts.find_map(|field| match field.value {
        FieldValue::Hex(number) => Some(number),
        _ => None,
    })
}
