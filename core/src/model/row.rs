//! The records of a dump in JSON, taken apart again.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::model::description::Clock;

/// A record of a dump in JSON: the names of its members in their order, and their values as they
/// are written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row<'r> {
    /// The members.
    pub members: Vec<(&'r str, &'r str)>,
}

impl<'de> Deserialize<'de> for Row<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Row<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Row<'de>, M::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<&'de str, &'de RawValue>()? {
                    members.push((name, value.get()));
                }
                Ok(Row { members })
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl<'r> Row<'r> {
    /// Reads a line of a dump; `None` if it is not one.
    pub fn read(line: &'r str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }

    /// Returns the member with this name, as it is written.
    pub fn member(&self, name: &str) -> Option<&'r str> {
        self.members.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// Returns the member with this name, if it is an integer.
    pub fn integer(&self, name: &str) -> Option<i128> {
        self.member(name)?.parse().ok()
    }

    /// Returns the member with this name: of a text its characters, of a list or an object its
    /// JSON, of a number all its digits.
    pub fn text(&self, name: &str) -> Option<String> {
        self.member(name).map(text_of)
    }

    /// Returns the reading of the clock.
    pub fn time(&self, clock: &Clock) -> Option<i128> {
        let read = |parts: &&[(&str, u64)]| {
            parts.iter().try_fold(0_i128, |sum, (member, factor)| {
                sum.checked_add(self.integer(member)?.checked_mul(i128::from(*factor))?)
            })
        };
        let time = clock.readings.iter().find_map(read)?;
        (time != 0 || !clock.zero_is_unknown).then_some(time)
    }

    /// Returns what the record is about, such as `CPU 3`.
    pub fn subject(&self, clock: &Clock) -> Option<String> {
        clock.rows.iter().find_map(|(member, noun)| {
            let name = self.text(member)?;
            Some(if noun.is_empty() { name } else { format!("{noun} {name}") })
        })
    }
}

/// Returns the text of a value.
pub fn text_of(value: &str) -> String {
    match value {
        "null" => String::new(),
        text if text.starts_with('"') => serde_json::from_str(text).unwrap_or_default(),
        text => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_an_integer_or_a_text() {
        let row = Row::read(r#"{"a":-5,"b":"x\"","c":[1]}"#).unwrap();
        assert_eq!((row.integer("a"), row.integer("b"), row.integer("d")), (Some(-5), None, None));
        assert_eq!(row.text("b").as_deref(), Some("x\""));
        assert_eq!(row.text("c").as_deref(), Some("[1]"));
        assert_eq!(Row::read("no JSON"), None);
    }
}
