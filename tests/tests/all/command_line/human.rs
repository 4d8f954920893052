//! Reports for people: the order of a finding, groups, the table, and commands that can be pasted.

use tracemend_tests::forge::ovni::{Stream, Thread, Trace};

use super::*;

const WIDE: Look = Look { width: 100, unicode: true, ..Look::PLAIN };

fn read(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus").join(name)).unwrap()
}

fn check(path: &Path, options: &[&str], look: Look) -> Ran {
    let mut args: Vec<&OsStr> = vec!["check".as_ref(), path.as_os_str()];
    args.extend(options.iter().map(OsStr::new));
    run_with(&args, &mut io::empty(), look)
}

/// Runs the command of the first line that begins with `next: tracemend repair`, in `folder`.
fn paste_next(text: &str, folder: &Path) -> i32 {
    let commands = text.lines().filter_map(|line| line.trim().strip_prefix("next: tracemend "));
    let command = commands.into_iter().find(|command| command.starts_with("repair ")).expect(text);
    let program = env!("CARGO_BIN_EXE_tracemend-under-test");
    let script = format!("\"{program}\" {command}");
    let status = Command::new("sh").args(["-c", &script]).current_dir(folder).status().unwrap();
    status.code().unwrap()
}

/// An ovni trace of one process whose threads were all killed.
fn killed_threads(count: u32, is_one_process: bool, root: &Path) {
    let cpus: Vec<(u32, u32)> = (0..count).map(|number| (number, number)).collect();
    let pid = |number: u32| if is_one_process { 7 } else { 100 + number };
    let thread = |number: u32| Thread::new(pid(number), 100 + number).cpus(&cpus).killed();
    let stream =
        |number: u32| Stream::default().begin(i32::try_from(number).unwrap()).plain(&["OB."]);
    let mut trace = Trace::of(&thread(0), stream(0));
    for number in 1..count {
        trace = trace.and(&thread(number), stream(number));
    }
    for (name, bytes) in &trace.files {
        let file = root.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes.as_ref().unwrap()).unwrap();
    }
}

#[test]
fn a_finding_gives_place_defect_impact_bytes_fix_and_command_in_this_order() {
    let folder = folder(&[("night.data", &read("perf/crashed/diskfull.data"))]);
    let path = folder.path().join("night.data");
    let ran = check(&path, &[], Look { width: 200, ..WIDE });
    let text = ran.out.replace(&format!("{}/", folder.path().display()), "");
    let parts = [
        "night.data: error[PD0004]: ",
        "\n     ╭─[ header.data.size, 0x30..0x38 of 0x6000 ]\n",
        "\n  30 │ 00 00 00 00 00 00 00 00\n     ╰─\n",
        "\n  fix (lossy): ",
        "\n  next: tracemend repair night.data -o repaired.data\n",
        "\nnight.data: 1 error; perf, 24.6 kB, 741 records, 711 samples, 7777.112 s to ",
    ];
    let mut from = 0;
    for part in parts {
        let at = text.get(from..).unwrap().find(part).unwrap_or_else(|| panic!("{part}\n{text}"));
        // The last line end of a part is the first of the next one.
        from += at + part.len() - 1;
    }
    let rule = tracemend::rule("PD0004").unwrap();
    let impact = text.lines().nth(1).unwrap_or_default();
    let first = rule.consequence().split(' ').next().unwrap();
    assert!(text.contains(&format!("\n  {first} ")), "{impact} is not {}", rule.consequence());
    assert_eq!(paste_next(&ran.out, folder.path()), 3);
    assert_eq!(run!("check", folder.path().join("repaired.data")).code, 0);
}

#[test]
fn drawings_are_ascii_where_unicode_is_not_known() {
    let folder = folder(&[("night.data", &read("perf/crashed/diskfull.data"))]);
    let ran = check(&folder.path().join("night.data"), &[], Look { width: 80, ..Look::PLAIN });
    assert!(ran.out.is_ascii(), "{}", ran.out);
    assert!(ran.out.contains("\n     ,-[ header.data.size"), "{}", ran.out);
    let lines = ran.out.lines().filter(|line| !line.contains("next: ") && !line.contains('/'));
    assert!(lines.into_iter().all(|line| line.len() <= 80), "{}", ran.out);
}

#[test]
fn a_clean_recording_takes_one_line() {
    let folder = folder(&[("plain.data", &read("perf/clean/plain.data"))]);
    let ran = check(&folder.path().join("plain.data"), &[], WIDE);
    let (_, line) = ran.out.rsplit_once('/').unwrap();
    assert_eq!(line, "plain.data: clean; perf, 6432 bytes, 42 records, 27 samples, 0.050 s\n");
    let facts = check(&folder.path().join("plain.data"), &["--verbose"], WIDE);
    assert!(facts.out.starts_with(&ran.out));
}

/// The text in one line.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn findings_of_one_code_are_grouped_unless_all_are_asked_for() {
    const THREADS: u32 = 40;
    let folder = folder(&[]);
    let root = folder.path().join("killed");
    killed_threads(THREADS, false, &root);
    let ran = check(&root, &[], WIDE);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.out.matches("error[OV0117]").count(), 1, "{}", ran.out);
    let more = "and 39 more: proc.101/thread.101, proc.102/thread.102, proc.103/thread.103 ... \
                proc.139/thread.139";
    assert!(unwrapped(&ran.out).contains(more), "{}", ran.out);
    assert!(ran.out.contains("(synthetic, the first of 40)"), "{}", ran.out);
    assert!(ran.out.contains("40 errors in 1 group; ovni"), "{}", ran.out);
    let all = check(&root, &["--all"], WIDE);
    assert_eq!(all.out.matches("error[OV0117]").count(), 40, "{}", all.out);
    let json = parse(&check(&root, &["--format", "json"], WIDE).out);
    assert_eq!(json["recordings"][0]["findings"].as_array().unwrap().len(), 40);
    // A repair names the threads.
    let ran = run!("repair", &root, "--dry-run");
    assert!(ran.out.contains("OV0117 (synthetic): proc.100/thread.100: "), "{}", ran.out);
    assert!(ran.out.contains("and 39 more: proc.101/thread.101"), "{}", ran.out);
    assert!(ran.out.lines().count() < 20, "{}", ran.out);
}

#[test]
fn a_killed_process_is_one_finding_with_the_end_of_its_threads() {
    let folder = folder(&[]);
    let root = folder.path().join("killed");
    killed_threads(40, true, &root);
    let ran = check(&root, &["--all"], WIDE);
    assert_eq!(ran.out.matches("error[OV0117]").count(), 1, "{}", ran.out);
    for part in [
        "ovni.finished is missing in 40 of 40 threads of process 7",
        "thread 100 is running after 2 events",
        "32 more threads",
        "up to 83886080 bytes of events are missing: the buffers of the threads were never flushed",
    ] {
        assert!(unwrapped(&ran.out).contains(part), "{part}: {}", ran.out);
    }
    assert!(ran.out.lines().count() < 30, "{}", ran.out);
    let ran = run!("repair", &root, "-o", folder.path().join("repaired"));
    assert_eq!(ran.code, 0, "{}", ran.out);
    let text = unwrapped(&ran.out);
    assert!(text.contains("close the threads, complete the metadata of 40 threads"), "{text}");
    assert_eq!(run!("check", folder.path().join("repaired")).code, 0);
}

#[test]
fn findings_past_the_maximum_stay_in_the_counts() {
    let folder = folder(&[("x", &crashed())]);
    let ran = check(&folder.path().join("x"), &["--max-findings", "0"], WIDE);
    assert!(!ran.out.contains("error[") && ran.out.contains("1 error; perf"), "{}", ran.out);
}

#[test]
fn a_run_over_many_recordings_ends_with_a_table() {
    let (sound, crashed) = (sound(), crashed());
    let files: Vec<(String, &[u8])> = (0..20)
        .map(|number| {
            (format!("run-{number:02}.data"), if number < 18 { &*sound } else { &*crashed })
        })
        .collect();
    let mut named: Vec<(&str, &[u8])> =
        files.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    let log = read("qemu/crashed/cut_11.1.log");
    named.extend([("boot.log", log.as_slice()), ("notes.txt", b"hello")]);
    let folder = folder(&named);
    symlink("run-00.data", folder.path().join("latest.data")).unwrap();
    let ran = check(folder.path(), &[], Look { width: 200, ..WIDE });
    let root = format!("{}/", folder.path().display());
    let text = ran.out.replace(&root, "");
    let (findings, table) = text.split_once("            recordings ").expect(&text);
    assert_eq!(findings.matches("error[PD0004]").count(), 2, "{text}");
    assert!(!findings.contains("run-00.data"), "clean ones are in the table: {text}");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(
        lines,
        [
            "  clean   errors   warnings   skipped",
            "perf                20      18        2          0         -",
            "qemu                 1       0        1          0         -",
            "total               21      18        3          0         2",
            "PD0004 data-size-zero  2  run-18.data and run-19.data",
            "QR1002 end-missing     1  boot.log",
            "skipped (unknown format): notes.txt",
            "skipped (symbolic link): latest.data",
            &format!("next: tracemend repair {} --out-dir repaired", folder.path().display()),
            "next: tracemend explain QR1002",
        ]
    );
    // One clean recording in a directory is named.
    let one = folder_of_one(&sound);
    let ran = check(one.path(), &[], WIDE);
    assert!(ran.out.contains("x.data: clean; perf"), "{}", ran.out);
    assert_eq!(ran.out.lines().count(), 1);
}

fn folder_of_one(bytes: &[u8]) -> TempDir {
    folder(&[("x.data", bytes)])
}

#[test]
fn a_refused_repair_names_the_option_and_the_command_that_goes_on() {
    let mut log = read("qemu/clean/guestoff_7.2.log");
    log[0x4c66..0x4c76].fill(0xee);
    let folder = folder(&[("q.log", &log)]);
    let path = folder.path().join("q.log");
    let ran = run!("repair", &path, "--strategy", "close");
    assert_eq!(ran.code, 4);
    assert!(ran.out.contains("not repaired (exit 4): 1 error needs your decision"), "{}", ran.out);
    assert!(ran.out.contains("\n  QR1001: --strategy prefix: "), "{}", ran.out);
    let way = "--strategy prefix -o repaired-prefix.log";
    let next = format!("next: tracemend repair {} {way}", path.display());
    assert!(ran.out.lines().any(|line| line.trim() == next), "{}", ran.out);
    assert_eq!(paste_next(&ran.out, folder.path()), 3);
    // The class of fixes is an option like the others.
    let path = folder.path().join("truncated");
    fs::write(&path, truncated()).unwrap();
    let ran = run!("repair", &path, "--safety", "exact");
    assert_eq!(ran.code, 4, "{}", ran.out);
    assert!(ran.out.contains(": --safety lossy: "), "{}", ran.out);
    let next =
        format!("next: tracemend repair {} --safety lossy -o repaired-lossy", path.display());
    assert!(ran.out.contains(&next), "{}", ran.out);
}

#[test]
fn an_option_of_another_format_is_a_usage_error() {
    let folder = folder(&[("x.data", &truncated()), ("y.data", &sound())]);
    let path = folder.path().join("x.data");
    for (options, format) in [
        (["--strategy", "prefix"], "qemu"),
        (["--strategy", "cut"], "ovni"),
        (["--release", "always"], "revent"),
        (["--qemu-version", "7.2"], "qemu"),
    ] {
        let ran = run!("repair", &path, options[0], options[1]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{options:?}");
        let expected = format!(
            "{} {} does not apply to perf recordings; it is an option of {format}",
            options[0], options[1]
        );
        assert!(ran.err.contains(&expected), "{}", ran.err);
    }
    assert_eq!(names(folder.path()), ["x.data", "y.data"], "nothing was written");
    let donor = folder.path().join("y.data");
    assert_eq!(run!("repair", &path, "--donor", donor, "--dry-run").code, 3);
}

#[test]
fn the_errors_that_are_left_are_shown_with_bytes_of_the_file_that_is_named() {
    // An exact fix moves nothing; a record with a damaged header, of 3 bytes, is left.
    let built = perf::clean().swap_remove(0).built;
    let mut broken = built.crashed();
    let header = built.records[3].range().start;
    broken[header..header + 8].copy_from_slice(&[0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 3, 0]);
    let folder = folder(&[("broken.data", &broken)]);
    let path = folder.path().join("broken.data");
    for (options, output) in [(vec![], &path), (vec!["--partial"], &folder.path().join("out"))] {
        let out = folder.path().join("out");
        let mut args: Vec<&OsStr> = vec!["repair".as_ref(), path.as_os_str()];
        args.extend(["--safety", "synthetic", "-o"].map(OsStr::new));
        args.push(out.as_os_str());
        args.extend(options.iter().map(OsStr::new));
        let ran = run_with(&args, &mut io::empty(), WIDE);
        assert_eq!(ran.code, 4, "{}", ran.out);
        let head = format!("{}: error[PD1002]", output.display());
        assert!(ran.out.lines().nth(1).unwrap().starts_with(&head), "{}", ran.out);
        let row = ran.out.lines().find(|line| line.contains(" │ ")).expect(&ran.out);
        let (offset, cells) = row.trim().split_once(" │ ").unwrap();
        let offset = usize::from_str_radix(offset, 16).unwrap();
        let bytes = fs::read(output).unwrap();
        let hex: Vec<String> = cells
            .split(' ')
            .take_while(|cell| cell.len() == 2)
            .zip(&bytes[offset..])
            .map(|(_, byte)| format!("{byte:02x}"))
            .collect();
        assert!(cells.starts_with(&hex.join(" ")), "{cells} at {offset:#x}");
    }
}

#[test]
fn a_place_past_the_end_of_the_file_is_marked_as_decompressed() {
    let mut trace = read("apitrace/clean/glxdemo.trace");
    trace[0x235e] = 0x89;
    let folder = folder(&[("app.trace", &trace)]);
    let ran = check(&folder.path().join("app.trace"), &[], WIDE);
    assert!(ran.out.contains("of the decompressed stream"), "{}", ran.out);
}

#[test]
fn a_page_about_a_code_has_its_headings_and_fits_the_terminal() {
    let narrow = Look { width: 80, ..Look::PLAIN };
    for rule in tracemend::rules() {
        let ran = run_with(&["explain".as_ref(), rule.code.as_ref()], &mut io::empty(), narrow);
        let lines: Vec<&str> = ran.out.lines().collect();
        assert!(lines[0].starts_with(&format!("{} {} (", rule.code, rule.name)), "{}", ran.out);
        for heading in ["Problem", "Impact"] {
            assert!(lines.contains(&heading), "{}", ran.out);
        }
        assert!(lines.contains(&"Fix") || lines.contains(&"Next"), "{}", ran.out);
    }
}
