//! Values that differ from one that repeats, and characters that no name has.

use super::{TraceCheck, stream_span};
use crate::formats::apitrace::decode::repeats::FirstUse;
use crate::formats::apitrace::rules;
use crate::kit::words::plural;
use crate::report::Finding;

impl TraceCheck<'_, '_> {
    /// Adds the values that are used once, and unusual characters. Next to damage, calls are wrong
    /// anyway.
    pub(super) fn check_repeats(&mut self) {
        if !self.losses.is_empty() {
            return;
        }
        let repeats = &self.trace.tracker.values.repeats;
        let mut found: Vec<(FirstUse, String)> = Vec::new();
        for rare in repeats.find_rare() {
            let (value, frequent) = (rare.value, rare.frequent);
            let often = plural(rare.count.into(), "time");
            let message =
                format!("{value} is used once, but {frequent}, which differs in one bit, {often}");
            found.push((rare.at, message));
        }
        for odd in repeats.odd() {
            let message = format!("list of names has the character `{}`", odd.character);
            found.push((odd.at, message));
        }
        for (at, message) in found {
            let span = stream_span(at.at, at.end);
            let path = match at.argument {
                Some(index) => format!("call[{}].arg[{index}]", at.call),
                None => format!("call[{}].ret", at.call),
            };
            let mut finding = Finding::new(&rules::VALUE_RARE, span, path, message);
            finding.stored = self.stored_of(span, self.trace.place(span.start, span.end));
            self.add(finding);
        }
    }
}
