//! The limits that the tests hold, and the exceptions from them, read from `exceptions.txt`.

use std::path::Path;
use std::sync::LazyLock;

/// One line of the table: a kind, its values, and a reason as the last one.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Entry {
    kind: String,
    pub(super) values: Vec<String>,
}

static TABLE: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/tidy/exceptions.txt");
    parse(&std::fs::read_to_string(path).expect("the table of exceptions exists"))
});

/// Reads the lines of a table, `kind | value | ... | reason`, without comments and empty lines.
fn parse(table: &str) -> Vec<Entry> {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let entries = lines.map(|line| {
        let mut values = line.split(" | ").map(|value| value.trim().to_owned());
        let kind = values.next().expect("a line has a first value");
        Entry { kind, values: values.collect() }
    });
    entries.collect()
}

/// Returns the entries of one kind.
pub(super) fn entries(kind: &str) -> Vec<&'static Entry> {
    TABLE.iter().filter(|entry| entry.kind == kind).collect()
}

/// Returns the number in the entry of a kind that begins with `name`; 0 if there is none.
pub(super) fn number(kind: &str, name: &str) -> f64 {
    let found = entries(kind).into_iter().find(|entry| entry.values[0] == name);
    found.map_or(0.0, |entry| entry.values[1].parse().expect("the second value is a number"))
}

/// Returns [`number`] as a count.
pub(super) fn count(kind: &str, name: &str) -> usize {
    number(kind, name) as usize
}

/// Exceptions of one kind, some of which were needed.
pub(super) struct Exceptions {
    entries: Vec<&'static Entry>,
    used: Vec<bool>,
}

impl Exceptions {
    /// Returns the exceptions of a kind.
    pub(super) fn new(kind: &str) -> Self {
        let entries = entries(kind);
        let used = vec![false; entries.len()];
        Self { entries, used }
    }

    /// Returns whether an entry fits, and marks it as needed.
    pub(super) fn allow(&mut self, fits: impl Fn(&[String]) -> bool) -> bool {
        let mut is_allowed = false;
        for (entry, used) in self.entries.iter().zip(&mut self.used) {
            if fits(&entry.values) {
                *used = true;
                is_allowed = true;
            }
        }
        is_allowed
    }

    /// Returns the exceptions that were not needed.
    fn unused(&self) -> Vec<&'static Entry> {
        let unused = self.entries.iter().zip(&self.used).filter(|(_, used)| !**used);
        unused.map(|(entry, _)| *entry).collect()
    }

    /// Fails if an exception is no longer needed.
    pub(super) fn assert_all_used(&self) {
        let unused = self.unused();
        assert!(unused.is_empty(), "these exceptions are no longer needed: {unused:#?}");
    }
}

#[test]
fn each_exception_has_a_reason() {
    for entry in TABLE.iter().filter(|entry| !["limit", "today"].contains(&entry.kind.as_str())) {
        let reason = entry.values.last().expect("an entry has values");
        assert!(reason.split_whitespace().count() >= 2, "{entry:?}");
    }
}

#[test]
fn an_unused_exception_is_noticed() {
    let entries: &'static [Entry] = parse("# comment\n\nsize | File | a.rs | it is long\n").leak();
    assert_eq!(entries[0].values, ["File", "a.rs", "it is long"]);
    let mut exceptions = Exceptions { entries: entries.iter().collect(), used: vec![false] };
    assert!(!exceptions.allow(|values| values[1] == "b.rs"));
    assert_eq!(exceptions.unused().len(), 1);
    assert!(exceptions.allow(|values| values[1] == "a.rs"));
    exceptions.assert_all_used();
}
