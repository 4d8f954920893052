//! `--limits`, `--limit` and `--no-transport`: the limits of a run, and how far it looks for the
//! recording in a file.

use clap::ValueEnum;
use tracemend::limits;
use tracemend::{FormatId, Limit, Limits, Options};

/// By how much the presets divide and multiply each limit.
const FACTOR: u64 = 8;

/// The options about limits and wrappers.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Limiting {
    /// Limits on work and memory: default, strict (an eighth of each) or large (eight times each)
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        default_value_t,
        hide_possible_values = true,
        hide_default_value = true
    )]
    limits: Preset,
    /// Set one limit, such as window=1048576; the page of each format lists them (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse)]
    limit: Vec<(String, u64)>,
    /// Read the bytes as they are stored: do not unpack archives, decode text or undo conversions
    #[arg(long)]
    no_transport: bool,
}

/// Value of `--limits`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Preset {
    Strict,
    #[default]
    Default,
    Large,
}

/// A limit that exists, and its value.
fn parse(text: &str) -> Result<(String, u64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let value = value.parse().map_err(|_| "the value is not a number".to_string())?;
    Limits::default().set_by_name(name, value).map_err(|error| error.to_string())?;
    Ok((name.to_string(), value))
}

impl Limiting {
    /// Returns options of the library with the limits that were asked for; single ones win over a
    /// preset.
    pub(crate) fn options(&self) -> Options {
        let mut options = Options::default();
        let chosen = &mut options.limits;
        let scaled = |limit: &Limit| match self.limits {
            Preset::Default => None,
            Preset::Strict => Some((limit.default / FACTOR).max(1)),
            Preset::Large => Some(limit.default.saturating_mul(FACTOR)),
        };
        let of_formats = FormatId::ALL.iter().flat_map(|format| format.limits());
        for limit in limits::COMMON.iter().chain(of_formats).copied() {
            if let Some(value) = scaled(limit) {
                chosen.set(limit, value);
            }
        }
        for (name, value) in &self.limit {
            // The parser of the option knows the name.
            let _known = chosen.set_by_name(name, *value);
        }
        options
    }

    /// Returns the options with which wrappers and conversions are undone; `None` if they are not.
    pub(crate) fn unwrapping(&self) -> Option<Options> {
        self.is_unwrapping().then(|| self.options())
    }

    /// Whether wrappers and conversions are undone.
    pub(crate) const fn is_unwrapping(&self) -> bool {
        !self.no_transport
    }

    /// Returns the options as they were given, for the commands that are suggested.
    pub(crate) fn words(&self) -> Vec<String> {
        let preset = match self.limits {
            Preset::Default => None,
            Preset::Strict => Some("--limits strict".to_string()),
            Preset::Large => Some("--limits large".to_string()),
        };
        let single = self.limit.iter().map(|(name, value)| format!("--limit {name}={value}"));
        let stored = self.no_transport.then(|| "--no-transport".to_string());
        preset.into_iter().chain(single).chain(stored).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_limits_win_over_a_preset() {
        let chosen = |limits: Preset, limit: &[&str]| {
            let limit = limit.iter().map(|text| parse(text).unwrap()).collect();
            Limiting { limits, limit, no_transport: false }.options().limits
        };
        let strict = chosen(Preset::Strict, &["rounds=5"]);
        assert_eq!((strict.of(&limits::ROUNDS), strict.of(&limits::FINDINGS)), (5, 125));
        let large = chosen(Preset::Large, &[]);
        assert_eq!(large.of(&limits::ROUNDS), 128);
        assert_eq!(chosen(Preset::Default, &[]), Limits::default());
        for wrong in ["rounds", "rounds=", "rounds=-1", "round=3", "=1"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
