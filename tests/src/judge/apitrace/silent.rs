//! Flipped bits of the expanded stream that change what apitrace shows: does the check find them?

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use tracemend::{FileSet, FormatId, Options};

use super::Apitrace;
use super::survival::{Numbers, Original};
use crate::forge::apitrace::Container;

/// What a flipped bit changes in the dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Nothing, or only bytes that a dump does not show.
    Nothing,
    /// apitrace complains.
    Complaint,
    /// The calls themselves: some are missing or have other names.
    Calls,
    /// Many calls show other values.
    Many,
    /// A number with a fraction in one call.
    Float,
    /// A string in one call.
    Text,
    /// Another value in one call.
    Value,
}

/// A case: what changed, and the codes of the findings that the sound trace does not have.
#[derive(Clone, Debug)]
pub struct Case {
    /// Offset of the byte in the stream.
    pub at: usize,
    /// The change.
    pub change: Change,
    /// The first call that differs, before and after.
    pub lines: Option<(String, String)>,
    /// Codes of the findings that the sound trace does not have.
    pub codes: Vec<&'static str>,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bit at {}: {:?} {:?}", self.at, self.change, self.codes)?;
        match &self.lines {
            Some((before, after)) => write!(f, "\n  - {before}\n  + {after}"),
            None => Ok(()),
        }
    }
}

/// Flips a bit of the stream of a sound trace.
///
/// # Panics
///
/// If the damaged file cannot be written.
pub fn flip(judge: &Apitrace, original: &Original, numbers: &mut Numbers, folder: &Path) -> Case {
    let mut stream = original.stream.clone();
    let at = numbers.below(stream.len());
    stream[at] ^= 1 << numbers.below(8);
    let file = Container::Snappy.file(&stream);
    let path = folder.join("flipped.trace");
    fs::write(&path, &file).unwrap();
    let dump = judge.dump(&path);
    let lines = first_difference(&original.calls, &dump.calls);
    let change = match &lines {
        _ if !dump.is_silent() => Change::Complaint,
        None => Change::Nothing,
        Some((before, after)) => judge_change(&original.calls, &dump.calls, before, after),
    };
    let codes = findings(&file);
    let known = findings(original.file("snappy"));
    let codes = codes.into_iter().filter(|finding| !known.contains(finding));
    let codes = codes.map(|(code, _)| code).collect();
    Case { at, change, lines, codes }
}

/// Code and message of every finding.
fn findings(file: &[u8]) -> Vec<(&'static str, String)> {
    let options = Options::default().with_format(FormatId::APITRACE);
    let report = tracemend::check(&FileSet::single("flipped.trace", file), &options);
    report.findings().iter().map(|one| (one.rule.code, one.message.clone())).collect()
}

type Calls = BTreeMap<u64, String>;

fn first_difference(sound: &Calls, damaged: &Calls) -> Option<(String, String)> {
    let line = |calls: &Calls, number: &u64| calls.get(number).cloned().unwrap_or_default();
    let mut numbers = sound.keys().chain(damaged.keys());
    let number = numbers.find(|number| sound.get(number) != damaged.get(number))?;
    Some((line(sound, number), line(damaged, number)))
}

fn judge_change(sound: &Calls, damaged: &Calls, before: &str, after: &str) -> Change {
    let name = |line: &str| line.split('(').next().map(str::to_owned);
    let differing = sound.iter().filter(|(number, line)| damaged.get(number) != Some(line)).count();
    if sound.len() != damaged.len() || name(before) != name(after) {
        return Change::Calls;
    }
    if differing > 1 {
        return Change::Many;
    }
    let token = |line: &str, from: usize| {
        let (head, tail) = line.split_at(from);
        let start = head.rsplit([' ', '(', '{']).next().unwrap_or_default();
        let end = tail.split([',', ')', '}']).next().unwrap_or_default();
        format!("{start}{end}")
    };
    let same = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
    let from = (0..=same).rev().find(|at| before.is_char_boundary(*at)).unwrap_or(0);
    if !after.is_char_boundary(from) {
        return Change::Text;
    }
    let (old, new) = (token(before, from), token(after, from));
    let is_float = |text: &str| text.parse::<f64>().is_ok() && text.contains(['.', 'e', 'n']);
    if old.contains('"') || before.split_at(from).0.matches('"').count() % 2 == 1 {
        Change::Text
    } else if is_float(&old) || is_float(&new) {
        Change::Float
    } else {
        Change::Value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_one_value_is_named_by_its_kind() {
        let change = |before: &str, after: &str| {
            let calls = |line: &str| Calls::from([(0, line.to_owned()), (1, "glEnd()".into())]);
            let (sound, damaged) = (calls(before), calls(after));
            let (before, after) = first_difference(&sound, &damaged).unwrap();
            judge_change(&sound, &damaged, &before, &after)
        };
        assert_eq!(
            change("glVertex2f(x = 0.5, y = 1)", "glVertex2f(x = 0.25, y = 1)"),
            Change::Float
        );
        assert_eq!(change("glBegin(mode = 4)", "glBegin(mode = 5)"), Change::Value);
        assert_eq!(change("f(s = \"ab\")", "f(s = \"ac\")"), Change::Text);
        assert_eq!(change("glBegin(mode = 4)", "glBogin(mode = 4)"), Change::Calls);
    }
}
