//! `tracemend self-test`: a damaged recording of each format is checked and repaired.
//!
//! The recordings are specimens of the corpus. The command shows that an installation works, and
//! which of the formats' own tools are there to read a repaired recording.

use std::path::Path;

use tracemend::{File, FileSet, FormatId, Options, Outcome, Verdict};

use crate::files::streams::Streams;
use crate::kit::exit::{Exit, Failure, HELP};
use crate::kit::look::Ink;

/// A recording with one fault.
#[derive(Debug)]
struct Specimen {
    format: FormatId,
    /// The code of the fault.
    code: &'static str,
    /// Names and bytes.
    files: &'static [(&'static str, &'static [u8])],
    /// The program that reads recordings of the format.
    tool: Option<&'static str>,
}

const SPECIMENS: [Specimen; 5] = [
    Specimen {
        format: FormatId::PERF,
        code: "PD1001",
        files: &[("perf.data", include_bytes!("self_test/PD1001.data"))],
        tool: Some("perf"),
    },
    Specimen {
        format: FormatId::APITRACE,
        code: "AT0003",
        files: &[("app.trace", include_bytes!("self_test/AT0003.trace"))],
        tool: Some("apitrace"),
    },
    Specimen {
        format: FormatId::OVNI,
        code: "OV0101",
        files: &[
            ("loom.node.0/proc.7/thread.7/stream.json", include_bytes!("self_test/OV0101.json")),
            ("loom.node.0/proc.7/thread.7/stream.obs", include_bytes!("self_test/OV0101.obs")),
        ],
        tool: Some("ovniemu"),
    },
    Specimen {
        format: FormatId::QEMU,
        code: "QR2013",
        files: &[("replay.log", include_bytes!("self_test/QR2013.log"))],
        tool: Some("qemu-system-x86_64"),
    },
    Specimen {
        format: FormatId::REVENT,
        code: "RV2003",
        files: &[("x.run.revent", include_bytes!("self_test/RV2003.run.revent"))],
        tool: None,
    },
];

/// Check and repair a built-in damaged recording of each format
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {}

impl Arguments {
    pub(crate) fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        let look = streams.look;
        let mut exit = Exit::Clean;
        let mut text = String::new();
        for specimen in &SPECIMENS {
            let (ink, word, result) = match specimen.test() {
                Ok(result) => (Ink::Good, "ok", result),
                Err(defect) => {
                    exit = Exit::Unrepaired;
                    (Ink::Error, "FAILED", defect)
                }
            };
            let word = look.paint(ink, word);
            text += &format!("{:8}  {word}: {result}", specimen.format.name());
            text += &match specimen.tool {
                Some(tool) if is_installed(tool) => format!("; {tool} is installed\n"),
                Some(tool) => format!("; {tool} is not installed (optional)\n"),
                None => "\n".to_string(),
            };
        }
        streams.print(&text)?;
        Ok(exit)
    }
}

impl Specimen {
    fn files(&self) -> FileSet<'static> {
        let files = self.files.iter().map(|(name, bytes)| File::new(*name, *bytes));
        FileSet::new(files.collect())
    }

    /// Checks and repairs the recording. Returns what was done, or what went wrong.
    fn test(&self) -> Result<String, String> {
        let (files, options) = (self.files(), Options::default());
        let format = tracemend::recognise(&files, &options);
        if format != Some(self.format) {
            return Err(format!("the recording is recognised as {format:?}"));
        }
        let report = tracemend::check(&files, &options);
        if !report.counts().contains_key(self.code) {
            return Err(format!("{} is not found", self.code));
        }
        let repair = tracemend::repair(&files, &options);
        if !matches!(repair.outcome, Outcome::Repaired | Outcome::RepairedWithLoss) {
            return Err(format!("{} is not repaired", self.code));
        }
        let output = repair.output(&files);
        let after = tracemend::check(&output, &options);
        if after.has_errors() || after.verdict() == Verdict::Incomplete {
            return Err("the repaired recording has errors".to_string());
        }
        Ok(format!("{} found and repaired", self.code))
    }
}

/// Whether a program of this name is in the PATH.
fn is_installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder: std::path::PathBuf| is_file(&folder.join(name)))
}

fn is_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_a_specimen_that_passes() {
        for (format, specimen) in FormatId::ALL.iter().zip(&SPECIMENS) {
            assert_eq!(*format, specimen.format);
            assert!(specimen.test().is_ok(), "{:?}", specimen.test());
        }
        assert_eq!(FormatId::ALL.len(), SPECIMENS.len());
    }

    #[test]
    fn a_specimen_that_is_not_repaired_fails() {
        let files = SPECIMENS[0].files;
        let wrong = Specimen { format: FormatId::PERF, code: "PD0004", files, tool: None };
        assert_eq!(wrong.test(), Err("PD0004 is not found".to_string()));
        let wrong = Specimen { format: FormatId::QEMU, code: "PD1001", files, tool: None };
        assert!(wrong.test().is_err());
    }
}
