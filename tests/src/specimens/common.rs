//! Specimens of the rules that all formats share.

use super::Specimen;

/// Rules about paths and limits, which bytes alone cannot break.
pub const IMPOSSIBLE: &[(&str, &str)] = &[
    ("CM0003", "a device, a socket or a pipe is not a file that a repository can hold"),
    ("CM0004", "a directory without a recording is not a file that a repository can hold"),
    ("CM0005", "a program that writes a file is not a part of the file"),
    ("CM0006", "only a repair finds it, and this collection shows what a check finds"),
    ("CM9001", "it takes a recording beyond a limit, or a lowered limit"),
    ("CM9002", "it takes a recording beyond a limit, or a lowered limit"),
];
/// Codes whose specimen is still to be made.
pub const MISSING: &[&str] = &[];

/// An empty file, and one of no format.
pub fn specimens() -> Vec<Specimen> {
    vec![
        Specimen::new("CM0001", Vec::new()),
        Specimen::new("CM0002", b"The first line of a text file.\n".to_vec()),
    ]
}
