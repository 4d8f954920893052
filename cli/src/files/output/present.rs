//! Outputs whose name is taken: is what stands there what this run would write?

use std::collections::BTreeMap;
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

use crate::files::recording::open_file;

/// Whether both paths have the same content: two files, or two folders with everything in them.
pub(super) fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    let [kind, same] = [one, other].map(|path| fs::symlink_metadata(path).map(|m| m.file_type()));
    let (kind, same) = (kind?, same?);
    if !kind.is_dir() || !same.is_dir() {
        return is_same_entry((one, kind), (other, same));
    }
    let (entries, others) = (list(one)?, list(other)?);
    if !entries.keys().eq(others.keys()) {
        return Ok(false);
    }
    for ((name, kind), other_kind) in entries.iter().zip(others.values()) {
        if !is_same_entry((&one.join(name), *kind), (&other.join(name), *other_kind))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Everything in a folder, by its name relative to it.
fn list(folder: &Path) -> io::Result<BTreeMap<PathBuf, FileType>> {
    let entries = walkdir::WalkDir::new(folder).min_depth(1).into_iter().map(|entry| {
        let entry = entry?;
        let name = entry.path().strip_prefix(folder).unwrap_or(entry.path()).to_path_buf();
        Ok((name, entry.file_type()))
    });
    entries.collect()
}

fn is_same_entry(
    (one, kind): (&Path, FileType),
    (other, other_kind): (&Path, FileType),
) -> io::Result<bool> {
    if kind != other_kind {
        return Ok(false);
    }
    if kind.is_symlink() {
        return Ok(fs::read_link(one)? == fs::read_link(other)?);
    }
    if !kind.is_file() {
        return Ok(kind.is_dir());
    }
    let open = |path| open_file(path, String::new());
    Ok(open(one)?.has_equal_bytes(&open(other)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_the_same_if_every_entry_is() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.join("in")).unwrap();
            fs::write(path.join("in/file"), bytes).unwrap();
            std::os::unix::fs::symlink("file", path.join("in/link")).unwrap();
            path
        };
        let (one, same, other) = (make("a", b"bytes"), make("b", b"bytes"), make("c", b"Bytes"));
        assert!(is_same(&one, &same).unwrap());
        assert!(!is_same(&one, &other).unwrap(), "another byte");
        fs::create_dir(same.join("more")).unwrap();
        assert!(!is_same(&one, &same).unwrap(), "one entry more");
        fs::remove_dir(same.join("more")).unwrap();
        fs::remove_file(same.join("in/link")).unwrap();
        std::os::unix::fs::symlink("elsewhere", same.join("in/link")).unwrap();
        assert!(!is_same(&one, &same).unwrap(), "another link");
        assert!(!is_same(&one, &other.join("in/file")).unwrap(), "a folder and a file");
    }
}
