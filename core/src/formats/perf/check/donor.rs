//! TRACING_DATA, the descriptions of tracepoints, which a recording cannot restore by itself.

use super::records::RawSizes;
use crate::formats::perf::decode::attr::{Attr, sample_type};
use crate::formats::perf::decode::donor::Donated;
use crate::formats::perf::decode::outline::Outline;
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::layout::{feature, field};
use crate::formats::perf::repair::{self, Features};
use crate::formats::perf::rules;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::text::Untrusted;
use crate::kit::words::{byte_count, list};
use crate::limits::Limits;
use crate::mend::edit::{Edit, Fix, Safety};
use crate::report::{Finding, Report};

/// Names of tracepoints that a summary lists.
const NAMES_LISTED: usize = 4;

/// A recording of tracepoints without TRACING_DATA, and the offer of the donor.
pub(super) struct MissingTracing {
    donated: Option<Result<Donated, String>>,
}

impl MissingTracing {
    /// Reads the donor if the recording has tracepoints but no TRACING_DATA; otherwise `None`.
    pub(super) fn find(
        recording: &Recording<'_>,
        outline: &Outline,
        limits: &Limits,
    ) -> Option<Self> {
        let attrs = outline.events.attrs();
        let is_present = recording.body.flags.has(feature::TRACING_DATA);
        let is_missing = outline.end.is_open() || !is_present;
        let needs = is_missing && attrs.iter().any(Attr::is_tracepoint);
        needs.then(|| Self { donated: Donated::take(recording, attrs, limits) })
    }

    /// Returns room for the sizes of raw data per event, if they have to be compared with the
    /// donor.
    pub(super) fn raw_sizes(&self, attrs: &[Attr]) -> Vec<RawSizes> {
        let has_raw = |a: &Attr| a.is_tracepoint() && a.sample_type & sample_type::RAW != 0;
        if self.donated.is_some() && attrs.iter().any(has_raw) {
            vec![None; attrs.len()]
        } else {
            Vec::new()
        }
    }

    /// Reports that TRACING_DATA is missing. `settled` is the end of the records and the features,
    /// if no other fix moves them.
    pub(super) fn push(
        self,
        recording: &Recording<'_>,
        (attrs, raw_sizes): (&[Attr], &[RawSizes]),
        settled: Option<(u64, Features)>,
        report: &mut Report,
    ) {
        let span = Span::sized(Layer::stored(0), field::FLAGS, 8);
        let message = "missing TRACING_DATA: the events are tracepoints";
        let rule = &rules::TRACING_DATA_MISSING;
        let finding = Finding::new(rule, span, "header.flags", message);
        let donated = self.donated.map(|donated| {
            let donated = donated?;
            check_fit(&donated, attrs, raw_sizes)?;
            Ok::<_, String>(donated)
        });
        let fix = match donated {
            Some(Ok(donated)) if recording.header.has_feature_bits() => {
                let summary = describe(&donated);
                let edits = settled.map(|(end, features)| add(recording, end, features, donated));
                // The features have no place until the header has the right end of the records.
                let attrs = recording.body.attrs.span(0);
                Fix::new(Safety::Synthetic, summary, edits.unwrap_or_default())
                    .witness(attrs, "attrs of the tracepoints that the donor describes")
            }
            Some(Err(why)) => Fix::manual(format!("the donor cannot be used: {why}")),
            _ => Fix::manual(
                "take TRACING_DATA from a complete recording of the same kernel and events \
                 (perf record -e EVENTS -o donor.data -- true)",
            )
            .option("--donor donor.data"),
        };
        report.push(finding.fix(fix));
    }
}

/// Adds the donated TRACING_DATA to the features of a recording whose records end at `end`.
fn add(recording: &Recording<'_>, end: u64, mut features: Features, donated: Donated) -> Vec<Edit> {
    let add = vec![(feature::TRACING_DATA, donated.bytes)];
    features.add = repair::with_hostname(add, recording.order(), |bit| features.keeps(bit));
    repair::rewrite(recording, end, &features, false)
}

/// Compares the descriptions with the attrs and with the sizes of the samples.
///
/// The ids of tracepoints differ between kernels, and where an id has another meaning the sizes
/// mostly differ too. The names of the fields cannot be verified.
fn check_fit(donated: &Donated, attrs: &[Attr], raw_sizes: &[RawSizes]) -> Result<(), String> {
    let sizes = raw_sizes.iter().copied().chain(std::iter::repeat(None));
    let traced = attrs.iter().enumerate().zip(sizes).filter(|((_, a), _)| a.is_tracepoint());
    for ((index, attr), sizes) in traced {
        let id = attr.config;
        let Some(description) = donated.tracing.descriptions.get(&id) else {
            return Err(format!("it does not describe tracepoint {id} of attrs[{index}]"));
        };
        let Some((least, most)) = sizes else { continue };
        let (wanted, at_most) = description.raw_size();
        if u64::from(least) < wanted || u64::from(most) > at_most {
            let sizes =
                if least == most { least.to_string() } else { format!("{least} to {most}") };
            return Err(format!(
                "its tracepoint {id} is {:?} of size {wanted}, but samples of attrs[{index}] \
                 have {sizes}",
                Untrusted(&description.name),
            ));
        }
    }
    Ok(())
}

/// Describes the part of the donor that is taken.
fn describe(donated: &Donated) -> String {
    let descriptions = &donated.tracing.descriptions;
    let names = descriptions.values().map(|d| Untrusted(&d.name).to_string());
    let names: Vec<String> = names.take(NAMES_LISTED).collect();
    let names = list(&names, NAMES_LISTED, to_u64(descriptions.len()));
    let len = byte_count(to_u64(donated.bytes.len()));
    format!("add TRACING_DATA of the donor, {len}: {names}")
}
