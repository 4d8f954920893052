//! The first records in which two recordings differ, as text and as JSON.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tracemend::words::{join_and, plural};
use tracemend::{Clock, Compared, Degree, Difference, FormatId, HiddenDifference, Row, Untrusted};

use crate::kit::exit::{Exit, Failure};

/// Fields of a record that are shown where the kinds differ.
const FIELDS_SHOWN: usize = 12;
/// Characters of a value that are shown.
const SHOWN: usize = 80;
/// Characters before the first different one that are shown.
const SHOWN_BEFORE: usize = 20;
/// Members that are shown elsewhere, or follow from where a record is.
const PLACE: [&str; 5] = ["offset", "length", "layer", "kind", "number"];

/// What begins a line of the first recording, and one of the second.
const SIGNS: [&str; 2] = ["-", "+"];

/// The recordings of a comparison.
pub(crate) struct Pair<'p> {
    pub(crate) format: FormatId,
    /// Their paths, safe to print.
    pub(crate) names: [&'p str; 2],
}

impl Pair<'_> {
    /// Returns the differences for people.
    pub(crate) fn text(&self, compared: &Compared) -> String {
        let record = self.format.dumped_noun();
        let [volatile, content] = self.format.difference_titles();
        let mut text = String::new();
        for difference in &compared.differences {
            let title = match difference.degree {
                Degree::Volatile => volatile.to_string(),
                _ if difference.is_of_another_kind_later(compared) => {
                    format!("{record} of another kind")
                }
                _ => content.to_string(),
            };
            let _infallible = writeln!(text, "first {title}:");
            self.add_pair(difference, &mut text);
        }
        match &compared.hidden {
            Some(hidden) => self.add_hidden(hidden, &mut text),
            None if compared.is_different() && text.is_empty() => {
                text += "the records are equal, but not the damaged bytes\n";
            }
            None => {}
        }
        let [one, two] = self.names;
        match text.is_empty() {
            true => format!("equal: {}\n", plural(compared.records, record)),
            false => format!("--- {one}\n+++ {two}\n{text}"),
        }
    }

    fn add_pair(&self, difference: &Difference, text: &mut String) {
        let records = difference.records.each_ref();
        let rows = records.map(|record| record.as_deref().and_then(Row::read));
        for (is_second, (sign, row)) in [false, true].into_iter().zip(SIGNS.into_iter().zip(rows)) {
            let Some(row) = &row else {
                let _infallible = writeln!(text, "{sign} ends here");
                continue;
            };
            let _infallible = write!(text, "{sign} {}", self.place_of(difference, row));
            let differing = difference.fields.iter().map(|field| {
                let [one, two] = field.values.each_ref().map(Option::as_deref);
                let (value, other) = if is_second { (two, one) } else { (one, two) };
                let value = value.map(|value| shorten(value, other));
                format!(" {}={}", field.name, value.as_deref().unwrap_or("-"))
            });
            let all = || {
                let fields = all_fields(row, self.format.clock()).into_iter();
                fields.map(|(name, value)| format!(" {name}={}", shorten(&value, None)))
            };
            let fields: String = match difference.degree {
                Degree::Kind => all().take(FIELDS_SHOWN).collect(),
                Degree::Volatile | Degree::Content => differing.collect(),
            };
            *text += &fields;
            text.push('\n');
        }
        let record = self.format.dumped_noun();
        let ends = difference.records.iter().any(Option::is_none);
        let Some([one, two]) = difference.missing.filter(|_| !ends) else { return };
        let only = |count: u64, side| {
            let verb = if count == 1 { "is" } else { "are" };
            (count > 0).then(|| format!("{} {verb} only in the {side}", plural(count, record)))
        };
        let only: Vec<String> =
            [only(one, "first"), only(two, "second")].into_iter().flatten().collect();
        let _infallible = writeln!(text, "from here on {}; then both agree again", join_and(&only));
    }

    /// Number, offset, time or instructions, thread or device, and kind.
    fn place_of(&self, difference: &Difference, row: &Row<'_>) -> String {
        let clock = self.format.clock();
        let number = row.integer("number").unwrap_or_else(|| difference.number.into());
        let offset = row.integer("offset").unwrap_or_default();
        let is_number =
            clock.readings.iter().flat_map(|parts| *parts).all(|(name, _)| *name == "number");
        let time = row.time(clock).map_or_else(|| "-".to_string(), |time| time.to_string());
        let time = if is_number { String::new() } else { format!(" {time:>14}") };
        let subject = row.subject(clock).map_or_else(String::new, |subject| format!(" {subject}"));
        let mut kind = row.text("kind").unwrap_or_default();
        // Where the kinds differ, all fields follow.
        let members = self.format.kind_members().iter().filter(|member| **member != "kind");
        for member in members.filter(|_| difference.degree != Degree::Kind) {
            let name = row.text(&format!("{member}_name")).or_else(|| row.text(member));
            kind.extend(name.iter().flat_map(|name| [" ", name.as_str()]));
        }
        format!("{number:>8} {offset:#010x}{time}{subject} {kind}")
    }

    fn add_hidden(&self, hidden: &HiddenDifference, text: &mut String) {
        let record = self.format.dumped_noun();
        let file = Untrusted(hidden.file.as_bytes());
        match hidden.is_there {
            [true, true] => {}
            [is_in_first, _] => {
                let side = if is_in_first { "first" } else { "second" };
                let _infallible =
                    writeln!(text, "the records are equal, but {file} is only in the {side}");
                return;
            }
        }
        let place = hidden.place.join(" > ");
        let place = if place.is_empty() { place } else { format!(", in {place}") };
        let _infallible = match hidden.number {
            Some(number) => writeln!(
                text,
                "first {record} whose bytes differ, in what `dump` does not show: {number}{place}"
            ),
            None if self.format == FormatId::QEMU => {
                writeln!(text, "the bytes after the last event differ")
            }
            None => writeln!(text, "every {record} is equal, but other bytes differ{place}"),
        };
        if hidden.number.is_some() || self.format != FormatId::QEMU {
            let places = hidden.offsets.into_iter().zip(&hidden.bytes);
            for (sign, (offset, bytes)) in SIGNS.into_iter().zip(places) {
                let bytes: String = bytes.iter().map(|byte| format!(" {byte:02x}")).collect();
                let bytes = if bytes.is_empty() { " ends here".to_string() } else { bytes };
                let _infallible = writeln!(text, "{sign} {offset:#010x}:{bytes}");
            }
        }
    }

    /// Returns the differences for programs: the contract is `schema/diff.schema.json`.
    pub(crate) fn json(&self, compared: &Compared) -> Result<String, Failure> {
        let failed = |error: serde_json::Error| Failure::new(Exit::Io, error.to_string());
        let differences: Result<Vec<_>, _> = compared.differences.iter().map(entry).collect();
        let hidden = compared.hidden.as_ref().map(|hidden| HiddenEntry {
            file: Untrusted(hidden.file.as_bytes()).to_string(),
            number: hidden.number,
            is_there: hidden.is_there,
            offsets: hidden.offsets,
            place: &hidden.place,
            bytes: &hidden.bytes,
        });
        let document = Document {
            schema: SCHEMA,
            tool: tracemend::json::TOOL,
            paths: self.names,
            format: self.format.name(),
            is_different: compared.is_different(),
            records: compared.records,
            left_out: compared.left_out,
            differences: differences.map_err(failed)?,
            hidden,
        };
        serde_json::to_string_pretty(&document).map(|text| text + "\n").map_err(failed)
    }
}

/// Version of the layout.
const SCHEMA: &str = "tracemend.diff.v1";

#[derive(Serialize)]
struct Document<'d> {
    schema: &'static str,
    tool: &'static str,
    paths: [&'d str; 2],
    format: &'static str,
    is_different: bool,
    records: u64,
    left_out: [u64; 2],
    differences: Vec<Entry<'d>>,
    hidden: Option<HiddenEntry<'d>>,
}

#[derive(Serialize)]
struct Entry<'d> {
    degree: &'static str,
    number: u64,
    fields: Vec<FieldEntry<'d>>,
    first: Option<&'d RawValue>,
    second: Option<&'d RawValue>,
    missing: Option<[u64; 2]>,
}

#[derive(Serialize)]
struct FieldEntry<'d> {
    name: &'d str,
    first: Option<&'d str>,
    second: Option<&'d str>,
}

#[derive(Serialize)]
struct HiddenEntry<'d> {
    file: String,
    number: Option<u64>,
    is_there: [bool; 2],
    offsets: [u64; 2],
    place: &'d [String],
    bytes: &'d [Vec<u8>; 2],
}

fn entry(difference: &Difference) -> Result<Entry<'_>, serde_json::Error> {
    let record = |side: usize| {
        let line = difference.records.get(side).and_then(Option::as_deref);
        line.map(serde_json::from_str).transpose()
    };
    let fields = difference.fields.iter().map(|field| FieldEntry {
        name: &field.name,
        first: field.values[0].as_deref(),
        second: field.values[1].as_deref(),
    });
    Ok(Entry {
        degree: degree_name(difference.degree),
        number: difference.number,
        fields: fields.collect(),
        first: record(0)?,
        second: record(1)?,
        missing: difference.missing,
    })
}

const fn degree_name(degree: Degree) -> &'static str {
    match degree {
        Degree::Volatile => "volatile",
        Degree::Content => "content",
        Degree::Kind => "kind",
    }
}

/// Returns the fields of a record that are shown where the kinds differ: all that are not shown
/// elsewhere.
fn all_fields(row: &Row<'_>, clock: &Clock) -> Vec<(String, String)> {
    let parts = clock.readings.iter().flat_map(|parts| *parts).map(|(name, _)| *name);
    let subjects = clock.rows.iter().map(|(name, _)| *name);
    let elsewhere: Vec<&str> = PLACE.into_iter().chain(parts).chain(subjects).collect();
    let members = row.members.iter().filter(|(name, _)| !elsewhere.contains(name));
    members.flat_map(|(name, value)| named_values(name, value)).collect()
}

/// Returns the entries of a list of names and values, or else the member itself.
fn named_values(name: &str, value: &str) -> Vec<(String, String)> {
    let entries: Vec<Value> = match value.starts_with("[{\"name\":") {
        true => serde_json::from_str(value).unwrap_or_default(),
        false => Vec::new(),
    };
    let text = |entry: &Value, member: &str| entry[member].as_str().map(str::to_string);
    let named = entries.iter().map(|entry| Some((text(entry, "name")?, text(entry, "value")?)));
    let named: Option<Vec<_>> = named.collect();
    let alone = || vec![(name.to_string(), tracemend::text_of(value))];
    named.filter(|named| !named.is_empty()).unwrap_or_else(alone)
}

/// Shortens a value to the part around the first character that differs.
fn shorten(value: &str, other: Option<&str>) -> String {
    let len = value.chars().count();
    if len <= SHOWN {
        return value.to_string();
    }
    let same = other.map_or(0, |other| {
        value.chars().zip(other.chars()).take_while(|(one, two)| one == two).count()
    });
    let from = same.saturating_sub(SHOWN_BEFORE).min(len.saturating_sub(SHOWN));
    let part: String = value.chars().skip(from).take(SHOWN).collect();
    let before = if from > 0 { ".." } else { "" };
    let after = if from + SHOWN < len { ".." } else { "" };
    format!("{before}{part}{after}")
}
