//! The results that a user gets for a case: report, plan, repaired files and dumps.

use std::path::Path;

use tracemend::mend::plan::{Plan, crc32};
use tracemend::present::json::{Document, Recording};
use tracemend::{
    AuditRequest, Dump, FileSet, FormatId, Options, Repair, Report, recognise, repair,
};

use super::{Case, Sums};

/// The four products of a case, as bytes.
#[derive(Clone, Debug)]
pub struct Products {
    /// The JSON of the check or audit, that of the repaired recording, and the outcome.
    report: Vec<u8>,
    /// The JSON of the plan, or the reason why there is none.
    plan: Vec<u8>,
    /// The repaired files with their names; none for a file that does not exist.
    repaired: Vec<(String, Option<Vec<u8>>)>,
    /// Every style of the dump, of the recording and of the repaired one.
    dump: Vec<u8>,
}

impl Products {
    /// Checks, repairs and dumps a case.
    pub fn of(case: &Case) -> Self {
        let files = case.set();
        let options = case.options_for(recognise(&files, &case.options));
        let report = if case.is_audited {
            tracemend::audit(&files, &options, &AuditRequest::default())
        } else {
            tracemend::check(&files, &options)
        };
        let repair = repair(&files, &options);
        let output = repair.output(&files);
        let repaired = output.files().iter().map(|file| {
            (file.name.clone(), (!file.bytes.is_absent()).then(|| file.bytes.to_vec()))
        });
        let mut dump = dumps(&files, &options);
        if repair.changes() {
            dump.extend(dumps(&output, &options));
        }
        Self {
            report: reports(&report, &repair, &files, &output),
            plan: plan(&repair, &files, &options),
            repaired: repaired.collect(),
            dump,
        }
    }

    /// Returns length and CRC-32 of each product.
    pub fn sums(&self) -> Sums {
        let mut repaired = Vec::new();
        for (name, bytes) in &self.repaired {
            let bytes = bytes.as_deref();
            let length =
                bytes.map_or_else(|| "absent".to_string(), |bytes| bytes.len().to_string());
            repaired.extend(format!("{name}\0{length}\0").into_bytes());
            repaired.extend(bytes.unwrap_or_default());
        }
        [&self.report, &self.plan, &repaired, &self.dump]
            .map(|bytes| format!("{}:{}", bytes.len(), crc32(&[bytes])))
    }

    /// Writes the products below a folder.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn write(&self, folder: &Path) -> std::io::Result<()> {
        let present =
            self.repaired.iter().filter_map(|(name, bytes)| Some((name, bytes.as_ref()?)));
        let repaired = present.map(|(name, bytes)| (format!("repaired/{name}"), bytes));
        let texts = [("report", &self.report), ("plan", &self.plan), ("dump", &self.dump)];
        for (name, bytes) in
            texts.map(|(name, bytes)| (name.to_string(), bytes)).into_iter().chain(repaired)
        {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
            std::fs::write(path, bytes)?;
        }
        Ok(())
    }
}

/// Returns the reports of the recording and of the repaired one, and how the repair ended.
fn reports(report: &Report, repair: &Repair, files: &FileSet<'_>, output: &FileSet<'_>) -> Vec<u8> {
    let recordings = vec![
        Recording::new("recording", report, files),
        Recording::new("repaired", &repair.after, output),
    ];
    let json = Document::new(recordings).to_json().unwrap();
    let refused = repair.refused.as_deref().unwrap_or("nothing refused");
    format!("{json}\n{:?}: {refused}\n", repair.outcome).into_bytes()
}

fn plan(repair: &Repair, files: &FileSet<'_>, options: &Options) -> Vec<u8> {
    let plan = Plan::new(repair, files, &options.limits).and_then(|plan| plan.to_json());
    plan.unwrap_or_else(|error| error.to_string()).into_bytes()
}

/// Returns every dump of a recording, one after another, each with its counts or its error.
fn dumps(files: &FileSet<'_>, options: &Options) -> Vec<u8> {
    let styles = options.format.map_or(&[][..], FormatId::dump_styles);
    let texts = styles.iter().map(|(style, _)| Dump::Text { style: Some((*style).to_string()) });
    let mut bytes = Vec::new();
    for request in texts.chain([Dump::JsonLines]) {
        let dumped = tracemend::dump(files, options, &request, &mut |piece| {
            bytes.extend(piece.as_bytes());
            true
        });
        bytes.extend(format!("{request:?}: {dumped:?}\n").into_bytes());
    }
    bytes
}
