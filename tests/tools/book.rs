//! Writes the sources of the book to a folder, for mdbook:
//!
//! ```text
//! cargo run -p tracemend-tools --bin book -- target/book
//! mdbook build target/book
//! ```
#![allow(clippy::expect_used, reason = "a tool for developers")]

use std::path::Path;

fn main() {
    let folder = std::env::args_os().nth(1).expect("the folder to write to");
    tracemend_tests::book::write(Path::new(&folder));
}
