//! The book has a page for every code and format, and its links lead somewhere.

use std::path::{Component, Path, PathBuf};

use tracemend::FormatId;
use tracemend_tests::book::{self, Pages};
use tracemend_tests::judge::mdbook;

/// The targets of the links of a page, outside code blocks.
fn links(text: &str) -> Vec<String> {
    let mut in_code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        }
        let parts = line.split("](").skip(1).filter(|_| !in_code);
        found.extend(parts.filter_map(|part| Some(part.split_once(')')?.0.to_string())));
    }
    found
}

/// The page that a link on the page at `from` leads to.
fn resolve(from: &str, link: &str) -> String {
    let mut path = PathBuf::from(from);
    path.pop();
    for part in Path::new(link.split('#').next().unwrap()).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
    }
    path.display().to_string()
}

fn broken(pages: &Pages) -> Vec<String> {
    let mut broken = Vec::new();
    for (path, text) in pages {
        for link in links(text) {
            let repository = "https://github.com/tracemend/tracemend/blob/main/";
            let is_there = match link.strip_prefix(repository) {
                Some(file) => Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file).exists(),
                None if link.contains("://") || link.starts_with('#') => true,
                None => pages.contains_key(&resolve(path, &link)),
            };
            if !is_there {
                broken.push(format!("{path}: {link}"));
            }
        }
    }
    broken
}

#[test]
fn every_code_and_format_has_a_page_and_links_lead_somewhere() {
    let mut pages = book::pages(&book::help());
    assert_eq!(broken(&pages), [""; 0]);
    let summary = &pages["SUMMARY.md"];
    // Somebody in trouble reads the first page.
    assert!(
        summary.starts_with("# Summary\n\n[A recording broke](start-salvage.md)\n"),
        "{summary}"
    );
    for rule in tracemend::rules() {
        let path = format!("codes/{}.md", rule.code);
        let page = &pages[&path];
        assert!(summary.contains(&format!("({path})")), "{path}");
        for heading in ["## Problem", "## Impact", "## Source"] {
            assert!(page.contains(heading), "{page}");
        }
        assert_eq!(page.matches("```").count() % 2, 0, "{page}");
    }
    for format in FormatId::ALL {
        let page = &pages[&format!("formats/{format}.md")];
        assert!(format.rules().iter().all(|rule| page.contains(rule.code)));
        assert!(format.options().iter().all(|option| page.contains(option.name)));
    }
    for page in pages.keys().filter(|page| *page != "SUMMARY.md") {
        assert!(summary.contains(&format!("({page})")), "{page} is not in the summary");
    }
    pages.insert("x.md".into(), "[a](codes/none.md)\n```\n[b](none)\n```\n".into());
    assert_eq!(broken(&pages), ["x.md: codes/none.md"]);
}

#[test]
fn the_tables_of_codes_and_messages_are_those_of_the_rules() {
    for (file, now) in [
        ("docs/codes.md", tracemend_tests::code_tables::codes()),
        ("docs/messages.md", tracemend_tests::code_tables::messages()),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &now).unwrap();
        }
        let held = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(held == now, "{file}: BLESS=1 rewrites the table");
    }
    let messages = tracemend_tests::code_tables::messages();
    let rows = messages.lines().filter(|line| line.starts_with("| ")).count();
    assert!(rows > 30, "{rows} messages");
    for row in ["| incompatible file format | perf |", "| cannot find task | ovni |"] {
        assert!(messages.contains(row), "{row}");
    }
}

#[test]
fn mdbook_builds_the_book_if_it_is_there() {
    if mdbook::JUDGE.or_skip((mdbook::JUDGE.probe)()).is_none() {
        return;
    }
    let folder = tempfile::TempDir::new().unwrap();
    book::write(folder.path());
    assert_eq!(mdbook::build(folder.path()), Ok(()));
    let page = std::fs::read_to_string(folder.path().join("book/codes/PD0004.html")).unwrap();
    assert!(page.contains("data-size-zero"));
}
