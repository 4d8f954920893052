//! Looks for recordings on which the formats' own readers crash, hang, or print nothing and exit
//! with 0, each with one change to a sound recording that it reads:
//!
//! ```sh
//! cargo run -p tracemend-tools --bin reader_faults -- READER CASES SEED FOLDER
//! ```
//!
//! READER is perf, apitrace or ovni. Of each pair of an end and the first code that tracemend
//! reports, the first recording is kept in FOLDER, and a line names the command, the end, the
//! sound recording and the change. `corpus/readers` holds those that are ready to be reported.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use tracemend::{FileSet, FormatId, Options};
use tracemend_tests::judge::readers::{READERS, Reader};
use tracemend_tests::known_originals::{Dice, Files, SUBJECTS, set};

/// Bytes of the longest recording that is changed.
const LEN_MAX: usize = 64 << 10;
/// Values that readers seldom expect.
const VALUES: [u64; 12] =
    [0, 1, 7, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 40, u64::MAX];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, cases, seed, folder] = arguments.as_slice() else {
        eprintln!("usage: reader_faults READER CASES SEED FOLDER");
        return ExitCode::from(2);
    };
    let Some(reader) = READERS.iter().find(|reader| reader.name == name) else {
        eprintln!("no reader {name}");
        return ExitCode::from(2);
    };
    let (cases, seed) = (cases.parse().unwrap(), seed.parse().unwrap());
    search(reader, cases, seed, Path::new(folder));
    ExitCode::SUCCESS
}

fn search(reader: &Reader, cases: u64, seed: u64, folder: &Path) {
    let format: FormatId = reader.format.parse().unwrap();
    let subject = SUBJECTS.iter().find(|subject| subject.format == format).unwrap();
    let len = |files: &Files| files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
    // apitrace, for example, reads no zstd.
    let is_read = |files: &Files| {
        reader.commands.iter().all(|command| !reader.run(command, files).is_fault())
    };
    let short = subject.originals.iter().filter(|original| len(&original.files) <= LEN_MAX);
    let originals: Vec<_> = short.filter(|original| is_read(&original.files)).collect();
    let mut seen = BTreeSet::new();
    for case in 0..cases {
        let mut dice = Dice::seeded(seed.wrapping_mul(1 << 32).wrapping_add(case));
        let original = originals[dice.below(originals.len())];
        let mut files = original.files.clone();
        let change = change(&mut files, &mut dice);
        for command in reader.commands {
            let end = reader.run(command, &files);
            if !end.is_fault() {
                continue;
            }
            let code = first_code(&set(&files));
            if seen.insert((*command, end, code.clone())) {
                let number = seen.len();
                keep(&folder.join(format!("{}-{number}", reader.name)), &files);
                println!(
                    "{number}\t{}\t{}\t{code}\t{}: {change}",
                    command.join(" "),
                    end.describe(),
                    original.name
                );
            }
        }
    }
}

/// Changes one number, or cuts a file.
fn change(files: &mut Files, dice: &mut Dice<'_>) -> String {
    let (index, count) = (dice.below(files.len()), files.len());
    let (name, bytes) = &mut files[index];
    let at = dice.below(bytes.len());
    let place = if count > 1 { format!("{name} {at:#x}") } else { format!("{at:#x}") };
    if dice.below(8) == 0 {
        bytes.truncate(at);
        return format!("cut at {place}");
    }
    let size = [1, 1, 2, 4, 4, 8][dice.below(6)];
    let at = at / size * size;
    let value = VALUES[dice.below(VALUES.len())].to_le_bytes();
    let end = bytes.len().min(at + size);
    bytes[at..end].copy_from_slice(&value[..end - at]);
    format!("{size} bytes at {place} are {}", u64::from_le_bytes(value))
}

fn first_code(files: &FileSet<'_>) -> String {
    let report = tracemend::check(files, &Options::default());
    let first = report.findings().iter().max_by_key(|finding| finding.severity);
    first.map_or_else(|| "clean".to_string(), |finding| finding.rule.code.to_string())
}

fn keep(path: &Path, files: &Files) {
    let [(_, bytes)] = files.as_slice() else {
        for (name, bytes) in files {
            let path = path.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        return;
    };
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}
