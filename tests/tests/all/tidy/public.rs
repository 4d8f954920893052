//! The items that a user of the library can name, compared with `core/public-items.txt`.
//!
//! The walk starts at `core/src/lib.rs` and follows `pub mod` and `pub use` to the definitions, as
//! the compiler does. It leaves out what needs the feature `testing`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use syn::{Item, UseTree, Visibility};

use crate::tidy::tree::{TREE, Tree};
use tracemend_tests::sweep::is_left_to_the_gate;

/// Folder of the library's sources.
const SOURCES: &str = "core/src";
/// File that lists the public items.
const LIST: &str = "core/public-items.txt";

const HEAD: &str = "\
# Public items of the library, compared by the test `tidy::public`; BLESS=1 rewrites the list.
#
# An item is a function, a type, a trait, a module, a constant, a static or a macro that a user can
# name with all features but `testing`; one that has several paths is listed under each. Members
# (fields, variants, and methods of inherent impls and traits) are indented and counted apart.
";

/// A public item with its members.
#[derive(Debug, Default, Eq, PartialEq)]
struct Public {
    kind: &'static str,
    members: BTreeSet<String>,
}

/// The sources of the library, parsed.
struct Library {
    /// Items of each module, by path: `["kit", "span"]`.
    modules: BTreeMap<Vec<String>, Vec<Item>>,
    /// Public methods of inherent impls, by name of the type.
    methods: BTreeMap<String, BTreeSet<String>>,
    /// Public items, by path.
    found: BTreeMap<String, Public>,
}

impl Library {
    /// Parses the library of `tree` and follows its public items.
    fn read(tree: &Tree) -> Self {
        let modules = BTreeMap::new();
        let mut library = Self { modules, methods: BTreeMap::new(), found: BTreeMap::new() };
        for file in tree.rust() {
            let Some(path) = file.path.strip_prefix(SOURCES) else { continue };
            let path = path.trim_matches('/').trim_end_matches(".rs");
            let mut module: Vec<_> = path.split('/').map(str::to_owned).collect();
            module.pop_if(|last| last == "mod" || (last == "lib" && path == "lib"));
            let parsed = syn::parse_file(&file.content).expect("the sources are valid");
            library.add_module(module, parsed.items);
        }
        library.follow_module(&[], "");
        library
    }

    fn add_module(&mut self, path: Vec<String>, items: Vec<Item>) {
        for item in &items {
            if let Item::Mod(inner) = item
                && let Some((_, items)) = &inner.content
            {
                let mut path = path.clone();
                path.push(inner.ident.to_string());
                self.add_module(path, items.clone());
            }
            if let Item::Impl(item) = item
                && let (None, syn::Type::Path(ty)) = (&item.trait_, &*item.self_ty)
                && let Some(name) = ty.path.segments.last()
            {
                let methods = self.methods.entry(name.ident.to_string()).or_default();
                methods.extend(public_members(item));
            }
        }
        self.modules.insert(path, items);
    }

    /// Adds the public items of the module `path`, which users see under `seen`.
    fn follow_module(&mut self, path: &[String], seen: &str) {
        let items = self.modules.get(path).cloned().unwrap_or_default();
        for item in items.iter().filter(|item| !needs_testing(item)) {
            if let Item::Use(item) = item
                && is_public(&item.vis)
            {
                for (target, name) in flatten(&item.tree) {
                    self.follow_use(path, &target, &name, seen);
                }
            } else if is_public_item(item) {
                self.push_item(item, path, seen, None);
            }
            for name in declared_by_macro(item) {
                self.push(seen, &name, "static", BTreeSet::new());
            }
        }
    }

    /// Follows `pub use target as name` of the module `path`.
    fn follow_use(&mut self, path: &[String], target: &[String], name: &str, seen: &str) {
        let mut target = target.to_vec();
        let mut base = path.to_vec();
        match target.first().map(String::as_str) {
            Some("crate") => base.clear(),
            Some("super") => drop(base.pop()),
            Some("self") => {}
            _ => target.insert(0, String::new()),
        }
        target.remove(0);
        base.extend(target);
        let Some(last) = base.pop() else { return };
        if last == "*" {
            self.follow_module(&base, seen);
            return;
        }
        let items = self.modules.get(&base).cloned().unwrap_or_default();
        let is_it = |item: &&Item| item_name(item).is_some_and(|(_, named)| named == last);
        if let Some(item) = items.iter().find(is_it) {
            self.push_item(item, &base, seen, Some(name));
            return;
        }
        let module = [base.clone(), vec![last.clone()]].concat();
        if self.modules.contains_key(&module) {
            self.push(seen, name, "mod", BTreeSet::new());
            self.follow_module(&module, &format!("{seen}{name}::"));
            return;
        }
        let uses = items.iter().filter_map(|item| match item {
            Item::Use(item) => Some(flatten(&item.tree)),
            _ => None,
        });
        let again = uses.flatten().find(|(_, named)| *named == last);
        match again {
            Some((target, _)) => self.follow_use(&base, &target, name, seen),
            None => panic!("{}::{last} was not found", base.join("::")),
        }
    }

    /// Adds an item of the module `path`, which is called `name` where users see it.
    fn push_item(&mut self, item: &Item, path: &[String], seen: &str, name: Option<&str>) {
        let Some((kind, own)) = item_name(item) else { return };
        let name = name.unwrap_or(&own);
        let mut members = item_members(item);
        members.extend(self.methods.get(&own).cloned().unwrap_or_default());
        self.push(seen, name, kind, members);
        if kind == "mod" {
            let module = [path.to_vec(), vec![own.clone()]].concat();
            self.follow_module(&module, &format!("{seen}{name}::"));
        }
    }

    fn push(&mut self, seen: &str, name: &str, kind: &'static str, members: BTreeSet<String>) {
        self.found.insert(format!("{seen}{name}"), Public { kind, members });
    }

    /// Returns the list with its head and its counts.
    fn list(&self) -> String {
        let members: usize = self.found.values().map(|item| item.members.len()).sum();
        let mut list = format!("{HEAD}# {} items, {members} members\n\n", self.found.len());
        for (path, item) in &self.found {
            let _infallible = writeln!(list, "{} {path}", item.kind);
            for member in &item.members {
                let _infallible = writeln!(list, "    {member}");
            }
        }
        list
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Whether an item is compiled for the feature `testing` only.
fn needs_testing(item: &Item) -> bool {
    let attributes = match item {
        Item::Mod(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        _ => return false,
    };
    asks_for_testing(attributes)
}

/// Whether attributes compile an item for the feature `testing` only.
fn asks_for_testing(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        let tokens = list.tokens.to_string();
        list.path.is_ident("cfg") && tokens.contains("\"testing\"") && !tokens.contains("not")
    })
}

/// Returns the kind and the name of an item that has one.
fn item_name(item: &Item) -> Option<(&'static str, String)> {
    let (kind, name) = match item {
        Item::Const(item) => ("const", &item.ident),
        Item::Enum(item) => ("enum", &item.ident),
        Item::Fn(item) => ("fn", &item.sig.ident),
        Item::Mod(item) => ("mod", &item.ident),
        Item::Static(item) => ("static", &item.ident),
        Item::Struct(item) => ("struct", &item.ident),
        Item::Trait(item) => ("trait", &item.ident),
        Item::Type(item) => ("type", &item.ident),
        _ => return None,
    };
    Some((kind, name.to_string()))
}

fn is_public_item(item: &Item) -> bool {
    match item {
        Item::Const(item) => is_public(&item.vis),
        Item::Enum(item) => is_public(&item.vis),
        Item::Fn(item) => is_public(&item.vis),
        Item::Mod(item) => is_public(&item.vis),
        Item::Static(item) => is_public(&item.vis),
        Item::Struct(item) => is_public(&item.vis),
        Item::Trait(item) => is_public(&item.vis),
        Item::Type(item) => is_public(&item.vis),
        _ => false,
    }
}

/// Returns the statics of `rules! { NAME = Rule { .. }; .. }` and of macros like it, and the list
/// that the macro adds.
fn declared_by_macro(item: &Item) -> Vec<String> {
    let Item::Macro(item) = item else { return Vec::new() };
    if item.ident.is_some() || !item.mac.path.is_ident("rules") {
        return Vec::new();
    }
    let tokens = item.mac.tokens.to_string();
    let words: Vec<_> = tokens.split_whitespace().collect();
    let names = words.windows(3).filter(|three| three[1] == "=" && three[2] == "Rule");
    let mut names: Vec<_> = names.map(|three| three[0].to_owned()).collect();
    names.push("RULES".to_owned());
    names
}

/// Returns the public fields of a struct, the variants of an enum or the functions of a trait.
fn item_members(item: &Item) -> BTreeSet<String> {
    match item {
        Item::Struct(item) => {
            let fields = item.fields.iter().enumerate().filter(|(_, field)| is_public(&field.vis));
            let name = |(at, field): (usize, &syn::Field)| {
                field.ident.as_ref().map_or_else(|| at.to_string(), ToString::to_string)
            };
            fields.map(|field| format!("field {}", name(field))).collect()
        }
        Item::Enum(item) => {
            item.variants.iter().map(|variant| format!("variant {}", variant.ident)).collect()
        }
        Item::Trait(item) => {
            let functions = item.items.iter().filter_map(|item| match item {
                syn::TraitItem::Fn(item) => Some(format!("fn {}", item.sig.ident)),
                _ => None,
            });
            functions.collect()
        }
        _ => BTreeSet::new(),
    }
}

/// Returns the public functions and constants of an inherent impl.
fn public_members(item: &syn::ItemImpl) -> Vec<String> {
    let members = item.items.iter().filter_map(|item| match item {
        syn::ImplItem::Fn(item) if is_public(&item.vis) && !asks_for_testing(&item.attrs) => {
            Some(format!("fn {}", item.sig.ident))
        }
        syn::ImplItem::Const(item) if is_public(&item.vis) => Some(format!("const {}", item.ident)),
        _ => None,
    });
    members.collect()
}

/// Returns each path of a `use` with the name that it gets.
fn flatten(tree: &UseTree) -> Vec<(Vec<String>, String)> {
    match tree {
        UseTree::Path(path) => {
            let inner = flatten(&path.tree).into_iter();
            let first = path.ident.to_string();
            let joined = inner.map(|(rest, name)| {
                // `a::{self}` names a itself.
                let is_self = rest.len() == 1 && rest[0] == "self";
                let name = if name == "self" { first.clone() } else { name };
                let rest = if is_self { Vec::new() } else { rest };
                ([vec![first.clone()], rest].concat(), name)
            });
            joined.collect()
        }
        UseTree::Name(name) => vec![(vec![name.ident.to_string()], name.ident.to_string())],
        UseTree::Rename(name) => vec![(vec![name.ident.to_string()], name.rename.to_string())],
        UseTree::Glob(_) => vec![(vec!["*".to_owned()], "*".to_owned())],
        UseTree::Group(group) => group.items.iter().flat_map(flatten).collect(),
    }
}

#[test]
fn public_items_are_listed() {
    if is_left_to_the_gate("public items are listed") {
        return;
    }
    let library = Library::read(&TREE);
    let list = library.list();
    let members: usize = library.found.values().map(|item| item.members.len()).sum();
    eprintln!("{} public items, {members} members", library.found.len());
    let path = TREE.root.join(LIST);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &list).expect("the list can be written");
    }
    let listed = std::fs::read_to_string(&path).unwrap_or_default();
    let (old, new): (BTreeSet<_>, BTreeSet<_>) = (listed.lines().collect(), list.lines().collect());
    let removed: Vec<_> = old.difference(&new).collect();
    let added: Vec<_> = new.difference(&old).collect();
    assert!(listed == list, "{LIST} is out of date; removed: {removed:#?}, added: {added:#?}");
}

#[test]
fn public_items_of_a_sample_are_found() {
    let mut library =
        Library { modules: BTreeMap::new(), methods: BTreeMap::new(), found: BTreeMap::new() };
    let root = "pub mod open; mod closed; pub use closed::inner::{A, b as c}; fn hidden() {} \
                #[cfg(feature = \"testing\")] pub mod secret { pub fn x() {} } pub use closed::D;";
    let closed = "mod inner; pub use inner::D;";
    let inner = "pub struct A { pub x: u8, y: u8 } impl A { pub fn f() {} fn g() {} \
                 #[cfg(feature = \"testing\")] pub fn h() {} } pub fn b() {} pub enum D { V }";
    let open = "pub static S: u8 = 0; rules! { R = Rule { code: 1 }; }";
    let parse = |source| syn::parse_file(source).expect("the sample is valid").items;
    let path = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    library.add_module(path(&[]), parse(root));
    library.add_module(path(&["closed"]), parse(closed));
    library.add_module(path(&["closed", "inner"]), parse(inner));
    library.add_module(path(&["open"]), parse(open));
    library.follow_module(&[], "");
    let found: Vec<_> = library.found.keys().map(String::as_str).collect();
    assert_eq!(found, ["A", "D", "c", "open", "open::R", "open::RULES", "open::S"]);
    let members: Vec<_> = library.found["A"].members.iter().map(String::as_str).collect();
    assert_eq!(members, ["field x", "fn f"]);
}
