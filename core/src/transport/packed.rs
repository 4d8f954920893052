//! Compressed files and archives, read by libraries.

use std::io::{self, Read};
use std::path::{Component, Path};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder};
use lz4_flex::frame::FrameDecoder;
use lzma_rust2::XzReader;
use rawzip::{CompressionMethod, ZipArchive};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

use super::reader::{Converted, Converter, SourceReader, malformed};
use crate::kit::source::Source;

/// Largest window of a compressed file that is read, as a power of two: 128 MiB, as for recordings
/// (limit `zstd-window`). zstd with a long distance and `xz -9` use less.
const WINDOW_LOG_MAX: u32 = 27;
/// The memory that a dictionary of xz may take, in KiB.
const XZ_MEMORY_MAX: u32 = 160 << 10;
/// Bytes of a long name or of the headers of pax.
const EXTENSION_MAX: u64 = 64 << 10;
/// Bytes that libzstd returns at a time.
const ROOM: usize = 64 << 10;

/// Returns the content of a gzip file: all of its members.
pub(super) fn gzip(source: Source<'_>) -> impl Read {
    MultiGzDecoder::new(SourceReader::new(source, 0))
}

/// Returns the content of a bzip2 file.
pub(super) fn bzip2(source: Source<'_>) -> impl Read {
    MultiBzDecoder::new(SourceReader::new(source, 0))
}

/// Returns the content of an xz file.
pub(super) fn xz(source: Source<'_>) -> impl Read {
    XzReader::new_mem_limit(SourceReader::new(source, 0), true, XZ_MEMORY_MAX)
}

/// Returns the content of an LZ4 frame.
pub(super) fn lz4(source: Source<'_>) -> impl Read {
    FrameDecoder::new(SourceReader::new(source, 0))
}

/// Returns the content of a zstd file: all of its frames.
pub(super) fn zstd(source: Source<'_>) -> impl Read {
    let mut context = DCtx::create();
    // Without the parameter libzstd has a limit of its own, which is the same.
    let _known = context.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX));
    let converter = Zstd { context, is_open: false };
    Converted::new(SourceReader::new(source, 0), converter)
}

struct Zstd {
    context: DCtx<'static>,
    /// Whether a frame has begun and not ended.
    is_open: bool,
}

impl Zstd {
    fn step(&mut self, input: &mut InBuffer<'_>, out: &mut Vec<u8>) -> io::Result<bool> {
        let mut room = vec![0; ROOM];
        let mut buffer = OutBuffer::around(&mut room[..]);
        let left = self.context.decompress_stream(&mut buffer, input);
        let left = left.map_err(|code| io::Error::other(zstd_safe::get_error_name(code)))?;
        let written = buffer.as_slice();
        out.extend_from_slice(written);
        self.is_open = left > 0;
        // Of a full buffer there may be more.
        Ok(written.len() == ROOM)
    }
}

impl Converter for Zstd {
    fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<bool> {
        let mut input = InBuffer::around(input);
        loop {
            let is_full = self.step(&mut input, out)?;
            if !is_full && input.pos() == input.src.len() {
                return Ok(true);
            }
        }
    }

    fn finish(&mut self, _out: &mut Vec<u8>) -> io::Result<()> {
        match self.is_open {
            true => Err(malformed("the last frame has no end")),
            false => Ok(()),
        }
    }
}

/// Passes the regular files of an archive with plain names to `each`, in order.
///
/// # Errors
///
/// Those of the archive, and those of `each`.
pub(super) fn tar(
    source: Source<'_>,
    each: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> io::Result<()> {
    // The library holds a long name and a header of pax in memory, however long they are.
    let mut archive = tar::Archive::new(SourceReader::new(source.clone(), 0));
    for entry in archive.entries()?.raw(true) {
        let Ok(entry) = entry else { break };
        let kind = entry.header().entry_type();
        let is_content = kind.is_file() || kind.is_contiguous();
        if !is_content && entry.size() > EXTENSION_MAX {
            return Err(malformed("a header of the archive is too long"));
        }
    }
    let mut archive = tar::Archive::new(SourceReader::new(source, 0));
    for entry in archive.entries()? {
        let mut entry = entry?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if let Some(name) = plain(&name) {
            each(&name, &mut entry)?;
        }
    }
    Ok(())
}

/// As [`tar`], for a zip archive.
///
/// # Errors
///
/// As [`tar`].
pub(super) fn zip(
    source: &Source<'_>,
    each: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> io::Result<()> {
    let bytes = source.read(0, source.len());
    let archive = ZipArchive::from_slice(&*bytes).map_err(io::Error::other)?;
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry().map_err(io::Error::other)? {
        let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
        let Some(name) = plain(&name).filter(|_| !entry.is_dir()) else { continue };
        let method = entry.compression_method();
        let stored = archive.get_entry(entry.wayfinder()).map_err(io::Error::other)?;
        match method {
            CompressionMethod::STORE => {
                each(&name, &mut stored.verifying_reader(stored.data()))?;
            }
            CompressionMethod::DEFLATE => {
                let content = DeflateDecoder::new(stored.data());
                each(&name, &mut stored.verifying_reader(content))?;
            }
            _ => return Err(malformed("a file in the archive has a compression that is not read")),
        }
    }
    Ok(())
}

/// Returns a name of an archive if it leads to a place below the archive, without `./`.
fn plain(name: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in Path::new(name).components() {
        match part {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::CurDir => {}
            _ => return None,
        }
    }
    (!parts.is_empty() && !name.ends_with('/')).then(|| parts.join("/"))
}
