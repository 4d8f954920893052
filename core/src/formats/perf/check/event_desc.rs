//! EVENT_DESC of a recording that lost it.

use crate::formats::perf::decode::attrs;
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::decode::tracing::Names;
use crate::formats::perf::repair::{self, NewFeature};
use crate::model::limits::Limits;

/// Events of which readers need it: a single one has all samples.
const SEVERAL: usize = 2;

/// Builds EVENT_DESC of a recording that may never have had one; `None` if no reader needs it or
/// something of it is unknown.
pub(super) fn describe_several(
    recording: &Recording<'_>,
    names: &Names,
    limits: &Limits,
) -> Option<NewFeature> {
    let events = attrs::stored_events(recording, limits)?;
    (events.len() >= SEVERAL).then(|| repair::event_desc(&events, names, recording.order()))?
}

/// Builds EVENT_DESC from the attr table and the ids, with these names of tracepoints; `None` if
/// something of it is unknown.
pub(super) fn describe_events(
    recording: &Recording<'_>,
    names: &Names,
    limits: &Limits,
) -> Option<NewFeature> {
    let events = attrs::stored_events(recording, limits)?;
    repair::event_desc(&events, names, recording.order())
}
