//! A head that cannot be read, recovered from what follows it.
//!
//! The first events in a row show where the events begin, their devices how many there are, and
//! the text `/dev/input/event` where the paths are. Nothing else of a head is needed to read the
//! events.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::event::Event;
use crate::formats::revent::decode::gamepad::Forced;
use crate::formats::revent::decode::head::{
    Counts, DevicePath, Devices, Head, Header, has_magic, parse_forced, read_counts,
};
use crate::formats::revent::decode::head_error::HeadError;
use crate::formats::revent::decode::stretch::Stretch;
use crate::formats::revent::layout::{
    DEVICE_PREFIX, DEVICES_WRITTEN, Generation, HEADER, MAGIC, NAME_MAX, names,
};
use crate::formats::revent::recover::align::budget;
use crate::formats::revent::recover::evidence;
use crate::formats::revent::recover::layout_choice::parse_head;
use crate::formats::revent::recover::shape::Shape;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::model::limits::Limits;

/// Bytes in which the first events are searched: the longest list that the recorder writes is
/// shorter than a thousand.
const AREA: u64 = 64 << 10;
/// The same in a file without a path: zeros of a disk block or two took the list.
const AREA_WITHOUT_PATH: u64 = 4 << 10;
/// Events in a row that show that the events begin.
const EVENTS_ENOUGH: u64 = 4;
/// Events whose devices are counted.
const SAMPLE: u64 = 4_096;
/// Bytes of an entry in the device list: a length and a path.
const ENTRY: u64 = 21;
/// Bytes of the length before a path.
const PATH_LEN: u64 = 4;
/// Bytes of the fields between devices and events, at most.
const PREFIX_MAX: usize = 40;
/// Bytes of the magic that show that a file began with it.
const MAGIC_SAME: usize = 3;

/// Reads the head of a recording, or recovers it.
///
/// # Errors
///
/// The first field that prevents reading, if the head cannot be recovered either.
pub fn find_head(source: &Source<'_>, limits: &Limits) -> Result<Head, HeadError> {
    let parsed = parse_head(source, limits);
    if parsed.as_ref().is_ok_and(|head| is_credible(source, head, limits)) {
        return parsed;
    }
    let mode = source.read(8, 10);
    let is_gamepad = has_magic(source) && *mode == [1, 0];
    let recovered =
        if is_gamepad { recover_gamepad(source, limits) } else { recover_paths(source) };
    recovered.map_or(parsed, Ok)
}

/// Whether events follow a head that is lost: most of the first ones are such as a recorder writes.
/// Without a path only the layouts are tried that Workload Automation reads, and near the
/// beginning: every file that no format knows is searched so.
pub fn shows_events(source: &Source<'_>, limits: &Limits) -> bool {
    let first = source.read(0, AREA);
    let has_path = first.windows(DEVICE_PREFIX.len()).any(|part| part == DEVICE_PREFIX);
    let head = match has_path {
        true => recover_paths(source),
        false => recover_in(source, &[Generation::V1, Generation::V3], AREA_WITHOUT_PATH),
    };
    head.is_some_and(|head| evidence::explains_half(source, &head, limits))
}

/// Returns whether the head can be as the recorder wrote it.
fn is_credible(source: &Source<'_>, head: &Head, limits: &Limits) -> bool {
    let next = source.read(head.prefix, head.prefix.saturating_add(24));
    let has_more_paths = next.windows(8).any(|part| DEVICE_PREFIX.starts_with(part));
    match &head.devices {
        Devices::Paths(paths) => {
            let are_usual = paths.iter().all(DevicePath::is_event_device);
            !has_more_paths && (are_usual || evidence::explains_half(source, head, limits))
        }
        Devices::Gamepad(gamepad) => {
            gamepad.has_matching_bits()
                || gamepad.has_swapped_bits()
                || evidence::explains_half(source, head, limits)
        }
    }
}

/// Finds the only lengths of the name and of the axes with which the description of a gamepad and
/// the events after it can be read.
fn recover_gamepad(source: &Source<'_>, limits: &Limits) -> Option<Head> {
    let version = source.read(6, 8).first().copied()?;
    let generation = if version == 2 { Generation::V2 } else { Generation::V3 };
    let lens = (1..=NAME_MAX).map(|len| Forced { name_len: Some(len), has_axes_of_bits: true });
    let heads = lens.filter_map(|forced| parse_forced(source, generation, Some(1), forced).ok());
    let mut fitting = heads.filter(|head| {
        head.gamepad()
            .is_some_and(|gamepad| gamepad.has_matching_bits() && !gamepad.axes.is_empty())
            && evidence::explains_half(source, head, limits)
    });
    let found = fitting.next()?;
    fitting.next().is_none().then_some(found)
}

/// Recovers the device list in the layout that explains the most events, of several the one in
/// which the paths have their places. Without a path it is a later one, which Workload Automation
/// still reads.
fn recover_paths(source: &Source<'_>) -> Option<Head> {
    recover_in(source, possible_layouts(source), AREA)
}

/// The same in one of these layouts, with the first events in this area.
fn recover_in(source: &Source<'_>, layouts: &[Generation], area: u64) -> Option<Head> {
    let heads = layouts.iter().filter_map(|layout| recover_as(source, *layout, area));
    let most = heads.reduce(|best, next| if next.0 > best.0 { next } else { best });
    most.map(|(_, head)| head)
}

/// Returns the layouts that the first bytes allow.
fn possible_layouts(source: &Source<'_>) -> &'static [Generation] {
    let first = source.read(0, 8);
    let same = first.iter().zip(MAGIC).filter(|(a, b)| a == b).count();
    match first.get(6..8) {
        _ if same < MAGIC_SAME => &[
            Generation::P20,
            Generation::P24,
            Generation::P28,
            Generation::V1,
            Generation::P32,
            Generation::V3,
            Generation::V2,
        ],
        Some([0 | 1, 0]) => &[Generation::V1],
        Some([2, 0]) => &[Generation::V2],
        Some([3, 0]) => &[Generation::V3],
        _ => &[Generation::V3, Generation::V2, Generation::V1],
    }
}

/// Recovers the head in one layout. Returns it with the bytes of the events that follow one
/// another, and whether the first path has its place.
fn recover_as(
    source: &Source<'_>,
    generation: Generation,
    area: u64,
) -> Option<((u64, bool), Head)> {
    let layout = generation.layout();
    let devices = i32::try_from(DEVICES_WRITTEN).unwrap_or(i32::MAX);
    let shape = Shape { generation, devices, widened: false };
    let first = layout.header.saturating_add(layout.device_count).saturating_add(layout.prefix);
    let mut budget = budget(area);
    let found = shape.find(source, (first, area), None, &mut budget).found()?;
    let count = source.len().saturating_sub(found).checked_div(layout.event).unwrap_or(0);
    let stretch = Stretch { generation, start: found, count: count.min(SAMPLE) };
    let is_known = |event: &Event| {
        event.is_sane(devices) && event.micros() > 0 && names::is_known(event.kind, event.code)
    };
    let known = stretch.events(source).filter(|(_, event)| is_known(event));
    let (seen, highest) = known.fold((0_u64, 0), |(seen, highest), (_, event)| {
        (seen.saturating_add(1), event.device.max(highest))
    });
    let explained = seen.saturating_mul(layout.event);
    if seen < EVENTS_ENOUGH {
        return None;
    }
    let (listed, end) = find_paths(source, layout.header, found);
    // The list ends before the count; events between it and the first good one are damaged.
    let events = end.saturating_add(layout.prefix);
    let is_aligned = found >= events
        && !listed.is_empty()
        && found.saturating_sub(events).checked_rem(layout.event) == Some(0);
    let events = if is_aligned { events } else { found };
    let prefix = events.checked_sub(layout.prefix)?;
    let needed = u64::try_from(highest).unwrap_or(0).saturating_add(1);
    let first = layout.header.saturating_add(layout.device_count);
    let is_placed = listed.first().is_some_and(|path| {
        let before = path.span.start().checked_sub(first.saturating_add(PATH_LEN));
        before.and_then(|before| before.checked_rem(ENTRY)) == Some(0)
    });
    let paths = place_paths(listed, first, needed);
    let version = layout.version.map(|version| Header {
        magic: *MAGIC,
        version,
        mode: (layout.header == HEADER).then_some(0),
        pad: [0; 6],
    });
    let (count, times) = find_counts(source, generation, prefix, events)?;
    let head = Head {
        generation,
        evidence: None,
        header: version,
        devices: Devices::Paths(paths),
        prefix,
        count,
        times,
        events,
        is_recovered: true,
        forced: Forced::default(),
    };
    Some(((explained, is_placed), head))
}

/// Reads the fields before the events, at `prefix`. If they cannot be, their bytes are others: of
/// an event that is damaged, if the first ones are.
fn find_counts(
    source: &Source<'_>,
    generation: Generation,
    prefix: u64,
    events: u64,
) -> Option<Counts> {
    let (count, times) = read_counts(source, generation, prefix)?;
    let most = source.len().saturating_sub(events).checked_div(generation.layout().event)?;
    let are_times = times.is_none_or(|times| times.iter().all(|time| time.is_sane()));
    if are_times && count.is_none_or(|count| count <= most) {
        return Some((count, times));
    }
    read_counts(&Source::new(&[0; PREFIX_MAX]), generation, 0)
}

/// Returns the paths of event devices before `until`, and the end of the last one.
fn find_paths(source: &Source<'_>, from: u64, until: u64) -> (Vec<DevicePath>, u64) {
    let bytes = source.read(from, until);
    let (mut at, mut found) = (0_usize, Vec::new());
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let number = rest.strip_prefix(DEVICE_PREFIX).unwrap_or_default();
        let digits = number.iter().take(2).take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            at = at.saturating_add(1);
            continue;
        }
        let len = DEVICE_PREFIX.len().saturating_add(digits);
        let span = Span::sized(FILE, from.saturating_add(to_u64(at)), to_u64(len));
        found.push(DevicePath { span, bytes: rest.get(..len).unwrap_or_default().to_vec() });
        at = at.saturating_add(len);
    }
    let end = found.last().map_or(from, |path| path.span.end());
    (found, end)
}

/// Gives each path its number by its place, and the devices without a path the ones that are left.
fn place_paths(listed: Vec<DevicePath>, first: u64, needed: u64) -> Vec<DevicePath> {
    let count = needed.max(to_u64(listed.len())).min(DEVICES_WRITTEN);
    let mut placed: Vec<Option<DevicePath>> = Vec::new();
    placed.resize_with(to_usize(count), || None);
    for path in listed {
        let distance = path.span.start().saturating_sub(first).saturating_add(ENTRY / 3);
        let place = to_usize(distance.checked_div(ENTRY).unwrap_or(0));
        let is_free = |slot: &usize| placed.get(*slot).is_some_and(Option::is_none);
        let slot = [place].into_iter().chain(0..placed.len()).find(is_free);
        if let Some(slot) = slot.and_then(|slot| placed.get_mut(slot)) {
            *slot = Some(path);
        }
    }
    let used: Vec<Vec<u8>> = placed.iter().flatten().map(|path| path.bytes.clone()).collect();
    let path = |number: u64| [DEVICE_PREFIX, number.to_string().as_bytes()].concat();
    let mut free = (0..).map(path).filter(|path| !used.contains(path));
    let span = Span::new(FILE, first, first);
    let lost = |bytes| DevicePath { span, bytes };
    placed
        .into_iter()
        .map(|path| path.unwrap_or_else(|| lost(free.next().unwrap_or_default())))
        .collect()
}
