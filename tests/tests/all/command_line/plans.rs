//! Plans: applied, verified, undone, refused.

use super::*;

/// A truncated recording, its repaired form and the plan between them.
fn planned() -> (TempDir, PathBuf, PathBuf, PathBuf) {
    let folder = folder(&[("x", &truncated())]);
    let path = |name: &str| folder.path().join(name);
    let (source, mended, plan) = (path("x"), path("x.mended"), path("plan"));
    let ran = run!("repair", &source, "--plan", &plan);
    assert_eq!(ran.code, 3, "{}", ran.err);
    (folder, source, mended, plan)
}

#[test]
fn a_plan_is_applied_verified_and_undone() {
    let (folder, source, mended, plan) = planned();
    let ran = run!("verify", &plan, &source, &mended);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("bytes before = "), "{}", ran.out);
    let out = folder.path().join("out");
    assert_eq!(run!("apply", &plan, &source, "-o", &out).code, 3, "as the repair");
    assert_eq!(fs::read(&out).unwrap(), fs::read(&mended).unwrap());
    let again = run!("apply", &plan, &source, "-o", &out);
    assert_eq!(again.code, 3, "{}", again.err);
    assert!(again.out.contains("already there, the same"), "{}", again.out);
    fs::write(&out, b"notes").unwrap();
    assert_eq!(run!("apply", &plan, &source, "-o", &out).code, 2, "it differs");
    let back = folder.path().join("back");
    assert_eq!(run!("apply", &plan, &mended, "-o", &back, "--reverse").code, 0);
    assert_eq!(fs::read(&back).unwrap(), truncated());
    assert_eq!(run!("apply", &plan, &source, "-o", &plan, "--force").code, 2, "an input");
}

#[test]
fn attrs_that_are_stepped_down_on_request_are_planned_verified_and_undone() {
    use tracemend_tests::forge::perf::{Attr, Order, Recording, sample_type};
    let attr = Attr::cpu_clock(sample_type::IP | sample_type::TID).with_ids(&[11]).with_size(136);
    let mut recording = Recording::new(Order::Little, vec![attr]);
    let sample = recording.maker(0).sample();
    recording.push(sample);
    let bytes = recording.build().bytes;
    let folder = folder(&[("x", &bytes)]);
    let path = |name: &str| folder.path().join(name);
    let (source, target, plan) = (path("x"), path("out"), path("plan"));
    let ran = run!("repair", &source, "--abi", "128", "--dry-run");
    assert_eq!((ran.code, target.exists()), (0, false), "{}", ran.err);
    assert!(ran.out.contains("write 1 attr with 128 bytes each, as asked for"), "{}", ran.out);
    let ran = run!("repair", &source, "--abi", "128", "-o", &target, "--plan", &plan);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(fs::read(&target).unwrap().len() + 8, bytes.len());
    let ran = run!("verify", &plan, &source, &target);
    assert_eq!(ran.code, 0, "{}", ran.out);
    let back = path("back");
    assert_eq!(run!("apply", &plan, &target, "-o", &back, "--reverse").code, 0);
    assert_eq!(fs::read(&back).unwrap(), bytes);
    assert_eq!(run!("repair", &source, "--abi", "100", "-o", &back, "--force").code, 2);
}

#[test]
fn a_plan_for_another_file_or_a_changed_plan_is_refused() {
    let (folder, source, mended, plan) = planned();
    let out = folder.path().join("out");
    assert_eq!(run!("apply", &plan, &mended, "-o", &out).code, 4);
    let ran = run!("verify", &plan, &mended, &source);
    assert_eq!(ran.code, 1, "{}", ran.out);
    for (path, flip) in [(&plan, 40), (&source, 0), (&mended, 7)] {
        let good = fs::read(path).unwrap();
        let mut bad = good.clone();
        bad[flip] ^= 1;
        fs::write(path, &bad).unwrap();
        let ran = run!("verify", &plan, &source, &mended);
        assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
        if path != &mended {
            let ran = run!("apply", &plan, &source, "-o", &out);
            assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
        }
        fs::write(path, &good).unwrap();
    }
    assert!(!out.exists());
    // An existing plan is not replaced by another one.
    let ran = run!("repair", &source, "--dry-run", "--plan", &plan);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--force"), "{}", ran.err);
    assert_eq!(run!("repair", &source, "--dry-run", "--plan", &source, "--force").code, 2);
}

#[test]
fn every_forged_recording_is_mended_as_its_library_says() {
    for clean in perf::clean() {
        let bytes = clean.built.crashed_torn(3);
        let folder = folder(&[("x", &bytes)]);
        let ran = run!("repair", folder.path().join("x"), "-o", folder.path().join("y"));
        let code = exit_of(&bytes);
        assert_eq!(ran.code, code, "{}: {}{}", clean.name, ran.out, ran.err);
        assert_eq!(folder.path().join("y").exists(), code != 4, "{}", clean.name);
        if code == 0 || code == 3 {
            assert_eq!(run!("check", folder.path().join("y")).code, 0, "{}", clean.name);
        }
    }
}

#[test]
fn a_report_that_cannot_be_written_exits_with_5() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from_raw_os_error(libc::ENOSPC))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut err = Vec::new();
    let args = ["tracemend", "codes"].map(OsString::from);
    let (mut input, mut out) = (io::empty(), Full);
    let code = tracemend_cli::run(args, Streams::new(&mut input, &mut out, &mut err, Look::PLAIN));
    assert_eq!(code, 5);
    assert!(String::from_utf8(err).unwrap().contains("standard output: No space left"));
    assert_eq!(run!("codes").code, 0);
    let folder = folder(&[("x", &sound())]);
    assert_eq!(run!("check", folder.path().join("x"), "-o", "/dev/full").code, 5);
}

#[test]
fn what_else_lies_in_a_directory_recording_comes_along() {
    let files: Vec<(String, Vec<u8>)> = perf::directory()
        .into_iter()
        .map(|(name, mut bytes)| {
            if name == "data" {
                // The recorder never wrote data.size.
                bytes[48..56].fill(0);
            }
            (format!("perf.data/{name}"), bytes)
        })
        .chain([("perf.data/kcore_dir/kallsyms".to_string(), b"0 A a\n".to_vec())])
        .collect();
    let named: Vec<(&str, &[u8])> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let folder = folder(&named);
    symlink("data", folder.path().join("perf.data/link")).unwrap();
    let ran = run!("repair", folder.path().join("perf.data"), "-o", folder.path().join("out"));
    assert!(matches!(ran.code, 0 | 3), "{} {}", ran.out, ran.err);
    let copied = fs::read(folder.path().join("out/kcore_dir/kallsyms")).unwrap();
    assert_eq!(copied, b"0 A a\n");
    assert_eq!(fs::read_link(folder.path().join("out/link")).unwrap(), Path::new("data"));
    let kept = names(&folder.path().join("perf.data"));
    assert_eq!(names(&folder.path().join("out")), kept);
}
