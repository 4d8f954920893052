//! Files and folders that are not finished yet.
//!
//! ```text
//!  O_TMPFILE -> write -> linkat to the target's name             no file is there, or may be
//!  O_TMPFILE -> write -> linkat to a temporary name -> rename    the target is replaced
//!  temporary name -> write -> rename                             the file system has no O_TMPFILE
//! ```
//!
//! A file without a name vanishes with the process. A temporary name, of the form
//! `.tracemend-XXXXXXYYYYYY.tmp`, may be left after SIGKILL. While a run uses one, it holds a lock
//! on it; the next run that writes to the same folder removes those that nobody has locked. The
//! last six letters follow from the first six and the name of the machine: a user's own file or
//! folder does not have them, and machines that share a folder, whose file system may have no locks
//! between them, leave each other's alone.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, RenameFlags};
use tempfile::{Builder, TempDir};

use crate::files::mapped::RemovedOnDeath;
use crate::files::paths::parent;
use crate::files::recording::Stamp;
use crate::kit::interrupted;

/// Names of temporary files: these, with twice six letters and digits between them.
const PREFIX: &str = ".tracemend-";
const SUFFIX: &str = ".tmp";
const LETTERS: usize = 6;
/// Entries of a folder that are looked at for abandoned temporary files.
const SWEPT_MAX: usize = 65_536;
/// Names that are tried. One is lost only to a run that sweeps at the same moment.
const TRIES_MAX: usize = 16;

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct StagedFile {
    file: File,
    /// `None` if it has no name.
    named: Option<Temporary>,
    folder: Folder,
}

/// A temporary name, removed when it is dropped or the process dies.
#[derive(Debug)]
struct Temporary {
    path: PathBuf,
    _removed: RemovedOnDeath,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename nothing has the name.
        let _gone = fs::remove_file(&self.path);
    }
}

/// The folder that an output is put in, held open so that it can be synced at the end.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    file: File,
}

impl Folder {
    /// Opens the folder of a path, and removes what killed runs have left in it.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let path = parent(path).to_path_buf();
        let folder = Self { file: File::open(&path)?, path };
        folder.sweep();
        Ok(folder)
    }

    /// Syncs the folder, so that new names in it survive a power failure.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Removes temporary files and folders that no process has locked. They are of no use to
    /// anybody, so a failure is not reported.
    fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.take(SWEPT_MAX).flatten() {
            if entry.file_name().to_str().is_some_and(is_temporary) {
                let _left = sweep_one(&entry.path());
            }
        }
    }
}

/// Whether the name is one that this file gives on this machine.
fn is_temporary(name: &str) -> bool {
    let letters = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    letters.and_then(|letters| letters.split_at_checked(LETTERS)).is_some_and(|(chosen, check)| {
        chosen.bytes().all(|byte| byte.is_ascii_alphanumeric()) && check == check_letters(chosen)
    })
}

/// Six letters and digits of a number.
fn letters_of(number: u64) -> String {
    let digits = |number: &u64| Some(*number / 36);
    let letter =
        |number: u64| u32::try_from(number % 36).ok().and_then(|one| char::from_digit(one, 36));
    std::iter::successors(Some(number), digits).filter_map(letter).take(LETTERS).collect()
}

/// The letters that follow from those that were chosen, on this machine.
fn check_letters(chosen: &str) -> String {
    let mut hasher = DefaultHasher::new();
    (chosen, rustix::system::uname().nodename()).hash(&mut hasher);
    letters_of(hasher.finish())
}

fn sweep_one(path: &Path) -> io::Result<()> {
    let listed = fs::symlink_metadata(path)?;
    if !listed.is_file() && !listed.is_dir() {
        return Ok(());
    }
    let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    // Files of other users stay, as do those on file systems without locks.
    if file.try_lock().is_err() || !is_named(&file, path) {
        return Ok(());
    }
    if listed.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// Whether the path names the open file.
fn is_named(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => Stamp::of(&open).same_file(&Stamp::of(&named)),
        _ => false,
    }
}

/// Locks a new temporary file. Returns false if a sweep of another run was faster.
fn claim(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        Ok(()) => is_named(file, path),
        Err(TryLockError::WouldBlock) => false,
        // Without locks nobody sweeps.
        Err(TryLockError::Error(_)) => true,
    }
}

/// A new temporary name.
fn temporary_name() -> String {
    // Each state has other keys.
    let chosen = letters_of(RandomState::new().hash_one(std::process::id()));
    format!("{PREFIX}{chosen}{}", check_letters(&chosen))
}

/// A builder of files and folders with this temporary name.
fn builder(name: &str) -> Builder<'_, 'static> {
    let mut builder = Builder::new();
    builder.prefix(name).suffix(SUFFIX).rand_bytes(0);
    builder
}

fn swept() -> io::Error {
    io::Error::other("other runs removed the temporary file")
}

/// Opens a file without a name; `None` if the system has none.
#[cfg(target_os = "linux")]
fn open_unnamed(folder: &Path, mode: u32) -> Option<File> {
    // A name is given through this link at the end.
    if !Path::new("/proc/self/fd").exists() {
        return None;
    }
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).mode(mode).custom_flags(libc::O_TMPFILE);
    options.open(folder).ok()
}

#[cfg(not(target_os = "linux"))]
fn open_unnamed(_folder: &Path, _mode: u32) -> Option<File> {
    None
}

/// Gives an open file a name that nothing has.
fn link(file: &File, path: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, own, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

impl StagedFile {
    /// Creates the file that will be at `target`, with the permissions `mode` as far as the umask
    /// allows them.
    pub(crate) fn create(target: &Path, mode: u32) -> io::Result<Self> {
        let folder = Folder::of(target)?;
        if let Some(file) = open_unnamed(&folder.path, mode) {
            // Held while the file has a temporary name.
            let _unlocked = file.try_lock();
            return Ok(Self { file, named: None, folder });
        }
        for _ in 0..TRIES_MAX {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create_new(true).mode(mode);
            let made = builder(&temporary_name()).make_in(&folder.path, |path| {
                let removed = RemovedOnDeath::new([path], [])?;
                Ok((options.open(path)?, removed))
            })?;
            let ((file, removed), path) = made.keep().map_err(|error| error.error)?;
            let named = Temporary { path, _removed: removed };
            if claim(&file, &named.path) {
                return Ok(Self { file, named: Some(named), folder });
            }
        }
        Err(swept())
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn file_mut(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives the file its name, and returns the folder, which is not synced yet. Without `replace`,
    /// fails if a file has the name.
    pub(crate) fn persist(self, target: &Path, replace: bool) -> io::Result<Folder> {
        match &self.named {
            None if !replace => link(&self.file, target)?,
            None => {
                let made = builder(&temporary_name()).make_in(&self.folder.path, |path| {
                    let removed = RemovedOnDeath::new([path], [])?;
                    link(&self.file, path)?;
                    Ok(removed)
                })?;
                made.persist(target).map_err(|error| error.error)?;
            }
            Some(named) if replace => fs::rename(&named.path, target)?,
            Some(named) => rename_to_new(&named.path, target)?,
        }
        interrupted::count_written();
        Ok(self.folder)
    }
}

/// Renames a file or a folder to a name that nothing has.
pub(super) fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::EXIST) => Err(io::ErrorKind::AlreadyExists.into()),
        // Not every file system knows the flag.
        Err(_) if fs::symlink_metadata(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

/// A folder that is being filled.
#[derive(Debug)]
pub(crate) struct StagedFolder {
    temp: TempDir,
    removed: Option<RemovedOnDeath>,
    /// Holds the lock.
    file: File,
    folder: Folder,
}

impl StagedFolder {
    /// Creates the folder that will be at `target`.
    pub(crate) fn create(target: &Path) -> io::Result<Self> {
        let folder = Folder::of(target)?;
        for _ in 0..TRIES_MAX {
            let temp = builder(&temporary_name()).tempdir_in(&folder.path)?;
            let file = File::open(temp.path())?;
            if claim(&file, temp.path()) {
                return Ok(Self { temp, removed: None, file, folder });
            }
        }
        Err(swept())
    }

    /// Keeps what removes the files in the folder if the process dies.
    pub(crate) fn with_removal(mut self, removed: RemovedOnDeath) -> Self {
        self.removed = Some(removed);
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.temp.path()
    }

    /// Syncs the names in the folder.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Gives the folder its name, and returns the folder around it, which is not synced yet.
    pub(crate) fn persist(mut self, target: &Path) -> io::Result<Folder> {
        rename_to_new(self.temp.path(), target)?;
        // The name that it had is gone: nothing is left to remove.
        self.temp.disable_cleanup(true);
        interrupted::count_written();
        Ok(self.folder)
    }
}

/// Permissions of a file or folder, without set-uid and its kin.
pub(crate) fn mode_of(metadata: &fs::Metadata) -> u32 {
    metadata.mode() & 0o777
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_removes_what_nobody_has_locked_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let [file, locked, inner, link] = [(); 4].map(|()| temporary_name() + SUFFIX);
        // The letters of another machine, or of nobody.
        let foreign = format!(
            "{PREFIX}{}aaaaaa{SUFFIX}",
            file.get(PREFIX.len()..PREFIX.len() + LETTERS).unwrap()
        );
        let others = [".tracemend-notes", ".tracemend-Abc12f.tmp", foreign.as_str(), "a.tmp"];
        for name in others.into_iter().chain([file.as_str(), locked.as_str()]) {
            fs::write(path(name), b"x").unwrap();
        }
        fs::create_dir_all(path(&inner).join("inner")).unwrap();
        fs::create_dir_all(path(".tracemend-folder.tmp/inner")).unwrap();
        std::os::unix::fs::symlink("a.tmp", path(&link)).unwrap();
        let left_locked = locked.clone();
        let locked = File::open(path(&locked)).unwrap();
        locked.try_lock().unwrap();
        drop(Folder::of(&path("out")).unwrap());
        let mut left: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let mut expected = others.map(String::from).to_vec();
        expected.extend([link, left_locked, ".tracemend-folder.tmp".to_string()]);
        expected.sort();
        assert_eq!(left, expected);
    }

    #[test]
    fn a_staged_file_replaces_only_if_it_may() {
        use std::io::Write;
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out");
        for (text, replace, expected) in
            [("one", false, "one"), ("two", false, "one"), ("three", true, "three")]
        {
            let mut staged = StagedFile::create(&target, 0o640).unwrap();
            staged.file_mut().write_all(text.as_bytes()).unwrap();
            let persisted = staged.persist(&target, replace);
            assert_eq!(persisted.is_ok(), text == expected, "{text}");
            assert_eq!(fs::read_to_string(&target).unwrap(), expected);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }
}
