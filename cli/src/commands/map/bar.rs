//! The kinds of bytes along a file: a bar, and the parts of it enlarged.

use std::fmt::Write as _;

use tracemend::words::byte_count;
use tracemend::{FileSet, MappedLayer, Portion, RegionKind, Span};

use crate::show::page::as_float;

/// Portions of a bar, and of the bar of a part.
const PORTIONS_SHOWN: usize = 2_000;
const PORTIONS_OF_PART: usize = 200;
/// Parts of a file.
const PARTS: u64 = 16;
/// A shorter file has none.
const ENLARGED_LEAST: u64 = 4_096;
/// Bytes of a part that are shown.
const BYTES_OF_PART: u64 = 256;
/// Bytes per line.
const BYTES_PER_LINE: usize = 16;
/// Steps along a bar.
const WIDTH: f64 = 1_000.0;

/// Portions of a layer that are links to their places in the tree.
const LINKED: usize = 1_000;
/// Portions of a bar that the tab key reaches.
const FOCUSED: usize = 20;

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
    draw_range(layer, (0, layer.length), PORTIONS_SHOWN)
}

/// The portions of a layer in a range.
fn draw_range(layer: &MappedLayer, (start, end): (u64, u64), max: usize) -> String {
    if start >= end {
        return String::new();
    }
    let scale = WIDTH / as_float(end.saturating_sub(start));
    let linked_end = layer.portions.get(LINKED).map_or(u64::MAX, |one| one.span.start());
    let mut text = format!(
        "<svg viewBox=\"0 0 {WIDTH} 24\" preserveAspectRatio=\"none\" role=\"group\" \
         aria-label=\"the kinds of bytes along the file; the list below has the same\">"
    );
    let within =
        layer.portions.iter().filter(|one| one.span.start() < end && start < one.span.end());
    // Damage is drawn last and at least as wide as a line, so that one byte of a gigabyte is seen.
    let (damage, others): (Vec<&Portion>, Vec<&Portion>) =
        within.partition(|one| one.kind == RegionKind::Damage);
    for (index, portion) in others.into_iter().chain(damage).take(max).enumerate() {
        let from = portion.span.start().max(start);
        let len = portion.span.end().min(end).saturating_sub(from);
        let (x, width) = (as_float(from.saturating_sub(start)) * scale, as_float(len) * scale);
        let kind = portion.kind.name();
        // The tab key goes through the first portions only, not through thousands before the tree.
        let focus = if index < FOCUSED { "" } else { " tabindex=\"-1\"" };
        let [link, end_of_link] = match portion.span.start() < linked_end {
            true => [format!("<a href=\"#{}\"{focus}>", anchor(portion.span)), "</a>".to_string()],
            false => [const { String::new() }; 2],
        };
        let _infallible = write!(
            text,
            "{link}<rect class=\"{kind}\" x=\"{x:.2}\" y=\"0\" width=\"{:.2}\" \
             height=\"24\"><title>{kind} {}</title></rect>{end_of_link}",
            width.max(1.0),
            portion.span
        );
    }
    text + "</svg>\n"
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
            draw_range(layer, (span.start(), span.end()), PORTIONS_OF_PART),
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
