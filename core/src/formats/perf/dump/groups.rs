//! The values of events that are read together (`{...}:S`), as `perf script` shows them: a sample
//! of the leader is one of each member whose value grew, and the growth is its period.
//!
//! Source: `util/session.c` of perf, `deliver_sample_group`.

use std::collections::BTreeMap;

use crate::formats::perf::decode::record::named;
use crate::formats::perf::decode::value::Value;

/// Event and period of a sample.
pub(super) type Member = (String, u64);

/// The last value of each counter, by the id of its event.
#[derive(Default)]
pub(super) struct Groups {
    before: BTreeMap<u64, u64>,
}

impl Groups {
    /// Returns the members whose values grew; `name_of` gives the name of an event that has an id.
    pub(super) fn members(
        &mut self,
        values: &[Value],
        name_of: impl Fn(u64) -> Option<String>,
    ) -> Vec<Member> {
        let mut members = Vec::new();
        for value in values {
            let Value::Entry(fields) = value else { continue };
            let [id, value] = ["id", "value"].map(|name| named::number(fields, name));
            let Some((id, value)) = id.zip(value) else { continue };
            let Some(name) = name_of(id) else { continue };
            let before = self.before.insert(id, value).unwrap_or(0);
            members.push((name, value.wrapping_sub(before)));
        }
        members.retain(|(_, period)| *period > 0);
        members
    }
}
