//! HEADER_ATTR records, each with an attr and its ids.

use super::attr::{self, Attr};
use super::feature::{self, Machine};
use super::frame::RecordView;
use crate::formats::perf::layout::{ATTR_SIZE_VER0, record};
use crate::kit::cursor::Order;

/// Reads the attr and the ids of a HEADER_ATTR record. `None` if the body is not an attr, which is
/// a fault of the record.
pub fn read_record(record: &RecordView<'_>, order: Order) -> Option<(Attr, Vec<u64>)> {
    if is_damaged_feature(record, order) {
        return None;
    }
    let attr = attr::attr(&mut record.cursor(order), order).ok()?;
    // util/header.c: perf_record_header_attr_id. perf trusts a size that is too small.
    let mut ids = record.cursor(order);
    ids.skip(1, attr.size.into(), "attr").ok()?;
    Some((attr, std::iter::from_fn(|| ids.u64("id").ok()).collect()))
}

/// Whether a HEADER_ATTR record is a HEADER_FEATURE with a damaged type: the number of the feature,
/// a u64, gives the attr a size that no attr has.
pub fn is_damaged_feature(record: &RecordView<'_>, order: Order) -> bool {
    let size = attr::stated_size(&record.cursor(order));
    record.frame.kind == record::HEADER_ATTR
        && size.is_ok_and(|size| u64::from(size) < ATTR_SIZE_VER0)
        && feature::of_record(record, order, Machine::default())
            .is_ok_and(|(bit, _)| feature::name(bit).is_some())
}
