//! The edits that remove damage: placeholders for lost calls, definitions for lost ids.

use std::collections::BTreeSet;

use super::{StreamEdit, StreamEditor, encode};
use crate::formats::apitrace::decode::damage::{Damage, DamageCause};
use crate::formats::apitrace::decode::definitions::Definitions;
use crate::formats::apitrace::decode::grammar::Space;
use crate::formats::apitrace::decode::places::Place;
use crate::formats::apitrace::expand::stored;
use crate::formats::apitrace::layout::{PLACEHOLDER_ID, PLACEHOLDER_IDS};
use crate::formats::apitrace::recover::signatures::{Evidence, Signatures};
use crate::formats::apitrace::recover::trace::Trace;

/// The reason to trust a donor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DonorOrigin {
    /// The user chose it.
    Chosen,
    /// It is a known build, which the trace shows.
    Build(Evidence),
}

/// Another source of definitions.
#[derive(Clone, Copy, Debug)]
pub struct Donor<'r> {
    /// The definitions.
    pub definitions: &'r Definitions,
    /// Its name in messages.
    pub name: &'r str,
    /// The reason to trust it.
    pub origin: DonorOrigin,
}

impl<'r> Donor<'r> {
    /// The trace that the user named.
    pub const fn of_user(definitions: &'r Definitions) -> Self {
        Self { definitions, name: "the donor", origin: DonorOrigin::Chosen }
    }

    /// The built-in signatures of a build, and what shows that it is the right one.
    pub fn of_build(signatures: &'r Signatures, evidence: Evidence) -> Self {
        let origin = DonorOrigin::Build(evidence);
        Self { definitions: &signatures.definitions, name: &signatures.name, origin }
    }
}

/// Builds the edits for the damages of a trace, one after the other.
pub struct DamageRepair<'r, 'a> {
    editor: StreamEditor<'r, 'a>,
    donor: Option<&'r Definitions>,
    /// Where the units of the trace end in the file.
    units_end: u64,
    /// Id of the placeholder function.
    placeholder: u64,
    /// Whether that function is defined.
    is_placeholder_defined: bool,
    /// Lost definitions that were added.
    added: BTreeSet<(Space, u64)>,
}

impl<'r, 'a> DamageRepair<'r, 'a> {
    /// Repairs `trace`, whose units end at `units_end` of the file.
    pub fn new(
        editor: StreamEditor<'r, 'a>,
        trace: &Trace,
        donor: Option<&'r Definitions>,
        units_end: u64,
    ) -> Self {
        let definitions = &trace.tracker.definitions;
        let is_unused = |id: &u64| definitions.known(Space::Function, *id).is_none();
        let placeholder = PLACEHOLDER_IDS.into_iter().find(is_unused).unwrap_or(PLACEHOLDER_ID);
        Self {
            editor,
            donor,
            units_end,
            placeholder,
            is_placeholder_defined: false,
            added: BTreeSet::new(),
        }
    }

    /// Returns the edits for one damage.
    pub fn edits(&mut self, damage: &Damage, trace: &Trace) -> Vec<StreamEdit> {
        let mut edits = Vec::new();
        let mut insert = Vec::new();
        if damage.has_header {
            insert.extend(match damage.start {
                0 => encode::header(trace.version),
                _ => encode::properties_end(),
            });
        }
        if damage.lost_calls() > 0 {
            let (first, count) = (damage.calls.first, damage.calls.lost);
            let defines = !self.is_placeholder_defined;
            let id = self.placeholder;
            insert.extend(encode::placeholders(trace.version, id, first, count, defines));
            self.is_placeholder_defined = true;
        }
        let place = damage.units.place.or_else(|| trace.place(damage.start, damage.end));
        edits.extend(place.map(|place| self.damage_edit(damage, insert, place)));
        for (space, id) in &damage.definitions {
            edits.extend(self.definition_edit(*space, *id, trace));
        }
        edits
    }

    fn damage_edit(&self, damage: &Damage, insert: Vec<u8>, place: Place) -> StreamEdit {
        let mut edit = self.editor.edit(damage.start, damage.end, insert, place);
        if let (DamageCause::Unit(_), Some(unit)) = (&damage.cause, damage.units.at_fault) {
            if self.editor.container().has_units() && unit.stored.start < edit.stored.start {
                edit.stored = stored(unit.stored.start, edit.stored.end);
                edit.base = unit.expanded.start;
            }
            let end = edit.stored.end.max(damage.units.stored_end);
            edit.stored = stored(edit.stored.start, end);
        }
        if damage.is_open {
            edit.end = u64::MAX;
            edit.stored = stored(edit.stored.start, self.units_end);
        }
        edit
    }

    /// The edit that adds a lost definition, from the donor if that has it.
    fn definition_edit(&mut self, space: Space, id: u64, trace: &Trace) -> Option<StreamEdit> {
        let lost = trace.tracker.lost_definitions.all.get(&(space, id))?;
        if !self.added.insert((space, id)) {
            return None;
        }
        let bytes = match self.donor.and_then(|donor| donor.raw(space, id)) {
            Some(raw) => raw.to_vec(),
            None => encode::definition(trace.version, space, id, lost.items),
        };
        lost.place.map(|place| self.editor.edit(lost.at, lost.at, bytes, place))
    }
}
