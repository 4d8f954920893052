//! Files that appear complete or not at all.
//!
//! ```text
//!  prepare   a file without a name, or a temporary folder -> write -> fsync -> map back, prove
//!  publish   [NAME.orig] -> the target's name -> fsync the folder
//! ```
//!
//! Between the two, a plan gets its name: the bytes that a repair drops are in it, and must be
//! durable before the output replaces them. A process that is killed at any time leaves the
//! target's name without a file, with the file that was there before, or with the complete new one.

mod attributes;
mod folder;
mod pieces;
mod staged;
mod text;

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use tracemend::{FileSet, Source};

use crate::files::access::{self, Readers};
use crate::files::in_use;
use crate::files::paths::{resolve, shown};
use crate::files::recording;
use crate::files::recording::{Recording, Stamp};
use crate::kit::exit::Failure;
pub(crate) use pieces::Pieces;
use staged::{Folder, StagedFile, StagedFolder, mode_of};
pub(crate) use text::TextFile;

/// How a file that exists already is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It is not replaced; the run ends.
    Refused,
    /// `--force`.
    Replaced,
    /// `--in-place`: it is the source.
    Source {
        /// Whether it stays as `NAME.orig`.
        backup: bool,
    },
}

/// The place of an output: links are followed, the checks of the command line are done.
#[derive(Debug)]
pub(crate) struct Target {
    path: PathBuf,
    existing: Existing,
    /// Those who can reach the source and read what else is in the output; the mode of each file of
    /// the source restricts its output further.
    readers: Readers,
    /// Unchanged files of a directory get a second name instead of a copy.
    link: bool,
}

/// An output that is written and proven, but has no name yet.
#[derive(Debug)]
pub(crate) struct Prepared<'t> {
    target: &'t Target,
    staged: Staged,
    /// Names of the attributes of the source that it could not keep.
    lost: Vec<String>,
}

#[derive(Debug)]
enum Staged {
    File(StagedFile),
    Folder(StagedFolder),
}

impl Target {
    /// Checks that `path` may be written as the output of `source`.
    pub(crate) fn new(
        path: &Path,
        source: &Recording,
        existing: Existing,
    ) -> Result<Self, Failure> {
        if path.as_os_str().as_bytes().ends_with(b"/") && !source.directory {
            let name = shown(path);
            return Err(Failure::usage(format!("the output `{name}` must be a file, without `/`")));
        }
        let path = resolve(path)?;
        let name = shown(&path);
        if path.as_os_str() == "-" || path.file_name().is_none() {
            return Err(Failure::usage(format!("the output `{name}` must be a file")));
        }
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Failure::io(name, &error)),
            Ok(metadata) => {
                let refuse = |reason: &str| Err(Failure::usage(format!("{name} {reason}")));
                match existing {
                    Existing::Source { .. } => {}
                    Existing::Refused => return refuse("exists; --force replaces it"),
                    Existing::Replaced if source.directory => {
                        return refuse("exists; a directory is not replaced, remove it first");
                    }
                    Existing::Replaced if !metadata.is_file() => {
                        return refuse("is not a regular file");
                    }
                    Existing::Replaced => {}
                }
            }
        }
        let readers = Readers::around(&source.path, &path);
        let readers = if source.is_stream() { Readers::OWNER } else { readers };
        let target = Self { path, existing, readers, link: false };
        if let Existing::Source { backup: true } = existing {
            let orig = target.orig();
            if fs::symlink_metadata(&orig).is_ok() && !target.is_linked(&orig) {
                return Err(target.orig_exists(&orig));
            }
        }
        Ok(target)
    }

    /// Returns the target of which unchanged files get a second name instead of a copy.
    pub(crate) fn linking(self, link: bool) -> Self {
        Self { link, ..self }
    }

    /// Returns the target of an output that also has bytes of `donor`.
    pub(crate) fn restricted_by(self, donor: Option<&Recording>) -> Self {
        let readers =
            donor.map_or(self.readers, |donor| self.readers.and(Readers::of(donor, &self.path)));
        Self { readers, ..self }
    }

    /// The path with every link followed.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// `NAME.orig`.
    pub(crate) fn orig(&self) -> PathBuf {
        beside(&self.path, ".orig")
    }

    /// `NAME.orig`, if the source is kept under this name.
    pub(crate) fn backup(&self) -> Option<PathBuf> {
        (self.existing == (Existing::Source { backup: true })).then(|| self.orig())
    }

    fn replaces(&self) -> bool {
        self.existing != Existing::Refused
    }

    /// Whether `NAME.orig` is the source itself: a run was killed between the two names.
    fn is_linked(&self, orig: &Path) -> bool {
        let stamps = (fs::symlink_metadata(&self.path), fs::symlink_metadata(orig));
        match stamps {
            (Ok(source), Ok(orig)) => Stamp::of(&source).same_file(&Stamp::of(&orig)),
            _ => false,
        }
    }

    fn orig_exists(&self, orig: &Path) -> Failure {
        Failure::usage(format!(
            "{} exists and is not replaced; move it away, or use --no-backup",
            shown(orig)
        ))
    }

    /// Writes `files` (one per file of `source`) to where no one sees them, and calls `proved` with
    /// what can be read back.
    pub(crate) fn prepare(
        &self,
        source: &Recording,
        files: &FileSet<'_>,
        proved: impl FnOnce(&FileSet<'_>) -> Result<(), Failure>,
    ) -> Result<Prepared<'_>, Failure> {
        if source.directory {
            let staged = folder::prepare(self, source, files, proved)?;
            return Ok(Prepared { target: self, staged: Staged::Folder(staged), lost: Vec::new() });
        }
        let failed = |error: io::Error| Failure::io(shown(&self.path), &error);
        let mut staged = StagedFile::create(&self.path, 0o600).map_err(failed)?;
        let bytes = files.bytes(0);
        write_pieces(staged.file_mut(), &bytes).map_err(failed)?;
        let lost = match source.files.first() {
            Some(file) => self.take_over(staged.file(), file.path.as_deref(), &file.metadata),
            None => Ok(Vec::new()),
        };
        let lost = lost.map_err(failed)?;
        staged.file().sync_all().map_err(failed)?;
        let name = files.files().first().map_or("", |file| file.name.as_str());
        let written = recording::written(staged.file(), name).map_err(failed)?;
        let back = Recording::of_file(&self.path, written);
        proved(&back.file_set())?;
        drop(back);
        source.unchanged()?;
        Ok(Prepared { target: self, staged: Staged::File(staged), lost })
    }

    /// Takes over the mode of the source, as far as it lets nobody else in; in place also the
    /// owner, the ACL and the extended attributes. Returns the names of those that are lost.
    fn take_over(
        &self,
        file: &File,
        source: Option<&Path>,
        metadata: &Metadata,
    ) -> io::Result<Vec<String>> {
        // A stream has no mode of its own: that of the temporary file (0600) stays.
        let Some(source) = source else { return Ok(Vec::new()) };
        if !matches!(self.existing, Existing::Source { .. }) {
            let readers = self.readers.and(Readers::of_file(source, metadata));
            return readers.admit(file, mode_of(metadata)).map(|()| Vec::new());
        }
        let mine = file.metadata()?;
        if (mine.uid(), mine.gid()) != (metadata.uid(), metadata.gid()) {
            fchown(file, Some(metadata.uid()), Some(metadata.gid()))?;
        }
        file.set_permissions(Permissions::from_mode(mode_of(metadata)))?;
        let lost = attributes::copy(&recording::open_without_waiting(source)?, file)?;
        if lost.iter().any(|name| name == access::ACL) {
            // The bits of the group are the mask of the ACL, and let in more without it.
            Readers::OWNER.admit(file, mode_of(metadata))?;
        }
        Ok(lost)
    }

    /// Gives the source its second name, `NAME.orig`, before its first one goes to the output.
    fn keep_source(&self, orig: &Path) -> Result<(), Failure> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => self.orig_exists(orig),
            _ => Failure::io(shown(orig), &error),
        };
        let folder = match fs::hard_link(&self.path, orig) {
            Ok(()) => Folder::of(orig),
            Err(_) if self.is_linked(orig) => Folder::of(orig),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            // No hard links here (FAT, some network file systems).
            Err(_) => self.copy_source(orig),
        };
        folder.and_then(|folder| folder.sync()).map_err(failed)
    }

    fn copy_source(&self, orig: &Path) -> io::Result<Folder> {
        let mut copy = StagedFile::create(orig, 0o600)?;
        let mut source = File::open(&self.path)?;
        io::copy(&mut source, copy.file_mut())?;
        self.take_over(copy.file(), Some(&self.path), &source.metadata()?)?;
        copy.file().sync_all()?;
        copy.persist(orig, false)
    }
}

impl Prepared<'_> {
    /// Names of the attributes of the source that the output could not keep, escaped.
    pub(crate) fn lost(&self) -> &[String] {
        &self.lost
    }

    /// Gives the output its name, and before that the source its second one.
    pub(crate) fn publish(self) -> Result<(), Failure> {
        let Self { target, staged, .. } = self;
        if matches!(target.existing, Existing::Source { .. }) {
            // Its recorder may have begun to write again while the repair worked.
            in_use::refuse_replacement(&target.path)?;
        }
        let backup = target.backup();
        let had_backup = backup.as_deref().is_some_and(|orig| target.is_linked(orig));
        let kept = backup.as_deref().map_or(Ok(()), |orig| target.keep_source(orig));
        let named = kept.and_then(|()| {
            let folder = match staged {
                Staged::File(file) => file.persist(&target.path, target.replaces()),
                Staged::Folder(folder) => folder.persist(&target.path),
            };
            folder.map_err(|error| target.not_renamed(&error))
        });
        let folder = named.inspect_err(|_| {
            if let Some(orig) = backup.as_deref().filter(|_| !had_backup) {
                // The source still has its own name and does not need the second one.
                target.remove_backup(orig);
            }
        })?;
        folder.sync().map_err(|error| {
            let stands = "the output is complete and has its name, but may lose it in a power \
                          failure";
            let failure = Failure::io(shown(&target.path), &error).and(stands);
            match &backup {
                Some(orig) => failure.and(format!("the original is {}", shown(orig))),
                None => failure,
            }
        })
    }
}

impl Target {
    fn not_renamed(&self, error: &io::Error) -> Failure {
        if error.kind() == io::ErrorKind::AlreadyExists {
            return Failure::usage(format!("{} exists now", shown(&self.path)));
        }
        Failure::io(shown(&self.path), error)
    }

    /// Removes `NAME.orig` if it holds nothing but the source, which has its own name.
    fn remove_backup(&self, orig: &Path) {
        let is_copy = || {
            let maps = [&self.path, orig].map(|path| recording::open_file(path, String::new()));
            let [Ok(source), Ok(copy)] = maps else { return false };
            source.has_equal_bytes(&copy)
        };
        if self.is_linked(orig) || is_copy() {
            let _left = fs::remove_file(orig);
        }
    }
}

/// Returns the path with `suffix` after its name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns the path with `suffix` after the name of the recording.
pub(crate) fn beside_source(recording: &Recording, suffix: &str) -> Result<PathBuf, Failure> {
    if recording.is_stream() {
        return Err(Failure::usage("standard input has no name; use -o OUT"));
    }
    let source = &recording.path;
    name_beside(source, suffix).map_err(|error| Failure::io(shown(source), &error))
}

/// Returns the path of a recording with `suffix` after its name.
pub(crate) fn name_beside(source: &Path, suffix: &str) -> io::Result<PathBuf> {
    let path = match source.file_name() {
        // Without a slash at the end.
        Some(_) => source.components().collect(),
        // `.` and `..` stand for the directory that they name.
        None => fs::canonicalize(source)?,
    };
    Ok(beside(&path, suffix))
}

/// Lists the files of a directory that are not part of the recording in it.
pub(crate) fn list_others(recording: &Recording) -> Result<Vec<PathBuf>, Failure> {
    let others = folder::list_others(recording);
    let others = others.map_err(|(path, error)| Failure::io(shown(&path), &error))?;
    Ok(others.into_iter().map(|other| other.name).collect())
}

fn write_pieces(file: &mut File, bytes: &Source<'_>) -> io::Result<()> {
    // Kept ranges are long, inserts short: small pieces are gathered.
    let mut writer = io::BufWriter::new(file);
    for piece in bytes.pieces() {
        writer.write_all(piece)?;
    }
    writer.flush()
}
