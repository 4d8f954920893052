//! The policy of a run: the command line over `tracemend.toml`, and the baseline under both.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use tracemend::{Baseline, DeletedRule, FileSet, Level, Policy, Report, Selector};

use super::Arguments;
use crate::files::access::Readers;
use crate::files::output::TextFile;
use crate::files::paths::parent;
use crate::files::paths::shown;
use crate::files::places::Places;
use crate::kit::exit::{Exit, Failure};
use crate::kit::look::Look;
use crate::policy::config::Config;
use crate::policy::fail_on::FailOn;

/// Decides what becomes of the findings.
pub(super) struct Judging {
    pub(super) config: Config,
    /// Levels of the command line.
    command: Policy,
    fail_on: FailOn,
    pub(super) strict: bool,
    max_findings: Option<usize>,
    baseline: Option<KnownFindings>,
}

/// A baseline and where it lies.
struct KnownFindings {
    path: PathBuf,
    /// Paths of recordings are relative to this folder.
    folder: PathBuf,
    accepted: Baseline,
    /// `--write-baseline`: what is found is accepted.
    file: Option<TextFile>,
}

/// The code, the beginning of codes, the name or `all` that an option takes.
pub(super) fn parse_selector(text: &str) -> Result<Selector, String> {
    text.parse().map_err(|_| crate::commands::explain::describe_unknown(text))
}

impl Judging {
    pub(super) fn new(
        arguments: &Arguments,
        places: &mut Places,
        look: Look,
    ) -> Result<Self, Failure> {
        let config = match (arguments.no_config, &arguments.config) {
            (true, _) => Config::default(),
            (false, named) => Config::load(named.as_deref(), look)?,
        };
        let lists = [&arguments.allow, &arguments.warn, &arguments.deny];
        let mut command = Policy::default();
        for (level, selectors) in Level::ALL.into_iter().zip(lists) {
            for selector in selectors {
                command = command.with(selector.clone(), level);
            }
        }
        let of_file = config.fail_on.as_deref().and_then(|word| FailOn::from_str(word, false).ok());
        let baseline = arguments.baseline.as_ref().or(config.baseline.as_ref());
        let baseline = match baseline {
            Some(path) => Some(KnownFindings::open(path, arguments.write_baseline, places)?),
            None if arguments.write_baseline => {
                return Err(Failure::usage("--write-baseline requires --baseline FILE"));
            }
            None => None,
        };
        Ok(Self {
            command,
            fail_on: arguments.fail_on.or(of_file).unwrap_or(FailOn::Error),
            strict: arguments.strict || config.strict,
            max_findings: arguments.max_findings.or(config.max_findings),
            config,
            baseline,
        })
    }

    /// The rules that policy and baseline name although they do not exist any more.
    pub(super) fn deleted(&self) -> BTreeMap<&'static str, &'static DeletedRule> {
        let accepted = self.baseline.iter().flat_map(|known| known.accepted.deleted());
        let policies = self.config.policies().chain([&self.command]);
        let named = policies.flat_map(Policy::deleted).chain(accepted);
        named.map(|rule| (rule.code, rule)).collect()
    }

    /// The baseline that the run writes.
    pub(super) fn written_baseline(&self) -> Option<&PathBuf> {
        let known = self.baseline.as_ref()?;
        known.file.is_some().then_some(&known.path)
    }

    /// The number of findings that the report should hold before it is judged: those that are left
    /// out should not use up the room of those that are shown.
    pub(super) fn held(&self, held: u64) -> u64 {
        let wanted = self.max_findings.map_or(0, |max| u64::try_from(max).unwrap_or(u64::MAX));
        let known = if self.baseline.is_some() { super::FINDINGS_LISTED } else { 0 };
        held.max(wanted).max(known)
    }

    /// Judges the findings of a recording. Returns the entries of a new baseline.
    pub(super) fn judge(
        &self,
        path: &Path,
        report: &mut Report,
        files: &FileSet<'_>,
    ) -> Option<Baseline> {
        let policy = self.config.policy(path, report.format).then(&self.command);
        report.apply(&policy);
        let found = self.baseline.as_ref().and_then(|known| {
            let path = known.relative(path);
            if known.file.is_none() {
                known.accepted.apply(&path, report, files);
                return None;
            }
            let mut found = Baseline::default();
            found.add(&path, report, files);
            found.apply(&path, report, files);
            Some(found)
        });
        if let Some(max) = self.max_findings {
            report.truncate(max);
        }
        found
    }

    /// Whether the policy suppresses all findings of a report.
    pub(super) fn allows(&self, path: &Path, report: &Report) -> bool {
        let mut report = report.clone();
        report.apply(&self.config.policy(path, report.format).then(&self.command));
        report.counts().is_empty()
    }

    /// The exit code for a report.
    pub(super) fn exit(&self, report: &Report) -> Exit {
        self.fail_on.exit(report)
    }

    /// Writes the new baseline: what was found, and what it holds about other recordings.
    pub(super) fn close(self, found: Baseline, readers: Option<Readers>) -> Result<(), Failure> {
        let Some(KnownFindings { mut accepted, file: Some(mut file), .. }) = self.baseline else {
            return Ok(());
        };
        accepted.extend(found);
        if let Some(readers) = readers {
            file.restrict(readers);
        }
        let text = accepted.to_json().map_err(|error| Failure::new(Exit::Io, error.to_string()))?;
        file.write(&text)?;
        file.publish()
    }
}

impl KnownFindings {
    fn open(path: &Path, is_written: bool, places: &mut Places) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::io(shown(path), &error);
        let text = match fs::metadata(path) {
            Err(error) if is_written && error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
            Ok(metadata) if metadata.is_file() => Some(fs::read_to_string(path).map_err(failed)?),
            Ok(_) => return Err(failed(std::io::Error::other("not a regular file"))),
        };
        let accepted = text.as_deref().map_or(Ok(Baseline::default()), Baseline::from_json);
        let accepted =
            accepted.map_err(|error| Failure::usage(format!("{}: {error}", shown(path))))?;
        let file = match is_written {
            true => {
                places.write("the baseline", path)?;
                let earlier = text.as_ref().map(|_| Readers::of_path(path, path));
                Some(TextFile::create(path, true, earlier.unwrap_or(Readers::EVERYBODY))?)
            }
            false => None,
        };
        let folder = fs::canonicalize(parent(path)).map_err(failed)?;
        Ok(Self { path: path.to_path_buf(), folder, accepted, file })
    }

    /// The name of a recording in the baseline: its path from the folder of the baseline, so that
    /// it is the same wherever the command runs.
    fn relative(&self, path: &Path) -> String {
        let full = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        shown(full.strip_prefix(&self.folder).unwrap_or(&full))
    }
}
