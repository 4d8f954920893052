//! `--format FORMAT[=FILE]`: the formats of a report, several at a time.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error, ValueEnum};

use crate::files::paths::shown;
use crate::kit::exit::Failure;

/// A format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Human,
    Json,
    Jsonl,
    Oneline,
    Sarif,
    Junit,
    Github,
    Gitlab,
    Azure,
    Rdjson,
    Tap,
    Html,
    Svg,
}

impl Format {
    /// Returns the word on the command line.
    pub(super) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_string())
    }

    /// Returns whether a report in the format shows what the edits of fixes insert.
    pub(super) const fn shows_edits(self) -> bool {
        matches!(self, Self::Json | Self::Jsonl | Self::Sarif | Self::Html)
    }
}

/// One value of `--format`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) format: Format,
    /// Standard output, if it is `None`.
    pub(super) file: Option<PathBuf>,
}

/// Reads `FORMAT` or `FORMAT=FILE`.
#[derive(Clone, Copy, Debug)]
pub(super) struct WantedParser;

impl TypedValueParser for WantedParser {
    type Value = Wanted;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Wanted, Error> {
        let bytes = value.as_bytes();
        let at = bytes.iter().position(|byte| *byte == b'=');
        let (word, file) = match at {
            Some(at) => (bytes.get(..at), bytes.get(at + 1..)),
            None => (Some(bytes), None),
        };
        let word = String::from_utf8_lossy(word.unwrap_or_default()).into_owned();
        let format = Format::from_str(&word, false).ok();
        match (format, file) {
            (Some(format), None) => Ok(Wanted { format, file: None }),
            (Some(format), Some(file)) if !file.is_empty() => {
                let file = PathBuf::from(std::ffi::OsString::from_vec(file.to_vec()));
                Ok(Wanted { format, file: Some(file) })
            }
            _ => {
                let mut error = Error::new(ErrorKind::InvalidValue).with_cmd(command);
                if let Some(argument) = argument {
                    let name = ContextValue::String(argument.to_string());
                    error.insert(ContextKind::InvalidArg, name);
                }
                let value = ContextValue::String(value.to_string_lossy().into_owned());
                error.insert(ContextKind::InvalidValue, value);
                let valid = Format::value_variants().iter().map(|format| format.name()).collect();
                error.insert(ContextKind::ValidValue, ContextValue::Strings(valid));
                Err(error)
            }
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Format::value_variants().iter().filter_map(ValueEnum::to_possible_value)))
    }
}

/// Returns what is written, and where: at most one format goes to standard output, or to the file
/// of `-o`. Without `--format` it is text for people.
pub(super) fn assign(wanted: &[Wanted], output: Option<&PathBuf>) -> Result<Vec<Wanted>, Failure> {
    let human = [Wanted { format: Format::Human, file: None }];
    let wanted = if wanted.is_empty() { &human } else { wanted };
    let mut open = wanted.iter().filter(|one| one.file.is_none());
    match (open.next(), open.next()) {
        (Some(one), Some(two)) => {
            let (one, two) = (one.format.name(), two.format.name());
            return Err(Failure::usage(format!(
                "--format {one} and --format {two} both write to standard output; name a file: \
                 --format {two}=FILE"
            )));
        }
        (None, _) => {
            if let Some(path) = output {
                let message = format!("-o {}: each --format names its own file", shown(path));
                return Err(Failure::usage(message));
            }
        }
        (Some(_), None) => {}
    }
    let place = |one: &Wanted| Wanted {
        format: one.format,
        file: one.file.clone().or_else(|| output.cloned()),
    };
    Ok(wanted.iter().map(place).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(value: &str) -> Option<Wanted> {
        let command = Command::new("check");
        WantedParser.parse_ref(&command, None, OsStr::new(value)).ok()
    }

    fn wanted(values: &[&str]) -> Vec<Wanted> {
        values.iter().map(|value| parse(value).unwrap()).collect()
    }

    #[test]
    fn a_format_may_name_a_file() {
        let file = Some(PathBuf::from("a=b.sarif"));
        assert_eq!(parse("sarif=a=b.sarif"), Some(Wanted { format: Format::Sarif, file }));
        assert_eq!(parse("human"), Some(Wanted { format: Format::Human, file: None }));
        for wrong in ["", "=x", "sarif=", "xml", "Human"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn only_one_format_goes_to_standard_output() {
        let report = PathBuf::from("report");
        assert_eq!(assign(&[], None).unwrap(), wanted(&["human"]));
        assert_eq!(assign(&[], Some(&report)).unwrap(), wanted(&["human=report"]));
        let two = wanted(&["json=a", "human"]);
        assert_eq!(assign(&two, Some(&report)).unwrap(), wanted(&["json=a", "human=report"]));
        assert!(assign(&wanted(&["json", "human"]), None).is_err());
        assert!(assign(&wanted(&["json=a"]), Some(&report)).is_err());
    }
}
