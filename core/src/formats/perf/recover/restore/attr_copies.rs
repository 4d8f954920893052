//! The attrs of a recording and their copies, which `events`, `ids` and `piped` compare.

use std::cell::Cell;

use super::described::Described;
use super::peek::Peek;
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::decode::recording::{RecordFile, Recording};

/// Most attrs that are compared.
pub(super) const MOST_ATTRS: u64 = 4096;
/// Most ids that are compared, and with which samples are read: 512 events on each of 128 CPUs.
/// Each takes some hundred bytes if all copies differ, and many events may point to the same ones.
pub(super) const MOST_IDS: u64 = 1 << 16;
/// Records that are read as evidence.
pub(super) const MOST_RECORDS: usize = 20_000;
/// Records, attrs and ids that are read as evidence for all attrs together: less than a second.
/// Each attr that differs from its copy takes up to ten readings of the records.
pub(super) const MOST_EVIDENCE: u64 = 1 << 22;

/// The attrs, EVENT_DESC and ID_INDEX of a recording.
pub(super) struct AttrCopies<'a> {
    pub(super) file: &'a RecordFile<'a>,
    pub(super) peek: Peek<'a>,
    /// Place of the records.
    pub(super) data: Section,
    pub(super) home: AttrHome<'a>,
    /// Size of an attr.
    pub(super) size: u64,
    /// Offsets of the attrs.
    pub(super) attrs: Vec<u64>,
    pub(super) described: Vec<Described>,
    /// Whether no bytes are missing from EVENT_DESC or were added to it: the file ends with its
    /// last section, or the records of a pipe have the sizes that EVENT_DESC gives.
    pub(super) is_tight: bool,
    /// What may still be read as evidence for attrs.
    pub(super) evidence_left: Cell<u64>,
}

/// Where a recording stores its attrs.
pub(super) enum AttrHome<'a> {
    /// In the attr table.
    Table(&'a Recording<'a>),
    /// In the HEADER_ATTR records of a pipe.
    Pipe(PipeAttrs),
}

/// The parts that a pipe stores in records instead of sections.
pub(super) struct PipeAttrs {
    /// The ids of each attr.
    pub(super) ids: Vec<Section>,
    /// Offset of `attr_size` in EVENT_DESC.
    pub(super) size_at: u64,
    /// The feature CMDLINE.
    pub(super) command_line: Option<Section>,
}
