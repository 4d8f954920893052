//! Which file imports which: the floors of ARCHITECTURE.md, and no circles.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::lexer::{self, Kind, Piece};
use crate::tidy::tree::{PIECES, TREE};
use tracemend_tests::sweep::is_left_to_the_gate;

/// A file of a crate, as the names of its modules: `["formats", "perf", "walk"]`.
type Module = Vec<String>;

/// The modules that each module imports.
type Imports = BTreeMap<Module, BTreeSet<Module>>;

/// Returns the module that the file at `path` below `root` is; `None` if it is only for tests.
fn module(root: &str, path: &str) -> Option<Module> {
    let inner = path.strip_prefix(root)?.strip_suffix(".rs")?;
    let mut names: Module = inner.split('/').map(str::to_owned).collect();
    if ["mod", "lib", "main"].contains(&names.last()?.as_str()) {
        names.pop();
    }
    (names.last().map(String::as_str) != Some("tests")).then_some(names)
}

/// Returns the code of a file up to its tests.
fn code(pieces: &[Piece]) -> Vec<&str> {
    let is_code = |piece: &&Piece| matches!(piece.kind, Kind::Word | Kind::Mark);
    let code: Vec<&str> = pieces.iter().filter(is_code).map(|piece| piece.text.as_str()).collect();
    let is_tests = |at: usize| {
        code[at..].starts_with(&["cfg", "(", "test", ")", "]"])
            && code[at..].iter().take_while(|word| **word != "{").any(|word| *word == "mod")
    };
    let end = (0..code.len()).find(|at| is_tests(*at)).unwrap_or(code.len());
    code[..end].to_vec()
}

/// Returns every path that a file names after `use`, and those that begin with `crate`, `super` or
/// one of its `parts` elsewhere, as the words between the colons.
fn paths(code: &[&str], parts: &BTreeSet<&str>) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let is_use = code[at] == "use";
        let is_first = at == 0 || ![":", "("].contains(&code[at - 1]);
        let is_part = parts.contains(code[at]) && (at == 0 || code[at - 1] != ":");
        let is_named = is_first && ["crate", "super"].contains(&code[at]);
        let starts = (is_part || is_named) && code[at + 1..].starts_with(&[":", ":"]);
        if is_use {
            at = tree(code, at + 1, &[], &mut found);
        } else if starts {
            at = tree(code, at, &[], &mut found);
        } else {
            at += 1;
        }
    }
    found
}

/// Reads a tree of paths such as `a::{b, c::d}` after `before`, and returns where it ends.
fn tree(code: &[&str], start: usize, before: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut path = before.to_vec();
    let mut at = start;
    while let Some(word) = code.get(at) {
        match *word {
            ":" => at += 1,
            "{" => {
                at += 1;
                while code.get(at).is_some_and(|word| *word != "}") {
                    let next = tree(code, at, &path, found);
                    at = if code.get(next) == Some(&",") { next + 1 } else { next.max(at + 1) };
                }
                return at + 1;
            }
            word if word.chars().all(|one| one.is_alphanumeric() || one == '_') => {
                let is_step = path.len() == before.len() || code[at - 1] == ":";
                if !is_step {
                    break;
                }
                path.push(word.to_owned());
                at += 1;
            }
            _ => break,
        }
    }
    found.push(path);
    // `as name`, which is no path.
    if code.get(at) == Some(&"as") { at + 2 } else { at.max(start + 1) }
}

/// Returns the module that a path in `of` leads to; `None` if it leads to another crate.
fn resolve(of: &Module, path: &[String], modules: &BTreeSet<Module>) -> Option<Module> {
    let mut full = match path.first()?.as_str() {
        "crate" => Vec::new(),
        "super" | "self" => of.clone(),
        child => {
            let mut inner = of.clone();
            inner.push(child.to_owned());
            modules.contains(&inner).then(|| of.clone())?
        }
    };
    for word in path {
        match word.as_str() {
            "crate" | "self" => {}
            "super" => drop(full.pop()),
            word => full.push(word.to_owned()),
        }
    }
    while !modules.contains(&full) {
        full.pop()?;
    }
    Some(full)
}

/// Reads the imports of a crate. A module does not import those that it lies in: it is a part of
/// them.
fn read(root: &str) -> Imports {
    let files = PIECES.iter().filter_map(|(path, pieces)| Some((module(root, path)?, pieces)));
    let files: BTreeMap<Module, &Vec<Piece>> = files.collect();
    let modules: BTreeSet<Module> = files.keys().cloned().collect();
    let imports = files.into_iter().map(|(of, pieces)| {
        let code = code(pieces);
        let parts = modules.iter().filter(|one| one.len() == of.len() + 1 && one.starts_with(&of));
        let parts = parts.filter_map(|one| one.last().map(String::as_str)).collect();
        let all = paths(&code, &parts).into_iter().filter_map(|path| resolve(&of, &path, &modules));
        let others = all.filter(|other| !of.starts_with(other)).collect();
        (of, others)
    });
    imports.collect()
}

/// Returns the groups of modules that import each other in a circle.
fn circles(imports: &Imports) -> Vec<Vec<String>> {
    let reach = |from: &Module| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(next) = open.pop() {
            let fresh = imports.get(next).into_iter().flatten();
            open.extend(fresh.filter(|other| seen.insert((*other).clone())));
        }
        seen
    };
    let reached: BTreeMap<&Module, BTreeSet<Module>> =
        imports.keys().map(|module| (module, reach(module))).collect();
    let in_circle = |module: &&Module| reached[*module].contains(*module);
    let groups = imports.keys().filter(in_circle).map(|module| {
        let others = reached[module].iter();
        let same = others.filter(|other| reached.get(other).is_some_and(|r| r.contains(module)));
        same.map(|other| other.join("::")).collect::<Vec<_>>()
    });
    groups.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Reads the rows of ARCHITECTURE.md that begin with a floor: each place with its floor.
fn floors(text: &str, is_wanted: impl Fn(&str) -> bool) -> BTreeMap<String, u8> {
    let rows = text.lines().filter_map(|line| {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        Some((cells.next()?.parse::<u8>().ok()?, cells.next()?))
    });
    let places = rows.flat_map(|(floor, names)| {
        let names = names.split('`').skip(1).step_by(2);
        names.map(move |name| (name.trim_end_matches(".rs").to_owned(), floor))
    });
    places.filter(|(place, _)| is_wanted(place)).collect()
}

fn architecture() -> &'static str {
    let file = TREE.files.iter().find(|file| file.path == "ARCHITECTURE.md");
    &file.expect("ARCHITECTURE.md is part of the tree").content
}

/// Returns the imports that do not run downwards, by the floor and the room of a module.
fn upwards(imports: &Imports, room: impl Fn(&Module) -> Option<(u8, String)>) -> Vec<String> {
    let pairs = imports.iter().flat_map(|(of, others)| others.iter().map(move |one| (of, one)));
    let wrong = pairs.filter_map(|(of, other)| {
        let ((from, own), (to, others)) = (room(of)?, room(other)?);
        let is_down = from > to || own == others;
        (!is_down).then(|| format!("{} -> {}", of.join("/"), other.join("/")))
    });
    wrong.collect()
}

#[test]
fn files_import_no_circle() {
    if is_left_to_the_gate("files import no circle") {
        return;
    }
    for root in ["core/src/", "cli/src/"] {
        let imports = read(root);
        let edges: usize = imports.values().map(BTreeSet::len).sum();
        eprintln!("{root}: {} files, {edges} imports", imports.len());
        assert!(edges > 300, "{root}: only {edges} imports were read");
        assert_eq!(circles(&imports), Vec::<Vec<String>>::new(), "{root}");
    }
}

#[test]
fn the_core_and_the_command_line_import_downwards() {
    if is_left_to_the_gate("the core and the command line import downwards") {
        return;
    }
    for root in ["core/src/", "cli/src/"] {
        let floors = floors(architecture(), |place| place.starts_with(root));
        let imports = read(root);
        let mut unlisted = BTreeSet::new();
        let room = |module: &Module| {
            let name = module.first().map_or("lib", String::as_str);
            floors.get(&format!("{root}{name}")).map(|floor| (*floor, name.to_owned()))
        };
        unlisted.extend(imports.keys().filter(|module| room(module).is_none()));
        assert!(unlisted.is_empty(), "no floor in ARCHITECTURE.md: {root}: {unlisted:?}");
        assert_eq!(upwards(&imports, room), [""; 0]);
    }
}

#[test]
fn the_rooms_of_a_format_import_downwards() {
    let floors = floors(architecture(), |place| !place.contains('/'));
    let imports = read("core/src/");
    let room = |module: &Module| {
        let [formats, format, rest @ ..] = module.as_slice() else { return None };
        let name = rest.first().map_or("mod", String::as_str);
        // Formats do not import each other, which is a law of its own.
        (formats == "formats").then(|| {
            let floor = floors.get(name).unwrap_or_else(|| panic!("no floor for {module:?}"));
            (*floor, format!("{format}/{name}"))
        })
    };
    assert_eq!(upwards(&imports, room), [""; 0]);
}

#[test]
fn bad_imports_are_found() {
    let source = "use crate::{a::b, c as d}; use super::e::F; fn f() { crate::g::h(part::i) }";
    let pieces = lexer::split(source);
    let found = paths(&code(&pieces), &BTreeSet::from(["part"]));
    let found: Vec<String> = found.iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["crate::a::b", "crate::c", "super::e::F", "crate::g::h", "part::i"]);
    let name = |names: &str| -> Module { names.split('/').map(str::to_owned).collect() };
    let modules = BTreeSet::from(["x/y", "x/e", "a"].map(name));
    let to = |path: &str| {
        let words: Vec<String> = path.split("::").map(str::to_owned).collect();
        resolve(&name("x/y"), &words, &modules)
    };
    assert_eq!(to("crate::a::b"), Some(name("a")));
    assert_eq!(to("super::e::F"), Some(name("x/e")));
    assert_eq!(to("std::fmt"), None);
    let imports = BTreeMap::from([
        (name("a"), BTreeSet::from([name("b")])),
        (name("b"), BTreeSet::from([name("c")])),
        (name("c"), BTreeSet::from([name("b")])),
    ]);
    assert_eq!(circles(&imports), [["b", "c"]]);
    let floors = floors("| 2 | `a` | x |\n| 1 | `b`, `c.rs` | y |", |_| true);
    let room = |module: &Module| Some((*floors.get(&module[0])?, module[0].clone()));
    assert_eq!(upwards(&imports, room), ["b -> c", "c -> b"]);
}
