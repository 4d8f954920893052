//! A directory of files as one input of a fuzz target.
//!
//! ```text
//!  length of the name u8 | name | length u24, 0xffffff if the file is absent | bytes     ...
//! ```

use tracemend::kit::source::Source;
use tracemend::{File, FileSet};

/// Greatest number of files in an archive.
const FILES_MAX: usize = 24;
/// Length that marks an absent file.
const ABSENT: usize = 0x00ff_ffff;

/// Packs files into one input.
pub fn pack(files: &[(String, Option<Vec<u8>>)]) -> Vec<u8> {
    let mut packed = Vec::new();
    for (name, bytes) in files {
        packed.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
        packed.extend(name.bytes().take(usize::from(u8::MAX)));
        let len = bytes.as_ref().map_or(ABSENT, |bytes| bytes.len().min(ABSENT - 1));
        packed.extend(len.to_le_bytes().into_iter().take(3));
        packed.extend(bytes.iter().flatten().take(len));
    }
    packed
}

/// Unpacks files; the last one gets the remaining bytes.
pub fn unpack(mut packed: &[u8]) -> FileSet<'_> {
    let mut files = Vec::new();
    while files.len() < FILES_MAX {
        let Some((len, rest)) = packed.split_first() else { break };
        let Some((name, rest)) = rest.split_at_checked(usize::from(*len)) else { break };
        let Some(([a, b, c], rest)) = rest.split_first_chunk::<3>() else { break };
        let len = usize::from(*a) | usize::from(*b) << 8 | usize::from(*c) << 16;
        let name = String::from_utf8_lossy(name).into_owned();
        if len == ABSENT {
            files.push(File { name, bytes: Source::absent() });
            packed = rest;
            continue;
        }
        let (bytes, rest) = rest.split_at_checked(len).unwrap_or((rest, &[]));
        files.push(File { name, bytes: Source::new(bytes) });
        packed = rest;
    }
    FileSet::new(files)
}
