//! Whether the kernel knows of a program that has a file open for writing.

use std::fs::File;
#[cfg(target_os = "linux")]
use std::time::Duration;

/// Waits between the attempts: a program that starts another one shares its open files with it for
/// a moment.
#[cfg(target_os = "linux")]
const WAITS: [Duration; 5] = [
    Duration::from_millis(1),
    Duration::from_millis(2),
    Duration::from_millis(4),
    Duration::from_millis(8),
    Duration::from_millis(16),
];

/// File systems of other machines, where a refused lease has other reasons.
#[cfg(target_os = "linux")]
const REMOTE: [u32; 4] = [0x6969, 0xff53_4d42, 0xfe53_4d42, 0x517b];

/// The knowledge of the kernel about programs that have a file open for writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Writer {
    /// No program has it open for writing.
    None,
    /// A program has it open for writing.
    Present,
    /// It cannot be known.
    #[default]
    Unknown,
}

impl Writer {
    /// Looks for a program that has the file open for writing.
    #[cfg(target_os = "linux")]
    pub(crate) fn of(file: &File) -> Self {
        let mut waits = WAITS.iter();
        loop {
            match crate::files::mapped::take_lease(file) {
                Ok(()) => return Self::None,
                Err(error) if error.raw_os_error() != Some(libc::EAGAIN) => return Self::Unknown,
                Err(_) if is_remote(file) => return Self::Unknown,
                Err(_) => match waits.next() {
                    Some(wait) => std::thread::sleep(*wait),
                    None => return Self::Present,
                },
            }
        }
    }

    /// Other systems have no leases.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of(_file: &File) -> Self {
        Self::Unknown
    }
}

#[cfg(target_os = "linux")]
fn is_remote(file: &File) -> bool {
    let kind = rustix::fs::fstatfs(file).ok().and_then(|found| u32::try_from(found.f_type).ok());
    kind.is_none_or(|kind| REMOTE.contains(&kind))
}
