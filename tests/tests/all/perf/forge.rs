//! The forge's recordings are sound, and the check says so.

use tracemend::{FileSet, Options};
use tracemend_tests::forge::perf;

#[test]
fn a_sound_recording_gives_no_error_and_no_warning() {
    let mut wrong = Vec::new();
    for (name, bytes) in perf::all() {
        let report = tracemend::check(&FileSet::single(name, &bytes), &Options::default());
        for finding in report.findings().iter().filter(|f| f.severity > tracemend::Severity::Info) {
            wrong.push(format!(
                "{name}: {} {} {}: {}",
                finding.rule.code, finding.span, finding.path, finding.message
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
