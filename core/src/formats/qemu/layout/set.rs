//! Sets of layouts: a version word, or the events of a log, may leave several.

use crate::formats::qemu::layout::{LAYOUTS, Layout, describe_range};
use crate::kit::words::join_or;

/// Some of the layouts: bit N stands for number N of [`LAYOUTS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Layouts(u16);

impl Layouts {
    /// Returns the layouts for which `holds` is true.
    pub fn of(holds: impl Fn(usize, &Layout) -> bool) -> Self {
        let numbers = LAYOUTS.iter().enumerate().filter(|(number, one)| holds(*number, one));
        numbers.fold(Self::default(), |set, (number, _)| set.with(number))
    }

    /// Returns the set with layout `number` added.
    #[must_use]
    pub fn with(self, number: usize) -> Self {
        let bit = u32::try_from(number).ok().and_then(|number| 1_u16.checked_shl(number));
        Self(self.0 | bit.unwrap_or(0))
    }

    /// Returns the layouts of both sets.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether layout `number` is in the set.
    pub fn contains(self, number: usize) -> bool {
        Self::default().with(number).0 & self.0 != 0
    }

    /// Returns the number of layouts.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns the numbers and the layouts, oldest first.
    pub fn iter(self) -> impl Iterator<Item = (usize, &'static Layout)> {
        LAYOUTS.iter().enumerate().filter(move |(number, _)| self.contains(*number))
    }

    /// Returns the oldest layout.
    pub fn first(self) -> Option<&'static Layout> {
        self.iter().next().map(|(_, layout)| layout)
    }

    /// Returns the layouts whose writers end a log with two events that `end`, the last bytes of a
    /// log, are; all if there is none.
    #[must_use]
    pub fn that_end_with(self, end: &[u8]) -> Self {
        let fits = Self::of(|number, layout| {
            self.contains(number) && layout.pair && end.ends_with(&layout.closing())
        });
        if fits == Self::default() { self } else { fits }
    }

    /// Describes the releases of the set, adjoining layouts as one range, for example `7.2 to
    /// 11.1`.
    pub fn describe_releases(self) -> String {
        let mut ranges: Vec<(usize, [(u8, u8); 2])> = Vec::new();
        for (number, layout) in self.iter() {
            let [first, last] = layout.releases;
            match ranges.last_mut() {
                Some((end, [_, range_last])) if end.saturating_add(1) == number => {
                    (*end, *range_last) = (number, last);
                }
                _ => ranges.push((number, [first, last])),
            }
        }
        let words: Vec<String> =
            ranges.into_iter().map(|(_, releases)| describe_range(releases)).collect();
        join_or(&words)
    }

    /// Describes the set: version words with their releases, for example `0xe0200c of 7.2 to 8.0`.
    pub fn describe(self) -> String {
        let mut text = String::new();
        let mut version = None;
        for (_, layout) in self.iter() {
            if version == Some(layout.version) {
                text += &format!(" or {}", layout.describe_releases());
                continue;
            }
            if version.is_some() {
                text += ", ";
            }
            text += &format!("{:#x} of {}", layout.version, layout.describe_releases());
            version = Some(layout.version);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_that_is_added_twice_is_in_the_set() {
        let set = Layouts::default().with(3).with(3).with(99);
        assert!(set.contains(3) && !set.contains(4) && !set.contains(99));
    }
}
