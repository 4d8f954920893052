//! `docs/judgements.md`: the places that it names exist, and it names every file that recovers.

use std::collections::BTreeSet;

use crate::tidy::tree::TREE;

/// Folders of which each file weighs witnesses, with the files that only serve the others.
const FOLDERS: [(&str, &[&str]); 2] = [
    (
        "perf/recover/restore/",
        &[
            "mod",
            "abi",
            "harmless_entries",
            "attr_copies",
            "described",
            "disputes",
            "head",
            "peek",
            "pipe_attrs",
            "table_reading",
        ],
    ),
    ("apitrace/recover/reader/", &["mod", "foreign", "read", "seek", "sync", "unit_fault"]),
];

/// Returns the places in the tables of a page, each with the format of its section.
fn places(page: &str) -> BTreeSet<String> {
    let mut format = String::new();
    let mut places = BTreeSet::new();
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            format = title.to_lowercase();
        }
        let quoted = line.split('`').skip(1).step_by(2).filter(|_| line.starts_with('|'));
        for place in quoted.filter(|place| place.starts_with(|c: char| c.is_ascii_lowercase())) {
            let is_own =
                !place.starts_with("core/") && (place.contains('/') || place.ends_with(".rs"));
            if is_own && format != "all formats" {
                places.insert(format!("core/src/formats/{format}/{place}"));
            } else if place.starts_with("core/") {
                places.insert(place.to_owned());
            }
        }
    }
    places
}

#[test]
fn each_place_of_a_judgement_exists_and_each_file_that_recovers_is_named() {
    let file = TREE.files.iter().find(|file| file.path == "docs/judgements.md");
    let places = places(&file.expect("the page").content);
    assert!(places.len() > 60, "the tables are read: {places:?}");
    let exists = |place: &String| {
        let folder = format!("{place}/");
        TREE.paths.iter().any(|path| path == place || path.starts_with(&folder))
    };
    let missing: Vec<&String> = places.iter().filter(|place| !exists(place)).collect();
    assert!(missing.is_empty(), "docs/judgements.md names what is not there: {missing:?}");
    for (folder, helpers) in FOLDERS {
        let folder = format!("core/src/formats/{folder}");
        let inside = TREE.paths.iter().filter_map(|path| path.strip_prefix(&folder));
        let names: Vec<&str> = inside
            .filter(|path| !path.contains('/'))
            .map(|path| path.trim_end_matches(".rs"))
            .filter(|name| !helpers.contains(name))
            .collect();
        assert!(!names.is_empty(), "{folder}");
        for name in names {
            assert!(
                places.contains(&format!("{folder}{name}.rs")),
                "{folder}{name}.rs is not named"
            );
        }
    }
}

#[test]
fn the_places_of_a_page_are_found_by_their_section() {
    let page = "## All formats\n| a | `core/src/check.rs` |\n## perf\n| `fact` | b | `check` |\n\
                | `data.size` | b | `decode/end.rs`, `decode/walk` |\ntext `decode/x.rs`\n";
    let found = places(page);
    let expected = ["core/src/check.rs", "decode/end.rs", "decode/walk"];
    let expected = expected.map(|place| match place.strip_prefix("core/") {
        Some(_) => place.to_owned(),
        None => format!("core/src/formats/perf/{place}"),
    });
    assert_eq!(found, expected.into_iter().collect());
}
