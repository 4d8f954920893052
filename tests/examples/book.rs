//! Writes the sources of the book to a folder, for mdbook:
//!
//! ```text
//! cargo run -p tracemend-tests --example book -- target/book
//! mdbook build target/book
//! ```
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a tool for developers")]

use std::fs;
use std::path::Path;

use tracemend_tests::book;

fn main() {
    let folder = std::env::args_os().nth(1).expect("the folder to write to");
    let folder = Path::new(&folder);
    let source = folder.join("src");
    if source.exists() {
        // A page of a code that was renamed must not stay.
        fs::remove_dir_all(&source).unwrap();
    }
    for (path, text) in book::pages(&book::help()) {
        let path = source.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let settings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/book.toml");
    fs::copy(settings, folder.join("book.toml")).unwrap();
}
