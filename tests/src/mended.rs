//! A repair, with its target's bytes.

use tracemend::mend::edit::Safety;
use tracemend::mend::rounds::{Repair, view};
use tracemend::{FileSet, Options};

/// Mends a recording of one file and gives the repair and the target.
pub fn mended(bytes: &[u8]) -> (Repair, Vec<u8>) {
    let files = FileSet::single("perf.data", bytes);
    let repair = tracemend::repair(&files, &Options::default(), Safety::Lossy);
    let target = view(&files, &repair.patches).bytes(0).pieces().collect::<Vec<_>>().concat();
    (repair, target)
}
