//! `repair`: what is written, where, and what is not.

use super::*;

#[test]
fn a_sound_recording_needs_nothing_and_is_copied_only_if_asked() {
    let folder = folder(&[("x", &sound())]);
    let path = folder.path().join("x");
    for arg in ["--force", "--in-place", "--dry-run"] {
        let ran = run!("repair", &path, arg);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains("nothing to do"), "{}", ran.out);
        assert_eq!(names(folder.path()), ["x"]);
    }
    let out = folder.path().join("out");
    let ran = run!("repair", &path, "-o", &out);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("an identical copy"), "{}", ran.out);
    assert_eq!(fs::read(out).unwrap(), sound());
}

#[test]
fn a_repair_is_written_beside_the_source_which_stays() {
    for (bytes, code) in [(truncated(), 3), (crashed(), exit_of(&crashed()))] {
        let folder = folder(&[("x", &bytes)]);
        let path = folder.path().join("x");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let ran = run!("repair", &path);
        assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
        assert_eq!(names(folder.path()), ["x", "x.mended"]);
        assert_eq!(fs::read(&path).unwrap(), bytes);
        let mended = folder.path().join("x.mended");
        assert_eq!(fs::metadata(&mended).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(run!("check", &mended).code, 0);
        assert_eq!(fs::read(&mended).unwrap(), tracemend_tests::mended::mended(&bytes).1);
        // Another file of this name stays, unless --force is given; the repaired one is sound.
        fs::write(&mended, b"notes").unwrap();
        let ran = run!("repair", &path);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains("--force"), "{}", ran.err);
        assert_eq!(fs::read(&mended).unwrap(), b"notes");
        assert_eq!(run!("repair", &path, "--force").code, code);
        assert!(run!("repair", &mended).out.contains("nothing to do"));
    }
}

#[test]
fn the_balance_adds_up() {
    let folder = folder(&[("x", &truncated())]);
    let ran = run!("repair", folder.path().join("x"), "--format", "json");
    let report = parse(&ran.out);
    let number = |pointer: &str| report.pointer(pointer).and_then(Value::as_u64).unwrap();
    let both = number("/balance/kept") + number("/balance/replaced");
    let dropped = number("/balance/dropped");
    let output = fs::metadata(folder.path().join("x.mended")).unwrap().len();
    assert_eq!(both + dropped, u64::try_from(truncated().len()).unwrap());
    assert_eq!(both + number("/balance/inserted"), output);
    assert_eq!(report["outcome"], "repaired-with-loss");
    assert_eq!(report["after"]["verdict"], "clean");
    assert!(!report["fixes"].as_array().unwrap().is_empty());
    let human = run!("repair", folder.path().join("x"), "--force").out;
    let sums: Vec<Vec<u64>> = human
        .lines()
        .filter(|line| line.contains(" bytes before = ") || line.contains(" bytes after  = "))
        .map(|line| line.split(' ').filter_map(|word| word.parse().ok()).collect())
        .collect();
    let [before, after] = sums.as_slice() else { panic!("two sums: {human}") };
    assert_eq!((before[0], after[0]), (both + dropped, output), "{human}");
    for sum in [before, after] {
        assert_eq!(sum[0], sum[1..].iter().sum::<u64>(), "{human}");
        assert_eq!(sum[1], number("/balance/kept"), "{human}");
    }
}

#[test]
fn in_place_keeps_the_original_and_never_replaces_it() {
    let folder = folder(&[("x", &truncated())]);
    let path = folder.path().join("x");
    let ran = run!("repair", &path, "--in-place");
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    assert_eq!(names(folder.path()), ["x", "x.orig"]);
    assert_eq!(fs::read(folder.path().join("x.orig")).unwrap(), truncated());
    assert_eq!(run!("check", &path).code, 0);
    fs::write(&path, truncated()).unwrap();
    let ran = run!("repair", &path, "--in-place");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("x.orig exists"), "{}", ran.err);
    assert_eq!(fs::read(&path).unwrap(), truncated());
    assert_eq!(run!("repair", &path, "--in-place", "--no-backup").code, 3);
    assert_eq!(run!("check", &path).code, 0);
    assert_eq!(names(folder.path()), ["x", "x.orig"]);
    // A run that was killed between the two names: both are the source.
    fs::write(&path, truncated()).unwrap();
    fs::remove_file(folder.path().join("x.orig")).unwrap();
    fs::hard_link(&path, folder.path().join("x.orig")).unwrap();
    assert_eq!(run!("repair", &path, "--in-place").code, 3);
    assert_eq!(fs::read(folder.path().join("x.orig")).unwrap(), truncated());
    assert_eq!(run!("check", &path).code, 0);
}

#[test]
fn in_place_follows_a_link_and_tells_of_hard_links() {
    let folder = folder(&[("deep/x", &truncated())]);
    let (link, real) = (folder.path().join("link"), folder.path().join("deep/x"));
    symlink("deep/x", &link).unwrap();
    fs::hard_link(&real, folder.path().join("other")).unwrap();
    let ran = run!("repair", &link, "--in-place");
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("2 hard links"), "{}", ran.err);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(names(&folder.path().join("deep")), ["x", "x.orig"]);
    assert_eq!(fs::read(folder.path().join("other")).unwrap(), truncated());
    assert_eq!(run!("check", &link).code, 0);
}

#[test]
fn an_output_that_is_the_source_is_refused_by_whatever_name() {
    let folder = folder(&[("x", &truncated())]);
    let path = folder.path().join("x");
    let (soft, hard) = (folder.path().join("soft"), folder.path().join("hard"));
    symlink("x", &soft).unwrap();
    fs::hard_link(&path, &hard).unwrap();
    for output in [&path, &soft, &hard] {
        let ran = run!("repair", &path, "-o", output, "--force");
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains("--in-place"), "{}", ran.err);
    }
    for output in ["/dev/null", "/dev/full"] {
        assert_eq!(run!("repair", &path, "-o", output, "--force").code, 2, "{output}");
    }
    assert_eq!(fs::read(&path).unwrap(), truncated());
    assert_eq!(run!("repair", &path, "-o", "y", "--in-place").code, 2);
    assert_eq!(names(folder.path()), ["hard", "soft", "x"]);
}

#[test]
fn an_output_through_a_link_goes_where_the_link_points() {
    let folder = folder(&[("x", &truncated()), ("deep/old", b"old")]);
    for (link, to) in [("dangling", "deep/new"), ("to-old", "deep/old")] {
        let link = folder.path().join(link);
        symlink(to, &link).unwrap();
        let ran = run!("repair", folder.path().join("x"), "-o", &link, "--force");
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(run!("check", folder.path().join(to)).code, 0);
    }
}

#[test]
fn a_fix_that_waits_for_an_error_without_one_says_so() {
    let mut clean = perf::clean().into_iter();
    let built = clean.find(|one| one.name == "tracepoint").unwrap().built;
    // perf was killed before the first record, so no fix of PD0004 gives TRACING_DATA its place.
    let killed = &built.crashed()[..built.records[0].offset];
    let folder = folder(&[("x", killed)]);
    let ran = run!("repair", folder.path().join("x"));
    assert_eq!(ran.code, 4, "{}", ran.err);
    let text = "PD0019: not applied (other errors have to be repaired first): build TRACING_DATA";
    assert!(ran.out.contains(text), "{}", ran.out);
    assert!(!ran.out.contains("limit"), "{}", ran.out);
}

#[test]
fn what_cannot_be_repaired_writes_nothing_unless_told_to() {
    let built = perf::clean().swap_remove(0).built;
    let mut broken = built.crashed();
    let header = built.records[3].range().start;
    broken[header..header + 8].copy_from_slice(&[0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 3, 0]);
    let folder = folder(&[("x", b"no recording at all"), ("broken", &broken)]);
    let ran = run!("repair", folder.path().join("x"), "-o", folder.path().join("out"));
    assert_eq!(ran.code, 4);
    assert!(ran.out.contains("CM0002") && ran.out.contains("not repaired (exit 4)"), "{}", ran.out);
    let ran = run!("repair", folder.path().join("x"), "--partial");
    assert_eq!(ran.code, 4, "no fix applies");
    // Without loss the header of the file can be repaired, but not that of a record.
    let broken = folder.path().join("broken");
    let ran = run!("repair", &broken, "--safety", "synthetic");
    assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("--partial writes the fixes that apply"), "{}", ran.out);
    assert_eq!(names(folder.path()), ["broken", "x"]);
    let (out, plan) = (folder.path().join("out"), folder.path().join("plan"));
    let args = ["-o".as_ref(), out.as_os_str(), "--plan".as_ref(), plan.as_os_str()];
    let ran = run!(
        "repair",
        &broken,
        "--safety",
        "synthetic",
        "--partial",
        args[0],
        args[1],
        args[2],
        args[3]
    );
    assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("out") && ran.out.contains("PD1002"), "{}", ran.out);
    assert_eq!(run!("verify", &plan, &broken, &out).code, 0);
    let left = parse(&run!("check", &out, "--format", "json").out);
    assert_eq!(left["recordings"][0]["counts"], serde_json::json!({ "PD1002": 1 }));
}
