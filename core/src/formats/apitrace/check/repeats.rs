//! Values that differ from one that repeats, and characters that no name has.

use super::{TraceCheck, stream_span};
use crate::formats::apitrace::decode::grammar::Space;
use crate::formats::apitrace::decode::repeats::{FirstUse, Rare, Scope};
use crate::formats::apitrace::decode::symbols::enum_names;
use crate::formats::apitrace::rules;
use crate::kit::words::plural;
use crate::model::Finding;

impl TraceCheck<'_, '_> {
    /// Adds the values that are used once, and unusual characters. Next to damage, calls are wrong
    /// anyway.
    pub(super) fn check_repeats(&mut self) {
        if !self.losses.is_empty() {
            return;
        }
        let repeats = &self.trace.tracker.values.repeats;
        let definitions = self.trace.tracker.definitions.all_raw();
        let enums = definitions.filter(|(space, _, _)| *space == Space::Enum);
        let names = enums.flat_map(|(_, _, raw)| enum_names(raw));
        let mut found: Vec<(FirstUse, String)> = Vec::new();
        for rare in repeats.find_rare(names) {
            found.push((rare.at, describe_rare(&rare)));
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

fn describe_rare(rare: &Rare) -> String {
    let (value, frequent) = (&rare.value, &rare.frequent);
    let often = plural(rare.count.into(), "time");
    match rare.scope {
        Scope::Trace => {
            format!("{value} is used once, but {frequent}, which differs in one bit, {often}")
        }
        Scope::Neighbours => format!(
            "{value} is used once between the same two values, but {frequent}, which differs in \
             one bit, {often}"
        ),
        Scope::Argument => format!(
            "{value} is the only value of the argument that is used once; {frequent}, which \
             differs in one bit, is used {often}"
        ),
        Scope::Count => format!(
            "{value} interrupts a row that counts upwards, in which {frequent}, which differs in \
             one bit, comes next"
        ),
        Scope::Names => format!(
            "{value} has a part that no other name has, but {frequent}, which differs in one bit, \
             has only known ones"
        ),
    }
}
