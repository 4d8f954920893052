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
mod present;
mod sparse;
mod staged;
mod text;

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use tracemend::{FileSet, Source};

use crate::files::access::{self, Readers};
use crate::files::in_use;
use crate::files::paths::{beside, ends_with_slash, name_beside, resolve, shown};
use crate::files::recording;
use crate::files::recording::{Recording, Stamp};
use crate::kit::command::quote;
use crate::kit::exit::Failure;
pub(crate) use pieces::Pieces;
use sparse::write_sparse;
use staged::{Folder, StagedFile, StagedFolder, mode_of};
pub(crate) use text::TextFile;

/// The end of the name of a source that was replaced.
pub(crate) const ORIG: &str = ".orig";

/// How a file that exists already is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It stays. If it holds what the run would write, all is done; else the run ends.
    Kept,
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
    /// Whether something that stays has the name already.
    is_taken: bool,
    /// Those who can reach the source and read what else is in the output; the mode of each file of
    /// the source restricts its output further.
    readers: Readers,
    /// Unchanged files of a directory get a second name instead of a copy.
    link: bool,
    /// Holds the output until it is proven, if that has no name but goes to standard output.
    stream: Option<File>,
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
    /// The name is taken by the same content.
    AlreadyThere,
    /// Goes to standard output.
    Stream(File),
}

impl Target {
    /// Checks that `path` may be written as the output of `source`.
    pub(crate) fn new(
        path: &Path,
        source: &Recording,
        existing: Existing,
    ) -> Result<Self, Failure> {
        if ends_with_slash(path) && !source.directory {
            let name = shown(path);
            return Err(Failure::usage(format!("the output `{name}` must be a file, without `/`")));
        }
        let path = resolve(path)?;
        let name = shown(&path);
        if path.as_os_str() == "-" || path.file_name().is_none() {
            return Err(Failure::usage(format!("the output `{name}` must be a file")));
        }
        let mut is_taken = false;
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Failure::io(name, &error)),
            Ok(metadata) => {
                let refuse = |reason: &str| Err(Failure::usage(format!("{name} {reason}")));
                let is_kind = match source.directory {
                    true => metadata.is_dir(),
                    false => metadata.is_file(),
                };
                match existing {
                    Existing::Source { .. } => {}
                    Existing::Kept if is_kind => is_taken = true,
                    Existing::Kept if source.directory => {
                        return refuse("exists and is not a directory");
                    }
                    Existing::Kept => return refuse("exists and is not a regular file"),
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
        let target = Self { path, existing, is_taken, readers, link: false, stream: None };
        if let Existing::Source { backup: true } = existing {
            let orig = target.orig();
            if fs::symlink_metadata(&orig).is_ok() && !target.is_linked(&orig) {
                return Err(target.orig_exists(&orig));
            }
        }
        Ok(target)
    }

    /// The target of an output that goes to standard output, and is written to `staged` first.
    pub(crate) fn stream(staged: File) -> Self {
        let (path, existing, readers) =
            (PathBuf::from("standard output"), Existing::Kept, Readers::OWNER);
        Self { path, existing, is_taken: false, readers, link: false, stream: Some(staged) }
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
        beside(&self.path, ORIG)
    }

    /// `NAME.orig`, if the source is kept under this name.
    pub(crate) fn backup(&self) -> Option<PathBuf> {
        (self.existing == (Existing::Source { backup: true })).then(|| self.orig())
    }

    /// The command that takes a replacement of the source back.
    pub(crate) fn undo(&self) -> Option<String> {
        let (orig, path) = (quote(&self.backup()?), quote(&self.path));
        Some(match self.path.is_dir() {
            true => format!("rm -r {path} && mv {orig} {path}"),
            false => format!("mv {orig} {path}"),
        })
    }

    fn replaces(&self) -> bool {
        self.existing != Existing::Kept
    }

    /// Whether the name is taken, by what `is_same` as was written; fails if by anything else.
    fn is_there(
        &self,
        source: &Recording,
        is_same: impl FnOnce() -> io::Result<bool>,
    ) -> Result<bool, Failure> {
        let name = shown(&self.path);
        if !self.is_taken || is_same().map_err(|error| Failure::io(&name, &error))? {
            return Ok(self.is_taken);
        }
        let way = if source.directory { "remove it first" } else { "--force replaces it" };
        Err(Failure::usage(format!("{name} exists and differs from what would be written; {way}")))
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
            let is_same = || present::is_same(staged.path(), &self.path);
            let staged = match self.is_there(source, is_same)? {
                true => Staged::AlreadyThere,
                false => Staged::Folder(staged),
            };
            return Ok(Prepared { target: self, staged, lost: Vec::new() });
        }
        let failed = |error: io::Error| Failure::io(shown(&self.path), &error);
        let name = files.files().first().map_or("", |file| file.name.as_str());
        let prove = |file: &File| {
            let written = recording::written(file, name).map_err(failed)?;
            let written = written.counted_as(source, name);
            let back = Recording::of_file(&self.path, written);
            proved(&back.file_set())?;
            source.unchanged()?;
            Ok::<Recording, Failure>(back)
        };
        if let Some(stream) = &self.stream {
            let mut file = stream.try_clone().map_err(failed)?;
            write_pieces(&mut file, &files.bytes(0)).map_err(failed)?;
            prove(&file)?;
            return Ok(Prepared { target: self, staged: Staged::Stream(file), lost: Vec::new() });
        }
        let mut staged = StagedFile::create(&self.path, 0o600).map_err(failed)?;
        write_sparse(staged.file_mut(), &files.bytes(0)).map_err(failed)?;
        let lost = match source.files.first() {
            Some(file) => self.take_over(staged.file(), file.path.as_deref(), &file.metadata),
            None => Ok(Vec::new()),
        };
        let lost = lost.map_err(failed)?;
        staged.file().sync_all().map_err(failed)?;
        let back = prove(staged.file())?;
        let is_same = || {
            let there = recording::open_file(&self.path, String::new())?;
            Ok(back.files.iter().all(|file| file.has_equal_bytes(&there)))
        };
        match self.is_there(source, is_same)? {
            true => Ok(Prepared { target: self, staged: Staged::AlreadyThere, lost: Vec::new() }),
            false => Ok(Prepared { target: self, staged: Staged::File(staged), lost }),
        }
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
        if self.path.is_dir() {
            // A folder has one name: for a moment nothing has that of the source.
            return staged::rename_to_new(&self.path, orig).map_err(failed);
        }
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

    /// Whether the output has its name already, since an earlier run.
    pub(crate) const fn is_there(&self) -> bool {
        matches!(self.staged, Staged::AlreadyThere)
    }

    /// Publishes an output that has a name; returns whether it was there already.
    pub(crate) fn give_name(self) -> Result<bool, Failure> {
        let is_there = self.is_there();
        self.publish().map(|_| is_there)
    }

    /// Gives the output its name, and before that the source its second one. Returns what goes to
    /// standard output instead.
    pub(crate) fn publish(self) -> Result<Option<File>, Failure> {
        let Self { target, staged, .. } = self;
        match staged {
            Staged::AlreadyThere => Ok(None),
            Staged::Stream(file) => Ok(Some(file)),
            Staged::File(file) => {
                let give = || file.persist(&target.path, target.replaces());
                target.give_name(give).map(|()| None)
            }
            Staged::Folder(folder) => {
                target.give_name(|| folder.persist(&target.path)).map(|()| None)
            }
        }
    }
}

impl Target {
    fn give_name(&self, give: impl FnOnce() -> io::Result<Folder>) -> Result<(), Failure> {
        if matches!(self.existing, Existing::Source { .. }) {
            // Its recorder may have begun to write again while the repair worked.
            in_use::refuse_replacement(&self.path)?;
        }
        let backup = self.backup();
        let had_backup = backup.as_deref().is_some_and(|orig| self.is_linked(orig));
        let kept = backup.as_deref().map_or(Ok(()), |orig| self.keep_source(orig));
        let named = kept.and_then(|()| give().map_err(|error| self.not_renamed(&error)));
        let folder = named.inspect_err(|_| {
            if let Some(orig) = backup.as_deref().filter(|_| !had_backup) {
                // The source still has its own name and does not need the second one.
                self.remove_backup(orig);
            }
        })?;
        folder.sync().map_err(|error| {
            let stands = "the output is complete and has its name, but may lose it in a power \
                          failure";
            let failure = Failure::io(shown(&self.path), &error).and(stands);
            match &backup {
                Some(orig) => failure.and(format!("the original is {}", shown(orig))),
                None => failure,
            }
        })
    }

    fn not_renamed(&self, error: &io::Error) -> Failure {
        if error.kind() == io::ErrorKind::AlreadyExists {
            return Failure::usage(format!("{} exists now", shown(&self.path)));
        }
        Failure::io(shown(&self.path), error)
    }

    /// Removes `NAME.orig` if it holds nothing but the source, which has its own name.
    fn remove_backup(&self, orig: &Path) {
        if orig.is_dir() {
            let _stays = staged::rename_to_new(orig, &self.path);
            return;
        }
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

/// Returns the path with `suffix` after the name of the recording.
pub(crate) fn beside_source(recording: &Recording, suffix: &str) -> Result<PathBuf, Failure> {
    if recording.is_stream() {
        return Err(Failure::usage("standard input has no name; use -o OUT"));
    }
    let source = &recording.path;
    name_beside(source, suffix).map_err(|error| Failure::io(shown(source), &error))
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
    let mut at = 0;
    while at < bytes.len() {
        // A part at a time, which the progress counts.
        let part = bytes.run(at);
        writer.write_all(part)?;
        at += Source::new(part).len();
    }
    writer.flush()
}
