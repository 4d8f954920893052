//! Stretches of bytes, or of time, as blocks and flags along a strip.

use std::collections::BTreeSet;

use tracemend::Portion;

use super::class::Class;
use crate::show::markup::as_float;

/// Columns of a strip: one is some pixels of a wide window, and less than one of a narrow one.
const COLUMNS: u64 = 1_000;
/// Columns that a stretch has to fill to be seen at 400 pixels.
const SEEN: f64 = 4.0;
/// A run of columns with less than this share of a kind has its flags all along.
const DENSE: f64 = 0.25;
/// Columns from one flag of a kind to the next.
const FLAG_EVERY: usize = 10;

/// Bytes of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) class: Class,
    /// The text of a tooltip; the kind and the range if it is empty.
    pub(crate) title: String,
    /// The place in the page that it leads to.
    pub(crate) link: Option<String>,
}

impl Stretch {
    pub(crate) const fn new((start, end): (u64, u64), class: Class) -> Self {
        Self { start, end, class, title: String::new(), link: None }
    }

    fn title(&self) -> String {
        let Self { start, end, class, title, .. } = self;
        match title.is_empty() {
            true => format!("{} {start:#x}..{end:#x}", class.meaning()),
            false => title.clone(),
        }
    }
}

/// The portions of a layer.
pub(crate) fn stretches_of(portions: &[Portion]) -> impl Iterator<Item = Stretch> {
    portions
        .iter()
        .map(|one| Stretch::new((one.span.start(), one.span.end()), Class::from(one.kind)))
}

/// Stretches that do not overlap: of several at one place, the one of the last kind is drawn.
/// Meant for some hundred stretches.
pub(crate) fn paint(stretches: Vec<Stretch>) -> Vec<Stretch> {
    let (mut painted, drawn): (Vec<Stretch>, Vec<Stretch>) =
        stretches.into_iter().partition(|one| one.start >= one.end);
    let mut bounds: Vec<u64> = drawn.iter().flat_map(|one| [one.start, one.end]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    for (start, end) in bounds.iter().zip(bounds.iter().skip(1)) {
        let here = drawn.iter().filter(|one| one.start <= *start && *end <= one.end);
        // Of two of one kind, the shorter one: a long one is seen beside it.
        let first = here.max_by_key(|one| (one.class, std::cmp::Reverse(one.end - one.start)));
        if let Some(one) = first {
            let title = one.title();
            painted.push(Stretch { start: *start, end: *end, title, ..one.clone() });
        }
    }
    painted
}

/// A part of a strip, in shares of its width and height.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    pub(super) x: f64,
    pub(super) width: f64,
    pub(super) top: f64,
    pub(super) height: f64,
    pub(super) class: Class,
    pub(super) title: String,
    pub(super) link: Option<String>,
}

/// The exact place of a stretch that is too narrow to be seen, as a share of the width.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Flag {
    pub(super) x: f64,
    pub(super) class: Class,
    pub(super) title: String,
    pub(super) link: Option<String>,
}

/// A laid out strip.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Strip {
    pub(super) blocks: Vec<Block>,
    pub(super) flags: Vec<Flag>,
    pub(super) classes: BTreeSet<Class>,
}

/// The bytes of each kind in a column, and the first stretch of each.
#[derive(Clone, Default)]
struct Column {
    width: u64,
    shares: [u64; Class::ALL.len()],
    first: [Option<usize>; Class::ALL.len()],
}

impl Column {
    fn share(&self, class: Class) -> f64 {
        let bytes = self.shares.get(class.index()).copied().unwrap_or_default();
        as_float(bytes) / as_float(self.width.max(1))
    }

    fn first(&self, class: Class) -> Option<usize> {
        self.first.get(class.index()).copied().flatten()
    }

    /// The kinds with their shares in hundredths of the height, from the top.
    fn stack(&self) -> Vec<(Class, f64)> {
        let share = |class: Class| (class, (self.share(class) * 100.0).round());
        Class::ALL.into_iter().map(share).filter(|(_, share)| *share > 0.0).collect()
    }
}

impl Strip {
    /// Lays out the stretches that lie in a range, which do not overlap.
    pub(crate) fn lay(stretches: impl Iterator<Item = Stretch>, (start, end): (u64, u64)) -> Self {
        let length = end.saturating_sub(start);
        let mut strip = Self::default();
        if length == 0 {
            return strip;
        }
        let within = |one: &Stretch| one.start <= end && start <= one.end;
        let stretches: Vec<Stretch> = stretches.filter(within).collect();
        let columns = fill(&stretches, (start, length));
        strip.classes = stretches.iter().map(|one| one.class).collect();
        strip.add_blocks(&columns, &stretches);
        for class in Class::ALL.into_iter().filter(|class| class.is_flagged()) {
            strip.add_flags(class, &columns, (&stretches, start, length));
        }
        strip
    }

    /// Adds one block per kind for columns that are equal.
    fn add_blocks(&mut self, columns: &[Column], stretches: &[Stretch]) {
        let count = as_float(u64::try_from(columns.len()).unwrap_or(1));
        let stacks: Vec<Vec<(Class, f64)>> = columns.iter().map(Column::stack).collect();
        let mut at = 0;
        for run in stacks.chunk_by(|one, two| one == two) {
            let (from, first) = (at, columns.get(at));
            at += run.len();
            let x = as_float(u64::try_from(from).unwrap_or_default()) / count;
            let width = as_float(u64::try_from(run.len()).unwrap_or_default()) / count;
            let mut top = 0.0;
            for (class, share) in run.first().into_iter().flatten() {
                let stretch = first.and_then(|column| column.first(*class));
                let stretch = stretch.and_then(|index| stretches.get(index));
                let height = share / 100.0;
                self.blocks.push(Block {
                    x,
                    width,
                    top,
                    height,
                    class: *class,
                    title: stretch.map_or_else(String::new, Stretch::title),
                    link: stretch.and_then(|one| one.link.clone()),
                });
                top += height;
            }
        }
    }

    /// Flags the stretches of a kind that cannot be seen in their columns.
    fn add_flags(
        &mut self,
        class: Class,
        columns: &[Column],
        (stretches, start, length): (&[Stretch], u64, u64),
    ) {
        for run in
            columns.chunk_by(|one, two| one.first(class).is_some() == two.first(class).is_some())
        {
            let sum: f64 = run.iter().map(|column| column.share(class)).sum();
            let count = as_float(u64::try_from(run.len()).unwrap_or(1));
            if sum >= SEEN && sum >= DENSE * count {
                continue;
            }
            for column in run.iter().step_by(FLAG_EVERY) {
                let stretch = column.first(class).and_then(|index| stretches.get(index));
                let Some(stretch) = stretch else { continue };
                let offset = stretch.start.saturating_sub(start).min(length);
                let (x, title) = (as_float(offset) / as_float(length), stretch.title());
                self.flags.push(Flag { x, class, title, link: stretch.link.clone() });
            }
        }
    }
}

/// Counts the bytes of each kind by column.
fn fill(stretches: &[Stretch], (start, length): (u64, u64)) -> Vec<Column> {
    let count = COLUMNS.min(length).max(1);
    // Column `c` begins with the first byte whose place is not in an earlier one.
    let bound = |column: u64| {
        let bytes = u128::from(column).saturating_mul(u128::from(length));
        u64::try_from(bytes.div_ceil(u128::from(count))).unwrap_or(length)
    };
    let column_of = |offset: u64| {
        let place = u128::from(offset).saturating_mul(u128::from(count)) / u128::from(length);
        u64::try_from(place).unwrap_or(count).min(count - 1)
    };
    let column = |at: u64| Column { width: bound(at + 1) - bound(at), ..Column::default() };
    let mut columns: Vec<Column> = (0..count).map(column).collect();
    for (index, one) in stretches.iter().enumerate() {
        let from = one.start.saturating_sub(start).min(length);
        let to = one.end.saturating_sub(start).min(length);
        let class = one.class.index();
        for at in column_of(from)..=column_of(to.saturating_sub(1).max(from)) {
            let column = usize::try_from(at).ok().and_then(|at| columns.get_mut(at));
            let Some(column) = column else { continue };
            let bytes = to.min(bound(at + 1)).saturating_sub(from.max(bound(at)));
            if let Some(share) = column.shares.get_mut(class) {
                *share = share.saturating_add(bytes);
            }
            if let Some(first) = column.first.get_mut(class) {
                first.get_or_insert(index);
            }
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lay(stretches: &[(u64, u64, Class)], length: u64) -> Strip {
        let stretches =
            stretches.iter().map(|(start, end, class)| Stretch::new((*start, *end), *class));
        Strip::lay(stretches, (0, length))
    }

    /// The area of a kind, as a share of the strip.
    fn area(strip: &Strip, class: Class) -> f64 {
        let blocks = strip.blocks.iter().filter(|block| block.class == class);
        blocks.map(|block| block.width * block.height).sum()
    }

    #[test]
    fn areas_are_true_and_stay_inside() {
        let length = 1 << 20;
        for (start, end) in [(0, 24), (length - 1, length), (1000, 400_000), (0, length), (7, 7)] {
            let parts = [
                (0, start, Class::Record),
                (start, end, Class::Damage),
                (end, length, Class::Record),
            ];
            let strip = lay(&parts, length);
            let expected = as_float(end - start) / as_float(length);
            // Heights are rounded to hundredths of one column at each end.
            assert!((area(&strip, Class::Damage) - expected).abs() < 2.0 / 100.0 / 1000.0 * 2.0);
            for block in &strip.blocks {
                assert!(block.x >= 0.0 && block.x + block.width <= 1.0 + 1e-9, "{block:?}");
                assert!(block.top >= 0.0 && block.top + block.height <= 1.02, "{block:?}");
            }
            assert!(strip.flags.iter().all(|flag| (0.0..=1.0).contains(&flag.x)));
        }
    }

    #[test]
    fn what_overlaps_is_drawn_once_and_the_worst_on_top() {
        let stretches = [(0, 10, Class::Plain), (2, 6, Class::Error), (4, 8, Class::Warning)];
        let stretches = stretches.map(|(start, end, class)| Stretch::new((start, end), class));
        let painted =
            paint(stretches.into_iter().chain([Stretch::new((5, 5), Class::Added)]).collect());
        let parts: Vec<_> = painted.iter().map(|one| (one.start, one.end, one.class)).collect();
        let expected = [(5, 5, Class::Added), (0, 2, Class::Plain), (2, 4, Class::Error)];
        assert_eq!(parts[..3], expected);
        assert_eq!(
            parts[3..],
            [(4, 6, Class::Error), (6, 8, Class::Warning), (8, 10, Class::Plain)]
        );
        assert_eq!(painted[3].title, "error 0x2..0x6");
    }

    #[test]
    fn a_flag_stands_where_damage_is_too_narrow_to_be_seen() {
        let length = 1 << 30;
        let flags = |start: u64, end: u64| lay(&[(start, end, Class::Damage)], length).flags;
        let last = flags(length - 1, length);
        assert_eq!(last.len(), 1);
        assert!(last[0].x > 0.999_999 && last[0].x <= 1.0);
        assert_eq!(flags(0, 1)[0].x, 0.0);
        assert!(flags(length / 2, length).is_empty());
        assert_eq!(flags(5, 5).len(), 1);
        // One damaged byte in each thousandth: flags all along, but not one for each.
        let parts: Vec<_> = (0..1000)
            .map(|at| (at * (length / 1000) + 9, at * (length / 1000) + 10, Class::Damage))
            .collect();
        assert_eq!(lay(&parts, length).flags.len(), 100);
    }

    #[test]
    fn any_number_of_stretches_has_a_bounded_number_of_blocks() {
        let parts: Vec<_> = (0..200_000_u64)
            .map(|at| (at, at + 1, if at % 2 == 0 { Class::Record } else { Class::Damage }))
            .collect();
        let strip = lay(&parts, 200_000);
        assert!(strip.blocks.len() <= 4 && strip.flags.len() <= 100, "{}", strip.blocks.len());
        assert!((area(&strip, Class::Damage) - 0.5).abs() < 0.01);
        assert!(strip.flags.is_empty(), "half of each column can be seen");
    }

    #[test]
    fn a_short_file_has_a_column_for_each_byte() {
        let strip = lay(&[(0, 3, Class::Structure), (3, 4, Class::Damage)], 4);
        assert_eq!(strip.blocks.len(), 2);
        assert_eq!((strip.blocks[1].x, strip.blocks[1].width), (0.75, 0.25));
        assert_eq!(lay(&[], 0), Strip::default());
    }
}
