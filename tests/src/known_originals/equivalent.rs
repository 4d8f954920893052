//! Edits that give the same output: one byte less of a run of zeros is the same, whichever is
//! dropped.

use std::ops::Range;

use tracemend::model::edit::Edit;

/// An edit of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The bytes that it replaces.
    pub range: Range<usize>,
    /// The bytes that it writes.
    pub new: Vec<u8>,
}

/// Returns the edits that give the same output as edit number `number` of a file, with the others.
pub fn same_output(stored: &[u8], edits: &[Edit], number: usize) -> impl Iterator<Item = Replaced> {
    let range = |edit: &Edit| edit.span.start() as usize..edit.span.end() as usize;
    let before = number.checked_sub(1).map_or(0, |before| range(&edits[before]).end);
    let free = before..edits.get(number + 1).map_or(stored.len(), |next| range(next).start);
    let new = edits[number].insert.as_slice().to_vec();
    equivalents(stored, free, Replaced { range: range(&edits[number]), new })
}

/// Returns whether edit number `number` writes the original bytes in their own place:
/// whatever stood there was not what should.
pub fn is_home(old: &[u8], edits: &[Edit], number: usize) -> bool {
    let (before, edit) = (&edits[..number], &edits[number]);
    let new = edit.insert.as_slice();
    let added: usize = before.iter().map(|edit| edit.insert.as_slice().len()).sum();
    let dropped: u64 = before.iter().map(|edit| edit.span.len()).sum();
    let place = (edit.span.start() as usize + added).checked_sub(dropped as usize);
    new.len() as u64 == edit.span.len()
        && place.and_then(|at| old.get(at..at + new.len())) == Some(new)
}

/// Returns the edits inside a range of a file that give the same output as one of them, which comes
/// first. One that replaces bytes has none: it claims all bytes that it writes.
fn equivalents(
    stored: &[u8],
    free: Range<usize>,
    edit: Replaced,
) -> impl Iterator<Item = Replaced> {
    let is_free = edit.range.is_empty() || edit.new.is_empty();
    let first = free.start;
    let earlier = std::iter::successors(Some(edit.clone()), move |edit| {
        let (at, last) = (edit.range.start.checked_sub(1)?, edit.range.end.checked_sub(1)?);
        let new = [&stored[at..=at], &edit.new].concat();
        let is_same = is_free && at >= first && new.last() == Some(&stored[last]);
        let new = new[..edit.new.len()].to_vec();
        is_same.then_some(Replaced { range: at..last, new })
    });
    let later = std::iter::successors(Some(edit), move |edit| {
        let Range { start, end } = edit.range;
        let next = stored.get(end).filter(|_| end < free.end)?;
        let new = [edit.new.as_slice(), std::slice::from_ref(next)].concat();
        let is_same = is_free && new[0] == stored[start];
        is_same.then(|| Replaced { range: start + 1..end + 1, new: new[1..].to_vec() })
    });
    earlier.chain(later)
}

#[cfg(test)]
mod tests {
    use tracemend::kit::span::{Layer, Span};

    use super::*;

    #[test]
    fn an_edit_is_at_home_if_it_writes_the_original_bytes_in_their_place() {
        let span = |start, end| Span::new(Layer::stored(0), start, end);
        let edits =
            |bytes: &[u8]| vec![Edit::drop(span(1, 3)), Edit::replace(span(6, 8), bytes.to_vec())];
        assert!(is_home(b"01234567", &edits(b"45"), 1));
        assert!(!is_home(b"01234567", &edits(b"67"), 1));
        assert!(!is_home(b"01234567", &edits(b"456"), 1), "what follows moves");
        assert!(!is_home(b"01234", &edits(b"45"), 1));
    }

    #[test]
    fn edits_that_give_the_same_output_are_equivalent() {
        let stored = b"ab0000cd";
        let output = |edit: &Replaced| {
            [&stored[..edit.range.start], &edit.new, &stored[edit.range.end..]].concat()
        };
        let all = |range: Range<usize>, new: &[u8], free: Range<usize>| {
            let edit = Replaced { range, new: new.to_vec() };
            let same: Vec<Replaced> = equivalents(stored, free, edit.clone()).collect();
            assert!(same.iter().all(|one| output(one) == output(&edit)));
            let mut starts: Vec<usize> = same.iter().map(|one| one.range.start).collect();
            starts.sort_unstable();
            starts.dedup();
            starts
        };
        assert_eq!(all(3..5, b"", 0..8), [2, 3, 4]);
        assert_eq!(all(3..5, b"", 3..8), [3, 4]);
        assert_eq!(all(3..5, b"", 0..5), [2, 3]);
        assert_eq!(all(1..3, b"", 0..8), [1]);
        assert_eq!(all(8..8, b"cd", 0..8), [6, 7, 8]);
        assert_eq!(all(2..2, b"0", 0..8), [2, 3, 4, 5, 6]);
        assert_eq!(all(0..2, b"x", 0..8), [0]);
        assert_eq!(all(3..5, b"x0", 0..8), [3]);
    }
}
