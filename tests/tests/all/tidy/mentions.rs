//! Names that texts mention: files that must exist, options and codes that the program must know,
//! and paths and hosts of the machines that build it, which must not appear.

use std::collections::BTreeSet;
use std::process::Command;

use crate::tidy::exceptions::{Exceptions, entries};
use crate::tidy::tree::{File, TREE, is_own, passages_of};
use tracemend_tests::sweep::is_left_to_the_gate;

/// Runs the program and returns its standard output.
fn program(arguments: &[&str]) -> String {
    let path = env!("CARGO_BIN_EXE_tracemend-under-test");
    let output = Command::new(path).args(arguments).output().expect("the program runs");
    String::from_utf8(output.stdout).expect("help is UTF-8")
}

/// Returns the commands of the program, from its help.
fn commands() -> Vec<String> {
    let help = program(&["--help"]);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| line.starts_with("  "));
    let names = listed
        .filter(|line| !line.starts_with("   "))
        .map(|line| line.split_whitespace().next().map(str::to_owned).unwrap_or_default());
    names.collect()
}

/// Returns all options of all commands, from their help.
fn known_options() -> BTreeSet<String> {
    let mut options = options_in(&program(&["--help"]));
    for command in commands() {
        options.extend(options_in(&program(&[&command, "--help"])));
    }
    options
}

/// Returns the long options that a text names.
fn options_in(text: &str) -> BTreeSet<String> {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let mut options = BTreeSet::new();
    for (at, _) in text.match_indices("--") {
        let is_start = text[..at].chars().next_back().is_none_or(|c| " `([|\n,:;*\"'".contains(c));
        let name: String = text[at + 2..].chars().take_while(|c| is_inner(*c)).collect();
        if is_start && name.starts_with(|c: char| c.is_ascii_lowercase()) {
            options.insert(format!("--{}", name.trim_end_matches('-')));
        }
    }
    options
}

/// Returns the codes that a text names, such as `AB1234`, with one of `prefixes`.
fn codes_in(text: &str, prefixes: &BTreeSet<String>) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let is_code = |word: &&str| {
        let (prefix, number) = word.split_at_checked(2).unwrap_or_default();
        prefixes.contains(prefix)
            && number.len() == 4
            && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    words.filter(is_code).map(str::to_owned).collect()
}

/// Returns the codes that the program lists.
fn known_codes() -> BTreeSet<String> {
    let listed = program(&["codes"]);
    let words = listed.split_whitespace().map(str::to_owned);
    words.filter(|word| word.len() == 6 && word[2..].bytes().all(|b| b.is_ascii_digit())).collect()
}

/// Files whose texts may name codes, options and files: documents, sources and schemas.
fn texts() -> impl Iterator<Item = &'static File> {
    let ends = [".md", ".rs", ".json", ".sh", ".toml", ".yml"];
    TREE.files.iter().filter(move |file| {
        !is_own(&file.path)
            && !file.path.starts_with("corpus/regressions/")
            && (ends.iter().any(|end| file.path.ends_with(end)) || file.path.starts_with(".ci/"))
    })
}

#[test]
fn codes_that_are_named_exist() {
    let known = known_codes();
    assert!(known.len() > 200, "the list of codes was not understood: {known:?}");
    let prefixes = known.iter().map(|code| code[..2].to_owned()).collect();
    let mut unknown = Vec::new();
    let mut exceptions = Exceptions::new("not-a-code");
    // The tests ask for codes that do not exist, on purpose.
    for file in texts().filter(|file| !file.path.starts_with("tests/")) {
        for code in codes_in(&file.content, &prefixes) {
            if !known.contains(&code) && !exceptions.allow(|values| values[0] == code) {
                unknown.push(format!("{}: {code}", file.path));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
    exceptions.assert_all_used();
    assert_eq!(codes_in("see AB1234, XY0001", &["AB".to_owned()].into()), ["AB1234"]);
}

/// Returns the texts of a file that may name options of the program: documents with their code,
/// and the strings of the library and of the program.
fn texts_with_options(file: &File) -> Vec<String> {
    if file.path.ends_with(".md") {
        let lines = file.content.lines();
        let is_foreign = |line: &&str| {
            let other = ["cargo", "perf", "apitrace", "apt", "qemu", "ovniemu", "git", "prlimit"];
            let line = line.trim_start().trim_start_matches("$ ");
            // On a line of its own, or in a cell of a table.
            let begins = |name: &&str| {
                line.starts_with(&format!("{name} ")) || line.contains(&format!("| `{name} "))
            };
            other.iter().any(begins) && !line.contains("tracemend ")
        };
        return lines.filter(|line| !is_foreign(line)).map(str::to_owned).collect();
    }
    let is_product = file.path.starts_with("core/src/") || file.path.starts_with("cli/src/");
    let passages = if is_product { passages_of(&file.path) } else { &[] };
    passages.iter().map(|passage| passage.text.clone()).collect()
}

#[test]
fn options_that_are_named_exist() {
    let known = known_options();
    assert!(known.len() > 20, "the help was not understood: {known:?}");
    let mut unknown = Vec::new();
    let mut exceptions = Exceptions::new("option");
    for file in texts() {
        for text in texts_with_options(file) {
            for option in options_in(&text) {
                if !known.contains(&option) && !exceptions.allow(|values| values[0] == option) {
                    unknown.push(format!("{}: {option}", file.path));
                }
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
    exceptions.assert_all_used();
    let sample = options_in("`--strategy prefix`, --no-such-option; a--b ---");
    assert_eq!(sample.into_iter().collect::<Vec<_>>(), ["--no-such-option", "--strategy"]);
}

/// Returns the paths of the tree that a text names: words with a `/` whose first part is one of
/// `tops`, and links of Markdown.
fn paths_in(text: &str, tops: &BTreeSet<&str>) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    let is_inner = |c: char| c.is_ascii_alphanumeric() || "._-/*{}".contains(c);
    for word in text.split(|c| !is_inner(c)) {
        let word = word.trim_end_matches(['.', '-']).trim_start_matches("./");
        let Some((top, rest)) = word.split_once('/') else { continue };
        let is_placeholder = rest.split(['/', '.']).any(|part| {
            part.len() > 2 && part.bytes().all(|b| b.is_ascii_uppercase()) || part.contains('{')
        });
        if tops.contains(top) && !rest.is_empty() && !is_placeholder {
            paths.insert(word.to_owned());
        }
    }
    for (at, _) in text.match_indices("](") {
        let target = text[at + 2..].split([')', '#']).next().unwrap_or_default();
        let is_file = !target.is_empty() && !target.contains("::") && !target.contains(':');
        if is_file && (target.contains('/') || target.contains('.')) {
            paths.insert(target.to_owned());
        }
    }
    paths
}

/// Whether a path with `*` for any part of a name names a file or a folder: from the root, from
/// `folder`, or from the package that `folder` is in.
fn path_exists(path: &str, folder: &str) -> bool {
    let path = path.trim_end_matches('/');
    let package = folder.split('/').next().unwrap_or_default();
    if !path.contains('*') {
        // In git, not on disk: a run of the fuzz targets leaves folders behind.
        let near = ["", folder, package].map(|near| normalise(&format!("{near}/{path}")));
        return near.iter().any(|near| is_tracked(near));
    }
    let parts: Vec<_> = path.split('/').collect();
    TREE.paths.iter().any(|known| {
        let known: Vec<_> = known.split('/').collect();
        known.len() >= parts.len() && parts.iter().zip(known).all(|(part, name)| fits(part, name))
    })
}

/// Whether a path is a file in git or a folder of such files.
fn is_tracked(path: &str) -> bool {
    let in_folder =
        |known: &str| known.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
    TREE.paths.iter().any(|known| known == path || in_folder(known))
}

/// Resolves `.` and `..` in a path from the root of the tree.
fn normalise(path: &str) -> String {
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names.join("/")
}

/// Whether a name fits a pattern with at most one `*`.
fn fits(pattern: &str, name: &str) -> bool {
    pattern.split_once('*').map_or(pattern == name, |(start, end)| {
        name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
    })
}

#[test]
fn files_that_are_named_exist() {
    if is_left_to_the_gate("files that are named exist") {
        return;
    }
    let tops: BTreeSet<&str> =
        TREE.paths.iter().filter_map(|path| path.split_once('/')).map(|(top, _)| top).collect();
    let mut missing = Vec::new();
    let mut exceptions = Exceptions::new("not-a-file");
    for file in texts().filter(|file| !file.path.ends_with(".toml")) {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let texts = if file.path.ends_with(".rs") {
            let comments = passages_of(&file.path).iter().filter(|passage| !passage.is_string);
            comments.map(|passage| passage.text.clone()).collect()
        } else {
            vec![file.content.clone()]
        };
        for path in texts.iter().flat_map(|text| paths_in(text, &tops)) {
            let exists = path_exists(&path, folder);
            if !exists && !exceptions.allow(|values| values[0] == path) {
                missing.push(format!("{}: {path}", file.path));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    exceptions.assert_all_used();
}

#[test]
fn paths_of_a_bad_sample_are_missing() {
    let tops = ["core", "tests"].into();
    let found = paths_in("see `core/src/none.rs`, tests/*/x.rs and [it](NONE.md). a/b", &tops);
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|path| !path_exists(path, "")));
    assert!(path_exists("core/src/*.rs", ""));
    assert!(path_exists("Cargo.toml", "tests"));
}

/// Returns the parts of a text that name a machine: folders of builds and of people, hosts.
fn machines_in(text: &str) -> Vec<String> {
    let folders = ["work", "root", "home", "Users", "mnt", "workspace"];
    let mut found = Vec::new();
    for folder in folders {
        let path = format!("/{folder}/");
        for (at, _) in text.match_indices(&path) {
            let is_inner = |c: char| c.is_alphanumeric() || "._-/*{}<>".contains(c);
            let starts = !text[..at].chars().next_back().is_some_and(is_inner);
            let name = text[at + path.len()..].chars().next();
            if starts && name.is_some_and(char::is_alphanumeric) {
                found.push(text[at..].chars().take(30).collect());
            }
        }
    }
    for (at, _) in text.match_indices("://") {
        let is_host = |c: char| c.is_ascii_alphanumeric() || ".-:@".contains(c);
        let host: String = text[at + 3..].chars().take_while(|c| is_host(*c)).collect();
        let is_allowed = entries("host").iter().any(|entry| entry.values[0] == host);
        if !host.is_empty() && !is_allowed {
            found.push(host);
        }
    }
    found
}

#[test]
fn no_machine_is_named() {
    let mut found = Vec::new();
    for file in TREE.files.iter().filter(|file| !is_own(&file.path)) {
        let named = machines_in(&file.content);
        found.extend(named.iter().map(|name| format!("{}: {name}", file.path)));
    }
    assert!(found.is_empty(), "{found:#?}");
    let folder = ["", "home", "someone", "x"].join("/");
    let host = ["https:", "", "registry.example.net", "index"].join("/");
    assert_eq!(machines_in(&format!("{folder} and {host}")).len(), 2);
}
