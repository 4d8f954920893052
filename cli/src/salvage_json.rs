//! The report of a repair for programs: the contract is `schema/repair.schema.json`.

use std::path::Path;

use serde_json::{Value, json};
use tracemend::json::{Recording, TOOL};
use tracemend::{Applied, Balance, FileSet, Outcome, Report};

use crate::formats::pretty;
use crate::input::shown;
use crate::salvage::Salvage;

/// Version of the layout of `repair --format json`.
const REPAIR_SCHEMA: &str = "tracemend.repair.v1";

impl Salvage<'_> {
    /// Returns the report as a JSON document.
    pub(crate) fn json(&self) -> String {
        let repair = self.repair;
        let output = repair.output(self.files);
        let report = |report: &Report, files: &FileSet<'_>| -> Value {
            let recording = Recording::new("", report, files);
            let mut value = serde_json::to_value(recording).unwrap_or_default();
            // Escaped already.
            if let Some(path) = value.get_mut("path") {
                *path = Value::from(self.path.as_str());
            }
            value
        };
        let mut balance = Balance::default();
        repair.patches.iter().for_each(|patch| balance.add(patch));
        let Balance { kept, dropped, inserted } = balance;
        let fixes: Vec<Value> = repair.applied.iter().filter_map(|a| self.fix(a)).collect();
        pretty(&json!({
            "schema": REPAIR_SCHEMA,
            "tool": TOOL,
            "path": self.path,
            "outcome": match repair.outcome {
                Outcome::Clean => "clean",
                Outcome::Repaired => "repaired",
                Outcome::RepairedWithLoss => "repaired-with-loss",
                Outcome::CannotRepair => "cannot-repair",
                Outcome::Incomplete => "incomplete",
            },
            "dry_run": self.dry_run,
            "output": self.written,
            "original": self.original,
            "plan": self.plan,
            "balance": { "kept": kept, "dropped": dropped, "inserted": inserted },
            "records_lost": repair.records_lost(),
            "fixes": fixes,
            "refused": repair.refused,
            "before": report(&repair.before, self.files),
            "after": report(&repair.after, &output),
        }))
    }

    fn fix(&self, applied: &Applied) -> Option<Value> {
        let fix = applied.fix()?;
        let name = |file: u32| -> String {
            let file = usize::try_from(file).ok().and_then(|index| self.files.files().get(index));
            file.map_or_else(String::new, |file| shown(Path::new(&file.name)))
        };
        let places: Vec<Value> = applied
            .places
            .iter()
            .map(|place| {
                let file = name(place.layer().file);
                json!({ "file": file, "start": place.start(), "end": place.end() })
            })
            .collect();
        Some(json!({
            "code": applied.finding.rule.code,
            "name": applied.finding.rule.name,
            "safety": fix.safety.name(),
            "summary": fix.summary,
            "round": applied.round,
            "records_lost": fix.records_lost,
            "stored_anew": {
                "stored": fix.anew.stored,
                "kept": fix.anew.kept,
                "dropped": fix.anew.dropped,
                "inserted": fix.anew.inserted,
            },
            "places": places,
        }))
    }
}
