//! Laws of what shows a recording or hides parts of it: dumps, the map, redaction, rendered
//! findings and baselines.

use miette::{GraphicalReportHandler, GraphicalTheme, NarratableReportHandler};
use tracemend::kit::text::is_safe;
use tracemend::present::hexdump::Shown;
use tracemend::present::json::Recording;
use tracemend::{
    AuditRequest, Baseline, Dump, DumpError, FileSet, Finding, FormatId, Layer, MapStep, Options,
    RedactRequest, Region, Report, Severity,
};

use super::{Held, allocation, archive, ensure, observed, recording, seed, work};
use crate::forge::{apitrace, ovni, perf, qemu, revent};

/// Tests the bytes as an archive of files: all of them if they are an ovni trace, and else the
/// first. Bytes that are no such archive are a file.
pub fn of_bytes(bytes: &[u8]) -> Held {
    let choice = seed(bytes);
    let files = archive::unpack(bytes);
    let recognised = |files| tracemend::recognise(files, &Options::default());
    match recognised(&files) {
        Some(format) if format == FormatId::OVNI => every(&files, choice),
        Some(_) => every(&FileSet::new(files.files()[..1].to_vec()), choice),
        None => every(&FileSet::single("recording", bytes), choice),
    }
}

/// A name, and the files of a recording with their names.
pub type Subject = (String, Vec<(String, Vec<u8>)>);

/// Returns the recordings of the forge, of every format.
pub fn subjects() -> Vec<Subject> {
    let logs = qemu::all().into_iter().map(|(name, log)| (name.replace(' ', "-"), log.bytes));
    let perf = perf::all().into_iter().map(|(name, bytes)| (name.to_string(), bytes));
    let one = perf.chain(revent::all()).chain(logs).chain(apitrace::all());
    let one = one.map(|(name, bytes)| (name, vec![("recording".to_string(), bytes)]));
    let several = ovni::clean().into_iter().map(|clean| {
        let files = clean.trace.files.into_iter();
        let files = files.filter_map(|(name, bytes)| Some((name, bytes?)));
        (clean.name.to_string(), files.collect())
    });
    one.chain(several).collect()
}

/// Tests the laws of this module; `choice` selects the style and the filters of the dump. Each
/// takes as long as the check, so a fuzzer tests one of them with most inputs.
pub fn every(files: &FileSet<'_>, choice: u64) -> Held {
    let Some(format) = tracemend::recognise(files, &Options::default()) else { return Ok(()) };
    let options = Options { format: Some(format), ..Options::default() };
    let options = recording::with_short_searches(files, &options);
    let report = tracemend::check(files, &options);
    let laws: [&dyn Fn() -> Held; 8] = [
        &|| dumped(files, &options, &report, choice),
        &|| compared(files, &options),
        &|| mapped(files, &options, &report),
        &|| located(files, &options, choice),
        &|| redacted(files, &options),
        &|| cut_out(files, &options, &report, choice),
        &|| audited(files, &options),
        &|| reported(files, &report),
    ];
    let is_every = observed::is_on() || recording::are_dear_laws_due(files);
    let chosen = (choice >> 32) as usize % laws.len();
    let mut due = laws.iter().enumerate().filter(|(number, _)| is_every || *number == chosen);
    due.try_for_each(|(_, law)| law())
}

/// Tests a dump: it ends within bounds, its text is safe to print, a line of JSON is an object.
fn dumped(files: &FileSet<'_>, options: &Options, report: &Report, choice: u64) -> Held {
    let Some(format) = report.format else { return Ok(()) };
    let mut options = options.clone();
    filter(format, choice, &mut options);
    let styles = format.dump_styles();
    let number = choice as usize % (styles.len() + 1);
    let request = styles
        .get(number)
        .map_or(Dump::JsonLines, |(style, _)| Dump::Text { style: Some((*style).to_string()) });
    let mut text = String::new();
    let mut run = || {
        tracemend::dump(files, &options, &request, &mut |piece| {
            // One piece at a time, as the program prints them, and a bounded number of them here.
            text.push_str(piece);
            text.len() < TEXT_MAX
        })
    };
    let ((dumped, steps), peak) = allocation::peak_during(|| work::steps_during(&mut run));
    allocation::check_is_bounded(files, report, peak.saturating_sub(2 * text.len() as u64))?;
    work::check_is_bounded(files, report, steps)?;
    observed::note(text.as_bytes());
    is_printable("a dump", &text)?;
    match dumped {
        Err(DumpError::Style(style)) => {
            ensure(false, "every style of a format can be dumped", || style)
        }
        Ok(_) if request == Dump::JsonLines && text.len() < TEXT_MAX => {
            text.lines().try_for_each(is_object)
        }
        _ => Ok(()),
    }
}

/// Bytes of a dump that are tested.
const TEXT_MAX: usize = 1 << 20;

/// Values for the options of dumps; an option takes the first that it accepts.
const VALUES: [&str; 6] = ["1..9", "1", "0x10..", "", "gl", "0..0.5"];

/// Sets some of the options of a dump.
fn filter(format: FormatId, choice: u64, options: &mut Options) {
    for (bit, spec) in format.dump_options().iter().enumerate() {
        if choice >> (8 + 2 * bit) & 3 == 0 {
            let first = choice as usize % VALUES.len();
            let mut values = VALUES.iter().cycle().skip(first).take(VALUES.len());
            values.any(|value| options.choices.set(spec.name, value).is_ok());
        }
    }
}

fn is_object(line: &str) -> Held {
    let read: Result<serde_json::Value, _> = serde_json::from_str(line);
    let is_object = read.is_ok_and(|value| value.is_object());
    ensure(is_object, "a line of a dump is an object of JSON", || line.to_string())
}

fn is_printable(of: &str, text: &str) -> Held {
    // Formats of other tools have tabs.
    let other = text.chars().find(|c| !matches!(c, '\n' | '\t') && !is_safe(*c));
    ensure(other.is_none(), "all text is safe to print", || format!("{of}: {other:?} in {text}"))
}

/// Tests that a recording does not differ from itself.
fn compared(files: &FileSet<'_>, options: &Options) -> Held {
    let compared = tracemend::diff(files, files, options);
    let is_different = compared.as_ref().is_ok_and(tracemend::Compared::is_different);
    ensure(!is_different, "a recording does not differ from itself", || format!("{compared:?}"))
}

/// Tests that the regions of a map adjoin and cover their parent, and that memory is bounded.
fn mapped(files: &FileSet<'_>, options: &Options, report: &Report) -> Held {
    let mut cover = Cover { layer: None, at: 0, group_end: None, stored: 0, held: Ok(()) };
    let (_, peak) = allocation::peak_during(|| {
        tracemend::map(files, options, usize::MAX, &mut |step| {
            observed::note_debug(&step);
            cover.step(step);
        });
    });
    allocation::check_is_bounded(files, report, peak)?;
    cover.end_layer();
    cover.held?;
    ensure(cover.stored == files.len(), "a map covers every file", || {
        format!("{:#x} of {:#x} bytes", cover.stored, files.len())
    })
}

/// How far a map has come.
struct Cover {
    /// The layer and its length.
    layer: Option<(Layer, u64)>,
    at: u64,
    group_end: Option<u64>,
    /// Bytes of the files so far.
    stored: u64,
    held: Held,
}

impl Cover {
    fn step(&mut self, step: MapStep<'_>) {
        match step {
            MapStep::Layer(layer) => {
                self.end_layer();
                self.layer = Some((layer.layer, layer.length));
                self.at = 0;
            }
            MapStep::Open(group) => {
                self.expect(group.span.start() == self.at, || format!("{group:?}"));
                self.group_end = Some(group.span.end());
            }
            MapStep::Region(region) => {
                let at = self.at;
                self.expect(region.span.start() == at, || format!("{region:?} at {at:#x}"));
                if self.held.is_ok() {
                    self.held = is_covered(region);
                }
                self.at = region.span.end();
            }
            MapStep::Close => {
                let end = self.group_end.take();
                self.expect(end == Some(self.at), || format!("a group that ends at {end:?}"));
            }
            _ => {}
        }
    }

    fn end_layer(&mut self) {
        let Some((layer, length)) = self.layer else { return };
        let at = self.at;
        self.expect(at == length, || format!("{layer:?} ends at {at:#x} of {length:#x}"));
        if layer.is_stored() {
            self.stored += length;
        }
    }

    fn expect(&mut self, holds: bool, detail: impl FnOnce() -> String) {
        if self.held.is_ok() {
            self.held = ensure(holds, REGIONS, detail);
        }
    }
}

const REGIONS: &str = "the regions of a map adjoin and cover their parent";

/// Tests that the regions inside a region cover it, and that its texts are safe to print.
fn is_covered(region: &Region) -> Held {
    is_printable("a region", &region.name)?;
    is_printable("a meaning", region.meaning.as_deref().unwrap_or_default())?;
    is_printable("a value", region.value.as_deref().unwrap_or_default())?;
    let mut at = region.span.start();
    for child in &region.children {
        ensure(child.span.start() == at, REGIONS, || format!("{child:?} at {at:#x}"))?;
        at = child.span.end();
        is_covered(child)?;
    }
    let is_whole = region.children.is_empty() || at == region.span.end();
    ensure(is_whole, REGIONS, || format!("{region:?} to {at:#x}"))
}

/// Tests that a byte of the first file lies in each of the regions that are said to contain it.
fn located(files: &FileSet<'_>, options: &Options, choice: u64) -> Held {
    const LAW: &str = "the regions around a byte contain it";
    let (layer, len) = (Layer::stored(0), files.bytes(0).len());
    if len == 0 {
        return Ok(());
    }
    let offset = choice % len;
    let regions = tracemend::locate(files, options, layer, offset);
    ensure(!regions.is_empty(), LAW, || format!("none at {offset:#x}"))?;
    let contains = |region: &&Region| region.span.start() <= offset && offset < region.span.end();
    let other = regions.iter().find(|region| !contains(region));
    ensure(other.is_none(), LAW, || format!("{offset:#x} in {other:?}"))
}

/// Tests a redaction: it proves itself, does no harm, and leaves nothing that could be replaced.
fn redacted(files: &FileSet<'_>, options: &Options) -> Held {
    let request = RedactRequest::default();
    // It may refuse: no record can be read, or the fillers would make it worse.
    let Ok(redaction) = tracemend::redact(files, options, &request) else { return Ok(()) };
    let output = redaction.repair.output(files);
    recording::noted(&redaction.repair, &output);
    let after = tracemend::check(&output, options);
    let before = &redaction.repair.before;
    let errors = |report: &Report| report.count_of(Severity::Error);
    ensure(errors(&after) <= errors(before), "a redacted recording has no more errors", || {
        format!("{:?}, before {:?}", after.counts(), before.counts())
    })?;
    let again = tracemend::redact(&output, options, &request);
    let changes = again.as_ref().is_ok_and(|again| !again.repair.changes());
    ensure(changes, "redacting again changes nothing", || {
        again.map_or_else(|error| error.to_string(), |again| format!("{:?}", again.redacted))
    })
}

/// Tests a part: it has no errors, no samples that the recording lacks, and the same part of it is
/// all of it.
fn cut_out(files: &FileSet<'_>, options: &Options, report: &Report, choice: u64) -> Held {
    let Some(spec) = report.format.and_then(|format| {
        let specs = format.cut_options();
        specs.get(choice as usize % specs.len().max(1))
    }) else {
        return Ok(());
    };
    let mut options = options.clone();
    let whole = choice >> 8 & 1 == 0;
    let value = if whole { ".." } else { "0x10..0x20" };
    if options.choices.set(spec.name, value).is_err() {
        return Ok(());
    }
    let run = || tracemend::cut(files, &options);
    let ((part, steps), peak) = allocation::peak_during(|| work::steps_during(run));
    work::check_is_bounded(files, report, steps)?;
    // It may refuse: the recording is damaged, or has hardware traces.
    let Ok(part) = part else { return Ok(()) };
    allocation::check_is_bounded(files, report, peak.saturating_sub(report.tally.expanded * 4))?;
    let output = part.output(files);
    recording::noted(&part, &output);
    let after = tracemend::check(&output, &options);
    ensure(!after.has_errors(), "a part has no errors", || format!("{:?}", after.counts()))?;
    let (before, after) = (report.tally.samples, after.tally.samples);
    let fits = if whole { after == before } else { 0 < after && after <= before };
    ensure(fits, "a part has samples of the recording", || format!("{after} of {before}"))?;
    let again = tracemend::cut(&output, &options);
    let is_all = !whole || again.as_ref().is_ok_and(|again| !again.changes());
    ensure(is_all, "all of a part is the part", || match again {
        Err(error) => format!("{}: {error}", spec.name),
        Ok(again) => format!("{}: {:?}", spec.name, again.patches),
    })
}

/// Tests that the findings of an audit can be shown.
fn audited(files: &FileSet<'_>, options: &Options) -> Held {
    let audit = tracemend::audit(files, options, &AuditRequest::default().with_shown(true));
    shown(&audit, files)
}

/// Tests that a report can be shown, read back and accepted.
fn reported(files: &FileSet<'_>, report: &Report) -> Held {
    shown(report, files)?;
    read_again(report, files)?;
    accepted(report.clone(), files)
}

/// Tests that findings as people see them are safe to print.
fn shown(report: &Report, files: &FileSet<'_>) -> Held {
    let boxed = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
    for finding in report.findings().iter().take(FINDINGS_SHOWN) {
        for cells in [8, 16] {
            let shown = Shown::new(finding, files, cells);
            let mut text = String::new();
            let drawn = boxed.render_report(&mut text, &shown);
            let told = NarratableReportHandler::new().render_report(&mut text, &shown);
            observed::note(text.as_bytes());
            ensure(drawn.is_ok() && told.is_ok(), "a finding can be shown", || {
                format!("{finding:?}")
            })?;
            is_printable("a finding", &text)?;
        }
    }
    Ok(())
}

/// Findings of a report that are rendered here.
const FINDINGS_SHOWN: usize = 20;

/// Tests that the JSON of a report can be read again, and is then written the same.
fn read_again(report: &Report, files: &FileSet<'_>) -> Held {
    const LAW: &str = "the JSON of a report reads back as it was written";
    let written = Recording::new("recording", report, files).line();
    let Ok(line) = written else { return ensure(false, LAW, || format!("{written:?}")) };
    let read: Result<Recording, _> = serde_json::from_str(&line);
    let reread = read
        .map_err(|error| error.to_string())
        .and_then(|read| read.reread().map(|_| read.line()).map_err(|error| error.to_string()));
    let same = matches!(&reread, Ok(Ok(again)) if *again == line);
    ensure(same, LAW, || format!("{reread:?}\n{line}"))
}

/// Tests that a baseline of a report reads back, and suppresses the findings that it holds.
fn accepted(mut report: Report, files: &FileSet<'_>) -> Held {
    const LAW: &str = "a baseline suppresses the findings that it accepts";
    let mut baseline = Baseline::default();
    baseline.add("recording", &report, files);
    let text = baseline.to_json().unwrap_or_default();
    let Ok(baseline) = Baseline::from_json(&text) else { return ensure(false, LAW, || text) };
    let missing = baseline.apply("recording", &mut report, files);
    let left: Vec<&Finding> = report.findings().iter().collect();
    ensure(missing == 0 && left.is_empty(), LAW, || format!("{missing} missing, left {left:?}"))
}
