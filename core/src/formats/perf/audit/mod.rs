//! The content of a recording for an audit: names, command lines, paths, addresses and memory.

mod addresses;
mod known;
mod maps;
mod tracing;
mod unexpanded;
mod words;

use std::collections::BTreeMap;
use std::ops::Range;

use super::decode::header::magic;
use super::layout::RECORD_HEADER;
use super::layout::features::{self, Feature};
use super::layout::part::{Holds, Part, Reader, meanings};
use crate::kit::cursor::Order;
use crate::kit::field_log::{Field, FieldValue, Noted};
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::model::Rule;
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::tile::{Tile, TileKind, Walk};
use crate::sight::filler::Filler;
use crate::sight::rules::{recipient, sender};
use crate::sight::text::is_file_path;
use crate::sight::{Auditor, Excerpt, Place, TileReader, find_byte};
use addresses::{Words, map_start};
use maps::Maps;

/// Faults that make perf crash, or other readers allocate without a bound.
pub(super) const HAZARDS: &[&str] = &["PD0004", "PD0010", "PD0019", "PD0023", "PD0024", "PD2006"];

/// First address of the kernel on machines of 64 bits.
const KERNEL_FIRST: u64 = 0xffff_8000_0000_0000;
/// First of the numbers in a callchain that mark a context instead of an address.
const CONTEXT_FIRST: u64 = u64::MAX - 4094;

/// Bytes of `common_type` at the beginning of raw data: the number of the tracepoint, without which
/// perf 6.1 crashes. They stay when the data is replaced.
const TRACEPOINT_LEN: usize = 2;

/// Place of the build id in its field; in MMAP2, reserved bytes come first.
const BUILD_ID: Range<usize> = 0..20;
const MMAP2_ID: Range<usize> = 3..23;
/// Bytes of AUX data that are looked at.
const AUX_LOOKED_AT: u64 = 64;

/// Largest number of a thread (Linux: `PID_MAX_LIMIT`).
const PID_MAX: u64 = 1 << 22;

/// Whether a number of a thread is one: -1 stands for none.
const fn is_pid(value: u64) -> bool {
    value <= PID_MAX || value == u64::MAX
}

/// Texts of records that perf writes by itself, or that a user chose.
const TEXTS: &[&str] = &[
    "event_type.name",
    "event_update.name",
    "event_update.unit",
    "auxtrace_error.msg",
    "bpf_metadata.prog_name",
];

/// Passes the recording to `auditor`.
pub(super) fn audit(
    tiles: Walk<'_>,
    files: &FileSet<'_>,
    options: &Options,
    auditor: &mut Auditor<'_>,
) {
    let source = files.bytes(0);
    let order = magic(&source.read(0, 8)).map_or(Order::Little, |(order, _)| order);
    let maps = Maps::read(tiles);
    if !auditor.errors().is_empty() {
        unexpanded::audit(files, &options.limits, auditor);
    }
    let reader = TileReader {
        is_wanted: |tile| matches!(tile.kind, TileKind::Structure | TileKind::Record),
        knowledge: known::knowledge,
        is_needed: known::is_measured,
    };
    auditor.tiles(tiles, options, reader, &mut |auditor, tile, noted| {
        if tile.name == "AUXTRACE" && tile.kind == TileKind::Record {
            noted.fields.extend(audit_aux(auditor, tile, order));
        }
        let Noted { fields, stored, left_out } = &*noted;
        let feature = find_feature(tile, fields);
        // Each further field may be the name of a symbol.
        if *left_out > 0 && feature.is_some_and(has_symbols) {
            let (rule, subject) =
                (&recipient::UNCLAIMED_BYTES, (tile.name, "field after the limit"));
            auditor.add(rule, subject, *left_out, tile.span, Excerpt::None);
        }
        let section = feature.map_or(tile.name, |feature| feature.name);
        let known = feature.map_or_else(BTreeMap::new, |feature| meanings(feature.content));
        let map_start = map_start(fields).filter(|_| tile.name.starts_with("MMAP"));
        let record =
            Record { section, feature, known, stored: *stored, order, maps: &maps, map_start };
        let mut system: &[u8] = &[];
        for field in fields {
            match &field.value {
                FieldValue::Bytes(bytes) if field.label.starts_with("tracing.") => {
                    if field.label == "tracing.system" && bytes.len() > 1 {
                        system = bytes;
                    }
                    record.audit_tracing(auditor, field, bytes, system);
                }
                FieldValue::Bytes(bytes) => record.audit_bytes(auditor, field, bytes),
                FieldValue::Number(number) | FieldValue::Hex(number) => {
                    record.audit_number(auditor, field, *number);
                }
                FieldValue::Text(_) => {}
            }
        }
    });
}

/// Judges the data after an AUXTRACE record, up to the end of its tile, and returns it as a field.
/// Zeros are no data.
fn audit_aux(auditor: &mut Auditor<'_>, tile: &Tile, order: Order) -> Option<Field> {
    let (layer, start, end) = (tile.span.layer, tile.span.start, tile.span.end);
    if !layer.is_stored() {
        return None;
    }
    let source = &auditor.bytes(layer.file);
    let head = source.read(start, start.saturating_add(RECORD_HEADER));
    let size = head.last_chunk::<2>()?;
    let size = match order {
        Order::Little => u16::from_le_bytes(*size),
        Order::Big => u16::from_be_bytes(*size),
    };
    let data = Span::new(layer, start.saturating_add(size.into()).min(end), end);
    if let Some(at) = find_byte(source, data) {
        let bytes = source.read(at, end.min(at.saturating_add(AUX_LOOKED_AT)));
        let private = Place::from(Span::new(layer, at, end)).private(&bytes, Filler::Zeros);
        let excerpt = Excerpt::Bytes(&bytes, end.saturating_sub(at));
        auditor.hide(&sender::BRANCH_TRACE, (tile.name, "part of AUX data"), 1, private, excerpt);
    }
    Some(Field { label: known::AUX_DATA.into(), span: data, value: FieldValue::Bytes(Vec::new()) })
}

/// The feature of a tile, or of a record of a pipe.
fn find_feature(tile: &Tile, fields: &[Field]) -> Option<&'static Feature> {
    if tile.kind == TileKind::Structure {
        return features::named(tile.name);
    }
    let number = fields.iter().find(|field| field.label == "feature.feat_id");
    number.and_then(|field| match field.value {
        FieldValue::Number(number) => features::feature(u32::try_from(number).ok()?),
        _ => None,
    })
}

/// Whether a feature is a table of symbols.
const fn has_symbols(feature: &Feature) -> bool {
    matches!(feature.content, [Part::Read(Reader::Files | Reader::FileMessages, ..)])
}

/// The record or feature whose fields are judged.
struct Record<'m> {
    section: &'static str,
    feature: Option<&'static Feature>,
    /// The meaning of the fields of the feature.
    known: BTreeMap<&'static str, Holds>,
    stored: Option<Span>,
    order: Order,
    maps: &'m Maps,
    /// Where the map of the record begins.
    map_start: Option<u64>,
}

impl Record<'_> {
    fn place(&self, field: &Field) -> Place {
        Place::from(field.span).in_stored(self.stored)
    }

    fn audit_bytes(&self, auditor: &mut Auditor<'_>, field: &Field, bytes: &[u8]) {
        let place = self.place(field);
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        if let Some(holds) = self.known.get(field.label.as_ref()) {
            return self.audit_text(auditor, *holds, (text, bytes), place);
        }
        match field.label.as_ref() {
            "mmap.filename" | "mmap2.filename" | "build_id.filename" | "cgroup.path"
            | "file.path" | "dso.name" => {
                self.audit_path(auditor, (text, bytes), place);
            }
            "comm.comm" | "thread_map.entries[].comm" if text.is_empty() => {
                auditor.after_text(self.section, bytes, place);
            }
            "comm.comm" | "thread_map.entries[].comm" => {
                auditor.text(self.section, text, place);
                self.hide_text(auditor, (&sender::PROCESS, "process name"), (text, bytes), place);
            }
            "ksymbol.name" | "program.name" => {
                auditor.text(self.section, text, place);
                let kind = (&sender::KERNEL_SYMBOL, "kernel symbol");
                self.hide_text(auditor, kind, (text, bytes), place);
                auditor.after_text(self.section, bytes, place);
            }
            // A hash of the code, which names a program as a build id names a file.
            "program.tag" | "bpf_event.tag" => {
                let subject = (self.section, "tag of a BPF program");
                let private = place.private(bytes, Filler::Zeros);
                let excerpt = Excerpt::Bytes(bytes, field.span.len());
                auditor.hide(&sender::KERNEL_SYMBOL, subject, 1, private, excerpt);
            }
            "auxtrace_info.filter" => self.audit_filter(auditor, (field, bytes), place),
            "mmap2.build_id" | "build_id.build_id" => self.audit_build_id(auditor, field, bytes),
            label if TEXTS.contains(&label) => {
                self.audit_text(auditor, Holds::Name, (text, bytes), place);
            }
            "kernel_symbol.kallsyms" => self.audit_table(auditor, field, bytes),
            "branch_stack.nr" => {
                self.audit_list(auditor, field, bytes, ("branch_stack", Words::Branches));
            }
            "callchain.nr" | "chain.nr" | "unwinding.chain" => {
                self.audit_list(auditor, field, bytes, ("callchain", Words::Chain));
            }
            "symbol.start_vaddr" => self.see_kernel(auditor, field, bytes),
            "stack_user.size" | "regs_user.regs" | "regs_intr.regs" | "raw.size" => {
                self.audit_memory(auditor, field, bytes);
            }
            // The padding after the text of the record.
            "rest" if known::ends_with_text(self.section) => {
                if bytes.iter().any(|byte| *byte != 0) {
                    auditor.unclaimed(self.section, (bytes, field.span.len()), place);
                }
            }
            _ => self.audit_simpleperf(auditor, (field, bytes), (text, place)),
        }
    }

    /// Judges a field that only simpleperf writes.
    fn audit_simpleperf(
        &self,
        auditor: &mut Auditor<'_>,
        (field, bytes): (&Field, &[u8]),
        (text, place): (&[u8], Place),
    ) {
        let len = field.span.len();
        let excerpt = Excerpt::Bytes(bytes, len);
        match field.label.as_ref() {
            label if label.starts_with("meta_info.") => {
                self.audit_meta(auditor, label, (text, bytes), place);
            }
            "symbol.name" | "dso_symbol.name" | "debug.text" => {
                auditor.text(self.section, text, place);
                let noun = if field.label.ends_with(".name") { "symbol" } else { "value" };
                let kind = (&sender::EXTRA_METADATA, noun);
                self.hide_text(auditor, kind, (text, bytes), place);
                auditor.after_text(self.section, bytes, place);
            }
            "unwind_file.data" => {
                let private = place.private(bytes, Filler::Zeros);
                let subject = (self.section, "file of code");
                auditor.hide(&sender::MEMORY, subject, 1, private, excerpt);
            }
            // Zeros there would leave no record, once the parts are put together.
            "split.data" => {
                auditor.see(&sender::MEMORY, (self.section, "part of a record"), place, excerpt);
            }
            // A name may have the rest of a longer one behind it, before the trailer.
            "rest" if self.section == "INIT_MAP" && bytes.iter().any(|byte| *byte != 0) => {
                let subject = (self.section, "end of a record");
                auditor.see(&recipient::UNCLAIMED_BYTES, subject, place, excerpt);
            }
            "tracing_data.unread" | "record.rest" | "message.unknown" | "feature"
                if bytes.iter().any(|byte| *byte != 0) && self.is_simpleperf() =>
            {
                auditor.unclaimed(self.section, (bytes, len), place);
            }
            _ => {}
        }
    }

    /// Judges a value of META_INFO by the shape that simpleperf gives to those of its key.
    fn audit_meta(
        &self,
        auditor: &mut Auditor<'_>,
        label: &str,
        (text, bytes): (&[u8], &[u8]),
        place: Place,
    ) {
        auditor.text(self.section, text, place);
        let kind: (&'static Rule, _) = match label {
            "meta_info.system" => (&sender::SYSTEM, "description"),
            _ => (&sender::EXTRA_METADATA, "value"),
        };
        let parts: Vec<&[u8]> = match label {
            "meta_info.version" => words::version_details(text).collect(),
            "meta_info.events" => words::chosen_events(text).collect(),
            "meta_info.plain" if words::is_meta_value(text) => Vec::new(),
            "meta_info.time" if words::is_time(text) => Vec::new(),
            _ => return self.hide_text(auditor, kind, (text, bytes), place),
        };
        for part in parts.into_iter().filter(|part| *part != b"build") {
            self.hide_text(auditor, kind, (part, part), place.of_part(text, part));
        }
    }

    /// Whether only simpleperf writes the record or feature.
    fn is_simpleperf(&self) -> bool {
        self.section.starts_with("SIMPLEPERF_")
            || self.section == "HEADER_TRACING_DATA"
            || self.feature.is_some_and(Feature::is_simpleperf)
    }

    /// Judges the name of a map, a file or a control group.
    fn audit_path(&self, auditor: &mut Auditor<'_>, (text, bytes): (&[u8], &[u8]), place: Place) {
        auditor.path(self.section, text, place);
        if !text.is_empty() && !is_file_path(text) && !words::is_map(text) {
            let kind = (&sender::FILE_PATH, "file path");
            self.hide_text(auditor, kind, (text, text), place);
        }
        auditor.after_text(self.section, bytes, place);
    }

    /// Judges the filter of Intel PT: `filter 0x1100/0x40@/bin/app,stop 0x1200@/bin/app`.
    fn audit_filter(
        &self,
        auditor: &mut Auditor<'_>,
        (field, text): (&Field, &[u8]),
        place: Place,
    ) {
        let path_of = |part: &[u8]| part.iter().position(|byte| *byte == b'@');
        auditor.text(self.section, text, place);
        for part in text.split(|byte| matches!(byte, b' ' | b',')) {
            let (range, path) = path_of(part)
                .and_then(|at| part.split_at_checked(at.saturating_add(1)))
                .unwrap_or((part, &[]));
            if !path.is_empty() {
                let kind = (&sender::FILE_PATH, "file path");
                self.hide_text(auditor, kind, (path, path), place.of_part(text, path));
            }
            if !words::is_filter(range) {
                let subject = (self.section, "chosen name");
                auditor.see(&sender::CHOSEN_NAME, subject, place, Excerpt::Text(range));
            }
        }
        self.see_rest(auditor, field, text);
    }

    /// Judges a number of a record.
    fn audit_number(&self, auditor: &mut Auditor<'_>, field: &Field, number: u64) {
        match field.label.as_ref() {
            "ip" => self.audit_address(auditor, field, "sample", (number, Words::Addresses)),
            "addr" | "phys_addr" => {
                self.audit_address(auditor, field, "addr", (number, Words::Addresses));
            }
            "mmap.addr" | "mmap2.addr" | "ksymbol.addr" => {
                self.audit_address(auditor, field, self.section, (number, Words::Starts));
            }
            "mmap.pgoff" | "mmap2.pgoff" => self.audit_offset(auditor, field, number),
            "text_poke.addr" | "auxtrace_error.ip" => {
                self.audit_address(auditor, field, self.section, (number, Words::Addresses));
            }
            "callchain_deferred.ips[]" => {
                self.audit_address(auditor, field, "callchain", (number, Words::Chain));
            }
            // The address of a breakpoint, of which the attr has copies.
            "attr.bp_type" if number != 0 => {
                let subject = (self.section, "breakpoint address");
                auditor.see(&sender::ADDRESS, subject, self.place(field), Excerpt::None);
            }
            "attr.config1" | "attr.config2" | "dso_symbol.addr" => {
                self.see_kernel(auditor, field, &self.order.bytes(number));
            }
            "thread_map.entries[].pid" if !is_pid(number) => {
                let subject = (self.section, "unknown part");
                let place = self.place(field);
                auditor.see(&sender::UNKNOWN_CONTENT, subject, place, Excerpt::None);
            }
            _ => {}
        }
    }

    /// Names the part of a field that is longer than what was read of it.
    fn see_rest(&self, auditor: &mut Auditor<'_>, field: &Field, bytes: &[u8]) {
        let rest = field.span.len().saturating_sub(to_u64(bytes.len()));
        if rest > 0 {
            let place = self.place(field);
            let subject = (self.section, "unread part");
            auditor.see(&sender::UNKNOWN_CONTENT, subject, place, Excerpt::None);
        }
    }

    /// Judges a text by its meaning.
    fn audit_text(
        &self,
        auditor: &mut Auditor<'_>,
        holds: Holds,
        (text, bytes): (&[u8], &[u8]),
        place: Place,
    ) {
        let kind: Option<(&'static Rule, _)> = match holds {
            Holds::Facts => return,
            Holds::Name if words::is_harmless(text) => None,
            Holds::Name => Some((&sender::CHOSEN_NAME, "chosen name")),
            Holds::Argument => Some((&sender::COMMAND_LINE, "argument")),
            Holds::HostName => Some((&sender::HOST_NAME, "host name")),
            Holds::Machine if words::is_machine(text) => None,
            Holds::Machine | Holds::Version | Holds::Description => {
                Some((&sender::SYSTEM, "description"))
            }
        };
        match kind {
            Some(kind) if holds == Holds::Version => {
                for part in words::version_details(text) {
                    self.hide_text(auditor, kind, (part, part), place.of_part(text, part));
                }
            }
            Some(kind) => self.hide_text(auditor, kind, (text, bytes), place),
            None => {}
        }
        match holds {
            Holds::Argument => auditor.argument(self.section, text, place),
            _ => auditor.text(self.section, text, place),
        }
        auditor.after_text(self.section, bytes, place);
    }

    /// Judges a text that is private as it is.
    fn hide_text(
        &self,
        auditor: &mut Auditor<'_>,
        (rule, noun): (&'static Rule, &'static str),
        (text, bytes): (&[u8], &[u8]),
        place: Place,
    ) {
        let private = place.private(bytes, Filler::Name);
        auditor.hide(rule, (self.section, noun), 1, private, Excerpt::Text(text));
    }

    /// Judges the build id in a field.
    fn audit_build_id(&self, auditor: &mut Auditor<'_>, field: &Field, bytes: &[u8]) {
        let range = if field.label == "mmap2.build_id" { MMAP2_ID } else { BUILD_ID };
        let Some(id) = bytes.get(range) else { return };
        let place = self.place(field).of_part(bytes, id);
        let (subject, excerpt) = ((self.section, "build id"), Excerpt::Bytes(id, to_u64(id.len())));
        let private = place.private(id, Filler::Zeros);
        auditor.hide(&sender::BUILD_ID, subject, 1, private, excerpt);
    }

    fn audit_memory(&self, auditor: &mut Auditor<'_>, field: &Field, bytes: &[u8]) {
        let place = self.place(field);
        match field.label.as_ref() {
            "raw.size" => {
                let hidden = bytes.get(TRACEPOINT_LEN..).unwrap_or_default();
                let start = field.span.start.saturating_add(to_u64(TRACEPOINT_LEN));
                let span = Span::new(field.span.layer, start, field.span.end);
                let private = Place { span, ..place }.private(hidden, Filler::Zeros);
                let excerpt = Excerpt::Bytes(bytes, field.span.len());
                auditor.hide(&sender::MEMORY, ("raw", "raw dump"), 1, private, excerpt);
                auditor.blob("raw", bytes, place);
            }
            "stack_user.size" => {
                self.audit_memory_words(auditor, field, bytes, ("stack_user", "word"));
                auditor.blob("stack_user", bytes, place);
            }
            _ => self.audit_memory_words(auditor, field, bytes, ("regs", "register")),
        }
    }
}
