//! The files that a run reads and writes: none is used twice, and nothing is written inside a
//! recording that is read.
//!
//! Files are compared by device and inode, so links and other spellings of a path make no
//! difference. A file that does not exist yet is a name in a folder.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::files::directory;
use crate::files::paths::{is_stdin, shown};
use crate::files::paths::{parent, resolve};
use crate::files::recording::{Recording, Stamp};
use crate::files::streams::Streams;
use crate::kit::exit::Failure;

/// A file, or a name that nothing has.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Identity {
    File(u64, u64),
    /// Device and inode of the folder, and the name in it.
    Name(u64, u64, OsString),
}

impl From<Stamp> for Identity {
    fn from(stamp: Stamp) -> Self {
        Self::File(stamp.device, stamp.inode)
    }
}

impl Identity {
    /// Returns the identity of the file or directory at the path; `None` if there is neither.
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        let is_either = metadata.is_file() || metadata.is_dir();
        is_either.then(|| Self::from(Stamp::of(&metadata)))
    }

    fn of_target(path: &Path) -> Option<Self> {
        Self::of(path).or_else(|| {
            let folder = fs::metadata(parent(path)).ok()?;
            let name = path.file_name()?.to_os_string();
            Some(Self::Name(folder.dev(), folder.ino(), name))
        })
    }
}

/// Something that a run reads or writes.
#[derive(Debug)]
struct Place {
    /// For example `the output`.
    role: &'static str,
    path: PathBuf,
    files: Vec<Identity>,
}

/// Everything that a run reads and writes.
#[derive(Debug, Default)]
pub(crate) struct Places {
    read: Vec<Place>,
    written: Vec<Place>,
}

impl Places {
    /// Begins with standard output, if it is a file.
    pub(crate) fn new(streams: &Streams<'_>) -> Self {
        let files: Vec<Identity> = streams.stdout_file().map(Identity::from).into_iter().collect();
        let role = "standard output";
        let place = Place { role, path: PathBuf::from(role), files };
        Self { read: Vec::new(), written: vec![place] }
    }

    /// Adds a recording or a plan that is read; fails if it is read in another role as well.
    pub(crate) fn read(
        &mut self,
        role: &'static str,
        recording: &Recording,
    ) -> Result<(), Failure> {
        let present = recording.files.iter().filter(|file| !file.absent);
        let files = present.map(|file| Identity::from(Stamp::of(&file.metadata)));
        let directory = recording.directory.then(|| Identity::of(&recording.path)).flatten();
        let stream = recording.is_stream().then(|| Identity::of(Path::new("/dev/stdin"))).flatten();
        let files = files.chain(directory).chain(stream).collect();
        let place = Place { role, path: recording.path.clone(), files };
        self.check(&place, &self.read)?;
        self.check(&place, &self.written)?;
        self.read.push(place);
        Ok(())
    }

    /// Adds a path that is read, or walked if it is a directory.
    pub(crate) fn walk(&mut self, path: &Path) -> Result<(), Failure> {
        let file = if is_stdin(path) { Path::new("/dev/stdin") } else { path };
        let files = Identity::of(file).into_iter().collect();
        let place = Place { role: "an input", path: path.to_path_buf(), files };
        self.check(&place, &self.written)?;
        self.read.push(place);
        Ok(())
    }

    /// Adds a file that is written; fails if it is used in another role as well, or if it lies
    /// inside a recording.
    pub(crate) fn write(&mut self, role: &'static str, path: &Path) -> Result<(), Failure> {
        let path = resolve(path)?;
        // A pipe or a device may be used twice.
        let is_special = |m: fs::Metadata| !m.is_file() && !m.is_dir();
        if fs::metadata(&path).is_ok_and(is_special) {
            return Ok(());
        }
        let files = Identity::of_target(&path).into_iter().collect();
        let place = Place { role, path, files };
        self.check(&place, &self.read)?;
        self.check(&place, &self.written)?;
        self.check_inside(&place)?;
        self.written.push(place);
        Ok(())
    }

    fn check(&self, place: &Place, others: &[Place]) -> Result<(), Failure> {
        let is_same = |other: &&Place| other.files.iter().any(|file| place.files.contains(file));
        let Some(other) = others.iter().find(is_same) else { return Ok(()) };
        let (path, [one, two]) = (shown(&place.path), [other.role, place.role]);
        let hint = match (one, two) {
            ("the source", "the output") => "; --in-place replaces the source",
            _ => "",
        };
        Err(Failure::usage(format!("{path} is both {one} and {two}{hint}")))
    }

    /// Fails if a file that is written lies in a directory that is a recording and is read.
    fn check_inside(&self, place: &Place) -> Result<(), Failure> {
        let Ok(folder) = fs::canonicalize(parent(&place.path)) else { return Ok(()) };
        let around: Vec<(&Path, Identity)> =
            folder.ancestors().filter_map(|folder| Some((folder, Identity::of(folder)?))).collect();
        for read in &self.read {
            let depth = around.iter().position(|(_, folder)| read.files.contains(folder));
            let Some(depth) = depth else { continue };
            // In a directory that is walked, a folder in between may be a recording.
            let mut between = around.iter().take(depth.saturating_add(1));
            if between.any(|(folder, _)| directory::is_recording(folder)) {
                let (path, role) = (shown(&place.path), place.role);
                let inside = format!("{path}, {role}, lies inside {}", shown(&read.path));
                let hint = "which is a recording; name a path outside it";
                return Err(Failure::usage(format!("{inside}, {hint}")));
            }
        }
        Ok(())
    }
}
