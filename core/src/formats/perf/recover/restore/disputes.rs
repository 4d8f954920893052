//! What differs between attrs and their copies after all corrections.

use super::Dispute;
use super::attr_copies::AttrCopies;

/// Returns what differs between the attrs and EVENT_DESC.
pub(super) fn find(copies: Option<AttrCopies<'_>>) -> Vec<Dispute> {
    let Some(copies) = copies else { return Vec::new() };
    let sections = copies.id_sections().unwrap_or_default();
    let mut disputes = Vec::new();
    for (index, (attr, copy)) in copies.attrs.iter().zip(&copies.described).enumerate() {
        disputes.extend(copies.differing(true, (*attr, copy.attr), copies.size));
        let ids = sections.get(index).filter(|ids| ids.size == copy.ids.size);
        let places = ids.map(|ids| (ids.offset, copy.ids.offset));
        disputes.extend(
            places.into_iter().flat_map(|places| copies.differing(false, places, copy.ids.size)),
        );
    }
    disputes
}

impl AttrCopies<'_> {
    /// Returns the words in which `len` bytes differ from their copy.
    fn differing(&self, is_attr: bool, (at, copy_at): (u64, u64), len: u64) -> Vec<Dispute> {
        let read = |start: u64| self.peek.bytes(start, start.saturating_add(len));
        if read(at) == read(copy_at) {
            return Vec::new();
        }
        let word = |offset: u64| {
            let (at, copy_at) = (at.saturating_add(offset), copy_at.saturating_add(offset));
            let (found, copy) = (self.peek.u64(at)?, self.peek.u64(copy_at)?);
            (found != copy).then_some(Dispute { is_attr, at, found, copy_at, copy })
        };
        (0..len >> 3).filter_map(|number| word(number << 3)).collect()
    }
}
