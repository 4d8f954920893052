//! What only another recording still knows: the descriptions of tracepoints.

use crate::limits::WINDOW;
use std::collections::BTreeSet;

use crate::formats::perf::check::features;
use crate::formats::perf::decode::attr::{Attr, sample_type};
use crate::formats::perf::decode::header::{self, Section};
use crate::formats::perf::decode::tracing::{self, Tracing};
use crate::formats::perf::layout::{self, feature};
use crate::formats::perf::repair;
use crate::kit::cursor::{Cursor, Order};
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::Layer;
use crate::kit::text::Untrusted;
use crate::limits::Limits;

/// TRACING_DATA of another recording.
#[derive(Clone, Debug)]
pub struct Donated {
    /// The section.
    pub bytes: Vec<u8>,
    tracing: Tracing,
}

/// Least and most bytes of raw data in the samples of an event.
pub type RawSizes = Option<(u32, u32)>;

/// Whether an event is a tracepoint.
pub fn is_tracepoint(attr: &Attr) -> bool {
    attr.kind == layout::TYPE_TRACEPOINT
}

impl Donated {
    /// Takes TRACING_DATA of `donor` for a recording with these events, or says why not.
    pub fn take(
        donor: &Source<'_>,
        order: Order,
        attrs: &[Attr],
        limits: &Limits,
    ) -> Result<Self, String> {
        let section = section(donor, order)?;
        if section.size > limits.of(&WINDOW) {
            return Err(format!(
                "its TRACING_DATA has {} bytes, {} are the limit",
                section.size, limits.of(&WINDOW)
            ));
        }
        let bytes = donor.read(section.offset, section.end().unwrap_or(u64::MAX)).into_owned();
        // The donor is no file of the recording, so that no span of it ever gets out of here.
        let mut cursor = Cursor::new(&bytes, Layer::stored(0), section.offset, order);
        let traced = attrs.iter().filter(|attr| is_tracepoint(attr));
        let wanted: BTreeSet<u64> = traced.map(|attr| attr.config).collect();
        let tracing = tracing::tracing(&mut cursor, |id| wanted.contains(&id))
            .map_err(|error| format!("its TRACING_DATA cannot be read: {error}"))?;
        if tracing.order != order {
            return Err("its kernel is of the other byte order".to_string());
        }
        Ok(Self { bytes, tracing })
    }

    /// Whether the descriptions can be those of the recording's samples; if not, why.
    ///
    /// Numbers of tracepoints differ from kernel to kernel, and sizes mostly do where the numbers
    /// mean something else. That the names of the fields are right nothing can prove.
    pub fn fits(&self, attrs: &[Attr], raw_sizes: &[RawSizes]) -> Result<(), String> {
        let sizes = raw_sizes.iter().copied().chain(std::iter::repeat(None));
        let traced = attrs.iter().enumerate().zip(sizes).filter(|((_, a), _)| is_tracepoint(a));
        for ((index, attr), sizes) in traced {
            let Some(description) = self.tracing.descriptions.get(&attr.config) else {
                return Err(format!(
                    "it does not describe tracepoint {} of attrs[{index}]",
                    attr.config
                ));
            };
            let Some((least, most)) = sizes else { continue };
            let (wanted, at_most) = description.raw_size();
            if u64::from(least) < wanted || u64::from(most) > at_most {
                let sizes =
                    if least == most { least.to_string() } else { format!("{least} to {most}") };
                return Err(format!(
                    "it says that tracepoint {} is {:?} with {wanted} bytes, samples of attrs[{index}] have {sizes}",
                    attr.config,
                    Untrusted(&description.name),
                ));
            }
        }
        Ok(())
    }
}

/// Room for the sizes of raw data in the samples of each event that has any.
pub fn raw_sizes(attrs: &[Attr]) -> Vec<RawSizes> {
    let raw = |attr: &Attr| is_tracepoint(attr) && attr.sample_type & sample_type::RAW != 0;
    if attrs.iter().any(raw) { vec![None; attrs.len()] } else { Vec::new() }
}

/// Where the donor has TRACING_DATA.
fn section(donor: &Source<'_>, order: Order) -> Result<Section, String> {
    let no_file = "it is no perf.data with a header of sections";
    let header = header::header(donor, 0).map_err(|_| no_file)?;
    let body = header.body.ok_or(no_file)?;
    if header.order != order {
        return Err("it is of the other byte order".to_string());
    }
    if !body.flags.has(feature::TRACING_DATA) {
        return Err("it has no TRACING_DATA".to_string());
    }
    let end = body.data.end().filter(|end| *end <= donor.len());
    let sound = |end: &u64| features::table_is_sound(donor, &header, &body, *end);
    let end = end.filter(sound).ok_or("its features cannot be found: mend it first")?;
    let (_, entries) = repair::table(donor, &body, end, order);
    let found = entries.into_iter().find(|(bit, _)| *bit == feature::TRACING_DATA);
    found.map(|(_, section)| section).ok_or_else(|| "it has no TRACING_DATA".to_string())
}

/// How much of a donor is taken, for people.
pub fn summary(donated: &Donated) -> String {
    let names = donated.tracing.descriptions.values().map(|d| Untrusted(&d.name).to_string());
    let names: Vec<String> = names.take(4).collect();
    let more = donated.tracing.descriptions.len().saturating_sub(names.len());
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!(
        "adds TRACING_DATA of the donor, {} bytes: {}{more}",
        to_u64(donated.bytes.len()),
        names.join(", ")
    )
}
