//! The items of an area, in the order in which they are stored.
//!
//! Every walker is an `Iterator<Item = Item<R, D>>`. The items tile the area: they are in order,
//! without gap or overlap, and cover it exactly. A walker takes the frame of a record first and
//! parses inside it, so that a malformed body costs one record.

/// One item of an area: a complete record, or bytes that are not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<R, D> {
    /// A complete record.
    Record(R),
    /// Bytes that are not a record, with the reason.
    Damage(D),
}

impl<R, D> Item<R, D> {
    /// Returns the record, or `None` for damage.
    pub fn record(self) -> Option<R> {
        match self {
            Self::Record(record) => Some(record),
            Self::Damage(_) => None,
        }
    }
}
