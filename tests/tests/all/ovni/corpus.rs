//! Every ovni trace of the corpus gives the findings and the repair that are written beside it.
//!
//! `BLESS=1` writes `NAME.expect` anew; read the difference before you commit it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tracemend::FormatId;
use tracemend::mend::rounds::view;
use tracemend::{Options, Outcome, Severity};
use tracemend_tests::forge::ovni::Trace;

fn folder(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/ovni").join(kind)
}

/// The traces of a folder, with their paths.
fn traces(kind: &str) -> Vec<(PathBuf, Trace)> {
    let entries = std::fs::read_dir(folder(kind)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.is_dir());
    paths.sort();
    let read = |path: PathBuf| {
        let trace = Trace::below(&path);
        (path, trace)
    };
    paths.into_iter().map(read).collect()
}

#[test]
fn clean_traces_give_no_warning_and_stay_unchanged() {
    let traces = traces("clean");
    assert!(traces.len() >= 6, "only {}", traces.len());
    for (path, trace) in traces {
        let repair = tracemend::repair(&trace.set(), &Options::default());
        let findings = repair.before.findings();
        let worse = findings.iter().find(|finding| finding.severity > Severity::Info);
        assert_eq!(worse, None, "{}", path.display());
        assert_eq!(repair.before.format, Some(FormatId::OVNI));
        assert_eq!((repair.outcome, repair.changes()), (Outcome::Clean, false));
    }
}

#[test]
fn crashed_traces_give_the_expected_findings_and_repairs() {
    let traces = traces("crashed");
    assert!(traces.len() >= 6, "only {}", traces.len());
    for (path, trace) in traces {
        let set = trace.set();
        let repair = tracemend::repair(&set, &Options::default());
        let mut text = format!("outcome {:?}\n", repair.outcome);
        for finding in repair.before.findings() {
            let (rule, span) = (finding.rule, finding.span);
            let name = &set.files().get(usize::try_from(span.layer().file).unwrap()).unwrap().name;
            writeln!(text, "{} {} {name} {span} {}", rule.code, rule.name, finding.message)
                .unwrap();
        }
        for applied in &repair.applied {
            let fix = applied.fix().unwrap();
            writeln!(text, "round {} {}: {}", applied.round, fix.safety, fix.summary).unwrap();
        }
        let target = view(&set, &repair.patches);
        for (old, new) in set.files().iter().zip(target.files()) {
            let crc = tracemend::mend::plan::Digest::of(&new.bytes).crc32;
            let (from, to) = (old.bytes.len(), new.bytes.len());
            writeln!(text, "{} {from} -> {to} bytes, CRC-32 {crc}", new.name).unwrap();
        }
        let expected = path.with_extension("expect");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&expected, &text).unwrap();
        }
        assert_eq!(text, std::fs::read_to_string(&expected).unwrap(), "{}", path.display());
        assert!(matches!(repair.outcome, Outcome::Repaired | Outcome::RepairedWithLoss));
        assert_eq!(repair.after.worst().filter(|worst| *worst > Severity::Info), None);
    }
}
