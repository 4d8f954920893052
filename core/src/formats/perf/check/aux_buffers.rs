//! The buffers that AUXTRACE records name: perf keeps a queue for each `idx`, and looks up the CPU.

use std::collections::{BTreeMap, BTreeSet};

use super::aux_records::ANY;
use crate::formats::perf::decode::frame::Place;
use crate::formats::perf::decode::record::aux::{AuxTrace, BufferName};
use crate::formats::perf::layout::MOST_CPUS;
use crate::formats::perf::{repair, rules};
use crate::kit::cursor::Order;
use crate::kit::span::Span;
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::{Finding, Report};

/// Queues that perf allocates at most: a power of two, of 40 bytes each, below 4 GiB.
const MOST_QUEUES: u32 = 1 << 26;
/// Names of buffers that are known: a machine of 4,096 CPUs traces one thread on each of them.
const MOST_NAMES: usize = 1 << 14;

/// The buffers up to a record, with the end of the trace of each.
type Names = BTreeMap<BufferName, Use>;

#[derive(Clone, Copy, Default)]
struct Use {
    end: u64,
    last: Option<Span>,
}

/// Checks the buffers. Returns whether all of them can exist.
pub(super) fn check(
    traces: &[(AuxTrace, Place)],
    can_edit: bool,
    order: Order,
    report: &mut Report,
) -> bool {
    let is_sound = |trace: &AuxTrace| find_fault(trace.buffer).is_none();
    if traces.iter().all(|(trace, _)| is_sound(trace)) {
        return true;
    }
    let sound = traces.iter().map(|(trace, _)| trace.buffer);
    let known = KnownNames::of(sound.filter(|name| find_fault(*name).is_none()));
    let mut names = Names::new();
    for (trace, place) in traces {
        let mut name = trace.buffer;
        if let Some((field, value)) = find_fault(name) {
            let rule = &rules::TRACE_BUFFER_IMPOSSIBLE;
            let right = find_right(trace, &names, &known);
            report.push_with(rule, rule.severity, || {
                let most = if field == "idx" { MOST_QUEUES } else { MOST_CPUS };
                let message = format!("auxtrace.{field} is {value}, expected less than {most}");
                let path = place.path(&format!(".{field}"));
                let fix = rename(trace, right, can_edit, order);
                Finding::new(rule, trace.span, path, message).fix(fix)
            });
            name = right.name;
        }
        if names.len() < MOST_NAMES || names.contains_key(&name) {
            let used = names.entry(name).or_default();
            used.end = trace.offset.saturating_add(trace.size);
            used.last = Some(trace.span);
        }
    }
    false
}

/// Returns the field that no buffer has, and its value.
fn find_fault(name: BufferName) -> Option<(&'static str, u32)> {
    let is_of_nobody = name.cpu == ANY && name.tid == ANY;
    match name {
        BufferName { idx: MOST_QUEUES.., .. } => Some(("idx", name.idx)),
        BufferName { cpu: MOST_CPUS.., .. } if name.cpu != ANY || is_of_nobody => {
            Some(("cpu", name.cpu))
        }
        _ => None,
    }
}

/// The name that a record gets.
#[derive(Clone, Copy)]
struct Right {
    name: BufferName,
    /// The record whose trace this one continues.
    witness: Option<Span>,
}

/// The names of the buffers that can exist.
#[derive(Default)]
struct KnownNames {
    /// By two of the three fields, of which the first number tells which one is left out: the only
    /// name with them, or `None` if there are several.
    by_pair: BTreeMap<(usize, u32, u32), Option<BufferName>>,
    /// Their numbers.
    numbers: BTreeSet<u32>,
    /// The lowest number that is not among them.
    free: u32,
}

impl KnownNames {
    fn of(names: impl Iterator<Item = BufferName>) -> Self {
        let mut known = Self::default();
        let names: BTreeSet<BufferName> = names.take(MOST_NAMES).collect();
        for name in names {
            known.numbers.insert(name.idx);
            for pair in pairs(name) {
                known.by_pair.entry(pair).and_modify(|only| *only = None).or_insert(Some(name));
            }
        }
        known.free = (0..MOST_QUEUES).find(|idx| !known.numbers.contains(idx)).unwrap_or(0);
        known
    }

    /// Returns the only name that has two of the three fields of another one.
    fn near(&self, name: BufferName) -> Option<BufferName> {
        let found: Vec<_> = pairs(name).iter().filter_map(|pair| self.by_pair.get(pair)).collect();
        let (first, rest) = found.split_first()?;
        rest.iter().all(|other| other == first).then_some(**first)?
    }
}

/// The name without each of its fields.
fn pairs(name: BufferName) -> [(usize, u32, u32); 3] {
    let BufferName { idx, tid, cpu } = name;
    [(0, tid, cpu), (1, idx, cpu), (2, idx, tid)]
}

/// Finds the buffer of a record: that of which the record continues the trace, if two of its three
/// fields are those of the record; else one of the same thread and CPU, or of the same number; else
/// a new one.
fn find_right(trace: &AuxTrace, names: &Names, known: &KnownNames) -> Right {
    let found = trace.buffer;
    if let Some(name) = known.near(found) {
        let used = names.get(&name);
        let witness = used.filter(|used| used.end == trace.offset).and_then(|used| used.last);
        return Right { name, witness };
    }
    let mut name = found;
    if name.idx >= MOST_QUEUES {
        let is_free = |cpu: &u32| *cpu < MOST_CPUS && !known.numbers.contains(cpu);
        name.idx = Some(name.cpu).filter(is_free).unwrap_or(known.free);
    }
    if find_fault(name).is_some() {
        // Of a thread, any CPU; of a CPU, the number of the buffer.
        name.cpu = if name.tid == ANY { name.idx.min(MOST_CPUS.saturating_sub(1)) } else { ANY };
    }
    Right { name, witness: None }
}

/// Writes the fields of a name that differ.
fn rename(trace: &AuxTrace, right: Right, can_edit: bool, order: Order) -> Fix {
    let mut edits = Vec::new();
    let mut at = trace.span.start.saturating_add(BufferName::AT);
    for (old, new) in trace.buffer.words().into_iter().zip(right.name.words()) {
        if old != new && can_edit {
            let field = Span::sized(trace.span.layer, at, 4);
            edits.push(Edit::replace(field, repair::u32_bytes(new, order)));
        }
        at = at.saturating_add(4);
    }
    let BufferName { idx, tid, cpu } = right.name;
    let [tid, cpu] = [tid, cpu].map(u32::cast_signed);
    let summary = format!("set the buffer to idx {idx}, tid {tid}, cpu {cpu}");
    match right.witness {
        Some(span) => Fix::new(Safety::Exact, summary, edits)
            .witness(span, "the AUXTRACE record whose trace this one continues"),
        None => Fix::new(Safety::Lossy, summary, edits).altered(1),
    }
}
