//! The place of a finding in a file, as platforms name it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use tracemend::{Finding, Layer, Span};

use super::Checked;
use crate::files::paths::shown;

/// Bytes of a path that are encoded in a URI: all but the unreserved ones of RFC 3986 and the
/// slash.
const IN_PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The path of a file, for the formats of platforms. They know files by their place in a checkout,
/// which is the current directory.
pub(in crate::commands::check) fn relative(path: &Path) -> PathBuf {
    let path = match std::env::current_dir() {
        Ok(here) => path.strip_prefix(&here).unwrap_or(path),
        Err(_) => path,
    };
    let parts: PathBuf =
        path.components().filter(|part| !matches!(part, Component::CurDir)).collect();
    if parts.as_os_str().is_empty() { PathBuf::from(".") } else { parts }
}

/// The file of the recording with this number.
pub(super) fn file(checked: &Checked<'_>, layer: Layer) -> PathBuf {
    let index = usize::try_from(layer.file).ok().filter(|_| checked.is_directory);
    let file = index.and_then(|index| checked.files.files().get(index));
    match file {
        Some(file) => checked.path.join(OsStr::from_bytes(file.name.as_bytes())),
        None => checked.path.to_path_buf(),
    }
}

/// The stored bytes that a finding is about.
pub(super) fn stored(finding: &Finding) -> Span {
    finding.stored.unwrap_or(finding.span)
}

/// The escaped path of the file that a finding is in.
pub(super) fn name(checked: &Checked<'_>, finding: &Finding) -> String {
    shown(&file(checked, stored(finding).layer()))
}

/// The path as a URI: a relative reference, or `file:` for an absolute path. Every byte of the
/// path can be told from it.
pub(super) fn uri(path: &Path) -> String {
    let encoded = percent_encode(path.as_os_str().as_bytes(), IN_PATH).to_string();
    if path.is_absolute() { format!("file://{encoded}") } else { encoded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_holds_every_byte_of_a_path_and_nothing_else() {
        let uri = |bytes: &[u8]| uri(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(uri(b"a b/c%\xff\n"), "a%20b/c%25%FF%0A");
        assert_eq!(uri(b"http:x"), "http%3Ax");
        assert_eq!(uri(b"/tmp/x?#"), "file:///tmp/x%3F%23");
    }

    #[test]
    fn a_path_below_the_current_directory_is_relative() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(relative(&here.join("a/./b")), Path::new("a/b"));
        assert_eq!(relative(Path::new("./a")), Path::new("a"));
        assert_eq!(relative(Path::new("/elsewhere/a")), Path::new("/elsewhere/a"));
    }
}
