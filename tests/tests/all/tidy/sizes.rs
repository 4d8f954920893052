//! Sizes of files, functions, structs, nesting, argument lists and lines.

use std::collections::BTreeMap;
use std::fmt;

use syn::visit::{self, Visit};

use crate::tidy::exceptions::{Exceptions, count};
use crate::tidy::tree::TREE;
use tracemend_tests::sweep::is_left_to_the_gate;

/// A size that has a limit.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Measure {
    /// Lines of a file.
    File,
    /// Lines of a function from `fn` to its closing brace.
    Function,
    /// Fields of a struct.
    Fields,
    /// Control flow inside control flow in one function; `else if` goes no deeper.
    Nesting,
    /// Arguments of a function besides `self`.
    Arguments,
    /// Columns of the longest line.
    Columns,
}

impl Measure {
    const ALL: [Self; 6] =
        [Self::File, Self::Function, Self::Fields, Self::Nesting, Self::Arguments, Self::Columns];

    const fn limit(self) -> usize {
        match self {
            Self::File => 500,
            Self::Function => 60,
            Self::Fields => 10,
            Self::Nesting => 4,
            Self::Arguments => 6,
            Self::Columns => 100,
        }
    }
}

/// A size that was measured.
#[derive(Debug)]
struct Size {
    measure: Measure,
    /// Path of the file, then `::` and the name of the item if it is not the whole file.
    place: String,
    line: usize,
    size: usize,
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.measure.limit();
        write!(f, "{:?} {} > {limit}: {} (line {})", self.measure, self.size, self.place, self.line)
    }
}

/// Measures one Rust file.
fn measure(path: &str, content: &str) -> Vec<Size> {
    let mut sizes = Vec::new();
    let whole = |measure, line, size| Size { measure, place: path.to_owned(), line, size };
    sizes.push(whole(Measure::File, 1, content.lines().count()));
    let columns = content.lines().map(|line| line.chars().count()).enumerate();
    if let Some((at, size)) = columns.max_by_key(|(_, size)| *size) {
        sizes.push(whole(Measure::Columns, at + 1, size));
    }
    let file = syn::parse_file(content).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut walker = Walker { path, sizes, owner: String::new(), depth: 0, deepest: 0 };
    walker.visit_file(&file);
    walker.sizes
}

/// Measures the lines of a Markdown file, without tables, code and comments.
fn measure_lines(path: &str, content: &str) -> Option<Size> {
    let mut is_code = false;
    let prose = content.lines().enumerate().filter(|(_, line)| {
        is_code ^= line.starts_with("```");
        !is_code && !line.starts_with(['|', '<', '`'])
    });
    let longest = prose.map(|(at, line)| (at + 1, line.chars().count())).max_by_key(|long| long.1);
    let (line, size) = longest?;
    Some(Size { measure: Measure::Columns, place: path.to_owned(), line, size })
}

struct Walker<'a> {
    path: &'a str,
    sizes: Vec<Size>,
    /// Type of the surrounding `impl`.
    owner: String,
    depth: usize,
    deepest: usize,
}

impl Walker<'_> {
    fn push(&mut self, measure: Measure, name: &str, line: usize, size: usize) {
        let owner = if self.owner.is_empty() { String::new() } else { format!("{}::", self.owner) };
        let place = format!("{}::{owner}{name}", self.path);
        self.sizes.push(Size { measure, place, line, size });
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let name = signature.ident.to_string();
        let line = signature.fn_token.span.start().line;
        let last = block.brace_token.span.close().end().line;
        let arguments = signature.inputs.iter();
        let arguments = arguments.filter(|input| matches!(input, syn::FnArg::Typed(_))).count();
        self.push(Measure::Function, &name, line, last + 1 - line);
        self.push(Measure::Arguments, &name, line, arguments);
        let outer = (self.depth, self.deepest);
        (self.depth, self.deepest) = (0, 0);
        visit::visit_block(self, block);
        self.push(Measure::Nesting, &name, line, self.deepest);
        (self.depth, self.deepest) = outer;
    }

    fn nested(&mut self, visit: impl FnOnce(&mut Self)) {
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        visit(self);
        self.depth -= 1;
    }
}

impl<'ast> Visit<'ast> for Walker<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let name = match &*item.self_ty {
            syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        };
        let outer = std::mem::replace(&mut self.owner, name.unwrap_or_default());
        visit::visit_item_impl(self, item);
        self.owner = outer;
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let line = item.struct_token.span.start().line;
        self.push(Measure::Fields, &item.ident.to_string(), line, item.fields.len());
        visit::visit_item_struct(self, item);
    }

    fn visit_expr_if(&mut self, item: &'ast syn::ExprIf) {
        self.visit_expr(&item.cond);
        self.nested(|walker| walker.visit_block(&item.then_branch));
        match item.else_branch.as_ref().map(|(_, branch)| &**branch) {
            Some(syn::Expr::If(chained)) => self.visit_expr_if(chained),
            Some(branch) => self.nested(|walker| walker.visit_expr(branch)),
            None => {}
        }
    }

    fn visit_expr_match(&mut self, item: &'ast syn::ExprMatch) {
        self.nested(|walker| visit::visit_expr_match(walker, item));
    }

    fn visit_expr_for_loop(&mut self, item: &'ast syn::ExprForLoop) {
        self.nested(|walker| visit::visit_expr_for_loop(walker, item));
    }

    fn visit_expr_while(&mut self, item: &'ast syn::ExprWhile) {
        self.nested(|walker| visit::visit_expr_while(walker, item));
    }

    fn visit_expr_loop(&mut self, item: &'ast syn::ExprLoop) {
        self.nested(|walker| visit::visit_expr_loop(walker, item));
    }

    fn visit_expr_closure(&mut self, item: &'ast syn::ExprClosure) {
        if matches!(&*item.body, syn::Expr::Block(_)) {
            self.nested(|walker| visit::visit_expr_closure(walker, item));
        } else {
            visit::visit_expr_closure(self, item);
        }
    }
}

#[test]
fn sizes_stay_below_their_limits() {
    if is_left_to_the_gate("sizes stay below their limits") {
        return;
    }
    let mut counts: BTreeMap<Measure, Vec<String>> = BTreeMap::new();
    let mut exceptions = Exceptions::new("size");
    for file in &TREE.files {
        let sizes = match file.path.rsplit_once('.') {
            Some((_, "rs")) => measure(&file.path, &file.content),
            Some((_, "md")) => measure_lines(&file.path, &file.content).into_iter().collect(),
            _ => Vec::new(),
        };
        for size in sizes.into_iter().filter(|size| size.size > size.measure.limit()) {
            let name = format!("{:?}", size.measure);
            if !exceptions.allow(|values| values[0] == name && values[1] == size.place) {
                counts.entry(size.measure).or_default().push(size.to_string());
            }
        }
    }
    let mut over = Vec::new();
    for measure in Measure::ALL {
        let found = counts.remove(&measure).unwrap_or_default();
        let today = count("today", &format!("{measure:?}"));
        eprintln!("{measure:?}: {} over {}, {today} allowed", found.len(), measure.limit());
        if found.len() > today {
            over.extend(found);
        }
    }
    assert!(over.is_empty(), "{over:#?}");
    exceptions.assert_all_used();
}

#[test]
fn sizes_of_a_bad_sample_are_measured() {
    let sample = "struct S { a: u8, b: u8 }
impl S {
    fn f(&self, a: u8, b: u8) {
        for x in y {
            if a {
                match b {
                    _ => z(|| {
                        w
                    }),
                }
            } else if c {
                d
            }
        }
    }
}
";
    let sizes = measure("a.rs", sample);
    let of = |measure: Measure, place: &str| {
        let found = sizes.iter().find(|size| size.measure == measure && size.place == place);
        found.map(|size| size.size)
    };
    assert_eq!(of(Measure::File, "a.rs"), Some(16));
    assert_eq!(of(Measure::Columns, "a.rs"), Some(31));
    assert_eq!(of(Measure::Fields, "a.rs::S"), Some(2));
    assert_eq!(of(Measure::Function, "a.rs::S::f"), Some(13));
    assert_eq!(of(Measure::Arguments, "a.rs::S::f"), Some(2));
    assert_eq!(of(Measure::Nesting, "a.rs::S::f"), Some(4));
    let lines = measure_lines("a.md", "| a table |\n```\nsome code\n```\nprose\n");
    assert_eq!(lines.map(|size| (size.line, size.size)), Some((5, 5)));
}
