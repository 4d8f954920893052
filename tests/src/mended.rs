//! Repairs with the bytes of their targets.

use tracemend::kit::source::Source;
use tracemend::mend::rounds::{Repair, view};
use tracemend::{Choices, FileSet, Options};

/// Repairs a recording of one file and returns the repair and the target.
pub fn mended(bytes: &[u8]) -> (Repair, Vec<u8>) {
    mended_as("perf.data", bytes, &Options::default())
}

/// Repairs like [`mended`], with options of the format.
pub fn mended_with(bytes: &[u8], choices: Choices) -> (Repair, Vec<u8>) {
    mended_as("recording", bytes, &Options { choices, ..Options::default() })
}

/// Repairs like [`mended`], with a file name and options.
pub fn mended_as(name: &str, bytes: &[u8], options: &Options) -> (Repair, Vec<u8>) {
    of(&FileSet::single(name, bytes), options)
}

/// Repairs like [`mended`], with a donor and options.
pub fn mended_from(bytes: &[u8], donor: &[u8], options: &Options) -> (Repair, Vec<u8>) {
    of(&FileSet::single("recording", bytes).with_donor(Some(Source::new(donor))), options)
}

fn of(files: &FileSet<'_>, options: &Options) -> (Repair, Vec<u8>) {
    let repair = tracemend::repair(files, options);
    let target = view(files, &repair.patches).bytes(0).pieces().collect::<Vec<_>>().concat();
    (repair, target)
}
