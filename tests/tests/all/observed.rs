//! The fuzz targets see the same as before of the inputs that campaigns kept.
//!
//! `fuzz/seeds/TARGET.observed` has a line for each input: the beginning of its name and the CRC-32
//! of what [`observed::during`] gives. Another number is a change that a user could see, meant or
//! not. To find out what changed, run this with `OBSERVED=FOLDER` at both commits, which writes
//! what was noted to `FOLDER/TARGET/INPUT`, and compare the folders. `BLESS=1` writes the lines
//! anew; a campaign, which chooses other inputs, makes that necessary too.

use std::fs;
use std::path::Path;

use tracemend_tests::properties::{observed, targets};
use tracemend_tests::sweep::Share;

use crate::properties::kept_inputs;

/// Letters of the name of an input, a SHA-1, that its line has.
const NAME_LEN: usize = 8;
/// The gate compares one input in this many: the same ones each time, because a change has to be
/// seen by the run that makes it. `TRACEMEND_EXHAUSTIVE=1` compares all.
const ONE_IN: u64 = 4;
/// Lines that a failure shows.
const SHOWN: usize = 8;

macro_rules! targets {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                compare(stringify!($name));
            }
        )*

        #[test]
        fn every_target_is_compared() {
            let all = targets::TARGETS.map(|(name, _)| name);
            assert_eq!([$(stringify!($name)),*], all);
        }
    };
}

targets! {
    apitrace_container apitrace_stream apitrace_mutated apitrace_structured apitrace_damaged
    perf_check perf_repair perf_donor perf_structured perf_damaged
    qemu_repair qemu_structured qemu_damaged
    revent_repair revent_structured revent_damaged
    ovni_stream ovni_json ovni_trace ovni_structured ovni_damaged
    patch plan zstd views texts transport
}

/// Compares what a target observes with its file.
fn compare(name: &str) {
    let (_, target) = targets::TARGETS.iter().find(|target| target.0 == name).unwrap();
    let keeps = std::env::var_os("OBSERVED").map(|folder| Path::new(&folder).join(name));
    let is_blessed = std::env::var_os("BLESS").is_some();
    let share = if is_blessed || keeps.is_some() { Share::ALL } else { Share::fixed(ONE_IN) };
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds");
    let file = seeds.join(format!("{name}.observed"));
    let inputs = kept_inputs(name);
    let mut lines = Vec::new();
    for at in share.of(0..inputs.len()) {
        let (input, bytes) = &inputs[at];
        let noted = observed::during(|| target(bytes));
        let noted = noted.unwrap_or_else(|broken| panic!("{name} {input}: {broken}"));
        let input = input.trim_start_matches("./");
        if let Some(folder) = &keeps {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join(input), &noted).unwrap();
        }
        let short: String = input.chars().take(NAME_LEN).collect();
        lines.push((at, format!("{short} {:08x}", crc32fast::hash(&noted))));
    }
    if is_blessed {
        let text: String = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
        fs::write(&file, text).unwrap();
    }
    let held = fs::read_to_string(&file).unwrap_or_default();
    let held: Vec<&str> = held.lines().collect();
    let is_held = |at: usize, line: &str| held.get(at).is_some_and(|was| *was == line);
    let now = lines.iter().filter(|(at, line)| !is_held(*at, line));
    let differing: Vec<&String> = now.map(|(_, line)| line).collect();
    assert!(
        inputs.len() == held.len() && differing.is_empty(),
        "{name}: {} inputs of {}, other observations of {}: {:?}; see {}",
        inputs.len(),
        held.len(),
        differing.len(),
        &differing[..differing.len().min(SHOWN)],
        file!(),
    );
}
