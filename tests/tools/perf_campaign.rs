//! Damages sound perf.data files, checks and repairs them, and asks perf what it makes of them:
//!
//! ```sh
//! cargo run --release -p tracemend-tools --bin perf_campaign -- 3000 [SEED] [FILE|FOLDER]...
//! ```
//!
//! Without files, those of `corpus/perf/clean` and the forged ones that perf reads are damaged. The
//! table has a line per kind of damage. `PERF_CAMPAIGN_LIST=1` also lists each disagreement with
//! the seed that makes it again, `case SEED FOLDER` writes the files of that seed, and `seeds
//! SEED,SEED...` runs these cases only. The perf of the PATH judges: put a folder with a link named
//! `perf` to another version before the others.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::path::{Path, PathBuf};

use tracemend_tests::properties::perf::{Campaign, Table, originals, originals_in};

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if(|first| first == "case").is_some() {
        let seed = arguments.next().unwrap().parse().unwrap();
        let folder = PathBuf::from(arguments.next().unwrap());
        let paths: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
        return write_case(seed, &folder, &paths);
    }
    if arguments.next_if(|first| first == "seeds").is_some() {
        let seeds = arguments.next().unwrap();
        let paths: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
        let seeds = seeds.split(',').map(|seed| seed.parse::<u64>().unwrap());
        return print(&prepare(&paths).run_seeds(seeds));
    }
    let count: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(300);
    let seed: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let paths: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    let campaign = prepare(&paths);
    println!("{count} files from seed {seed}; {} originals", campaign.originals().len());
    print(&campaign.run(seed, count));
}

fn print(table: &Table) {
    println!("{table}");
    if std::env::var_os("PERF_CAMPAIGN_LIST").is_some() {
        table.disagreements().for_each(|line| println!("{line}"));
    }
}

fn prepare(paths: &[PathBuf]) -> Campaign {
    let originals = if paths.is_empty() { originals() } else { originals_in(paths) };
    let is_judged = std::env::var_os("PERF_CAMPAIGN_NO_JUDGE").is_none();
    Campaign::new(originals, is_judged)
}

/// Writes the files of one case.
fn write_case(seed: u64, folder: &Path, paths: &[PathBuf]) {
    std::fs::create_dir_all(folder).unwrap();
    for (name, bytes) in prepare(paths).files_of(seed).into_iter().flatten() {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}
