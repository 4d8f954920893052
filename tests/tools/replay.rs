//! Runs a fuzz target over inputs, for example those of a campaign that failed, without libFuzzer:
//!
//! ```text
//! cargo run --release -p tracemend-tools --bin replay -- TARGET FILE...
//! ```
//!
//! Prints each input that breaks a law, and the law. The status is 1 if one does. Of targets whose
//! originals are known, the original, the damaged and the repaired files of such an input are
//! written to the folder that the variable REPLAY_OUT names.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::path::Path;
use std::process::ExitCode;

use tracemend_tests::known_originals::{Files, SUBJECTS, case_of};
use tracemend_tests::properties::allocation::Counting;
use tracemend_tests::properties::targets::TARGETS;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let Some((_, target)) = TARGETS.iter().find(|target| target.0 == name) else {
        eprintln!("no target has the name {name:?}");
        return ExitCode::from(2);
    };
    let (mut held, mut broken) = (0, 0);
    for path in arguments {
        let bytes = std::fs::read(&path).unwrap();
        match target(&bytes) {
            Ok(()) => held += 1,
            Err(law) => {
                broken += 1;
                println!("{path}: {law}\n");
                if let Some(folder) = std::env::var_os("REPLAY_OUT") {
                    write_case(&name, &bytes, &Path::new(&folder).join(broken.to_string()));
                }
            }
        }
    }
    println!("{held} hold, {broken} do not");
    ExitCode::from(u8::from(broken > 0))
}

/// Writes the files of a case, if the target has known originals.
fn write_case(target: &str, bytes: &[u8], folder: &Path) {
    let format = target.strip_suffix("_damaged");
    let subject = SUBJECTS.into_iter().find(|subject| Some(subject.format.name()) == format);
    let Some(subject) = subject else { return };
    let case = case_of(subject, bytes);
    let original = subject.originals.iter().find(|original| original.name == case.original);
    let original = original.map(|original| &original.files);
    let write = |name: &str, files: &Files| {
        for (file, bytes) in files {
            let path = folder.join(name).join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
    };
    original.into_iter().for_each(|files| write("original", files));
    write("damaged", &case.damaged.files);
    write("repaired", &case.output);
}
