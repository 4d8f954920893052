//! The options of apitrace traces.

use std::ops::Range;

use crate::model::choice::{
    Choices, OptionSpec, OptionValue, check_number, check_range, parse_number, parse_range,
};
use crate::model::options::Options;

/// All of them.
pub static OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(
        "close-calls",
        OptionValue::Flag,
        "Add an empty leave to each call that has none",
    ),
    OptionSpec::new(
        "part",
        OptionValue::OneOf {
            placeholder: "N",
            words: &[("1", "the first trace"), ("2", "the second trace")],
            default: None,
        },
        "Keep trace 1 or 2 of a file that contains two",
    ),
    OptionSpec::new(
        "donor",
        OptionValue::File,
        "Take lost definitions from FILE, a trace by the same build of the tracer",
    ),
];

/// Whether calls without a leave get one.
pub fn has_close_calls(options: &Options) -> bool {
    options.choices.is_set("close-calls")
}

/// Which trace of a file that contains two is kept.
pub fn part(choices: &Choices) -> Option<u32> {
    choices.value("part")?.parse().ok()
}

/// The options of a dump.
pub static DUMP: &[OptionSpec] = &[
    OptionSpec::new(
        "calls",
        OptionValue::Text { placeholder: "A..B", check: check_range },
        "Only the calls from number A up to B, without B",
    ),
    OptionSpec::new(
        "grep",
        OptionValue::Text { placeholder: "PATTERN", check: check_pattern },
        "Only the calls of functions whose names contain PATTERN; ^ and $ stand for the ends of a \
         name, * for any text, | separates patterns",
    ),
    OptionSpec::new(
        "thread",
        OptionValue::Text { placeholder: "N", check: check_number },
        "Only the calls of the thread with this number",
    ),
    OptionSpec::new(
        "frame",
        OptionValue::Text { placeholder: "N", check: check_frames },
        "Only the calls of frame N, counted from 0, or of the frames A..B, without B",
    ),
];

/// The calls that a dump shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter<'o> {
    /// Numbers of calls.
    pub calls: Range<u64>,
    /// Numbers of frames.
    pub frames: Range<u64>,
    /// The pattern of the names of functions; empty for all.
    pub function: &'o str,
    /// The thread, if only one is shown.
    thread: Option<u64>,
}

impl Filter<'_> {
    /// Whether the calls of a thread are shown.
    pub fn has_thread(&self, thread: u64) -> bool {
        self.thread.is_none_or(|wanted| wanted == thread)
    }

    /// Whether the calls of a function are shown.
    pub fn has_function(&self, name: &str) -> bool {
        self.function.is_empty() || self.function.split('|').any(|one| has_pattern(name, one))
    }
}

/// Returns the calls that a dump shows.
pub fn filter(options: &Options) -> Filter<'_> {
    let value = |name| options.choices.value(name);
    Filter {
        calls: value("calls").and_then(parse_range).unwrap_or(0..u64::MAX),
        frames: value("frame").and_then(parse_frames).unwrap_or(0..u64::MAX),
        function: value("grep").unwrap_or_default(),
        thread: value("thread").and_then(parse_number),
    }
}

/// Whether a name contains a pattern.
fn has_pattern(name: &str, pattern: &str) -> bool {
    let (is_start, pattern) = match pattern.strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let (is_end, pattern) = match pattern.strip_suffix('$') {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let mut rest = name;
    let mut parts = pattern.split('*').peekable();
    let mut is_first = true;
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        let found = match (is_first && is_start, is_last && is_end) {
            (true, true) => (rest == part).then_some(""),
            (true, false) => rest.strip_prefix(part),
            (false, true) => rest.ends_with(part).then_some(""),
            (false, false) => rest.split_once(part).map(|(_, after)| after),
        };
        let Some(after) = found else { return false };
        (rest, is_first) = (after, false);
    }
    true
}

fn check_pattern(text: &str) -> Result<(), &'static str> {
    let is_pattern = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    if is_pattern { Ok(()) } else { Err("part of a name, such as Draw or ^gl*Buffer$") }
}

fn check_frames(text: &str) -> Result<(), &'static str> {
    parse_frames(text).map(drop).ok_or("a number or a range A..B, such as 7 or 3..9")
}

fn parse_frames(text: &str) -> Option<Range<u64>> {
    let one = || parse_number(text).map(|number| number..number.saturating_add(1));
    parse_range(text).or_else(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_found_in_names() {
        assert!(has_pattern("glDrawArrays", "Draw") && has_pattern("glDrawArrays", "gl*Arrays"));
        assert!(has_pattern("glDrawArrays", "^gl") && !has_pattern("glDrawArrays", "^Draw"));
        assert!(has_pattern("glDrawArrays", "Arrays$") && !has_pattern("glDrawArrays", "Draw$"));
        assert!(has_pattern("glEnd", "^glEnd$") && !has_pattern("glEndList", "^glEnd$"));
        assert!(has_pattern("glBufferSubData", "^gl*Sub*$") && !has_pattern("glFlush", "^x*"));
    }
}
