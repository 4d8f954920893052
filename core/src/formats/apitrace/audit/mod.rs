//! The content of a trace for an audit: properties, shaders, textures, buffers and texts.

mod known;

use std::cell::Cell;
use std::collections::BTreeMap;

use super::decode::grammar::{Space, StreamError, TokenSink, ValueToken};
use super::dump::Readable;
use super::dump::feed::StreamReader;
use super::dump::names::Known;
use super::expand::Expansion;
use super::expand::zstd::seek_table_span;
use super::limits::OPEN_CALLS;
use super::recover::trace::{Gap, Trace};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::model::limits::Limits;
use crate::model::options::Options;
use crate::model::tile::{Fields, Tile, TileKind, Walk};
use crate::sight::content::LOOKED_AT;
use crate::sight::filler::Filler;
use crate::sight::rules::sender;
use crate::sight::{Auditor, Excerpt, Place, Private, TileReader};

/// Faults that make apitrace crash, recurse or allocate without a bound.
pub(super) const HAZARDS: &[&str] =
    &["AT0003", "AT0006", "AT2001", "AT2011", "AT2012", "AT8002", "AT8004", "AT8005", "AT9001"];

/// Parts of the names of functions that take the source of a shader.
const SHADERS: &[&str] = &["ShaderSource", "CreateShaderProgram", "ProgramString", "CompileShader"];

/// Passes the trace to `auditor`.
pub(super) fn audit(
    tiles: Walk<'_>,
    source: &Source<'_>,
    options: &Options,
    auditor: &mut Auditor<'_>,
) {
    let further = Cell::new((0, None));
    let walk: Walk<'_> = &|each| {
        tiles(&mut |tile: Tile, fields: Fields<'_>| {
            if has_more(source, &tile) {
                let (count, first): (u64, Option<Span>) = further.get();
                further.set((count.saturating_add(1), first.or(Some(tile.span))));
            }
            // The bytes of the stream are judged below.
            match tile.span.layer.is_stored() {
                true => each(tile, fields),
                false => each(Tile { kind: TileKind::Record, ..tile }, fields),
            }
        });
    };
    auditor.tiles(walk, options, TileReader::of(|_| false), &mut |_, _, _| {});
    if let (count, Some(first)) = further.get() {
        let subject = ("container", "part besides the stream");
        auditor.add(&sender::UNKNOWN_CONTENT, subject, count, first, Excerpt::None);
    }
    let Some(readable) = Readable::open(source, &options.limits) else {
        let (rule, subject) = (&sender::DAMAGE, ("container", "damaged byte"));
        let all = Span::new(Layer::stored(0), 0, source.len());
        return auditor.add(rule, subject, all.len(), all, Excerpt::None);
    };
    audit_damage(source, &readable.trace, &options.limits, auditor);
    let mut reader = StreamAudit::new(auditor, options.limits.count_of(&OPEN_CALLS));
    readable.feed(&options.limits, &mut reader);
}

/// Judges the bytes of the stream that are not complete events.
fn audit_damage(source: &Source<'_>, trace: &Trace, limits: &Limits, auditor: &mut Auditor<'_>) {
    let mut damages = trace.stretches().filter_map(|item| match item {
        Item::Record(_) => None,
        Item::Damage(Gap::Damage(stretch)) => Some(("damage", stretch)),
        Item::Damage(Gap::TruncatedEvent(stretch)) => Some(("truncated event", stretch)),
    });
    let Some(mut damage) = damages.next() else { return };
    let mut expansion = Expansion::new(source, trace.container, limits);
    while let Some(block) = expansion.next() {
        loop {
            let (name, stretch) = &damage;
            let (start, end) = (stretch.start.max(block.start), stretch.end.min(block.end()));
            if start < end {
                let cut = |at: u64| to_usize(at.saturating_sub(block.start));
                let bytes = block.bytes.get(cut(start)..cut(end)).unwrap_or_default();
                let span = Span::new(Layer::stored(0).expanded(), start, end);
                auditor.damaged(name, (bytes, span.len()), span.into());
            }
            if stretch.end > block.end() {
                break;
            }
            let Some(next) = damages.next() else { return };
            damage = next;
        }
        expansion.recycle(block.bytes);
    }
}

/// First bytes of a gzip header, before its flags.
const GZIP_HEADER: &[u8] = b"\x1f\x8b\x08";
/// Flags of a gzip header with fields beyond its ten bytes: extra field, name, comment.
const GZIP_FIELDS: u8 = 0x1c;

/// Length of the header of a skippable frame of zstd.
const SKIPPABLE_HEADER: u64 = 8;

/// Returns whether a unit of the container holds more than a part of the stream: the name of a file
/// or a comment in the header of gzip, or bytes in a skippable frame of zstd without a seek table.
fn has_more(source: &Source<'_>, tile: &Tile) -> bool {
    let span = tile.span;
    let head = source.read(span.start, span.start.saturating_add(4).min(span.end));
    match tile.name {
        _ if !span.layer.is_stored() => false,
        "gzip stream" => {
            let flags = head.strip_prefix(GZIP_HEADER).and_then(|rest| rest.first());
            flags.is_some_and(|flags| flags & GZIP_FIELDS != 0)
        }
        "zstd frame" => {
            matches!(*head, [0x50..=0x5f, 0x2a, 0x4d, 0x18])
                && span.len() > SKIPPABLE_HEADER
                && seek_table_span(source) != Some(span)
        }
        _ => false,
    }
}

/// The value that is being read.
#[derive(Default)]
struct OpenValue {
    /// Where its bytes begin, or the detail that it is in.
    start: u64,
    /// Its first bytes.
    bytes: Vec<u8>,
    /// The number of its bytes.
    len: u64,
    /// Whether a byte after the first ones is not the byte of each of [`FILLED`].
    later: [bool; 3],
    /// Whether it is a blob or a string; `None` for any other value.
    is_blob: Option<bool>,
}

/// Bytes that fill long values: zeros, spaces, and names.
const FILLED: [u8; 3] = [0, b' ', b'_'];

/// Judges the tokens of a stream.
struct StreamAudit<'s, 'r> {
    auditor: &'s mut Auditor<'r>,
    known: Known,
    /// The function of each call that was not left.
    open: BTreeMap<u64, u64>,
    open_max: usize,
    next: u64,
    function: Option<u64>,
    value: StreamValue,
}

/// The property or the value that is being read.
#[derive(Default)]
struct StreamValue {
    property: Vec<u8>,
    open: OpenValue,
}

impl<'s, 'r> StreamAudit<'s, 'r> {
    fn new(auditor: &'s mut Auditor<'r>, open_max: usize) -> Self {
        Self {
            auditor,
            known: Known::new(),
            open: BTreeMap::new(),
            open_max,
            next: 0,
            function: None,
            value: StreamValue::default(),
        }
    }

    fn place(start: u64, end: u64) -> Place {
        Span::new(Layer::stored(0).expanded(), start, end).into()
    }

    /// Whether the call takes the source of a shader.
    fn is_shader(&self) -> bool {
        let function = self.function.and_then(|id| self.known.names.function(id));
        function.is_some_and(|function| SHADERS.iter().any(|part| function.name.contains(part)))
    }

    /// Judges the value that ends.
    fn end_value(&mut self) {
        let Some(is_blob) = self.value.open.is_blob.take() else { return };
        let OpenValue { start, bytes, len, later, .. } = std::mem::take(&mut self.value.open);
        let [after_zeros, after_spaces, after_name] = later;
        let place = Self::place(start, start.saturating_add(len));
        let excerpt = Excerpt::Bytes(&bytes, len);
        if self.is_shader() {
            let subject = ("shader", "shader source");
            let private = place.private(&bytes, Filler::Spaces);
            let private = Private { differs_later: after_spaces, ..private };
            self.auditor.hide(&sender::SHADER_SOURCE, subject, 1, private, excerpt);
            self.auditor.text("shader", &bytes, place);
        } else if is_blob {
            let subject = ("values", "blob");
            let private = place.private(&bytes, Filler::Zeros);
            let private = Private { differs_later: after_zeros, ..private };
            self.auditor.hide(&sender::TEXTURE_OR_BUFFER, subject, 1, private, excerpt);
            self.auditor.blob("values", &bytes, place);
        } else {
            self.auditor.argument("strings", &bytes, place);
            if !known::is_harmless(&bytes) || len > to_u64(bytes.len()) {
                let private = place.private(&bytes, Filler::Name);
                let private = Private { differs_later: after_name, ..private };
                let subject = ("strings", "text");
                self.auditor.hide(&sender::CHOSEN_NAME, subject, 1, private, excerpt);
            }
        }
    }
}

impl StreamReader for StreamAudit<'_, '_> {
    fn set_version(&mut self, version: u64) {
        self.known.version = version;
    }

    fn add_lost(&mut self, space: Space, id: u64, count: u64, raw: &[u8]) {
        self.known.add_lost((space, id), count, raw);
    }

    fn skip_to(&mut self, next: u64) {
        self.next = next;
        self.function = None;
        self.value = StreamValue::default();
    }

    fn is_done(&self) -> bool {
        false
    }

    fn finish(&mut self) {}
}

impl TokenSink for StreamAudit<'_, '_> {
    fn known(&mut self, space: Space, id: u64) -> Result<Option<u64>, StreamError> {
        Ok(self.known.item_count(space, id))
    }

    fn version(
        &mut self,
        version: u64,
        _semantic: Option<u64>,
        _at: u64,
        _end: u64,
    ) -> Result<(), StreamError> {
        self.known.version = version;
        Ok(())
    }

    fn property(
        &mut self,
        text: &[u8],
        is_name: bool,
        at: u64,
        end: u64,
    ) -> Result<(), StreamError> {
        // The length comes first.
        let place = Self::place(end.saturating_sub(to_u64(text.len())).max(at), end);
        self.auditor.argument("properties", text, place);
        if is_name {
            self.value.property = text.to_vec();
            if !known::PROPERTIES.contains(&text) {
                let private = place.private(text, Filler::Name);
                let (subject, excerpt) = (("properties", "name"), Excerpt::Text(text));
                self.auditor.hide(&sender::EXTRA_METADATA, subject, 1, private, excerpt);
            }
            return Ok(());
        }
        let (rule, noun) = match self.value.property.as_slice() {
            b"process.name" => (&sender::PROCESS, "process name"),
            b"process.commandLine" => (&sender::COMMAND_LINE, "command line"),
            _ => (&sender::EXTRA_METADATA, "property"),
        };
        let private = place.private(text, Filler::Name);
        self.auditor.hide(rule, ("properties", noun), 1, private, Excerpt::Text(text));
        Ok(())
    }

    fn enter(&mut self, _at: u64, _thread: u64, function: u64) -> Result<(), StreamError> {
        self.function = Some(function);
        if self.open.len() < self.open_max {
            self.open.insert(self.next, function);
        }
        self.next = self.next.saturating_add(1);
        Ok(())
    }

    fn leave(&mut self, _at: u64, call: u64) -> Result<(), StreamError> {
        self.function = self.open.remove(&call);
        Ok(())
    }

    fn detail(&mut self, at: u64, _index: Option<u64>) -> Result<(), StreamError> {
        self.value.open = OpenValue { start: at, ..OpenValue::default() };
        Ok(())
    }

    fn end(&mut self, _end: u64) -> Result<(), StreamError> {
        Ok(())
    }

    fn define(&mut self, _space: Space, _id: u64, _at: u64) {
        self.known.raw.clear();
    }

    fn part(&mut self, raw: &[u8]) {
        self.known.raw.extend_from_slice(raw);
    }

    fn name(&mut self, space: Space, name: &[u8], own: bool) -> Result<(), StreamError> {
        let place = Self::place(self.value.open.start, self.value.open.start);
        self.auditor.text("names", name, place);
        if !known::is_definition(space, name, own) {
            let excerpt = Excerpt::Text(name);
            self.auditor.see(&sender::CHOSEN_NAME, ("names", "defined name"), place, excerpt);
        }
        Ok(())
    }

    fn defined(&mut self, space: Space, id: u64, _count: u64) -> Result<(), StreamError> {
        self.known.add(space, id);
        Ok(())
    }

    fn bytes_begin(&mut self, at: u64) {
        self.value.open.start = at;
    }

    fn value(&mut self, token: ValueToken<'_>) {
        match token {
            ValueToken::String => self.value.open.is_blob = Some(false),
            ValueToken::Blob(_) => self.value.open.is_blob = Some(true),
            ValueToken::WideString => {
                let place = Self::place(self.value.open.start, self.value.open.start);
                let subject = ("strings", "wide string");
                self.auditor.see(&sender::CHOSEN_NAME, subject, place, Excerpt::None);
            }
            ValueToken::Bytes(bytes) if self.value.open.is_blob.is_some() => {
                let open = &mut self.value.open;
                open.len = open.len.saturating_add(to_u64(bytes.len()));
                let kept = &mut open.bytes;
                let room = LOOKED_AT.saturating_sub(kept.len());
                let (first, later) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
                kept.extend_from_slice(first);
                for (differs, filler) in open.later.iter_mut().zip(FILLED) {
                    *differs |= later.iter().any(|byte| *byte != filler);
                }
            }
            ValueToken::End => self.end_value(),
            _ => {}
        }
    }
}
