//! Outputs that are directories: the files of the recording, then all other files of the source.

use std::collections::BTreeSet;
use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tracemend::{FileSet, UntrustedPath};

use crate::files::access::Readers;
use crate::files::mapped::RemovedOnDeath;
use crate::files::output::Target;
use crate::files::output::sparse::write_sparse;
use crate::files::output::staged::{StagedFolder, mode_of};
use crate::files::paths::shown;
use crate::files::recording;
use crate::files::recording::{InputFile, Recording};
use crate::kit::exit::{Exit, Failure};

/// A file of a directory that does not belong to the recording in it (`kcore_dir` of `perf record
/// --kcore`). A repair copies it.
pub(super) struct Other {
    /// Relative to the directory.
    pub(super) name: PathBuf,
    kind: FileType,
}

/// Writes all files to a folder that gets its name later, and proves each of them.
pub(super) fn prepare(
    target: &Target,
    source: &Recording,
    files: &FileSet<'_>,
    proved: impl FnOnce(&FileSet<'_>) -> Result<(), Failure>,
) -> Result<StagedFolder, Failure> {
    let failed = |error: io::Error| Failure::io(shown(&target.path), &error);
    let names = place_outputs(source, files)?;
    let others = list_others(source).map_err(|(path, error)| Failure::io(shown(&path), &error))?;
    check_others(source, &names, &others)?;
    let staged = StagedFolder::create(&target.path).map_err(failed)?;
    let root = staged.path();
    let copies = others.iter().filter(|other| !other.kind.is_dir()).map(|other| &other.name);
    let written: Vec<PathBuf> =
        names.iter().flatten().chain(copies).map(|name| root.join(name)).collect();
    let empty = others.iter().filter(|other| other.kind.is_dir()).map(|other| other.name.clone());
    let empty = empty.chain(list_emptied(source, files)).map(|name| root.join(name));
    let inner = folders(written.iter().cloned(), empty, root);
    let on_death = inner.iter().map(PathBuf::as_path);
    let on_death = RemovedOnDeath::new(written.iter().map(PathBuf::as_path), on_death);
    let staged = staged.with_removal(on_death.map_err(failed)?);
    let root = staged.path();
    for folder in inner.iter().rev().skip(1) {
        fs::create_dir(folder).map_err(failed)?;
    }
    let back = write_files(target, source, files, &names, root)?;
    let back = Recording::of_directory(target.path.clone(), back);
    proved(&back.file_set())?;
    drop(back);
    for other in &others {
        let from = source.path.join(&other.name);
        copy_other(&from, &root.join(&other.name), other.kind, target.readers)?;
    }
    for folder in inner.iter().filter(|folder| *folder != root) {
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
    }
    staged.sync().map_err(failed)?;
    source.unchanged()?;
    for folder in &inner {
        let name = folder.strip_prefix(root).unwrap_or(Path::new(""));
        // A folder that only the output has keeps the mode of a new one.
        if let Ok(model) = fs::metadata(source.path.join(name)) {
            let readers = target.readers.and(Readers::of_file(&source.path.join(name), &model));
            let opened = File::open(folder).map_err(failed)?;
            readers.admit(&opened, mode_of(&model)).map_err(failed)?;
        }
    }
    Ok(staged)
}

/// Writes each file at its place, and returns what can be read back.
fn write_files(
    target: &Target,
    source: &Recording,
    files: &FileSet<'_>,
    names: &[Option<PathBuf>],
    root: &Path,
) -> Result<Vec<InputFile>, Failure> {
    let failed = |error: io::Error| Failure::io(shown(&target.path), &error);
    let model = source.files.iter().find(|file| !file.absent);
    let mut back = Vec::new();
    for ((name, input), output) in names.iter().zip(&source.files).zip(files.files()) {
        let Some(name) = name else {
            back.push(InputFile::absent(&output.name, None, &input.metadata));
            continue;
        };
        let path = root.join(name);
        let unchanged = input.path.as_deref().filter(|_| input.is_unchanged(&output.bytes));
        let linked = unchanged.filter(|_| target.link);
        if linked.is_some_and(|source| fs::hard_link(source, &path).is_ok()) {
            let file = File::open(&path).map_err(failed)?;
            back.push(recording::written(&file, &output.name).map_err(failed)?);
            continue;
        }
        let mut file = create_new(&path).map_err(failed)?;
        write_sparse(&mut file, &output.bytes).map_err(failed)?;
        if let Some(model) = if input.absent { model } else { Some(input) } {
            let taken = target.take_over(&file, model.path.as_deref(), &model.metadata);
            taken.map_err(failed)?;
        }
        file.sync_all().map_err(failed)?;
        back.push(recording::written(&file, &output.name).map_err(failed)?);
    }
    Ok(back)
}

fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// The path of each output, relative to the directory; `None` for a file that does not exist.
fn place_outputs(source: &Recording, files: &FileSet<'_>) -> Result<Vec<Option<PathBuf>>, Failure> {
    // Names come from the listing of the source. A name that a repair (or its plan) gives must be a
    // path of plain names below the recording.
    let place = |(input, output): (&InputFile, &tracemend::File<'_>)| {
        if output.bytes.is_absent() {
            return Ok(None);
        }
        let is_listed = input.is_named(&output.name) && !input.is_packed;
        let listed = input.path.clone().filter(|_| is_listed);
        let relative = match listed.or_else(|| input.sibling(&output.name)) {
            Some(path) => path.strip_prefix(&source.path).ok().map(Path::to_path_buf),
            None => plain(&output.name),
        };
        let refused = || {
            let name = UntrustedPath(output.name.as_bytes());
            Failure::usage(format!("`{name}` is not the name of a file in a recording"))
        };
        relative.map(Some).ok_or_else(refused)
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

/// The folders that some paths lie in, and `more`, from the innermost out, `root` last.
fn folders(
    paths: impl Iterator<Item = PathBuf>,
    more: impl Iterator<Item = PathBuf>,
    root: &Path,
) -> Vec<PathBuf> {
    let mut all = BTreeSet::from([root.to_path_buf()]);
    let parents = paths.filter_map(|path| path.parent().map(Path::to_path_buf));
    for folder in parents.chain(more) {
        let inside = folder.ancestors().take_while(|folder| folder.starts_with(root));
        all.extend(inside.map(Path::to_path_buf));
    }
    // A folder sorts before what lies in it.
    all.into_iter().rev().collect()
}

/// Lists the other files of a directory that is a recording, and the folders that a repair keeps.
pub(super) fn list_others(source: &Recording) -> Result<Vec<Other>, (PathBuf, io::Error)> {
    let recorded = source.files.iter().filter(|file| !file.absent);
    let recorded: BTreeSet<&Path> = recorded.filter_map(|file| file.path.as_deref()).collect();
    let holders: BTreeSet<&Path> =
        recorded.iter().flat_map(|path| path.ancestors().skip(1)).collect();
    let mut others = Vec::new();
    for entry in walkdir::WalkDir::new(&source.path).min_depth(1).sort_by_file_name() {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(&source.path).to_path_buf();
            (path, error.into_io_error().unwrap_or_else(|| io::Error::other("a loop")))
        })?;
        let (path, kind) = (entry.path(), entry.file_type());
        let is_known = recorded.contains(path) || kind.is_dir() && holders.contains(path);
        let Ok(name) = path.strip_prefix(&source.path) else { continue };
        if is_known {
            continue;
        }
        if !kind.is_dir() && !kind.is_file() && !kind.is_symlink() {
            let reason = "a device, socket or pipe in the directory cannot be copied";
            let error = io::Error::new(io::ErrorKind::Unsupported, reason);
            return Err((path.to_path_buf(), error));
        }
        others.push(Other { name: name.to_path_buf(), kind });
    }
    Ok(others)
}

/// Lists the folders of which the recording has the names of files that exist neither before nor
/// after: they were empty before a repair moved files there, and are again when it is undone.
fn list_emptied(source: &Recording, files: &FileSet<'_>) -> Vec<PathBuf> {
    let both = source.files.iter().zip(files.files());
    let absent = both.filter(|(input, output)| input.absent && output.bytes.is_absent());
    let folders =
        absent.filter_map(|(_, output)| Some(plain(&output.name)?.parent()?.to_path_buf()));
    folders.filter(|folder| source.path.join(folder).is_dir()).collect()
}

/// Fails if an output has the name of another file, or lies below one.
fn check_others(
    source: &Recording,
    names: &[Option<PathBuf>],
    others: &[Other],
) -> Result<(), Failure> {
    let others = others.iter().filter(|other| !other.kind.is_dir());
    let others: BTreeSet<&Path> = others.map(|other| other.name.as_path()).collect();
    let taken = names.iter().flatten().flat_map(|name| name.ancestors());
    match taken.into_iter().find(|name| others.contains(name)) {
        None => Ok(()),
        Some(name) => {
            let path = shown(&source.path.join(name));
            let message = format!(
                "{path} is not a file of the recording, but the output would have a file there; \
                 move it away; nothing was written"
            );
            Err(Failure::new(Exit::Unrepaired, message))
        }
    }
}

/// Copies a file or a symbolic link, and compares the copy with it. Nothing is overwritten.
fn copy_other(from: &Path, to: &Path, kind: FileType, readers: Readers) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::io(shown(from), &error);
    if kind.is_dir() {
        return Ok(());
    }
    let is_equal = if kind.is_symlink() {
        let link = fs::read_link(from).map_err(failed)?;
        std::os::unix::fs::symlink(&link, to).map_err(failed)?;
        fs::read_link(to).map_err(failed)? == link
    } else {
        let mut source = recording::open_without_waiting(from).map_err(failed)?;
        let mut copy = create_new(to).map_err(failed)?;
        io::copy(&mut source, &mut copy).map_err(failed)?;
        let model = source.metadata().map_err(failed)?;
        let readers = readers.and(Readers::of_file(from, &model));
        readers.admit(&copy, mode_of(&model)).map_err(failed)?;
        copy.sync_all().map_err(failed)?;
        let [source, copy] = [&source, &copy].map(|file| recording::written(file, ""));
        source.map_err(failed)?.has_equal_bytes(&copy.map_err(failed)?)
    };
    if is_equal {
        return Ok(());
    }
    let error =
        io::Error::other("the copy differs; the file may have changed; nothing was written");
    Err(failed(error))
}
