//! What the rules of perf.data do together. Each by itself has a specimen (`specimens/perf.rs`).

use tracemend_tests::forge::perf::by_name;
use tracemend_tests::mended::mended;

#[test]
fn ids_outside_of_the_file_are_restored_by_what_surrounds_them() {
    let built = by_name("two_events_by_identifier").built;
    let (repair, target) = mended(&built.ids_section_outside(0));
    assert_eq!(repair.before.counts().keys().collect::<Vec<_>>(), [&"PD0022"]);
    assert_eq!(target, built.bytes);
}
