//! The options of ovni traces.

use crate::model::choice::{Choices, OptionSpec, OptionValue, check_number, parse_number};
use crate::model::options::Options;

/// All of them.
pub static OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(
        "strategy",
        OptionValue::OneOf {
            placeholder: "WAY",
            words: &[
                ("close", "add the missing end to each stream"),
                ("cut", "end all streams at the earliest last clock"),
            ],
            default: Some("close"),
        },
        "How a trace that did not end is closed",
    ),
    OptionSpec::new("upgrade", OptionValue::Flag, "Also convert the trace to the newest layout"),
    OptionSpec::new(
        "part",
        OptionValue::OneOf {
            placeholder: "N",
            words: &[("1", "the run that ended last"), ("2", "the one before it")],
            default: None,
        },
        "Which run stays of a stream that was written over a longer one",
    ),
];

/// The options of a dump.
pub static DUMP: &[OptionSpec] = &[
    OptionSpec::new(
        "kind",
        OptionValue::Text { placeholder: "NAME", check: check_code },
        "Only the events whose codes begin with NAME, such as OH or VTx",
    ),
    OptionSpec::new(
        "thread",
        OptionValue::Text { placeholder: "TID", check: check_number },
        "Only the events of threads with this id in the path of their stream",
    ),
];

/// The events that a dump shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter<'o> {
    code: &'o str,
    thread: Option<u64>,
}

impl Filter<'_> {
    /// Whether the events with a code are shown.
    pub fn has_code(&self, code: [u8; 3]) -> bool {
        code.starts_with(self.code.as_bytes())
    }

    /// Whether the events of a stream are shown, by its directory.
    pub fn has_thread(&self, dir: &str) -> bool {
        let leaf = dir.rsplit('/').next().unwrap_or(dir);
        let tid = leaf.strip_prefix("thread.").and_then(|tid| tid.parse().ok());
        self.thread.is_none_or(|wanted| tid == Some(wanted))
    }
}

/// Returns the events that a dump shows.
pub fn filter(options: &Options) -> Filter<'_> {
    Filter {
        code: options.choices.value("kind").unwrap_or_default(),
        thread: options.choices.value("thread").and_then(parse_number),
    }
}

/// Checks that an event can have a code that begins like this.
fn check_code(text: &str) -> Result<(), &'static str> {
    let is_code = (1..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    if is_code { Ok(()) } else { Err("the first characters of a code, such as OH or VTx") }
}

/// How a trace that did not end is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Add the missing end to each stream.
    Close,
    /// End all streams at the earliest last clock.
    Cut,
}

/// How a trace that did not end is closed; `None` if the user left it open.
pub fn strategy(options: &Options) -> Option<Strategy> {
    match options.choices.value("strategy")? {
        "close" => Some(Strategy::Close),
        "cut" => Some(Strategy::Cut),
        _ => None,
    }
}

/// Whether the trace is also converted to the newest layout.
pub fn has_upgrade(options: &Options) -> bool {
    options.choices.is_set("upgrade")
}

/// Whether the earlier run stays of a stream that has two.
pub fn keeps_older(choices: &Choices) -> bool {
    choices.value("part") == Some("2")
}
