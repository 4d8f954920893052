//! Items to findings. Reads no bytes.

use tracemend::kit::source::Source;
use tracemend::kit::walk::Item;
use tracemend::words::plural;
use tracemend::{Finding, Layer, Report, Span};

use super::layout::{COUNT_AT, HEADER_LEN};
use super::{decode, repair, rules};

/// Adds the findings of a recording.
pub(super) fn check(source: &Source<'_>, report: &mut Report) {
    let mut found = 0_u32;
    for item in decode::Walker::new(source) {
        match item {
            Item::Record(_) => found += 1,
            Item::Damage(span) => {
                let (len, needed) = (span.len(), decode::needed(source, span));
                let message = format!("truncated item: {len} of {}", plural(needed, "byte"));
                let finding = Finding::new(&rules::ITEM_TRUNCATED, span, "item", message);
                report.push(finding.fix(repair::drop_item(span)));
            }
        }
    }
    report.tally.records = found.into();
    let count = decode::count(source).unwrap_or(0);
    if count != found {
        let span = Span::new(Layer::stored(0), COUNT_AT, HEADER_LEN);
        let items = plural(found.into(), "complete item");
        let verb = if found == 1 { "follows" } else { "follow" };
        let message = format!("count is {count}, but {items} {verb}");
        let finding = Finding::new(&rules::COUNT_WRONG, span, "header.count", message);
        report.push(finding.fix(repair::set_count(span, found)));
    }
}
