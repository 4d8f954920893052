//! Files that appear complete or not at all.
//!
//! ```text
//!  temporary file in the target's folder -> write -> fsync -> map it back, prove it
//!    -> rename to the target -> fsync the folder
//! ```
//!
//! A process that is killed at any time leaves the target's name without a file, with the file
//! that was there before, or with the complete new one. After SIGKILL, which cannot be caught, a
//! temporary file (`.tracemend-...`) may remain.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};
use tracemend::{FileSet, Source};

use crate::exit::{Exit, Failure};
use crate::input::{self, InputFile, Recording, Stamp, shown};
use crate::mapped::RemovedOnDeath;

/// Beginning of the names of temporary files.
const PREFIX: &str = ".tracemend-";
/// Symbolic links that are followed to an output.
const LINKS_MAX: usize = 40;
/// Bits of a file's mode that an output takes over: the permissions, without set-uid and its kin.
const MODE_BITS: u32 = 0o777;

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
    /// Unchanged files of a directory get a second name instead of a copy.
    pub(crate) link: bool,
}

impl Target {
    /// Checks that `path` may be written as the output of `sources`.
    pub(crate) fn new(
        path: &Path,
        sources: &[&Recording],
        existing: Existing,
    ) -> Result<Self, Failure> {
        let path = resolve(path)?;
        let directory = sources.iter().any(|source| source.directory);
        let name = shown(&path);
        if path.as_os_str() == "-" || path.file_name().is_none() {
            return Err(Failure::usage(format!("the output `{name}` must be a file")));
        }
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Failure::io(name, &error)),
            Ok(metadata) => {
                let stamp = Stamp::of(&metadata);
                let mut inputs = sources.iter().flat_map(|source| &source.files);
                let is_input = inputs.any(|file| Stamp::of(&file.metadata).same_file(&stamp));
                let refuse = |reason: &str| Err(Failure::usage(format!("{name} {reason}")));
                match existing {
                    Existing::Source { .. } => {}
                    _ if is_input => {
                        return refuse("is an input; --in-place replaces a file");
                    }
                    Existing::Refused => return refuse("exists; --force replaces it"),
                    Existing::Replaced if directory => {
                        return refuse("exists; a directory is not replaced, remove it first");
                    }
                    Existing::Replaced if !metadata.is_file() => {
                        return refuse("is not a regular file");
                    }
                    Existing::Replaced => {}
                }
            }
        }
        let target = Self { path, existing, link: false };
        if let Existing::Source { backup: true } = existing {
            let orig = target.orig();
            if fs::symlink_metadata(&orig).is_ok() && !target.is_linked(&orig) {
                return Err(target.orig_exists(&orig));
            }
        }
        Ok(target)
    }

    /// The path with every link followed.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// `NAME.orig`.
    pub(crate) fn orig(&self) -> PathBuf {
        beside(&self.path, ".orig")
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

    /// Writes `files` (one per file of `source`), calls `proved` with what can be read back, and
    /// gives it the target's name.
    pub(crate) fn publish(
        &self,
        source: &Recording,
        files: &FileSet<'_>,
        proved: impl FnOnce(&FileSet<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if source.directory {
            return self.publish_directory(source, files, proved);
        }
        let failed = |error: io::Error| Failure::io(shown(&self.path), &error);
        let mut file = temporary(&self.path).map_err(failed)?;
        let _removed = RemovedOnDeath::new([file.path()], []).map_err(failed)?;
        let metadata = source.files.first().map(|file| &file.metadata);
        let bytes = files.bytes(0);
        write_pieces(file.as_file_mut(), &bytes).map_err(failed)?;
        self.take_over(file.as_file(), metadata).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        let name = files.files().first().map_or("", |file| file.name.as_str());
        let back = Recording {
            path: self.path.clone(),
            directory: false,
            files: vec![input::written(file.as_file(), name).map_err(failed)?],
        };
        proved(&back.file_set())?;
        drop(back);
        source.unchanged()?;
        self.keep_source()?;
        match self.existing {
            Existing::Refused => file.persist_noclobber(&self.path),
            Existing::Replaced | Existing::Source { .. } => file.persist(&self.path),
        }
        .map_err(|error| {
            if self.existing == (Existing::Source { backup: true }) {
                // The source still has its own name and does not need the second one.
                let _left = fs::remove_file(self.orig());
            }
            self.not_renamed(&error.error)
        })?;
        sync_folder(&self.path).map_err(failed)
    }

    fn not_renamed(&self, error: &io::Error) -> Failure {
        if error.kind() == io::ErrorKind::AlreadyExists {
            return Failure::usage(format!("{} exists now", shown(&self.path)));
        }
        Failure::io(shown(&self.path), error)
    }

    /// Mode, and in place also the owner, of the source.
    fn take_over(&self, file: &File, metadata: Option<&Metadata>) -> io::Result<()> {
        let Some(metadata) = metadata else { return Ok(()) };
        // A stream has no mode of its own: the temporary file's (0600) stays.
        let mode = metadata.mode() & MODE_BITS;
        if matches!(self.existing, Existing::Source { .. }) {
            let mine = file.metadata()?;
            if (mine.uid(), mine.gid()) != (metadata.uid(), metadata.gid()) {
                fchown(file, Some(metadata.uid()), Some(metadata.gid()))?;
            }
        }
        file.set_permissions(Permissions::from_mode(mode))
    }

    /// Gives the source its second name, `NAME.orig`, before its first one goes to the output.
    fn keep_source(&self) -> Result<(), Failure> {
        if self.existing != (Existing::Source { backup: true }) {
            return Ok(());
        }
        let orig = self.orig();
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => self.orig_exists(&orig),
            _ => Failure::io(shown(&orig), &error),
        };
        match fs::hard_link(&self.path, &orig) {
            Ok(()) => {}
            Err(_) if self.is_linked(&orig) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(failed(error));
            }
            // No hard links here (FAT, some network file systems): a copy under a temporary name.
            Err(_) => {
                let mut copy = temporary(&orig).map_err(failed)?;
                let mut source = File::open(&self.path).map_err(failed)?;
                io::copy(&mut source, copy.as_file_mut()).map_err(failed)?;
                self.take_over(copy.as_file(), source.metadata().ok().as_ref()).map_err(failed)?;
                copy.as_file().sync_all().map_err(failed)?;
                copy.persist_noclobber(&orig).map_err(|error| failed(error.error))?;
            }
        }
        sync_folder(&orig).map_err(failed)
    }

    fn publish_directory(
        &self,
        source: &Recording,
        files: &FileSet<'_>,
        proved: impl FnOnce(&FileSet<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure::io(shown(&self.path), &error);
        let folder =
            Builder::new().prefix(PREFIX).tempdir_in(parent(&self.path)).map_err(failed)?;
        let paths = place_outputs(source, files, folder.path())?;
        let written: Vec<PathBuf> = paths.iter().flatten().cloned().collect();
        let registered = written.iter().map(PathBuf::as_path);
        let inner = folders(&written, folder.path());
        let _removed =
            RemovedOnDeath::new(registered, inner.iter().map(PathBuf::as_path)).map_err(failed)?;
        for inner in inner.iter().rev().skip(1) {
            fs::create_dir(inner).map_err(failed)?;
        }
        let back = self.write_files(source, files, &paths)?;
        let back = Recording { path: self.path.clone(), directory: true, files: back };
        proved(&back.file_set())?;
        drop(back);
        copy_others(source, folder.path()).map_err(failed)?;
        source.unchanged()?;
        let mode = fs::metadata(&source.path).map_err(failed)?.mode() & MODE_BITS;
        fs::set_permissions(folder.path(), Permissions::from_mode(mode)).map_err(failed)?;
        File::open(folder.path()).and_then(|folder| folder.sync_all()).map_err(failed)?;
        // rename(2) replaces nothing but an empty directory.
        fs::rename(folder.path(), &self.path).map_err(|error| self.not_renamed(&error))?;
        // The name that it had is gone: nothing is left to remove.
        drop(folder.keep());
        sync_folder(&self.path).map_err(failed)
    }

    /// Writes each file at its place, and returns what can be read back.
    fn write_files(
        &self,
        source: &Recording,
        files: &FileSet<'_>,
        paths: &[Option<PathBuf>],
    ) -> Result<Vec<InputFile>, Failure> {
        let failed = |error: io::Error| Failure::io(shown(&self.path), &error);
        let model = source.files.iter().find(|file| !file.absent).map(|file| &file.metadata);
        let mut back = Vec::new();
        for ((path, input), output) in paths.iter().zip(&source.files).zip(files.files()) {
            let Some(path) = path else {
                back.push(InputFile::absent(&output.name, None, &input.metadata));
                continue;
            };
            let unchanged = input.path.as_deref().filter(|_| input.is_unchanged(&output.bytes));
            let linked = unchanged.filter(|_| self.link);
            if linked.is_some_and(|source| fs::hard_link(source, path).is_ok()) {
                let file = File::open(path).map_err(failed)?;
                back.push(input::written(&file, &output.name).map_err(failed)?);
                continue;
            }
            let mut options = OpenOptions::new();
            let options = options.read(true).write(true).create_new(true).mode(0o600);
            let mut file = options.open(path).map_err(failed)?;
            write_pieces(&mut file, &output.bytes).map_err(failed)?;
            let metadata = if input.absent { model } else { Some(&input.metadata) };
            self.take_over(&file, metadata).map_err(failed)?;
            file.sync_all().map_err(failed)?;
            back.push(input::written(&file, &output.name).map_err(failed)?);
        }
        Ok(back)
    }
}

/// The path of each output in `folder`; `None` for a file that does not exist.
fn place_outputs(
    source: &Recording,
    files: &FileSet<'_>,
    folder: &Path,
) -> Result<Vec<Option<PathBuf>>, Failure> {
    // Names come from the listing of the source. A name that a repair (or its plan) gives must be a
    // path of plain names below the recording.
    let place = |(input, output): (&InputFile, &tracemend::File<'_>)| {
        if output.bytes.is_absent() {
            return Ok(None);
        }
        let listed = input.path.as_deref().filter(|_| input.is_named(&output.name));
        let relative = match listed {
            Some(path) => path.strip_prefix(&source.path).ok().map(Path::to_path_buf),
            None => plain(&output.name),
        };
        let refused = || {
            let name = tracemend::UntrustedPath(output.name.as_bytes());
            Failure::usage(format!("`{name}` is not the name of a file in a recording"))
        };
        relative.map(|path| Some(folder.join(path))).ok_or_else(refused)
    };
    let pairs = source.files.iter().zip(files.files());
    pairs.map(place).collect()
}

/// A path of plain names, as a recording has them.
fn plain(name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    let mut parts = path.components();
    let plain = parts.all(|part| matches!(part, std::path::Component::Normal(_)));
    (plain && !name.is_empty()).then(|| path.to_path_buf())
}

/// The folders that some paths lie in, from the innermost out, `root` last.
fn folders(paths: &[PathBuf], root: &Path) -> Vec<PathBuf> {
    let parents = paths.iter().flat_map(|path| path.ancestors().skip(1));
    let inside = parents.filter(|folder| folder.starts_with(root));
    let all: BTreeSet<&Path> = inside.chain([root]).collect();
    // A folder sorts before what lies in it.
    all.into_iter().rev().map(Path::to_path_buf).collect()
}

/// Copies the other files of a directory that is a recording (`kcore_dir` of `perf record
/// --kcore`), so that a repair loses none of them. Symbolic links stay links.
fn copy_others(source: &Recording, folder: &Path) -> io::Result<()> {
    let recorded = source.files.iter().filter(|file| !file.absent);
    let recorded = recorded.filter_map(|file| file.path.as_deref());
    let recorded: BTreeSet<&Path> = recorded.collect();
    let holders: BTreeSet<&Path> =
        recorded.iter().flat_map(|path| path.ancestors().skip(1)).collect();
    let walk = walkdir::WalkDir::new(&source.path).min_depth(1).sort_by_file_name();
    for entry in walk {
        let entry = entry?;
        let path = entry.path();
        let Ok(relative) = path.strip_prefix(&source.path) else { continue };
        let copy = folder.join(relative);
        let kind = entry.file_type();
        let here = !kind.is_dir() && !recorded.contains(path);
        if let Some(parent) = copy.parent().filter(|_| here) {
            fs::create_dir_all(parent)?;
        }
        if kind.is_dir() && holders.contains(path) {
            // Made already, unless every file of the recording in it went elsewhere.
        } else if kind.is_dir() {
            match fs::create_dir(&copy) {
                // A file of the recording lies in it already.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => made?,
            }
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(path)?, &copy)?;
        } else if kind.is_file() && !recorded.contains(path) {
            fs::copy(path, &copy)?;
            File::open(&copy)?.sync_all()?;
        } else if !kind.is_file() {
            let reason = "a device, socket or pipe in the directory cannot be copied";
            return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        }
    }
    Ok(())
}

/// A text that is written piece by piece and published at the end: reports and plans.
#[derive(Debug)]
pub(crate) struct TextFile {
    path: PathBuf,
    replace: bool,
    out: Out,
    removed: Option<RemovedOnDeath>,
}

#[derive(Debug)]
enum Out {
    Complete(io::BufWriter<NamedTempFile>),
    /// A pipe or device that is there already: nothing could be renamed to it.
    Direct(File),
}

impl TextFile {
    /// Prepares the text at `path`, with the permissions `mode` as far as the umask allows them.
    /// Refuses to replace one of the `inputs`, a recording, or, without `replace`, anything.
    pub(crate) fn create(
        path: &Path,
        inputs: &[PathBuf],
        replace: bool,
        mode: u32,
    ) -> Result<Self, Failure> {
        let path = resolve(path)?;
        let failed = |error: io::Error| Failure::io(shown(&path), &error);
        if let Ok(metadata) = fs::metadata(&path) {
            if !metadata.is_file() && !metadata.is_dir() {
                let file = OpenOptions::new().write(true).open(&path).map_err(failed)?;
                return Ok(Self { path, replace, out: Out::Direct(file), removed: None });
            }
            let stamp = Stamp::of(&metadata);
            let is_input = inputs.iter().filter_map(|input| fs::metadata(input).ok());
            let is_input = is_input.into_iter().any(|input| Stamp::of(&input).same_file(&stamp));
            if metadata.is_dir() || is_input || is_recording(&path) {
                let what =
                    if metadata.is_dir() { "a directory" } else { "a recording or an input" };
                let message = format!("{} is {what} and is not replaced by a text", shown(&path));
                return Err(Failure::usage(message));
            }
            if !replace {
                let message = format!("{} exists; --force replaces it", shown(&path));
                return Err(Failure::usage(message));
            }
        }
        let mut builder = Builder::new();
        let builder = builder.prefix(PREFIX).permissions(Permissions::from_mode(mode));
        let file = builder.tempfile_in(parent(&path)).map_err(failed)?;
        let removed = Some(RemovedOnDeath::new([file.path()], []).map_err(failed)?);
        Ok(Self { path, replace, out: Out::Complete(io::BufWriter::new(file)), removed })
    }

    /// Identifies the file, which a walk must not read.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        match &self.out {
            Out::Complete(writer) => {
                writer.get_ref().as_file().metadata().ok().map(|m| Stamp::of(&m))
            }
            Out::Direct(_) => None,
        }
    }

    /// Appends `text`.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        let written = match &mut self.out {
            Out::Complete(writer) => writer.write_all(text.as_bytes()),
            Out::Direct(file) => file.write_all(text.as_bytes()),
        };
        written.map_err(|error| Failure::io(shown(&self.path), &error))
    }

    /// Gives the text its name.
    pub(crate) fn publish(self) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure::io(shown(&self.path), &error);
        let Out::Complete(writer) = self.out else { return Ok(()) };
        let file = writer.into_inner().map_err(|error| failed(error.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        let persisted = if self.replace {
            file.persist(&self.path)
        } else {
            file.persist_noclobber(&self.path)
        };
        persisted.map_err(|error| failed(error.error))?;
        drop(self.removed);
        sync_folder(&self.path).map_err(failed)
    }
}

/// Whether a format recognises the file.
fn is_recording(path: &Path) -> bool {
    let found = input::open(path, &mut io::empty());
    let Ok(input::Found::Recording(recording)) = found else { return false };
    recording.format().is_some()
}

/// Returns the path with `suffix` after its name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

fn temporary(target: &Path) -> io::Result<NamedTempFile> {
    Builder::new().prefix(PREFIX).tempfile_in(parent(target))
}

/// The folder that a path lies in.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Syncs the folder of a path, so that a rename in it survives a crash.
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(parent(path))?.sync_all()
}

fn write_pieces(file: &mut File, bytes: &Source<'_>) -> io::Result<()> {
    // Kept ranges are long, inserts short: small pieces are gathered.
    let mut writer = io::BufWriter::new(file);
    for piece in bytes.pieces() {
        writer.write_all(piece)?;
    }
    writer.flush()
}

/// Returns the path at the end of a chain of links; it need not exist.
fn resolve(path: &Path) -> Result<PathBuf, Failure> {
    let mut at = path.to_path_buf();
    // `DIR/` names the directory; links are links only without the slash.
    if let (Some(parent), Some(name)) = (path.parent(), path.file_name()) {
        at = parent.join(name);
    }
    for _ in 0..LINKS_MAX {
        match fs::read_link(&at) {
            Ok(next) => at = parent(&at).join(next),
            Err(_) => return Ok(at),
        }
    }
    Err(Failure::new(Exit::Io, format!("{}: too many links", shown(path))))
}
