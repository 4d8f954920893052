//! Every rule has a specimen, or a reason why no recording can break it; the corpus holds the
//! specimens with what is expected of them.
//!
//! `BLESS=1` writes `corpus/*/rules/` and `cli/src/show/examples.txt` anew; read the difference
//! before you commit it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tracemend_tests::sweep::is_left_to_the_gate;

use tracemend::{
    FileSet, Finding, Options, Outcome, Repair, Report, Rule, Severity, catalogue, check, repair,
};
use tracemend_tests::specimens::{ALL, Collection, Specimen};

/// Bytes that a specimen may have, donor aside.
const SIZE_MAX: usize = 64 << 10;
/// The findings of all specimens, which `tracemend explain` shows.
const EXAMPLES: &str = "cli/src/show/examples.txt";

/// Files with their contents; `None` for one that is missing.
type Files = Vec<(String, Option<Vec<u8>>)>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn is_blessing() -> bool {
    std::env::var_os("BLESS").is_some()
}

fn all() -> impl Iterator<Item = Specimen> {
    ALL.iter().flat_map(|collection| (collection.specimens)())
}

/// Runs `check` for every specimen and fails with all complaints.
fn for_each(check: impl Fn(&Specimen, &'static Rule) -> Result<(), String>) {
    let mut wrong = Vec::new();
    for specimen in all() {
        let rule = catalogue::rule(specimen.code).unwrap();
        if let Err(complaint) = check(&specimen, rule) {
            wrong.push(format!("{}: {complaint}", specimen.code));
        }
    }
    assert!(wrong.is_empty(), "{} specimens:\n{}", wrong.len(), wrong.join("\n"));
}

fn ensure(holds: bool, complaint: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(complaint()) }
}

#[test]
fn every_rule_has_a_specimen_or_a_reason_or_is_listed_as_missing() {
    let mut seen: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for collection in &ALL {
        let specimens = (collection.specimens)();
        let codes = specimens.iter().map(|specimen| (specimen.code, "a specimen"));
        let impossible = collection.impossible.iter().map(|(code, reason)| {
            assert!(reason.len() > 20, "{code}: {reason}");
            (*code, "a reason")
        });
        let missing = collection.missing.iter().map(|code| (*code, "listed as missing"));
        for (code, status) in codes.chain(impossible).chain(missing) {
            assert!(code.starts_with(collection.prefix), "{code} in {}", collection.format);
            seen.entry(code).or_default().push(status);
        }
    }
    let mut wrong = Vec::new();
    for rule in catalogue::rules() {
        match seen.remove(rule.code).unwrap_or_default().as_slice() {
            [_] => {}
            [] => wrong.push(format!("{} ({}): no specimen", rule.code, rule.name)),
            several => wrong.push(format!("{}: {}", rule.code, several.join(" and "))),
        }
    }
    wrong.extend(seen.keys().map(|code| format!("{code}: not a rule")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_specimen_breaks_its_rule_once_and_no_other_one() {
    for_each(|specimen, rule| {
        let size: usize = specimen.files.iter().flat_map(|(_, bytes)| bytes).map(Vec::len).sum();
        ensure(size <= SIZE_MAX, || format!("{size} bytes"))?;
        let report = specimen.report();
        ensure(report.count(rule) == 1, || {
            format!("fires {} times:\n{}", report.count(rule), lines_of(&report))
        })?;
        let others: BTreeSet<&str> =
            report.counts().keys().copied().filter(|code| *code != rule.code).collect();
        let also: BTreeSet<&str> = specimen.also.iter().copied().collect();
        ensure(others == also, || format!("also fire {others:?}:\n{}", lines_of(&report)))?;
        let explained = specimen.also.len() + specimen.leaves.len() > 0;
        ensure(explained != specimen.reason.is_empty(), || "the reason does not fit".into())
    });
}

#[test]
fn a_specimen_is_repaired_exactly_if_its_page_names_a_fix() {
    for_each(|specimen, rule| {
        if specimen.is_audited() {
            return ensure(!rule.has_fix(), || "an audit has no fix".into());
        }
        let set = specimen.set();
        let options = specimen.plain_options();
        let unaided = repair(&set.clone().with_donor(None), &options);
        let is_asked_for = specimen.options.choices != options.choices || specimen.donor.is_some();
        if is_asked_for || !rule.has_fix() {
            ensure(!unaided.changes(), || format!("repaired unasked: {}", outcome_of(&unaided)))?;
            let error = unaided.before.has_errors();
            let wanted = if error { Outcome::CannotRepair } else { Outcome::Clean };
            let found = unaided.outcome;
            ensure(found == wanted, || format!("unasked: {found:?}, expected {wanted:?}"))?;
        }
        let result = repair(&set, &specimen.options);
        // A page without a fix may name an option that helps.
        ensure(result.changes() == rule.has_fix() || !rule.has_fix() && is_asked_for, || {
            format!("the page has a fix: {}, but {}", rule.has_fix(), outcome_of(&result))
        })?;
        if result.changes() { is_mended(specimen, rule, &result) } else { Ok(()) }
    });
}

/// Checks what a repair made of a specimen.
fn is_mended(specimen: &Specimen, rule: &Rule, result: &Repair) -> Result<(), String> {
    let set = specimen.set();
    let mended = matches!(result.outcome, Outcome::Repaired | Outcome::RepairedWithLoss);
    ensure(mended, || outcome_of(result))?;
    ensure(result.after.count(rule) == 0 || specimen.leaves.contains(&rule.code), || {
        format!("still fires after {}", outcome_of(result))
    })?;
    let left: BTreeSet<&str> = result.after.counts().keys().copied().collect();
    let leaves: BTreeSet<&str> = specimen.leaves.iter().copied().collect();
    ensure(left == leaves, || format!("leaves {left:?}:\n{}", lines_of(&result.after)))?;
    let output = result.output(&set);
    let files = files_of(&output);
    if let Some(wanted) = &specimen.repaired {
        ensure(*wanted == files, || format!("gives\n{}\nfor\n{}", shown(&files), shown(wanted)))?;
    }
    // Without a word from the user, what was repaired is recognised and as sound as it was found.
    let again = check(&output, &Options::default());
    ensure(
        again.format == result.before.format && again.counts() == result.after.counts(),
        || format!("checked again it is {:?}:\n{}", again.format, lines_of(&again)),
    )?;
    let twice = repair(&output, &specimen.options);
    ensure(!twice.changes(), || format!("a second repair changes it: {}", outcome_of(&twice)))
}

#[test]
fn the_corpus_holds_the_specimens_with_their_reports_and_repairs() {
    let mut wrong = Vec::new();
    for collection in &ALL {
        compare_folder(collection, &mut wrong);
    }
    assert!(wrong.is_empty(), "BLESS=1 writes them anew:\n{}", wrong.join("\n"));
}

/// Compares the folder of a format with its specimens, or writes it.
fn compare_folder(collection: &Collection, wrong: &mut Vec<String>) {
    let folder = root().join("corpus").join(collection.format).join("rules");
    let wanted: BTreeMap<PathBuf, Vec<u8>> =
        (collection.specimens)().iter().flat_map(corpus_files).collect();
    let mut found = BTreeMap::new();
    read_below(&folder, Path::new(""), &mut found);
    if is_blessing() && wanted != found {
        for path in found.keys().filter(|path| !wanted.contains_key(*path)) {
            fs::remove_file(folder.join(path)).unwrap();
        }
        for (path, bytes) in wanted.iter().filter(|(path, bytes)| found.get(*path) != Some(bytes)) {
            fs::create_dir_all(folder.join(path).parent().unwrap()).unwrap();
            fs::write(folder.join(path), bytes).unwrap();
        }
        return;
    }
    for path in wanted.keys().chain(found.keys()).collect::<BTreeSet<_>>() {
        let complaint = match (wanted.get(path), found.get(path)) {
            (Some(wanted), Some(found)) if wanted == found => continue,
            (None, _) => "belongs to no specimen".to_owned(),
            (_, None) => "does not exist".to_owned(),
            (Some(wanted), Some(found)) => difference(wanted, found),
        };
        wrong.push(format!("corpus/{}/rules/{}: {complaint}", collection.format, path.display()));
    }
}

/// Describes the first line or byte in which two files differ.
fn difference(wanted: &[u8], found: &[u8]) -> String {
    if let (Ok(wanted), Ok(found)) = (str::from_utf8(wanted), str::from_utf8(found)) {
        let differs = wanted.lines().zip(found.lines()).find(|(wanted, found)| wanted != found);
        if let Some((wanted, found)) = differs {
            return format!("holds\n  {found}\nexpected\n  {wanted}");
        }
    }
    let at = wanted.iter().zip(found).position(|(wanted, found)| wanted != found);
    let at = at.unwrap_or(wanted.len().min(found.len()));
    format!("differs at {at:#x}; {} bytes, expected {}", found.len(), wanted.len())
}

fn read_below(folder: &Path, name: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    let Ok(entries) = fs::read_dir(folder.join(name)) else { return };
    for entry in entries {
        let entry = entry.unwrap();
        let name = name.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            read_below(folder, &name, found);
        } else {
            found.insert(name, fs::read(entry.path()).unwrap());
        }
    }
}

/// The files of a specimen in the corpus, relative to the folder of its format's rules.
fn corpus_files(specimen: &Specimen) -> Vec<(PathBuf, Vec<u8>)> {
    let code = specimen.code;
    let set = specimen.set();
    let result = (!specimen.is_audited()).then(|| repair(&set, &specimen.options));
    let report = match &result {
        Some(result) => report_of(specimen, result),
        None => audit_of(specimen),
    };
    let mut files = vec![(PathBuf::from(format!("{code}.report")), report.into_bytes())];
    let mut put = |part: &str, recording: Files| {
        let extension = specimen.extension();
        let mut kept: Vec<PathBuf> = Vec::new();
        for (name, bytes) in recording {
            let path = match specimen.is_single() {
                true => PathBuf::from(format!("{code}{part}{extension}")),
                false => PathBuf::from(format!("{code}{part}")).join(name),
            };
            match bytes {
                Some(bytes) => files.push((path, bytes)),
                None => kept.push(path.with_file_name(".gitkeep")),
            }
        }
        // Git keeps no empty folder.
        kept.retain(|kept| files.iter().all(|(path, _)| path.parent() != kept.parent()));
        files.extend(kept.into_iter().map(|path| (path, Vec::new())));
    };
    put("", specimen.files.clone());
    if let Some(result) = result.filter(Repair::changes) {
        put(".repaired", files_of(&result.output(&set)));
    }
    if let Some(donor) = &specimen.donor {
        let extension = specimen.extension();
        files.push((PathBuf::from(format!("{code}.donor{extension}")), donor.clone()));
    }
    files
}

/// Describes the expectation of a specimen, to be read and compared.
fn report_of(specimen: &Specimen, result: &Repair) -> String {
    let mut text = lines_of(&result.before);
    for applied in &result.applied {
        let (round, code) = (applied.round, applied.finding.rule.code);
        let fix = applied.fix().unwrap();
        writeln!(text, "round {round}, {code}, {}: {}", fix.safety, fix.summary).unwrap();
    }
    writeln!(text, "outcome: {}", outcome_of(result)).unwrap();
    if !specimen.reason.is_empty() {
        writeln!(text, "reason: {}", specimen.reason).unwrap();
    }
    text
}

/// Describes what an audit of a specimen finds.
fn audit_of(specimen: &Specimen) -> String {
    let mut text = lines_of(&specimen.report());
    if !specimen.reason.is_empty() {
        writeln!(text, "reason: {}", specimen.reason).unwrap();
    }
    text
}

fn outcome_of(result: &Repair) -> String {
    let mut text = format!("{:?}", result.outcome);
    for (code, count) in result.after.counts() {
        write!(text, ", {code} {count} times").unwrap();
    }
    if let Some(refused) = &result.refused {
        write!(text, ", refused: {refused}").unwrap();
    }
    text
}

fn lines_of(report: &Report) -> String {
    report.findings().iter().map(finding_text).collect()
}

fn finding_text(finding: &Finding) -> String {
    let (severity, code, path) = (finding.severity, finding.rule.code, &finding.path);
    let layer = finding.span.layer();
    let mut text = format!("{severity}[{code}] {path}, {}", finding.span);
    if layer.file > 0 {
        write!(text, " of file {}", layer.file).unwrap();
    }
    if let Some(stored) = finding.stored {
        write!(text, " expanded from {stored}").unwrap();
    }
    writeln!(text, ": {}", finding.message).unwrap();
    for note in &finding.notes {
        writeln!(text, "  note: {note}").unwrap();
    }
    for related in &finding.related {
        writeln!(text, "  at {}: {}", related.span, related.message).unwrap();
    }
    if let Some(fix) = &finding.fix {
        writeln!(text, "  fix ({}): {}", fix.safety, fix.summary).unwrap();
    }
    text
}

fn files_of(set: &FileSet<'_>) -> Files {
    let files = set.files().iter().map(|file| {
        let bytes = || file.bytes.pieces().collect::<Vec<_>>().concat();
        (file.name.clone(), (!file.bytes.is_absent()).then(bytes))
    });
    files.collect()
}

fn shown(files: &Files) -> String {
    let file = |(name, bytes): &(String, Option<Vec<u8>>)| {
        let text = bytes.as_ref().map(|bytes| bytes.escape_ascii().to_string());
        format!("{name}: {}", text.unwrap_or_else(|| "missing".to_owned()))
    };
    files.iter().map(file).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_examples_of_the_pages_are_what_the_command_line_prints() {
    if is_left_to_the_gate("the examples of the pages are what the command line prints") {
        return;
    }
    let mut text = String::new();
    for specimen in all() {
        let path = specimen.path().display().to_string();
        let example = printed_example(&specimen, &path);
        write!(text, "== {} {path}\n{}\n", specimen.code, example.trim_end()).unwrap();
    }
    let path = root().join(EXAMPLES);
    if is_blessing() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &text).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "{EXAMPLES}: {}", difference(text.as_bytes(), found.as_bytes()));
}

/// The finding of a specimen as `tracemend check` prints it, without colour. The page breaks its
/// lines again, so here they are as long as they may be.
fn printed_example(specimen: &Specimen, path: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracemend-under-test"));
    command.current_dir(root()).env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8");
    command.env("COLUMNS", "200");
    command.args([if specimen.is_audited() { "audit" } else { "check" }, path]);
    for code in specimen.also.iter().filter(|_| !specimen.is_audited()) {
        command.args(["--allow", code]);
    }
    if let Some(format) = specimen.options.format {
        command.args(["--type", format.name()]);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    if specimen.is_audited() {
        let (_, own) = text.split_once(&format!("  {} ", specimen.code)).unwrap();
        let own = own.lines().enumerate();
        let own = own.take_while(|(at, line)| *at == 0 || line.starts_with("    "));
        let own: Vec<&str> = own.map(|(_, line)| line.trim()).collect();
        return format!("{} {}", specimen.code, own.join("\n"));
    }
    let is_finding = |line: &str| {
        [Severity::Error, Severity::Warning, Severity::Info]
            .iter()
            .any(|severity| line.contains(&format!(": {severity}[")))
    };
    // The line about the whole recording comes before the findings, which its summary and facts
    // follow.
    let text: String = text.split_inclusive('\n').skip_while(|line| !is_finding(line)).collect();
    let summary = format!("{path}: ");
    let mut lines: Vec<&str> = text.lines().collect();
    let end = lines.iter().rposition(|line| line.starts_with(&summary) && !is_finding(line));
    lines.truncate(end.unwrap_or(lines.len()));
    let shown = lines.join("\n");
    if shown.contains(specimen.code) {
        return shown;
    }
    // It takes an option that only a repair has.
    let report = check(&specimen.set(), &specimen.options);
    let rule = catalogue::rule(specimen.code).unwrap();
    let finding = report.findings().iter().find(|finding| finding.rule == rule).unwrap();
    format!("{path}: {}", finding_text(finding))
}
