//! The change of one file by a repair: an ordered list of kept ranges and inserted bytes.
//!
//! The target is the concatenation of the operations. Bytes between two kept ranges are dropped.
//! Two patches compose into one of the first one's source, so the result of a repair is a single
//! patch of the user's file, after any number of rounds.

use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::words::byte_count;
use crate::model::edit::Edit;

/// One operation of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// The bytes `start..end` of the source.
    Keep {
        /// Offset of the first byte.
        start: u64,
        /// Offset after the last byte.
        end: u64,
    },
    /// Bytes that the source does not have at this position.
    Insert(Vec<u8>),
}

impl Op {
    /// Returns the number of bytes in the target.
    pub fn len(&self) -> u64 {
        match self {
            Self::Keep { start, end } => end.saturating_sub(*start),
            Self::Insert(bytes) => to_u64(bytes.len()),
        }
    }

    /// Returns whether the operation adds no byte to the target; never so in a patch.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Edits that cannot be applied together, or not to this file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchError {
    /// The span of the edit.
    pub span: Span,
    /// Length of the file in bytes.
    pub source_len: u64,
}

impl std::fmt::Display for PatchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "overlapping or out of range edit: {} in a file of {}",
            self.span,
            byte_count(self.source_len)
        )
    }
}

impl std::error::Error for PatchError {}

/// Operations over a source of known length.
///
/// A patch is canonical: kept ranges ascend and are not empty, two of them adjoin only with an
/// insert between them, and inserts are neither empty nor adjacent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    source_len: u64,
    ops: Vec<Op>,
    /// The file does not exist before the patch.
    source_absent: bool,
    /// The file does not exist after the patch.
    target_absent: bool,
    /// The new name of the file, if the patch renames it.
    renamed: Option<String>,
}

impl Patch {
    /// Creates the patch that changes nothing.
    pub fn identity(source_len: u64) -> Self {
        let mut patch = Self::empty(source_len);
        patch.keep(0, source_len);
        patch
    }

    const fn empty(source_len: u64) -> Self {
        let ops = Vec::new();
        Self { source_len, ops, source_absent: false, target_absent: false, renamed: None }
    }

    /// Creates the patch that leaves `source` as it is, or absent.
    pub fn unchanged(source: &Source<'_>) -> Self {
        let absent = source.is_absent();
        Self { source_absent: absent, target_absent: absent, ..Self::identity(source.len()) }
    }

    /// Sets whether the file is absent before and after the patch; only an empty file can be.
    #[must_use]
    pub fn between(mut self, source_absent: bool, target_absent: bool) -> Self {
        self.source_absent = source_absent && self.source_len == 0;
        self.target_absent = target_absent && self.target_len() == 0;
        self
    }

    /// Sets the new name of the file.
    #[must_use]
    pub fn under(mut self, name: Option<String>) -> Self {
        self.renamed = name;
        self
    }

    /// Returns the new name of the file, if the patch renames it.
    pub fn renamed(&self) -> Option<&str> {
        self.renamed.as_deref()
    }

    /// Returns whether the file does not exist before the patch.
    pub const fn source_absent(&self) -> bool {
        self.source_absent
    }

    /// Returns whether the file does not exist after the patch.
    pub const fn target_absent(&self) -> bool {
        self.target_absent
    }

    /// Creates the patch of `edits` of a file of `source_len` bytes.
    ///
    /// # Errors
    ///
    /// If two edits overlap, are out of order, or one lies outside the file. Two inserts at the
    /// same position overlap, because their order is undefined.
    pub fn from_edits(source_len: u64, edits: &[Edit]) -> Result<Self, PatchError> {
        let mut patch = Self::empty(source_len);
        let mut at = 0;
        let mut last: Option<Span> = None;
        for edit in edits {
            let span = edit.span;
            let same_place = last.is_some_and(|last| last.start == span.start);
            if same_place || span.start < at || span.end > source_len || !span.layer.is_stored() {
                return Err(PatchError { span, source_len });
            }
            patch.keep(at, span.start);
            patch.insert(&edit.insert);
            at = span.end;
            last = Some(span);
        }
        patch.keep(at, source_len);
        Ok(patch)
    }

    fn keep(&mut self, start: u64, end: u64) {
        if end <= start {
            return;
        }
        match self.ops.last_mut() {
            Some(Op::Keep { end: last, .. }) if *last == start => *last = end,
            _ => self.ops.push(Op::Keep { start, end }),
        }
    }

    fn insert(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        match self.ops.last_mut() {
            Some(Op::Insert(last)) => last.extend_from_slice(bytes),
            _ => self.ops.push(Op::Insert(bytes.to_vec())),
        }
    }

    /// Returns the length of the source in bytes.
    pub const fn source_len(&self) -> u64 {
        self.source_len
    }

    /// Returns the length of the target in bytes.
    pub fn target_len(&self) -> u64 {
        self.kept().saturating_add(self.inserted())
    }

    /// Returns the number of source bytes that are kept.
    pub fn kept(&self) -> u64 {
        self.ops.iter().fold(0, |sum: u64, op| match op {
            Op::Keep { start, end } => sum.saturating_add(end.saturating_sub(*start)),
            Op::Insert(_) => sum,
        })
    }

    /// Returns the number of source bytes that are dropped.
    pub fn dropped(&self) -> u64 {
        self.source_len.saturating_sub(self.kept())
    }

    /// Returns the number of bytes that are inserted.
    pub fn inserted(&self) -> u64 {
        self.ops.iter().fold(0, |sum: u64, op| match op {
            Op::Keep { .. } => sum,
            Op::Insert(bytes) => sum.saturating_add(to_u64(bytes.len())),
        })
    }

    /// Returns whether the target equals the source.
    pub fn is_identity(&self) -> bool {
        self.source_absent == self.target_absent
            && self.renamed.is_none()
            && self.ops == Self::identity(self.source_len).ops
    }

    /// Returns the operations in order.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Returns the target as a source, without a copy.
    pub fn view<'a>(&'a self, source: &Source<'a>) -> Source<'a> {
        if self.target_absent {
            return Source::absent();
        }
        let mut pieces: Vec<&'a [u8]> = Vec::new();
        for op in &self.ops {
            match op {
                Op::Keep { start, end } => pieces.extend(source.slices(*start, *end)),
                Op::Insert(bytes) => pieces.push(bytes),
            }
        }
        Source::from_pieces(pieces).watched_as(source)
    }

    /// Returns the map from offsets of the target to offsets of the source.
    pub fn source_offsets(&self) -> SourceOffsets {
        let (mut at, mut kept_to) = (0_u64, 0_u64);
        let mut parts = Vec::with_capacity(self.ops.len().saturating_add(1));
        for op in &self.ops {
            let (source, is_kept) = match op {
                Op::Keep { start, .. } => (*start, true),
                Op::Insert(_) => (kept_to, false),
            };
            parts.push(OffsetPart { target: at, source, is_kept });
            at = at.saturating_add(op.len());
            if let Op::Keep { end, .. } = op {
                kept_to = *end;
            }
        }
        // After the last byte.
        parts.push(OffsetPart { target: at, source: kept_to, is_kept: false });
        SourceOffsets { parts }
    }

    /// Composes this patch and `next` into one patch of the source of this one.
    ///
    /// `next` must be a patch of the target of this one; ranges beyond the target are left out.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        let mut composed = Self::empty(self.source_len);
        composed.ops.reserve(self.ops.len().saturating_add(next.ops.len()));
        composed.source_absent = self.source_absent;
        composed.target_absent = next.target_absent;
        composed.renamed = next.renamed.clone().or_else(|| self.renamed.clone());
        // Both patches ascend, so one pass over each is enough. `at` is the offset of the current
        // operation of this patch in its target.
        let mut mine = self.ops.iter();
        let mut current = mine.next();
        let mut at = 0_u64;
        for op in &next.ops {
            let (start, end) = match op {
                Op::Insert(bytes) => {
                    composed.insert(bytes);
                    continue;
                }
                Op::Keep { start, end } => (*start, *end),
            };
            while let Some(op) = current {
                let after = at.saturating_add(op.len());
                if after > start {
                    composed.push_part(op, start.saturating_sub(at), end.saturating_sub(at));
                }
                if after >= end {
                    break;
                }
                at = after;
                current = mine.next();
            }
        }
        composed
    }

    /// Appends the bytes `from..to` of the operation `op`, clipped to it.
    fn push_part(&mut self, op: &Op, from: u64, to: u64) {
        let (from, to) = (from.min(op.len()), to.min(op.len()));
        match op {
            Op::Keep { start, .. } => {
                self.keep(start.saturating_add(from), start.saturating_add(to))
            }
            Op::Insert(bytes) => {
                self.insert(bytes.get(to_usize(from)..to_usize(to)).unwrap_or_default());
            }
        }
    }

    /// Returns the patch as edits of file number `file`, in order; no two adjoin.
    pub fn edits(&self, file: u32) -> Vec<Edit> {
        let layer = Layer::stored(file);
        let mut edits = Vec::new();
        let mut at = 0_u64;
        let mut insert: Vec<u8> = Vec::new();
        for op in &self.ops {
            match op {
                Op::Insert(bytes) => insert.extend_from_slice(bytes),
                Op::Keep { start, end } => {
                    if *start > at || !insert.is_empty() {
                        let insert = std::mem::take(&mut insert);
                        edits.push(Edit::replace(Span::new(layer, at, *start), insert));
                    }
                    at = *end;
                }
            }
        }
        if at < self.source_len || !insert.is_empty() {
            edits.push(Edit::replace(Span::new(layer, at, self.source_len), insert));
        }
        edits
    }
}

/// A map from offsets after a patch to offsets before it; each look-up takes logarithmic time.
#[derive(Clone, Debug)]
pub struct SourceOffsets {
    /// In order of the target.
    parts: Vec<OffsetPart>,
}

/// The bytes of one operation, from an offset of the target on.
#[derive(Clone, Copy, Debug)]
struct OffsetPart {
    target: u64,
    source: u64,
    is_kept: bool,
}

impl SourceOffsets {
    /// Returns the source offset of the byte at `offset` of the target. For an inserted byte, and
    /// for the end of the target, that is the source offset after the last kept byte before it.
    pub fn of(&self, offset: u64) -> u64 {
        let after = self.parts.partition_point(|part| part.target <= offset);
        match after.checked_sub(1).and_then(|index| self.parts.get(index)) {
            Some(part) if part.is_kept => {
                part.source.saturating_add(offset.saturating_sub(part.target))
            }
            Some(part) => part.source,
            None => 0,
        }
    }

    /// Returns the source bytes of the range `span` of the target, from its first to its last byte.
    pub fn of_span(&self, span: Span) -> Span {
        let end = match span.end.checked_sub(1).filter(|_| !span.is_empty()) {
            Some(last) => self.of(last).saturating_add(u64::from(self.is_kept(last))),
            None => self.of(span.end),
        };
        Span::new(span.layer, self.of(span.start), end)
    }

    fn is_kept(&self, offset: u64) -> bool {
        let after = self.parts.partition_point(|part| part.target <= offset);
        after.checked_sub(1).and_then(|at| self.parts.get(at)).is_some_and(|part| part.is_kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(start: u64, end: u64, insert: &[u8]) -> Edit {
        Edit::replace(Span::new(Layer::stored(0), start, end), insert)
    }

    fn target(patch: &Patch, source: &[u8]) -> Vec<u8> {
        patch.view(&Source::new(source)).pieces().collect::<Vec<_>>().concat()
    }

    #[test]
    fn edits_replace_insert_and_drop() {
        let edits = [edit(0, 1, b"A"), edit(3, 3, b"++"), edit(4, 6, b"")];
        let patch = Patch::from_edits(8, &edits).unwrap();
        assert_eq!(target(&patch, b"abcdefgh"), b"Abc++dgh");
        assert_eq!((patch.kept(), patch.dropped(), patch.inserted()), (5, 3, 3));
        assert_eq!(patch.edits(0), edits);
    }

    #[test]
    fn overlapping_and_outlying_edits_are_refused() {
        for edits in [
            vec![edit(0, 4, b""), edit(3, 5, b"")],
            vec![edit(2, 2, b"a"), edit(2, 2, b"b")],
            vec![edit(4, 5, b""), edit(1, 2, b"")],
            vec![edit(7, 9, b"")],
        ] {
            assert!(Patch::from_edits(8, &edits).is_err(), "{edits:?}");
        }
    }

    #[test]
    fn two_patches_compose_into_one_over_the_first_source() {
        let source = b"0123456789";
        let first = Patch::from_edits(10, &[edit(2, 4, b"xyz"), edit(9, 10, b"")]).unwrap();
        let second = Patch::from_edits(10, &[edit(1, 3, b""), edit(4, 4, b"!"), edit(8, 10, b"?")]);
        let composed = first.then(second.as_ref().unwrap());
        let between = target(&first, source);
        assert_eq!(between, b"01xyz45678");
        assert_eq!(target(&composed, source), target(&second.unwrap(), &between));
        assert_eq!(target(&composed, source), b"0y!z456?");
        assert_eq!(first.then(&Patch::identity(10)), first);
        assert_eq!(Patch::identity(10).then(&first), first);
    }

    #[test]
    fn a_span_that_ends_in_inserted_bytes_ends_where_they_are_in_the_source() {
        let patch = Patch::from_edits(10, &[edit(2, 4, b"xyz")]).unwrap();
        let offsets = patch.source_offsets();
        let of = |start, end| {
            let span = offsets.of_span(Span::new(Layer::stored(0), start, end));
            (span.start, span.end)
        };
        assert_eq!(of(0, 2), (0, 2));
        assert_eq!(of(0, 5), (0, 2));
        assert_eq!(of(0, 6), (0, 5));
        assert_eq!(of(10, 11), (9, 10));
    }
}
