//! The inputs of `corpus/readers`, on which the formats' own readers crash, hang or show nothing:
//! each has an error here, and its reader ends as its line says.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use tracemend::{FormatId, Options};
use tracemend_tests::judge::readers;
use tracemend_tests::known_originals::{Files, set};
use tracemend_tests::notice;
use tracemend_tests::sweep::is_left_to_the_gate;

/// Seconds after which a reader of such an input hangs: it ends in a fraction of one, or never.
const PATIENCE: u32 = 5;
/// Seconds for one that ends: all run at once, beside other tests.
const PATIENCE_FOR_AN_END: u32 = 60;

/// A line of the table.
struct Fault {
    input: String,
    /// Name and version of the reader.
    reader: [String; 2],
    /// The command; the path of the input takes the place of `INPUT`.
    command: Vec<String>,
    end: String,
    code: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/readers")
}

/// The lines of the tables in `corpus/readers/README.md`.
fn faults() -> Vec<Fault> {
    let page = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let lines = page.lines().filter(|line| line.starts_with("| `"));
    lines
        .map(|line| {
            let cells: Vec<&str> = line
                .trim_matches('|')
                .split(" | ")
                .map(|cell| cell.trim().trim_matches('`'))
                .collect();
            let [input, reader, command, end, _, code] = cells[..] else { panic!("{line}") };
            let (name, version) = reader.split_once(' ').unwrap();
            Fault {
                input: input.to_string(),
                reader: [name.to_string(), version.to_string()],
                command: command.split(' ').map(str::to_string).collect(),
                end: end.to_string(),
                code: code.to_string(),
            }
        })
        .collect()
}

/// The format of an input: its folder.
fn format_of(fault: &Fault) -> FormatId {
    fault.input.split('/').next().unwrap().parse().unwrap()
}

/// The files of an input, a file or a folder.
fn files_at(path: &Path) -> Files {
    let entries = walkdir::WalkDir::new(path).sort_by_file_name().into_iter().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().is_file());
    let name = |one: &Path| one.strip_prefix(path).unwrap().display().to_string();
    files.map(|one| (name(one.path()), std::fs::read(one.path()).unwrap())).collect()
}

#[test]
fn every_input_on_which_a_reader_fails_has_an_error() {
    let all = faults();
    assert!(all.len() > 15, "{}", all.len());
    for fault in &all {
        let path = folder().join(&fault.input);
        let options = Options::default().with_format(format_of(fault));
        let report = tracemend::check(&set(&files_at(&path)), &options);
        let codes = report.counts();
        assert!(report.has_errors(), "{}: {codes:?}", fault.input);
        assert!(codes.contains_key(fault.code.as_str()), "{}: {codes:?}", fault.input);
    }
    let named = |path: &Path| all.iter().any(|fault| path.starts_with(folder().join(&fault.input)));
    for entry in walkdir::WalkDir::new(folder()).into_iter().map(Result::unwrap) {
        let is_input = entry.file_type().is_file() && entry.file_name() != "README.md";
        assert!(!is_input || named(entry.path()), "{} has no line", entry.path().display());
    }
}

/// Returns the program of a reader in this version.
fn find_program(fault: &Fault) -> Option<PathBuf> {
    let [name, version] = &fault.reader;
    let program = PathBuf::from(&fault.command[0]);
    let says = |asked: &Path, arguments: &[&str]| {
        let Ok(output) = Command::new(asked).args(arguments).output() else { return false };
        let text = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&text).contains(version.as_str())
    };
    let (variable, argument) = match name.as_str() {
        // It does not tell its version; the package does.
        "apitrace" => {
            return says(Path::new("dpkg-query"), &["-W", "apitrace"]).then_some(program);
        }
        "perf" => ("TRACEMEND_PERF", "--version"),
        "QEMU" => ("TRACEMEND_QEMU", "--version"),
        _ => ("TRACEMEND_OVNIEMU", "-h"),
    };
    let named = std::env::var_os(variable).unwrap_or_default();
    let named: Vec<PathBuf> = std::env::split_paths(&named).collect();
    // The emulator tells the version of the tools beside it.
    let mut all = std::iter::once(program).chain(named);
    let found = all.find(|one| says(one, &[argument]))?;
    Some(if name == "ovni" { found.with_file_name(&fault.command[0]) } else { found })
}

/// Runs the reader on a copy; `None` if it is not there in this version.
fn run(fault: &Fault) -> Option<String> {
    let program = find_program(fault)?;
    let copy = tempfile::tempdir().unwrap();
    let path = copy.path().join("input");
    let copied = Command::new("cp").arg("-r").arg(folder().join(&fault.input)).arg(&path).status();
    assert!(copied.unwrap().success());
    let mut words = vec![program.display().to_string()];
    let path = path.display().to_string();
    words.extend(fault.command[1..].iter().map(|word| word.replace("INPUT", &path)));
    let patience = if fault.end == "hangs" { PATIENCE } else { PATIENCE_FOR_AN_END };
    Some(readers::run(&words, patience).describe())
}

#[test]
fn the_readers_end_as_the_table_says() {
    if is_left_to_the_gate("the readers end as the table of corpus/readers says") {
        return;
    }
    let all = faults();
    let ends: Vec<Option<String>> = thread::scope(|scope| {
        let runs: Vec<_> = all.iter().map(|fault| scope.spawn(|| run(fault))).collect();
        runs.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for (fault, end) in all.iter().zip(ends) {
        match end {
            Some(end) => assert_eq!(end, fault.end, "{}", fault.input),
            None => {
                notice::say(&format!("skipped: no reader {} for an input", fault.reader.join(" ")))
            }
        }
    }
}
