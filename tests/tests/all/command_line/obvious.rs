//! The obvious thing works: what somebody types who has not read the manual.

use super::*;
use tracemend_tests::sweep::is_left_to_the_gate;

/// Runs a line of words in which `@NAME` is that file in the folder.
fn run_in(folder: &Path, line: &str) -> Ran {
    let path = |word: &str| match word.strip_prefix('@') {
        Some(name) => folder.join(name).into_os_string(),
        None => OsString::from(word),
    };
    let args: Vec<OsString> = line.split(' ').map(path).collect();
    let args: Vec<&OsStr> = args.iter().map(OsString::as_os_str).collect();
    run_with(&args, &mut io::empty(), Look::PLAIN)
}

#[test]
fn a_path_without_a_command_is_checked_and_the_run_says_so() {
    let folder = folder(&[("x", &crashed()), ("fix", &sound())]);
    let ran = run_in(folder.path(), "@x");
    assert_eq!(ran.code, 1, "{}", ran.err);
    let told = format!("tracemend: no command was given: tracemend check {}/x\n", shown(&folder));
    assert_eq!(ran.err, told);
    assert_eq!(ran.out, run_in(folder.path(), "check @x").out);
    let stdin = run_with(&["-".as_ref()], &mut &sound()[..], Look::PLAIN);
    assert_eq!(stdin.code, 0, "{}", stdin.err);
    let ran = run_in(folder.path(), "fix @x");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("next: tracemend repair /"), "{}", ran.err);
    assert_eq!(names(folder.path()), ["fix", "x"]);
    // Neither a file nor a word that somebody would try.
    let ran = run_in(folder.path(), "chek @x");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("a similar subcommand exists: 'check'"), "{}", ran.err);
}

/// A report without its line ends.
fn flat(report: &str) -> String {
    report.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shown(folder: &TempDir) -> String {
    folder.path().to_string_lossy().into_owned()
}

#[test]
fn several_files_are_repaired_beside_themselves() {
    let folder = folder(&[("a", &crashed()), ("b", &truncated()), ("c", &sound())]);
    let ran = run_in(folder.path(), "repair @a @b @c");
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    assert_eq!(names(folder.path()), ["a", "a.mended", "b", "b.mended", "c"]);
    assert_eq!(run_in(folder.path(), "check @a.mended @b.mended").code, 0);
    assert_eq!(fs::read(folder.path().join("b")).unwrap(), truncated());
    // Again: the outputs are there, the sources are the same, and so is the exit code.
    let ran = run_in(folder.path(), "repair @a @b @c");
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    let same = "is already there, the same";
    assert_eq!(flat(&ran.out).matches(same).count(), 2, "{}", ran.out);
    let twice = run_in(folder.path(), "repair @a @a");
    assert_eq!(twice.code, 0, "{}", twice.err);
    assert!(twice.out.contains("1 recording: "), "{}", twice.out);
    // An output that is a source as well.
    let ran = run_in(folder.path(), "repair @b @b.mended --force");
    assert_eq!(ran.code, 5, "{}", ran.out);
    assert!(ran.err.contains("both a source and an output"), "{}", ran.err);
}

#[test]
fn a_second_run_finds_the_same_output_and_refuses_another_one() {
    for (bytes, code) in [(crashed(), 0), (truncated(), 3)] {
        let folder = folder(&[("x", &bytes)]);
        for line in ["repair @x", "repair @x -o @y"] {
            assert_eq!(run_in(folder.path(), line).code, code, "{line}");
            let ran = run_in(folder.path(), line);
            assert_eq!(ran.code, code, "{line}: {}", ran.err);
            assert!(flat(&ran.out).contains("is already there, the same"), "{}", ran.out);
            let document = parse(&run_in(folder.path(), &format!("{line} --format json")).out);
            assert_eq!(document["already_there"], true);
        }
        fs::write(folder.path().join("y"), b"notes").unwrap();
        let ran = run_in(folder.path(), "repair @x -o @y");
        assert_eq!(ran.code, 2, "{}", ran.out);
        assert!(ran.err.contains("y exists and differs from what would be written"), "{}", ran.err);
        assert_eq!(fs::read(folder.path().join("y")).unwrap(), b"notes");
        assert_eq!(run_in(folder.path(), "repair @x -o @y --force").code, code);
    }
}

#[test]
fn a_folder_with_one_recording_is_that_recording() {
    let folder = folder(&[("in/deep/x", &truncated()), ("in/notes", b"no recording")]);
    let ran = run_in(folder.path(), "repair @in");
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert_eq!(names(&folder.path().join("in/deep")), ["x", "x.mended"]);
    let ran = run_in(folder.path(), "repair @in");
    assert_eq!(ran.code, 3, "its own output does not count: {}", ran.err);
    assert!(flat(&ran.out).contains("is already there, the same"), "{}", ran.out);
    assert_eq!(run_in(folder.path(), "repair @in -o @out").code, 3);
    fs::write(folder.path().join("in/second"), crashed()).unwrap();
    let ran = run_in(folder.path(), "repair @in");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    let next = format!("next: tracemend repair {0}/in --out-dir repaired", shown(&folder));
    assert!(ran.err.contains(&next), "{}", ran.err);
    assert!(!folder.path().join("in/second.mended").exists());
    let ran = run_in(folder.path(), "repair @in --out-dir @all");
    assert_eq!(ran.code, 3, "{}", ran.err);
}

#[test]
fn an_output_that_is_a_folder_takes_the_name_of_the_source() {
    let folder = folder(&[("x", &truncated()), ("y", &crashed()), ("there/z", b"")]);
    assert_eq!(run_in(folder.path(), "repair @x -o @there").code, 3);
    assert_eq!(run_in(folder.path(), "repair @x -o @new/").code, 3);
    assert_eq!(names(&folder.path().join("there")), ["x", "z"]);
    assert_eq!(names(&folder.path().join("new")), ["x"]);
    assert_eq!(run_in(folder.path(), "repair @x @y -o @new/").code, 3);
    assert_eq!(names(&folder.path().join("new")), ["x", "y"]);
    assert_eq!(run_in(folder.path(), "check @new").code, 0);
    let ran = run_in(folder.path(), "repair @x @y -o @one");
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(!folder.path().join("one").exists());
}

#[test]
fn every_recording_below_a_folder_is_repaired_in_place() {
    let folder = folder(&[("in/a", &crashed()), ("in/b/c", &truncated()), ("in/d", &sound())]);
    let unfinished = folder.path().join("in/loom");
    let killed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/ovni/crashed/killed");
    copy(&killed, &unfinished);
    let before = fs::read(folder.path().join("in/b/c")).unwrap();
    let ran = run_in(folder.path(), "repair --in-place @in");
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    assert_eq!(names(&folder.path().join("in")), ["a", "a.orig", "b", "d", "loom", "loom.orig"]);
    assert_eq!(fs::read(folder.path().join("in/b/c.orig")).unwrap(), before);
    assert_eq!(run_in(folder.path(), "check @in/a @in/b/c @in/d @in/loom").code, 0);
    assert!(ran.out.contains("undo: mv "), "{}", ran.out);
    // Again: what was kept is left alone.
    let again = run_in(folder.path(), "repair --in-place @in");
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
    assert!(again.out.contains("skipped (of an earlier repair): "), "{}", again.out);
    assert_eq!(names(&folder.path().join("in")), ["a", "a.orig", "b", "d", "loom", "loom.orig"]);
    // The way back that was named.
    let undo = ran.out.lines().filter_map(|line| line.trim().strip_prefix("undo: "));
    for command in undo {
        let status = Command::new("sh").args(["-c", command]).status().unwrap();
        assert!(status.success(), "{command}");
    }
    assert_eq!(names(&folder.path().join("in")), ["a", "b", "d", "loom"]);
    assert_eq!(fs::read(folder.path().join("in/b/c")).unwrap(), before);
    assert_eq!(fs::read(folder.path().join("in/a")).unwrap(), crashed());
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_tracemend-under-test");

#[test]
fn an_output_on_standard_output_is_the_recording_and_nothing_else() {
    let folder = folder(&[("x", &truncated()), ("cut", &sound()[..60]), ("dir/notes", b"x")]);
    let run =
        |args: &[&str]| Command::new(PROGRAM).args(args).current_dir(&folder).output().unwrap();
    let ran = run(&["repair", "x", "-o", "-"]);
    assert_eq!(ran.status.code(), Some(3));
    let report = String::from_utf8(ran.stderr).unwrap();
    assert!(report.contains("\nx: repaired with loss (exit 3), written to standard output"));
    assert_eq!(run(&["repair", "x", "-o", "y"]).status.code(), Some(3));
    assert_eq!(ran.stdout, fs::read(folder.path().join("y")).unwrap());
    // In a pipe on both sides, and as JSON.
    let line = format!("cat x | {PROGRAM} repair - -o - --format json 2>report | cat > z");
    let status = Command::new("sh").args(["-c", &line]).current_dir(&folder).status().unwrap();
    assert!(status.success());
    assert_eq!(fs::read(folder.path().join("z")).unwrap(), ran.stdout);
    let report = fs::read_to_string(folder.path().join("report")).unwrap();
    assert_eq!(parse(&report)["output"], "standard output");
    assert_valid(&schema("repair.schema.json"), &parse(&report));
    // What is not repaired leaves nothing in the pipe.
    let ran = run(&["repair", "cut", "-o", "-"]);
    assert_eq!(ran.status.code(), Some(i32::from(exit_of(&sound()[..60]))));
    assert!(ran.stdout.is_empty());
    assert_eq!(names(folder.path()), ["cut", "dir", "report", "x", "y", "z"]);
}

/// Copies a file or a directory.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.unwrap();
        let name = entry.path().strip_prefix(from).unwrap();
        let target = if name == Path::new("") { to.to_path_buf() } else { to.join(name) };
        match entry.file_type().is_dir() {
            true => fs::create_dir_all(target).unwrap(),
            false => fs::copy(entry.path(), target).map(|_| ()).unwrap(),
        }
    }
}

/// Runs every command that a report names in the folder, one after the other, in a shell.
fn paste_all(folder: &Path, report: &str) -> usize {
    let commands = report.lines().filter_map(|line| {
        let line = line.trim_start();
        let command = line.strip_prefix("next: ").or_else(|| line.strip_prefix("instead: "));
        command.map(|command| command.split("   (").next().unwrap().to_string())
    });
    let commands: Vec<String> = commands.collect();
    let bin = TempDir::new().unwrap();
    symlink(PROGRAM, bin.path().join("tracemend")).unwrap();
    let path = format!("{}:{}", bin.path().display(), std::env::var("PATH").unwrap());
    for command in &commands {
        let mut shell = Command::new("bash");
        let shell = shell.args(["-c", command]).current_dir(folder).env("PATH", &path);
        let ran = shell.output().unwrap();
        let err = String::from_utf8_lossy(&ran.stderr);
        let is_done = matches!(ran.status.code(), Some(0 | 1 | 3 | 4));
        assert!(is_done, "{command}: {:?}: {err}\n{report}", ran.status.code());
    }
    commands.len()
}

#[test]
fn every_next_command_works_as_it_stands() {
    if is_left_to_the_gate("every next command works as it stands") {
        return;
    }
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    let mut pasted = 0;
    for format in ["perf", "apitrace", "ovni", "qemu", "revent"] {
        let crashed = corpus.join(format).join("crashed");
        let all = TempDir::new().unwrap();
        let recordings = names(&crashed).into_iter().filter(|name| !name.ends_with(".expect"));
        for (count, name) in recordings.enumerate() {
            // A name that a shell has to be told.
            let alone = TempDir::new().unwrap();
            let strange = format!("it's {name}");
            copy(&crashed.join(&name), &alone.path().join(&strange));
            copy(&crashed.join(&name), &all.path().join(format!("{count}")).join(&name));
            let run = |args: &[&str]| {
                let ran = Command::new(PROGRAM).args(args).current_dir(&alone).output().unwrap();
                String::from_utf8(ran.stdout).unwrap()
            };
            pasted += paste_all(alone.path(), &run(&["check", &strange]));
            pasted += paste_all(alone.path(), &run(&["repair", "--safety", "exact", &strange]));
        }
        let run = |args: &[&str]| {
            let ran = Command::new(PROGRAM).args(args).current_dir(&all).output().unwrap();
            String::from_utf8(ran.stdout).unwrap()
        };
        for folder in names(all.path()) {
            pasted += paste_all(all.path(), &run(&["check", &folder]));
        }
        fs::create_dir(all.path().join("empty")).unwrap();
        let refused =
            Command::new(PROGRAM).args(["repair", "."]).current_dir(&all).output().unwrap();
        let refused = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.contains("next: tracemend repair . --in-place"), "{refused}");
        let report = run(&["check", "."]);
        assert!(report.contains("next: tracemend repair . --in-place"), "{report}");
        pasted += paste_all(all.path(), &report);
    }
    assert!(pasted > 60, "{pasted}");
}

/// The first line of a report, without the path.
fn first(command: &str, path: &Path) -> String {
    let mut args = vec![OsStr::new(command), path.as_os_str()];
    args.extend((command == "repair").then_some(OsStr::new("--dry-run")));
    let ran = run_with(&args, &mut io::empty(), Look { width: 200, ..Look::PLAIN });
    let line = ran.out.lines().next().unwrap_or_default().to_string();
    line.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&line).to_string()
}

#[test]
fn the_first_line_says_what_happened_and_what_is_kept() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    for (path, cause, read, kept) in [
        (
            "perf/crashed/diskfull.data",
            "perf was killed, or the disk was full; ",
            "711 samples can be read",
            "all 711 samples can be kept",
        ),
        (
            "qemu/crashed/cut_11.1.log",
            "the end is missing: cut off, or QEMU was killed; ",
            "2464 events can be read",
            "all 2464 events can be kept",
        ),
        (
            "apitrace/crashed/cut-glxgears.trace",
            "the end is missing: cut off, or the traced program was killed; ",
            "9 calls can be read",
            "all 9 calls can be kept",
        ),
        (
            "ovni/crashed/killed",
            "the traced program was killed, or the disk was full; ",
            "1876 events can be read",
            "all 1876 readable events can be kept",
        ),
        (
            "revent/crashed/v3_terminated.revent",
            "revent was killed, or the disk was full; ",
            "154 events can be read",
            "153 of 154 events can be kept",
        ),
    ] {
        let path = corpus.join(path);
        assert_eq!(first("check", &path), format!("{cause}{read}"));
        assert_eq!(first("repair", &path), format!("{cause}{kept}"));
    }
}

#[test]
fn the_first_line_subtracts_no_event_that_it_did_not_count() {
    let log = fs::read("../corpus/qemu/clean/guestoff_7.2.log").unwrap();
    let middle = log.len() / 4;
    let mut damaged = log;
    damaged[middle..middle + 16].fill(0xee);
    let folder = folder(&[("damaged", &damaged)]);
    let story = first("repair", &folder.path().join("damaged"));
    let kept = "; events before the damage can be kept; ";
    let (_, lost) = story.split_once(kept).expect(&story);
    assert!(lost.ends_with(" complete events after it are lost"), "{story}");
}

#[test]
fn the_first_line_claims_no_more_than_was_read() {
    // With damage besides, nobody knows how many there were.
    let built = perf::clean().swap_remove(0).built;
    let record = built.records[3].range();
    let mut both = built.crashed();
    both[record].fill(0);
    let damaged = folder(&[("both", &both)]);
    let story = first("repair", &damaged.path().join("both"));
    assert!(story.ends_with("; all 2 readable samples can be kept"), "{story}");
    // A file that holds nothing is not called a success, and a sound one has no story.
    let empty = perf::clean().swap_remove(0).built;
    let start = empty.data.start;
    let mut empty = empty.crashed()[..start].to_vec();
    empty.extend([68, 0, 0, 0, 0, 0, 8, 0]);
    let folder = folder(&[("empty", &empty), ("sound", &sound())]);
    let story = first("repair", &folder.path().join("empty"));
    assert!(story.ends_with("the file opens again, but no sample was found in it"), "{story}");
    assert!(first("check", &folder.path().join("sound")).starts_with("clean; perf"));
}

#[test]
fn the_first_line_calls_no_recording_empty_whose_compressed_records_are_lost() {
    let mut damaged = fs::read("../corpus/perf/clean/zstd.data").unwrap();
    let number = |at: usize| u64::from_le_bytes(damaged[at..at + 8].try_into().unwrap());
    let mut at = usize::try_from(number(40)).unwrap();
    let end = at + usize::try_from(number(48)).unwrap();
    while at < end {
        let size = usize::from(u16::from_le_bytes([damaged[at + 6], damaged[at + 7]]));
        if damaged[at] == 81 {
            // All but the header of the zstd frame.
            damaged[(at + 22).min(at + size)..at + size].fill(0xff);
        }
        at += size;
    }
    let folder = folder(&[("damaged", &damaged)]);
    let story = first("repair", &folder.path().join("damaged"));
    let end = "the file opens again, but its compressed records could not be read";
    assert!(story.ends_with(end), "{story}");
}

#[test]
fn notes_come_after_errors_and_nothing_is_placed_at_nothing() {
    let folder = folder(&[("empty", b""), ("there/is/nothing", b"x")]);
    for path in ["@empty", "@there"] {
        let ran = run_in(folder.path(), &format!("check {path}"));
        assert!(!ran.out.contains("0x0..0x0"), "{}", ran.out);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/revent/crashed");
    let ran = run!("check", path.join("gamepad.revent"));
    let at = |word: &str| ran.out.find(word).unwrap();
    assert!(at("warning[RV3007]") < at("note[RV0016]"), "{}", ran.out);
}
