//! Reports for platforms: SARIF, JUnit, GitLab and GitHub, judged by their schemas.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tracemend_tests::judge;

use super::*;
use tracemend_tests::sweep::is_left_to_the_gate;

/// Every format of a report.
const ALL: [&str; 13] = [
    "human", "json", "jsonl", "oneline", "sarif", "junit", "github", "gitlab", "azure", "rdjson",
    "tap", "html", "svg",
];

/// A file in the sources of a package that the tests depend on.
fn file_of_package(package: &str, file: &str) -> PathBuf {
    let host = Command::new("rustc").args(["--print", "host-tuple"]).output().unwrap();
    let host = String::from_utf8(host.stdout).unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // A build has downloaded the packages for this platform, and no others.
    command.args(["metadata", "--format-version=1", "--offline", "--locked"]);
    command.args(["--filter-platform", host.trim()]);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let metadata = parse(&String::from_utf8(output.stdout).unwrap());
    let packages = metadata["packages"].as_array().unwrap();
    let found = packages.iter().find(|one| one["name"] == package).unwrap();
    Path::new(found["manifest_path"].as_str().unwrap()).parent().unwrap().join(file)
}

/// The schema of OASIS for SARIF 2.1.0, which the crate serde-sarif carries.
fn sarif_schema() -> jsonschema::Validator {
    let text = fs::read_to_string(file_of_package("serde-sarif", "src/schema.json")).unwrap();
    let mut schema = parse(&text);
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
    // The pattern of a language tag has an unmatched parenthesis there; no report has a language.
    for definition in ["run", "toolComponent"] {
        let pattern = &mut schema["definitions"][definition]["properties"]["language"]["pattern"];
        assert!(pattern.is_string());
        *pattern = "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$".into();
    }
    jsonschema::validator_for(&schema).unwrap()
}

/// Recordings with every kind of result: sound, crashed, damaged in a directory, unknown, empty,
/// and one that does not exist.
fn tree() -> TempDir {
    let folder = folder(&[
        ("a.data", &crashed()),
        ("b/sound.data", &sound()),
        ("b/truncated.data", &truncated()),
        ("b/note.txt", b"x"),
        ("perf.data", b""),
    ]);
    for (name, bytes) in perf::directory() {
        fs::create_dir_all(folder.path().join("rec")).unwrap();
        // Without its last bytes, data.1 has a truncated record.
        let end = bytes.len() - if name == "data.1" { 3 } else { 0 };
        fs::write(folder.path().join("rec").join(name), &bytes[..end]).unwrap();
    }
    folder
}

#[test]
fn sarif_follows_the_schema_of_oasis() {
    let folder = tree();
    let validator = sarif_schema();
    let gone = folder.path().join("gone");
    let ran = run!("check", folder.path(), &gone, "--format", "sarif", "--max-findings", "3");
    let document = parse(&ran.out);
    assert_valid(&validator, &document);
    let run = &document["runs"][0];
    let results = run["results"].as_array().unwrap();
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(results.len() > 2, "{}", ran.out);
    for result in results {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(rule["help"]["markdown"].as_str().unwrap().contains("### Impact"));
        assert!(has_help(rule["helpUri"].as_str().unwrap()), "{rule}");
        let place = &result["locations"][0]["physicalLocation"]["artifactLocation"];
        let is_relative = !place["uri"].as_str().unwrap().starts_with("file:");
        assert_eq!(place["uriBaseId"] == "%SRCROOT%", is_relative, "{place}");
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert_eq!(region["startLine"], 1);
        assert!(region["byteOffset"].is_u64() && region["byteLength"].is_u64(), "{result}");
        let print = result["partialFingerprints"]["tracemend/v1"].as_str().unwrap();
        assert_eq!(result["partialFingerprints"]["primaryLocationLineHash"], print);
    }
    // Each rule is there once, and the base of paths names no directory.
    let ids: BTreeSet<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), rules.len());
    let base = &run["originalUriBaseIds"]["%SRCROOT%"];
    assert!(base["uri"].is_null() && base["description"]["text"].is_string(), "{base}");
    let notes = run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap();
    let texts: Vec<&str> =
        notes.iter().map(|note| note["message"]["text"].as_str().unwrap()).collect();
    assert!(texts.iter().any(|text| text.contains("gone: No such file")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("note.txt: skipped (unknown")), "{texts:?}");
    assert_eq!(run["invocations"][0]["exitCode"], ran.code);
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    // A run without a result is a document, too.
    for path in [folder.path().join("b/sound.data"), gone] {
        let ran = run!("check", path, "--format", "sarif");
        let document = parse(&ran.out);
        assert_valid(&validator, &document);
        assert_eq!(document["runs"][0]["results"], serde_json::json!([]));
    }
}

/// Whether an address leads to a heading of a file of this version.
fn has_help(uri: &str) -> bool {
    let blob = "https://github.com/tracemend/tracemend/blob/";
    let base = format!("{blob}v{}/", env!("CARGO_PKG_VERSION"));
    let (file, code) = uri.strip_prefix(&base).unwrap().split_once('#').unwrap();
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file)).unwrap();
    text.contains(&format!("\n### {}\n", code.to_ascii_uppercase()))
}

#[test]
fn a_relative_path_in_sarif_counts_from_the_directory_of_the_run() {
    let folder = folder(&[("a.data", &crashed()), ("b.data", &crashed())]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracemend-under-test"));
    let command = command.args(["check", ".", "--format", "sarif"]).current_dir(folder.path());
    let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let run = &parse(&text)["runs"][0];
    let results = run["results"].as_array().unwrap();
    let place = |result: &Value| {
        let place = &result["locations"][0]["physicalLocation"]["artifactLocation"];
        assert_eq!(place["uriBaseId"], "%SRCROOT%");
        place["uri"].as_str().unwrap().to_string()
    };
    let places: BTreeSet<String> = results.iter().map(place).collect();
    assert_eq!(places, ["a.data", "b.data"].map(String::from).into());
    // Equal recordings break equal rules, which are listed once.
    let index = |result: &Value| (result["ruleId"].clone(), result["ruleIndex"].clone());
    let (first, second) = results.split_at(results.len() / 2);
    let indexes = |results: &[Value]| results.iter().map(index).collect::<Vec<_>>();
    assert_eq!(indexes(first), indexes(second));
    assert!(!text.contains(folder.path().to_str().unwrap()), "{text}");
}

#[test]
fn a_schema_that_takes_anything_would_be_noticed() {
    let validator = sarif_schema();
    let wrong = serde_json::json!({
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": { "name": "x" } }, "results": [{ "ruleId": 1 }] }],
    });
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn a_fix_in_sarif_repairs_the_recording() {
    use base64::Engine as _;
    let bytes = crashed();
    let folder = folder(&[("a.data", &bytes)]);
    let path = folder.path().join("a.data");
    let document = parse(&run!("check", &path, "--format", "sarif").out);
    let fix = &document["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0];
    let mut fixed = bytes.clone();
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    // From the last to the first: the offsets are those of the source.
    for one in fix["replacements"].as_array().unwrap().iter().rev() {
        let start = number(&one["deletedRegion"]["byteOffset"]);
        let end = start + number(&one["deletedRegion"]["byteLength"]);
        let text = one["insertedContent"]["binary"].as_str().unwrap_or_default();
        let insert = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
        fixed.splice(start..end, insert);
    }
    assert_ne!(fixed, bytes);
    // The fix names what it edits itself; sizes and offsets that depend on it are settled by
    // `repair`. This one needs no more.
    fs::write(&path, &fixed).unwrap();
    let ran = run!("check", &path);
    assert_eq!(ran.code, 0, "{}", ran.out);
}

/// The fingerprints of the results, with their codes and offsets.
fn prints(path: &Path) -> Vec<(String, String, u64)> {
    let document = parse(&run!("check", path, "--format", "sarif").out);
    let results = document["runs"][0]["results"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let entry = |result: &Value| {
        let region = &result["locations"][0]["physicalLocation"]["region"];
        let print = text(&result["partialFingerprints"]["tracemend/v1"]);
        (text(&result["ruleId"]), print, region["byteOffset"].as_u64().unwrap())
    };
    results.iter().map(entry).collect()
}

#[test]
fn fingerprints_survive_a_shift_and_are_unique() {
    const TAPS: usize = 5;
    let tap = |taps: usize| {
        let mut recording = revent::Recording::new(revent::Layout::V2);
        for _ in 0..TAPS {
            recording.tap(1);
        }
        let first = recording.events.len() / TAPS * (TAPS - taps);
        recording.events.drain(..first);
        let mut bytes = recording.build().bytes;
        // An invalid type in the last event.
        let at = bytes.len() - 8;
        bytes[at] = 0x77;
        bytes
    };
    let folder = folder(&[("x.run.revent", &tap(2))]);
    let path = folder.path().join("x.run.revent");
    let before = prints(&path);
    fs::write(&path, tap(TAPS)).unwrap();
    let after = prints(&path);
    assert!(!before.is_empty());
    let names = |all: &[(String, String, u64)]| -> Vec<(String, String)> {
        all.iter().map(|(code, print, _)| (code.clone(), print.clone())).collect()
    };
    assert_eq!(names(&before), names(&after));
    let is_moved = |(one, two): (&(String, String, u64), &(String, String, u64))| one.2 != two.2;
    assert!(before.iter().zip(&after).any(is_moved), "nothing was shifted: {after:?}");
    let mut unique: Vec<String> = after.into_iter().map(|(_, print, _)| print).collect();
    let all = unique.len();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), all);
}

/// Fails unless the report is well-formed, holds only legal characters and has the elements of
/// JUnit in their order.
fn assert_junit(text: &str) {
    let document = roxmltree::Document::parse(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    let suite = document.root_element().first_element_child().unwrap();
    assert_eq!(
        (document.root_element().tag_name().name(), suite.tag_name().name()),
        ("testsuites", "testsuite")
    );
    let cases: Vec<_> = suite.children().filter(roxmltree::Node::is_element).collect();
    let count = |name: &str| {
        let has =
            |case: &&roxmltree::Node<'_, '_>| case.children().any(|one| one.has_tag_name(name));
        cases.iter().filter(has).count().to_string()
    };
    for (attribute, sum) in [
        ("tests", cases.len().to_string()),
        ("failures", count("failure")),
        ("errors", count("error")),
        ("skipped", count("skipped")),
    ] {
        assert_eq!(suite.attribute(attribute), Some(sum.as_str()), "{attribute}: {text}");
    }
    for case in cases {
        assert_eq!(case.tag_name().name(), "testcase");
        assert!(case.attribute("name").is_some() && case.attribute("classname").is_some());
    }
}

#[test]
fn junit_has_a_case_for_every_path_and_follows_the_schema() {
    let folder = tree();
    let gone = folder.path().join("gone");
    let ran = run!("check", folder.path(), &gone, "--format", "junit");
    assert_junit(&ran.out);
    for part in ["<failure message=\"", "type=\"PD0004\"", "<skipped>unknown format</skipped>"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert!(ran.out.contains("type=\"unread\""), "{}", ran.out);
    let Some(()) = judge::xml::JUDGE.or_skip((judge::xml::JUDGE.probe)().map(drop)) else { return };
    // This schema is older than the sum of skipped cases over all suites, which pytest and
    // Surefire write, too.
    let (before, rest) = ran.out.split_once("<testsuites").unwrap();
    let (head, rest) = rest.split_once('>').unwrap();
    let without = head.replace(" skipped=\"1\"", "");
    assert_ne!(head, without);
    let report = format!("{before}<testsuites{without}>{rest}");
    let path = folder.path().join("report.xml");
    fs::write(&path, report).unwrap();
    let schema = file_of_package("junit-report", "tests/JUnit.xsd");
    judge::xml::validate(&schema, &path).unwrap();
    fs::write(&path, "<testsuites><testsuite/></testsuites>").unwrap();
    judge::xml::validate(&schema, &path).unwrap_err();
}

/// Fails unless the report is a list of findings as GitLab documents it.
fn assert_gitlab(text: &str) -> Vec<Value> {
    let list = parse(text).as_array().unwrap().clone();
    let mut prints: Vec<&str> = Vec::new();
    for entry in &list {
        for name in ["description", "check_name", "fingerprint"] {
            assert!(entry[name].as_str().is_some_and(|text| !text.is_empty()), "{entry}");
        }
        let severities = ["info", "minor", "major", "critical", "blocker"];
        assert!(severities.contains(&entry["severity"].as_str().unwrap()));
        assert!(entry["location"]["path"].is_string());
        assert!(entry["location"]["lines"]["begin"].as_u64() >= Some(1));
        prints.push(entry["fingerprint"].as_str().unwrap());
    }
    let all = prints.len();
    prints.sort_unstable();
    prints.dedup();
    assert_eq!(prints.len(), all, "GitLab shows only the first of equal fingerprints: {text}");
    list
}

#[test]
fn gitlab_gets_one_entry_per_finding() {
    let folder = tree();
    let gone = folder.path().join("gone");
    let ran = run!("check", folder.path(), &gone, "--format", "gitlab");
    let list = assert_gitlab(&ran.out);
    let document = parse(&run!("check", folder.path(), &gone, "--format", "json").out);
    let findings = document["totals"]["findings"].as_object().unwrap();
    let findings: u64 = findings.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(u64::try_from(list.len()).unwrap(), findings + 1);
    assert_eq!(list.last().unwrap()["severity"], "blocker");
    let ran = run!("check", folder.path().join("b/sound.data"), "--format", "gitlab");
    assert_eq!(assert_gitlab(&ran.out), [Value::Null; 0]);
}

#[test]
fn several_reports_at_once_are_those_of_single_runs() {
    let folder = tree();
    let reports = TempDir::new().unwrap();
    let mut args: Vec<OsString> = vec!["check".into(), folder.path().into()];
    for format in ALL.iter().filter(|format| **format != "human") {
        let file = reports.path().join(format);
        args.push("--format".into());
        args.push(format!("{format}={}", file.display()).into());
    }
    args.extend(["--format".into(), "human".into()]);
    let args: Vec<&OsStr> = args.iter().map(OsString::as_os_str).collect();
    let all = run_with(&args, &mut io::empty(), Look::PLAIN);
    for format in ALL {
        let one = run!("check", folder.path(), "--format", format);
        assert_eq!(one.code, all.code);
        let together = match format {
            "human" => all.out.clone(),
            _ => fs::read_to_string(reports.path().join(format)).unwrap(),
        };
        assert_eq!(one.out, together, "{format}");
    }
    for (args, reason) in [
        (vec!["--format=json", "--format=human"], "both write to standard output"),
        (vec!["--format=yaml"], "[possible values: human, json"),
        (vec!["--format=json="], "invalid value"),
    ] {
        let mut words: Vec<&OsStr> = vec!["check".as_ref(), folder.path().as_os_str()];
        words.extend(args.iter().map(OsStr::new));
        let ran = run_with(&words, &mut io::empty(), Look::PLAIN);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(reason), "{}", ran.err);
    }
    let report = reports.path().join("same");
    let same = format!("--format=json={}", report.display());
    assert_eq!(run!("check", folder.path(), &same, "-o", &report, "--format=human").code, 2);
}

/// Names of files: any bytes, and what formats and terminals act on.
fn hostile_name() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 1..8),
        prop::sample::select(vec![
            "\n::error::x",
            "%0A",
            ",title=y",
            "]]>",
            "<!--",
            "&#x1b;",
            "\"}],",
            "\u{1b}[2J",
            "\u{202e}",
            "\u{fffe}",
            "\u{ffff}",
            "\\u001b",
            "\r\n",
            ":0x0: error[X] y",
            "::stop-commands::t",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop::collection::vec(piece, 1..5).prop_map(|pieces| {
        let bytes = pieces.concat();
        let mut name: Vec<u8> = bytes.into_iter().filter(|b| *b != b'/' && *b != 0).collect();
        name.truncate(200);
        name.push(b'x');
        name
    })
}

/// A recording in whose texts and bytes a hostile text stands.
fn hostile_bytes() -> impl Strategy<Value = Vec<u8>> {
    let recordings = [crashed(), truncated(), sound(), b"unknown".to_vec()];
    let text = hostile_name();
    (prop::sample::select(recordings.to_vec()), text, any::<prop::sample::Index>()).prop_map(
        |(mut bytes, text, at)| {
            let at = at.index(bytes.len());
            let end = (at + text.len()).min(bytes.len());
            bytes[at..end].copy_from_slice(&text[..end - at]);
            bytes
        },
    )
}

/// Fails if the report of `folder`, whose real path is `base`, holds what its format must not.
fn assert_harmless(format: &str, text: &str, base: &str) {
    let bad = text.chars().find(|c| *c != '\n' && !is_safe(*c));
    assert_eq!(bad, None, "{format}: {text:?}");
    match format {
        "json" | "sarif" => drop(parse(text)),
        "jsonl" => text.lines().for_each(|line| drop(parse(line))),
        "gitlab" => drop(assert_gitlab(text)),
        "junit" => assert_junit(text),
        "rdjson" => drop(platforms::assert_rdjson(text)),
        "tap" => drop(platforms::assert_tap(text)),
        "azure" => platforms::assert_azure(text),
        "html" => drop(pages::assert_page(text, "hostile")),
        "svg" => drop(pictures::assert_picture(text, "hostile")),
        "oneline" => {
            assert!(text.lines().all(|line| line.starts_with(base)), "{text}");
        }
        "github" => {
            for line in text.lines() {
                let rest = line.strip_prefix("::").unwrap();
                let (head, _message) = rest.split_once("::").unwrap();
                let (command, properties) = head.split_once(' ').unwrap();
                assert!(["error", "warning", "notice"].contains(&command), "{line}");
                let names: Vec<&str> =
                    properties.split(',').map(|one| one.split('=').next().unwrap()).collect();
                assert_eq!(names, ["file", "title"], "{line}");
            }
        }
        _ => {}
    }
}

#[test]
fn no_format_passes_a_control_character_or_an_injection() {
    if is_left_to_the_gate("no format passes a control character or an injection") {
        return;
    }
    let cases = if tracemend_tests::sweep::is_exhaustive() { 200 } else { 24 };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(
        config,
        prop::test_runner::TestRng::deterministic_rng(prop::test_runner::RngAlgorithm::ChaCha),
    );
    let schema = sarif_schema();
    let hostile = prop::collection::vec((hostile_name(), hostile_bytes()), 1..4);
    let holds = |files: Vec<(Vec<u8>, Vec<u8>)>| {
        let folder = TempDir::new().unwrap();
        let base = folder.path().display().to_string();
        let path = |name: &[u8]| folder.path().join(OsStr::from_bytes(name));
        for (name, bytes) in &files {
            fs::write(path(name), bytes).unwrap();
        }
        for format in ALL {
            let walked = run!("check", folder.path(), "--format", format);
            let named = path(&files[0].0);
            let gone = path(&[b"gone", files[0].0.as_slice()].concat());
            let named = run!("check", named, gone, "--format", format);
            for ran in [walked, named] {
                assert_harmless(format, &ran.out, &base);
                assert!(ran.err.chars().all(|c| c == '\n' || is_safe(c)), "{:?}", ran.err);
                if format == "sarif" {
                    assert_valid(&schema, &parse(&ran.out));
                }
            }
        }
        Ok(())
    };
    runner.run(&hostile, holds).unwrap();
}
