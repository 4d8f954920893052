//! Records of simpleperf: types 32769 to 32778.
//!
//! Source: the `Parse` functions of `record.cpp` in `system/extras/simpleperf` of Android. The
//! names are in `layout/record_names.rs`.

use super::{Detail, rest, skip_list};
use crate::formats::perf::decode::body::{BodyError, COUNT64, CountField, skip_counted};
use crate::formats::perf::decode::tracing;
use crate::kit::cursor::Cursor;

/// A u32 that ends at the position of the cursor.
const COUNT32: CountField = CountField { before: 4, size: 4 };

/// Reads what follows the declared fields of a type.
pub(super) fn end(kind: u32, own: &mut Cursor<'_>) -> Result<Detail, BodyError> {
    match kind {
        32_769 => {
            let size = own.u32("kernel_symbol.size")?;
            skip_counted(own, size.into(), 1, "kernel_symbol.kallsyms", COUNT32)?;
            rest(own);
        }
        32_772 => own.skip(1, own.left(), "split.data")?,
        32_776 => unwinding_result(own)?,
        32_777 => tracing_data(own)?,
        _ => return Ok(Detail::Unknown),
    }
    Ok(Detail::Plain)
}

/// TRACING_DATA, also in a record of type 66 of the first versions: its size, the content, and
/// padding to a multiple of 64.
pub(super) fn tracing_data(own: &mut Cursor<'_>) -> Result<(), BodyError> {
    let start = own.position();
    let size = u64::from(own.u32("tracing_data.size")?);
    if size > own.left() {
        let (label, most, span) = ("tracing_data.size", own.left(), own.since(start));
        return Err(BodyError::Count { label, value: size, most, span });
    }
    let mut content = own.part(size, "tracing_data.content")?;
    // The features of a file judge the same content; a record only carries it.
    let _read = tracing::walk(&mut content);
    content.skip(1, content.left(), "tracing_data.unread")?;
    rest(own);
    Ok(())
}

/// UNWINDING_RESULT: the time, how the unwinding ended, the registers and the stack that were
/// unwound, and since 2021 the callchain.
fn unwinding_result(own: &mut Cursor<'_>) -> Result<(), BodyError> {
    own.skip(6, 8, "unwinding.time")?;
    own.skip(1, 8, "unwinding.abi")?;
    let mask = own.u64("unwinding.reg_mask")?;
    own.skip(mask.count_ones().into(), 8, "regs_user.regs")?;
    let size = own.u64("unwinding.stack_size")?;
    if size > 0 {
        skip_counted(own, size, 1, "stack_user.size", COUNT64)?;
        own.skip(1, 8, "unwinding.dyn_size")?;
    }
    if own.left() > 0 {
        skip_list(own, 16, "unwinding.chain")?;
    }
    Ok(())
}
