//! The report of a repair for programs: the contract is `schema/repair.schema.json`.

use std::io::Write;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use tracemend::json::{Recording, TOOL};
use tracemend::{Applied, Balance, FileSet, Outcome, Report, Span, Untrusted};

use crate::kit::exit::{Exit, Failure};
use crate::show::salvage::Salvage;

/// Version of the layout of `repair --format json`.
const REPAIR_SCHEMA: &str = "tracemend.repair.v2";

/// A list that is written item by item: a repair can have millions of places.
struct Each<F>(F);

impl<F: Fn() -> I, I: Iterator<Item: Serialize>> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// The document up to the fixes, and after them.
#[derive(Serialize)]
struct Document<'s, L: Serialize> {
    schema: &'static str,
    tool: &'static str,
    path: &'s str,
    outcome: &'static str,
    #[serde(flatten)]
    files: Files<'s>,
    #[serde(flatten)]
    sums: Value,
    fixes: L,
    refused: Option<&'s str>,
    before: Value,
    after: Value,
}

/// What was asked for and what was written.
#[derive(Serialize)]
struct Files<'s> {
    dry_run: bool,
    being_written: bool,
    output: Option<&'s str>,
    already_there: bool,
    original: Option<&'s str>,
    plan: Option<&'s str>,
}

/// One fix.
#[derive(Serialize)]
struct FixEntry<W: Serialize, P: Serialize> {
    code: &'static str,
    name: &'static str,
    #[serde(flatten)]
    facts: Value,
    witnesses: W,
    places: P,
}

/// A range of bytes of the source.
#[derive(Serialize)]
struct Place {
    file: String,
    start: u64,
    end: u64,
}

impl Salvage<'_> {
    /// Writes the report as a JSON document.
    pub(crate) fn write_json(&self, out: &mut dyn Write) -> serde_json::Result<()> {
        let repair = self.repair;
        let output = repair.output(self.files);
        let Balance { kept, replaced, dropped, inserted } = Balance::of(&repair.patches);
        let document = Document {
            schema: REPAIR_SCHEMA,
            tool: TOOL,
            path: &self.path,
            outcome: match repair.outcome {
                Outcome::Clean => "clean",
                Outcome::Repaired => "repaired",
                Outcome::RepairedWithLoss => "repaired-with-loss",
                Outcome::CannotRepair => "cannot-repair",
                Outcome::Incomplete => "incomplete",
            },
            files: Files {
                dry_run: self.dry_run,
                being_written: self.being_written,
                output: self.written.output.as_deref(),
                already_there: self.written.is_there,
                original: self.written.original.as_deref(),
                plan: self.written.plan.as_deref(),
            },
            sums: json!({
                "balance": {
                    "kept": kept,
                    "replaced": replaced,
                    "dropped": dropped,
                    "inserted": inserted,
                },
                "records_lost": repair.records_lost(),
                "records_altered": repair.records_altered(),
            }),
            fixes: Each(|| repair.applied.iter().filter_map(|applied| self.entry(applied))),
            refused: repair.refused.as_deref(),
            before: self.describe(&repair.before, self.files),
            after: self.describe(&repair.after, &output),
        };
        serde_json::to_writer_pretty(&mut *out, &document)?;
        out.write_all(b"\n").map_err(serde_json::Error::io)
    }

    /// Returns the report as a JSON document without a line end.
    pub(crate) fn json_text(&self) -> Result<String, Failure> {
        let mut text = Vec::new();
        let written = self.write_json(&mut text);
        written.map_err(|error| Failure::new(Exit::Io, error.to_string()))?;
        Ok(String::from_utf8_lossy(&text).trim_end().to_string())
    }

    fn describe(&self, report: &Report, files: &FileSet<'_>) -> Value {
        let mut value =
            serde_json::to_value(Recording::with_edits("", report, files, self.edit_bytes))
                .unwrap_or_default();
        // Escaped already.
        if let Some(path) = value.get_mut("path") {
            *path = Value::from(self.path.as_str());
        }
        value
    }

    fn place(&self, span: Span) -> Place {
        let file = usize::try_from(span.layer().file).ok();
        let file = file.and_then(|index| self.files.files().get(index));
        let name = |file: &tracemend::File<'_>| Untrusted(file.name.as_bytes()).to_string();
        let file = file.map_or_else(String::new, name);
        Place { file, start: span.start(), end: span.end() }
    }

    fn entry<'s>(&'s self, applied: &'s Applied) -> Option<impl Serialize + 's> {
        let fix = applied.fix()?;
        Some(FixEntry {
            code: applied.finding.rule.code,
            name: applied.finding.rule.name,
            facts: json!({
                "safety": applied.class.name(),
                "summary": fix.summary,
                "count": applied.count,
                "round": applied.round,
                "records_lost": applied.records_lost,
                "records_altered": applied.records_altered,
                "stored_anew": {
                    "stored": applied.anew.stored,
                    "kept": applied.anew.kept,
                    "dropped": applied.anew.dropped,
                    "inserted": applied.anew.inserted,
                },
            }),
            witnesses: Each(|| {
                let witnesses = applied.witnesses.iter();
                witnesses.map(|one| json!({ "meaning": one.meaning, "span": self.place(one.span) }))
            }),
            places: Each(|| applied.places.iter().map(|span| self.place(*span))),
        })
    }
}
