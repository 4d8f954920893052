//! The elements of a block without their bytes, and whether a writer makes them at a place (the
//! rules are in `regular.rs`).

/// Bytes that are compressed by themselves.
pub(super) const FRAGMENT: usize = 1 << 16;

/// An element without its bytes.
#[derive(Clone, Copy)]
pub(super) struct Element {
    pub(super) end: usize,
    /// Bytes that it expands to.
    pub(super) len: usize,
    /// `None` for a literal.
    pub(super) distance: Option<usize>,
    /// Whether it is a copy of 4 to 11 bytes, with a distance of 11 bits.
    pub(super) is_near: bool,
}

impl Element {
    /// Whether a flipped bit in the length of a copy moved the element after it from `place` to
    /// `moved`.
    pub(super) fn may_have_len(self, moved: usize, place: usize) -> bool {
        let Some(len) = self.len.saturating_add(place).checked_sub(moved) else { return false };
        let (least, most) = if self.is_near { (4, 11) } else { (1, 64) };
        let bits = self.len.wrapping_sub(least) ^ len.wrapping_sub(least);
        self.distance.is_some() && (least..=most).contains(&len) && bits.is_power_of_two()
    }

    /// Whether the next element shows that a copy, whose bytes end at a place, could not go on.
    pub(super) fn is_ended_by(self, next: Self, end: usize) -> bool {
        next.distance != self.distance && !end.is_multiple_of(FRAGMENT)
    }
}

/// Returns the element at an offset; `None` if the block ends before it does.
pub(super) fn element(block: &[u8], at: usize) -> Option<Element> {
    let one = head_of(block.get(at..)?)?;
    let end = at.checked_add(one.end).filter(|end| *end <= block.len())?;
    Some(Element { end, ..one })
}

/// Returns the element whose first bytes these are, and which begins at 0.
pub(super) fn head_of(bytes: &[u8]) -> Option<Element> {
    let number = |count: usize| {
        let bytes = bytes.get(1..count.checked_add(1)?)?;
        Some(bytes.iter().rev().fold(0, |sum: usize, byte| sum << 8 | usize::from(*byte)))
    };
    let tag = *bytes.first()?;
    let high = usize::from(tag >> 2);
    let (len, distance, end) = match tag & 3 {
        0 => {
            // A length of 60 to 63 is the number of bytes that hold the length, and 59.
            let extra = high.saturating_sub(59);
            let stated = if extra == 0 { high } else { number(extra)? };
            let len = stated.checked_add(1)?;
            (len, None, extra.checked_add(1)?.checked_add(len)?)
        }
        1 => {
            let distance = usize::from(tag >> 5) << 8 | number(1)?;
            ((high & 7).saturating_add(4), Some(distance), 2)
        }
        // A distance of four bytes exceeds every fragment.
        kind => {
            let extra = if kind == 2 { 2 } else { 4 };
            let distance = number(extra)?;
            let distance = if kind == 2 { distance } else { usize::MAX };
            (high.saturating_add(1), Some(distance), extra.saturating_add(1))
        }
    };
    Some(Element { end, len, distance, is_near: tag & 3 == 1 })
}

/// The facts about a block besides its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stated {
    /// Where its elements begin.
    pub(super) start: usize,
    /// Bytes that they expand to.
    pub(super) len: usize,
    /// Whether it goes on up to its end: from there places are counted.
    pub(super) has_end: bool,
}

/// An element, and the place of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) at: usize,
    pub(super) place: usize,
}

impl Placed {
    /// Returns the element after this one.
    pub(super) fn next(self, block: &[u8]) -> Option<Self> {
        let one = element(block, self.at)?;
        Some(Self { at: one.end, place: self.place.saturating_add(one.len) })
    }
}

/// Walks elements and judges each by its place.
#[derive(Clone, Debug, Default)]
pub(super) struct Judge {
    pub(super) place: usize,
    pub(super) is_after_literal: bool,
}

impl Judge {
    /// Whether a writer makes this element here.
    pub(super) fn passes(&mut self, element: Element) -> bool {
        let before = self.place.checked_rem(FRAGMENT).unwrap_or(0);
        let is_after_literal =
            std::mem::replace(&mut self.is_after_literal, element.distance.is_none());
        self.place = self.place.saturating_add(element.len);
        let fits = before.saturating_add(element.len) <= FRAGMENT;
        let follows = match element.distance {
            None => before == 0 || !is_after_literal,
            Some(distance) => (1..=before).contains(&distance),
        };
        fits && follows
    }
}
