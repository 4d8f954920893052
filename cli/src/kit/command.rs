//! Commands that a user can paste: the next step after a finding.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use tracemend::{FormatId, Safety, Severity, is_safe};

/// The option that allows a repair to lose recorded bytes for a warning.
pub(crate) const LOSSY_WARNINGS: &str = "--lossy-warnings";

/// Builds the commands for one recording.
#[derive(Clone, Debug)]
pub(crate) struct NextCommand {
    path: String,
    /// `None` if a name here would lie inside the recording; beside it is the default.
    output: Option<String>,
    /// Options that were given and that the next command needs, too.
    given: Vec<String>,
    /// The riskiest class of fixes that the given options allow.
    allowed: Safety,
}

impl NextCommand {
    /// Commands about the recording at `path`, read with the options `given`.
    pub(crate) fn new(path: &Path, given: Vec<String>) -> Self {
        let output = (!is_around_here(path)).then(|| name_output(path));
        Self { path: quote(path), output, given, allowed: Safety::Lossy }
    }

    /// Commands that follow one which allowed fixes up to this class only.
    pub(crate) fn with_allowed(self, allowed: Safety) -> Self {
        Self { allowed, ..self }
    }

    /// Returns the repair that applies a fix of this class for a finding of this severity.
    pub(crate) fn repair_up_to(&self, safety: Safety, severity: Severity) -> String {
        let mut options = Vec::new();
        if safety > self.allowed {
            options.push(format!("--safety {safety}"));
        }
        if safety == Safety::Lossy && severity == Severity::Warning {
            options.push(LOSSY_WARNINGS.to_string());
        }
        self.repair(&options.join(" "))
    }

    /// Returns the repair with these options besides the given ones, which they replace.
    pub(crate) fn repair(&self, options: &str) -> String {
        let mut words = vec!["tracemend repair".to_string(), self.path.clone()];
        let name = |text: &str| text.split([' ', '=']).next().unwrap_or_default().to_string();
        let replaced: Vec<String> = options.split(" --").map(name).collect();
        let is_replaced = |given: &String| {
            let given = name(given);
            replaced.iter().any(|one| one.trim_start_matches('-') == given.trim_start_matches('-'))
        };
        words.extend(self.given.iter().filter(|given| !is_replaced(given)).cloned());
        if !options.is_empty() {
            words.push(options.to_string());
        }
        words.extend(self.output.iter().map(|output| format!("-o {output}")));
        words.join(" ")
    }
}

/// Returns `--type NAME` as it was given.
pub(crate) fn type_option(format: Option<FormatId>) -> Vec<String> {
    format.map(|format| format!("--type {format}")).into_iter().collect()
}

/// Returns the path as one word of a shell; a placeholder if it has characters that no terminal may
/// be given.
pub(crate) fn quote(path: &Path) -> String {
    let Ok(text) = std::str::from_utf8(path.as_os_str().as_bytes()) else {
        return "FILE".to_string();
    };
    if text.is_empty() || !text.chars().all(|c| is_safe(c) && c != '\n') {
        return "FILE".to_string();
    }
    let text = if text.starts_with('-') && text.len() > 1 {
        format!("./{text}")
    } else {
        text.to_string()
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:@%+,".contains(c);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Whether the current directory is the recording, or lies in it.
fn is_around_here(path: &Path) -> bool {
    let here = std::env::current_dir().and_then(std::fs::canonicalize);
    let (Ok(here), Ok(path)) = (here, std::fs::canonicalize(path)) else { return false };
    here.starts_with(path)
}

/// `repaired` with the endings of the name; endings that begin with a digit belong to the name.
fn name_output(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut endings: Vec<&str> = name.split('.').skip(1).collect();
    let is_ending = |part: &&str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let kept = endings.iter().rev().take_while(|part| is_ending(part)).count();
    let from = endings.len() - kept;
    endings.drain(..from);
    if path.is_dir() || endings.is_empty() {
        return "repaired".to_string();
    }
    format!("repaired.{}", endings.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(path: &str, given: &[&str]) -> NextCommand {
        let given = given.iter().map(ToString::to_string).collect();
        NextCommand::new(Path::new(path), given)
    }

    #[test]
    fn a_command_can_be_pasted() {
        let next = command("traces/night.data", &[]);
        assert_eq!(next.repair(""), "tracemend repair traces/night.data -o repaired.data");
        assert_eq!(
            command("it's.log", &["--type qemu"]).repair("--strategy prefix"),
            "tracemend repair 'it'\\''s.log' --type qemu --strategy prefix -o repaired.log"
        );
        assert_eq!(command("-x", &[]).repair(""), "tracemend repair ./-x -o repaired");
        assert_eq!(command("a\u{1b}b", &[]).repair(""), "tracemend repair FILE -o repaired");
        assert_eq!(command("-", &[]).repair(""), "tracemend repair - -o repaired");
        assert_eq!(command(".", &[]).repair(""), "tracemend repair .");
    }

    #[test]
    fn an_option_replaces_the_one_that_was_given() {
        let next = command("x.data", &["--safety exact", "--upgrade"]);
        assert_eq!(
            next.repair("--safety lossy"),
            "tracemend repair x.data --upgrade --safety lossy -o repaired.data"
        );
        let next = next.with_allowed(Safety::Exact);
        let repair = |safety| next.repair_up_to(safety, Severity::Warning);
        assert!(repair(Safety::Exact).contains("--safety exact"));
        assert!(repair(Safety::Synthetic).contains("--safety synthetic -o"));
        assert!(repair(Safety::Lossy).contains("--safety lossy --lossy-warnings -o"));
    }

    #[test]
    fn an_output_keeps_the_endings_of_the_name() {
        let output = |name: &str| name_output(Path::new(name));
        assert_eq!(output("guestoff_7.2.log"), "repaired.log");
        assert_eq!(output("pad.run.revent"), "repaired.run.revent");
        assert_eq!(output("perf"), "repaired");
        assert_eq!(output("a.\u{1b}"), "repaired");
    }
}
