//! The search for the next valid item after damage.
//!
//! ```text
//!   valid items | damage .......... x ............... | valid items
//!               ^ the search begins ^ candidate: the   ^ found: n items follow
//!                                     chain is broken    one another from here
//! ```
//!
//! A format supplies two functions. `may_begin` looks at the first bytes of a place and rejects
//! most places at once. `prove` looks closer, usually with [`follow`]: a place is believed if
//! several valid items follow one another from it, because single items occur in random bytes.
//!
//! Each place is tried once and each trial is bounded, so the cost is linear in the bytes searched.
//! A [`Budget`] bounds the searches of one recording together: without it, a recording with many
//! damaged places could be searched to its end for each of them.
//!
//! A toy format, whose items begin with a length byte from 2 to 9 that counts itself, is searched
//! so (the tests below run this example):
//!
//! ```text
//! let search = Search { source: &source, area: 0..source.len(), stride: 1, header_len: 1 };
//! let found = search.find(
//!     &mut budget,
//!     |header| matches!(header, [2..=9]),
//!     |at, budget| follow(at, 3, (), budget, step),
//! );
//! ```

use std::ops::Range;

use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::kit::steps;

/// Places that are read at a time: few at first, because most searches end soon, and a window that
/// lies in many pieces is copied; then twice as many each time.
const FIRST_PLACES: u64 = 256;
const WINDOW_PLACES: u64 = 64 << 10;

/// The work that searches may still do.
///
/// One budget serves all searches of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    places: u64,
    steps: u64,
}

impl Budget {
    /// A budget of `places` whose first bytes are looked at (with a stride of 1, that many bytes),
    /// and of `steps` for closer looks, where decoding one item is one step.
    pub const fn new(places: u64, steps: u64) -> Self {
        Self { places, steps }
    }

    /// Returns whether places or steps are used up.
    pub const fn is_spent(&self) -> bool {
        self.places == 0 || self.steps == 0
    }

    /// Takes `steps`, or as many as are left. Returns `false` if none were left before.
    pub const fn spend(&mut self, steps: u64) -> bool {
        let had_steps = self.steps > 0;
        self.steps = self.steps.saturating_sub(steps);
        had_steps
    }
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resync {
    /// Valid items begin at this offset.
    Found(u64),
    /// No place of the area was proven.
    NotFound,
    /// The budget is spent; places from this offset on were not tried.
    LimitReached(u64),
}

impl Resync {
    /// Returns the offset at which valid items begin, if one was found.
    pub const fn found(self) -> Option<u64> {
        match self {
            Self::Found(at) => Some(at),
            Self::NotFound | Self::LimitReached(_) => None,
        }
    }
}

/// The result of a closer look at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Valid items begin here.
    Valid,
    /// They do not.
    Invalid,
}

/// One step of a chain of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<S> {
    /// A valid item, the offset after it, and what the next step has to know of it.
    Item {
        /// Offset after the item.
        end: u64,
        /// State for the next step, for example the timestamp of the item.
        state: S,
    },
    /// The chain ends as it should: at a last item, or at the end of the area.
    End,
    /// No valid item begins here.
    Invalid,
}

/// Proves a place by `items` valid items that follow one another from `at`.
///
/// `step` gets the state of the item before (first `state`) and the offset of the item. A chain
/// that reaches [`Step::End`] needs no further items. Each item costs one step of the budget; if
/// the budget ends, the place is not proven.
pub fn follow<S>(
    at: u64,
    items: u64,
    state: S,
    budget: &mut Budget,
    mut step: impl FnMut(S, u64) -> Step<S>,
) -> Proof {
    let (mut at, mut state) = (at, state);
    for _ in 0..items {
        if !budget.spend(1) {
            return Proof::Invalid;
        }
        match step(state, at) {
            Step::Item { end, state: next } if end > at => (at, state) = (end, next),
            Step::End => return Proof::Valid,
            Step::Item { .. } | Step::Invalid => return Proof::Invalid,
        }
    }
    Proof::Valid
}

/// A search: where, and at which places.
#[derive(Clone, Debug)]
pub struct Search<'s, 'a> {
    /// The bytes to search.
    pub source: &'s Source<'a>,
    /// The offsets that may be found; a place may need bytes after the end of the area.
    pub area: Range<u64>,
    /// Distance of two places in bytes: 1, or the alignment of the items.
    pub stride: u64,
    /// Bytes of a place that `may_begin` gets. A place with fewer bytes is not tried.
    pub header_len: usize,
}

impl Search<'_, '_> {
    /// Returns the first place whose header passes `may_begin` and which `prove` finds valid.
    ///
    /// `prove` gets the offset and the budget, from which it takes its steps.
    pub fn find(
        &self,
        budget: &mut Budget,
        mut may_begin: impl FnMut(&[u8]) -> bool,
        mut prove: impl FnMut(u64, &mut Budget) -> Proof,
    ) -> Resync {
        let stride = self.stride.max(1);
        let end = self.area.end.min(self.source.len());
        let (mut at, mut most) = (self.area.start, FIRST_PLACES);
        while at < end {
            if budget.is_spent() || steps::is_spent() {
                return Resync::LimitReached(at);
            }
            let left = end.saturating_sub(at).div_ceil(stride);
            let places = left.min(most).min(budget.places);
            most = most.saturating_mul(2).min(WINDOW_PLACES);
            let last = at.saturating_add(places.saturating_sub(1).saturating_mul(stride));
            let window = self.source.read(at, last.saturating_add(to_u64(self.header_len)));
            let headers = window.windows(self.header_len.max(1)).step_by(to_usize(stride));
            for (index, _) in (0_u64..).zip(headers).filter(|(_, header)| may_begin(header)) {
                let place = at.saturating_add(index.saturating_mul(stride));
                let proof = prove(place, budget);
                let tried = index.saturating_add(1);
                steps::count(1);
                let result = match proof {
                    Proof::Valid => Resync::Found(place),
                    Proof::Invalid if budget.steps == 0 => Resync::LimitReached(place),
                    Proof::Invalid => continue,
                };
                budget.places = budget.places.saturating_sub(tried);
                return result;
            }
            budget.places = budget.places.saturating_sub(places);
            steps::count(places);
            at = at.saturating_add(places.saturating_mul(stride));
        }
        Resync::NotFound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Items of four bytes: `i`, a number that counts up, two bytes of anything.
    fn item(number: u8) -> [u8; 4] {
        [b'i', number, 0, 0]
    }

    fn search(source: &Source<'_>, stride: u64, budget: &mut Budget) -> Resync {
        let step = |before: Option<u8>, at: u64| match *source.read(at, at + 4) {
            [] => Step::End,
            [b'i', number, _, _] if before.is_none_or(|before| number == before + 1) => {
                Step::Item { end: at + 4, state: Some(number) }
            }
            _ => Step::Invalid,
        };
        let search = Search { source, area: 0..source.len(), stride, header_len: 2 };
        search.find(
            budget,
            |header| header.first() == Some(&b'i'),
            |at, budget| follow(at, 3, None, budget, step),
        )
    }

    #[test]
    fn a_single_item_is_not_believed_and_a_chain_is() {
        let chain = [item(5), item(6), item(7)].concat();
        let bytes = [&b"xx"[..], &item(1), b"y", &item(3), &item(9), &chain, b"zz"].concat();
        let mut budget = Budget::new(100, 100);
        assert_eq!(search(&Source::new(&bytes), 1, &mut budget), Resync::Found(15));
        // Two items and the end of the area are as good as three items.
        let source = Source::new(bytes.get(..23).unwrap());
        assert_eq!(search(&source, 1, &mut budget), Resync::Found(15));
        // A chain that ends inside an item is not.
        let source = Source::new(bytes.get(..22).unwrap());
        assert_eq!(search(&source, 1, &mut budget), Resync::NotFound);
    }

    #[test]
    fn the_example_of_the_documentation_runs() {
        let bytes = [0, 0, 6, 0, 3, 1, 1, 2, 1, 4, 1, 1, 1];
        let source = Source::new(&bytes);
        let step = |(), at| match *source.read(at, at + 1) {
            [len @ 2..=9] if at + u64::from(len) <= source.len() => {
                Step::Item { end: at + u64::from(len), state: () }
            }
            [] => Step::End,
            _ => Step::Invalid,
        };
        let mut budget = Budget::new(1_000, 1_000);
        let search = Search { source: &source, area: 0..source.len(), stride: 1, header_len: 1 };
        let found = search.find(
            &mut budget,
            |header| matches!(header, [2..=9]),
            |at, budget| follow(at, 3, (), budget, step),
        );
        assert_eq!(found, Resync::Found(4));
    }

    #[test]
    fn places_are_found_wherever_the_pieces_of_the_source_end() {
        let bytes = [&[0; 9][..], &item(1), &item(2), &item(3)].concat();
        for size in 1..bytes.len() {
            let source = Source::from_pieces(bytes.chunks(size));
            assert_eq!(search(&source, 1, &mut Budget::new(100, 100)), Resync::Found(9));
        }
    }

    #[test]
    fn only_multiples_of_the_stride_are_tried() {
        let bytes = [&[0; 9][..], &item(1), &item(2), &item(3)].concat();
        let source = Source::new(&bytes);
        assert_eq!(search(&source, 4, &mut Budget::new(100, 100)), Resync::NotFound);
        assert_eq!(search(&source, 3, &mut Budget::new(100, 100)), Resync::Found(9));
    }

    #[test]
    fn a_spent_budget_names_the_place_where_the_search_ended() {
        let bytes = [&[0; 90][..], &item(1), &item(2), &item(3)].concat();
        let source = Source::new(&bytes);
        let mut budget = Budget::new(60, 100);
        assert_eq!(search(&source, 1, &mut budget), Resync::LimitReached(60));
        assert!(budget.is_spent());
        let candidates = [b'i'; 50];
        let mut budget = Budget::new(100, 10);
        let found = search(&Source::new(&candidates), 1, &mut budget);
        assert!(matches!(found, Resync::LimitReached(1..10)), "{found:?}");
        assert_eq!(budget.steps, 0);
    }

    #[test]
    fn an_item_that_ends_where_it_begins_breaks_the_chain() {
        let mut budget = Budget::new(10, 10);
        let step = |(), at| Step::Item { end: at, state: () };
        assert_eq!(follow(7, 3, (), &mut budget, step), Proof::Invalid);
        assert_eq!(budget.steps, 9);
    }
}
