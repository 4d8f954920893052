//! Codes over time, and the messages of readers that lead to them.

use super::*;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The numbers of a version.
fn version(text: &str) -> Vec<u64> {
    text.split('.').map(|part| part.parse().unwrap()).collect()
}

#[test]
fn the_history_has_every_code_with_its_severity_and_the_changelog_has_every_change() {
    let path = root().join("cli/src/show/history.txt");
    let held = fs::read_to_string(&path).unwrap();
    let own = env!("CARGO_PKG_VERSION");
    let line = |rule: &tracemend::Rule| {
        let start = format!("{} ", rule.code);
        let known = held.lines().find(|line| line.starts_with(&start));
        let severity = rule.severity.name();
        match known {
            Some(line) if line.ends_with(&format!(" {severity}")) => line.to_string(),
            Some(line) => format!("{line} {own} {severity}"),
            None => format!("{start}{own} {severity}"),
        }
    };
    let now: String = tracemend::rules().map(|rule| line(rule) + "\n").collect();
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &now).unwrap();
    } else {
        assert!(held == now, "BLESS=1 adds new codes and severities to {}", path.display());
    }
    // Codes of the first release are too many for its entry.
    let changelog = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let first = now.lines().map(|line| version(line.split(' ').nth(1).unwrap())).min().unwrap();
    for line in now.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        for step in words[1..].chunks(2).map(|step| step[0]) {
            assert!(version(step) <= version(own), "{line}: later than {own}");
            let is_named = || {
                let entry = changelog.split("\n## ").find(|entry| entry.starts_with(step));
                let entry = entry.or_else(|| changelog.split("\n## Unreleased").nth(1));
                entry.is_some_and(|entry| entry.contains(words[0]))
            };
            assert!(version(step) == first || is_named(), "CHANGELOG.md lacks {line}");
        }
    }
}

#[test]
fn codes_since_a_version_are_those_that_a_run_may_newly_report() {
    let all = run!("codes", "--since", "0.0.9");
    assert_eq!(all.code, 0, "{}", all.err);
    for rule in tracemend::rules() {
        assert!(all.out.contains(&format!("  {}  ", rule.code)), "{}", rule.code);
    }
    assert!(all.out.contains("\ndeleted\n  AT2019 (primitive-broken) has not"), "{}", all.out);
    let own = env!("CARGO_PKG_VERSION");
    let none = run!("codes", "--since", own);
    assert_eq!(none.out, format!("no code is new and none became an error after version {own}\n"));
    let list = |since: &str| {
        let ran = run!("codes", "--since", since, "--format", "json");
        parse(&ran.out)["codes"].as_array().unwrap().len()
    };
    assert_eq!((list("0"), list(own)), (tracemend::rules().count(), 0));
    for wrong in ["99.0.0", "new", ""] {
        let ran = run!("codes", "--since", wrong);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{wrong}: {}", ran.err);
    }
}

#[test]
fn a_message_leads_to_its_codes_and_a_check_shows_it() {
    let rules: Vec<&tracemend::Rule> =
        tracemend::rules().filter(|rule| !rule.messages().is_empty()).collect();
    assert!(rules.len() > 40, "{} rules quote a message", rules.len());
    for rule in rules {
        for message in rule.messages() {
            let ran = run!("explain", message);
            let is_found = ran.out.contains(rule.code);
            // One word alone is a mistyped code.
            let is_short = !message.trim().contains(' ');
            assert!(is_found || is_short, "{message}: {}{}", ran.out, ran.err);
        }
    }
    // The whole message stands in the report, also where the first sentence is about something
    // else.
    for (path, message) in [
        ("perf/rules/PD0001.data", "\"incompatible file format\""),
        ("apitrace/rules/AT1002.trace", "\"unknown event 238\""),
    ] {
        let ran = run!("check", root().join("corpus").join(path));
        let text = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(message), "{path}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn shells_complete_codes_and_formats() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run!("completions", shell).out;
        for word in ["PD0004", "AU1001", "revent", "host-name"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    // The parsers themselves take more than what is proposed.
    assert_eq!(run!("explain", "pd0004").code, 0);
}
