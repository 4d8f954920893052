//! A small share of the campaign over damaged files; `tests/tools/perf_campaign.rs` runs it at
//! length.

use tracemend_tests::properties::perf::{Campaign, Mark, originals};
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

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

#[test]
fn perf_makes_the_same_of_a_file_twice_and_evlist_shows_a_field_that_script_does_not() {
    if is_left_to_the_gate(
        "perf makes the same of a file twice and evlist shows a field that script does not",
    ) {
        return;
    }
    let wanted: Vec<_> = originals().into_iter().filter(|(_, bytes)| bytes[8] == 104).collect();
    let campaign = Campaign::new(Share::one_in(1).of(wanted.into_iter().take(3)).collect(), true);
    for (index, original) in campaign.originals().iter().enumerate() {
        let Some(twice) = campaign.compare(index, &original.bytes) else { return };
        assert_eq!(twice, (false, false));
        let mut damaged = original.bytes.clone();
        let attrs = u64::from_le_bytes(damaged[24..32].try_into().unwrap());
        // wakeup_events, which only the kernel reads.
        damaged[usize::try_from(attrs).unwrap() + 51] ^= 1;
        assert_eq!(campaign.compare(index, &damaged), Some((false, true)));
    }
    assert!(!campaign.originals().is_empty());
}
