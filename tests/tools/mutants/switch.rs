//! Writes many mutants into one copy of the sources. Each has a number, and the environment of the
//! program chooses one:
//!
//! ```text
//! a + b        (if crate::switch::is_on(7) { a - b } else { a + b })
//! fn f() {     fn f() { if crate::switch::is_on(8) { return 1; }
//! ```
//!
//! So a thousand mutants need one build. A mutant that does not compile is taken out again.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use proc_macro2::LineColumn;
use serde_json::Value;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// One line of `cargo mutants --list --json`.
#[derive(Clone)]
pub(crate) struct Mutant {
    pub(crate) file: String,
    pub(crate) name: String,
    genre: String,
    replacement: String,
    start: (usize, usize),
}

impl Mutant {
    pub(crate) fn new(listed: &Value) -> Self {
        let text = |key: &str| listed[key].as_str().unwrap_or_default().to_string();
        let start = ["line", "column"].map(|key| listed["span"]["start"][key].as_u64().unwrap());
        let [line, column] = start.map(|number| usize::try_from(number).unwrap());
        let (file, name, genre) = (text("file"), text("name"), text("genre"));
        Self { file, name, genre, replacement: text("replacement"), start: (line, column) }
    }
}

/// The numbers of the mutants of one file that are written into it, by genre and start.
type Wanted<'a> = BTreeMap<(&'a str, (usize, usize)), Vec<(usize, &'a str)>>;

/// A text that is inserted before byte `at` of the source. Texts that close come first, the last
/// one that was opened before the others.
struct Insertion {
    at: usize,
    order: (bool, isize),
    text: String,
    /// The mutants in the text, and the source that they stand for.
    arms: Vec<(usize, Range<usize>)>,
    node: Range<usize>,
}

/// Where a mutant is in the rewritten source: its own text, and that with the original.
pub(crate) struct Site {
    pub(crate) mutant: usize,
    pub(crate) arm: Range<usize>,
    pub(crate) node: Range<usize>,
}

struct Writer<'a> {
    source: &'a str,
    wanted: Wanted<'a>,
    insertions: Vec<Insertion>,
    is_const: bool,
    /// The innermost `match`.
    matched: Range<usize>,
}

/// Returns the source with the mutants in it, and their places. A mutant in a `const fn` has none.
pub(crate) fn write(source: &str, mutants: &[(usize, &Mutant)]) -> (String, Vec<Site>) {
    let mut wanted = Wanted::new();
    for (number, mutant) in mutants {
        let entry = wanted.entry((&mutant.genre, mutant.start)).or_default();
        entry.push((*number, &mutant.replacement));
    }
    let insertions = Vec::new();
    let mut writer = Writer { source, wanted, insertions, is_const: false, matched: 0..0 };
    writer.visit_file(&syn::parse_file(source).expect("the sources are valid"));
    let mut insertions = writer.insertions;
    insertions.sort_by_key(|insertion| (insertion.at, insertion.order));
    let moved = |place: usize, is_end: bool| {
        let before = insertions.iter().filter(|other| other.at < place + usize::from(is_end));
        place + before.map(|other| other.text.len()).sum::<usize>()
    };
    let (mut out, mut done, mut sites) = (String::new(), 0, Vec::new());
    for insertion in &insertions {
        out.push_str(&source[done..insertion.at]);
        done = insertion.at;
        let base = out.len();
        out.push_str(&insertion.text);
        let node = moved(insertion.node.start, false)..moved(insertion.node.end, true);
        for (mutant, arm) in &insertion.arms {
            let arm = base + arm.start..base + arm.end;
            sites.push(Site { mutant: *mutant, arm, node: node.clone() });
        }
    }
    out.push_str(&source[done..]);
    (out, sites)
}

impl<'a> Writer<'a> {
    fn take(&mut self, genre: &'static str, start: LineColumn) -> Vec<(usize, &'a str)> {
        let start = (start.line, start.column + 1);
        if self.is_const {
            return Vec::new();
        }
        self.wanted.remove(&(genre, start)).unwrap_or_default()
    }

    fn text(&self, node: &impl Spanned) -> &'a str {
        &self.source[node.span().byte_range()]
    }

    fn insert(&mut self, at: usize, node: Range<usize>, texts: Vec<(usize, String)>, tail: &str) {
        let (mut text, mut arms) = (String::new(), Vec::new());
        for (number, arm) in texts {
            let start = text.len();
            text.push_str(&arm);
            arms.push((number, start..text.len()));
        }
        text.push_str(tail);
        let order = (true, self.insertions.len().cast_signed());
        self.insertions.push(Insertion { at, order, text, arms, node });
    }

    fn close(&mut self, at: usize, text: &str) {
        let order = (false, -self.insertions.len().cast_signed());
        let text = text.to_string();
        self.insertions.push(Insertion { at, order, text, arms: Vec::new(), node: at..at });
    }

    /// Puts `arms` beside an expression.
    fn choose(&mut self, node: Range<usize>, arms: Vec<(usize, String)>) {
        if arms.is_empty() {
            return;
        }
        let texts = arms.into_iter().enumerate().map(|(at, (number, arm))| {
            let open = if at == 0 { "(" } else { "else " };
            (number, format!("{open}if crate::switch::is_on({number}) {{ {arm} }} "))
        });
        self.insert(node.start, node.clone(), texts.collect(), "else { ");
        self.close(node.end, " })");
    }

    fn body(&mut self, signature: &syn::Signature, block: &syn::Block) -> bool {
        let before = self.is_const;
        self.is_const |= signature.constness.is_some();
        // The original and the mutant would be of two types.
        let is_opaque = self.text(&signature.output).contains("impl ");
        if let Some(first) = block.stmts.first().filter(|_| !is_opaque) {
            let at = block.brace_token.span.open().byte_range().end;
            let texts =
                self.take("FnValue", first.span().start()).into_iter().map(|(number, value)| {
                    (number, format!(" if crate::switch::is_on({number}) {{ return {value}; }} "))
                });
            let texts: Vec<_> = texts.collect();
            if !texts.is_empty() {
                self.insert(at, at..at, texts, "");
            }
        }
        before
    }
}

impl<'ast> Visit<'ast> for Writer<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let before = self.body(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
        self.is_const = before;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        let before = self.body(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
        self.is_const = before;
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        let before = self.is_const;
        if let Some(block) = &item.default {
            self.body(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
        self.is_const = before;
    }

    fn visit_expr_binary(&mut self, item: &'ast syn::ExprBinary) {
        let (left, right) = (self.text(&item.left), self.text(&item.right));
        let arms = self.take("BinaryOperator", item.op.span().start());
        let arms = arms.into_iter().map(|(number, op)| (number, format!("{left} {op} {right}")));
        self.choose(item.span().byte_range(), arms.collect());
        visit::visit_expr_binary(self, item);
    }

    fn visit_expr_unary(&mut self, item: &'ast syn::ExprUnary) {
        let operand = self.text(&item.expr);
        let arms = self.take("UnaryOperator", item.op.span().start());
        let arms = arms.into_iter().map(|(number, op)| (number, format!("{op}{operand}")));
        self.choose(item.span().byte_range(), arms.collect());
        visit::visit_expr_unary(self, item);
    }

    fn visit_expr_struct(&mut self, item: &'ast syn::ExprStruct) {
        for field in &item.fields {
            let (path, member) = (self.text(&item.path), self.text(&field.member));
            let rest = item.rest.as_ref().map_or("", |rest| self.text(rest));
            let arms = self.take("StructField", field.span().start()).into_iter();
            let arms: Vec<_> = arms
                .map(|(number, _)| (number, format!("{path} {{ ..{rest} }}.{member}")))
                .collect();
            if field.colon_token.is_some() {
                self.choose(field.expr.span().byte_range(), arms);
            }
        }
        visit::visit_expr_struct(self, item);
    }

    fn visit_arm(&mut self, item: &'ast syn::Arm) {
        if let syn::Pat::Guard(pattern) = &item.pat {
            let node = pattern.guard.span().byte_range();
            for (number, value) in self.take("MatchArmGuard", pattern.guard.span().start()) {
                let text = match value {
                    "true" => format!("(crate::switch::is_on({number}) || "),
                    _ => format!("(!crate::switch::is_on({number}) && "),
                };
                self.insert(node.start, node.clone(), vec![(number, text)], "(");
                self.close(node.end, "))");
            }
        }
        for (number, _) in self.take("MatchArm", item.span().start()) {
            let arrow = item.fat_arrow_token.span().byte_range().start;
            let text = match &item.pat {
                syn::Pat::Guard(_) => format!(" && !crate::switch::is_on({number}) "),
                _ => format!(" if !crate::switch::is_on({number}) "),
            };
            self.insert(arrow, self.matched.clone(), vec![(number, text)], "");
        }
        visit::visit_arm(self, item);
    }

    fn visit_expr_match(&mut self, item: &'ast syn::ExprMatch) {
        let before = std::mem::replace(&mut self.matched, item.span().byte_range());
        visit::visit_expr_match(self, item);
        self.matched = before;
    }
}

/// Returns the mutants that an error of the compiler is about.
pub(crate) fn blame(error: &Value, sites: &BTreeMap<String, Vec<Site>>) -> BTreeSet<usize> {
    let mut spans: Vec<&Value> = error["spans"].as_array().into_iter().flatten().collect();
    for child in error["children"].as_array().into_iter().flatten() {
        spans.extend(child["spans"].as_array().into_iter().flatten());
    }
    spans.sort_by_key(|span| span["is_primary"] != true);
    let places = spans.iter().filter_map(|span| {
        let sites = sites.get(span["file_name"].as_str()?)?;
        let number = |key: &str| usize::try_from(span[key].as_u64()?).ok();
        Some((sites, number("byte_start")?, number("byte_end")?))
    });
    let places: Vec<_> = places.collect();
    for (sites, start, end) in &places {
        let hit = sites.iter().filter(|site| site.arm.start <= *start && *end <= site.arm.end);
        let hit: BTreeSet<usize> = hit.map(|site| site.mutant).collect();
        if !hit.is_empty() {
            return hit;
        }
    }
    for (sites, start, _) in &places {
        let around = sites.iter().filter(|site| site.node.contains(start));
        if let Some(least) = around.map(|site| site.node.clone()).min_by_key(ExactSizeIterator::len)
        {
            let same = sites.iter().filter(|site| site.node == least);
            return same.map(|site| site.mutant).collect();
        }
    }
    BTreeSet::new()
}
