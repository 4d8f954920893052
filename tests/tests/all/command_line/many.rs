//! Many files: lists, patterns, and any number of threads.

use tracemend_tests::forge::ovni;
use tracemend_tests::sweep::is_left_to_the_gate;

use super::*;

/// A tree with all that a walk can meet.
fn tree() -> TempDir {
    let (crashed, sound) = (crashed(), sound());
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for number in 0..60 {
        let bytes = match number % 4 {
            0 => crashed.clone(),
            1 => sound.clone(),
            2 => sound[..60 + number].to_vec(),
            _ => b"no recording".to_vec(),
        };
        files.push((format!("{:02}/x.{number}", number % 7), bytes));
    }
    files.push(("00/perf.data".into(), Vec::new()));
    for (name, bytes) in ovni::by_name("smallest").files {
        files.push((format!("03/trace/{name}"), bytes.clone().unwrap()));
    }
    let all: Vec<(&str, &[u8])> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    folder(&all)
}

#[test]
fn reports_are_the_same_at_any_number_of_threads() {
    if is_left_to_the_gate("reports are the same at any number of threads") {
        return;
    }
    let folder = tree();
    let gone = folder.path().join("gone");
    for format in
        ["human", "json", "jsonl", "oneline", "sarif", "junit", "github", "gitlab", "html", "svg"]
    {
        let ran = |jobs: &str| {
            let own = folder.path().join("03");
            run!("check", folder.path(), &gone, own, "--format", format, "--jobs", jobs)
        };
        let one = ran("1");
        assert_eq!(one.code, 5);
        for jobs in ["2", "3", "16"] {
            let many = ran(jobs);
            assert_eq!((many.code, &many.err), (one.code, &one.err), "{format}, {jobs} jobs");
            assert_eq!(many.out, one.out, "{format}, {jobs} jobs");
        }
    }
}

/// Files of a directory that no one looks at one by one.
const CROWD: usize = 100_000;

#[test]
fn a_hundred_thousand_files_are_walked_and_counted() {
    if is_left_to_the_gate("a folder of a hundred thousand files") {
        return;
    }
    let folder = folder(&[("crowd/sound", &sound())]);
    let crowd = folder.path().join("crowd");
    for number in 1..CROWD {
        fs::File::create(crowd.join(format!("{number:06}"))).unwrap();
    }
    let mut program = Command::new(env!("CARGO_BIN_EXE_tracemend-under-test"));
    let ran = program.arg("check").arg(&crowd).args(["--format", "json"]).output().unwrap();
    let err = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{err}");
    let totals = &parse(&String::from_utf8(ran.stdout).unwrap())["totals"];
    assert_eq!((totals["recordings"].as_u64(), totals["clean"].as_u64()), (Some(1), Some(1)));
    let skipped = totals["skipped"]["empty"].as_u64();
    assert_eq!(skipped, Some(u64::try_from(CROWD - 1).unwrap()), "{totals}");
}

#[test]
fn a_list_names_paths_by_line_or_by_nul() {
    let folder = tree();
    let path = |name: &str| folder.path().join(name);
    let names = [path("00/x.0"), path("01/x.1"), path("gone"), path("02/x.2")];
    let all: Vec<String> = names.iter().map(|path| path.display().to_string()).collect();
    let expected = {
        let mut args: Vec<&OsStr> = vec!["check".as_ref()];
        args.extend(names.iter().map(|path| path.as_os_str()));
        run_with(&args, &mut io::empty(), Look::PLAIN)
    };
    assert_eq!(expected.code, 5);
    let args: [&OsStr; 3] = ["check".as_ref(), "--files-from".as_ref(), "-".as_ref()];
    for separator in ["\n", "\0"] {
        let list = all.join(separator) + separator;
        let ran = run_with(&args, &mut list.as_bytes(), Look::PLAIN);
        assert_eq!((ran.code, &ran.err), (expected.code, &expected.err));
        // Named on the command line, a file has its line even if it is clean.
        assert_eq!(ran.out, expected.out);
    }
    let list = path("list");
    fs::write(&list, all.join("\n")).unwrap();
    assert_eq!(run!("check", "--files-from", &list).out, expected.out);
    // Nothing at all is no verdict.
    let ran = run_with(&args, &mut io::empty(), Look::PLAIN);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    let ran = run!("check", "-", "--files-from", "-");
    assert_eq!(ran.code, 2);
    assert_eq!(run!("check", "--files-from", path("nowhere")).code, 5);
}

#[test]
fn a_pattern_is_what_it_matches() {
    let folder = tree();
    let pattern = folder.path().join("0[12]/x.?");
    let ran = run!("check", &pattern, "--format", "json");
    let document = parse(&ran.out);
    let path = |one: &Value| one["path"].as_str().unwrap().to_string();
    let found: Vec<String> = document["recordings"].as_array().unwrap().iter().map(path).collect();
    let expected = ["01/x.1", "01/x.8", "02/x.2", "02/x.9"];
    let expected = expected.map(|name| folder.path().join(name).display().to_string());
    assert_eq!(found, expected);
    let ran = run!("check", folder.path().join("9*"));
    assert_eq!(ran.code, 5);
    assert!(ran.err.contains("9*: No such file"), "{}", ran.err);
}
