//! The shape of `tracemend.toml`, and what is wrong in one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::ValueEnum;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use toml::Spanned;
use tracemend::{Choices, FormatId, Level, OptionValue, Policy, Selector};

use super::Config;
use super::error::ConfigError;
use crate::policy::fail_on::FailOn;

/// Selectors as they stand in the file.
type Selectors = Vec<Spanned<String>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    #[serde(default)]
    deny: Selectors,
    #[serde(default)]
    warn: Selectors,
    #[serde(default)]
    allow: Selectors,
    fail_on: Option<Spanned<String>>,
    #[serde(default)]
    strict: bool,
    max_findings: Option<usize>,
    baseline: Option<PathBuf>,
    #[serde(default)]
    formats: BTreeMap<Spanned<String>, FormatSection>,
    #[serde(default)]
    overrides: Vec<Override>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FormatSection {
    #[serde(default)]
    deny: Selectors,
    #[serde(default)]
    warn: Selectors,
    #[serde(default)]
    allow: Selectors,
    #[serde(default)]
    options: BTreeMap<Spanned<String>, Spanned<OptionText>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Override {
    paths: Spanned<Vec<Spanned<String>>>,
    #[serde(default)]
    deny: Selectors,
    #[serde(default)]
    warn: Selectors,
    #[serde(default)]
    allow: Selectors,
}

/// A value of an option: a text, a number, or true for a flag.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OptionText {
    Flag(bool),
    Number(i64),
    Text(String),
}

/// Reads the text of a file that lies in `folder`.
pub(super) fn parse(text: &str, folder: PathBuf) -> Result<Config, ConfigError> {
    let file: File = toml::from_str(text)
        .map_err(|error| ConfigError::new(error.message(), error.span().unwrap_or_default()))?;
    let fail_on = file.fail_on.map(|word| {
        let is_known = FailOn::from_str(word.get_ref(), false).is_ok();
        let message = "unknown severity, expected error, warning, info or never";
        is_known.then(|| word.get_ref().clone()).ok_or(ConfigError::new(message, word.span()))
    });
    let formats = file.formats.into_iter().map(|(name, section)| read_format(&name, &section));
    let overrides = file.overrides.iter().map(read_override);
    Ok(Config {
        policy: read_levels([&file.allow, &file.warn, &file.deny])?,
        formats: formats.collect::<Result<_, _>>()?,
        overrides: overrides.collect::<Result<_, _>>()?,
        fail_on: fail_on.transpose()?,
        strict: file.strict,
        max_findings: file.max_findings,
        baseline: file.baseline.map(|path| folder.join(path)),
        folder,
    })
}

/// The policy of lists of selectors, in the order of [`Level::ALL`].
fn read_levels(lists: [&Selectors; 3]) -> Result<Policy, ConfigError> {
    let mut policy = Policy::default();
    for (level, list) in Level::ALL.into_iter().zip(lists) {
        for text in list {
            let selector: Selector =
                text.get_ref().parse().map_err(|error: tracemend::UnknownSelector| {
                    ConfigError::new(error.to_string(), text.span())
                })?;
            policy = policy.with(selector, level);
        }
    }
    Ok(policy)
}

fn read_format(
    name: &Spanned<String>,
    section: &FormatSection,
) -> Result<(FormatId, Policy, Choices), ConfigError> {
    let format: FormatId = name.get_ref().parse().map_err(|error: tracemend::UnknownFormat| {
        ConfigError::new(error.to_string(), name.span())
    })?;
    let policy = read_levels([&section.allow, &section.warn, &section.deny])?;
    let mut choices = Choices::default();
    for (option, value) in &section.options {
        let spec = format.options().iter().find(|spec| spec.name == option.get_ref());
        let is_file = spec.is_some_and(|spec| matches!(spec.value, OptionValue::File));
        if spec.is_none() || is_file {
            let names: Vec<&str> = format
                .options()
                .iter()
                .filter(|spec| !matches!(spec.value, OptionValue::File))
                .map(|spec| spec.name)
                .collect();
            let message = format!("unknown option of {format}, expected {}", names.join(", "));
            return Err(ConfigError::new(message, option.span()));
        }
        let text = match value.get_ref() {
            OptionText::Flag(false) => continue,
            OptionText::Flag(true) => String::new(),
            OptionText::Number(number) => number.to_string(),
            OptionText::Text(text) => text.clone(),
        };
        choices
            .set(option.get_ref(), &text)
            .map_err(|error| ConfigError::new(error.to_string(), value.span()))?;
    }
    let foreign = choices.foreign(format.options());
    if let Some(name) = foreign.first() {
        let message = format!("{name} does not take this value for {format} recordings");
        return Err(ConfigError::new(message, name_span(section, name)));
    }
    Ok((format, policy, choices))
}

/// Where the value of an option stands.
fn name_span(section: &FormatSection, name: &str) -> std::ops::Range<usize> {
    let found = section.options.iter().find(|(option, _)| option.get_ref() == name);
    found.map(|(_, value)| value.span()).unwrap_or_default()
}

fn read_override(section: &Override) -> Result<(GlobSet, Policy), ConfigError> {
    let mut set = GlobSetBuilder::new();
    for path in section.paths.get_ref() {
        let wrong = |error: globset::Error| ConfigError::new(error.kind().to_string(), path.span());
        set.add(GlobBuilder::new(path.get_ref()).literal_separator(true).build().map_err(wrong)?);
    }
    let set = set
        .build()
        .map_err(|error| ConfigError::new(error.kind().to_string(), section.paths.span()))?;
    Ok((set, read_levels([&section.allow, &section.warn, &section.deny])?))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn error(text: &str) -> (String, String) {
        let error = parse(text, PathBuf::from("/x")).unwrap_err();
        let marked = text.get(error.span.clone()).unwrap_or_default().to_string();
        (error.message, marked)
    }

    #[test]
    fn an_error_marks_the_word_that_is_wrong() {
        for (text, message, marked) in [
            ("deny = [\"PD2\", \"XX\"]", "unknown code `XX`", "\"XX\""),
            ("fail-on = \"maybe\"", "unknown severity", "\"maybe\""),
            ("[formats.perv]\n", "unknown format `perv`", "perv"),
            ("[formats.qemu]\noptions = { fast = true }", "unknown option of qemu", "fast"),
            ("[formats.qemu]\noptions = { strategy = \"x\" }", "--strategy is `x`", "\"x\""),
            ("[formats.qemu]\noptions = { strategy = \"cut\" }", "does not take", "\"cut\""),
            ("[[overrides]]\npaths = [\"a[\"]", "unclosed character class", "\"a[\""),
            ("denny = []", "unknown field `denny`", "denny"),
            ("strict = 1", "invalid type", "1"),
        ] {
            let (found, place) = error(text);
            assert!(found.contains(message), "{text}: {found}");
            assert_eq!(place, marked, "{text}: {found}");
        }
    }

    #[test]
    fn formats_and_paths_have_their_own_policy() {
        let text = "warn = [\"CM\"]\n[formats.qemu]\nallow = [\"QR3013\"]\n\
            options = { qemu-version = \"7.2\" }\n\
            [[overrides]]\npaths = [\"known/**\", \"*.bad\"]\ndeny = [\"QR\"]";
        let config = parse(text, PathBuf::from("/x")).unwrap();
        let level = |path: &str, format, code| {
            config.policy(Path::new(path), format).level(tracemend::rule(code).unwrap())
        };
        let qemu = Some(FormatId::QEMU);
        assert_eq!(level("/x/a", qemu, "CM0001"), Some(Level::Warn));
        assert_eq!(level("/x/a", qemu, "QR3013"), Some(Level::Allow));
        assert_eq!(level("/x/a", None, "QR3013"), None);
        assert_eq!(level("/x/known/a/b", qemu, "QR3013"), Some(Level::Deny));
        assert_eq!(level("/x/a/b.bad", qemu, "QR3013"), Some(Level::Allow));
        assert_eq!(level("/known/a", qemu, "QR3013"), Some(Level::Allow));
        let choices = config.choices(qemu, &Choices::default());
        assert_eq!(choices.value("qemu-version"), Some("7.2"));
        assert!(!config.choices(None, &Choices::default()).is_set("qemu-version"));
    }
}
