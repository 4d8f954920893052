//! The picture of one recording: its bytes and its records by time, before a repair and after it.

use tracemend::words::{byte_count, plural};
use tracemend::{
    Balance, FileSet, FormatId, MapStep, MappedLayer, Op, Options, Outcome, Patch, Repair,
};

use super::axis;
use super::class::Class;
use super::sheet::{Picture, Sheet};
use super::strip::{Stretch, Strip, stretches_of};
use super::timeline::{Damage, Timeline};
use crate::show::group::count_severities;

/// Files, and what they expand to, that have a strip.
const LAYERS_SHOWN: usize = 16;

/// The layers of a recording that are drawn.
#[derive(Default)]
struct Layers {
    shown: Vec<MappedLayer>,
    /// The damage of all of them.
    damage: Vec<Damage>,
    left_out: u64,
}

impl Layers {
    /// Reads the layers; `has_more` of a file: a repair changes it. Files with damage or changes
    /// are drawn before those without.
    fn read(
        files: &FileSet<'_>,
        options: &Options,
        is_changed: &dyn Fn(&MappedLayer) -> bool,
    ) -> Self {
        let mut layers = Self::default();
        tracemend::map(files, options, 1, &mut |step| {
            if let MapStep::Layer(layer) = step {
                layers.add(layer, is_changed);
            }
        });
        layers
    }

    fn add(&mut self, layer: &MappedLayer, is_changed: &dyn Fn(&MappedLayer) -> bool) {
        let matters = |layer: &MappedLayer| {
            let mut kinds = layer.portions.iter().map(|one| Class::from(one.kind));
            is_changed(layer) || kinds.any(|class| class == Class::Damage)
        };
        self.damage.push(Damage::of(layer));
        if self.shown.len() >= LAYERS_SHOWN {
            self.left_out = self.left_out.saturating_add(1);
            let last = self.shown.iter().rposition(|shown| !matters(shown));
            let Some(last) = last.filter(|_| matters(layer)) else { return };
            self.shown.remove(last);
        }
        self.shown.push(layer.clone());
    }
}

/// Draws a recording and what a repair makes of it.
pub(crate) fn draw_recording(
    name: &str,
    format: FormatId,
    (files, options): (&FileSet<'_>, &Options),
    repair: &Repair,
) -> Picture {
    let mut sheet = Sheet::default();
    sheet.heading(name);
    let mut verdict = count_severities(&repair.before).join(", ");
    if verdict.is_empty() {
        verdict = repair.before.verdict().name().to_string();
    }
    sheet.line(&format!("{format}, {}, {verdict}", byte_count(files.len())));
    let is_written = matches!(repair.outcome, Outcome::Repaired | Outcome::RepairedWithLoss);
    describe_repair(&mut sheet, repair, is_written);
    let patch_of = |layer: &MappedLayer| {
        let file = usize::try_from(layer.layer.file).ok()?;
        let patch = repair.patches.get(file).filter(|patch| !patch.is_identity());
        patch.filter(|_| is_written && layer.layer.is_stored())
    };
    let before = Layers::read(files, options, &|layer| patch_of(layer).is_some());
    let output = repair.output(files);
    let mut options = options.clone();
    options.format = Some(format);
    let changed = repair.patches.iter().any(|patch| !patch.is_identity());
    let after = (is_written && changed)
        .then(|| Layers::read(&output, &options, &|layer| patch_of(layer).is_some()));
    sheet.heading("bytes");
    for layer in &before.shown {
        let same = |one: &&MappedLayer| one.layer == layer.layer;
        let repaired = after.as_ref().and_then(|after| after.shown.iter().find(same));
        draw_layer(&mut sheet, layer, patch_of(layer), repaired);
    }
    if before.left_out > 0 {
        sheet.line(&format!("{} not drawn", plural(before.left_out, "further file")));
    }
    let read = |files: &FileSet<'_>, layers: &Layers| {
        Timeline::read(files, (format, &options), &layers.damage)
    };
    if let Some(timeline) = read(files, &before) {
        let repaired = after.as_ref().and_then(|after| read(&output, after));
        axis::draw(&mut sheet, format, timeline, repaired);
    } else {
        sheet.line("no record can be placed in time");
    }
    sheet.legend();
    sheet.finish(&format!("{name}: bytes and records of a {format} recording"))
}

/// One line on what a repair keeps.
fn describe_repair(sheet: &mut Sheet, repair: &Repair, is_written: bool) {
    let Balance { kept, replaced, dropped, inserted } = Balance::of(&repair.patches);
    let counts = format!("keeps {}", byte_count(kept));
    let more: String = [(replaced, "replaces"), (dropped, "drops"), (inserted, "adds")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, verb)| format!(", {verb} {count}"))
        .collect();
    sheet.line(&match repair.outcome {
        _ if is_written => format!("a repair {counts}{more}"),
        Outcome::Clean => "nothing to repair".to_string(),
        Outcome::Incomplete => "a repair reaches a limit".to_string(),
        _ => "a repair writes nothing: errors would be left".to_string(),
    });
}

/// The strips of one layer, on one scale: before, what becomes of each byte, and after.
fn draw_layer(
    sheet: &mut Sheet,
    layer: &MappedLayer,
    patch: Option<&Patch>,
    after: Option<&MappedLayer>,
) {
    // A file that a repair leaves alone is drawn once.
    let after = after.filter(|after| patch.is_some() || after.portions != layer.portions);
    let what = if layer.layer.is_stored() { "" } else { ", expanded" };
    let name = if layer.name.is_empty() { "file" } else { &layer.name };
    let before = if after.is_some() { "before: " } else { "" };
    sheet.line(&format!("{before}{name}{what}, {}", byte_count(layer.length)));
    let length = layer.length.max(after.map_or(0, |after| after.length));
    sheet.strip(Strip::lay(stretches_of(&layer.portions), (0, length)));
    if let Some(patch) = patch {
        sheet.line("a repair keeps and drops");
        sheet.strip(Strip::lay(changes(patch).into_iter(), (0, length)));
    }
    if let Some(after) = after {
        sheet.line(&format!("after: {}", byte_count(after.length)));
        sheet.strip(Strip::lay(stretches_of(&after.portions), (0, length)));
    }
    sheet.ends("0x0".to_string(), format!("{length:#x}"));
}

/// The uses that a repair has for the bytes of a file. Added bytes have a place and no length.
fn changes(patch: &Patch) -> Vec<Stretch> {
    let (mut stretches, mut at, mut inserted) = (Vec::new(), 0, 0_u64);
    let end = Op::Keep { start: patch.source_len(), end: patch.source_len() };
    for op in patch.ops().iter().chain([&end]) {
        let Op::Keep { start, end } = op else {
            inserted = op.len();
            continue;
        };
        let gone = start.saturating_sub(at);
        let replaced = inserted >= gone;
        if gone > 0 {
            let class = if replaced { Class::Replaced } else { Class::Dropped };
            stretches.push(Stretch::new((at, *start), class));
        }
        let added = if replaced { inserted.saturating_sub(gone) } else { inserted };
        if added > 0 {
            let title = format!("{} added at {start:#x}", byte_count(added));
            stretches.push(Stretch { title, ..Stretch::new((*start, *start), Class::Added) });
        }
        if start < end {
            stretches.push(Stretch::new((*start, *end), Class::Kept));
        }
        (at, inserted) = (*end, 0);
    }
    stretches
}

#[cfg(test)]
mod tests {
    use tracemend::{Edit, Layer, Span};

    use super::*;

    #[test]
    fn each_byte_of_a_file_is_kept_replaced_or_dropped() {
        let edit =
            |start, end, new: &[u8]| Edit::replace(Span::new(Layer::stored(0), start, end), new);
        let edits =
            [edit(0, 4, b"abcd"), edit(10, 12, b"abcde"), edit(20, 24, b""), edit(98, 100, b"x")];
        let patch = Patch::from_edits(100, &edits).unwrap();
        let changes = changes(&patch);
        let balance = Balance::of([&patch]);
        let sum = |class: Class| {
            let found = changes.iter().filter(|one| one.class == class);
            found.map(|one| one.end - one.start).sum::<u64>()
        };
        let sums = [Class::Kept, Class::Replaced, Class::Dropped].map(sum);
        assert_eq!(sums, [balance.kept, balance.replaced, balance.dropped]);
        let added = changes.iter().filter(|one| one.class == Class::Added);
        assert_eq!(added.map(|one| one.start).collect::<Vec<_>>(), [12, 100]);
        assert!(changes.iter().zip(changes.iter().skip(1)).all(|(one, two)| one.end == two.start));
    }
}
