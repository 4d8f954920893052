//! The first events in which two logs differ.
//!
//! Two recordings of a guest differ in their clocks from the first event on; the guest diverges
//! where another event differs. Both places are named.

use crate::formats::Dumped;
use crate::formats::qemu::decode::event::Value;
use crate::formats::qemu::dump::{Events, Placed, line};
use crate::kit::words::plural;

/// An event of each log, or the end of one of them.
type Pair = (Option<Placed>, Option<Placed>);

/// Writes the first events that differ between the logs.
pub(super) fn write(
    this: &Events<'_>,
    other: &Events<'_>,
    out: &mut dyn FnMut(&str) -> bool,
) -> Dumped {
    let (mut first, mut second) = (this.placed(), other.placed());
    let (mut clock, mut records): (Option<Pair>, u64) = (None, 0);
    let diverged: Option<Pair> = loop {
        let pair = (first.next(), second.next());
        let (Some(a), Some(b)) = &pair else {
            break Some(pair).filter(|pair| *pair != (None, None));
        };
        records = records.saturating_add(1);
        let is_same_kind = a.event.kind == b.event.kind;
        match (&a.event.value, &b.event.value) {
            (Value::Time(x), Value::Time(y)) if is_same_kind && x != y => {
                clock = clock.or(Some(pair));
            }
            (x, y) if !is_same_kind || x != y || !has_same_bytes(this, a, other, b) => {
                break Some(pair);
            }
            _ => {}
        }
    };
    let mut text = String::new();
    if clock.is_none() && diverged.is_none() {
        text += &format!("equal: {}\n", plural(records, "event"));
    }
    if let Some(pair) = clock {
        text += "first clock that differs:\n";
        write_pair(&pair, &mut text);
    }
    if let Some(pair) = diverged {
        text += "first other event that differs:\n";
        write_pair(&pair, &mut text);
    }
    out(&text);
    Dumped { records, left_out: 0 }
}

/// Whether the payloads are equal; the fields are.
fn has_same_bytes(this: &Events<'_>, a: &Placed, other: &Events<'_>, b: &Placed) -> bool {
    if !a.event.value.has_array() {
        return true;
    }
    // After the id, which may be another one in the other layout.
    let payload = |events: &Events<'_>, placed: &Placed| {
        events.source.read(placed.event.start.saturating_add(1), placed.event.end).into_owned()
    };
    payload(this, a) == payload(other, b)
}

fn write_pair((a, b): &Pair, text: &mut String) {
    for (name, placed) in [("this    ", a), ("against ", b)] {
        *text += name;
        match placed {
            Some(placed) => line::write_text(placed, text),
            None => *text += "ends here\n",
        }
    }
}
