//! Records of the kernel: types 1 to 63.

use super::{Detail, list, padding, rest, string};
use crate::formats::perf::decode::body::{BodyError, CountField, skip_counted};
use crate::kit::cursor::Cursor;

/// `misc` of an MMAP2: a build id instead of device and inode.
pub(super) const MISC_MMAP_BUILD_ID: u16 = 1 << 14;

/// Reads the fields of a type of the kernel.
pub(super) fn fields(kind: u32, misc: u16, own: &mut Cursor<'_>) -> Result<Detail, BodyError> {
    match kind {
        1 => {
            own.skip(4, 8, "mmap.addr")?;
            return string(own, "mmap.filename");
        }
        2 => {
            own.skip(1, 8, "lost.id")?;
            return Ok(Detail::Lost(own.u64("lost.lost")?));
        }
        3 => {
            own.skip(1, 8, "comm.pid")?;
            return string(own, "comm.comm");
        }
        4 | 7 => own.skip(3, 8, "fork.time")?,
        5 | 6 => own.skip(3, 8, "throttle.time")?,
        8 => {
            // The layout of the values depends on the read_format of the attr, which is unknown
            // here.
            own.skip(2, 8, "read.value")?;
            rest(own);
        }
        10 => return mmap2(misc, own),
        11 => own.skip(3, 8, "aux.aux_offset")?,
        12 => own.skip(1, 8, "itrace_start.pid")?,
        13 => return Ok(Detail::Lost(own.u64("lost_samples.lost")?)),
        14 => {}
        15 => own.skip(1, 8, "switch.next_prev_pid")?,
        16 => {
            own.skip(1, 8, "namespaces.pid")?;
            list(own, 16, "namespaces.nr_namespaces")?;
        }
        17 => {
            own.skip(2, 8, "ksymbol.addr")?;
            return string(own, "ksymbol.name");
        }
        18 => own.skip(2, 8, "bpf_event.type")?,
        19 => {
            own.skip(1, 8, "cgroup.id")?;
            return string(own, "cgroup.path");
        }
        20 => text_poke(own)?,
        21 => own.skip(1, 8, "aux_output_hw_id.hw_id")?,
        22 => {
            own.skip(1, 8, "callchain_deferred.cookie")?;
            list(own, 8, "callchain_deferred.nr")?;
        }
        _ => return Ok(Detail::Unknown),
    }
    Ok(Detail::Plain)
}

/// MMAP2: { pid tid addr len pgoff, { maj min ino ino_generation } or { u8 build_id_size, u8, u16,
/// build_id[20] }, [prot flags], filename }
fn mmap2(misc: u16, own: &mut Cursor<'_>) -> Result<Detail, BodyError> {
    own.skip(4, 8, "mmap2.addr")?;
    if misc & MISC_MMAP_BUILD_ID == 0 {
        own.skip(3, 8, "mmap2.ino")?;
    } else {
        super::build_id_size(own, "mmap2.build_id_size")?;
        own.skip(1, 23, "mmap2.build_id")?;
    }
    // Kernels 3.10 to 3.15 wrote no prot and flags: the name follows at once.
    let mut old = own.clone();
    let is_old = matches!(own.rest().first(), Some(b'/' | b'['));
    own.skip(2, 4, "mmap2.prot")?;
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
fn text_poke(own: &mut Cursor<'_>) -> Result<(), BodyError> {
    own.skip(1, 8, "text_poke.addr")?;
    let old_len = u64::from(own.u16("text_poke.old_len")?);
    let new_len = u64::from(own.u16("text_poke.new_len")?);
    let both = old_len.saturating_add(new_len);
    skip_counted(own, both, 1, "text_poke.old_len", CountField { before: 4, size: 4 })?;
    padding(own);
    Ok(())
}
