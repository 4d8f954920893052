//! Records of the kernel, types 1 to 63, as far as their fields are not declared.

use super::{Detail, padding, string};
use crate::formats::perf::decode::body::{BodyError, CountField, skip_counted};
use crate::formats::perf::layout::records::{MMAP2_INODE, MMAP2_PROT};
use crate::formats::perf::layout::{MISC_MMAP_BUILD_ID, record};
use crate::kit::cursor::Cursor;

/// Reads what follows the declared fields of a type.
pub(super) fn end(kind: u32, misc: u16, own: &mut Cursor<'_>) -> Result<Detail, BodyError> {
    match kind {
        record::MMAP2 => mmap2(misc, own),
        record::TEXT_POKE => text_poke(own),
        _ => Ok(Detail::Unknown),
    }
}

/// MMAP2 after pgoff: { { maj min ino ino_generation } or { u8 build_id_size, u8, u16,
/// build_id[20] }, [prot flags], filename }
fn mmap2(misc: u16, own: &mut Cursor<'_>) -> Result<Detail, BodyError> {
    if misc & MISC_MMAP_BUILD_ID == 0 {
        own.row(MMAP2_INODE)?;
    } else {
        super::build_id_size(own, "mmap2.build_id_size")?;
        own.skip(1, 23, "mmap2.build_id")?;
    }
    // Kernels 3.10 to 3.15 wrote no prot and flags: the name follows at once.
    let mut old = own.clone();
    let is_old = matches!(own.rest().first(), Some(b'/' | b'['));
    own.row(MMAP2_PROT)?;
    match string(own, "mmap2.filename") {
        Err(_) if is_old => {
            let name = string(&mut old, "mmap2.filename")?;
            *own = old;
            Ok(name)
        }
        read => read,
    }
}

/// TEXT_POKE: { u64 addr, u16 old_len, u16 new_len, bytes of both }, padded to 8.
fn text_poke(own: &mut Cursor<'_>) -> Result<Detail, BodyError> {
    let old_len = u64::from(own.u16("text_poke.old_len")?);
    let new_len = u64::from(own.u16("text_poke.new_len")?);
    let both = old_len.saturating_add(new_len);
    skip_counted(own, both, 1, "text_poke.old_len", CountField { before: 4, size: 4 })?;
    padding(own);
    Ok(Detail::Plain)
}
