//! The lines of a dump in JSON, taken apart again.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A record of a dump in JSON: its members in their order, as they are written.
pub(crate) struct Row<'r>(pub(crate) Vec<(&'r str, &'r RawValue)>);

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
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Row(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl<'r> Row<'r> {
    /// The member with this name, as it is written.
    pub(crate) fn member(&self, name: &str) -> Option<&'r RawValue> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// The member with this name, if it is an integer.
    pub(crate) fn integer(&self, name: &str) -> Option<i128> {
        self.member(name)?.get().parse().ok()
    }

    /// The member with this name, as [`cell`] writes it.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.member(name).map(cell)
    }
}

/// The text of a value: of a string its characters, of a list or an object its JSON, of a number
/// all its digits.
pub(crate) fn cell(value: &RawValue) -> String {
    match value.get() {
        "null" => String::new(),
        text if text.starts_with('"') => serde_json::from_str(text).unwrap_or_default(),
        text => text.to_string(),
    }
}

/// Pieces of a dump, joined to lines.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    rest: String,
}

impl Lines {
    /// Adds a piece, and calls `each` with every line that it ends.
    pub(crate) fn add<E>(
        &mut self,
        piece: &str,
        mut each: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        self.rest += piece;
        let whole = self.rest.rfind('\n').map_or(0, |at| at + 1);
        let rest = self.rest.split_off(whole);
        let lines = std::mem::replace(&mut self.rest, rest);
        lines.lines().try_for_each(&mut each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_joined_to_lines() {
        let (mut lines, mut seen) = (Lines::default(), Vec::new());
        for piece in ["a", "b\nc\n", "", "d\n", "e"] {
            let each = |line: &str| {
                seen.push(line.to_string());
                Ok::<(), ()>(())
            };
            lines.add(piece, each).unwrap();
        }
        assert_eq!(seen, ["ab", "c", "d"]);
    }

    #[test]
    fn a_member_is_an_integer_or_a_text() {
        let row: Row<'_> = serde_json::from_str(r#"{"a":-5,"b":"x\"","c":[1]}"#).unwrap();
        assert_eq!((row.integer("a"), row.integer("b"), row.integer("d")), (Some(-5), None, None));
        assert_eq!(row.text("b").as_deref(), Some("x\""));
        assert_eq!(row.text("c").as_deref(), Some("[1]"));
    }
}
