//! The ACL and the extended attributes of a file that is replaced.
//!
//! Names come from the file system: `system.posix_acl_access`, `user.*`, `security.*`, and for
//! privileged users `trusted.*`.

use std::ffi::CStr;
use std::fs::File;
use std::io;

use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;
use tracemend::Untrusted;

use crate::files::access::ACL;

/// Length of a list of names and of a value: Linux allows no more.
const LEN_MAX: usize = 64 << 10;

/// Gives `target` the attributes of `source`, and no others that decide about access. Returns the
/// names of those that could not be kept, escaped.
pub(super) fn copy(source: &File, target: &File) -> io::Result<Vec<String>> {
    let mut lost = Vec::new();
    let mut has_acl = false;
    for name in list(source)? {
        let Ok(name) = CStr::from_bytes_with_nul(&name) else { continue };
        has_acl |= name.to_bytes() == ACL.as_bytes();
        let value = read(source, name);
        let is_kept = match &value {
            // It was removed after it was listed.
            Err(Errno::NODATA) => true,
            Err(_) => false,
            Ok(value) => {
                read(target, name).as_ref() == Ok(value)
                    || fsetxattr(target, name, value, XattrFlags::empty()).is_ok()
            }
        };
        if !is_kept {
            lost.push(Untrusted(name.to_bytes()).to_string());
        }
    }
    if !has_acl {
        // The folder can have an ACL for new files.
        match fremovexattr(target, ACL) {
            Ok(()) | Err(Errno::NODATA | Errno::NOTSUP) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(lost)
}

/// The names, each with its NUL.
fn list(file: &File) -> io::Result<Vec<Vec<u8>>> {
    let mut names = vec![0; LEN_MAX];
    let len = match flistxattr(file, &mut names[..]) {
        Ok(len) => len,
        Err(Errno::NOTSUP) => 0,
        Err(error) => return Err(error.into()),
    };
    names.truncate(len);
    Ok(names.split_inclusive(|byte| *byte == 0).map(<[u8]>::to_vec).collect())
}

fn read(file: &File, name: &CStr) -> Result<Vec<u8>, Errno> {
    let mut value = vec![0; LEN_MAX];
    let len = fgetxattr(file, name, &mut value[..])?;
    value.truncate(len);
    Ok(value)
}
