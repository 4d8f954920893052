//! How far two records differ.

use serde_json::Value;

use crate::model::difference::{Comparison, Degree, FieldDifference};
use crate::model::row::{Row, text_of};

/// Members about the place of a record in its file.
const PLACE: [&str; 3] = ["offset", "length", "layer"];
/// Fields that a difference lists: a sample may have a thousand entries.
const FIELDS_MAX: usize = 16;

/// Judges pairs of records.
pub(super) struct Judge {
    rule: &'static Comparison,
}

/// What was found in a pair.
#[derive(Default)]
struct Found {
    degree: Option<Degree>,
    fields: Vec<FieldDifference>,
}

impl Judge {
    pub(super) const fn new(rule: &'static Comparison) -> Self {
        Self { rule }
    }

    /// Returns how far two records differ, and the fields; `None` if they are equal.
    pub(super) fn judge(&self, one: &str, two: &str) -> (Option<Degree>, Vec<FieldDifference>) {
        if one == two {
            return (None, Vec::new());
        }
        let (Some(one), Some(two)) = (Row::read(one), Row::read(two)) else {
            return (Some(Degree::Kind), Vec::new());
        };
        let mut found = Found::default();
        let only_second = two.members.iter().filter(|(name, _)| one.member(name).is_none());
        for (name, _) in one.members.iter().chain(only_second) {
            let (a, b) = (one.member(name), two.member(name));
            if a == b || PLACE.contains(name) || self.rule.derived.contains(name) {
                continue;
            }
            let is_volatile = self.rule.volatile.contains(name);
            match [a, b].map(|value| value.filter(|value| value.starts_with('['))) {
                [Some(a), Some(b)] => {
                    let lists = [a, b].map(|list| serde_json::from_str(list).unwrap_or_default());
                    self.compare_lists((name, is_volatile), &lists, &mut found);
                }
                _ => {
                    let values = [a, b].map(|value| value.map(text_of));
                    self.add((*name).to_string(), is_volatile, values, &mut found);
                }
            }
        }
        let is_kind = |name: &&str| one.member(name) == two.member(name);
        if !self.rule.kind.iter().all(is_kind) {
            found.degree = Some(Degree::Kind);
        }
        (found.degree, found.fields)
    }

    /// Adds the entries that differ. A list has no lists as entries.
    fn compare_lists(
        &self,
        (name, is_volatile): (&str, bool),
        [one, two]: &[Vec<Value>; 2],
        found: &mut Found,
    ) {
        for at in 0..one.len().max(two.len()) {
            let pair = [one.get(at), two.get(at)];
            if pair[0] == pair[1] {
                continue;
            }
            let members = pair.map(|entry| entry.and_then(Value::as_object));
            if let Some((name, values)) = named_values(pair) {
                self.add(name, is_volatile, values, found);
            } else if let [Some(a), Some(b)] = members {
                let only_second = b.keys().filter(|name| !a.contains_key(*name));
                for member in a.keys().chain(only_second) {
                    let values = [a.get(member), b.get(member)];
                    if values[0] != values[1] {
                        let is_volatile =
                            is_volatile || self.rule.volatile.contains(&member.as_str());
                        let name = format!("{name}[{at}].{member}");
                        self.add(name, is_volatile, values.map(|one| one.map(show)), found);
                    }
                }
            } else {
                let name = format!("{name}[{at}]");
                self.add(name, is_volatile, pair.map(|entry| entry.map(show)), found);
            }
        }
    }

    fn add(&self, name: String, is_volatile: bool, values: [Option<String>; 2], found: &mut Found) {
        let are_addresses = || {
            self.rule.has_addresses
                && values.iter().all(|value| value.as_deref().is_some_and(is_address))
        };
        let is_volatile = is_volatile || are_addresses();
        let degree = if is_volatile { Degree::Volatile } else { Degree::Content };
        found.degree = found.degree.max(Some(degree));
        if found.fields.len() < FIELDS_MAX {
            found.fields.push(FieldDifference { name, values });
        }
    }
}

/// Returns the name and the values of entries of a list of names and values, such as the arguments
/// of a call.
fn named_values(pair: [Option<&Value>; 2]) -> Option<(String, [Option<String>; 2])> {
    let read = |entry: &Value| {
        let (name, value) = (entry.get("name")?.as_str()?, entry.get("value")?.as_str()?);
        (entry.as_object()?.len() == 2).then(|| (name.to_string(), value.to_string()))
    };
    match pair.map(|entry| entry.and_then(read)) {
        [Some((name, a)), Some((other, b))] if name == other => Some((name, [Some(a), Some(b)])),
        [Some((name, a)), None] if pair[1].is_none() => Some((name, [Some(a), None])),
        [None, Some((name, b))] if pair[0].is_none() => Some((name, [None, Some(b)])),
        _ => None,
    }
}

fn show(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// Whether a text is an address as apitrace prints it.
fn is_address(text: &str) -> bool {
    text.strip_prefix('&').unwrap_or(text).starts_with("0x")
}
