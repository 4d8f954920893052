//! Every repair that the program writes can be proven and undone: `repair --plan`, `verify`, and
//! `apply --reverse`, which gives the source again, on the cases of the known originals, on the
//! specimens, on the corpus and on traces whose files are renamed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tracemend_cli::{Look, Streams};
use tracemend_tests::known_originals::{CASES, Files, SEED, SUBJECTS, damaged};
use tracemend_tests::specimens::{ALL, Specimen};
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

/// Paths below a folder with the bytes of files, and `None` for folders.
type Tree = BTreeMap<PathBuf, Option<Vec<u8>>>;

fn run(args: &[OsString]) -> (u8, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = [OsString::from("tracemend")].into_iter().chain(args.iter().cloned());
    let mut input = std::io::empty();
    let code = tracemend_cli::run(args, Streams::new(&mut input, &mut out, &mut err, Look::PLAIN));
    (code, String::from_utf8_lossy(&[out, err].concat()).into_owned())
}

macro_rules! run {
    ($($arg:expr),* $(,)?) => { run(&[$(OsString::from($arg)),*]) };
}

fn tree(path: &Path) -> Tree {
    let mut all = Tree::new();
    let mut open = vec![path.to_path_buf()];
    while let Some(at) = open.pop() {
        let bytes = (!at.is_dir()).then(|| fs::read(&at).unwrap());
        if bytes.is_none() {
            open.extend(fs::read_dir(&at).unwrap().map(|entry| entry.unwrap().path()));
        }
        all.insert(at.strip_prefix(path).unwrap().to_path_buf(), bytes);
    }
    all
}

/// Where a recording is written: a folder, or its one file.
fn write(folder: &Path, files: &[(String, Option<Vec<u8>>)]) -> PathBuf {
    let source = folder.join("source");
    let [(name, Some(bytes))] = files else {
        for (name, bytes) in files {
            let path = source.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if let Some(bytes) = bytes {
                fs::write(path, bytes).unwrap();
            }
        }
        return source;
    };
    if name.contains('/') {
        return write(folder, &[files, &[(format!("{name}.none/x"), None)]].concat());
    }
    fs::create_dir(&source).unwrap();
    let path = source.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Repairs `source` with a plan, proves the output and undoes it. Returns whether an output was
/// written.
fn undo(source: &Path, options: &[OsString]) -> Result<bool, String> {
    let folder = TempDir::new().unwrap();
    let [plan, out, back] = ["plan", "out", "back"].map(|name| folder.path().join(name));
    let mut args: Vec<OsString> = vec!["repair".into(), source.into(), "-o".into()];
    args.extend([out.clone().into(), "--plan".into(), plan.clone().into()]);
    args.extend(options.iter().cloned());
    let (repaired, text) = run(&args);
    match repaired {
        0 | 3 => {}
        _ if out.exists() => return Err(format!("exit {repaired}, but an output: {text}")),
        1 | 2 | 4 | 6 => return Ok(false),
        _ => return Err(format!("exit {repaired}: {text}")),
    }
    let (code, text) = run!("verify", &plan, source, &out);
    if code != 0 {
        return Err(format!("verify exits with {code}: {text}"));
    }
    let (code, text) = run!("apply", &plan, &out, "-o", &back, "--reverse");
    if code == 4 && text.contains("is the way back itself") {
        // A wrapper is not made again.
        return Ok(true);
    }
    if code != 0 {
        return Err(format!("apply --reverse exits with {code}: {text}"));
    }
    if tree(&back) != tree(source) {
        return Err("apply --reverse does not give the source".to_string());
    }
    let again = folder.path().join("again");
    let (code, text) = run!("apply", &plan, source, "-o", &again);
    if code != repaired || tree(&again) != tree(&out) {
        return Err(format!("apply does not give the output: {text}"));
    }
    Ok(true)
}

/// Undoes the repair of a recording of these files.
fn undo_files(files: &[(String, Option<Vec<u8>>)], options: &[OsString]) -> Result<bool, String> {
    let folder = TempDir::new().unwrap();
    undo(&write(folder.path(), files), options)
}

fn present(files: &Files) -> Vec<(String, Option<Vec<u8>>)> {
    files.iter().map(|(name, bytes)| (name.clone(), Some(bytes.clone()))).collect()
}

/// Runs a share of the cases of a format.
fn undoes_known_originals(name: &str, one_in: u64) {
    let subject = SUBJECTS.iter().find(|subject| subject.format.name() == name).unwrap();
    let (mut written, mut wrong) = (0, Vec::new());
    for number in Share::one_in(one_in).of(0..CASES) {
        let (_, damaged) = damaged(&subject.originals, SEED, number);
        match undo_files(&present(&damaged.files), &["--type".into(), name.into()]) {
            Ok(is_written) => written += usize::from(is_written),
            Err(reason) => wrong.push(format!("case {number} of {name}: {reason}")),
        }
    }
    assert!(wrong.is_empty(), "seed {SEED}\n{}", wrong.join("\n"));
    assert!(written > 0, "{name}: no output");
}

#[test]
fn repairs_of_known_originals_of_perf_are_proven_and_undone() {
    undoes_known_originals("perf", 64);
}

#[test]
fn repairs_of_known_originals_of_apitrace_are_proven_and_undone() {
    undoes_known_originals("apitrace", 128);
}

#[test]
fn repairs_of_known_originals_of_ovni_are_proven_and_undone() {
    undoes_known_originals("ovni", 16);
}

#[test]
fn repairs_of_known_originals_of_qemu_are_proven_and_undone() {
    undoes_known_originals("qemu", 128);
}

#[test]
fn repairs_of_known_originals_of_revent_are_proven_and_undone() {
    undoes_known_originals("revent", 32);
}

/// The options of a specimen as they are typed.
fn typed(specimen: &Specimen, folder: &Path) -> Vec<OsString> {
    let mut args: Vec<OsString> = vec!["--lossy-warnings".into()];
    if let Some(format) = specimen.options.format {
        args.extend(["--type".into(), format.name().into()]);
    }
    let choices = &specimen.options.choices;
    // The only option that takes the path of a file or another text.
    let is_target = specimen.donor.is_some() && choices.is_set("target");
    for name in choices.foreign(&[]).into_iter().filter(|name| !is_target || *name != "target") {
        args.push(format!("--{name}").into());
        args.extend(choices.value(name).filter(|value| !value.is_empty()).map(OsString::from));
    }
    if let Some(donor) = &specimen.donor {
        let path = folder.join("donor");
        fs::write(&path, donor).unwrap();
        let option = if is_target { "--target" } else { "--donor" };
        args.extend([option.into(), path.into()]);
    }
    args
}

#[test]
fn repairs_of_specimens_are_proven_and_undone() {
    let (mut written, mut wrong) = (0, Vec::new());
    let share = Share::one_in(1);
    for specimen in share.of(ALL.iter().flat_map(|collection| (collection.specimens)())) {
        let folder = TempDir::new().unwrap();
        let options = typed(&specimen, folder.path());
        match undo_files(&specimen.files, &options) {
            Ok(is_written) => written += usize::from(is_written),
            Err(reason) => wrong.push(format!("{}: {reason}", specimen.code)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(written > share.count(80), "{written} outputs");
}

#[test]
fn repairs_of_the_corpus_are_proven_and_undone() {
    if is_left_to_the_gate("repairs of the corpus are proven and undone") {
        return;
    }
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    let (mut written, mut wrong) = (0, Vec::new());
    for format in ["apitrace", "ovni", "perf", "qemu", "revent"] {
        for part in ["crashed", "hard"] {
            let Ok(entries) = fs::read_dir(corpus.join(format).join(part)) else { continue };
            for path in entries.map(|entry| entry.unwrap().path()) {
                let is_text = path.extension().is_some_and(|end| end == "expect" || end == "md");
                match undo(&path, &[]) {
                    _ if is_text => {}
                    Ok(is_written) => written += usize::from(is_written),
                    Err(reason) => wrong.push(format!("{}: {reason}", path.display())),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(written > 20, "{written} outputs");
}

/// A trace of two threads, of which the second has the stream of the first, and other files.
fn doubled_stream() -> Vec<(String, Option<Vec<u8>>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = path.join("../corpus/ovni/hard/identical-stream-copy");
    let files = tree(&path).into_iter().filter_map(|(name, bytes)| Some((name, Some(bytes?))));
    files.map(|(name, bytes)| (name.to_str().unwrap().to_string(), bytes)).collect()
}

#[test]
fn a_stream_that_was_set_aside_is_found_by_its_new_name_alone() {
    let folder = TempDir::new().unwrap();
    let source = write(folder.path(), &doubled_stream());
    let [plan, out, back] = ["plan", "out", "back"].map(|name| folder.path().join(name));
    assert_eq!(run!("repair", &source, "-o", &out, "--plan", &plan).0, 0);
    let is_aside = |(name, bytes): &(PathBuf, Option<Vec<u8>>)| {
        bytes.is_some() && name.extension().is_some_and(|ending| ending == "copy")
    };
    let aside: Vec<PathBuf> =
        tree(&out).into_iter().filter(is_aside).map(|(name, _)| name).collect();
    assert_eq!(aside.len(), 2, "{aside:?}");
    // One byte of a file that no tool of the format looks for.
    let path = out.join(&aside[1]);
    let sound = fs::read(&path).unwrap();
    let mut changed = sound.clone();
    changed[20] ^= 1;
    fs::write(&path, changed).unwrap();
    assert_eq!(run!("verify", &plan, &source, &out).0, 1);
    assert_eq!(run!("apply", &plan, &out, "-o", &back, "--reverse").0, 4);
    // The name leads out of the trace.
    let elsewhere = folder.path().join("elsewhere");
    fs::write(&elsewhere, &sound).unwrap();
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    assert_eq!(run!("verify", &plan, &source, &out).0, 1);
    assert_eq!(run!("apply", &plan, &out, "-o", &back, "--reverse").0, 4);
    fs::remove_file(&path).unwrap();
    assert_eq!(run!("verify", &plan, &source, &out).0, 1);
    fs::write(&path, sound).unwrap();
    assert_eq!(run!("verify", &plan, &source, &out).0, 0);
    assert!(!back.exists());
}

#[test]
fn a_redaction_that_renames_folders_is_proven_and_undone() {
    let folder = TempDir::new().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/ovni/clean/tampi");
    let [plan, out, back] = ["plan", "out", "back"].map(|name| folder.path().join(name));
    let (code, text) = run!("redact", &source, "-o", &out, "--undo-plan", &plan);
    assert!(out.exists(), "{code}: {text}");
    let (code, text) = run!("verify", &plan, &source, &out);
    assert_eq!(code, 0, "{text}");
    let (code, text) = run!("apply", &plan, &out, "-o", &back, "--reverse");
    assert_eq!(code, 0, "{text}");
    assert_eq!(tree(&back), tree(&source));
}

#[test]
fn a_folder_whose_name_is_not_utf8_keeps_it_when_its_files_are_renamed() {
    use std::os::unix::ffi::OsStrExt;
    let folder = TempDir::new().unwrap();
    let source = write(folder.path(), &doubled_stream());
    let copy = source.join("loom.node0.1/proc.1/thread.1.copy");
    let other = source.join("loom.node0.1/proc.1").join(std::ffi::OsStr::from_bytes(b"cop\xffy"));
    fs::rename(copy, other).unwrap();
    assert_eq!(undo(&source, &[]), Ok(true));
}
