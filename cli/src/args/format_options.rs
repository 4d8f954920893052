//! The options that formats own, as arguments of the command line.
//!
//! A format declares its options as data ([`OptionSpec`]). Two formats may share a name: then there
//! is one argument, whose help has a part for each of them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, ValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use tracemend::{ChoiceError, Choices, FormatId, OptionSpec, OptionValue, Report};

use crate::kit::exit::Failure;

/// Heading of the options in a help text.
const HEADING: &str = "Options of single formats";

/// The commands that take options of formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Check,
    Audit,
    Map,
    Repair,
    Dump,
    Diff,
    Cut,
}

impl Verb {
    /// Returns the options that the format has for the command.
    pub(crate) fn options(self, format: FormatId) -> &'static [OptionSpec] {
        match self {
            Self::Check | Self::Repair => format.options(),
            Self::Audit | Self::Map => format.view_options(),
            Self::Dump => format.dump_options(),
            Self::Diff => format.diff_options(),
            Self::Cut => format.cut_options(),
        }
    }
}

/// The options of formats as the user gave them.
#[derive(Clone, Debug)]
pub(crate) struct FormatOptions {
    verb: Verb,
    pub(crate) choices: Choices,
    /// The other recording, from which lost parts are taken.
    pub(crate) donor: Option<PathBuf>,
    /// As they were typed, for the commands that are suggested.
    pub(crate) typed: Vec<String>,
}

/// Formats that have an option of this name, each with its declaration.
fn owners(verb: Verb, name: &str) -> Vec<(FormatId, &'static OptionSpec)> {
    let specs = FormatId::ALL.iter().copied();
    let specs = specs.flat_map(|format| verb.options(format).iter().map(move |one| (format, one)));
    specs.filter(|(_, spec)| spec.name == name).collect()
}

/// Names of all options, each once, in the order of the formats.
fn names(verb: Verb) -> Vec<&'static str> {
    let mut names = Vec::new();
    for spec in FormatId::ALL.iter().flat_map(|format| verb.options(*format)) {
        if !names.contains(&spec.name) {
            names.push(spec.name);
        }
    }
    names
}

/// Returns `command` with an argument for each option.
pub(crate) fn add_to(command: Command, verb: Verb) -> Command {
    let arguments = names(verb).into_iter().map(|name| argument(verb, name));
    command.args(arguments)
}

fn argument(verb: Verb, name: &'static str) -> Arg {
    let owners = owners(verb, name);
    let argument = Arg::new(name).long(name).help(describe(&owners)).help_heading(HEADING);
    let argument = argument.conflicts_with_all(owners.iter().filter_map(|(_, one)| one.excludes));
    match owners.first().map(|(_, spec)| &spec.value) {
        Some(OptionValue::OneOf { placeholder, .. }) => {
            let mut words = Vec::new();
            for (_, spec) in &owners {
                if let OptionValue::OneOf { words: more, .. } = &spec.value {
                    words.extend(more.iter().map(|(word, _)| *word));
                }
            }
            words.sort_unstable();
            words.dedup();
            let parser = ValueParser::new(PossibleValuesParser::new(words));
            argument.value_name(*placeholder).value_parser(parser).hide_possible_values(true)
        }
        Some(OptionValue::Text { placeholder, .. }) => {
            let parse = move |text: &str| check_text(name, text);
            argument.value_name(*placeholder).value_parser(parse)
        }
        Some(OptionValue::File) => {
            argument.value_name("FILE").value_parser(ValueParser::path_buf())
        }
        _ => argument.action(ArgAction::SetTrue),
    }
}

/// Accepts a text that one of the owners of the option accepts.
fn check_text(name: &'static str, text: &str) -> Result<String, String> {
    match Choices::default().set(name, text) {
        Ok(()) => Ok(text.to_string()),
        Err(ChoiceError::Value { expected, .. }) => Err(format!("expected {expected}")),
        Err(error) => Err(error.to_string()),
    }
}

/// The help of an option: `ovni: ...; qemu: ...`, or once for the formats that share it.
fn describe(owners: &[(FormatId, &'static OptionSpec)]) -> String {
    let parts: Vec<String> = owners
        .iter()
        .map(|(format, spec)| {
            let mut text = format!("{format}: {}", lower_first(spec.help));
            if let OptionValue::OneOf { words, default, .. } = &spec.value {
                let words: Vec<String> =
                    words.iter().map(|(word, meaning)| format!("`{word}` {meaning}")).collect();
                text += &format!(": {}", words.join(", "));
                if let Some(default) = default {
                    text += &format!(" [default: {default}]");
                }
            }
            text
        })
        .collect();
    parts.join("; ")
}

/// The text with a small first letter; a name in capitals stays.
fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), text.chars().nth(1)) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_string(),
    }
}

/// Whether a value is a path rather than a word: words are parts of file names.
fn is_path(value: &str) -> bool {
    value.contains(['.', '/', std::path::MAIN_SEPARATOR])
}

impl FormatOptions {
    /// Reads the options from the arguments of a command.
    pub(crate) fn read(matches: &ArgMatches, verb: Verb) -> Result<Self, Failure> {
        let (choices, typed) = (Choices::default(), Vec::new());
        let mut options = Self { verb, choices, donor: None, typed };
        for name in names(verb) {
            let given = matches.try_contains_id(name).unwrap_or(false)
                && matches.value_source(name) == Some(ValueSource::CommandLine);
            if !given {
                continue;
            }
            let words: Vec<OsString> =
                matches.get_raw(name).into_iter().flatten().map(OsString::from).collect();
            let value = words.first().map(|word| word.to_string_lossy().into_owned());
            let value = value.unwrap_or_default();
            let is_flag =
                owners(verb, name).iter().all(|(_, spec)| matches!(spec.value, OptionValue::Flag));
            let takes_file = owners(verb, name).iter().any(|(_, spec)| spec.may_be_file);
            let is_file = takes_file && Path::new(&value).is_file()
                || owners(verb, name)
                    .iter()
                    .any(|(_, spec)| matches!(spec.value, OptionValue::File));
            if takes_file && !is_file && is_path(&value) {
                let message =
                    format!("--{name} {value}: the file does not exist, or is not a regular one");
                return Err(Failure::usage(message));
            }
            if let Some(path) = words.first().filter(|_| is_file) {
                if options.donor.is_some() {
                    let message = format!("--{name} cannot be given besides another file");
                    return Err(Failure::usage(message));
                }
                options.donor = Some(PathBuf::from(path));
            }
            options.typed.push(match (is_flag, options.donor.as_deref()) {
                (true, _) => format!("--{name}"),
                (false, Some(path)) if is_file => {
                    format!("--{name} {}", crate::kit::command::quote(path))
                }
                (false, _) => format!("--{name} {value}"),
            });
            let set = options.choices.set(name, &value);
            set.map_err(|error| Failure::usage(error.to_string()))?;
        }
        Ok(options)
    }

    /// Fails if an option does not apply to recordings of `format`.
    pub(crate) fn check_format(&self, format: FormatId) -> Result<(), Failure> {
        let foreign = |format: FormatId| self.choices.foreign(self.verb.options(format));
        let Some(name) = foreign(format).into_iter().next() else { return Ok(()) };
        let typed = self.typed.iter().find(|typed| {
            typed.strip_prefix("--").is_some_and(|typed| typed.split(' ').next() == Some(name))
        });
        let typed = typed.map_or_else(|| format!("--{name}"), Clone::clone);
        let fits = |other: &FormatId| !foreign(*other).contains(&name);
        let others: Vec<String> =
            FormatId::ALL.iter().filter(|format| fits(format)).map(ToString::to_string).collect();
        let others = tracemend::words::join_and(&others);
        let message =
            format!("{typed} does not apply to {format} recordings; it is an option of {others}");
        Err(Failure::usage(message))
    }

    /// Returns why an option does not apply to the recording whose check gave `report`, although
    /// it is one of its format.
    pub(crate) fn find_misapplied(&self, report: &Report) -> Option<String> {
        report.format.and_then(|format| format.find_misapplied(&self.choices, report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<FormatOptions, clap::Error> {
        let command = add_to(Command::new("repair").no_binary_name(true), Verb::Repair);
        let matches = command.try_get_matches_from(arguments)?;
        Ok(FormatOptions::read(&matches, Verb::Repair).unwrap())
    }

    #[test]
    fn every_option_of_every_format_is_an_argument() {
        for verb in
            [Verb::Check, Verb::Audit, Verb::Map, Verb::Repair, Verb::Dump, Verb::Diff, Verb::Cut]
        {
            let command = add_to(Command::new("repair"), verb);
            for format in FormatId::ALL {
                for spec in verb.options(*format) {
                    let argument = command.get_arguments().find(|one| one.get_id() == spec.name);
                    let help = argument.unwrap().get_help().unwrap().to_string();
                    assert!(help.contains(&format!("{format}: ")), "{}: {help}", spec.name);
                }
            }
            command.debug_assert();
        }
    }

    #[test]
    fn options_are_read_and_belong_to_formats() {
        let options = read(&["--strategy", "prefix", "--upgrade", "--donor", "a b"]).unwrap();
        assert_eq!(options.choices.value("strategy"), Some("prefix"));
        assert_eq!(options.donor, Some(PathBuf::from("a b")));
        let mut typed = options.typed.clone();
        typed.sort();
        assert_eq!(typed, ["--donor 'a b'", "--strategy prefix", "--upgrade"]);
        let options = read(&["--strategy", "cut"]).unwrap();
        assert!(options.check_format(FormatId::OVNI).is_ok());
        let failure = options.check_format(FormatId::QEMU).unwrap_err();
        assert_eq!(
            failure.message,
            "--strategy cut does not apply to qemu recordings; it is an option of ovni"
        );
        assert!(read(&[]).unwrap().typed.is_empty());
        assert!(read(&["--strategy", "guess"]).is_err());
        assert!(read(&["--qemu-version", "5.9"]).is_err());
    }
}
