//! JSON of findings: long edits have their length and checksum, unless all bytes are asked for.

use tracemend::json::EDIT_BYTES_MAX;

use super::*;

/// A recording whose repair stores a chunk anew.
fn torn() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/apitrace/clean/glxdemo.trace");
    let mut bytes = fs::read(path).unwrap();
    bytes[0x235e] = 0x89;
    bytes
}

/// Every edit of a report.
fn edits(document: &Value) -> Vec<Value> {
    fn walk(value: &Value, found: &mut Vec<Value>) {
        match value {
            Value::Object(members) => {
                let own = members.get("edits").and_then(Value::as_array);
                found.extend(own.into_iter().flatten().cloned());
                members.values().for_each(|value| walk(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| walk(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(document, &mut found);
    found
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

/// Whether the short report is the whole one without the bytes of long edits.
fn assert_shortened(short: &Value, whole: &Value) {
    let (short, whole) = (edits(short), edits(whole));
    assert_eq!(short.len(), whole.len());
    let mut count = 0;
    for (short, whole) in short.iter().zip(&whole) {
        let bytes = bytes_of(whole["insert"].as_str().unwrap());
        if bytes.len() <= EDIT_BYTES_MAX {
            assert_eq!(short, whole);
            continue;
        }
        count += 1;
        assert!(short["insert"].is_null(), "{short}");
        let crc32 = format!("{:08x}", crc32fast::hash(&bytes));
        let expected = serde_json::json!({ "length": bytes.len(), "crc32": crc32 });
        assert_eq!(short["inserted"], expected);
    }
    assert!(count > 0, "no edit is long");
}

#[test]
fn a_report_has_the_bytes_of_long_edits_only_if_they_are_asked_for() {
    let folder = folder(&[("a.trace", &torn())]);
    let path = folder.path().join("a.trace");
    let run = |args: &[&str]| {
        let mut all = vec![args[0].as_ref(), path.as_os_str()];
        all.extend(args[1..].iter().map(OsStr::new));
        run_with(&all, &mut io::empty(), Look::PLAIN).out
    };
    let short = run(&["check", "--format=json"]);
    let whole = run(&["check", "--format=json", "--edits"]);
    assert_shortened(&parse(&short), &parse(&whole));
    assert!(short.len() * 2 < whole.len(), "{} and {} bytes", short.len(), whole.len());
    let line = |text: &str| parse(text.lines().next().unwrap());
    let lines = |option| line(&run(&["check", "--format=jsonl", option]));
    assert_shortened(&lines("--all"), &lines("--edits"));
    let repaired = |option| parse(&run(&["repair", "--format=json", "--dry-run", option]));
    assert_shortened(&repaired("--partial"), &repaired("--edits"));
    // The plan has all of them, and a fix in SARIF is whole or not there.
    let has_fix = |text: &str| parse(text)["runs"][0]["results"][0]["fixes"].is_array();
    assert!(!has_fix(&run(&["check", "--format=sarif"])));
    assert!(has_fix(&run(&["check", "--format=sarif", "--edits"])));
    for (command, format) in [("check", "human"), ("check", "junit"), ("repair", "human")] {
        let ran = run!(command, &path, "--edits", "--format", format);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{command} {format}");
        assert!(ran.err.contains("--edits applies to --format json"), "{}", ran.err);
    }
}

#[test]
fn merged_and_resumed_reports_hold_what_was_asked_for() {
    let folder = folder(&[("a.trace", &torn()), ("b.data", &crashed())]);
    let reports = TempDir::new().unwrap();
    let report = |name: &str| reports.path().join(name);
    for (name, options) in [("short", &[][..]), ("whole", &["--edits"][..])] {
        let mut args: Vec<OsString> = ["check", "--format=json", "-o"].map(OsString::from).into();
        args.extend([report(name).into(), folder.path().into()]);
        args.extend(options.iter().map(OsString::from));
        let args: Vec<&OsStr> = args.iter().map(OsString::as_os_str).collect();
        assert_eq!(run_with(&args, &mut io::empty(), Look::PLAIN).code, 1);
        let text = fs::read_to_string(report(name)).unwrap();
        assert_eq!(run!("merge", report(name), "--format", "json").out, text, "{name}");
        // Other formats are those of one run, too.
        let options = options.first().copied().unwrap_or("--all");
        let one = run!("check", folder.path(), "--format", "sarif", options).out;
        let merged = run!("merge", report(name), "--format", "sarif").out;
        assert_eq!(parse(&merged)["runs"][0]["results"], parse(&one)["runs"][0]["results"]);
        for options in ["--all", "--edits"] {
            let (path, json) = (folder.path(), "--format=json");
            let ran = run!("check", path, json, options, "--resume", report(name));
            let fresh = run!("check", path, json, options);
            assert_eq!(ran.out, fresh.out, "{name} {options}");
        }
    }
    let page = run!("merge", report("short"), "--format", "html").out;
    assert!(page.contains(" bytes</code>"), "{page}");
    // A report of the version before had all bytes and is read like a new one.
    let whole = fs::read_to_string(report("whole")).unwrap();
    let before = whole.replace("tracemend.check.v2", "tracemend.check.v1");
    assert_ne!(before, whole);
    fs::write(report("before"), before).unwrap();
    assert_eq!(run!("merge", report("before"), "--format", "json").out, whole);
}
