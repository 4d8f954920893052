//! The bodies of all records except samples.
//!
//! ```text
//!  kernel, types 1 to 63:   | own fields | padding, newer fields | sample_id: trailer_len |
//!  perf, types 64 and up:   | own fields | newer fields |
//! ```
//!
//! Sources: `include/uapi/linux/perf_event.h` and `tools/lib/perf/include/perf/event.h`.

pub mod aux;
mod auxtrace;
mod cpus;
mod kernel;
pub mod named;
mod simpleperf;
pub mod tracer;
mod tracer_words;
mod user;

pub use self::cpus::{CpuSet, cpu_set};
pub use self::named::{Named, counts, fields, of_sample, sample_log};
use super::body::{BodyError, COUNT64, count_error, skip_counted};
pub use crate::formats::perf::layout::record::name;
use crate::formats::perf::layout::records::{End, record_type};
use crate::formats::perf::layout::{BUILD_ID_MAX, record};
use crate::kit::cursor::{Cursor, ReadError};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::row::{Row, row_size};
use crate::kit::span::Span;

/// Whether records of the type end in a `sample_id` if the attr has `sample_id_all`: all records of
/// the kernel except samples.
#[inline]
pub const fn has_trailer(kind: u32) -> bool {
    kind < record::USER_FIRST && kind != record::SAMPLE
}

/// The fields of a record that a check needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// All fields are present; none is needed.
    Plain,
    /// The type is unknown, so nothing was read.
    Unknown,
    /// A name or path, without its NUL: MMAP, MMAP2, COMM, KSYMBOL, CGROUP, BUILD_ID, EVENT_UPDATE.
    Name(Span),
    /// LOST and LOST_SAMPLES: the number of events that the kernel could not record.
    Lost(u64),
    /// HEADER_ATTR.
    Attr {
        /// The attr, for [`attr`](super::attr::attr).
        attr: Span,
        /// The ids, u64 each.
        ids: Span,
    },
    /// AUXTRACE and TRACING_DATA: bytes that follow the record and are not part of its size.
    Outside(u64),
    /// HEADER_FEATURE.
    Feature {
        /// The feature bit.
        id: u64,
        /// The content, as in the section of the same feature in a file.
        data: Span,
    },
    /// COMPRESSED and COMPRESSED2: zstd data.
    Compressed(Span),
}

/// The body of a record without its `sample_id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    /// The fields.
    pub detail: Detail,
    /// Bytes after the known fields, such as those of a newer kernel; padding of strings excluded.
    pub extra: u64,
    /// Bytes after the name of a record of the kernel, if they are not padding: zeros, and fewer
    /// than a word.
    pub after_name: u64,
}

/// Reads the body of a record that is not a sample. The cursor holds the body and nothing else;
/// afterwards it stands before the last `trailer_len` bytes, or does not move if the body is
/// shorter. For types without a `sample_id` ([`has_trailer`]) `trailer_len` is ignored.
///
/// # Errors
///
/// The first field that does not fit in the body.
pub fn body(
    kind: u32,
    misc: u16,
    cursor: &mut Cursor<'_>,
    trailer_len: u64,
) -> Result<Body, BodyError> {
    let trailer_len = if has_trailer(kind) { trailer_len } else { 0 };
    let Some(own_len) = cursor.left().checked_sub(trailer_len) else {
        return Err(
            ReadError { label: "sample_id", left: cursor.ahead(), needed: trailer_len }.into()
        );
    };
    let mut own = cursor.part(own_len, "body")?;
    let whole = own.unlogged();
    let detail = read(kind, misc, &mut own)?;
    let after_name = match detail {
        Detail::Name(name) => bytes_after(name, &whole, kind),
        _ => 0,
    };
    Ok(Body { detail, extra: own.left(), after_name })
}

/// Reads the fields of a type: those that are declared, and what its own reader finds after them.
fn read(kind: u32, misc: u16, own: &mut Cursor<'_>) -> Result<Detail, BodyError> {
    let Some(declared) = record_type(kind) else { return Ok(Detail::Unknown) };
    own.row(declared.fields)?;
    match declared.end {
        End::Nothing => {}
        End::Text(label) => return string(own, label),
        End::Lost(label) => return Ok(Detail::Lost(own.u64(label)?)),
        End::List(label, row) => drop(list(own, row, label)?),
        End::Newer(row) => {
            if own.left() >= row_size(row) {
                own.row(row)?;
            }
            rest(own);
        }
        End::Reader if kind < record::USER_FIRST => return kernel::end(kind, misc, own),
        End::Reader if record::is_simpleperf(kind) => return simpleperf::end(kind, own),
        End::Reader => return user::end(kind, misc, own),
    }
    Ok(Detail::Plain)
}

/// Returns the number of bytes after the NUL of a name that are not padding.
fn bytes_after(name: Span, whole: &Cursor<'_>, kind: u32) -> u64 {
    let until_nul = name.end.saturating_add(1).saturating_sub(whole.position());
    let after = whole.rest().get(to_usize(until_nul)..).unwrap_or_default();
    let is_padding = after.len() < 8 && after.iter().all(|byte| *byte == 0);
    // perf reserves room for the longest names, and adds a `sample_id` to some of its own records.
    if is_padding || kind >= record::USER_FIRST { 0 } else { to_u64(after.len()) }
}

/// Takes the rest of the body.
fn rest(own: &mut Cursor<'_>) -> Span {
    let span = own.ahead();
    // A read of exactly the remaining bytes cannot fail.
    own.bytes(own.left(), "rest").map_or(Span::sized(span.layer, span.start, 0), |_| span)
}

/// Reads a string with its NUL, and the padding after it up to the end of the body.
fn string(own: &mut Cursor<'_>, label: &'static str) -> Result<Detail, BodyError> {
    let span = terminated(own, label)?;
    rest(own);
    Ok(Detail::Name(span))
}

/// Reads a string and its NUL.
fn terminated(own: &mut Cursor<'_>, label: &'static str) -> Result<Span, BodyError> {
    let start = own.position();
    let unterminated = BodyError::Unterminated { label, span: own.ahead() };
    own.bytes(to_u64(own.until_nul().len()), label)?;
    let span = own.since(start);
    own.u8(label).map_err(|_| unterminated)?;
    Ok(span)
}

/// Reads a u64 count and as many rows.
fn list(own: &mut Cursor<'_>, row: &Row, label: &'static str) -> Result<u64, BodyError> {
    let nr = own.u64(label)?;
    match own.rows(nr, row) {
        Ok(()) => Ok(nr),
        Err(_) => Err(count_error(own, nr, row_size(row), label, COUNT64)),
    }
}

/// Reads a u64 count and skips as many entries of `size` bytes.
fn skip_list(own: &mut Cursor<'_>, size: u64, label: &'static str) -> Result<u64, BodyError> {
    let nr = own.u64(label)?;
    skip_counted(own, nr, size, label, COUNT64)?;
    Ok(nr)
}

/// Reads the u8 size of a build id.
fn build_id_size(own: &mut Cursor<'_>, label: &'static str) -> Result<(), BodyError> {
    let start = own.position();
    let size = u64::from(own.u8(label)?);
    if size > BUILD_ID_MAX {
        let span = own.since(start);
        return Err(BodyError::TooLarge { label, value: size, most: BUILD_ID_MAX, span });
    }
    Ok(())
}

/// Takes the padding to a multiple of 8: less than a word.
fn padding(own: &mut Cursor<'_>) {
    if own.left() < 8 {
        rest(own);
    }
}

#[cfg(test)]
mod tests;
