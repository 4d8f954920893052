//! Licences and sources of the dependencies on this platform, by the lists of `deny.toml`. Those
//! that only tests have are not distributed. `.ci/weekly` asks cargo-deny about every platform.

use std::collections::BTreeSet;
use std::process::Command;

use crate::tidy::tree::TREE;

/// Returns the quoted words of the list `name` in `deny.toml`.
fn listed(name: &str) -> BTreeSet<String> {
    let settings = TREE.files.iter().find(|file| file.path == "deny.toml").unwrap();
    let list = settings.content.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns whether a licence expression can be fulfilled with `allowed` licences alone: `(A OR B)
/// AND C`, and the older `A/B`.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let (value, rest) = any_of(&tokens, allowed);
    value && rest.is_empty()
}

fn any_of<'a>(tokens: &'a [&'a str], allowed: &BTreeSet<String>) -> (bool, &'a [&'a str]) {
    let (mut value, mut rest) = all_of(tokens, allowed);
    while let Some(("OR", after)) = rest.split_first().map(|(word, after)| (*word, after)) {
        let (other, end) = all_of(after, allowed);
        (value, rest) = (value || other, end);
    }
    (value, rest)
}

fn all_of<'a>(tokens: &'a [&'a str], allowed: &BTreeSet<String>) -> (bool, &'a [&'a str]) {
    let (mut value, mut rest) = one(tokens, allowed);
    while let Some(("AND", after)) = rest.split_first().map(|(word, after)| (*word, after)) {
        let (other, end) = one(after, allowed);
        (value, rest) = (value && other, end);
    }
    (value, rest)
}

fn one<'a>(tokens: &'a [&'a str], allowed: &BTreeSet<String>) -> (bool, &'a [&'a str]) {
    match tokens {
        ["(", rest @ ..] => {
            let (value, rest) = any_of(rest, allowed);
            (value, rest.get(1..).unwrap_or_default())
        }
        [name, "WITH", exception, rest @ ..] => {
            (allowed.contains(&format!("{name} WITH {exception}")), rest)
        }
        [name, rest @ ..] => (allowed.contains(*name), rest),
        [] => (false, tokens),
    }
}

#[test]
fn licences_of_dependencies_are_allowed() {
    let allowed = listed("allow = ");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["tree", "--workspace", "--locked", "--edges", "normal,build"]);
    cargo.args(["--prefix", "none", "--format", "{p}|{l}"]);
    let output = cargo.current_dir(&TREE.root).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    let rows: BTreeSet<_> = tree.lines().filter_map(|line| line.split_once('|')).collect();
    assert!(rows.len() > 100, "{rows:?}");
    let wrong: Vec<_> = rows
        .iter()
        .filter(|(_, licence)| !is_allowed(licence.trim_end_matches(" (*)"), &allowed))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn dependencies_come_from_the_registry() {
    let locks = TREE.files.iter().filter(|file| file.path.ends_with("Cargo.lock"));
    let sources: BTreeSet<_> = locks
        .flat_map(|file| file.content.lines())
        .filter_map(|line| line.strip_prefix("source = "))
        .collect();
    assert_eq!(sources.len(), 1, "{sources:?}");
    let is_registry =
        |source: &&str| source.starts_with("\"registry+") && source.ends_with("/crates.io-index\"");
    assert!(sources.iter().all(is_registry), "{sources:?}");
}

#[test]
fn a_licence_expression_needs_an_allowed_choice() {
    let allowed = ["A", "B", "D WITH x"].map(str::to_owned).into();
    for good in ["A", "A OR C", "C/A", "A AND B", "(C OR B) AND A", "C OR (A AND B)", "D WITH x"] {
        assert!(is_allowed(good, &allowed), "{good}");
    }
    for bad in ["", "C", "A AND C", "(A OR B) AND C", "C OR (A AND C)", "D", "D WITH y", "A B"] {
        assert!(!is_allowed(bad, &allowed), "{bad}");
    }
}
