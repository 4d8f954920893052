//! Tests that hold the style of the tree: words, sizes, layers and names.
//!
//! ```text
//!  tree: the files that git knows
//!    |- prose (lexer): comments, strings, paragraphs -> words: rates and traps
//!    |- sizes (syn): lines, functions, structs, nesting, arguments
//!    |- layers (lexer): which module may name which
//!    '- mentions: files, options and codes that documents name; paths that must not be there
//!  exceptions: what may be larger, and why
//! ```
//!
//! Each scanner is tested on a bad sample, so that a check that cannot fail is noticed.
#![allow(clippy::string_slice, reason = "a failure of a test should stop it at once")]

mod exceptions;
mod layers;
mod lexer;
mod mentions;
mod prose;
mod sizes;
mod tree;
mod words;
