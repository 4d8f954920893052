//! Faults of the stored units that lose nothing of the stream.

use super::TraceCheck;
use crate::formats::apitrace::decode::damage::UnitFault;
use crate::formats::apitrace::decode::places::Place;
use crate::formats::apitrace::expand::{Container, Fault, encode_first_header, stored};
use crate::formats::apitrace::layout::{CHUNK_EXPANDED, CHUNK_HEADER_LEN, GZIP_HEADER, ZSTD_MAGIC};
use crate::formats::apitrace::options;
use crate::formats::apitrace::repair::fixes::FixPlan;
use crate::formats::apitrace::rules;
use crate::kit::holes::describe_trailing;
use crate::kit::layer::Segment;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::words::{byte_count, plural};
use crate::model::Finding;
use crate::model::edit::{Edit, Fix, Safety};

/// Bytes of a gzip header that do not depend on the file: magic, method and flags.
const GZIP_FIXED_LEN: usize = 4;

/// Drops a span of the file.
fn drop_plan(safety: Safety, span: Span) -> FixPlan {
    let summary = format!("drop {}", byte_count(span.len()));
    FixPlan::of_file(safety, summary, Edit::drop(span))
}

impl TraceCheck<'_, '_> {
    pub(super) fn check_units(&mut self) {
        for UnitFault { fault, segment } in std::mem::take(&mut self.trace.faults.units) {
            let span = segment.stored;
            match fault {
                Fault::TooLarge => self.add_too_large(segment),
                Fault::Empty => {
                    let unit = self.trace.container.unit();
                    let message = format!("empty {unit}: it holds no byte of the stream");
                    let finding = Finding::new(&rules::CHUNK_EMPTY, span, "chunk", message);
                    let plan = drop_plan(Safety::Exact, span);
                    self.add_with_plan(finding, self.witness_next_chunk(plan, span.end));
                }
                Fault::Zeros | Fault::Trailing => {
                    let place = format!("after the last {}", self.trace.container.unit());
                    let message =
                        describe_trailing(span.len(), matches!(fault, Fault::Zeros), &place);
                    let finding = Finding::new(&rules::TRAILING_BYTES, span, "file", message);
                    self.add_with_plan(finding, drop_plan(Safety::Lossy, span));
                }
                Fault::Length { stated, found, is_proven, .. } => {
                    let safety = if is_proven { Safety::Exact } else { Safety::Lossy };
                    self.add_wrong_length(span, (stated, found), safety);
                }
                Fault::Checksum { what, stated, found } => {
                    self.add_checksum(span, what, stated, found);
                }
                Fault::SeekTable { stated, found } => {
                    let message = format!(
                        "seek table lists {}, but the file has {found}",
                        plural(stated, "frame")
                    );
                    let rule = &rules::SEEK_TABLE_WRONG;
                    let finding = Finding::new(rule, span, "seek_table", message);
                    let edit = self.editor.rebuild_seek_table(span);
                    let summary = "rebuild the seek table from the frames".to_string();
                    let frames = stored(0, span.start);
                    let plan = FixPlan::of_file(Safety::Exact, summary, edit)
                        .witness(frames, "the frames that the table lists");
                    self.add_with_plan(finding, plan);
                }
                Fault::Header { data } => self.add_header(span, data),
                Fault::SecondTrace => self.add_second_trace(span),
                // These lose bytes of the stream: the damage is the finding.
                Fault::Truncated { .. }
                | Fault::Corrupt { .. }
                | Fault::SearchEnded
                | Fault::Limit { .. } => {}
            }
        }
    }

    /// Adds the header of the chunk at `at`, or the end of the chunks before it, as a witness.
    fn witness_next_chunk(&self, plan: FixPlan, at: u64) -> FixPlan {
        let next = stored(at, at.saturating_add(CHUNK_HEADER_LEN).min(self.trace.file_len));
        plan.witness(next, "the length of the next chunk, which follows")
    }

    fn add_too_large(&mut self, segment: Segment) {
        let (span, expanded) = (segment.stored, segment.expanded.len());
        let message = format!(
            "{} of {} expands to {}, expected at most {CHUNK_EXPANDED}",
            self.trace.container.unit(),
            byte_count(span.len().saturating_sub(CHUNK_HEADER_LEN)),
            byte_count(expanded)
        );
        let finding = Finding::new(&rules::CHUNK_TOO_LARGE, span, "chunk", message);
        let chunks = plural(expanded.div_ceil(CHUNK_EXPANDED).max(1), "chunk");
        let start = segment.expanded.start;
        let place = Place { head: segment, tail: segment };
        let edit = self.editor.edit(start, start, Vec::new(), place);
        let summary = format!("rewrite it as {chunks} of at most 1 MiB");
        self.add_with_plan(finding, FixPlan::of_stream(Safety::Synthetic, summary, [edit]));
    }

    fn add_wrong_length(&mut self, span: Span, (stated, found): (u64, u64), safety: Safety) {
        let message =
            format!("compressed_length is {stated}, but the next chunk begins after {found} bytes");
        let field = Span::sized(span.layer, span.start, CHUNK_HEADER_LEN);
        let rule = &rules::CHUNK_LENGTH_WRONG;
        let finding = Finding::new(rule, field, "chunk.compressed_length", message);
        let summary =
            format!("set compressed_length to {found}, with which the chunk decodes completely");
        let found = u32::try_from(found).unwrap_or(u32::MAX);
        let edit = Edit::replace(field, found.to_le_bytes());
        let block = Span::new(span.layer, field.end, span.end);
        let plan = FixPlan::of_file(safety, summary, edit)
            .witness(block, "the block, which decodes completely with this length");
        self.add_with_plan(finding, self.witness_next_chunk(plan, span.end));
    }

    fn add_checksum(&mut self, span: Span, what: &str, stated: u64, found: u64) {
        let message = format!("{what} is {stated:#x}, but the expanded bytes have {found:#x}");
        let (len, name) = match self.trace.container {
            Container::Zstd => (4, "zstd"),
            _ => (8, "gzip"),
        };
        let at = Span::new(span.layer, span.end.saturating_sub(len), span.end);
        let (crc, length) = (
            Span::sized(at.layer, at.start, 4),
            Span::sized(at.layer, at.start.saturating_add(4), 4),
        );
        let finding = Finding::new(&rules::CHECKSUM_WRONG, at, name, message);
        // A damaged byte of the stream changes about half of the bits of a checksum.
        let is_one_byte =
            |bits: u64| bits.to_le_bytes().iter().filter(|byte| **byte != 0).count() <= 1;
        let field = match what {
            "length" => length,
            _ if is_one_byte(stated ^ found) => crc,
            _ => {
                self.add_damaged_stream(finding);
                return;
            }
        };
        let value = u32::try_from(found).unwrap_or_default();
        let summary = format!("set {what} to {found:#x}");
        let edit = Edit::replace(field, value.to_le_bytes());
        // Where bytes follow, some may be those of the field, moved by others that were added.
        let is_last = span.end == self.trace.file_len;
        let safety = if is_last { Safety::Exact } else { Safety::Lossy };
        let plan = FixPlan::of_file(safety, summary, edit)
            .witness(Span::new(at.layer, span.start, at.start), "the stream, which has this value");
        self.add_with_plan(finding, plan);
    }

    /// Adds a checksum that shows damage which cannot be found.
    fn add_damaged_stream(&mut self, finding: Finding) {
        let note = "the trace decodes completely; the checksum does not show which calls are wrong";
        let finding = finding.note(note);
        let Some((edit, anew)) = self.editor.store_in_chunks() else {
            self.add(finding.fix(Fix::manual("a new checksum would hide the damage")));
            return;
        };
        let summary = "store the stream in snappy chunks, which have no checksum".to_string();
        let mut plan = FixPlan::of_file(Safety::Lossy, summary, edit);
        plan.anew = anew;
        self.add_with_plan(finding, plan);
    }

    /// Adds an invalid header before the data at `data`; `span` is that of the header or unit.
    fn add_header(&mut self, span: Span, data: u64) {
        let header = Span::new(span.layer, span.start, data);
        let brotli = encode_first_header(self.trace.file_len);
        let (valid, name): (&[u8], _) = match self.trace.container {
            Container::Gzip => (&GZIP_HEADER, "gzip header"),
            Container::Brotli => (&brotli, "header of a brotli meta-block"),
            _ => (&ZSTD_MAGIC, "zstd magic"),
        };
        let message = format!("invalid {name}; the data of a trace follows at {data:#x}");
        let finding = Finding::new(&rules::MAGIC_WRONG, header, "magic", message);
        let stored = stored(data, span.end.max(self.trace.file_len));
        let fixed = valid.get(..GZIP_FIXED_LEN).unwrap_or(valid);
        let is_in_place = header.len() == to_u64(valid.len());
        // A brotli header holds a length, which is another one if bytes were lost after it.
        let is_known = is_in_place && self.trace.container != Container::Brotli;
        let (safety, bytes) = match is_in_place {
            true if is_known => (Safety::Exact, fixed),
            true => (Safety::Lossy, fixed),
            false => (Safety::Lossy, valid),
        };
        let replaced = if is_in_place { to_u64(fixed.len()) } else { header.len() };
        let edit = Edit::replace(Span::sized(span.layer, span.start, replaced), bytes);
        let summary = format!("write the {} of the {name}", byte_count(to_u64(bytes.len())));
        let plan = FixPlan::of_file(safety, summary, edit)
            .witness(stored, "the data, which is that of a trace");
        self.add_with_plan(finding, plan);
    }

    fn add_second_trace(&mut self, span: Span) {
        self.second_trace.get_or_insert(span.start);
        let len = byte_count(span.len());
        let message = format!("second trace of {len} after the first one");
        let finding = Finding::new(&rules::SECOND_TRACE, span, "file", message)
            .note("a process and its child wrote through the same file");
        let (summary, dropped) = match options::part(&self.options.choices) {
            Some(1) => (format!("keep the first trace, drop {len}"), span),
            Some(2) => {
                let first = stored(0, span.start);
                (format!("keep the second trace, drop {}", byte_count(first.len())), first)
            }
            _ => {
                let how = "keep one trace; repair again with --part 2 to get the other";
                self.add(finding.fix(Fix::manual(how).option("--part 1")));
                return;
            }
        };
        let edit = Edit::drop(dropped);
        self.add_with_plan(finding, FixPlan::of_file(Safety::Lossy, summary, edit));
    }
}
