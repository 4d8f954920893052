//! The book: pages for mdbook, made from the rules, the formats and the guides in `docs`.
//!
//! ```text
//!  SUMMARY.md            the table of contents
//!  start-ci.md, ...      one page for each use, with which the book opens
//!  introduction.md       the commands and the exit codes, from the help texts
//!  ci.md, ...            the guides of docs
//!  formats/perf.md       what is read and repaired, options, limits, codes
//!  codes/PD0004.md       a page per code: the texts of `tracemend explain`
//! ```

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};

use tracemend::{FormatId, Limit, OptionValue, Remedy, Rule};
use tracemend_cli::markdown::{escape, format_rule_text};
use tracemend_cli::{Look, Streams};

/// Where files that are not part of the book lie.
const REPOSITORY: &str = "https://github.com/tracemend/tracemend/blob/main";
/// The pages that the book opens with, one for each use: file in `docs`, and title.
const STARTS: [(&str, &str); 3] = [
    ("start-salvage.md", "A recording broke"),
    ("start-ci.md", "Check recordings in CI"),
    ("start-review.md", "A recording from a stranger"),
];
/// Guides: file in `docs`, and title.
const GUIDES: [(&str, &str); 15] = [
    ("messages.md", "Messages of other programs"),
    ("ci.md", "tracemend in CI"),
    ("salvage.md", "Salvage"),
    ("transport.md", "On its way"),
    ("tables.md", "Records in other tools"),
    ("python.md", "Python"),
    ("review.md", "Review"),
    ("library.md", "The library"),
    ("perf-records.md", "Records and features of perf.data"),
    ("agreement.md", "Agreement with other tools"),
    ("false-alarms.md", "False alarms"),
    ("broken-recordings.md", "Broken recordings"),
    ("performance.md", "Performance"),
    ("adding-a-format.md", "Adding a format"),
    ("judgements.md", "Where a judgement is made"),
];

/// Pages by their path below the source folder of the book.
pub type Pages = BTreeMap<String, String>;

/// Returns every page. `help` is the text of `tracemend --help`.
///
/// # Panics
///
/// If a guide or the examples of the rules cannot be read.
pub fn pages(help: &str) -> Pages {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| {
        fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let mut pages = Pages::new();
    let mut summary = "# Summary\n\n".to_string();
    for (file, title) in STARTS {
        let _infallible = writeln!(summary, "[{title}]({file})");
    }
    summary += "[Introduction](introduction.md)\n\n# Guides\n\n";
    pages.insert("introduction.md".into(), introduction(help));
    for (file, title) in GUIDES {
        let _infallible = writeln!(summary, "- [{title}]({file})");
    }
    for (file, _) in STARTS.iter().chain(&GUIDES) {
        let text = with_outer_links(&read(&format!("docs/{file}")), "docs");
        pages.insert((*file).to_string(), text);
    }
    pages.insert("schemas.md".into(), schemas(&root.join("schema")));
    summary += "- [Schemas](schemas.md)\n\n# Formats and codes\n\n";
    let examples = read("cli/src/show/examples.txt");
    let common: Vec<&Rule> =
        tracemend::rules().filter(|rule| rule.code.starts_with("CM")).collect();
    let sections = FormatId::ALL
        .iter()
        .map(|format| (format.name(), format_page(*format), format.rules().to_vec()));
    let first = ("common", common_page(&common), common.clone());
    let audited: Vec<&Rule> = tracemend::rules().filter(|rule| is_audited(rule)).collect();
    let last = ("audit", format!("# audit\n\n## Codes\n\n{}", list_rules(&audited)), audited);
    let arrival: Vec<&Rule> =
        tracemend::rules().filter(|rule| rule.code.starts_with("TR")).collect();
    let moved = format!("# transport\n\n## Codes\n\n{}", list_rules(&arrival));
    let moved = ("transport", moved, arrival);
    for (name, page, rules) in [first, moved].into_iter().chain(sections).chain([last]) {
        let _infallible = writeln!(summary, "- [{name}](formats/{name}.md)");
        pages.insert(format!("formats/{name}.md"), page);
        for rule in rules {
            let (code, rule_name) = (rule.code, rule.name);
            let _infallible = writeln!(summary, "  - [{code} {rule_name}](codes/{code}.md)");
            pages.insert(format!("codes/{code}.md"), code_page(rule, name, &examples));
        }
    }
    pages.insert("SUMMARY.md".into(), summary);
    pages
}

/// Writes the sources and the settings of the book, for mdbook.
///
/// # Panics
///
/// If a file cannot be read or written.
pub fn write(folder: &Path) {
    let source = folder.join("src");
    if source.exists() {
        // A page of a code that was renamed must not stay.
        fs::remove_dir_all(&source).unwrap();
    }
    for (path, text) in pages(&help()) {
        let path = source.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    for name in ["book.toml", "book.css"] {
        fs::copy(docs.join(name), folder.join(name)).unwrap();
    }
}

/// Returns the text of `tracemend --help`.
pub fn help() -> String {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut input = std::io::empty();
    let args = ["tracemend", "--help"].map(OsString::from);
    let streams = Streams::new(&mut input, &mut out, &mut err, Look::PLAIN);
    let _code = tracemend_cli::run(args, streams);
    String::from_utf8_lossy(&out).into_owned()
}

/// Lists the JSON Schemas in a folder with what they say of themselves.
fn schemas(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut page = "# Schemas\n\nJSON Schemas (2020-12) of everything that tracemend writes as \
                    JSON. Each is self-contained, and the tests validate outputs with it. A change \
                    that breaks readers gets a new version in `$id`.\n\n"
        .to_string();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
        let word = |key: &str| escape(schema[key].as_str().unwrap_or_default());
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (title, description) = (word("title"), word("description"));
        page += &format!("- [{name}]({REPOSITORY}/schema/{name}): {title}. {description}\n");
    }
    page
}

fn introduction(help: &str) -> String {
    format!(
        "# tracemend\n\ntracemend checks and repairs recordings: Linux `perf.data`, apitrace \
         traces, ovni traces, QEMU record/replay logs and `revent` files. It reports every problem \
         with its position, repairs what a crash or a cut copy left behind, and proves what it \
         changed.\n\n```text\n{}\n```\n\nSee also the [readme]({REPOSITORY}/README.md), the \
         [architecture]({REPOSITORY}/ARCHITECTURE.md) and [security]({REPOSITORY}/SECURITY.md).\n",
        help.trim_end()
    )
}

/// The text with links to files outside the book leading to the repository.
fn with_outer_links(text: &str, folder: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        out += before;
        out += "](";
        let target: String = after.chars().take_while(|c| *c != ')').collect();
        let is_inner = target.starts_with('#')
            || target.contains("://")
            || STARTS.iter().chain(&GUIDES).any(|(file, _)| *file == target);
        if !is_inner {
            let parts = PathBuf::from(folder).join(&target);
            let mut path: Vec<String> = Vec::new();
            for part in parts.components() {
                match part {
                    Component::ParentDir => drop(path.pop()),
                    part => path.push(part.as_os_str().to_string_lossy().into_owned()),
                }
            }
            out += &format!("{REPOSITORY}/{}", path.join("/"));
            rest = after.get(target.len()..).unwrap_or_default();
            continue;
        }
        rest = after;
    }
    out + rest
}

fn code_page(rule: &Rule, format: &str, examples: &str) -> String {
    let (code, name, severity) = (rule.code, rule.name, rule.severity);
    let mut page = format!("# {code} {name}\n\n[{format}](../formats/{format}.md), {severity}: ");
    page +=
        &format!("{}\n\n## Problem\n\n{}", escape(rule.summary), format_rule_text(rule.problem));
    page += &format!("\n## Impact\n\n{}", format_rule_text(rule.impact));
    let head = format!("== {code} ");
    if let Some(section) = examples.split("\n== ").find_map(|one| {
        let one = format!("== {}", one.trim_start_matches("== "));
        one.strip_prefix(&head).map(str::to_string)
    }) {
        let (path, text) = section.split_once('\n').unwrap_or((&section, ""));
        page += &format!(
            "\n## Example\n\n[{path}]({REPOSITORY}/{path}):\n\n```text\n{}\n```\n",
            text.trim_end()
        );
    }
    let (heading, remedy) = match rule.remedy {
        Remedy::Fix(text) => ("Fix", text),
        Remedy::Next(text) => ("Next", text),
    };
    page + &format!(
        "\n## {heading}\n\n{}\n## Source\n\n{}\n",
        format_rule_text(remedy),
        escape(rule.source)
    )
}

fn list_rules(rules: &[&Rule]) -> String {
    let mut text =
        "| code | name | severity | repair | problem |\n|---|---|---|---|---|\n".to_string();
    for rule in rules {
        let Rule { code, name, severity, .. } = rule;
        let fix = if rule.has_fix() { "yes" } else { "no" };
        let summary = escape(rule.summary);
        let _infallible = writeln!(
            text,
            "| [{code}](../codes/{code}.md) | {name} | {severity} | {fix} | {summary} |"
        );
    }
    text
}

fn list_limits<'l>(limits: impl Iterator<Item = &'l Limit>) -> String {
    let mut text = "| limit | number | reason |\n|---|---|---|\n".to_string();
    for limit in limits {
        let _infallible = writeln!(
            text,
            "| `{}` | {} {} | {} |",
            limit.name,
            limit.default,
            limit.unit,
            escape(limit.reason)
        );
    }
    text
}

/// Returns whether a rule is of an audit.
fn is_audited(rule: &Rule) -> bool {
    tracemend::Concern::of(rule).is_some()
}

fn common_page(rules: &[&Rule]) -> String {
    format!(
        "# All formats\n\n## Codes\n\n{}\n## Limits\n\n{}",
        list_rules(rules),
        list_limits(tracemend::limits::COMMON.iter().copied())
    )
}

fn format_page(format: FormatId) -> String {
    let mut page = format!("# {format}\n\n{}\n", escape(format.summary()));
    if !format.options().is_empty() {
        page += "\n## Options\n\n| option | effect |\n|---|---|\n";
        for option in format.options() {
            let words = match &option.value {
                OptionValue::OneOf { words, .. } => {
                    let words: Vec<String> = words
                        .iter()
                        .map(|(word, meaning)| format!("`{word}`: {}", escape(meaning)))
                        .collect();
                    format!(": {}", words.join("; "))
                }
                _ => String::new(),
            };
            let _infallible =
                writeln!(page, "| `--{}` | {}{words} |", option.name, escape(option.help));
        }
    }
    let fixes = format.rules().iter().filter(|rule| rule.has_fix()).count();
    page += &format!(
        "\n## Codes\n\nA check looks for {} problems, and a repair has a fix for {fixes} of them. \
         Codes with `CM` hold for [all formats](common.md).\n\n{}",
        format.rules().len(),
        list_rules(format.rules())
    );
    page + &format!("\n## Limits\n\n{}", list_limits(format.limits().iter().copied()))
}
