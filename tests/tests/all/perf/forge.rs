//! The forge's recordings are sound, and the check says so.

use tracemend::{FileSet, Options, Severity};
use tracemend_tests::forge::perf::{self, Attr, Order, Recording, sample_type as bit};

#[test]
fn a_sound_recording_gives_no_error_and_no_warning() {
    let mut wrong = Vec::new();
    for (name, bytes) in perf::all() {
        let report = tracemend::check(&FileSet::single(name, &bytes), &Options::default());
        for finding in report.findings().iter().filter(|f| f.severity > Severity::Info) {
            wrong.push(format!(
                "{name}: {} {} {}: {}",
                finding.rule.code, finding.span, finding.path, finding.message
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Together they have as many ids as the attr table, and are no copy of it.
#[test]
fn two_lists_of_the_same_ids_are_not_one_list_of_all_ids() {
    let sample_type = bit::IDENTIFIER | bit::TID | bit::TIME;
    let attr = |ids: &[u64]| Attr::cpu_clock(sample_type).with_ids(ids);
    for order in [Order::Little, Order::Big] {
        let attrs = vec![attr(&[11, 12, 13]), attr(&[21]), attr(&[31, 32])];
        let mut recording = Recording::new(order, attrs);
        let index = recording.maker(0).id_index();
        let named = recording.maker(2).sample();
        recording.extend([index.clone(), index, named]);
        let bytes = recording.build().bytes;
        let report = tracemend::check(&FileSet::single("data", &bytes), &Options::default());
        let worst = report.findings().iter().find(|found| found.severity > Severity::Info);
        assert!(worst.is_none(), "{order:?}: {worst:?}");
    }
}
