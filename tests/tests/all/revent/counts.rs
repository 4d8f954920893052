//! The count of events after some were lost.

use tracemend::{Options, Outcome};
use tracemend_tests::forge::revent::{Layout, session};
use tracemend_tests::mended::mended_as;

#[test]
fn the_pair_of_the_recorder_is_not_counted_after_events_were_lost() {
    let mut cases = 0;
    for layout in [Layout::V2, Layout::V3] {
        let mut recording = session(layout);
        recording.enter();
        let built = recording.build();
        let pair = &built.bytes[built.bytes.len() - 2 * layout.stride()..];
        for (lost, inserted) in (1..=2).flat_map(|lost| (1..26).map(move |len| (lost, len))) {
            for index in [4, 9, 14] {
                let (from, to) = (built.at(index), built.at(index + lost));
                let noise = vec![0xff; inserted];
                let damaged = [&built.bytes[..from], &noise, &built.bytes[to..]].concat();
                let (repair, target) = mended_as("a.run.revent", &damaged, &Options::default());
                let is_repaired =
                    matches!(repair.outcome, Outcome::Repaired | Outcome::RepairedWithLoss);
                if !is_repaired || !target.ends_with(pair) {
                    continue;
                }
                let count = *target[built.prefix..].first_chunk::<8>().unwrap();
                let count = usize::try_from(u64::from_le_bytes(count)).unwrap();
                let case = format!("{} without {lost} of {index}, {inserted} more", layout.name());
                assert_eq!(built.at(count), target.len() - pair.len(), "{case}");
                cases += 1;
            }
        }
    }
    assert!(cases >= 200, "{cases} cases");
}
