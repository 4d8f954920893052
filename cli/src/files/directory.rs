//! Directories that are one recording: formats know their shape by names, this file reads the disk.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tracemend::{DirectoryShape, DirectoryView, FormatId, Limits};

use crate::files::paths::parent;
use crate::files::paths::shown;
use crate::files::recording::{
    InputFile, PlannedName, Recording, open_file, open_member, open_without_waiting,
};
use crate::files::writer::Writer;
use crate::kit::exit::{Exit, Failure};

/// Names of a directory that are looked at to tell whether it is a recording.
const NAMES_MAX: usize = 65_536;
/// Entries of a recording. A directory that grows while it is listed has no end.
const ENTRIES_MAX: usize = 1_000_000;

/// A directory as a format may ask about it. Symbolic links are not followed here.
struct View<'a> {
    root: &'a Path,
    /// The first thing that could not be read.
    failure: RefCell<Option<Failure>>,
}

impl View<'_> {
    fn note(&self, path: &Path, error: &io::Error) {
        // A name that is gone was never there.
        if error.kind() != io::ErrorKind::NotFound {
            let mut failure = self.failure.borrow_mut();
            failure.get_or_insert_with(|| Failure::io(shown(path), error));
        }
    }
}

impl DirectoryView for View<'_> {
    fn entries(&self, below: &str) -> Vec<(String, bool)> {
        let path = self.root.join(below);
        let entries = std::fs::read_dir(&path).inspect_err(|error| self.note(&path, error));
        let Ok(entries) = entries else { return Vec::new() };
        let entries = entries.take(NAMES_MAX).filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().to_str()?.to_string();
            Some((name, entry.file_type().ok()?.is_dir()))
        });
        entries.collect()
    }

    fn head(&self, file: &str, len: usize) -> Vec<u8> {
        let path = self.root.join(file);
        let mut head = Vec::new();
        let max = u64::try_from(len).unwrap_or(u64::MAX);
        let mut read = || -> io::Result<()> {
            if std::fs::symlink_metadata(&path)?.is_file() {
                open_without_waiting(&path)?.take(max).read_to_end(&mut head)?;
            }
            Ok(())
        };
        if let Err(error) = read() {
            self.note(&path, &error);
        }
        head
    }
}

/// The shape that the directory has, if it is a recording. Fails if it cannot be known, because
/// something could not be read.
fn find_shape(directory: &Path) -> Result<Option<&'static dyn DirectoryShape>, Failure> {
    let view = View { root: directory, failure: RefCell::default() };
    let mut shapes = FormatId::ALL.iter().filter_map(|format| format.directory());
    let shape = shapes.find(|shape| shape.is_recording(&view));
    match view.failure.into_inner() {
        Some(failure) if shape.is_none() => Err(failure),
        _ => Ok(shape),
    }
}

/// Whether a directory is one recording. One that cannot be read is not: a walk reports the reason.
pub(crate) fn is_recording(directory: &Path) -> bool {
    find_shape(directory).is_ok_and(|shape| shape.is_some())
}

/// Returns the directory that is one recording and has the file in it: the outermost one.
pub(crate) fn recording_around(file: &Path) -> Option<PathBuf> {
    let leaf = file.file_name()?.to_str()?;
    let is_member = |shape: &dyn DirectoryShape, name: &str| {
        let members = shape.members(&[name.to_string()]);
        members.iter().any(|member| member.name == name && !member.is_absent)
    };
    let shapes = FormatId::ALL.iter().filter_map(|format| format.directory());
    let shapes: Vec<&dyn DirectoryShape> = shapes.filter(|shape| is_member(*shape, leaf)).collect();
    if shapes.is_empty() || !std::fs::symlink_metadata(file).is_ok_and(|found| found.is_file()) {
        return None;
    }
    let full = std::fs::canonicalize(parent(file)).ok()?.join(leaf);
    let find = |shape: &&dyn DirectoryShape| {
        let around = full.ancestors().skip(1).take(shape.depth());
        let is_whole = |folder: &&Path| {
            let view = View { root: folder, failure: RefCell::default() };
            let name = full.strip_prefix(folder).ok().and_then(Path::to_str);
            name.is_some_and(|name| is_member(*shape, name)) && shape.is_recording(&view)
        };
        around.take_while(is_whole).last().map(Path::to_path_buf)
    };
    let whole = shapes.iter().find_map(find)?;
    // As the file was named, if the directory is a part of that.
    let levels = full.strip_prefix(&whole).ok()?.components().count();
    let named = file.ancestors().nth(levels).filter(|named| !named.as_os_str().is_empty());
    let is_same = |named: &&Path| std::fs::canonicalize(named).is_ok_and(|named| named == whole);
    Some(named.filter(is_same).map_or_else(|| whole.clone(), Path::to_path_buf))
}

/// Opens a directory that is one recording: every file of it, and the names of those that are
/// missing.
pub(crate) fn open(directory: &Path) -> Result<Option<Recording>, Failure> {
    open_within(directory, &Limits::default())
}

fn open_within(directory: &Path, limits: &Limits) -> Result<Option<Recording>, Failure> {
    let Some(shape) = find_shape(directory)? else { return Ok(None) };
    let failed = |path: &Path, error: io::Error| Failure::io(shown(path), &error);
    let Entries { paths, unfollowed_links } = list_entries(directory, shape)?;
    let mut names: Vec<String> = paths.keys().cloned().collect();
    names.sort_by(|a, b| Path::new(a).cmp(Path::new(b)));
    let metadata = std::fs::metadata(directory).map_err(|error| failed(directory, error))?;
    let (mut files, mut is_in_use) = (Vec::new(), false);
    let max = limits.of(shape.files());
    for member in shape.members(&names) {
        let path = match paths.get(&member.name) {
            Some(path) => directory.join(path),
            None => directory.join(&member.name),
        };
        let is_taken = member.is_absent && std::fs::symlink_metadata(&path).is_ok();
        if is_taken {
            // A link is not followed, and nothing is written under its name.
            continue;
        }
        files.push(if member.is_absent {
            InputFile::absent(&member.name, Some(path), &metadata)
        } else {
            open_member(&path, member.name, is_in_use).map_err(|error| failed(&path, error))?
        });
        is_in_use |= files.last().is_some_and(|file| file.writer == Writer::Present);
        if u64::try_from(files.len()).unwrap_or(u64::MAX) > max {
            return Err(too_many(directory, max, "files"));
        }
    }
    let recording = Recording::of_directory(directory.to_path_buf(), files);
    Ok(Some(Recording { unfollowed_links, ..recording }))
}

/// Opens files of a directory that its format does not list, by their names; links and names that
/// do not exist are left out.
pub(crate) fn open_others(
    directory: &Path,
    names: &BTreeSet<&str>,
) -> Result<Vec<InputFile>, Failure> {
    let shape = if names.is_empty() { None } else { find_shape(directory)? };
    let Some(shape) = shape else { return Ok(Vec::new()) };
    let entries = list_entries(directory, shape)?;
    let named = entries.paths.into_iter().filter(|(name, _)| names.contains(name.as_str()));
    let open = |(name, path): (String, PathBuf)| {
        let path = directory.join(path);
        open_file(&path, name).map_err(|error| Failure::io(shown(&path), &error))
    };
    named.map(open).collect()
}

/// The entries below a directory.
#[derive(Default)]
struct Entries {
    /// Files and directories by their names, as text and as they are; the name of a directory ends
    /// with `/`.
    paths: BTreeMap<String, PathBuf>,
    /// Names of symbolic links that were not followed.
    unfollowed_links: Vec<String>,
}

fn list_entries(directory: &Path, shape: &dyn DirectoryShape) -> Result<Entries, Failure> {
    let mut entries = Entries::default();
    let walk = walkdir::WalkDir::new(directory).min_depth(1).max_depth(shape.depth());
    for (count, entry) in walk.into_iter().enumerate() {
        if count >= ENTRIES_MAX {
            return Err(too_many(directory, ENTRIES_MAX, "entries"));
        }
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(directory).to_path_buf();
            let error = error.into_io_error().unwrap_or_else(|| io::Error::other("a loop"));
            Failure::io(shown(&path), &error)
        })?;
        let Ok(path) = entry.path().strip_prefix(directory) else { continue };
        let name = path.to_string_lossy();
        let is_link = entry.file_type().is_symlink();
        if entry.file_type().is_file() || is_link && leads_to_own_file(directory, entry.path()) {
            entries.paths.insert(name.into_owned(), path.to_path_buf());
        } else if entry.file_type().is_dir() {
            entries.paths.insert(format!("{name}/"), path.to_path_buf());
        } else if is_link {
            entries.unfollowed_links.push(name.into_owned());
        }
    }
    entries.unfollowed_links.sort();
    Ok(entries)
}

/// Whether a link leads to a regular file of the same directory. Others are not followed.
fn leads_to_own_file(directory: &Path, link: &Path) -> bool {
    let (root, target) = (directory.canonicalize(), link.canonicalize());
    let (Ok(root), Ok(target)) = (root, target) else { return false };
    target.starts_with(root) && target.is_file()
}

fn too_many(directory: &Path, max: impl std::fmt::Display, what: &str) -> Failure {
    let message = format!("{}: more than {max} {what}", shown(directory));
    Failure::new(Exit::Incomplete, message)
}

impl Recording {
    /// Brings the files into the order of a plan. A planned file that the format does not list, as
    /// one that was set aside, is looked for in the directory; one that is not there becomes an
    /// absent file. Returns false, with the files in any order, if there are others.
    pub(crate) fn arrange(&mut self, planned: &[PlannedName<'_>]) -> Result<bool, Failure> {
        let mut listed: BTreeMap<String, InputFile> =
            self.files.drain(..).map(|file| (file.name.clone(), file)).collect();
        let wanted = planned.iter().filter(|one| !one.absent && !listed.contains_key(one.name));
        let wanted: BTreeSet<&str> = wanted.map(|one| one.name).collect();
        for file in open_others(&self.path, &wanted)? {
            listed.insert(file.name.clone(), file);
        }
        let failed = |error: io::Error| Failure::io(shown(&self.path), &error);
        let metadata = std::fs::metadata(&self.path).map_err(failed)?;
        // A file that a repair moved to the name of an absent one comes before it.
        let mut files: BTreeMap<usize, InputFile> = BTreeMap::new();
        for is_absent in [false, true] {
            for (index, one) in planned.iter().enumerate().filter(|(_, p)| p.absent == is_absent) {
                let found = listed.remove(one.name);
                let absent = || InputFile::absent(one.name, None, &metadata);
                files.insert(index, found.unwrap_or_else(absent));
            }
        }
        self.files = files.into_values().collect();
        Ok(listed.into_values().all(|file| file.absent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_recording_has_a_largest_number_of_files() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["data", "data.0", "data.1", "data.2", "notes"] {
            std::fs::write(folder.path().join(name), b"PERFILE2").unwrap();
        }
        let open = |max| {
            let mut limits = Limits::default();
            limits.set_by_name("perf-files", max).unwrap();
            open_within(folder.path(), &limits)
        };
        assert_eq!(open(4).unwrap().unwrap().files.len(), 4);
        let failure = open(3).unwrap_err();
        assert_eq!(failure.exit, Exit::Incomplete);
        assert!(failure.message.ends_with(": more than 3 files"), "{}", failure.message);
    }

    #[test]
    fn nothing_is_written_in_the_place_of_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let thread = folder.path().join("thread.1");
        std::fs::create_dir(&thread).unwrap();
        std::fs::write(thread.join("stream.obs"), b"ovni").unwrap();
        std::os::unix::fs::symlink("elsewhere", thread.join("stream.json")).unwrap();
        let recording = open(folder.path()).unwrap().unwrap();
        assert_eq!(recording.files.len(), 1);
        assert!(recording.files[0].is_named("thread.1/stream.obs"));
        assert_eq!(recording.unfollowed_links, ["thread.1/stream.json"]);
    }
}
