//! Findings about a log.
//!
//! [`header`] judges the version and the choice of the user, [`defects`] the events, [`closing`]
//! the end; [`facts`] sums up. Bytes are read in `decode`, and fixes are built in `repair`.

pub mod closing;
pub mod defects;
pub mod facts;
pub mod header;

use crate::formats::qemu::decode::event::FILE;
use crate::formats::qemu::decode::header::VersionEvidence;
use crate::formats::qemu::layout::{HEADER_LEN, Layouts};
use crate::formats::qemu::options;
use crate::formats::qemu::recover::cut::EVENTS_BELIEVED;
use crate::formats::qemu::recover::ending::{Ending, Request};
use crate::formats::qemu::recover::lane::Stop;
use crate::formats::qemu::recover::log::{Log, Reading};
use crate::formats::qemu::rules;
use crate::kit::span::Span;
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::{Finding, Report};

/// Checks a log.
pub fn check(files: &FileSet<'_>, options: &Options, report: &mut Report) {
    let source = files.bytes(0);
    let Ok(log) = Log::read(&source, &options.limits) else {
        let message = format!("truncated header: {} of {HEADER_LEN} bytes", source.len());
        let span = Span::new(FILE, 0, source.len());
        report.push(Finding::new(&rules::HEADER_TRUNCATED, span, "header", message));
        report.mark_unreadable();
        return;
    };
    let header = log.header;
    let version = header.version;
    header::check_unused(&header, report);
    let wanted = options::qemu_version(options);
    let chosen = wanted.and_then(|wanted| header::check_choice(wanted, &log, report));
    let excluded = log.race.excluded.clone();
    let fits = log.race.layouts();
    let evidence = VersionEvidence::find(header, fits);
    let layouts = match (chosen, evidence) {
        (Some(number), _) => Layouts::default().with(number),
        (None, Some((_, layouts))) => layouts,
        (None, None) => fits,
    };
    let Some(Reading { layouts, lane }) = log.into_reading(layouts) else { return };
    // The user may know better than the bytes.
    let evidence =
        evidence.filter(|(_, by_bytes)| layouts.iter().all(|(n, _)| by_bytes.contains(n)));
    facts::add_layouts(version, layouts, &excluded, report);
    let is_explained =
        !matches!(lane.stop, Some(Stop::Lost(_))) || lane.events() >= EVENTS_BELIEVED;
    if !version.is_known() && !is_explained {
        header::push_unexplained(version, &lane, report);
        return;
    }
    let request = Request {
        header,
        layouts,
        evidence: evidence.map(|(evidence, _)| evidence),
        is_named: chosen.is_some(),
        is_contradicted: wanted.is_some() && chosen.is_none(),
        wants_prefix: options::has_prefix(options),
    };
    let mut ending = Ending::new(&lane, request, &options.limits);
    if chosen.is_none() && ending.has_rival(&excluded) {
        closing::doubt_end(&mut ending, &source, &options.limits);
    }
    let fix = closing::check_end(&ending, &lane, report);
    closing::check_emptiness(&ending, &lane, report);
    facts::add_events(&lane, report);
    facts::add_replay(&ending, &lane, report);
    defects::push_all(lane.defects, fix, report);
}
