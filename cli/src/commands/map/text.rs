//! A map for people: a bar of the whole layer, then a line per region.

use std::fmt::Write as _;

use tracemend::words::{byte_count, plural};
use tracemend::{FileSet, FormatId, MapStep, MappedLayer, Region, RegionKind, Span};

use crate::files::paths::at_begin;

/// Damaged places of a group that are listed.
const DAMAGE_SHOWN: usize = 100;
/// Characters of a bar.
const BAR: u64 = 64;

/// The line before the layers.
pub(super) fn head(name: &str, format: FormatId, files: &FileSet<'_>) -> String {
    let count = u64::try_from(files.files().len()).unwrap_or(u64::MAX);
    let in_files =
        if count == 1 { String::new() } else { format!(" in {}", plural(count, "file")) };
    format!("{name}: {format}, {}{in_files}\n", byte_count(files.len()))
}

/// The regions that contain one byte, the outermost first.
pub(super) fn path(regions: &[Region]) -> String {
    let lines = (0..).zip(regions).map(|(depth, region)| line(region, depth));
    lines.collect()
}

/// One region, indented by its depth.
fn line(region: &Region, depth: usize) -> String {
    let Region { span, kind, name, meaning, value, .. } = region;
    let indent = "  ".repeat(depth.saturating_add(1));
    let range = format!("{indent}{:#x}..{:#x}", span.start(), span.end());
    let mut line = format!("{range:<26}{:>10}  ", span.len());
    line += match kind {
        RegionKind::Damage => "damage: ",
        RegionKind::Padding if name != "padding" => "unused: ",
        _ => "",
    };
    line += name;
    if let Some(value) = value {
        let _infallible = write!(line, " = {value}");
    }
    if let Some(meaning) = meaning {
        let _infallible = write!(line, " ({meaning})");
    }
    line + "\n"
}

/// Writes the steps of a map.
pub(super) struct Writer {
    is_unicode: bool,
    depth: usize,
    /// Bytes of the regions of the first level, which have to be those of all files.
    covered: u64,
    is_stored: bool,
    /// Damaged bytes of the layer.
    damage: Vec<Span>,
}

impl Writer {
    pub(super) fn new(is_unicode: bool) -> Self {
        Self { is_unicode, depth: 0, covered: 0, is_stored: true, damage: Vec::new() }
    }

    pub(super) fn step(&mut self, step: MapStep<'_>) -> String {
        match step {
            MapStep::Layer(layer) => {
                self.is_stored = layer.layer.is_stored();
                let portions = layer.portions.iter();
                let damage = portions.filter(|one| one.kind == RegionKind::Damage);
                self.damage = damage.map(|one| one.span).collect();
                self.layer(layer)
            }
            MapStep::Open(region) => {
                self.count(region);
                self.depth += 1;
                line(region, 0)
            }
            MapStep::Region(region) => {
                if self.depth == 0 {
                    self.count(region);
                }
                tree(region, self.depth) + &self.damage_in(region)
            }
            MapStep::Close => {
                self.depth = self.depth.saturating_sub(1);
                String::new()
            }
            _ => String::new(),
        }
    }

    /// The damage in a group whose records are not shown.
    fn damage_in(&self, region: &Region) -> String {
        if region.kind != RegionKind::Records {
            return String::new();
        }
        let within =
            |span: &&Span| region.span.start() <= span.start() && span.end() <= region.span.end();
        let found: Vec<&Span> = self.damage.iter().filter(within).collect();
        let listed = found.iter().take(DAMAGE_SHOWN).map(|span| {
            let range = format!("    {:#x}..{:#x}", span.start(), span.end());
            format!("{range:<26}{:>10}  damage\n", span.len())
        });
        let mut text: String = listed.collect();
        let more = found.len().saturating_sub(DAMAGE_SHOWN);
        if more > 0 {
            let _infallible = writeln!(text, "    and {more} more damaged places");
        }
        text
    }

    fn count(&mut self, region: &Region) {
        if self.is_stored {
            self.covered = self.covered.saturating_add(region.span.len());
        }
    }

    fn layer(&self, layer: &MappedLayer) -> String {
        let what = if layer.layer.is_stored() { "" } else { ", expanded" };
        let name = if layer.name.is_empty() { "file" } else { &at_begin(&layer.name) };
        let mut text = format!("{name}{what}: {}\n", byte_count(layer.length));
        if layer.length > 0 {
            let _infallible = writeln!(text, "  [{}]", self.bar(layer));
        }
        text
    }

    /// The kinds of bytes along a layer. In the bytes of one character, the rarest kind wins: one
    /// damaged byte of a gigabyte is seen.
    fn bar(&self, layer: &MappedLayer) -> String {
        let cells = BAR.min(layer.length).max(1);
        let mut bar = vec![RegionKind::Record; usize::try_from(cells).unwrap_or_default()];
        let cell =
            |offset: u64| u128::from(offset) * u128::from(cells) / u128::from(layer.length.max(1));
        for portion in &layer.portions {
            let first = cell(portion.span.start());
            let last = cell(portion.span.end().saturating_sub(1));
            let range = usize::try_from(first).unwrap_or(0)..=usize::try_from(last).unwrap_or(0);
            for kind in bar.get_mut(range).unwrap_or_default() {
                if rank(portion.kind) > rank(*kind) {
                    *kind = portion.kind;
                }
            }
        }
        bar.into_iter().map(|kind| self.letter(kind)).collect()
    }

    fn letter(&self, kind: RegionKind) -> char {
        match kind {
            RegionKind::Damage => '!',
            RegionKind::Padding => '.',
            RegionKind::Structure if self.is_unicode => '█',
            RegionKind::Structure => '#',
            _ if self.is_unicode => '░',
            _ => '-',
        }
    }

    /// The last lines: what the bar means, and the sum.
    pub(super) fn finish(&self, files: &FileSet<'_>) -> String {
        let letters =
            [RegionKind::Structure, RegionKind::Record, RegionKind::Padding, RegionKind::Damage];
        let key: Vec<String> = letters
            .iter()
            .map(|kind| {
                let name = if *kind == RegionKind::Padding { "unused" } else { kind.name() };
                format!("{} {name}", self.letter(*kind))
            })
            .collect();
        format!("{}\n{} of {} mapped\n", key.join("  "), self.covered, byte_count(files.len()))
    }
}

fn rank(kind: RegionKind) -> u8 {
    match kind {
        RegionKind::Damage => 3,
        RegionKind::Structure => 2,
        RegionKind::Padding => 1,
        _ => 0,
    }
}

/// A region with its children.
fn tree(region: &Region, depth: usize) -> String {
    // An explicit stack: a recording decides how deep its fields nest.
    let mut text = String::new();
    let mut left = vec![(region, depth)];
    while let Some((region, depth)) = left.pop() {
        text += &line(region, depth);
        left.extend(region.children.iter().rev().map(|child| (child, depth.saturating_add(1))));
    }
    text
}
