//! A small share of the campaign over damaged files; `examples/perf_campaign.rs` runs it at length.

use tracemend_tests::properties::perf::{Campaign, Mark, originals};

/// Cases of the share, without perf: hundreds per second.
const CASES: u64 = 400;

#[test]
fn damaged_files_are_restored_and_no_exact_fix_writes_other_bytes() {
    let table = Campaign::new(originals(), false).run(1, CASES);
    let cases = table.cases();
    assert!(cases > 250, "{table}");
    let wrong: Vec<String> = table.disagreements().collect();
    let text = wrong.join("\n");
    assert_eq!(table.count(Mark::FalseExact), 0, "{table}\n{text}");
    assert!(table.count(Mark::Refused) * 8 <= cases, "{table}\n{text}");
    assert!(table.count(Mark::Restored) * 4 >= cases, "{table}\n{text}");
}
