//! Commands that a user can paste: the next step after a finding.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tracemend::{FileSet, FormatId, Safety, Severity, is_safe};

/// The option that allows a repair to lose recorded bytes for a warning.
pub(crate) const LOSSY_WARNINGS: &str = "--lossy-warnings";

/// Where the outputs of the commands go.
#[derive(Clone, Debug)]
enum Output {
    /// This stem and these endings, in the current directory.
    Here(String),
    /// Beside the recording, as a repair does by itself: the only recording has another way, and
    /// the outputs of many may not meet.
    Beside(PathBuf),
}

/// The end of the name of an output beside its source, where no other is given.
pub(crate) const OUTPUT_END: &str = ".mended";
/// Paths that a command about all of them names.
const PATHS_NAMED: usize = 4;

/// Builds the commands for one recording.
#[derive(Clone, Debug)]
pub(crate) struct NextCommand {
    path: String,
    output: Output,
    /// Options that were given and that the next command needs, too.
    given: Vec<String>,
    /// The riskiest class of fixes that the given options allow.
    allowed: Safety,
}

impl NextCommand {
    /// Commands about the recording at `path`, read with the options `given`.
    pub(crate) fn new(path: &Path, given: Vec<String>) -> Self {
        // A name here could lie inside the recording.
        let output = match is_around_here(path) {
            true => Output::Beside(path.to_path_buf()),
            false => Output::Here(endings(path)),
        };
        Self { path: quote(path), output, given, allowed: Safety::Lossy }
    }

    /// Commands about one of several recordings, whose outputs must not meet.
    pub(crate) fn among_others(self, path: &Path) -> Self {
        Self { output: Output::Beside(path.to_path_buf()), ..self }
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
        if !replaced.iter().any(|one| one.trim_start_matches('-') == "dry-run") {
            words.extend(self.name_output(options));
        }
        words.join(" ")
    }

    /// Returns an advice about the only file of the recording, with its path for the word `FILE`.
    pub(crate) fn name_file(&self, advice: &str, files: &FileSet<'_>) -> String {
        let is_single = files.files().len() == 1;
        let words = advice.split(' ').map(|word| match word {
            "FILE" if is_single => self.path.as_str(),
            word => word,
        });
        words.collect::<Vec<&str>>().join(" ")
    }

    /// The option that names the output: no two commands of a report write the same name.
    fn name_output(&self, options: &str) -> Option<String> {
        let words: Vec<&str> = options.split([' ', '=']).collect();
        // The value, or the name of the option if that is the path of a file.
        let is_short = |word: &&&str| {
            word.starts_with(|c: char| c.is_ascii_digit())
                || word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        };
        let word = words.iter().rev().find(is_short).map_or("", |word| *word);
        let word = word.trim_start_matches('-');
        let way = if word.is_empty() { String::new() } else { format!("-{word}") };
        match &self.output {
            Output::Here(endings) => Some(format!("-o repaired{way}{endings}")),
            // NAME.mended, without being told.
            Output::Beside(_) if way.is_empty() => None,
            Output::Beside(path) => {
                path.file_name()?;
                // Without a slash at the end.
                let mut name = path.components().collect::<PathBuf>().into_os_string();
                name.push(format!("{OUTPUT_END}{way}"));
                Some(format!("-o {}", quote(Path::new(&name))))
            }
        }
    }
}

/// Returns `--type NAME` as it was given.
pub(crate) fn type_option(format: Option<FormatId>) -> Vec<String> {
    format.map(|format| format!("--type {format}")).into_iter().collect()
}

/// Returns the path as one word of a shell. Bytes that no terminal may be given are escaped in the
/// way of bash, zsh and ksh.
pub(crate) fn quote(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    let bytes = match bytes {
        [b'-', _, ..] => [b"./", bytes].concat(),
        _ => bytes.to_vec(),
    };
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./=:@%+,".contains(byte);
    let text = std::str::from_utf8(&bytes).ok();
    // In a CI log these are commands wherever they stand.
    let has_command = |text: &str| {
        let text = text.to_ascii_lowercase();
        text.contains("##[") || text.contains("##vso[")
    };
    let is_shown =
        |text: &&str| text.chars().all(|c| is_safe(c) && c != '\n') && !has_command(text);
    match text.filter(is_shown) {
        Some(text) if !text.is_empty() && text.bytes().all(|byte| is_plain(&byte)) => {
            text.to_string()
        }
        Some(text) => format!("'{}'", text.replace('\'', "'\\''")),
        None => {
            let escape = |byte: &u8| match byte {
                b' ' => " ".to_string(),
                byte if is_plain(byte) => char::from(*byte).to_string(),
                byte => format!("\\x{byte:02x}"),
            };
            format!("$'{}'", bytes.iter().map(escape).collect::<String>())
        }
    }
}

/// Returns the command that repairs everything below the paths.
pub(crate) fn repair_all(paths: &[PathBuf], given: &[String]) -> Option<String> {
    if paths.len() > PATHS_NAMED {
        return None;
    }
    let way = match paths.iter().any(|path| path.is_dir()) {
        true if paths.iter().any(|path| is_around_here(path)) => Some("--in-place"),
        true => Some("--out-dir repaired"),
        false => None,
    };
    let words = ["tracemend repair".to_string()].into_iter();
    let words = words.chain(paths.iter().map(|path| quote(path))).chain(given.iter().cloned());
    Some(words.chain(way.map(str::to_string)).collect::<Vec<_>>().join(" "))
}

/// Whether the current directory is the recording, or lies in it.
fn is_around_here(path: &Path) -> bool {
    let here = std::env::current_dir().and_then(std::fs::canonicalize);
    let (Ok(here), Ok(path)) = (here, std::fs::canonicalize(path)) else { return false };
    here.starts_with(path)
}

/// The endings of a name, with their dots; those that begin with a digit belong to the name.
fn endings(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_ending = |part: &&str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.chars().all(|c| c.is_ascii_alphanumeric())
    };
    if path.is_dir() {
        return String::new();
    }
    let mut endings: Vec<&str> = name.split('.').skip(1).collect();
    endings.reverse();
    let kept = endings.iter().take_while(|part| is_ending(part)).count();
    endings.iter().take(kept).rev().map(|ending| format!(".{ending}")).collect()
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
            "tracemend repair 'it'\\''s.log' --type qemu --strategy prefix -o repaired-prefix.log"
        );
        assert_eq!(command("-x", &[]).repair(""), "tracemend repair ./-x -o repaired");
        assert_eq!(
            command("a\u{1b}'b", &[]).repair(""),
            "tracemend repair $'a\\x1b\\x27b' -o repaired"
        );
        assert_eq!(command("a", &[]).repair("--dry-run"), "tracemend repair a --dry-run");
        let among = command("d/a", &[]).among_others(Path::new("d/a"));
        assert_eq!(among.repair(""), "tracemend repair d/a");
        let way = "tracemend repair d/a --donor x.data -o d/a.mended-donor";
        assert_eq!(among.repair("--donor x.data"), way);
        let way = "tracemend repair d/a --part 2 -o d/a.mended-2";
        assert_eq!(among.repair("--part 2"), way);
        assert_eq!(command("-", &[]).repair(""), "tracemend repair - -o repaired");
        assert_eq!(command(".", &[]).repair(""), "tracemend repair .");
    }

    #[test]
    fn an_option_replaces_the_one_that_was_given() {
        let next = command("x.data", &["--safety exact", "--upgrade"]);
        assert_eq!(
            next.repair("--safety lossy"),
            "tracemend repair x.data --upgrade --safety lossy -o repaired-lossy.data"
        );
        let next = next.with_allowed(Safety::Exact);
        let repair = |safety| next.repair_up_to(safety, Severity::Warning);
        assert!(repair(Safety::Exact).contains("--safety exact"));
        assert!(repair(Safety::Synthetic).contains("--safety synthetic -o repaired-synthetic."));
        assert!(repair(Safety::Lossy).contains("--safety lossy --lossy-warnings -o repaired-"));
    }

    #[test]
    fn an_output_keeps_the_endings_of_the_name() {
        let endings = |name: &str| endings(Path::new(name));
        assert_eq!(endings("guestoff_7.2.log"), ".log");
        assert_eq!(endings("pad.run.revent"), ".run.revent");
        assert_eq!(endings("perf"), "");
        assert_eq!(endings("a.\u{1b}"), "");
    }
}
