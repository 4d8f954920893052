//! Known originals: sound ovni traces are damaged and repaired, and the result is compared with the
//! original and judged by the emulator.
//!
//! - An exact repair gives the original back.
//! - A repair without loss keeps every byte that the damage spared.
//! - Events that the damage spared survive, or the report counts them as lost.
//! - Every repaired trace is clean, and the emulator accepts it.

use std::collections::{BTreeMap, BTreeSet};

use arbitrary::Arbitrary;
use tracemend::model::patch::Op;
use tracemend::{FormatId, Options, Outcome, Repair, Safety, Severity};

use super::{Held, ensure, recording};
use crate::forge::ovni::damage::{Damage, Tagged, TaggedTrace, event_spans, event_spans_from};
use crate::forge::ovni::{Clean, Random, Trace, clean, random};
use crate::judge::ovni::Ovniemu;

/// One case: an original, and its damage.
#[derive(Clone, Debug)]
pub struct Case {
    /// The seed that makes it.
    pub seed: u64,
    /// The kinds of damage, in order.
    pub damages: Vec<Damage>,
    /// The original.
    pub original: Trace,
    /// The damaged trace.
    pub damaged: TaggedTrace,
}

impl Case {
    /// Makes a case. `kind` is the only damage; without it there are 1 to 8.
    pub fn new(seed: u64, kind: Option<Damage>) -> Self {
        let mut numbers = Random(seed ^ 0x5bd1_e995_0000_0000);
        numbers.below(2);
        // The emulator refuses models other than its own.
        let sound: Vec<Clean> =
            clean().into_iter().filter(|clean| clean.name != "foreign_model").collect();
        let original = match numbers.below(3) {
            0 => sound[numbers.below(sound.len())].trace.clone(),
            _ => random(seed, 20 + numbers.below(150)),
        };
        let mut damaged = TaggedTrace::new(&original);
        let count = if kind.is_some() { 1 } else { 1 + numbers.below(8) };
        let mut damages = Vec::new();
        for _ in 0..count {
            let damage = kind.unwrap_or_else(|| numbers.one_of(&Damage::ALL));
            damaged.damage(damage, &mut numbers);
            damages.push(damage);
        }
        Self { seed, damages, original, damaged }
    }
}

/// Results of some cases.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Number of each result, by its name.
    pub counts: BTreeMap<&'static str, usize>,
    /// Cases without an output: the seed and the errors that are left.
    pub given_up: Vec<(u64, String)>,
    /// Cases that break a law: the seed and the law.
    pub broken: Vec<(u64, String)>,
}

impl Results {
    fn note(&mut self, name: &'static str, is_so: bool) {
        *self.counts.entry(name).or_default() += usize::from(is_so);
    }

    fn add(&mut self, name: &'static str, number: usize) {
        *self.counts.entry(name).or_default() += number;
    }

    /// Returns one of the numbers.
    pub fn of(&self, name: &str) -> usize {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// Adds further results.
    pub fn merge(&mut self, other: &Self) {
        for (name, count) in &other.counts {
            self.add(name, *count);
        }
        self.given_up.extend(other.given_up.iter().cloned());
        self.broken.extend(other.broken.iter().cloned());
    }
}

/// Repairs a case and judges it.
pub fn judge_case(case: &Case, emulator: Option<&Ovniemu>) -> Results {
    let mut results = Results::default();
    let damaged = case.damaged.trace();
    let (repair, target) = damaged.mended(&Options::default());
    let published = !matches!(repair.outcome, Outcome::CannotRepair | Outcome::Incomplete);
    let refused = repair.before.has_errors();
    results.note("cases", true);
    results.note("refused", refused);
    results.note("published", published);
    results.note("repaired", published && refused);
    results.note("lossy", repair.outcome == Outcome::RepairedWithLoss);
    if !published {
        let left = repair.after.findings().iter();
        let left = left.filter(|finding| finding.severity == Severity::Error);
        let codes: BTreeSet<&str> = left.map(|finding| finding.rule.code).collect();
        let reason = repair.refused.clone().unwrap_or_default();
        results.given_up.push((case.seed, format!("{codes:?} {reason}")));
    }
    let mut broken = |law: String| results.broken.push((case.seed, law));
    if published && repair.after.worst() > Some(Severity::Warning) {
        broken(format!("errors are left: {:?}", repair.after.findings()));
    }
    let is_original = target == case.original;
    if repair.changes() && repair.safety() == Some(Safety::Exact) {
        if !is_original {
            broken("an exact repair is not the original".to_string());
        }
        results.note("exact", true);
    }
    results.note("original", repair.changes() && is_original);
    let survived = compare(&case.original, &case.damaged, &repair);
    // Of two equal blocks, that with the tags of the original may be the one that was dropped.
    if repair.outcome == Outcome::Repaired && survived.bytes_lost > 0 && !is_original {
        let lost = survived.bytes_lost;
        results.broken.push((case.seed, format!("without loss, but {lost} spared bytes are gone")));
    }
    if published {
        results.add("events", survived.events);
        results.add("kept", survived.kept);
    }
    if let Some(emulator) = emulator {
        judge_verdicts(case, (&damaged, &target), &repair, published, emulator, &mut results);
    }
    results
}

fn judge_verdicts(
    case: &Case,
    (damaged, target): (&Trace, &Trace),
    repair: &Repair,
    published: bool,
    emulator: &Ovniemu,
    results: &mut Results,
) {
    let before = emulator.lint(damaged);
    results.note("emulator refused", !before.accepted);
    results.note("silent", !before.accepted && !repair.before.has_errors());
    results.note("stricter", before.accepted && repair.before.has_errors());
    if !before.accepted && !repair.before.has_errors() {
        results.broken.push((case.seed, format!("silent: {}", before.first_error)));
    }
    results.note("emulator refused, published", !before.accepted && published);
    if published {
        let after = emulator.lint(target);
        results.note("accepted", after.accepted);
        if !after.accepted {
            results.broken.push((case.seed, format!("refused: {}", after.first_error)));
        }
    }
}

/// What a repair left of the bytes and events that the damage spared.
struct Survived {
    bytes_lost: usize,
    events: usize,
    kept: usize,
}

fn compare(original: &Trace, damaged: &TaggedTrace, repair: &Repair) -> Survived {
    let original: Vec<BTreeSet<(u32, usize)>> =
        TaggedTrace::new(original).files.iter().map(|(.., bytes)| recorded_events(bytes)).collect();
    let mut survived = Survived { bytes_lost: 0, events: 0, kept: 0 };
    let mut before: BTreeSet<(usize, u32)> = BTreeSet::new();
    let mut after: BTreeSet<(usize, u32)> = BTreeSet::new();
    let mut events: BTreeMap<(usize, u32), bool> = BTreeMap::new();
    let mut files: Vec<_> = damaged.files.iter().collect();
    files.sort_by(|a, b| a.0.split('/').cmp(b.0.split('/')));
    for ((name, index, bytes), patch) in files.into_iter().zip(&repair.patches) {
        let Some(bytes) = bytes else { continue };
        let target = patched(bytes, patch.ops());
        let tags = |bytes: &[Tagged]| -> BTreeSet<(usize, u32)> {
            bytes.iter().filter_map(|(_, tag)| Some((*index, (*tag)?))).collect()
        };
        before.extend(tags(bytes));
        after.extend(tags(&target));
        if name.ends_with(".obs") {
            for (from, is_kept) in intact_events(&original[*index], bytes, &target) {
                *events.entry((*index, from)).or_default() |= is_kept;
            }
        }
    }
    survived.bytes_lost = before.difference(&after).count();
    survived.events = events.len();
    survived.kept = events.values().filter(|kept| **kept).count();
    survived
}

fn patched(bytes: &[Tagged], ops: &[Op]) -> Vec<Tagged> {
    let place = |number: &u64| usize::try_from(*number).unwrap();
    let mut target = Vec::new();
    let mut replaced_from = 0;
    for (index, op) in ops.iter().enumerate() {
        match op {
            Op::Keep { start, end } => {
                target.extend_from_slice(&bytes[place(start)..place(end)]);
                replaced_from = place(end);
            }
            Op::Insert(new) => {
                let until = ops[index + 1..].iter().find_map(|op| match op {
                    Op::Keep { start, .. } => Some(place(start)),
                    Op::Insert(_) => None,
                });
                let replaced = &bytes[replaced_from..until.unwrap_or(bytes.len())];
                target.extend(moved(replaced, new));
            }
        }
    }
    target
}

/// The bytes that an edit writes. An event that it writes in another place of the bytes that it
/// replaces is moved, not lost.
fn moved(replaced: &[Tagged], new: &[u8]) -> Vec<Tagged> {
    let mut new: Vec<Tagged> = new.iter().map(|byte| (*byte, None)).collect();
    let plain = |bytes: &[Tagged]| bytes.iter().map(|byte| byte.0).collect::<Vec<u8>>();
    let mut old = event_spans_from(replaced, 0);
    for (at, end) in event_spans_from(&new, 0) {
        let event = plain(&new[at..end]);
        let found = old.iter().position(|(at, end)| plain(&replaced[*at..*end]) == event);
        if let Some((from, until)) = found.map(|index| old.remove(index)) {
            new[at..end].copy_from_slice(&replaced[from..until]);
        }
    }
    new
}

/// Offsets and lengths of the events of an original stream.
fn recorded_events(bytes: &Option<Vec<Tagged>>) -> BTreeSet<(u32, usize)> {
    let spans = event_spans(bytes.as_deref().unwrap_or_default()).into_iter();
    spans.filter_map(|(at, end)| Some((u32::try_from(at).ok()?, end - at))).collect()
}

/// The events of the damaged stream that are complete as they were recorded, by their original
/// offsets, and whether each is complete in the target.
fn intact_events(
    original: &BTreeSet<(u32, usize)>,
    damaged: &[Tagged],
    target: &[Tagged],
) -> Vec<(u32, bool)> {
    let chains = |bytes: &[Tagged]| -> BTreeSet<(u32, usize)> {
        let spans = event_spans(bytes);
        let intact = spans.into_iter().filter_map(|(at, end)| {
            let first = bytes[at].1?;
            let tags = (first..).zip(&bytes[at..end]);
            tags.into_iter().all(|(want, (_, tag))| *tag == Some(want)).then_some((first, end - at))
        });
        intact.collect()
    };
    let kept = chains(target);
    // Bytes that read as an event because the reading lost its way were not recorded as one.
    let intact = chains(damaged).into_iter().filter(|event| original.contains(event));
    intact.map(|event| (event.0, kept.contains(&event))).collect()
}

/// A description of a trace and of its damage. Every value is valid.
#[derive(Arbitrary, Clone, Debug)]
pub struct Description {
    /// The seed of the sound trace.
    pub seed: u16,
    /// Number of events of each thread.
    pub events: u8,
    /// The kind of each damage, and the seed of its place; none in a sound trace.
    pub damages: Vec<(u8, u16)>,
}

/// Greatest number of damages of a description.
const DAMAGES_MAX: usize = 8;

/// Tests the laws on the trace of a description; without damage it has no error.
pub fn described(description: &Description) -> Held {
    let sound = random(description.seed.into(), description.events.into());
    let options = Options::default().with_format(FormatId::OVNI);
    if description.damages.is_empty() {
        let report = tracemend::check(&sound.set(), &options);
        ensure(!report.has_errors(), "a sound trace has no error", || {
            format!("{:?}", report.findings())
        })?;
    }
    let mut damaged = TaggedTrace::new(&sound);
    for (kind, seed) in description.damages.iter().take(DAMAGES_MAX) {
        let damage = Damage::ALL[usize::from(*kind) % Damage::ALL.len()];
        damaged.damage(damage, &mut Random((*seed).into()));
    }
    let trace = damaged.trace();
    recording::checked_with(&trace.set(), &options)?;
    recording::repaired_with(&trace.set(), &options)
}
