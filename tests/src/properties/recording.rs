//! Laws of check, tiles and repair that hold for any bytes.
//!
//! The cheap laws are tested with every input. The dear ones (a second check, the file in pieces,
//! tiles, the plan, a second repair) take several times as long as the check or repair itself; a
//! fuzzer tests them with a share of its inputs, which the bytes select, `cargo test` with all.

use std::collections::BTreeMap;

use tracemend::Allow;
use tracemend::FormatId;
use tracemend::kit::source::Source;
use tracemend::kit::span::{Layer, Span};
use tracemend::kit::text::is_safe;
use tracemend::mend::applied::Applied;
use tracemend::mend::plan::Plan;
use tracemend::mend::proof;
use tracemend::mend::rounds::{Repair, view};
use tracemend::model::patch::Patch;
use tracemend::present::json::{Document, Recording};
use tracemend::{
    AuditRequest, File, FileSet, Finding, Limits, Options, Outcome, Report, Severity, Verdict,
    catalogue,
};

use super::{Broken, Held, allocation, ensure, observed, pieces, seed, work};

/// Tests all laws of this module on a recording of one file.
pub fn every(bytes: &[u8]) -> Held {
    let files = FileSet::single("recording", bytes);
    checked(&files)?;
    repaired(&files, Allow::Lossy)
}

/// Tests a check: it is deterministic, also with the files in pieces, its positions exist, its text
/// is safe to print, and the tiles cover every byte.
pub fn checked(files: &FileSet<'_>) -> Held {
    checked_with(files, &options_for(files))
}

/// One input of so many gets the dear laws under a fuzzer.
const DEAR_SHARE: u64 = 64;
/// One input of so many gets searches as long as a user's, which take 99 % of the time of targets
/// of apitrace otherwise.
const LONG_SHARE: u64 = 256;
/// One input with dear laws of so many is audited.
const AUDIT_SHARE: u64 = 8;

/// Returns a number that the bytes select.
fn number_of(files: &FileSet<'_>) -> u64 {
    let of_file = |file: &File<'_>| file.bytes.pieces().map(seed).fold(0, u64::wrapping_add);
    files.files().iter().map(of_file).fold(0, u64::wrapping_add)
}

// Each share takes other bits than the others, and than those that select options.

/// Returns whether all inputs get the dear laws and long searches: in tests of the laws.
fn is_thorough() -> bool {
    !cfg!(fuzzing) && !observed::is_on()
}

/// Returns whether these files get the dear laws.
pub(crate) fn are_dear_laws_due(files: &FileSet<'_>) -> bool {
    is_thorough() || (number_of(files) >> 40).is_multiple_of(DEAR_SHARE)
}

/// Returns whether these files are searched as long as a user's.
fn are_long_searches_due(files: &FileSet<'_>) -> bool {
    is_thorough() || (number_of(files) >> 48).is_multiple_of(LONG_SHARE)
}

/// Steps of the other searches after damage.
const SEARCH_STEPS: u64 = 4 << 10;
/// Values tried for damaged attrs of perf in other searches.
const VALUES_TRIED: u64 = 2 << 10;

/// Returns `options`, with shorter searches for most files of a fuzzer.
pub(crate) fn with_short_searches(files: &FileSet<'_>, options: &Options) -> Options {
    let mut options = options.clone();
    if !are_long_searches_due(files) {
        options.limits.set(&tracemend::limits::RESYNC, SEARCH_STEPS);
        options.limits.set(&tracemend::formats::perf::limits::TRIED, VALUES_TRIED);
    }
    options
}

/// Tests a check like [`checked`], with `options`.
pub fn checked_with(files: &FileSet<'_>, options: &Options) -> Held {
    let options = &with_short_searches(files, options);
    let check = || work::steps_during(|| tracemend::check(files, options));
    let ((report, steps), peak) = allocation::peak_during(check);
    allocation::check_is_bounded(files, &report, peak)?;
    work::check_is_bounded(files, &report, steps)?;
    let json = json(&report, files);
    observed::note(json.as_bytes());
    let unsafe_character = json.chars().find(|c| *c != '\n' && !is_safe(*c));
    ensure(unsafe_character.is_none(), "no output has a control character", || {
        format!("{unsafe_character:?} in {json}")
    })?;
    ensure(
        report.findings().len() as u64 <= report.counts().values().sum(),
        "every finding is counted",
        || format!("{} findings, counts {:?}", report.findings().len(), report.counts()),
    )?;
    report.findings().iter().try_for_each(|finding| placed(files, finding))?;
    if observed::is_on() {
        observed::shown(files, options);
        let repair = tracemend::repair(files, &options.clone().with_allow(Allow::Lossy));
        noted(&repair, &view(files, &repair.patches));
    }
    if are_dear_laws_due(files) {
        recurs(files, options, &report, &json)?;
    }
    Ok(())
}

/// Tests that a second check gives the same report and JSON, the file in pieces too, and that the
/// tiles cover every byte.
fn recurs(files: &FileSet<'_>, options: &Options, report: &Report, json: &str) -> Held {
    same("a check is deterministic", report, &tracemend::check(files, options))?;
    let again = self::json(&tracemend::check(files, options), files);
    ensure(json == again, "the JSON of a check is deterministic", || format!("{json}\n{again}"))?;
    let sliced = sliced(files);
    audited(files, &sliced, options)?;
    let apart = tracemend::check(&sliced, options);
    same("a file in pieces gets the same report", report, &apart)?;
    if let Some(format) = options.format {
        tiled(files, format)?;
        tiled(&sliced, format)?;
    }
    Ok(())
}

/// Tests an audit: it is the same with the files in pieces, its positions exist, its text is safe
/// to print, and it holds a bounded amount of memory.
fn audited(files: &FileSet<'_>, sliced: &FileSet<'_>, options: &Options) -> Held {
    if !(number_of(files) >> 44).is_multiple_of(AUDIT_SHARE) {
        return Ok(());
    }
    let request = AuditRequest::default().with_shown(true);
    let run = || tracemend::audit(files, options, &request);
    let (report, peak) = allocation::peak_during(run);
    allocation::check_is_bounded(files, &report, peak)?;
    let json = json(&report, files);
    observed::note(json.as_bytes());
    let unsafe_character = json.chars().find(|c| *c != '\n' && !is_safe(*c));
    ensure(unsafe_character.is_none(), "no output of an audit has a control character", || {
        format!("{unsafe_character:?} in {json}")
    })?;
    report.findings().iter().try_for_each(|finding| placed(files, finding))?;
    let apart = tracemend::audit(sliced, options, &request);
    same("a file in pieces gets the same audit", &report, &apart)
}

/// Tests a repair: it ends, makes no rule fire more often, proves itself, can be reversed, and is
/// idempotent. A clean recording does not change.
pub fn repaired(files: &FileSet<'_>, allow: Allow) -> Held {
    repaired_with(files, &options_for(files).with_allow(allow))
}

/// Tests a repair like [`repaired`], with `options`.
pub fn repaired_with(files: &FileSet<'_>, options: &Options) -> Held {
    repair_of(files, options).map(|_| ())
}

/// Tests a repair like [`repaired_with`], and returns it.
pub fn repair_of(files: &FileSet<'_>, options: &Options) -> Result<Repair, Broken> {
    let options = &with_short_searches(files, options);
    let repair = || work::steps_during(|| tracemend::repair(files, options));
    let ((repair, steps), peak) = allocation::peak_during(repair);
    allocation::repair_is_bounded(files, &repair, peak)?;
    work::repair_is_bounded(files, &repair, steps)?;
    let repaired = view(files, &repair.patches);
    let target: Vec<Vec<u8>> = repaired
        .files()
        .iter()
        .map(|file| file.bytes.pieces().collect::<Vec<_>>().concat())
        .collect();
    let named = repaired.files().iter().zip(&target);
    let target = FileSet::new(
        named
            .map(|(file, bytes)| {
                let absent = file.bytes.is_absent();
                let source = if absent { Source::absent() } else { Source::new(bytes) };
                File { name: file.name.clone(), bytes: source }
            })
            .collect(),
    );
    let target = target.with_donor(files.donor().cloned());
    noted(&repair, &target);
    ended(&repair, options.allow)?;
    ensure(
        repair.before.verdict() != Verdict::Clean || !repair.changes(),
        "a clean recording stays byte for byte",
        || format!("{} edits", edits(&repair)),
    )?;

    not_worse(&repair.before, &repair.after, repair.records_lost())?;
    if are_dear_laws_due(files) {
        let after = tracemend::check(&target, options);
        ensure(
            *after.counts() == repair.counts_of_output(),
            "the report of a repair is that of its target",
            || format!("{:?} were reported, {:?} found", repair.after.counts(), after.counts()),
        )?;
        planned(files, &target, &repair)?;
        stable(&target, options, &repair)?;
    }
    Ok(repair)
}

/// Notes what a repair found, did and left.
pub(crate) fn noted(repair: &Repair, target: &FileSet<'_>) {
    if !observed::is_on() {
        return;
    }
    observed::note_debug(&(repair.outcome, &repair.refused, repair.records_lost()));
    for applied in &repair.applied {
        observed::note_debug(&brief_applied(applied));
    }
    observed::note(json(&repair.before, target).as_bytes());
    observed::note(json(&repair.after, target).as_bytes());
    for piece in target.files().iter().flat_map(|file| file.bytes.pieces()) {
        observed::note(piece);
    }
}

/// Tests that a repair of the target of a repair changes nothing.
fn stable(target: &FileSet<'_>, options: &Options, repair: &Repair) -> Held {
    let second = tracemend::repair(target, options);
    // A fix that is barred because of what another one does may be applied alone.
    // One that ended at the limit of rounds goes on.
    let reasons = ["its class is not allowed", "comes back each time", "did not end within"];
    let is_barred = |why: &str| reasons.iter().any(|reason| why.contains(reason));
    let is_barred = repair.refused.as_deref().is_some_and(is_barred);
    ensure(!second.changes() || is_barred, "repairing the target again changes nothing", || {
        let applied =
            |repair: &Repair| -> Vec<String> { repair.applied.iter().map(brief_applied).collect() };
        format!(
            "first {:?} {:#?} {:?}, then {:?} {:#?}",
            repair.outcome,
            applied(repair),
            repair.refused,
            second.outcome,
            applied(&second)
        )
    })
}

/// Tests that a successful repair leaves no fixable error.
fn ended(repair: &Repair, allow: Allow) -> Held {
    ensure(
        repair.safety().is_none_or(|safety| allow.permits(safety)),
        "a repair keeps to the allowed class",
        || format!("{:?}, and {allow:?} is allowed", repair.safety()),
    )?;
    let fixable = |finding: &&Finding| {
        finding.severity == Severity::Error
            && finding
                .fix
                .as_ref()
                .is_some_and(|fix| allow.permits(fix.safety) && !fix.edits.is_empty())
    };
    let success =
        matches!(repair.outcome, Outcome::Clean | Outcome::Repaired | Outcome::RepairedWithLoss);
    let left = repair.after.findings().iter().find(fixable).map(brief);
    ensure(!success || left.is_none(), "no fixable error is left after a success", || {
        format!("{:?} with {left:?}", repair.outcome)
    })?;
    ensure(
        repair.refused.is_some() || repair.outcome == Outcome::Incomplete || left.is_none(),
        "a repair that leaves a fixable error gives a reason",
        || format!("{:?} with {left:?}", repair.outcome),
    )?;
    let at_limit = repair.refused.as_deref().is_some_and(|why| why.contains("did not end within"));
    // Where an error is left that needs a fix of another class, the end is known.
    let gave_up = at_limit && repair.outcome == Outcome::Incomplete;
    ensure(!gave_up, "the rounds of a repair reach an end", || {
        let last = repair.applied.iter().rev().take(4).map(brief_applied);
        last.collect::<Vec<_>>().join("\n")
    })
}

/// Tests that the target has no more errors than the source, unless data came to light: damage had
/// hidden its errors. If as many records are left though some were dropped, others came to light.
fn not_worse(before: &Report, after: &Report, records_lost: u64) -> Held {
    let errors = |report: &Report| report.count_of(Severity::Error);
    let records = after.tally.records.saturating_add(records_lost);
    let came_to_light =
        records > before.tally.records || after.tally.expanded > before.tally.expanded;
    ensure(
        errors(after) <= errors(before) || came_to_light,
        "a repair leaves no more errors than there were",
        || format!("{:?} became {:?}", before.counts(), after.counts()),
    )
}

/// Tests that the plan of a repair balances, reads back, proves the target and reverses it.
fn planned(files: &FileSet<'_>, target: &FileSet<'_>, repair: &Repair) -> Held {
    const PROOF: &str = "a plan proves source and target";
    let plan = match Plan::new(repair, files, &Limits::default()) {
        Ok(plan) => plan,
        Err(error) => return ensure(false, PROOF, || error.to_string()),
    };
    for (file, patch) in files.files().iter().zip(&repair.patches) {
        let (source, kept) = (file.bytes.len(), patch.kept());
        ensure(
            kept + patch.dropped() == source && kept + patch.inserted() == patch.target_len(),
            "a repair balances",
            || format!("{kept} kept, {} dropped of {source}", patch.dropped()),
        )?;
    }
    for edit in plan.files.iter().flat_map(|file| &file.edits) {
        ensure(!edit.codes.is_empty(), "every edit belongs to a finding", || format!("{edit:?}"))?;
    }
    let proved = proof::prove(&plan, files, target);
    ensure(proved.is_ok(), PROOF, || format!("{proved:?}"))?;
    read_back(&plan)?;
    let undone = plan.reversed().unwrap();
    let proved = proof::prove(&undone, target, files);
    ensure(proved.is_ok(), "a plan can be reversed", || format!("{proved:?}"))
}

/// Tests that a plan reads back as it was written, except for its seal, and is written the same
/// again.
pub fn read_back(plan: &Plan) -> Held {
    const LAW: &str = "a plan reads back as it was written";
    let text = plan.to_json().unwrap();
    match Plan::from_json(text.as_bytes()) {
        Err(error) => ensure(false, LAW, || format!("{error} in {text}")),
        Ok(read) => {
            let sealed = Plan { seal: read.seal.clone(), ..plan.clone() };
            ensure(read == sealed, LAW, || format!("{read:?}\n{sealed:?}"))?;
            ensure(read.to_json().as_ref() == Ok(&text), LAW, || text.clone())
        }
    }
}

/// Tests that the tiles of each layer adjoin and cover it exactly; those of a file cover the file.
pub fn tiled(files: &FileSet<'_>, format: FormatId) -> Held {
    const LAW: &str = "tiles adjoin and cover each layer exactly";
    let mut ends: BTreeMap<Layer, u64> = BTreeMap::new();
    let mut held = Ok(());
    catalogue::format(format).unwrap().tile(files, &Options::default(), &mut |tile, _| {
        let end = ends.entry(tile.span.layer()).or_insert(0);
        if held.is_ok() {
            held = ensure(tile.span.start() == *end && !tile.span.is_empty(), LAW, || {
                format!("{tile:?} follows a tile that ends at {end:#x}")
            });
        }
        *end = tile.span.end();
    });
    held?;
    for (index, file) in (0..).zip(files.files()) {
        let end = ends.get(&Layer::stored(index)).copied().unwrap_or(0);
        ensure(end == file.bytes.len(), LAW, || {
            format!("they end at {end:#x} of the {:#x} bytes of file {index}", file.bytes.len())
        })?;
    }
    Ok(())
}

/// Tests that a finding lies in its file and the edits of its fix form a patch.
fn placed(files: &FileSet<'_>, finding: &Finding) -> Held {
    let inside = |span: Span| {
        let len = files.bytes(span.layer().file).len();
        span.start() <= span.end() && (!span.layer().is_stored() || span.end() <= len)
    };
    let spans = finding.related.iter().map(|related| related.span).chain(finding.stored);
    let outside = spans.chain([finding.span]).find(|span| !inside(*span));
    ensure(outside.is_none(), "a finding lies in its file", || {
        format!("{}: {}", shown(&outside), brief(finding))
    })?;
    for index in 0..files.files().len() as u32 {
        let edits = finding.fix.iter().flat_map(|fix| &fix.edits);
        let edits: Vec<_> = edits.filter(|e| e.span.layer().file == index).cloned().collect();
        let patch = Patch::from_edits(files.bytes(index).len(), &edits);
        ensure(patch.is_ok(), "the edits of a fix form a patch", || {
            format!("{}: {}", shown(&patch.err()), brief(finding))
        })?;
    }
    Ok(())
}

/// Describes a finding and its edits in one line.
pub(super) fn brief(finding: &Finding) -> String {
    let edits = finding.fix.iter().flat_map(|fix| &fix.edits);
    let edits: Vec<String> =
        edits.map(|edit| format!("{} <- {} bytes", edit.span, edit.insert.len())).collect();
    let summary = finding.fix.as_ref().map_or("no fix", |fix| &fix.summary);
    format!(
        "{} {} {}: {}; {summary} {edits:?}",
        finding.rule.code, finding.span, finding.path, finding.message
    )
}

fn brief_applied(applied: &Applied) -> String {
    format!("round {}: {}", applied.round, brief(&applied.finding))
}

fn shown(value: &Option<impl std::fmt::Display>) -> String {
    value.as_ref().map_or_else(String::new, ToString::to_string)
}

/// Returns the files with their bytes in pieces.
fn sliced<'a>(files: &FileSet<'a>) -> FileSet<'a> {
    let slice = |source: &Source<'a>| {
        if source.is_absent() {
            return Source::absent();
        }
        Source::from_pieces(source.pieces().flat_map(pieces).collect::<Vec<_>>())
    };
    let file = |file: &File<'a>| File { name: file.name.clone(), bytes: slice(&file.bytes) };
    FileSet::new(files.files().iter().map(file).collect())
}

fn same(law: &'static str, a: &Report, b: &Report) -> Held {
    let differing = a.findings().iter().zip(b.findings()).find(|(a, b)| a != b);
    ensure(differing.is_none(), law, || format!("{differing:#?}"))?;
    let rest = |report: &Report| {
        let found = (report.findings().len(), report.truncated(), report.verdict());
        let said = (report.format, report.length, report.tally, report.facts.clone());
        (found, said, report.counts().clone(), report.worst())
    };
    ensure(rest(a) == rest(b), law, || format!("{:?}\n{:?}", rest(a), rest(b)))
}

fn json(report: &Report, files: &FileSet<'_>) -> String {
    let recording = Recording::new("recording", report, files);
    Document::new(vec![recording]).to_json().unwrap()
}

/// Returns the format that is sniffed, or the first one if no format recognises the bytes.
fn options_for(files: &FileSet<'_>) -> Options {
    let sniffed = catalogue::sniff(files, &Options::default());
    let first = FormatId::ALL.iter().copied().next();
    Options { format: sniffed.or(first), ..Options::default() }
}

fn edits(repair: &Repair) -> usize {
    (0..).zip(&repair.patches).map(|(index, patch)| patch.edits(index).len()).sum()
}
