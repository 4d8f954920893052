//! Reads TRACING_DATA of another recording, the donor.

use std::collections::BTreeSet;

use crate::formats::perf::decode::attr::Attr;
use crate::formats::perf::decode::header::{self, Body, Section};
use crate::formats::perf::decode::table::Table;
use crate::formats::perf::decode::tracing::{self, Tracing};
use crate::formats::perf::layout::feature;
use crate::kit::cursor::{Cursor, Order};
use crate::kit::source::Source;
use crate::kit::span::Layer;
use crate::kit::words::byte_count;
use crate::model::limits::{Limits, WINDOW};

/// TRACING_DATA of another recording.
#[derive(Clone, Debug)]
pub struct Donated {
    /// The bytes of the section.
    pub bytes: Vec<u8>,
    /// The descriptions of the tracepoints that the recording uses.
    pub tracing: Tracing,
}

impl Donated {
    /// Reads TRACING_DATA of the donor for a recording with these attrs; `None` without a donor.
    ///
    /// # Errors
    ///
    /// The reason why the donor cannot be used, as a phrase about the donor.
    pub fn take(
        donor: Option<&Source<'_>>,
        order: Order,
        attrs: &[Attr],
        limits: &Limits,
    ) -> Option<Result<Self, String>> {
        donor.map(|donor| Self::read(donor, order, attrs, limits))
    }

    fn read(
        donor: &Source<'_>,
        order: Order,
        attrs: &[Attr],
        limits: &Limits,
    ) -> Result<Self, String> {
        let section = find_section(donor, order)?;
        if section.size > limits.of(&WINDOW) {
            return Err(format!(
                "TRACING_DATA has {}, more than the limit of {}",
                byte_count(section.size),
                limits.of(&WINDOW)
            ));
        }
        let bytes = donor.read(section.offset, section.end().unwrap_or(u64::MAX)).into_owned();
        // The donor is not a file of the recording: no span into it leaves this function.
        let mut cursor = Cursor::new(&bytes, Layer::stored(0), section.offset, order);
        let traced = attrs.iter().filter(|attr| attr.is_tracepoint());
        let wanted: BTreeSet<u64> = traced.map(|attr| attr.config).collect();
        let tracing = tracing::tracing(&mut cursor, |id| wanted.contains(&id))
            .map_err(|error| format!("TRACING_DATA is malformed: {error}"))?;
        if tracing.order != order {
            return Err("its kernel has the other byte order".to_string());
        }
        Ok(Self { bytes, tracing })
    }
}

/// Reads the header and the feature table of the donor.
///
/// # Errors
///
/// The reason why the donor cannot be used, as a phrase about the donor.
pub(super) fn open(donor: &Source<'_>, order: Order) -> Result<(Body, Table), String> {
    const NO_SECTIONS: &str = "it is not a perf.data file with a header of sections";
    let header = header::header(donor, 0).map_err(|_| NO_SECTIONS)?;
    let body = header.body.ok_or(NO_SECTIONS)?;
    if header.order != order {
        return Err("it has the other byte order".to_string());
    }
    let end = body.data.end().filter(|end| *end <= donor.len());
    let table = end.map(|end| Table::read(donor, &body, end, order));
    let table = table.filter(|table| table.is_valid(&body, donor.len()));
    Ok((body, table.ok_or("its feature table is invalid: repair the donor first")?))
}

/// Finds the section TRACING_DATA of the donor.
fn find_section(donor: &Source<'_>, order: Order) -> Result<Section, String> {
    let (_, table) = open(donor, order)?;
    table.section(feature::TRACING_DATA).ok_or_else(|| "it has no TRACING_DATA".to_string())
}
