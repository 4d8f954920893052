//! Who may read an output: nobody who could not read its sources.
//!
//! ```text
//!  source    its mode, its ACL, and the folders that are around it and not around the output
//!  sources   what all of them allow
//!  output    that, and the umask
//! ```
//!
//! An ACL can shut out a member of the group or a stranger, which a mode cannot: outputs of such a
//! source are for their owner only.

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::io::Errno;

use crate::files::paths::parent;
use crate::files::recording::Recording;

/// Extended attribute with the ACL of a file; there is none if the mode has it all.
pub(crate) const ACL: &str = "system.posix_acl_access";
/// Rights of the owner, of the group and of others, in a mode.
const OWNER_BITS: u32 = 0o700;
const ALL_BITS: u32 = 0o7;
const READ: u32 = 0o4;

/// Those who may read an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Readers {
    /// The group that `group_bits` are about.
    group: Option<u32>,
    group_bits: u32,
    other_bits: u32,
}

impl Readers {
    /// No source restricts them yet.
    pub(crate) const EVERYBODY: Self =
        Self { group: None, group_bits: ALL_BITS, other_bits: ALL_BITS };
    /// Only the owner of the output.
    pub(crate) const OWNER: Self = Self { group: None, group_bits: 0, other_bits: 0 };

    /// Those who can read all files of a recording, for an output at `output`.
    pub(crate) fn of(recording: &Recording, output: &Path) -> Self {
        let mut readers = Self::around(&recording.path, output);
        for file in recording.files.iter().filter(|file| !file.absent) {
            readers = readers.and(match &file.path {
                Some(path) => Self::of_file(path, &file.metadata),
                // Whoever sent the stream is not known.
                None => Self::OWNER,
            });
        }
        readers
    }

    /// Those who can read a file, or search a folder, as far as its own mode decides.
    pub(crate) fn of_file(path: &Path, metadata: &Metadata) -> Self {
        let (group, mode) = (Some(metadata.gid()), metadata.mode());
        match has_acl(path) {
            true => Self { group, ..Self::OWNER },
            false => Self { group, group_bits: mode >> 3 & ALL_BITS, other_bits: mode & ALL_BITS },
        }
    }

    /// Those who can read the file at a path that is used for an output at `output`.
    pub(crate) fn of_path(path: &Path, output: &Path) -> Self {
        match fs::metadata(path) {
            Ok(metadata) => Self::around(path, output).and(Self::of_file(path, &metadata)),
            Err(_) => Self::OWNER,
        }
    }

    /// Those who can reach a path: through the folders that are not around the output as well.
    pub(crate) fn around(path: &Path, output: &Path) -> Self {
        let folder = |path: &Path| fs::canonicalize(parent(path));
        let Ok(inner) = folder(path) else { return Self::OWNER };
        let outer = existing(output);
        let around = inner.ancestors().take_while(|one| !outer.starts_with(one));
        around.fold(Self::EVERYBODY, |readers, one| {
            let Ok(metadata) = fs::metadata(one) else { return Self::OWNER };
            let own = Self::of_file(one, &metadata);
            let search = |bits: u32| if bits & 1 == 0 { 0 } else { ALL_BITS };
            let (group_bits, other_bits) = (search(own.group_bits), search(own.other_bits));
            readers.and(Self { group_bits, other_bits, ..own })
        })
    }

    /// Those who are among both.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        // Members of one group may be strangers to the other one.
        let common = |one: Self| one.group_bits & one.other_bits;
        let (group, [one, two]) = match (self.group, other.group) {
            (Some(own), Some(group)) if own != group => {
                let narrow =
                    |one: Self| Self { group_bits: common(one), other_bits: common(one), ..one };
                (Some(own), [narrow(self), narrow(other)])
            }
            (own, group) => (own.or(group), [self, other]),
        };
        Self {
            group,
            group_bits: one.group_bits & two.group_bits,
            other_bits: one.other_bits & two.other_bits,
        }
    }

    /// Gives an output the mode `wanted`, as far as the readers and the umask allow it.
    pub(crate) fn admit(self, file: &File, wanted: u32) -> io::Result<()> {
        let Self { group, mut group_bits, mut other_bits } = self;
        let is_other = |group: u32| file.metadata().is_ok_and(|found| found.gid() != group);
        if group_bits != other_bits && group.is_some_and(is_other) {
            // The bits are about the group of the source, which not everybody may give away.
            if fchown(file, None, group).is_err() {
                group_bits &= other_bits;
                other_bits = group_bits;
            }
        }
        let mut mode = wanted & (OWNER_BITS | group_bits << 3 | other_bits) & !umask();
        // The folder of the output can have an ACL for new files, which lets others in.
        let may_all_read = other_bits & READ != 0;
        if !may_all_read && !remove_acl(file) {
            mode &= OWNER_BITS;
        }
        file.set_permissions(Permissions::from_mode(mode))
    }

    /// Creates a folder for outputs, unless it is there, and those around it.
    pub(crate) fn create_folder(self, path: &Path) -> io::Result<()> {
        use std::os::unix::fs::DirBuilderExt;
        if path.as_os_str().is_empty() || path.is_dir() {
            return Ok(());
        }
        self.create_folder(parent(path))?;
        match fs::DirBuilder::new().mode(OWNER_BITS).create(path) {
            // Another thread was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
            Err(error) => Err(error),
            Ok(()) => self.admit(&File::open(path)?, 0o777),
        }
    }
}

/// The nearest folder around a path that exists.
fn existing(path: &Path) -> PathBuf {
    let mut around = path.ancestors().skip(1);
    let here = |one: &Path| if one == Path::new("") { PathBuf::from(".") } else { one.into() };
    around.find_map(|one| fs::canonicalize(here(one)).ok()).unwrap_or_default()
}

/// Whether the path has an ACL beyond its mode.
fn has_acl(path: &Path) -> bool {
    let mut none = [0_u8; 0];
    is_present(rustix::fs::getxattr(path, ACL, &mut none[..]))
}

/// Whether an attribute is there, or may be.
fn is_present(length: rustix::io::Result<usize>) -> bool {
    !matches!(length, Err(Errno::NODATA | Errno::NOTSUP | Errno::NOSYS))
}

/// Removes the ACL of a file; false if it is still there.
fn remove_acl(file: &File) -> bool {
    let mut none = [0_u8; 0];
    let has_one = is_present(rustix::fs::fgetxattr(file, ACL, &mut none[..]));
    !has_one || rustix::fs::fremovexattr(file, ACL).is_ok()
}

static UMASK: OnceLock<u32> = OnceLock::new();

/// The umask of the process. The first call comes before the sandbox.
pub(crate) fn umask() -> u32 {
    *UMASK.get_or_init(|| read_umask().unwrap_or(!OWNER_BITS & 0o777))
}

/// Reads the umask without changing it for a moment, which other threads would notice.
fn read_umask() -> Option<u32> {
    if let Ok(status) = fs::read_to_string("/proc/self/status") {
        let mut lines = status.lines();
        let digits = lines.find_map(|line| line.strip_prefix("Umask:"))?;
        return u32::from_str_radix(digits.trim(), 8).ok();
    }
    let all = Permissions::from_mode(0o777);
    let probe = tempfile::Builder::new().permissions(all).tempfile().ok()?;
    let mode = probe.as_file().metadata().ok()?.mode();
    Some(!mode & 0o777)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn readers(group: u32, group_bits: u32, other_bits: u32) -> Readers {
        Readers { group: Some(group), group_bits, other_bits }
    }

    #[test]
    fn several_sources_admit_those_whom_each_of_them_admits() {
        let all = Readers::EVERYBODY;
        let cases = [
            (all, readers(1, 4, 0), readers(1, 4, 0)),
            (readers(1, 6, 4), readers(1, 4, 0), readers(1, 4, 0)),
            // A member of group 1 is a stranger to the second source, and the other way round.
            (readers(1, 4, 0), readers(2, 4, 4), readers(1, 0, 0)),
            (readers(1, 4, 4), readers(2, 4, 4), readers(1, 4, 4)),
            (readers(1, 0, 4), readers(2, 4, 4), readers(1, 0, 0)),
            (readers(1, 4, 4), Readers::OWNER, readers(1, 0, 0)),
        ];
        for (one, other, both) in cases {
            assert_eq!(one.and(other), both, "{one:?} and {other:?}");
            let swapped = other.and(one);
            assert_eq!(
                (swapped.group_bits, swapped.other_bits),
                (both.group_bits, both.other_bits)
            );
        }
    }

    #[test]
    fn folders_around_the_source_count_unless_they_are_around_the_output() {
        let root = tempfile::tempdir().unwrap();
        let closed = root.path().join("closed");
        fs::create_dir_all(closed.join("inner")).unwrap();
        fs::create_dir(root.path().join("open")).unwrap();
        let source = closed.join("inner/source");
        fs::write(&source, b"x").unwrap();
        fs::set_permissions(&source, Permissions::from_mode(0o644)).unwrap();
        fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
        let mode_of = |output: &str| {
            let output = root.path().join(output);
            let file = File::create(&output).unwrap();
            Readers::of_path(&source, &output).admit(&file, 0o666).unwrap();
            file.metadata().unwrap().mode() & 0o777
        };
        assert_eq!(mode_of("open/output"), 0o600);
        assert_eq!(mode_of("closed/output"), 0o644 & !umask());
        assert_eq!(mode_of("closed/inner/output"), 0o644 & !umask());
    }
}
