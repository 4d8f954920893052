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
