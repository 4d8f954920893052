//! Sizes of blobs against the arguments beside them.
//!
//! The tracer computes the size of a blob from the arguments of the call: the size itself for
//! buffers, width, height, depth, format and type for images (`glsize.hpp`: `_gl_image_size`).
//! Images also depend on glPixelStorei: rows are padded, and other settings leave the size unknown.

use super::{Misuse, Signature, push_misuse};
use crate::formats::apitrace::decode::grammar::ValueToken;
use crate::formats::apitrace::decode::repeats::FirstUse;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::words::byte_count;

/// Arguments of a call that are kept.
const ARGUMENTS: usize = 16;
/// Parameters of glPixelStorei for uploads.
const UNPACK: std::ops::RangeInclusive<u64> = 0x0cf0..=0x0cf5;
const UNPACK_ALIGNMENT: u64 = 0x0cf5;
const UNPACK_SKIP_IMAGES: u64 = 0x806d;
const UNPACK_IMAGE_HEIGHT: u64 = 0x806e;

/// The arguments that give the size of a blob, by their indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A number of bytes.
    Bytes { size: usize, data: usize },
    /// An image. The height and the depth may be missing.
    Image { sizes: [Option<usize>; 3], format: usize, kind: usize, data: usize },
    /// glPixelStorei.
    PixelStore,
}

impl Kind {
    fn of(signature: &Signature<'_>) -> Option<Self> {
        let starts = |starts: &[&str]| {
            starts.iter().any(|start| signature.name.starts_with(start.as_bytes()))
        };
        let bytes = |size, data| {
            Some(Self::Bytes { size: signature.find(size)?, data: signature.find(data)? })
        };
        match signature.name {
            b"glPixelStorei" => Some(Self::PixelStore),
            b"memcpy" => bytes("n", "src"),
            _ if starts(&["glCompressedTex"]) => bytes("imageSize", "data"),
            _ if starts(&["glBufferData", "glBufferSubData", "glBufferStorage"])
                || starts(&["glNamedBufferData", "glNamedBufferSubData"]) =>
            {
                bytes("size", "data")
            }
            _ if starts(&["glTexImage", "glTexSubImage", "glTextureSubImage", "glDrawPixels"]) => {
                let sizes = ["width", "height", "depth"].map(|name| signature.find(name));
                let (format, kind) = (signature.find("format")?, signature.find("type")?);
                Some(Self::Image { sizes, format, kind, data: signature.find("pixels")? })
            }
            _ => None,
        }
    }
}

/// An argument.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Argument {
    /// Missing, or of another form.
    #[default]
    Other,
    Number(u64),
    Blob(u64),
}

/// The settings of glPixelStorei so far, in any context.
#[derive(Debug, Default)]
struct PixelStore {
    /// Alignments that were set, as bits.
    alignments: u64,
    /// Whether anything else was set.
    has_others: bool,
}

/// The call that is read.
#[derive(Debug)]
struct Current {
    kind: Kind,
    arguments: [Argument; ARGUMENTS],
}

/// Compares the sizes of blobs.
#[derive(Debug, Default)]
pub struct Uploads {
    /// By the ids of functions.
    kinds: Vec<Option<Kind>>,
    store: PixelStore,
    current: Option<Current>,
    found: Vec<Misuse>,
}

impl Uploads {
    pub(super) fn add_function(&mut self, id: u64, signature: &Signature<'_>) {
        let kind = Kind::of(signature);
        let index = to_usize(id);
        if index >= self.kinds.len() {
            self.kinds.resize(index.saturating_add(1), None);
        }
        if let Some(cell) = self.kinds.get_mut(index) {
            *cell = kind;
        }
    }

    /// Begins a call; its arguments are taken if it is one of those that are compared.
    #[inline(always)]
    pub fn begin(&mut self, function: u64) {
        self.current = match self.kinds.get(to_usize(function)) {
            Some(Some(kind)) => Some(Current { kind: *kind, arguments: Default::default() }),
            _ => None,
        };
    }

    /// Whether the arguments of the calls of a function are compared.
    #[inline(always)]
    pub fn compares(&self, function: u64) -> bool {
        matches!(self.kinds.get(to_usize(function)), Some(Some(_)))
    }

    /// Whether the arguments of the present call are taken.
    #[inline(always)]
    pub const fn is_open(&self) -> bool {
        self.current.is_some()
    }

    /// Takes the first token of the value of an argument; later ones are parts of it.
    pub fn add(&mut self, index: u64, token: ValueToken<'_>) {
        let Some(current) = &mut self.current else { return };
        let Some(cell) = current.arguments.get_mut(to_usize(index)) else { return };
        *cell = match (*cell, token) {
            (Argument::Other, ValueToken::Unsigned(value)) => Argument::Number(value),
            (Argument::Other, ValueToken::Enum(_, Some(symbol))) if !symbol.is_negative => {
                Argument::Number(symbol.value)
            }
            (Argument::Other, ValueToken::Blob(len)) => Argument::Blob(len),
            (before, _) => before,
        };
    }

    /// Ends the call and judges it.
    pub fn end(&mut self, first: FirstUse) {
        let Some(Current { kind, arguments }) = self.current.take() else { return };
        let number = |index: usize| match arguments.get(index) {
            Some(Argument::Number(value)) => Some(*value),
            _ => None,
        };
        let blob = |index: usize| match arguments.get(index) {
            Some(Argument::Blob(len)) => Some((index, *len)),
            _ => None,
        };
        let judged = match kind {
            Kind::PixelStore => {
                self.store.set(number(0), number(1));
                None
            }
            Kind::Bytes { size, data } => {
                blob(data).zip(number(size)).map(|(blob, size)| (blob, vec![size]))
            }
            Kind::Image { sizes, format, kind, data } => {
                let sizes = sizes.map(|index| index.map_or(Some(1), number));
                let pixel = number(format).zip(number(kind));
                let pixel = pixel.and_then(|(format, kind)| pixel_len(format, kind));
                let sizes = pixel.and_then(|pixel| self.store.image_lens(sizes, pixel));
                blob(data).zip(sizes)
            }
        };
        let Some(((index, len), sizes)) = judged.filter(|((_, len), all)| !all.contains(len))
        else {
            return;
        };
        let at = FirstUse { argument: Some(to_u64(index)), ..first };
        push_misuse(&mut self.found, at, || {
            let expected = sizes.first().copied().unwrap_or_default();
            let len = byte_count(len);
            format!("blob has {len}, but the other arguments require {expected}")
        });
    }

    /// Returns the calls whose blob has another size than their arguments state.
    pub fn found(&self) -> &[Misuse] {
        &self.found
    }
}

impl PixelStore {
    fn set(&mut self, name: Option<u64>, value: Option<u64>) {
        match (name, value) {
            (Some(UNPACK_ALIGNMENT), Some(value @ (1 | 2 | 4 | 8))) => self.alignments |= value,
            // Padding of rows can be anything from here on.
            (None, _) | (Some(UNPACK_ALIGNMENT), _) => self.has_others = true,
            (Some(UNPACK_SKIP_IMAGES | UNPACK_IMAGE_HEIGHT), value) => {
                self.has_others |= value != Some(0);
            }
            (Some(name), value) => self.has_others |= UNPACK.contains(&name) && value != Some(0),
        }
    }

    /// Returns the lengths that an image may have: rows are padded by any alignment that was set,
    /// and the last one may end without padding.
    fn image_lens(&self, sizes: [Option<u64>; 3], pixel: u64) -> Option<Vec<u64>> {
        let [Some(width), Some(height), Some(depth)] = sizes else { return None };
        let row = width.checked_mul(pixel)?;
        let rows = height.checked_mul(depth)?;
        let mut lens = Vec::new();
        for alignment in [4, 1, 2, 8] {
            let is_usual = alignment == 4;
            if !is_usual && self.alignments & alignment == 0 {
                continue;
            }
            let stride = row.checked_next_multiple_of(alignment)?;
            lens.push(rows.checked_mul(stride)?);
            let before = rows.saturating_sub(1).checked_mul(stride)?;
            lens.push(before.checked_add(row)?);
        }
        (!self.has_others && rows > 0).then_some(lens)
    }
}

/// Returns the bytes of a pixel; `None` for formats and types that are not looked at.
fn pixel_len(format: u64, kind: u64) -> Option<u64> {
    let components = match format {
        // COLOR_INDEX, STENCIL_INDEX, DEPTH_COMPONENT, RED, GREEN, BLUE, ALPHA, LUMINANCE
        0x1900..=0x1906 | 0x1909 => 1,
        // LUMINANCE_ALPHA, RG
        0x190a | 0x8227 => 2,
        // RGB, BGR
        0x1907 | 0x80e0 => 3,
        // RGBA, BGRA
        0x1908 | 0x80e1 => 4,
        _ => return None,
    };
    match kind {
        // BYTE, UNSIGNED_BYTE
        0x1400 | 0x1401 => Some(components),
        // SHORT, UNSIGNED_SHORT, HALF_FLOAT
        0x1402 | 0x1403 | 0x140b => Some(components.saturating_mul(2)),
        // INT, UNSIGNED_INT, FLOAT
        0x1404..=0x1406 => Some(components.saturating_mul(4)),
        // UNSIGNED_INT_8_8_8_8 and its reverse
        0x8035 | 0x8367 if components == 4 => Some(4),
        // UNSIGNED_SHORT_5_6_5, 4_4_4_4, 5_5_5_1
        0x8363 if components == 3 => Some(2),
        0x8033 | 0x8034 if components == 4 => Some(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBER: fn(u64) -> ValueToken<'static> = ValueToken::Unsigned;

    fn uploads() -> Uploads {
        let mut uploads = Uploads::default();
        let add = |uploads: &mut Uploads, id, name: &str, arguments: &[&str]| {
            let arguments = arguments.iter().map(|name| name.as_bytes()).collect();
            uploads.add_function(id, &Signature { name: name.as_bytes(), arguments });
        };
        add(&mut uploads, 0, "glBufferData", &["target", "size", "data", "usage"]);
        let image = ["width", "height", "format", "type", "pixels"];
        add(&mut uploads, 1, "glTexSubImage2D", &image);
        add(&mut uploads, 2, "glPixelStorei", &["pname", "param"]);
        add(&mut uploads, 3, "glTexParameteri", &["target", "size", "data"]);
        uploads
    }

    fn call(uploads: &mut Uploads, function: u64, arguments: &[ValueToken<'_>]) -> usize {
        let before = uploads.found().len();
        uploads.begin(function);
        (0..).zip(arguments).for_each(|(index, token)| uploads.add(index, *token));
        uploads.end(FirstUse { call: 0, argument: None, at: 0, end: 1 });
        uploads.found().len() - before
    }

    #[test]
    fn a_blob_has_the_size_beside_it() {
        let mut uploads = uploads();
        let buffer = |size, len| [NUMBER(0x8892), NUMBER(size), ValueToken::Blob(len)];
        assert_eq!(call(&mut uploads, 0, &buffer(12, 12)), 0);
        assert_eq!(call(&mut uploads, 0, &buffer(12, 13)), 1);
        assert_eq!(call(&mut uploads, 3, &buffer(12, 13)), 0);
        assert_eq!(call(&mut uploads, 0, &[NUMBER(1), NUMBER(2), ValueToken::Null]), 0);
    }

    #[test]
    fn an_image_has_the_size_of_its_rows_unless_settings_are_unknown() {
        let mut uploads = uploads();
        let image =
            |len| [NUMBER(3), NUMBER(2), NUMBER(0x1907), NUMBER(0x1401), ValueToken::Blob(len)];
        // Rows of 9 bytes, padded to 12.
        for (len, found) in [(24, 0), (21, 0), (18, 1), (25, 1)] {
            assert_eq!(call(&mut uploads, 1, &image(len)), found, "{len}");
        }
        call(&mut uploads, 2, &[NUMBER(UNPACK_ALIGNMENT), NUMBER(1)]);
        assert_eq!(call(&mut uploads, 1, &image(18)), 0);
        let huge = [NUMBER(u64::MAX), NUMBER(2), NUMBER(0x1907), NUMBER(0x1401)];
        assert_eq!(call(&mut uploads, 1, &huge), 0);
        call(&mut uploads, 2, &[NUMBER(0x0cf2), NUMBER(7)]);
        assert_eq!(call(&mut uploads, 1, &image(25)), 0);
    }

    #[test]
    fn a_pixel_has_the_bytes_of_its_components() {
        for (format, components) in [(0x1902, 1), (0x190a, 2), (0x80e0, 3), (0x1908, 4)] {
            assert_eq!(pixel_len(format, 0x1401), Some(components));
            assert_eq!(pixel_len(format, 0x140b), Some(2 * components));
            assert_eq!(pixel_len(format, 0x1406), Some(4 * components));
            assert_eq!(pixel_len(format, 0x8367), (components == 4).then_some(4));
            assert_eq!(pixel_len(format, 0x8363), (components == 3).then_some(2));
            assert_eq!(pixel_len(format, 0x8034), (components == 4).then_some(2));
        }
        assert_eq!((pixel_len(0x83f1, 0x1401), pixel_len(0x1908, 0)), (None, None));
    }
}
