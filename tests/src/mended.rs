//! A repair, with its target's bytes.

use tracemend::kit::source::Source;
use tracemend::mend::rounds::{Repair, view};
use tracemend::{Choices, FileSet, Options};

/// Mends a recording of one file and gives the repair and the target.
pub fn mended(bytes: &[u8]) -> (Repair, Vec<u8>) {
    mended_as("perf.data", bytes, &Options::default())
}

/// As [`mended`], with what the user decides.
pub fn mended_with(bytes: &[u8], choices: Choices) -> (Repair, Vec<u8>) {
    mended_as("recording", bytes, &Options { choices, ..Options::default() })
}

/// As [`mended`], of a file of this name, told what `options` say.
pub fn mended_as(name: &str, bytes: &[u8], options: &Options) -> (Repair, Vec<u8>) {
    of(&FileSet::single(name, bytes), options)
}

/// As [`mended`], with a recording to take lost parts from, told what `options` say.
pub fn mended_from(bytes: &[u8], donor: &[u8], options: &Options) -> (Repair, Vec<u8>) {
    of(&FileSet::single("recording", bytes).with_donor(Some(Source::new(donor))), options)
}

fn of(files: &FileSet<'_>, options: &Options) -> (Repair, Vec<u8>) {
    let repair = tracemend::repair(files, options);
    let target = view(files, &repair.patches).bytes(0).pieces().collect::<Vec<_>>().concat();
    (repair, target)
}
