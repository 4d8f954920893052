//! `cut`: exit codes, and outputs that are written completely or not at all.

use super::*;

fn corpus(format: &str, name: &str) -> PathBuf {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    corpus.join(format).join("clean").join(name)
}

#[test]
fn a_part_is_written_and_the_source_stays() {
    for name in ["plain.data", "pipe.data", "zstd.data", "threads.data"] {
        let path = corpus("perf", name);
        let folder = TempDir::new().unwrap();
        let part = folder.path().join("part.data");
        let cut = || run!("cut", &path, "--range", "20..60", "-o", &part);
        let ran = cut();
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{name}: {}", ran.out);
        assert!(ran.out.contains(" written, "), "{}", ran.out);
        assert_eq!(run!("check", &part).code, 0, "{name}");
        // As in a repair, a name that has the part already is left alone.
        let again = cut();
        assert_eq!(again.code, 0, "{}", again.err);
        assert!(again.out.contains("already there, the same"), "{}", again.out);
    }
}

#[test]
fn other_content_is_kept_unless_it_may_be_replaced() {
    let path = corpus("perf", "plain.data");
    let folder = TempDir::new().unwrap();
    let part = folder.path().join("part.data");
    fs::write(&part, "mine").unwrap();
    let ran = run!("cut", &path, "--time", "..", "-o", &part);
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert_eq!(fs::read(&part).unwrap(), b"mine");
    assert_eq!(run!("cut", &path, "--time", "..", "-o", &part, "--force").code, 0);
    assert_ne!(fs::read(&part).unwrap(), b"mine");
    // The source is not an output.
    let copy = folder.path().join("copy.data");
    fs::copy(&path, &copy).unwrap();
    assert_eq!(run!("cut", &copy, "--time", "..", "-o", &copy, "--force").code, 2);
    assert_eq!(fs::read(&copy).unwrap(), fs::read(&path).unwrap());
}

#[test]
fn what_cannot_be_cut_is_refused_without_an_output() {
    let folder = TempDir::new().unwrap();
    let part = folder.path().join("part");
    let plain = corpus("perf", "plain.data");
    let damaged = folder.path().join("damaged.data");
    let mut bytes = fs::read(&plain).unwrap();
    bytes[48..56].fill(0);
    fs::write(&damaged, bytes).unwrap();
    let revent = fs::read_dir(corpus("revent", "")).unwrap().next().unwrap().unwrap().path();
    let cases: [(&Path, &[&str], u8, &str); 6] = [
        (&plain, &[], 2, "--time A..B or --range A..B"),
        (&plain, &["--time", "1"], 2, "a range of seconds"),
        (&plain, &["--time", "1..2"], 4, "the samples have times from"),
        (&damaged, &["--time", ".."], 4, "repair it first: tracemend repair"),
        (&revent, &["--time", ".."], 2, "it is an option of perf"),
        (&plain, &["--range", "..", "--limit", "cut=1"], 6, "limit cut"),
    ];
    for (path, options, code, told) in cases {
        let mut args: Vec<&OsStr> = vec!["cut".as_ref(), path.as_os_str(), "-o".as_ref()];
        args.push(part.as_os_str());
        args.extend(options.iter().map(OsStr::new));
        let ran = run_with(&args, &mut io::empty(), Look::PLAIN);
        assert_eq!(ran.code, code, "{options:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(told), "{options:?}: {}", ran.err);
        assert!(!part.exists(), "{options:?}");
    }
}
