//! The events of a pipe that lost their HEADER_ATTR records and EVENT_DESC.
//!
//! ```text
//!  ID_INDEX      the ids of all events, one event after the other, each with its CPU and thread
//!  EVENT_UPDATE  the name of an event, and its first id
//!  SAMPLE        the id of its event, the fields of sample_type, the data of a tracepoint
//!  CMDLINE       the period, if the samples do not have it
//! ```
//!
//! A name such as `cpu-clock` determines type and config, and the data of a tracepoint begin with
//! its config. An attr with these values may be left. An event with another name becomes `dummy`:
//! perf shows the name in EVENT_UPDATE.
//! Source: perf's `util/synthetic-events.c`, which writes the records.

mod layout;

use std::collections::{BTreeMap, BTreeSet};

use self::layout::{Layout, Search};
use super::hints::{generic_event, is_tracepoint};
use super::peek::Peek;
use super::salvage::{attr_size_at, gather_evidence};
use crate::formats::perf::decode::attr_bytes::{AttrBytes, set_word};
use crate::formats::perf::decode::attr_record::read_record;
use crate::formats::perf::decode::attrs::StoredEvent;
use crate::formats::perf::decode::expand::Wrapper;
use crate::formats::perf::decode::frame::Record;
use crate::formats::perf::decode::recording::RecordFile;
use crate::formats::perf::layout::attr::{at, find as find_word, flag};
use crate::formats::perf::layout::{
    ATTR_SIZE_VER7, HEADER_SIZE_PIPE, SOFTWARE_DUMMY, TYPE_SOFTWARE, TYPE_TRACEPOINT, feature,
    record,
};
use crate::formats::perf::limits::{ATTRS, IDS};
use crate::kit::cursor::Order;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::model::limits::{Limits, RESYNC};

const FILE: Layer = Layer::stored(0);
/// Records that are read: perf writes those above before the first sample.
const MOST_RECORDS: usize = 4096;
/// Records by which layouts are found.
const MOST_EVIDENCE: usize = 512;
/// Ids of an event whose number nothing tells: as many as there are CPUs.
const MOST_IDS: u64 = 4096;
/// Events, each of which gets an attr, and takes a kilobyte of memory.
const MOST_EVENTS: usize = 4096;
/// Ids of all events: 1,024 of them on 128 CPUs.
const MOST_IDS_OF_ALL: usize = 1 << 17;
/// The same without ID_INDEX, so that no bytes of the file stand for them: 64 on 256 CPUs.
const MOST_IDS_BY_NAME: usize = 1 << 14;
/// Bytes of the name of an event.
const MOST_NAME: usize = 4096;
/// Bytes from the start of the file in which attrs are searched, and most of them.
const SEARCHED: u64 = 1 << 14;
const MOST_ATTRS: usize = 64;
/// Attrs of other events by which samples are read.
const MOST_MODELS: usize = 8;
/// `type` of an EVENT_UPDATE with a name.
const UPDATE_NAME: u64 = 2;

/// Events that ID_INDEX has, and no HEADER_ATTR record.
pub struct Indexed {
    /// The first ID_INDEX, or EVENT_UPDATE if there is none.
    pub witness: Span,
    /// The name of that record.
    pub source: &'static str,
    /// Number of events that have no HEADER_ATTR record.
    pub lost: u64,
    /// The events, each with the place of its record; empty if their samples cannot be read.
    pub missing: Vec<(u64, StoredEvent)>,
    /// Number of events of which nothing tells what they counted.
    pub unknown: u64,
    /// Number of events of which nothing tells the period.
    pub unmeasured: u64,
    /// HEADER_ATTR records with ids that ID_INDEX does not have.
    pub strange: Vec<Span>,
}

impl Indexed {
    /// Builds an attr like one of `models`, or of the fields of a layout; notes what is unknown.
    fn build(
        &mut self,
        what: Option<(u64, u64)>,
        layout: Layout,
        (models, period): (&[Vec<u8>], Option<u64>),
        order: Order,
    ) -> Vec<u8> {
        self.unknown = self.unknown.saturating_add(u64::from(what.is_none()));
        let what = what.unwrap_or((TYPE_SOFTWARE.into(), SOFTWARE_DUMMY));
        if let Some(model) = layout.model.and_then(|index| models.get(index)) {
            let mut attr = model.clone();
            set_word(&mut attr, at::TYPE, what.0, order);
            set_word(&mut attr, at::CONFIG, what.1, order);
            return attr;
        }
        let is_measured = period.is_some() || layout.has_period();
        self.unmeasured = self.unmeasured.saturating_add((!is_measured).into());
        let mut attr = build_attr(what, layout, order);
        set_word(&mut attr, at::SAMPLE_PERIOD, period.unwrap_or(1), order);
        attr
    }
}

/// Finds the events of a pipe without EVENT_DESC; `None` if nothing is missing, or if nothing tells
/// them and no sample needs them.
pub fn find_indexed(file: &RecordFile<'_>, limits: &Limits) -> Option<Indexed> {
    let found = Found::gather(file, limits)?;
    let groups = found.groups();
    if groups.len() > MOST_EVENTS || groups.iter().all(|group| group.owner.is_some()) {
        return None;
    }
    let area = (HEADER_SIZE_PIPE, file.length());
    if has_late_attrs(file, &groups, limits) {
        return None;
    }
    let evidence = gather_evidence(file, area, MOST_EVIDENCE, limits);
    let (models, period) = (found.models, found.period);
    let search = Search::new((&groups, &models), &evidence, file.order(), limits);
    let (source, witness) = found.witness?;
    let lost = groups.iter().filter(|group| group.owner.is_none()).count();
    let mut indexed = Indexed {
        witness,
        source,
        lost: to_u64(lost),
        missing: Vec::new(),
        unknown: 0,
        unmeasured: 0,
        strange: found.strange,
    };
    let has_lost_samples = search.has_lost_samples(!indexed.strange.is_empty());
    let Some(layouts) = search.layouts() else {
        // perf would show them under another event.
        return has_lost_samples.then_some(indexed);
    };
    let stored = find_attrs(Peek { source: file.source(), order: file.order() });
    let mut place = HEADER_SIZE_PIPE;
    for (group, layout) in groups.iter().zip(layouts) {
        if let Some(end) = group.owner {
            place = end;
            continue;
        }
        let what = group.event(layout.tracepoint);
        let is_stored = |attr: &&Vec<u8>| {
            let attr = AttrBytes { bytes: attr, order: file.order() };
            let is_event = [attr.word(at::TYPE), attr.word(at::CONFIG)];
            what.map_or(groups.len() == 1, |(kind, config)| is_event == [kind, config])
                && layout.is_of(attr)
        };
        let attr = stored.iter().find(is_stored).cloned();
        let attr =
            attr.unwrap_or_else(|| indexed.build(what, layout, (&models, period), file.order()));
        let ids = group.entries.iter().map(|entry| entry.id).collect();
        indexed.missing.push((place, StoredEvent { attr, ids }));
    }
    Some(indexed)
}

/// Whether the attrs of missing events stand after the samples, where `perf record
/// --tail-synthesize` writes them.
fn has_late_attrs(file: &RecordFile<'_>, groups: &[Group], limits: &Limits) -> bool {
    let missing: BTreeSet<u64> = groups.iter().flat_map(Group::missing_ids).collect();
    let is_stored = |record: Record<'_>| {
        let event = read_record(&record.view(FILE, 0), file.order());
        event.is_some_and(|(_, ids)| ids.iter().any(|id| missing.contains(id)))
    };
    let area = (HEADER_SIZE_PIPE, file.length());
    let records = file.records(area, limits.of(&RESYNC)).filter_map(Item::record);
    let late = records.skip_while(|record| !has_samples(record.frame.kind));
    late.filter(|one| one.frame.kind == record::HEADER_ATTR).any(is_stored)
}

/// Returns the number after `-c` in the record of the feature CMDLINE: the period of all events.
fn read_period(item: &Record<'_>, order: Order) -> Option<u64> {
    let view = item.view(FILE, 0);
    let mut cursor = view.cursor(order);
    let is_command = cursor.u64("feature.feat_id").ok()? == u64::from(feature::CMDLINE);
    let count = cursor.u32("cmdline.nr").ok().filter(|_| is_command)?;
    let mut argument = || {
        let len = cursor.u32("cmdline.args").ok()?;
        cursor.bytes(len.into(), "cmdline.args").ok()?.split(|byte| *byte == 0).next()
    };
    let arguments: Vec<&[u8]> = (0..count).map_while(|_| argument()).collect();
    let options = arguments.iter().enumerate();
    let mut values = options.filter_map(|(index, option)| match *option {
        b"-c" | b"--count" => arguments.get(index.saturating_add(1)).copied(),
        _ => option.strip_prefix(b"--count=").or_else(|| option.strip_prefix(b"-c")),
    });
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse().ok();
    number(values.next()?).filter(|period| *period > 0)
}

/// Finds attrs whose records are damaged, by their shape.
fn find_attrs(peek: Peek<'_>) -> Vec<Vec<u8>> {
    let places = HEADER_SIZE_PIPE..SEARCHED.min(peek.len());
    let attr = |at: u64| {
        let size = attr_size_at(peek, at)?;
        Some(peek.bytes(at, at.saturating_add(size)).into_owned())
    };
    places.filter_map(attr).take(MOST_ATTRS).collect()
}

/// Whether a pipe has names of several events.
pub fn has_several(file: &RecordFile<'_>, limits: &Limits) -> bool {
    Found::gather(file, limits).is_some_and(|found| found.names.len() > 1)
}

/// Whether a record is a sample, or may expand to samples.
fn has_samples(kind: u32) -> bool {
    kind == record::SAMPLE || Wrapper::of(kind).is_some()
}

/// An entry of ID_INDEX.
#[derive(Clone, Copy, Debug)]
struct Entry {
    id: u64,
    cpu: u64,
    thread: u64,
}

/// The ids of one event.
#[derive(Debug, Default)]
struct Group {
    entries: Vec<Entry>,
    /// The name in EVENT_UPDATE.
    name: Option<Vec<u8>>,
    /// The end of the HEADER_ATTR record with the ids.
    owner: Option<u64>,
}

impl Group {
    /// Returns the ids, if no HEADER_ATTR record has them.
    fn missing_ids(&self) -> impl Iterator<Item = u64> {
        let entries = self.entries.iter().filter(|_| self.owner.is_none());
        entries.map(|entry| entry.id)
    }

    /// Returns type and config; `None` if nothing tells them. `traced` is the tracepoint whose data
    /// the samples have.
    fn event(&self, traced: Option<u16>) -> Option<(u64, u64)> {
        let of_name = self.name.as_deref().and_then(generic_event);
        let is_tracepoint = self.name.is_none() || self.is_tracepoint();
        let traced = traced.filter(|_| is_tracepoint);
        of_name.or_else(|| traced.map(|id| (TYPE_TRACEPOINT.into(), id.into())))
    }

    fn is_tracepoint(&self) -> bool {
        self.name.as_deref().is_some_and(is_tracepoint)
    }
}

/// The records before the first sample.
#[derive(Default)]
struct Found {
    witness: Option<(&'static str, Span)>,
    entries: Vec<Entry>,
    names: BTreeMap<u64, Vec<u8>>,
    /// The end of the HEADER_ATTR record of each id.
    owners: BTreeMap<u64, u64>,
    strange: Vec<Span>,
    /// Some attrs that are left.
    models: Vec<Vec<u8>>,
    /// The period in CMDLINE.
    period: Option<u64>,
}

impl Found {
    /// Reads the records; `None` if ID_INDEX is not one of the events of perf.
    fn gather(file: &RecordFile<'_>, limits: &Limits) -> Option<Self> {
        let order = file.order();
        let mut found = Self::default();
        let (mut attrs, mut attr_ids) = (Vec::new(), 0_usize);
        let items = file.records((HEADER_SIZE_PIPE, file.length()), limits.of(&RESYNC));
        for item in items.take(MOST_RECORDS).filter_map(Item::record) {
            let view = item.view(FILE, 0);
            match item.frame.kind {
                record::HEADER_ATTR => {
                    let read = read_record(&view, order);
                    let attr = read.as_ref().and_then(|(attr, _)| {
                        view.body().get(..to_usize(attr.stored_len())).map(<[u8]>::to_vec)
                    });
                    found.models.extend(attr.filter(|_| found.models.len() < MOST_MODELS));
                    let ids = read.map(|(_, ids)| ids).unwrap_or_default();
                    attr_ids = attr_ids.saturating_add(ids.len());
                    attrs.push((view.span(), ids));
                }
                record::ID_INDEX => {
                    if found.entries.is_empty() {
                        found.witness = Some(("ID_INDEX", view.span()));
                    }
                    found.entries.extend(read_index(&item, order));
                }
                record::EVENT_UPDATE => {
                    found.witness.get_or_insert(("EVENT_UPDATE", view.span()));
                    found.names.extend(read_name(&item, order));
                }
                record::HEADER_FEATURE => {
                    found.period = found.period.or_else(|| read_period(&item, order));
                }
                kind if has_samples(kind) => break,
                _ => {}
            }
            if found.entries.len().max(attr_ids) > MOST_IDS_OF_ALL {
                return None;
            }
        }
        if found.entries.is_empty() {
            found.entries = found.entries_by_name(&attrs)?;
        }
        let ids: BTreeSet<u64> = found.entries.iter().map(|entry| entry.id).collect();
        let are_unique = ids.len() == found.entries.len() && !ids.contains(&0);
        let has_room = ids.len() <= MOST_IDS_OF_ALL
            && to_u64(ids.len()) <= limits.of(&IDS)
            && found.names.len().saturating_add(attrs.len()) <= to_usize(limits.of(&ATTRS));
        for (span, own) in attrs {
            if own.is_empty() || own.iter().any(|id| !ids.contains(id)) {
                found.strange.push(span);
                continue;
            }
            found.owners.extend(own.into_iter().map(|id| (id, span.end)));
        }
        (are_unique && has_room).then_some(found)
    }

    /// Returns the ids without ID_INDEX: those of the HEADER_ATTR record that has the first of an
    /// event, if there is one. perf opens one event after the other, so that the ids of one precede
    /// the first of the next; the last has as many as the one before it. `None` if they are too
    /// many.
    fn entries_by_name(&self, attrs: &[(Span, Vec<u64>)]) -> Option<Vec<Entry>> {
        let stored = attrs.iter().filter_map(|(_, own)| Some((*own.first()?, own)));
        let stored: BTreeMap<u64, &Vec<u64>> = stored.collect();
        let firsts: Vec<u64> = self.names.keys().copied().collect();
        let mut count = 1;
        let mut entries = Vec::new();
        for (index, first) in firsts.iter().enumerate() {
            let next = firsts.get(index.saturating_add(1));
            count = next.map_or(count, |next| next.saturating_sub(*first)).min(MOST_IDS);
            let guessed = || (0..count).map(|number| first.saturating_add(number)).collect();
            let ids = stored.get(first).map_or_else(guessed, |own| own.to_vec());
            entries.extend(ids.into_iter().map(|id| Entry { id, cpu: u64::MAX, thread: id }));
            if entries.len() > MOST_IDS_BY_NAME {
                return None;
            }
        }
        Some(entries)
    }

    /// Divides the ids among the events: the first id of one has a name, or the CPU and the thread
    /// of an id before it.
    fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let mut seen = BTreeSet::new();
        for entry in &self.entries {
            let owner = self.owners.get(&entry.id).copied();
            let name = self.names.get(&entry.id);
            let is_new = seen.insert((entry.cpu, entry.thread)) && name.is_none();
            match groups.last_mut() {
                Some(group) if is_new && group.owner == owner => group.entries.push(*entry),
                _ => {
                    seen = BTreeSet::from([(entry.cpu, entry.thread)]);
                    let (entries, name) = (vec![*entry], name.cloned());
                    groups.push(Group { entries, name, owner });
                }
            }
        }
        groups
    }
}

/// Reads the entries of an ID_INDEX: id, index, CPU and thread.
fn read_index(item: &Record<'_>, order: Order) -> Vec<Entry> {
    let view = item.view(FILE, 0);
    let mut cursor = view.cursor(order);
    let count = cursor.u64("id_index.nr").unwrap_or(0);
    let mut entry = || -> Option<Entry> {
        let id = cursor.u64("id_index.id").ok()?;
        cursor.skip(1, 8, "id_index.idx").ok()?;
        let cpu = cursor.u64("id_index.cpu").ok()?;
        Some(Entry { id, cpu, thread: cursor.u64("id_index.tid").ok()? })
    };
    (0..count).map_while(|_| entry()).collect()
}

/// Reads the name in an EVENT_UPDATE, and the id of its event.
pub(super) fn read_name(item: &Record<'_>, order: Order) -> Option<(u64, Vec<u8>)> {
    let view = item.view(FILE, 0);
    let mut cursor = view.cursor(order);
    let kind = cursor.u64("event_update.type").ok()?;
    let id = cursor.u64("event_update.id").ok()?;
    let text = view.body().get(16..)?.split(|byte| *byte == 0).next()?;
    let is_name = kind == UPDATE_NAME && (1..=MOST_NAME).contains(&text.len());
    is_name.then(|| (id, text.to_vec()))
}

/// Builds an attr of type and config, by which records of this layout are read.
fn build_attr((kind, config): (u64, u64), layout: Layout, order: Order) -> Vec<u8> {
    let mut attr = vec![0; to_usize(ATTR_SIZE_VER7)];
    let flags = find_word(at::FLAGS).map_or(0, |word| word.place(flag::SAMPLE_ID_ALL, order));
    for (place, value) in [
        (at::TYPE, kind),
        (at::SIZE, ATTR_SIZE_VER7),
        (at::CONFIG, config),
        (at::SAMPLE_PERIOD, 1),
        (at::SAMPLE_TYPE, layout.sample_type),
        (at::READ_FORMAT, layout.read_format),
        (at::SAMPLE_REGS_USER, layout.user.0),
        (at::SAMPLE_STACK_USER, layout.user.1),
        (at::FLAGS, flags),
    ] {
        set_word(&mut attr, place, value, order);
    }
    attr
}
