//! What the rules of perf.data do together. Each by itself has a specimen (`specimens/perf.rs`).

use tracemend_tests::forge::perf::by_name;
use tracemend_tests::mended::mended;

#[test]
fn ids_that_cannot_be_read_are_not_held_against_the_samples() {
    let built = by_name("two_events_by_identifier").built;
    let (repair, target) = mended(&built.ids_section_outside(0));
    assert_eq!(
        repair.before.counts().keys().collect::<Vec<_>>(),
        ["PD0007"].iter().collect::<Vec<_>>()
    );
    assert_eq!(repair.before.counts()["PD0007"], 1);
    assert_eq!(target.len(), built.bytes.len());
}
