//! The edits of fixes. Knows neither the check nor the policy.

use tracemend::kit::walk::Item;
use tracemend::{Edit, Fix, Safety, Span};

use super::decode::{Damage, DamageCause, Recording};
use super::layout::COUNT;

/// Drops bytes that are not a record. `settle` corrects the count.
pub(super) fn drop_fix(damage: &Damage) -> Fix {
    let summary = format!("drop {} bytes of a damaged record", damage.span.len());
    let fix = Fix::new(Safety::Lossy, summary, vec![Edit::drop(damage.span)]);
    let is_complete = !matches!(damage.cause, DamageCause::Truncated(_));
    Fix { records_lost: u64::from(is_complete), ..fix }
}

/// Writes the number of records, or returns `None` if the header is truncated.
pub(super) fn write_count_fix(recording: &Recording, count: u16) -> Option<Fix> {
    recording.count?;
    let edit = Edit::replace(COUNT, count.to_le_bytes());
    let fix = Fix::new(Safety::Exact, format!("set count to {count}"), vec![edit]);
    let records = recording.walk().filter_map(|item| match item {
        Item::Record(record) => Some(record.span),
        Item::Damage(_) => None,
    });
    let fix = records.fold(fix, |fix, span| fix.witness(span, "a record"));
    // Without a record nothing shows that the count is wrong, rather than the records lost.
    Some(Fix { safety: fix.class_by_edits(), ..fix })
}

/// Returns the number of records with a frame that `dropped` leaves. Damaged ones are counted, too:
/// the recorder counted them.
pub(super) fn count_framed(recording: &Recording, dropped: &[Edit]) -> u16 {
    let spans = recording.walk().filter_map(|item| match item {
        Item::Record(record) => Some(record.span),
        Item::Damage(Damage { cause: DamageCause::Truncated(_), .. }) => None,
        Item::Damage(damage) => Some(damage.span),
    });
    let is_kept = |span: &Span| !dropped.iter().any(|edit| edit.span == *span);
    u16::try_from(spans.filter(is_kept).count()).unwrap_or(u16::MAX)
}

/// Returns the edit of the count that follows from the other edits of a round.
///
/// Each fix drops its own record; only here all of them are known.
pub(super) fn settle(recording: &Recording, edits: &[Edit]) -> Vec<Edit> {
    let is_written = edits.iter().any(|edit| edit.span == COUNT);
    let count = count_framed(recording, edits);
    if is_written || recording.count.is_none_or(|stored| stored == count) {
        return Vec::new();
    }
    vec![Edit::replace(COUNT, count.to_le_bytes())]
}
