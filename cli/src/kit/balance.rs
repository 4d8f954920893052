//! The bytes of a repair, as sums that a reader can check.
//!
//! ```text
//!  file     24576 bytes before = 24512 kept + 40 replaced + 24 dropped
//!           24552 bytes after  = 24512 kept + 40 replaced
//! ```
//!
use tracemend::Balance;
use tracemend::words::plural;

/// Returns both sums, one per line.
pub(crate) fn lines(balance: Balance) -> [String; 2] {
    let (before, after) = balance.lengths();
    let numbers = [plural(before, "byte"), plural(after, "byte")];
    let width = numbers.iter().map(String::len).max().unwrap_or(0);
    let sum = |parts: &[(u64, &str)]| {
        let parts = parts.iter().filter(|(count, word)| *count > 0 || *word == "kept");
        let parts: Vec<String> = parts.map(|(count, word)| format!("{count} {word}")).collect();
        parts.join(" + ")
    };
    let (kept, replaced) = ((balance.kept, "kept"), (balance.replaced, "replaced"));
    let [before, after] = numbers;
    [
        format!(
            "{before:>width$} before = {}",
            sum(&[kept, replaced, (balance.dropped, "dropped")])
        ),
        format!("{after:>width$} after  = {}", sum(&[kept, replaced, (balance.inserted, "added")])),
    ]
}

#[cfg(test)]
mod tests {
    use tracemend::{Edit, Layer, Patch, Span};

    use super::*;

    #[test]
    fn the_sums_add_up() {
        let edit =
            |start, end, new: &[u8]| Edit::replace(Span::new(Layer::stored(0), start, end), new);
        let edits =
            [edit(0, 4, b"abcd"), edit(10, 12, b"abcde"), edit(20, 24, b""), edit(98, 100, b"x")];
        let balance = Balance::of([&Patch::from_edits(100, &edits).unwrap()]);
        assert_eq!(balance, Balance { kept: 88, replaced: 6, dropped: 6, inserted: 4 });
        assert_eq!(balance.lengths(), (100, 98));
        assert_eq!(
            lines(balance),
            [
                "100 bytes before = 88 kept + 6 replaced + 6 dropped",
                " 98 bytes after  = 88 kept + 6 replaced + 4 added"
            ]
        );
        assert_eq!(lines(Balance::of([&Patch::identity(7)]))[0], "7 bytes before = 7 kept");
    }
}
