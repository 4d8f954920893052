//! The limits that the tree has not reached yet, and what may stay over them, each with its reason.
//!
//! The figures of today may only go down.

use crate::tidy::sizes::Measure;

/// Limits of the rates per 10,000 words.
pub(super) static RATES: &[(&str, f64)] =
    &[("behind", 23.4), ("What ...", 54.2), ("says, tells, told", 24.6), ("is no, is none", 19.5)];

/// Traps that are still in the tree.
pub(super) const TRAPS_TODAY: usize = 235;

/// Passages that may contain what looks like a trap: path, a part of the text, reason.
pub(super) static ALLOWED_TRAPS: &[(&str, &str, &str)] = &[];

/// Placeholders with a fixed plural that are still in the product.
pub(super) const PLURALS_TODAY: usize = 162;

/// Strings that may have a placeholder and a fixed plural: path, a part of the text, reason.
pub(super) static ALLOWED_PLURALS: &[(&str, &str, &str)] = &[];

/// Sizes over their limits that are still in the tree.
pub(super) static SIZES_TODAY: &[(Measure, usize)] = &[
    (Measure::File, 24),
    (Measure::Function, 36),
    (Measure::Fields, 24),
    (Measure::Nesting, 6),
    (Measure::Arguments, 6),
    (Measure::Columns, 80),
];

/// Sizes that may stay over their limits: measure, place, reason.
pub(super) static EXCEPTIONS: &[(Measure, &str, &str)] = &[];

/// Places that still break a law of the layers.
pub(super) static LAYERS_TODAY: &[(&str, usize)] = &[
    ("check reads no bytes", 53),
    ("decode names no rule", 1),
    ("repair does not import check", 5),
];

/// Files that may break a law of the layers: law, path, reason.
pub(super) static ALLOWED_LAYERS: &[(&str, &str, &str)] = &[];

/// Options of other programs that texts name.
pub(super) static FOREIGN_OPTIONS: &[&str] = &[
    // cargo
    "--example",
    "--manifest-path",
    "--path",
    "--release",
    "--test",
    "--workspace",
    // perf
    "--call-graph",
    "--header-only",
    "--kcore",
    "--threads",
    "--time",
    // prlimit
    "--data",
];

/// Codes that stand for any code.
pub(super) static NOT_CODES: &[&str] = &["PD0201"];

/// What looks like a path of the tree and is not.
pub(super) static NOT_FILES: &[&str] = &["fuzz/artifacts/", "fuzz/corpus", "fuzz/corpus/"];

/// Hosts that may be named.
pub(super) static ALLOWED_HOSTS: &[&str] = &["github.com", "json-schema.org", "www.apache.org"];
