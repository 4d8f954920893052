//! Repairs of many recordings: one report, and the outputs below one folder.

use super::*;

/// Every outcome, in folders.
fn tree() -> TempDir {
    folder(&[
        ("in/a/crashed.data", &crashed()),
        ("in/a/sound.data", &sound()),
        ("in/b/truncated.data", &truncated()),
        ("in/b/cut.data", &sound()[..60]),
        ("in/note.txt", b"x"),
    ])
}

fn json(ran: &Ran) -> Value {
    let document = parse(&ran.out);
    assert_valid(&schema("repairs.schema.json"), &document);
    document
}

#[test]
fn a_tree_is_repaired_below_one_folder() {
    let folder = tree();
    let (source, out) = (folder.path().join("in"), folder.path().join("out"));
    let ran = run!("repair", &source, "--out-dir", &out, "--format", "json");
    let document = json(&ran);
    let expected = exit_of(&sound()[..60]).max(3);
    assert_eq!(ran.code, expected, "{}{}", ran.out, ran.err);
    let repairs = document["repairs"].as_array().unwrap();
    let outcome = |name: &str| {
        let found = repairs.iter().find(|one| one["path"].as_str().unwrap().ends_with(name));
        found.unwrap()["outcome"].as_str().unwrap().to_string()
    };
    assert_eq!(outcome("crashed.data"), "repaired");
    assert_eq!(outcome("sound.data"), "clean");
    assert_eq!(outcome("truncated.data"), "repaired-with-loss");
    assert_eq!(document["skipped"].as_array().unwrap().len(), 1);
    assert_eq!(fs::read(out.join("a/sound.data")).unwrap(), sound());
    assert_eq!(run!("check", out.join("a/crashed.data")).code, 0);
    assert_eq!(run!("check", out.join("b/truncated.data")).code, 0);
    // Each output is the one of a repair of its own.
    let alone = folder.path().join("alone");
    run!("repair", source.join("b/truncated.data"), "-o", &alone);
    assert_eq!(fs::read(&alone).unwrap(), fs::read(out.join("b/truncated.data")).unwrap());
    // Nothing is replaced, and the rest goes on.
    fs::remove_file(out.join("a/crashed.data")).unwrap();
    fs::write(out.join("a/sound.data"), b"notes").unwrap();
    let ran = run!("repair", &source, "--out-dir", &out, "--format", "json");
    assert_eq!(ran.code, 5);
    let errors = json(&ran)["errors"].as_array().unwrap().clone();
    let messages: Vec<&str> = errors.iter().map(|one| one["message"].as_str().unwrap()).collect();
    assert!(messages.iter().any(|one| one.contains("exists and differs")), "{messages:?}");
    assert_eq!(fs::read(out.join("a/sound.data")).unwrap(), b"notes");
    assert!(out.join("a/crashed.data").is_file());
    assert_eq!(run!("repair", &source, "--out-dir", &out, "--force").code, expected);
    assert_eq!(fs::read(source.join("a/crashed.data")).unwrap(), crashed());
}

#[test]
fn a_dry_run_over_a_tree_writes_nothing_and_does_not_depend_on_threads() {
    let folder = tree();
    let source = folder.path().join("in");
    let names_before = names(folder.path());
    for format in ["human", "json"] {
        let ran =
            |jobs: &str| run!("repair", &source, "--dry-run", "--format", format, "--jobs", jobs);
        let one = ran("1");
        let many = ran("7");
        assert_eq!((one.code, &one.out, &one.err), (many.code, &many.out, &many.err));
    }
    assert_eq!(names(folder.path()), names_before);
    assert_eq!(names(&source.join("a")), ["crashed.data", "sound.data"]);
    let ran = run!("repair", &source, "--dry-run");
    let last =
        "4 recordings: 1 clean, 1 repaired without loss, 1 repaired with loss, 1 not repaired";
    assert!(ran.out.contains(last), "{}", ran.out);
    assert!(ran.out.contains("skipped (unknown format): "), "{}", ran.out);
}

#[test]
fn outputs_do_not_meet_one_another_or_the_sources() {
    let folder = folder(&[("a/x", &crashed()), ("b/x", &truncated())]);
    let path = |name: &str| folder.path().join(name);
    let ran = run!("repair", path("a"), path("b"), "--out-dir", path("out"));
    assert_eq!(ran.code, 5, "{}", ran.out);
    assert!(ran.err.contains("another recording is written to x"), "{}", ran.err);
    assert_eq!(fs::read(path("a/x")).unwrap(), crashed());
    assert_eq!(fs::read(path("b/x")).unwrap(), truncated());
    assert_eq!(run!("check", path("out/x")).code, 0);
    for inside in ["a", "a/new/er"] {
        let ran = run!("repair", path("a"), "--out-dir", path(inside));
        assert_eq!(ran.code, 2, "{inside}: {}", ran.err);
        assert!(ran.err.contains("lies inside"), "{}", ran.err);
    }
    for (options, reason) in [
        (vec!["-o", "y"], "-o OUT applies to one"),
        (vec!["--in-place", "--out-dir", "y"], "cannot be used with"),
        (vec!["-o", "y", "--out-dir", "y"], "cannot be used with"),
        (vec!["--plan", "p"], "--plan applies to one"),
    ] {
        let (a, b) = (path("a/x"), path("b/x"));
        let mut args: Vec<&OsStr> = vec!["repair".as_ref(), a.as_os_str(), b.as_os_str()];
        args.extend(options.iter().map(OsStr::new));
        let ran = run_with(&args, &mut io::empty(), Look::PLAIN);
        assert_eq!(ran.code, 2, "{options:?}: {}", ran.out);
        assert!(ran.err.contains(reason), "{}", ran.err);
    }
    assert_eq!(run!("repair", "-", "--out-dir", path("c")).code, 2);
}
