//! Reports for platforms that read lines or JSON: Azure Pipelines, reviewdog and TAP.

use super::*;

/// Every line is one command that has the properties of a finding and no other.
pub(super) fn assert_azure(text: &str) {
    for line in text.lines() {
        let rest = line.strip_prefix("##vso[task.logissue ").unwrap();
        let (properties, _message) = rest.split_once(']').unwrap();
        let names: Vec<&str> =
            properties.split(';').map(|one| one.split('=').next().unwrap()).collect();
        assert_eq!(names, ["type", "sourcepath", "code"], "{line}");
    }
}

/// The diagnostics of a document.
pub(super) fn assert_rdjson(text: &str) -> Vec<Value> {
    let document = parse(text);
    assert_eq!(document["source"]["name"], "tracemend");
    let diagnostics = document["diagnostics"].as_array().unwrap().clone();
    for one in &diagnostics {
        assert!(one["message"].is_string() && one["location"]["path"].is_string(), "{one}");
        assert!(["ERROR", "WARNING", "INFO"].contains(&one["severity"].as_str().unwrap()));
        assert!(one["code"]["value"].is_string(), "{one}");
    }
    diagnostics
}

/// The points of a report: whether each passed, and its name. Numbers and plan agree.
pub(super) fn assert_tap(text: &str) -> Vec<(bool, String)> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("TAP version 14"));
    let (mut points, mut plan) = (Vec::new(), None);
    for line in lines {
        if line.starts_with("  ") {
            continue;
        }
        assert_eq!(plan, None, "the plan is the last line: {text}");
        if let Some(count) = line.strip_prefix("1..") {
            plan = Some(count.parse::<usize>().unwrap());
            continue;
        }
        let (is_ok, rest) = match line.strip_prefix("not ok ") {
            Some(rest) => (false, rest),
            None => (true, line.strip_prefix("ok ").unwrap()),
        };
        let (number, name) = rest.split_once(" - ").unwrap();
        points.push((is_ok, name.to_string()));
        assert_eq!(number.parse::<usize>().unwrap(), points.len(), "{text}");
    }
    assert_eq!(plan, Some(points.len()), "{text}");
    points
}

#[test]
fn platforms_get_every_finding_in_their_own_words() {
    let folder = folder(&[("bad", &truncated()), ("good", &sound()), ("#no", &sound()[..60])]);
    let report = |format: &str| {
        let gone = folder.path().join("gone");
        run!("check", folder.path(), gone, "--format", format)
    };
    let json = parse(&report("json").out);
    let recordings = json["recordings"].as_array().unwrap();
    let findings = recordings.iter().flat_map(|one| one["findings"].as_array().unwrap());
    let codes: Vec<&str> = findings.map(|one| one["code"].as_str().unwrap()).collect();
    assert!(codes.len() > 1, "{codes:?}");
    let diagnostics = assert_rdjson(&report("rdjson").out);
    let mut named: Vec<&str> =
        diagnostics.iter().map(|one| one["code"]["value"].as_str().unwrap()).collect();
    assert_eq!(named.pop(), Some("unread"));
    assert_eq!(named, codes);
    let points = assert_tap(&report("tap").out);
    let states: Vec<bool> = points.iter().map(|(is_ok, _)| *is_ok).collect();
    assert_eq!(states, [false, false, true, false], "{points:?}");
    assert!(points[0].1.ends_with("/\\#no"), "{points:?}");
    let azure = report("azure").out;
    assert_azure(&azure);
    assert!(codes.iter().all(|code| azure.contains(&format!(";code={code}]"))), "{azure}");
    // Without a recording there is a document, too.
    let empty = TempDir::new().unwrap();
    for format in ["rdjson", "tap", "azure"] {
        let ran = run!("check", empty.path().join("gone"), "--format", format);
        assert_eq!(ran.code, 5, "{}", ran.err);
        match format {
            "rdjson" => assert_eq!(assert_rdjson(&ran.out).len(), 1),
            "tap" => assert_eq!(assert_tap(&ran.out).len(), 1),
            _ => assert_eq!(ran.out.lines().count(), 1),
        }
    }
}

#[test]
fn no_name_of_a_recording_is_a_command_of_a_log() {
    let torn = revent::Recording::new(revent::Layout::V3).tap(1334).build().bytes;
    let torn = &torn[..torn.len() - 1];
    let names =
        ["::error::x.run.revent", " ::stop-commands::y.run.revent", "##vso[task.z].run.revent"];
    let folder = folder(&names.map(|name| (name, torn)));
    let print = |arguments: &[&str], paths: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tracemend-under-test"));
        let command = command.args(arguments).args(paths).current_dir(folder.path());
        let output = command.output().unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(!text.is_empty(), "{arguments:?}");
        for line in text.lines() {
            assert!(!line.trim_start().starts_with("::"), "{arguments:?}: {text}");
            assert!(!line.contains("##["), "{arguments:?}: {text}");
            assert!(!line.contains("##vso["), "{arguments:?}: {text}");
        }
        text
    };
    for format in ["human", "oneline"] {
        let text = print(&["check", "--format", format], &names);
        assert!(text.contains("./::error::x") && text.contains("./ ::stop-commands"), "{text}");
    }
    print(&["audit", "--show"], &names);
    print(&["repair", "--out-dir", "::out"], &names);
    print(&["redact", "--out-dir", "::redacted"], &names);
    print(&["verify", "no-plan"], &names[..2]);
    print(&["diff"], &[names[0], names[0]]);
    for name in names {
        let out = format!("::out-{}", name.trim());
        let plan = format!("::plan-{}", name.trim());
        let repaired = ["repair", "-o", &out, "--plan", &plan];
        for arguments in [
            &["map"][..],
            &["map", "--at", "0x30"],
            &["map", "--file", "::none"],
            &["dump", "--style", "::none"],
            &["dump"],
            &["cut", "--time", "0..1", "-o", "::cut"],
            &["redact", "--dry-run"],
            &["redact"],
            &["repair", "--dry-run"],
            &repaired,
            &repaired,
            &["apply", &plan, "-o", "::applied"],
            &["verify", &plan, &out],
            &["check", "--baseline", "::none"],
            &["check", "--config", "::none"],
        ] {
            print(arguments, &[name]);
        }
    }
}

#[test]
fn no_name_in_a_plan_reaches_a_terminal_as_it_is() {
    let torn = revent::Recording::new(revent::Layout::V3).tap(1334).build().bytes;
    let name = "a\u{9b}31m\u{202e}\u{e0041}.run.revent";
    let folder = folder(&[(name, &torn[..torn.len() - 1])]);
    let (source, plan) = (folder.path().join(name), folder.path().join("plan"));
    let (out, again) = (folder.path().join("out"), folder.path().join("again"));
    let ran = run!("repair", &source, "-o", &out, "--plan", &plan);
    assert!([0, 3].contains(&ran.code), "{}", ran.err);
    let text = fs::read_to_string(&plan).unwrap();
    assert!(text.chars().all(|c| is_safe(c) || c == '\n'), "{text}");
    assert!(text.contains("\\u009b31m\\u202e\\udb40\\udc41"), "{text}");
    let ran = run!("apply", &plan, &source, "-o", &again);
    assert!([0, 3].contains(&ran.code), "{}", ran.err);
}
