//! Measures an earlier version of tracemend and this one in turns: the ledger of speed.
//!
//! ```text
//! tracemend-benches compare EARLIER [MB] [WORD]   recordings of MB megabytes (20)
//! ```
//!
//! EARLIER is a commit, which is built in a work tree of its own, or the path of a program. A bench
//! is one command on one recording; WORD selects the benches that have it in their names. Time is
//! the processor time of the whole process, user and system, and memory its largest resident set,
//! with the pages of the recording. The versions take turns, and the least of each counts.

mod inputs;
mod versions;

use std::error::Error;
use std::path::Path;
use std::process::Command;

pub(crate) use inputs::{LARGE, cut, write_inputs};
pub(crate) use versions::{build_this, root};

use inputs::{REPORTS, list_benches};
use versions::build_commit;

use crate::process::{Cost, run};

const ROUNDS: usize = 7;
/// Lowest ratio of earlier to this that is not marked: 5 % worse.
const WORST: f64 = 0.95;

/// The least costs of both versions, the earlier one first, and the ratio of times of each round.
struct Measured {
    least: [Cost; 2],
    ratios: Vec<f64>,
}

/// Builds both versions, measures all benches and prints a table.
pub(crate) fn measure(earlier: &str, megabytes: u64, word: &str) -> Result<(), Box<dyn Error>> {
    let programs = match Path::new(earlier) {
        path if path.is_file() => [path.canonicalize()?, build_this()?],
        _ => [build_commit(earlier)?, build_this()?],
    };
    let folder = tempfile::tempdir()?;
    // In a process of its own: the memory of a process counts for those that it starts.
    let writer = Command::new(std::env::current_exe()?)
        .arg("compare-inputs")
        .args([folder.path().as_os_str(), megabytes.to_string().as_ref()])
        .status()?;
    if !writer.success() {
        return Err("the recordings cannot be written".into());
    }
    println!("earlier: {earlier}; recordings of {megabytes} MB, best of {ROUNDS} rounds\n");
    println!("| bench | earlier | this | earlier / this | peak | this | earlier / this | |");
    println!("|---|---:|---:|---:|---:|---:|---:|---|");
    let mut marked = 0;
    for (name, args) in list_benches(folder.path())? {
        if !name.contains(word) {
            continue;
        }
        let programs = [programs[0].as_path(), programs[1].as_path()];
        match measure_bench(programs, folder.path(), &args)? {
            Ok(result) => marked += usize::from(print_row(&name, &result)),
            Err(reason) => println!("| {name} | | | | | | | {reason} |"),
        }
    }
    println!("\nworse by more than 5 %: {marked}");
    Ok(())
}

/// Runs both versions in turns. Without a result: one of them does not know the command.
fn measure_bench(
    programs: [&Path; 2],
    folder: &Path,
    args: &[String],
) -> Result<Result<Measured, String>, Box<dyn Error>> {
    let mut least = [Cost::MAX; 2];
    let mut ratios = Vec::new();
    // Round 0 brings the pages into the cache.
    for round in 0..=ROUNDS {
        let mut times = [0.0; 2];
        for turn in 0..2 {
            // The order changes, so that neither version always runs after the other.
            let which = (turn + round) % 2;
            let args: Vec<String> =
                args.iter().map(|arg| arg.replace(REPORTS, &which.to_string())).collect();
            let cost = match run(programs[which], folder, &args)? {
                Ok(cost) => cost,
                Err(status) => {
                    let name = ["earlier", "this"][which];
                    return Ok(Err(format!("{name}: exit status {status}")));
                }
            };
            times[which] = cost.seconds;
            if round > 0 {
                least[which] = least[which].min(cost);
            }
        }
        if round > 0 {
            ratios.push(times[0] / times[1]);
        }
    }
    ratios.sort_by(f64::total_cmp);
    Ok(Ok(Measured { least, ratios }))
}

/// Prints a row of the table; returns whether it is marked.
fn print_row(name: &str, result: &Measured) -> bool {
    let [earlier, this] = result.least;
    let (time, memory) = (earlier.seconds / this.seconds, earlier.megabytes / this.megabytes);
    let (first, last) = (result.ratios[0], result.ratios[ROUNDS - 1]);
    let slower = match time < WORST {
        true if last < 1.0 => "SLOWER ",
        // Some round shows the opposite.
        true => "SLOWER? ",
        false => "",
    };
    let mark = format!("{slower}{}", if memory < WORST { "MORE MEMORY" } else { "" });
    println!(
        "| {name} | {:.1} ms | {:.1} ms | {time:.2} ({first:.2} .. {last:.2}) | {:.1} MB | \
         {:.1} MB | {memory:.2} | {mark} |",
        earlier.seconds * 1e3,
        this.seconds * 1e3,
        earlier.megabytes,
        this.megabytes,
    );
    !mark.is_empty()
}
