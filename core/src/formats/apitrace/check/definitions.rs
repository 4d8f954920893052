//! Definitions that differ from those of the build that wrote the trace.

use super::{TraceCheck, stream_span};
use crate::formats::apitrace::decode::grammar::Space;
use crate::formats::apitrace::recover::signatures::{Difference, find_difference, find_signatures};
use crate::formats::apitrace::repair::fixes::FixPlan;
use crate::formats::apitrace::rules;
use crate::kit::num::to_u64;
use crate::model::Finding;
use crate::model::edit::Safety;

/// A definition of which one byte differs.
struct DamagedByte {
    space: Space,
    id: u64,
    /// Where the byte is in the stream.
    at: u64,
    found: u8,
    expected: u8,
}

impl TraceCheck<'_, '_> {
    /// Compares the definitions with those of a known build. Only a single byte is believed to be
    /// damage: another build differs in whole names.
    pub(super) fn check_definitions(&mut self) {
        let definitions = &self.trace.tracker.definitions;
        let Some(build) = find_signatures(definitions) else { return };
        let mut damaged = Vec::new();
        for (space, id, raw) in definitions.all_raw() {
            let Some(expected) = build.definitions.raw(space, id) else { continue };
            let Some(start) = definitions.place(space, id) else { continue };
            let Difference::Byte(index) = find_difference(raw, expected) else { continue };
            if let (Some(found), Some(expected)) = (raw.get(index), expected.get(index)) {
                let (at, found, expected) =
                    (start.saturating_add(to_u64(index)), *found, *expected);
                damaged.push(DamagedByte { space, id, at, found, expected });
            }
        }
        for byte in damaged {
            self.add_damaged_byte(&byte, &build.name);
        }
    }

    fn add_damaged_byte(&mut self, byte: &DamagedByte, build: &str) {
        let DamagedByte { space, id, at, found, expected } = *byte;
        let span = stream_span(at, at.saturating_add(1));
        let place = self.trace.place(span.start, span.end);
        let message = format!(
            "definition of {} {id} has the byte {found:#04x}, expected {expected:#04x} as in \
             {build}",
            space.name()
        );
        let path = format!("definition.{}[{id}]", space.name());
        let mut finding = Finding::new(&rules::DEFINITION_DIFFERS, span, path, message);
        finding.stored = self.stored_of(span, place);
        let edit = place.map(|place| self.editor.edit(at, span.end, vec![expected], place));
        let summary = format!("write the byte {expected:#04x}");
        self.add_with_plan(finding, FixPlan::of_stream(Safety::Lossy, summary, edit));
    }
}
