//! The type of a column: the narrowest one that holds every value without a loss.
//!
//! ```text
//!  null < bool, int64 < uint64, float64, text, list, struct < json
//! ```
//!
//! An integer column is `int64` if that holds all values, else `uint64`. Values without a common
//! type are kept as their JSON, in a column of text.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use tracemend::Row;

/// Lists and structs in one another; deeper ones are kept as JSON.
const DEPTH_MAX: usize = 8;
/// Kinds of records in one recording, and members of one kind or struct: those of the tables that
/// `tracemend dump --format csv` writes.
const KINDS_MAX: usize = 512;
const MEMBERS_MAX: usize = 1024;

/// A type that holds some values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shape {
    /// No value but `null`.
    #[default]
    Null,
    Bool,
    /// Integers from `i64::MIN` to `i64::MAX`.
    Int,
    /// Integers from 0 to `u64::MAX`, at least one above `i64::MAX`.
    Natural,
    Float,
    Text,
    List(Box<Shape>),
    Struct(Members),
    /// Values without a common type, each as its JSON.
    Json,
}

/// Names and types in the order of their first appearance.
pub(crate) type Members = Vec<(String, Shape)>;

/// An integer, with the types that hold it.
enum Integer {
    Negative,
    Both,
    Large,
}

impl Integer {
    fn of(value: &str) -> Option<Self> {
        match value.parse::<i64>() {
            Ok(value) if value < 0 => Some(Self::Negative),
            Ok(_) => Some(Self::Both),
            Err(_) => value.parse::<u64>().ok().map(|_| Self::Large),
        }
    }

    /// Returns what was seen with this one.
    const fn seen(&self, has_negative: bool, has_large: bool) -> Seen {
        Seen::Int {
            has_negative: has_negative || matches!(self, Self::Negative),
            has_large: has_large || matches!(self, Self::Large),
        }
    }
}

/// A column of a table with what its integers are, which decides between the two types at the end.
#[derive(Clone, Debug, Default)]
struct Learned {
    shape: Seen,
}

/// What was seen of the values of a column.
#[derive(Clone, Debug, Default)]
enum Seen {
    #[default]
    Null,
    Bool,
    Int {
        has_negative: bool,
        has_large: bool,
    },
    Float,
    Text,
    List(Box<Learned>),
    Struct(Vec<(String, Learned)>),
    Json,
}

impl Learned {
    /// Learns from a value, as JSON.
    fn learn(&mut self, value: &str, depth: usize) {
        let shape = std::mem::take(&mut self.shape);
        self.shape = shape.with(value, depth);
    }

    fn shape(&self) -> Shape {
        match &self.shape {
            Seen::Null => Shape::Null,
            Seen::Bool => Shape::Bool,
            Seen::Int { has_negative: true, has_large: true } | Seen::Json => Shape::Json,
            Seen::Int { has_large: true, .. } => Shape::Natural,
            Seen::Int { .. } => Shape::Int,
            Seen::Float => Shape::Float,
            Seen::Text => Shape::Text,
            Seen::List(of) => Shape::List(Box::new(of.shape())),
            Seen::Struct(members) => Shape::Struct(shapes_of(members)),
        }
    }
}

impl Seen {
    /// Returns what is known with one more value.
    fn with(self, value: &str, depth: usize) -> Self {
        let first = value.as_bytes().first().copied().unwrap_or(b'n');
        match (self, first) {
            (Self::Json, _) => Self::Json,
            (seen, b'n') => seen,
            (Self::Null | Self::Bool, b't' | b'f') => Self::Bool,
            (Self::Null | Self::Text, b'"') => Self::Text,
            (Self::Null, b'[') => Self::List(Box::default()).with(value, depth),
            (Self::Null, b'{') => Self::Struct(Vec::new()).with(value, depth),
            (Self::List(of), b'[') if depth < DEPTH_MAX => of.with_values(value, depth),
            (Self::Struct(of), b'{') if depth < DEPTH_MAX => with_members(of, value, depth),
            (seen, b'-' | b'0'..=b'9') => seen.with_number(value),
            _ => Self::Json,
        }
    }

    fn with_number(self, value: &str) -> Self {
        let integer = Integer::of(value);
        match (self, integer) {
            (Self::Null | Self::Float, None) => Self::Float,
            (Self::Null, Some(integer)) => integer.seen(false, false),
            (Self::Int { has_negative, has_large }, Some(integer)) => {
                integer.seen(has_negative, has_large)
            }
            // As a float, an integer above 2^53 would lose digits.
            _ => Self::Json,
        }
    }
}

impl Learned {
    fn with_values(mut self, value: &str, depth: usize) -> Seen {
        let Some(values) = elements(value) else { return Seen::Json };
        values.iter().for_each(|value| self.learn(value.get(), depth + 1));
        Seen::List(Box::new(self))
    }
}

fn with_members(mut members: Vec<(String, Learned)>, value: &str, depth: usize) -> Seen {
    let Some(row) = Row::read(value) else { return Seen::Json };
    match learn_members(&mut members, &row, depth + 1) {
        true => Seen::Struct(members),
        false => Seen::Json,
    }
}

/// Returns the values of a list.
pub(crate) fn elements(value: &str) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value).ok()
}

/// Learns from the members of an object; false if they are too many.
fn learn_members(members: &mut Vec<(String, Learned)>, row: &Row<'_>, depth: usize) -> bool {
    for (at, (name, value)) in row.members.iter().enumerate() {
        // Most records of a kind have the same members in the same order.
        let place = match members.get(at) {
            Some((known, _)) if known == name => Some(at),
            _ => members.iter().position(|(known, _)| known == name),
        };
        let place = place.unwrap_or_else(|| {
            members.push(((*name).to_string(), Learned::default()));
            members.len() - 1
        });
        if let Some((_, learned)) = members.get_mut(place) {
            learned.learn(value, depth);
        }
    }
    members.len() <= MEMBERS_MAX
}

fn shapes_of(members: &[(String, Learned)]) -> Members {
    members.iter().map(|(name, learned)| (name.clone(), learned.shape())).collect()
}

/// The columns of the kinds of a recording.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    kinds: BTreeMap<String, Vec<(String, Learned)>>,
}

impl Kinds {
    /// Learns from a record.
    ///
    /// # Errors
    ///
    /// One sentence, if the record is not an object or a limit is reached.
    pub(crate) fn learn(&mut self, line: &str) -> Result<(), String> {
        let row = Row::read(line).ok_or("a line of the dump is not an object")?;
        let kind = kind_of(&row);
        let is_full = self.kinds.len() >= KINDS_MAX && !self.kinds.contains_key(&kind);
        if is_full || !learn_members(self.kinds.entry(kind).or_default(), &row, 0) {
            return Err(format!("more than {KINDS_MAX} kinds of records or {MEMBERS_MAX} columns"));
        }
        Ok(())
    }

    /// Returns the columns of each kind.
    pub(crate) fn shapes(&self) -> BTreeMap<String, Members> {
        let shapes = |(kind, members): (&String, &Vec<_>)| (kind.clone(), shapes_of(members));
        self.kinds.iter().map(shapes).collect()
    }
}

/// Returns the kind of a record.
pub(crate) fn kind_of(row: &Row<'_>) -> String {
    row.text("kind").unwrap_or_default()
}
