//! Calls of a repaired trace that never were.
//!
//! A call is known if its function is that of the sound trace's call with its number, or if the
//! sound trace has its line under another number: then it was moved, and calls after it may be
//! moved as far. Other values of a call that was there are a loss, which `survival` counts.

use std::collections::BTreeMap;

use tracemend::formats::apitrace::layout::PLACEHOLDER_ID;

use crate::known_originals::apitrace::call_functions;

/// The calls of a sound trace, in order.
#[derive(Debug, Default)]
pub struct Sequence {
    /// The function of each.
    functions: Vec<u64>,
    /// The number of each line; `None` if several calls have it.
    numbers: BTreeMap<String, Option<u64>>,
}

impl Sequence {
    /// The calls of a stream, with the lines that apitrace prints of them.
    pub fn of(stream: &[u8], lines: &BTreeMap<u64, String>) -> Self {
        let mut numbers: BTreeMap<String, Option<u64>> = BTreeMap::new();
        for (number, line) in lines {
            let seen = numbers.entry(line.clone());
            seen.and_modify(|first| *first = None).or_insert(Some(*number));
        }
        Self { functions: call_functions(stream), numbers }
    }
}

/// Returns how many calls of a repaired stream the sound one never had.
pub fn count_invented(sound: &Sequence, stream: &[u8], lines: &BTreeMap<u64, String>) -> usize {
    let (mut moved_by, mut count) = (0_i64, 0);
    for (number, function) in call_functions(stream).into_iter().enumerate() {
        let is_at = |number: i64| {
            let at = usize::try_from(number).ok();
            at.and_then(|at| sound.functions.get(at)) == Some(&function)
        };
        if function == PLACEHOLDER_ID || is_at(number as i64) || is_at(number as i64 + moved_by) {
            continue;
        }
        match lines.get(&(number as u64)).and_then(|line| sound.numbers.get(line)) {
            Some(Some(first)) => moved_by = *first as i64 - number as i64,
            Some(None) => {}
            None => count += 1,
        }
    }
    count
}
