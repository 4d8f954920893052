//! The kinds of bytes along a file: a bar, and the parts of it enlarged.

use std::fmt::Write as _;

use tracemend::words::byte_count;
use tracemend::{FileSet, MappedLayer, Portion, RegionKind, Span};

use crate::show::picture::{self, Sheet, Stretch, Strip, stretches_of};

/// Parts of a file.
const PARTS: u64 = 16;
/// A shorter file has none.
const ENLARGED_LEAST: u64 = 4_096;
/// Bytes of a part that are shown.
const BYTES_OF_PART: u64 = 256;
/// Bytes per line.
const BYTES_PER_LINE: usize = 16;
/// Portions of a layer that are links to their places in the tree.
const LINKED: usize = 1_000;

/// The name of the place in the tree where the bytes of a span begin. It holds numbers only.
pub(super) fn anchor(span: Span) -> String {
    let layer = span.layer();
    let kind = if layer.is_stored() { "at" } else { "expanded" };
    format!("{kind}-{}-{:x}", layer.file, span.start())
}

/// The places of a layer that a bar links to, in order.
pub(super) fn linked(layer: &MappedLayer) -> impl Iterator<Item = u64> {
    layer.portions.iter().take(LINKED).map(|one| one.span.start())
}

/// The whole of a layer.
pub(super) fn draw(layer: &MappedLayer) -> String {
    draw_range(layer, (0, layer.length))
}

/// The portions of a layer in a range, the first of them as links.
fn draw_range(layer: &MappedLayer, range: (u64, u64)) -> String {
    if range.0 >= range.1 {
        return String::new();
    }
    let linked_end = layer.portions.get(LINKED).map_or(u64::MAX, |one| one.span.start());
    let stretches = layer.portions.iter().zip(stretches_of(&layer.portions));
    let stretches = stretches.map(|(portion, stretch)| {
        let is_linked = portion.span.start() < linked_end;
        Stretch { link: is_linked.then(|| anchor(portion.span)), ..stretch }
    });
    let mut sheet = Sheet::default();
    sheet.strip(Strip::lay(stretches, range));
    picture::embedded(&sheet.finish("kinds of bytes along the file; the list below has the same"))
}

/// The parts of a stored file to open: the bar of each, and its first bytes.
pub(super) fn zoom(layer: &MappedLayer, files: &FileSet<'_>) -> String {
    if layer.length < ENLARGED_LEAST || !layer.layer.is_stored() {
        return String::new();
    }
    let part = layer.length.div_ceil(PARTS);
    let mut text = format!("<details><summary>{PARTS} parts, enlarged</summary>\n<ul>\n");
    for start in (0..PARTS).map(|number| number.saturating_mul(part)) {
        let span = Span::new(layer.layer, start, start.saturating_add(part).min(layer.length));
        let is_damage = |one: &&Portion| {
            one.kind == RegionKind::Damage
                && one.span.start() < span.end()
                && span.start() < one.span.end()
        };
        let damage = match layer.portions.iter().filter(is_damage).count() {
            0 => "",
            _ => " <span class=\"is-damage\">damage</span>",
        };
        let _infallible = writeln!(
            text,
            "<li><details><summary><span class=\"range\">{span}</span> {}{damage}</summary>\n\
             {}{}</details></li>",
            byte_count(span.len()),
            draw_range(layer, (span.start(), span.end())),
            hex(files, span, BYTES_OF_PART)
        );
    }
    text + "</ul></details>\n"
}

/// The first bytes of a stored span, in hexadecimal.
pub(super) fn hex(files: &FileSet<'_>, span: Span, max: u64) -> String {
    let end = span.end().min(span.start().saturating_add(max));
    let bytes = files.bytes(span.layer().file).read(span.start(), end);
    let mut text = String::from("<pre>");
    let mut at = span.start();
    for chunk in bytes.chunks(BYTES_PER_LINE) {
        let _infallible = write!(text, "{at:8x} ");
        chunk.iter().for_each(|byte| {
            let _infallible = write!(text, " {byte:02x}");
        });
        text.push('\n');
        at = at.saturating_add(u64::try_from(chunk.len()).unwrap_or(0));
    }
    if end < span.end() {
        let _infallible = writeln!(text, "{} more", byte_count(span.end().saturating_sub(end)));
    }
    text + "</pre>"
}
