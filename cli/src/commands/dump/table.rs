//! Records as tables: CSV with one kind of record for each table, and JSON without numbers.
//!
//! A table needs its columns before its first row, so the records are read twice: nothing but the
//! names of kinds and columns is held.

use std::collections::BTreeMap;
use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tracemend::Row;
use tracemend::words::join_and;

use crate::kit::exit::{Exit, Failure};

/// Kinds of records in one recording, each of which has an open file: perf has about 50 types, ovni
/// some hundred codes of events, and a process 1,024 files.
const KINDS_MAX: usize = 512;
/// Columns of one table: a record of perf has at most 60 fields.
const COLUMNS_MAX: usize = 1024;
/// Kinds that a message names.
const KINDS_NAMED: usize = 8;
/// The member that names the kind of a record.
const KIND: &str = "kind";

fn read(line: &str) -> Result<Row<'_>, Failure> {
    Row::read(line).ok_or_else(|| Failure::new(Exit::Io, "a line of the dump is not an object"))
}

fn kind_of(row: &Row<'_>) -> String {
    row.text(KIND).unwrap_or_default()
}

/// The tables of a recording, by the kinds of their rows.
#[derive(Debug, Default)]
pub(super) struct Tables {
    columns: BTreeMap<String, Vec<String>>,
}

impl Tables {
    /// Learns the columns of a record.
    pub(super) fn learn(&mut self, line: &str) -> Result<(), Failure> {
        let row = read(line)?;
        let kind = kind_of(&row);
        let is_full = self.columns.len() >= KINDS_MAX && !self.columns.contains_key(&kind);
        let columns = self.columns.entry(kind).or_default();
        for (name, _) in row.members {
            if !columns.iter().any(|known| known == name) {
                columns.push(name.to_string());
            }
        }
        if is_full || columns.len() > COLUMNS_MAX {
            let message =
                format!("more than {KINDS_MAX} kinds of records or {COLUMNS_MAX} columns");
            return Err(Failure::new(Exit::Incomplete, message));
        }
        Ok(())
    }

    /// The kinds, each with the first line of its table.
    pub(super) fn heads(&self) -> Result<Vec<(&str, String)>, Failure> {
        let head = |(kind, columns): (&'_ String, &Vec<String>)| {
            line_of(columns.iter().map(String::as_str)).map(|line| (kind.clone(), line))
        };
        let heads: Result<Vec<(String, String)>, Failure> = self.columns.iter().map(head).collect();
        let lines = heads?.into_iter().map(|(_, line)| line);
        Ok(self.columns.keys().map(String::as_str).zip(lines).collect())
    }

    /// Fails if there are records of several kinds, which one table cannot hold.
    pub(super) fn refuse_several(&self) -> Result<(), Failure> {
        if self.columns.len() < 2 {
            return Ok(());
        }
        let mut kinds: Vec<String> = self.columns.keys().take(KINDS_NAMED).cloned().collect();
        if self.columns.len() > KINDS_NAMED {
            kinds.push(format!("{} more", self.columns.len() - KINDS_NAMED));
        }
        Err(Failure::usage(format!(
            "records of {} kinds do not fit in one table ({}): --kind NAME, or -o DIR/ for one \
             file per kind",
            self.columns.len(),
            join_and(&kinds)
        )))
    }

    /// The kind of a record, and its line of the table.
    pub(super) fn row(&self, line: &str) -> Result<(String, String), Failure> {
        let row = read(line)?;
        let kind = kind_of(&row);
        let columns = self.columns.get(&kind).map(Vec::as_slice).unwrap_or_default();
        let cells = columns.iter().map(|column| row.text(column).unwrap_or_default());
        Ok((kind, line_of(cells)?))
    }
}

/// One line of CSV (RFC 4180, but for the line feed).
fn line_of(cells: impl Iterator<Item = impl AsRef<[u8]>>) -> Result<String, Failure> {
    let failed = |error: &dyn fmt::Display| Failure::new(Exit::Io, error.to_string());
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(cells).map_err(|error| failed(&error))?;
    let line = writer.into_inner().map_err(|error| failed(&error))?;
    String::from_utf8(line).map_err(|error| failed(&error))
}

/// Returns a line of JSON with every number as a string of its digits, in lists and objects, too.
pub(super) fn with_numbers_as_strings(line: &str) -> String {
    let mut text = String::with_capacity(line.len() + line.len() / 4);
    let (mut is_in_string, mut is_escaped, mut is_in_number) = (false, false, false);
    for c in line.chars() {
        let is_number = !is_in_string && (c.is_ascii_digit() || "+-.eE".contains(c));
        // `true` and `false` have an `e`, which begins no number.
        let is_number = is_number && (is_in_number || c.is_ascii_digit() || c == '-');
        if is_number != is_in_number {
            text.push('"');
        }
        is_in_number = is_number;
        text.push(c);
        match c {
            '"' if !is_escaped => is_in_string = !is_in_string,
            _ => {}
        }
        is_escaped = is_in_string && c == '\\' && !is_escaped;
    }
    text
}

/// Bytes of a kind that are encoded in the name of its file.
const IN_NAME: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');

/// The name of the file for a kind, which may come from the recording: no two kinds have one name.
pub(super) fn file_name(kind: &str) -> String {
    format!("{}.csv", utf8_percent_encode(kind, IN_NAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_strings_and_nothing_else_does() {
        let line = r#"{"a":18446744071578845184,"b":[-1,2.5e-3],"c":"1 \" 2","d":true,"e":null}"#;
        let text =
            r#"{"a":"18446744071578845184","b":["-1","2.5e-3"],"c":"1 \" 2","d":true,"e":null}"#;
        assert_eq!(with_numbers_as_strings(line), text);
        assert_eq!(with_numbers_as_strings(text), text);
    }

    #[test]
    fn a_table_has_all_columns_of_its_kind_and_every_digit() {
        let lines = [
            r#"{"kind":"A","x":18446744071578845184,"list":[1,{"y":"\"2\""}]}"#,
            r#"{"kind":"A","x":1,"more":"a,\"b\"\nc"}"#,
            r#"{"kind":"B","z":null}"#,
        ];
        let mut tables = Tables::default();
        lines.iter().for_each(|line| tables.learn(line).unwrap());
        let heads = tables.heads().unwrap();
        assert_eq!(heads, [("A", "kind,x,list,more\n".to_string()), ("B", "kind,z\n".to_string())]);
        let row = |at: usize| tables.row(lines[at]).unwrap().1;
        assert_eq!(row(0), "A,18446744071578845184,\"[1,{\"\"y\"\":\"\"\\\"\"2\\\"\"\"\"}]\",\n");
        assert_eq!(row(1), "A,1,,\"a,\"\"b\"\"\nc\"\n");
        assert_eq!(row(2), "B,\n");
        assert!(tables.refuse_several().unwrap_err().message.contains("2 kinds"));
    }

    #[test]
    fn kinds_and_columns_have_a_limit() {
        let mut tables = Tables::default();
        let learn = |tables: &mut Tables, count: usize| {
            (0..count).try_for_each(|at| tables.learn(&format!("{{\"kind\":\"k{at}\"}}")))
        };
        assert_eq!(learn(&mut tables, KINDS_MAX), Ok(()));
        let failure = learn(&mut tables, KINDS_MAX + 1).unwrap_err();
        assert_eq!(failure.exit, Exit::Incomplete);
        let members = |count: usize| {
            let members: Vec<String> = (1..count).map(|at| format!("\"m{at}\":0")).collect();
            format!("{{\"kind\":\"k\",{}}}", members.join(","))
        };
        assert_eq!(Tables::default().learn(&members(COLUMNS_MAX)), Ok(()));
        assert!(Tables::default().learn(&members(COLUMNS_MAX + 1)).is_err());
    }

    #[test]
    fn a_kind_names_a_file_in_the_folder_and_no_other() {
        assert_eq!(file_name("SAMPLE"), "SAMPLE.csv");
        assert_eq!(file_name("../x y"), "%2E%2E%2Fx%20y.csv");
        assert_eq!(file_name("VS["), "VS%5B.csv");
    }
}
