//! Broken Recordings: breaks sound recordings, has a tool repair them, and asks the readers of the
//! formats what they show:
//!
//! ```sh
//! cargo run --release -p tracemend-tools --bin broken_recordings -- \
//!     --tool '/path/to/tracemend repair {in} -o {out} --format json' --cases 30 --seed 1
//! ```
//!
//! `--tool` names any command; without it, tracemend is looked up in the PATH. `--cases N` of each
//! format, kind and number of damages; `--seed S`; `--only NAME` instead of all formats or all
//! kinds of damage; `--count N` instead of 1, 2, 4 and 8 damages. Paths are further sound
//! recordings, which join the forged ones and those of the corpus; `--record` adds new ones of the
//! perf that is installed, which differ from run to run. `--case NAME --keep FOLDER` runs one case
//! and writes its recordings; `--keep FOLDER` alone does so for each case that misses a goal.
//! `--jobs N` cases at a time, 1 without it. `docs/broken-recordings.md` explains the tables.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tracemend::FormatId;
use tracemend_tests::broken::damage::{COUNTS, Kind};
use tracemend_tests::broken::table::Table;
use tracemend_tests::broken::tool::{Tool, write_files};
use tracemend_tests::broken::{Case, Number, Series};
use tracemend_tests::judge::ALL;
use tracemend_tests::judge::perf::Perf;
use tracemend_tests::judge::perf::agreement::recordings;
use tracemend_tests::known_originals::{Files, Original, SUBJECTS};

/// The tool without `--tool`.
const DEFAULT: &str = "tracemend repair {in} -o {out} --format json";
/// The judges that are asked.
const JUDGES: [&str; 5] = ["perf", "apitrace", "ovniemu", "qemu", "wlauto"];

/// The choices of a run.
struct Choices {
    command: String,
    cases: usize,
    seed: u64,
    jobs: usize,
    /// Names of formats and kinds; empty for all.
    only: Vec<String>,
    counts: Vec<usize>,
    case: Option<String>,
    keep: Option<PathBuf>,
    records: bool,
    paths: Vec<PathBuf>,
}

/// Returns the names of the formats and of the kinds of damage.
fn names() -> [Vec<&'static str>; 2] {
    let formats = SUBJECTS.iter().map(|subject| subject.format.name()).collect();
    [formats, Kind::ALL.iter().map(|kind| kind.name()).collect()]
}

/// Returns a name that is that of a format or of a kind of damage; any other would choose all.
fn one_of_all(name: String) -> String {
    let all = names().concat();
    assert!(all.contains(&name.as_str()), "--only {name}: not one of {}", all.join(", "));
    name
}

impl Choices {
    fn read() -> Self {
        let mut choices = Self {
            command: DEFAULT.to_string(),
            cases: 30,
            seed: 1,
            jobs: 1,
            only: Vec::new(),
            counts: Vec::new(),
            case: None,
            keep: None,
            records: false,
            paths: Vec::new(),
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().expect("a value after the option");
            match word.as_str() {
                "--tool" => choices.command = value(),
                "--cases" => choices.cases = value().parse().unwrap(),
                "--seed" => choices.seed = value().parse().unwrap(),
                "--jobs" => choices.jobs = value().parse().unwrap(),
                "--only" => choices.only.push(one_of_all(value())),
                "--count" => choices.counts.push(value().parse().unwrap()),
                "--case" => choices.case = Some(value()),
                "--record" => choices.records = true,
                "--keep" => choices.keep = Some(value().into()),
                option if option.starts_with("--") => {
                    eprintln!("unknown option {option}");
                    std::process::exit(2);
                }
                _ => choices.paths.push(word.into()),
            }
        }
        if choices.counts.is_empty() {
            choices.counts = COUNTS.to_vec();
        }
        choices
    }

    /// Returns the numbers of the cases of a format.
    fn numbers(&self, format: FormatId) -> Vec<Number> {
        let [formats, kinds] = names();
        let is_chosen = |name: &str, all: &[&str]| {
            let mut chosen = self.only.iter().filter(|one| all.contains(&one.as_str())).peekable();
            chosen.peek().is_none() || chosen.any(|one| one == name)
        };
        let mut numbers = Vec::new();
        for kind in Kind::ALL.into_iter().filter(|kind| is_chosen(kind.name(), &kinds)) {
            for count in &self.counts {
                let all = (0..self.cases).map(|number| Number { kind, count: *count, number });
                numbers.extend(all);
            }
        }
        if let Some(case) = &self.case {
            let parts: Vec<&str> = case.split('/').collect();
            let kind = Kind::ALL.into_iter().find(|kind| kind.name() == parts[1]).unwrap();
            let [count, number] = [2, 3].map(|part| parts[part].parse().unwrap());
            numbers = vec![Number { kind, count, number }];
            numbers.retain(|_| parts[0] == format.name());
        }
        numbers.retain(|_| is_chosen(format.name(), &formats));
        numbers
    }
}

fn main() {
    let choices = Choices::read();
    let tool = Tool::new(&choices.command).unwrap();
    describe_run(&choices);
    let mut further: Vec<Original> = choices.paths.iter().map(|path| original(path)).collect();
    if choices.records {
        further.extend(record());
    }
    let table = Mutex::new(Table::default());
    for subject in SUBJECTS {
        let numbers = choices.numbers(subject.format);
        if numbers.is_empty() {
            continue;
        }
        let name = subject.format.name();
        let is_of = |original: &&Original| format_of(&original.files) == Some(subject.format);
        let further: Vec<Original> = further.iter().filter(is_of).cloned().collect();
        let series = match Series::find(subject.format, &further) {
            Ok(series) => series,
            Err(reason) => {
                println!("- **{name} is skipped: its reader is missing ({reason})**");
                continue;
            }
        };
        let records: usize = series.sound.iter().map(|sound| sound.shown.len()).sum();
        println!("- {name}: {} sound recordings, {records} records", series.sound.len());
        for (reason, names) in &series.unused {
            println!("  - {} not used: {reason}", names.len());
            eprintln!("{name}: {reason}: {}", names.join(", "));
        }
        run_all(&choices, &tool, &series, &numbers, &table);
    }
    println!("\n{}", table.into_inner().unwrap().describe());
}

/// Makes recordings with perf.
fn record() -> Vec<Original> {
    let folder = tempfile::tempdir().unwrap();
    let made = Perf::find().and_then(|perf| recordings(&perf, folder.path()));
    let made = made.unwrap_or_else(|reason| {
        println!("- **perf cannot record here: {reason}**");
        Vec::new()
    });
    made.into_iter().map(|(name, bytes)| Original::single(name, bytes)).collect()
}

/// Prints the choices and the versions of tool and readers.
fn describe_run(choices: &Choices) {
    println!("- tool: `{}`, {}", choices.command, version(&choices.command));
    println!("- seed {}, {} cases of each kind and count", choices.seed, choices.cases);
    for judge in ALL.iter().filter(|judge| JUDGES.contains(&judge.name)) {
        match (judge.probe)() {
            Ok(version) => println!("- judge {}: {version}", judge.name),
            Err(reason) => println!("- **missing {}**", judge.describe_missing(&reason)),
        }
    }
}

/// Returns the answer of a command to `--version`.
fn version(command: &str) -> String {
    let program = command.split_whitespace().next().unwrap_or_default();
    let output = Command::new(program).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.unwrap_or_default().lines().next().unwrap_or("unknown version").to_string()
}

/// Runs cases, several at a time.
fn run_all(
    choices: &Choices,
    tool: &Tool,
    series: &Series,
    numbers: &[Number],
    table: &Mutex<Table>,
) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(case) = series.run(tool, choices.seed, *number) else {
                eprintln!("{number:?}: the recording is too small");
                continue;
            };
            if choices.case.is_some() {
                println!("{}: {:?}\n{:#?}", case.name, case.score, case.run.report);
            }
            let is_kept = choices.case.is_some() || Table::is_missed_by(&case);
            if let Some(folder) = choices.keep.as_ref().filter(|_| is_kept) {
                keep(series, &case, folder);
            }
            table.lock().unwrap().add(&case);
        }
    };
    std::thread::scope(|scope| {
        (0..choices.jobs.max(1)).for_each(|_| _ = scope.spawn(work));
    });
}

/// Writes the recordings of a case.
fn keep(series: &Series, case: &Case, folder: &Path) {
    let folder = folder.join(case.name.replace('/', "-"));
    let sound = series.sound.iter().find(|sound| sound.original.name == case.original);
    let original = sound.map(|sound| &sound.original.files);
    let states = [
        ("original", original),
        ("broken", Some(&case.broken.files)),
        ("output", case.run.output.as_ref()),
    ];
    std::fs::create_dir_all(&folder).unwrap();
    for (state, files) in states {
        if let Some(files) = files {
            write_files(&folder.join(state), files);
        }
    }
}

/// Reads a recording.
fn original(path: &Path) -> Original {
    let mut files = Files::new();
    if path.is_file() {
        files.push(("recording".to_string(), std::fs::read(path).unwrap()));
    } else {
        collect(path, path, &mut files);
    }
    // Recordings of one kind may lie in folders of the same name.
    let names = path.iter().rev().take(2).map(|name| name.to_string_lossy().into_owned());
    let names: Vec<String> = names.collect();
    Original { name: names.into_iter().rev().collect::<Vec<_>>().join("/"), files }
}

fn collect(root: &Path, folder: &Path, files: &mut Files) {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            files.push((name, std::fs::read(&path).unwrap()));
        }
    }
}

/// Returns the format of a recording.
fn format_of(files: &Files) -> Option<FormatId> {
    let set = tracemend_tests::known_originals::set(files);
    tracemend::check(&set, &tracemend::Options::default()).format
}
