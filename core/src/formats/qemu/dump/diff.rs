//! The first events in which two logs differ.
//!
//! Two recordings of a guest differ in their clocks from the first event on; the guest diverges
//! where another event differs. Both places are named.

use crate::formats::qemu::dump::{Events, Placed, line};
use crate::formats::qemu::layout::HEADER_LEN;
use crate::kit::words::plural;
use crate::model::dump::Diffed;

/// An event of each log, or the end of one of them.
type Pair = (Option<Placed>, Option<Placed>);

/// The first events that differ.
#[derive(Default)]
struct Differences {
    /// Number of events that were compared.
    records: u64,
    /// The first clocks with different times.
    clock: Option<Pair>,
    /// The first other events.
    other: Option<Pair>,
    /// Whether the bytes after the last event that can be read differ.
    has_other_rest: bool,
}

/// Returns the first events that differ between the logs, as text.
pub(super) fn compare(one: &Events<'_>, two: &Events<'_>) -> (String, Diffed) {
    let found = find(one, two);
    let mut text = String::new();
    if let Some(pair) = &found.clock {
        text += "first clock that differs:\n";
        write_pair(pair, &mut text);
    }
    if let Some(pair) = &found.other {
        text += "first other event that differs:\n";
        write_pair(pair, &mut text);
    }
    if found.has_other_rest {
        text += "the bytes after the last event differ\n";
    }
    let is_different = !text.is_empty();
    if !is_different {
        text += &format!("equal: {}\n", plural(found.records, "event"));
    }
    (text, Diffed { records: found.records, is_different })
}

fn find(one: &Events<'_>, two: &Events<'_>) -> Differences {
    let (mut first, mut second) = (one.placed(), two.placed());
    let mut found = Differences::default();
    let mut ends = [HEADER_LEN; 2];
    loop {
        let pair = (first.next(), second.next());
        let (Some(a), Some(b)) = &pair else {
            let both_end = pair == (None, None);
            found.has_other_rest = both_end && !has_same_rest([one, two], ends);
            found.other = Some(pair).filter(|_| !both_end);
            return found;
        };
        found.records = found.records.saturating_add(1);
        ends = [a.event.end, b.event.end];
        let is_same_kind = a.event.kind == b.event.kind;
        let is_equal = is_same_kind && a.event.value == b.event.value;
        if !is_equal && is_same_kind && a.event.kind.is_clock() {
            found.clock = found.clock.or(Some(pair));
        } else if !is_equal || !has_same_bytes([one, two], [a, b]) {
            found.other = Some(pair);
            return found;
        }
    }
}

/// Whether the payloads are equal; the fields are.
fn has_same_bytes(logs: [&Events<'_>; 2], placed: [&Placed; 2]) -> bool {
    let [a, b] = placed;
    if a.event.value.array().is_none() {
        return true;
    }
    // After the id, which may be another one in the other layout.
    let [one, two] = logs;
    let payload = |log: &Events<'_>, placed: &Placed| {
        log.source.read(placed.event.start.saturating_add(1), placed.event.end).into_owned()
    };
    payload(one, a) == payload(two, b)
}

/// Whether the bytes from `ends` on are equal.
fn has_same_rest([one, two]: [&Events<'_>; 2], [a, b]: [u64; 2]) -> bool {
    let one = one.source.slices(a, one.source.len()).flatten();
    one.eq(two.source.slices(b, two.source.len()).flatten())
}

fn write_pair((one, two): &Pair, text: &mut String) {
    for (sign, placed) in [("- ", one), ("+ ", two)] {
        *text += sign;
        match placed {
            Some(placed) => line::write_text(placed, text),
            None => *text += "ends here\n",
        }
    }
}
