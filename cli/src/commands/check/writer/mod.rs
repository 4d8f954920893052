//! The report of a run in one format.
//!
//! ```text
//!  Checked --Layout::render--> Piece       on any thread, in any order
//!  Piece   --Writer::append--> text        in the order of the input
//!  Closing --Writer::finish--> text        once
//! ```
//!
//! Every text that a writer is given is escaped already: no character in it acts on a terminal. A
//! writer adds the escapes that its own format needs.

mod audit;
mod gitlab;
mod html;
mod human;
mod json;
mod junit;
mod lines;
pub(super) mod place;
mod rdjson;
mod sarif;
mod svg;
mod tap;

use std::path::Path;

use tracemend::json::EDIT_BYTES_MAX;
use tracemend::{AuditRequest, FileSet, Report};

use super::format::Format;
use crate::files::skipped::Skipped;
use crate::kit::command::NextCommand;
use crate::kit::exit::{Exit, Failure};
use crate::kit::look::Look;
use crate::show::picture::{Row, Rows};
use crate::show::summary::Totals;

/// Options about the text for people.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    pub(super) quiet: bool,
    pub(super) verbose: bool,
    pub(super) all: bool,
    /// Counts instead of findings.
    pub(super) statistics: bool,
    /// Options that the commands after a finding need, too.
    pub(super) given: Vec<String>,
    /// Whether one recording was named, so that the names of outputs cannot meet.
    pub(super) is_one: bool,
    /// The command that repairs all recordings.
    pub(super) repair_all: Option<String>,
    /// The request of an audit.
    pub(super) audit: Option<AuditRequest>,
    /// Whether edits have all of their bytes.
    pub(super) edits: bool,
}

impl Settings {
    /// Bytes of an edit that a report for programs holds.
    const fn edit_bytes(&self) -> usize {
        if self.edits { usize::MAX } else { EDIT_BYTES_MAX }
    }
}

impl Settings {
    /// The commands that follow from the findings in the recording at `path`.
    fn next(&self, path: &Path) -> NextCommand {
        let next = NextCommand::new(path, self.given.clone());
        if self.is_one { next } else { next.among_others(path) }
    }
}

/// A recording that was checked, or a path that has to be a recording.
pub(super) struct Checked<'a> {
    pub(super) path: &'a Path,
    /// The path, escaped.
    pub(super) name: String,
    pub(super) report: &'a Report,
    pub(super) files: &'a FileSet<'a>,
    /// The checksum of the files, if the report has it.
    pub(super) crc32: Option<u32>,
    /// Whether the recording is a directory.
    pub(super) is_directory: bool,
    /// Whether it was found in a directory instead of named.
    pub(super) is_walked: bool,
    /// What the recording makes of the exit code.
    pub(super) exit: Exit,
}

/// The part of a report that one recording adds.
#[derive(Debug)]
pub(super) enum Piece {
    Text(String),
    /// The line about a recording that was found in a directory and is clean: it is printed if it
    /// remains the only one.
    CleanLine(String),
    Case(Box<quick_junit::TestCase>),
    Section(Box<html::Section>),
    Row(Box<Row>),
    Point(tap::Point),
    Results(Vec<sarif::Line>),
}

/// The end of a run.
pub(super) struct Closing<'a> {
    pub(super) totals: &'a Totals,
    pub(super) counts: &'a tracemend::json::Totals,
    pub(super) skipped: &'a Skipped,
    pub(super) exit: Exit,
}

/// How recordings are rendered for one output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) format: Format,
    pub(super) look: Look,
}

impl Layout {
    /// Whether the format shows fingerprints, which cost a hash per finding.
    pub(super) const fn needs_fingerprints(self) -> bool {
        matches!(self.format, Format::Json | Format::Jsonl | Format::Sarif | Format::Gitlab)
    }

    /// Renders one recording.
    pub(super) fn render(
        self,
        checked: &Checked<'_>,
        settings: &Settings,
    ) -> Result<Piece, Failure> {
        Ok(match self.format {
            Format::Human => match settings.audit {
                Some(request) => audit::describe(checked, request.concern, self.look),
                None => human::describe(checked, settings, self.look),
            },
            Format::Json => Piece::Text(json::piece(checked, settings.edit_bytes())?),
            Format::Jsonl => Piece::Text(json::line(checked, settings.edit_bytes())?),
            Format::Oneline => Piece::Text(lines::oneline(checked)),
            Format::Sarif => Piece::Results(sarif::results(checked, settings.edit_bytes())?),
            Format::Junit => Piece::Case(Box::new(junit::case(checked))),
            Format::Github => Piece::Text(lines::github(checked)),
            Format::Gitlab => Piece::Text(gitlab::entries(checked)?),
            Format::Azure => Piece::Text(lines::azure(checked)),
            Format::Rdjson => Piece::Text(rdjson::diagnostics(checked)?),
            Format::Tap => Piece::Point(tap::Point::of(checked)),
            Format::Html => Piece::Section(Box::new(html::section(checked, settings))),
            Format::Svg => Piece::Row(Box::new(svg::row(checked))),
        })
    }
}

/// Joins the pieces of one output.
#[derive(Debug)]
pub(super) struct Writer {
    layout: Layout,
    /// Whether a piece was appended.
    began: bool,
    /// Points of a test report so far.
    points: u64,
    clean_line: String,
    /// A report of JUnit begins with its sums, so its cases wait for the end.
    cases: Vec<quick_junit::TestCase>,
    /// A page begins with its sums, too.
    sections: html::Sections,
    /// So does a picture.
    rows: Rows,
    /// The rules of a report in SARIF.
    broken: sarif::Broken,
}

impl Writer {
    pub(super) fn new(layout: Layout) -> Self {
        Self {
            layout,
            began: false,
            points: 0,
            clean_line: String::new(),
            cases: Vec::new(),
            sections: html::Sections::default(),
            rows: Rows::default(),
            broken: sarif::Broken::default(),
        }
    }

    pub(super) fn layout(&self) -> Layout {
        self.layout
    }

    /// The text before a list item that has the form `ITEM`, and before the list if it is the
    /// first.
    fn begin(&mut self, head: &str) -> String {
        let text = if self.began { ",".to_string() } else { head.to_string() };
        self.began = true;
        text
    }

    /// Returns the text to write for the next piece.
    pub(super) fn append(&mut self, piece: Piece) -> String {
        let text = match piece {
            Piece::Text(text) => text,
            Piece::CleanLine(line) => {
                self.clean_line = line;
                return String::new();
            }
            Piece::Case(case) => {
                self.cases.push(*case);
                return String::new();
            }
            Piece::Section(section) => {
                self.sections.push(*section);
                return String::new();
            }
            Piece::Row(row) => {
                self.rows.push(*row);
                return String::new();
            }
            Piece::Point(point) => return self.draw(&point),
            Piece::Results(lines) => self.broken.join(lines),
        };
        match self.layout.format {
            Format::Json => self.begin(&tracemend::json::head()) + &text,
            // A recording without findings adds nothing to these lists.
            Format::Sarif | Format::Gitlab | Format::Rdjson if text.is_empty() => text,
            Format::Rdjson => self.begin(rdjson::HEAD) + &text,
            Format::Sarif => self.begin(sarif::HEAD) + &text,
            Format::Gitlab => self.begin(gitlab::HEAD) + &text,
            _ => text,
        }
    }

    fn draw(&mut self, point: &tap::Point) -> String {
        let head = if self.points == 0 { tap::HEAD } else { "" };
        self.points = self.points.saturating_add(1);
        head.to_string() + &point.draw(self.points)
    }

    /// Returns the text after the last piece.
    pub(super) fn finish(
        mut self,
        closing: &Closing<'_>,
        settings: &Settings,
    ) -> Result<String, Failure> {
        let head = |began: bool, head: &str| if began { String::new() } else { head.to_string() };
        Ok(match self.layout.format {
            Format::Human => {
                let line = std::mem::take(&mut self.clean_line);
                human::close(closing, settings, self.layout.look, line)
            }
            Format::Json => {
                head(self.began, &tracemend::json::head()) + &json::closing_piece(closing)?
            }
            Format::Jsonl => json::closing_line(closing)?,
            // Standard error has the paths that could not be read.
            Format::Oneline => String::new(),
            Format::Sarif => head(self.began, sarif::HEAD) + &sarif::close(&self.broken, closing)?,
            Format::Junit => junit::report(self.cases, closing)?,
            Format::Github => lines::github_unread(closing),
            Format::Azure => lines::azure_unread(closing),
            Format::Tap => {
                let unread: String =
                    tap::unread(closing).iter().map(|point| self.draw(point)).collect();
                let head = if self.points == 0 { tap::HEAD } else { "" };
                format!("{head}{unread}1..{}\n", self.points)
            }
            Format::Html => self.sections.page(closing, settings),
            Format::Svg => svg::close(self.rows, closing, settings),
            Format::Gitlab => self.close(&gitlab::unread(closing)?, gitlab::HEAD, gitlab::END),
            Format::Rdjson => self.close(&rdjson::unread(closing)?, rdjson::HEAD, rdjson::END),
        })
    }

    /// Returns the last items of a list, and its end.
    fn close(mut self, items: &str, head: &str, end: &str) -> String {
        let list = if items.is_empty() { String::new() } else { self.begin(head) + items };
        let head = if self.began { "" } else { head };
        list + head + end
    }
}

/// A failure of the JSON or XML writer, which no report causes.
fn describe_writer_failure(error: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Io, error.to_string())
}
