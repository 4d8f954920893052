//! Tests that hold the style of the tree: words, sizes, layers, names and public items.
//!
//! ```text
//!  tree: the files that git knows
//!    |- prose (lexer): comments, strings, paragraphs -> words: rates and traps
//!    |- sizes (syn): lines, functions, structs, nesting, arguments
//!    |- layers (lexer): which module may name which
//!    |- judgements: the page of places where verdicts are made
//!    |- mentions: files, options and codes that documents name; paths that must not be there
//!    |- public (syn): the items that a user of the library can name
//!    '- examples: output in documents, compared with the program's
//!  exceptions: what may be larger, and why
//! ```
//!
//! Each scanner is tested on a bad sample, so that a check that cannot fail is noticed.
#![allow(clippy::string_slice, reason = "a failure of a test should stop it at once")]

mod examples;
mod exceptions;
mod imports;
mod judgements;
mod layers;
mod lexer;
mod licences;
mod mentions;
mod prose;
mod public;
mod sizes;
mod tree;
mod words;
