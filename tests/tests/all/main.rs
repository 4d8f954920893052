//! The tests of tracemend, in one program: linking takes longer than compiling most of these files.
//!
//! ```text
//!  perf apitrace ovni qemu revent   one folder per format, with the same file names in each:
//!                                   rules, forge (cut and flipped files), judge (its own tools)
//!  corpus hard specimens properties every recording at hand
//!  known_originals                  sound recordings, damaged and repaired
//!  labels                           damage that leaves several originals possible
//!  differences                      recordings, compared
//!  undo                             repairs, proven and undone
//!  beginnings                       recordings after other bytes, or without their beginning
//!  encodings                        sound recordings, compressed or converted as a whole
//!  exhaustive                       short windows, spans, sources and patches, each of them
//!  broken                           the scorer of the benchmark of repairs
//!  readers                          inputs on which the formats' own readers fail
//!  readings                         doubled blocks, inserted and lost bytes
//!  observed                         the inputs that campaigns kept, seen as before
//!  command_line write_faults        the program
//!  limits steps                     the library's limits, and its work by the length
//!  book                             the pages of the book
//!  tidy                             the style of the tree
//! ```
//!
//! `cargo test -p tracemend-tests --test all perf::judge` runs one module. A test that counts what
//! is allocated is a program of its own (`tests/allocation.rs`): other threads would be counted.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::print_stderr,
    reason = "a failure of a test should stop it at once"
)]

mod beginnings;
mod book;
mod broken;
mod causes;
mod command_line;
mod corpus;
mod differences;
mod encodings;
mod exhaustive;
mod gaps;
mod hard;
mod known_originals;
mod labels;
mod limits;
mod observed;
mod properties;
mod readers;
mod readings;
mod redact_damaged;
mod specimens;
mod steps;
mod tidy;
mod toy;
mod transport;
mod undo;
mod write_faults;

mod apitrace {
    mod audit;
    mod bare;
    mod dump;
    mod forge;
    mod invented;
    mod judge;
    mod limits;
    mod old_threads;
    mod parts;
    mod rules;
    mod survival;
    mod tails;
}
mod ovni {
    mod agreement;
    mod blocks;
    mod corpus;
    mod directory;
    mod dump;
    mod flips;
    mod forge;
    mod judge;
    mod limits;
    mod rules;
    mod runs;
    mod values;
}
mod perf {
    mod abi;
    mod blank;
    mod blocks;
    mod campaign;
    mod changed_bytes;
    mod compressed;
    mod counts;
    mod cut;
    mod displaced;
    mod donor;
    mod dump;
    mod exchanged;
    mod flips;
    mod folded;
    mod for_perf;
    mod forge;
    mod headless;
    mod hostile;
    mod indexed;
    mod inside;
    mod joined;
    mod judge;
    mod lost_attrs;
    mod newer;
    mod odd_samples;
    mod outline;
    mod page;
    mod piped;
    mod refused;
    mod rules;
    mod script;
    mod several;
    mod simpleperf;
    mod sizes;
    mod topology;
    mod tracepoints;
    mod traces;
    mod words;
    mod zeroed;
    mod zstd_blocks;
}
mod qemu {
    mod closing;
    mod dump;
    mod forge;
    mod judge;
    mod limits;
    mod places;
    mod properties;
    mod rules;
    mod start;
}
mod revent {
    mod counts;
    mod dumps;
    mod forge;
    mod judge;
    mod pages;
    mod rules;
    mod target;
    mod times;
}
