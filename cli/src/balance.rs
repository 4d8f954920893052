//! The bytes of a repair, as sums that a reader can check.
//!
//! ```text
//!  file     24576 bytes before = 24512 kept + 40 replaced + 24 dropped
//!           24552 bytes after  = 24512 kept + 40 replaced
//! ```
//!
//! Bytes count as replaced if at least as many are inserted in their place: fields that are set,
//! records that are converted. Otherwise they are dropped, and the inserted ones are added, so that
//! the sums agree with the fixes: a fix that drops 24 bytes is among 24 dropped bytes.

use tracemend::words::plural;
use tracemend::{Op, Patch};

/// Sums over the patches of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ByteSums {
    kept: u64,
    replaced: u64,
    dropped: u64,
    added: u64,
}

impl ByteSums {
    /// Returns the sums of all patches.
    pub(crate) fn of<'p>(patches: impl IntoIterator<Item = &'p Patch>) -> Self {
        let mut sums = Self::default();
        patches.into_iter().for_each(|patch| sums.add(patch));
        sums
    }

    fn add(&mut self, patch: &Patch) {
        let mut end_of_kept = 0;
        let mut inserted = 0;
        for op in patch.ops() {
            match op {
                Op::Keep { start, end } => {
                    self.add_gap(start.saturating_sub(end_of_kept), inserted);
                    self.kept = self.kept.saturating_add(end.saturating_sub(*start));
                    (end_of_kept, inserted) = (*end, 0);
                }
                Op::Insert(_) => inserted = op.len(),
            }
        }
        self.add_gap(patch.source_len().saturating_sub(end_of_kept), inserted);
    }

    /// Counts what becomes of the bytes between two kept ranges.
    fn add_gap(&mut self, gone: u64, inserted: u64) {
        let replaced = if inserted >= gone { gone } else { 0 };
        self.replaced = self.replaced.saturating_add(replaced);
        self.dropped = self.dropped.saturating_add(gone - replaced);
        self.added = self.added.saturating_add(inserted - replaced);
    }

    /// Returns the number of bytes before and after.
    pub(crate) fn lengths(&self) -> (u64, u64) {
        let both = self.kept.saturating_add(self.replaced);
        (both.saturating_add(self.dropped), both.saturating_add(self.added))
    }

    /// Returns both sums, one per line.
    pub(crate) fn lines(&self) -> [String; 2] {
        let (before, after) = self.lengths();
        let numbers = [plural(before, "byte"), plural(after, "byte")];
        let width = numbers.iter().map(String::len).max().unwrap_or(0);
        let sum = |parts: &[(u64, &str)]| {
            let parts = parts.iter().filter(|(count, word)| *count > 0 || *word == "kept");
            let parts: Vec<String> = parts.map(|(count, word)| format!("{count} {word}")).collect();
            parts.join(" + ")
        };
        let (kept, replaced) = ((self.kept, "kept"), (self.replaced, "replaced"));
        let [before, after] = numbers;
        [
            format!(
                "{before:>width$} before = {}",
                sum(&[kept, replaced, (self.dropped, "dropped")])
            ),
            format!("{after:>width$} after  = {}", sum(&[kept, replaced, (self.added, "added")])),
        ]
    }
}

#[cfg(test)]
mod tests {
    use tracemend::{Edit, Layer, Span};

    use super::*;

    #[test]
    fn the_sums_add_up() {
        let edit =
            |start, end, new: &[u8]| Edit::replace(Span::new(Layer::stored(0), start, end), new);
        let edits =
            [edit(0, 4, b"abcd"), edit(10, 12, b"abcde"), edit(20, 24, b""), edit(98, 100, b"x")];
        let sums = ByteSums::of([&Patch::from_edits(100, &edits).unwrap()]);
        assert_eq!(sums, ByteSums { kept: 88, replaced: 6, dropped: 6, added: 4 });
        assert_eq!(sums.lengths(), (100, 98));
        assert_eq!(
            sums.lines(),
            [
                "100 bytes before = 88 kept + 6 replaced + 6 dropped",
                " 98 bytes after  = 88 kept + 6 replaced + 4 added"
            ]
        );
        let same = ByteSums::of([&Patch::identity(7)]);
        assert_eq!(same.lines()[0], "7 bytes before = 7 kept");
    }
}
