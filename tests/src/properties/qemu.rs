//! Laws of QEMU logs, besides those of all recordings.

use arbitrary::Arbitrary;
use tracemend::Allow;
use tracemend::FormatId;
use tracemend::formats::qemu::layout::{LAYOUTS, RELEASES};
use tracemend::mend::rounds::view;
use tracemend::{Choices, FileSet, Options, Outcome, Repair, Span};

use super::{Held, ensure, recording};
use crate::forge::qemu as forge;

/// Tests check and repair, with the bytes as a log and one of the options.
pub fn chosen(bytes: &[u8], seed: u64) -> Held {
    let number = (seed >> 8) as usize % (RELEASES.len() * 2);
    let release = RELEASES.get(number).map(|(major, minor)| format!("{major}.{minor}"));
    let prefix = seed & 1 == 1;
    let safety = [Allow::Lossy, Allow::Lossy, Allow::Synthetic, Allow::Exact];
    with(bytes, release, prefix, safety[(seed >> 32) as usize % 4])
}

/// Tests the laws with options and a class.
pub fn with(bytes: &[u8], release: Option<String>, prefix: bool, allow: Allow) -> Held {
    let files = FileSet::single("log", bytes);
    let mut choices = Choices::default();
    if let Some(release) = release {
        choices.set("qemu-version", &release).unwrap();
    }
    choices.set("strategy", if prefix { "prefix" } else { "close" }).unwrap();
    let options = Options { format: Some(FormatId::QEMU), choices, allow, ..Options::default() };
    recording::checked_with(&files, &options)?;
    closed(&files, &recording::repair_of(&files, &options)?)
}

/// Tests that a successful repair gives a log with a version and the end that the writer of its
/// layout gives it, and keeps every byte before the cut, and those after END that no class drops.
fn closed(files: &FileSet<'_>, repair: &Repair) -> Held {
    const LAW: &str = "a repaired log has a version and an end, and its first events stay";
    if !matches!(repair.outcome, Outcome::Repaired | Outcome::RepairedWithLoss) {
        return Ok(());
    }
    let bytes = |files: &FileSet<'_>| files.bytes(0).pieces().collect::<Vec<_>>().concat();
    let (mut source, mut target) = (bytes(files), bytes(&view(files, &repair.patches)));
    // A copy of a block and inserted bytes are dropped wherever they are; all else stays.
    let is_dropped = |name: &str| ["doubled-block", "inserted-bytes"].contains(&name);
    let copies = repair.applied.iter().filter(|one| is_dropped(one.finding.rule.name));
    let mut copies: Vec<&Span> = copies.flat_map(|one| &one.places).collect();
    copies.sort_by_key(|place| std::cmp::Reverse(place.start()));
    for place in copies {
        source.drain(place.start() as usize..place.end() as usize);
    }
    let findings = repair.after.findings();
    let is_trailing = |name| matches!(name, "bytes-after-end" | "end-duplicate");
    let trailing = findings.iter().filter(|finding| is_trailing(finding.rule.name));
    if let Some(start) = trailing.map(|finding| finding.span.start()).min() {
        let trailing = target.split_off(start as usize);
        ensure(source.ends_with(&trailing), LAW, || format!("{trailing:x?} after END is new"))?;
        source.truncate(source.len() - trailing.len());
    }
    let version = u32::from_be_bytes(target[..4].try_into().unwrap());
    let ends = LAYOUTS
        .iter()
        .any(|layout| layout.version == version && target.ends_with(&layout.closing()[..]));
    // The END that closes the log takes up to two bytes.
    let kept = target.len().saturating_sub(2).clamp(12, source.len());
    let stays = target[12..kept] == source[12..kept];
    ensure(ends && stays, LAW, || format!("version {version:#x}, {ends}, {stays}"))
}

/// A damage of a log.
#[derive(Arbitrary, Clone, Debug)]
pub enum Damage {
    /// Changes a byte.
    Byte(u16, u8),
    /// Kills the recorder here.
    Killed(u16),
    /// Cuts the file here.
    Cut(u16),
    /// Writes this many zeros from here on.
    Zeros(u16, u8),
    /// Removes this many bytes from here on.
    Drop(u16, u8),
    /// Inserts bytes here.
    Insert(u16, Vec<u8>),
}

/// A description of a log and of its damage. Every value is valid.
#[derive(Arbitrary, Clone, Debug)]
pub struct Description {
    /// Index of the layout.
    pub layout: u8,
    /// The events: a kind and two values each.
    pub events: Vec<(u8, u32, u8)>,
    /// The damage.
    pub damages: Vec<Damage>,
    /// Whether the release is named.
    pub is_release_named: bool,
    /// Selects options and class if it is not.
    pub seed: u64,
}

/// Tests the laws on the log of a description; without damage it has no error.
pub fn holds(description: &Description) -> Held {
    let all = forge::ids::all();
    let ids = all[usize::from(description.layout) % all.len()];
    let mut log = forge::Log::new(ids);
    log.start();
    for (kind, value, small) in description.events.iter().take(64) {
        push_event(&mut log, *kind, *value, *small);
    }
    log.close();
    let mut bytes = log.bytes.clone();
    for damage in description.damages.iter().take(8) {
        apply(damage, &mut bytes);
    }
    if description.damages.is_empty() {
        let mut options = Options { format: Some(FormatId::QEMU), ..Options::default() };
        options.choices.set("qemu-version", ids.release).unwrap();
        let report = tracemend::check(&FileSet::single("log", &bytes), &options);
        ensure(!report.has_errors(), "a sound log has no error", || {
            format!("{:?}", report.findings())
        })?;
        let events = log.marks.len() as u64;
        ensure(report.tally.records == events, "every event is counted", || {
            format!("{} of {events}", report.tally.records)
        })?;
    }
    if description.is_release_named {
        return with(
            &bytes,
            Some(ids.release.to_string()),
            description.seed & 1 == 1,
            Allow::Lossy,
        );
    }
    chosen(&bytes, description.seed)
}

/// Adds one event with the events that it needs around it.
fn push_event(log: &mut forge::Log, kind: u8, value: u32, small: u8) {
    let ids = log.ids;
    let bytes = vec![small; usize::from(small)];
    let has = |name: &str| ids.asynchronous.contains(&name);
    match kind % 16 {
        0 if ids.chars.is_some() => {
            _ = log.char_write(value & 0xff, value & 0xff).instruction(1).host()
        }
        1 if ids.chars.is_some() => _ = log.read_all(&bytes),
        2 if ids.chars.is_some() => _ = log.read_error(-1 - i32::from(small)),
        3 if ids.random.is_some() => _ = log.random(0, &bytes),
        4 if ids.audio.is_some() => _ = log.audio_out(u64::from(small)),
        // The ring has more samples than were recorded.
        5 if ids.audio.is_some() => {
            let samples = small & 15;
            log.audio_in(samples.into(), 100 + u64::from(small), samples.into());
        }
        6 => _ = log.checkpoint("CP_CLOCK_HOST").key(value % 100, small & 1).sync().host(),
        7 => _ = log.checkpoint("CP_CLOCK_HOST").button(value % 5, small & 1).sync().host(),
        8 => _ = log.checkpoint("CP_CLOCK_HOST").pointer(2, value & 1, -9).sync().host(),
        9 if has("ASYNC_CHAR_READ") => {
            _ = log.checkpoint("CP_CLOCK_HOST").char_read(small & 3, &bytes)
        }
        10 if has("ASYNC_NET") => _ = log.checkpoint("CP_CLOCK_HOST").net(0, value & 1, &bytes),
        11 if has("ASYNC_BLOCK") => {
            let done = log.marks.iter().filter(|mark| mark.name == "ASYNC_BLOCK").count();
            let id = u64::try_from(done).unwrap().to_be_bytes();
            log.checkpoint("CP_CLOCK_HOST").asynchronous("ASYNC_BLOCK", &id);
        }
        12 => _ = log.shutdown(usize::from(small) % ids.causes.len()),
        _ => _ = log.tick(usize::from(small)),
    }
}

fn apply(damage: &Damage, bytes: &mut Vec<u8>) {
    let len = bytes.len();
    let at = |place: u16| usize::from(place) % (len + 1);
    match damage {
        Damage::Byte(place, value) => {
            bytes.iter_mut().skip(at(*place)).take(1).for_each(|byte| *byte = *value);
        }
        Damage::Killed(place) => {
            bytes.truncate(at(*place));
            bytes.iter_mut().take(4).for_each(|byte| *byte = 0);
        }
        Damage::Cut(place) => bytes.truncate(at(*place)),
        Damage::Zeros(place, count) => {
            bytes.iter_mut().skip(at(*place)).take((*count).into()).for_each(|byte| *byte = 0);
        }
        Damage::Drop(place, count) => {
            let end = (at(*place) + usize::from(*count)).min(len);
            bytes.drain(at(*place)..end);
        }
        Damage::Insert(place, what) => {
            let place = at(*place);
            bytes.splice(place..place, what.iter().take(256).copied());
        }
    }
}
