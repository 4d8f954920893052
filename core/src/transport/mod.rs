//! The way of a recording from its recorder to its reader: recognised, and undone.
//!
//! ```text
//!  stored bytes --way--> bytes before it --way--> ... --> a recording
//!               gzip                     base64
//! ```
//!
//! A way is likely by the first bytes, and proven by the recording that comes out: a format has to
//! recognise it. Magics survive some conversions. Of a file that a format recognises as it is
//! stored, the checks of both decide, in the race of readings of a whole file
//! ([`crate::mend::reading`]). A sound file costs a look at its first bytes.
//!
//! Nothing here does I/O: the bytes of each step go to a [`Store`], so that a program can keep them
//! in a file.

mod archive;
mod converted;
mod describe;
mod escaped;
mod hexdump;
mod packed;
mod reader;
mod text;
mod ways;

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use crate::catalogue;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::words::byte_count;
use crate::kit::wrapper::Wrapper;
use crate::mend::plan::{Digest, Plan};
use crate::mend::reading::{check, explains, explains_files, reads_further};
use crate::mend::view::check_plain;
use crate::model::Finding;
use crate::model::arrival::Undone;
use crate::model::edit::Safety;
use crate::model::limits::{TRANSPORTS, UNPACKED, UNPACKED_RATIO};
use crate::model::options::Options;
use crate::model::recording::{File, FileSet};
use crate::model::report::Report;
use crate::model::rule::Severity;
use reader::head_of;
use ways::{HEAD, begins, find, is_conversion, is_of_characters, least_dropped, needs_proof, open};

/// Bytes that are passed on at a time.
const PIECE: usize = 64 << 10;
/// Bytes that a file may always expand to.
const ALWAYS: u64 = 64 << 20;

/// A place for the bytes of a step.
pub trait Store {
    /// Bytes that are kept.
    type Kept: AsRef<[u8]>;

    /// Keeps the bytes that `write` writes.
    ///
    /// # Errors
    ///
    /// Those of the place, and those of `write`.
    fn keep(
        &self,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Self::Kept>;
}

/// Keeps bytes in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory;

impl Store for Memory {
    type Kept = Vec<u8>;

    fn keep(
        &self,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Self::Kept> {
        let mut kept = Vec::new();
        write(&mut kept).map(|()| kept)
    }
}

/// The bytes of a file of a recording that arrived.
#[derive(Debug)]
pub enum Content<K> {
    /// Those of the file with this number, as they are stored.
    Stored(u32),
    /// Other bytes.
    Kept(K),
    /// The recording should have the file, but it does not exist.
    Absent,
}

/// A recording after every way was undone.
#[derive(Debug)]
pub struct Arrived<K> {
    /// The names and bytes of its files.
    pub files: Vec<(String, Content<K>)>,
    /// The ways, the outermost first.
    pub undone: Vec<Undone>,
    /// Whether the files come from an archive, as those of a folder.
    pub is_folder: bool,
    /// Why a way is not undone. The files are then those that are stored.
    pub obstacle: Option<Finding>,
}

impl<K: AsRef<[u8]>> Arrived<K> {
    /// Returns the recording. `stored` is the one that was given to [`arrive`].
    pub fn view<'a>(&'a self, stored: &FileSet<'a>) -> FileSet<'a> {
        let bytes = |content: &'a Content<K>| match content {
            Content::Stored(index) => stored.bytes(*index),
            Content::Kept(kept) => Source::new(kept.as_ref()),
            Content::Absent => Source::absent(),
        };
        let files =
            self.files.iter().map(|(name, content)| File::new(name.clone(), bytes(content)));
        FileSet::new(files.collect())
            .with_donor(stored.donor().cloned())
            .with_unfollowed_links(stored.unfollowed_links().to_vec())
            .with_undone(self.undone.clone())
            .with_obstacle(self.obstacle.clone())
    }

    /// Returns the recording after further ways were undone. The stored files of `further` are
    /// those of this recording.
    fn then(self, further: Self) -> Self {
        let mut before: Vec<Option<Content<K>>> =
            self.files.into_iter().map(|(_, content)| Some(content)).collect();
        let mut content_of = |content| match content {
            Content::Stored(index) => {
                let place = usize::try_from(index).ok().and_then(|index| before.get_mut(index));
                place.and_then(Option::take).unwrap_or(Content::Absent)
            }
            other => other,
        };
        let files = further.files.into_iter().map(|(name, content)| (name, content_of(content)));
        Self {
            files: files.collect(),
            undone: [self.undone, further.undone].concat(),
            is_folder: self.is_folder || further.is_folder,
            obstacle: None,
        }
    }
}

/// Finds the ways in which the files of a recording were wrapped or converted, and undoes them.
/// Returns `None` for a recording that arrived as it was.
///
/// ```
/// use tracemend::{FileSet, Options, transport};
///
/// // A recording of one device, sent as base64.
/// let text = b"UkVWRU5UAgAAAAAAAAAAAAEAAAARAAAAL2Rldi9pbnB1dC9ldmVudDEAAAAAAAAAAA==\n";
/// let stored = FileSet::single("keys.run.revent", text);
/// let options = Options::default();
/// let arrived = transport::arrive(&stored, &options, &transport::Memory)?.expect("base64");
/// let recording = arrived.view(&stored);
/// assert!(recording.bytes(0).to_vec().starts_with(b"REVENT"));
/// // A check says how it arrived.
/// let report = tracemend::check(&recording, &options);
/// assert!(report.findings().iter().any(|one| one.rule.name == "encoded-as-text"));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Those of the store, and [`io::ErrorKind::FileTooLarge`] at the limit [`UNPACKED`].
pub fn arrive<S: Store>(
    stored: &FileSet<'_>,
    options: &Options,
    store: &S,
) -> io::Result<Option<Arrived<S::Kept>>> {
    let engine = Engine { options, store };
    let arrived = match stored.files() {
        [file] => engine.follow(file, options.limits.of(&TRANSPORTS), false)?,
        _ => engine.follow_members(stored, options.limits.of(&TRANSPORTS))?,
    };
    Ok(arrived.map(|arrived| engine.classify(arrived, stored)))
}

/// Undoes the ways that a plan lists. Returns `None` if a file is not the one of the plan.
///
/// # Errors
///
/// Those of the store, and [`io::ErrorKind::InvalidData`] for a way that this version does not
/// know. At most as many bytes are written as the plan states.
pub fn undo<S: Store>(
    stored: &FileSet<'_>,
    plan: &Plan,
    store: &S,
) -> io::Result<Option<Arrived<S::Kept>>> {
    let lengths = plan.steps().map(|step| step.stored.length);
    let lengths = lengths.chain(plan.files.iter().map(|file| file.source.length));
    let mut options = Options::default();
    options.limits.set(&UNPACKED, lengths.fold(0, u64::saturating_add));
    options.limits.set(&UNPACKED_RATIO, u64::MAX);
    let engine = Engine { options: &options, store };
    let files = (0_u32..).zip(stored.files());
    let files = files.map(|(index, file)| (file.name.clone(), Content::Stored(index)));
    let mut arrived =
        Arrived { files: files.collect(), undone: Vec::new(), is_folder: false, obstacle: None };
    for step in plan.steps() {
        let way = step.wrapper();
        let way = way.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        let now = arrived.view(stored);
        let mut files = (0_usize..).zip(now.files());
        // A single file may have been renamed.
        let is_named = |file: &File<'_>| file.name == step.file || now.files().len() == 1;
        let found = files.find(|(_, file)| is_named(file));
        let found = found.filter(|(_, file)| Digest::of(&file.bytes) == step.stored);
        let Some((at, file)) = found else { return Ok(None) };
        let Some(next) = engine.step(way, file)? else { return Ok(None) };
        arrived.undone.extend(next.undone);
        if next.is_folder {
            arrived.files = next.files;
            arrived.is_folder = true;
        } else if let Some(place) = arrived.files.get_mut(at) {
            let content = next.files.into_iter().next().map(|(_, content)| content);
            *place = (step.file.clone(), content.unwrap_or(Content::Absent));
        }
    }
    Ok(Some(arrived))
}

/// Writes the bytes of a file again as they arrived in a way; returns false, without a byte
/// written, if the way has no way back.
///
/// # Errors
///
/// Those of `out`.
pub fn convert(way: Wrapper, source: &Source<'_>, out: &mut dyn Write) -> io::Result<bool> {
    let Some(mut stream) = ways::close(way, source) else { return Ok(false) };
    io::copy(&mut stream, out).map(|_| true)
}

/// The options and the store of all steps.
struct Engine<'e, S> {
    options: &'e Options,
    store: &'e S,
}

impl<S: Store> Engine<'_, S> {
    /// Follows the ways of one file until a recording comes out, or of a file of several until one
    /// that begins like one of a recording comes out.
    fn follow(
        &self,
        file: &File<'_>,
        depth: u64,
        is_member: bool,
    ) -> io::Result<Option<Arrived<S::Kept>>> {
        if depth == 0 || file.bytes.is_empty() {
            return Ok(None);
        }
        let ways = find(&file.bytes);
        if ways.is_empty() {
            // Nothing is decoded by trial.
            return Ok(None);
        }
        let set = FileSet::new(vec![file.clone()]);
        let is_recording =
            catalogue::begins(&file.bytes.read(0, HEAD)) || !is_member && self.is_recording(&set);
        let ways: Vec<Wrapper> = ways
            .into_iter()
            .filter(|way| is_member || self.is_likely(*way, &file.bytes, is_recording, depth))
            .collect();
        let is_ambiguous = ways.iter().filter(|way| is_conversion(**way)).count() > 1;
        let mut doubtful = None;
        for way in ways {
            let Some(mut next) = self.step(way, file)? else { continue };
            if next.obstacle.is_some() {
                return Ok(Some(next));
            }
            let (now, depth) = (next.view(&set), depth.saturating_sub(1));
            let mut further = match now.files() {
                [inner] => self.follow(inner, depth, is_member)?,
                _ => self.follow_members(&now, depth)?,
            };
            if let Some(further) = further.take_if(|further| further.obstacle.is_some()) {
                return Ok(Some(further));
            }
            let is_last = further.is_none();
            next = further.into_iter().fold(next, Arrived::then);
            let is_accepted = match way {
                _ if is_member => true,
                Wrapper::TextAfter => self.is_better_without(&set, &mut next),
                _ if is_recording && is_conversion(way) => {
                    self.is_explained(&set, &next.view(&set))
                        || self.is_converted(way, &set, &next.view(&set))
                }
                _ => !is_last || self.is_recording(&next.view(&set)),
            };
            // A wrapper was perhaps converted later, and characters were perhaps of another set.
            let is_damaged = next.undone.first().is_some_and(has_loss);
            let is_doubtful =
                is_damaged || is_ambiguous && !is_member && self.has_errors(&next.view(&set));
            if is_accepted && is_doubtful {
                doubtful = doubtful.or(Some(next));
            } else if is_accepted {
                return Ok(Some(next));
            }
        }
        Ok(doubtful)
    }

    /// Follows the ways of the files of a recording that has several.
    fn follow_members(
        &self,
        stored: &FileSet<'_>,
        depth: u64,
    ) -> io::Result<Option<Arrived<S::Kept>>> {
        let (mut files, mut undone) = (Vec::new(), Vec::new());
        for (index, file) in (0_u32..).zip(stored.files()) {
            let next = self.follow(file, depth, true)?;
            let is_file = |next: &Arrived<_>| !next.is_folder && next.obstacle.is_none();
            let content = next.filter(is_file).map(|next| {
                undone.extend(next.undone.into_iter().map(|one| one.of_file(index)));
                next.files.into_iter().next().map_or(Content::Absent, |(_, content)| content)
            });
            files.push((file.name.clone(), content.unwrap_or(Content::Stored(index))));
        }
        let arrived = Arrived { files, undone, is_folder: false, obstacle: None };
        let is_explained = !arrived.undone.is_empty()
            && self.are_explained(stored, &arrived.view(stored), &arrived.undone);
        Ok(is_explained.then_some(arrived))
    }

    /// Returns whether each file that ways have changed begins like a recording then, and not
    /// before, or the checks explain the faults of the others. Other damage in them, or in other
    /// files, proves nothing against a way.
    fn are_explained(
        &self,
        stored: &FileSet<'_>,
        arrived: &FileSet<'_>,
        undone: &[Undone],
    ) -> bool {
        let begins =
            |files: &FileSet<'_>, file: u32| catalogue::begins(&files.bytes(file).read(0, HEAD));
        let changed = undone.iter().map(|one| one.finding.span.layer.file);
        let open = changed.filter(|file| begins(stored, *file) || !begins(arrived, *file));
        let open: Vec<u32> = open.collect();
        let plain = |files: &FileSet<'_>| check_plain(files, self.options);
        open.is_empty()
            || self.is_explained(stored, arrived)
            || explains_files(&plain(stored), &plain(arrived), &open)
    }

    /// Returns whether a recording may come out of a way.
    fn is_likely(&self, way: Wrapper, source: &Source<'_>, is_recording: bool, depth: u64) -> bool {
        let is_archive = matches!(way, Wrapper::Tar | Wrapper::Zip);
        let Some(stream) = open(way, source) else { return is_archive };
        let head = head_of(stream, HEAD);
        // A format may have such containers of its own.
        let is_container = is_recording && Wrapper::by_magic(source) == Some(way);
        begins(&head) || !is_container && self.is_beginning(&head, depth)
    }

    fn has_errors(&self, files: &FileSet<'_>) -> bool {
        check(&FileSet::new(files.files().to_vec()), self.options).has_errors()
    }

    /// Returns whether a recording may begin with these bytes, or something that one is in.
    fn is_beginning(&self, head: &[u8], depth: u64) -> bool {
        self.is_recording(&FileSet::single("", head)) || self.holds_recording(head, depth)
    }

    /// Returns whether something may begin with these bytes that a recording is in.
    fn holds_recording(&self, head: &[u8], depth: u64) -> bool {
        let (source, depth) = (Source::new(head), depth.saturating_sub(1));
        depth > 0 && find(&source).iter().any(|way| self.is_likely(*way, &source, false, depth))
    }

    fn is_recording(&self, files: &FileSet<'_>) -> bool {
        catalogue::sniff(files, self.options).is_some()
    }

    /// Returns whether the check of a recording that arrived explains the faults of the stored one.
    fn is_explained(&self, stored: &FileSet<'_>, arrived: &FileSet<'_>) -> bool {
        explains(&check_plain(stored, self.options), || check_plain(arrived, self.options))
    }

    /// Returns whether a conversion shows although its faults do not explain it: the recording goes
    /// further without it; each of several line feeds follows a carriage return, which is chance in
    /// one of 65,536 files, and it is sound without them; or all its bytes are characters of a set.
    fn is_converted(&self, way: Wrapper, stored: &FileSet<'_>, arrived: &FileSet<'_>) -> bool {
        let (with, without) =
            (check_plain(stored, self.options), check_plain(arrived, self.options));
        let dropped = stored.len().saturating_sub(arrived.len());
        let keeps_records = without.tally.records.saturating_add(dropped) >= with.tally.records;
        // Before, not even the format of a short magic may show.
        let is_shown = match (with.format, without.format) {
            (None, Some(_)) => is_of_characters(way),
            (before, after) if before != after || after.is_none() => false,
            _ if is_of_characters(way) => with.has_errors(),
            _ => way == Wrapper::CrLf && keeps_records && !without.has_errors(),
        };
        is_shown && dropped >= least_dropped(way) || reads_further(&with, &without)
    }

    /// Returns whether a recording has fewer faults without the text after it, and no others. Text
    /// over which its readers read is a warning.
    fn is_better_without(&self, stored: &FileSet<'_>, arrived: &mut Arrived<S::Kept>) -> bool {
        let with = check_plain(stored, self.options);
        let without = check_plain(&arrived.view(stored), self.options);
        let (faults, left) = (faults_by_code(&with), faults_by_code(&without));
        let is_left = |(code, count): (&&str, &u64)| faults.get(code) >= Some(count);
        let are_fewer = left.values().sum::<u64>() < faults.values().sum();
        let is_better = with.format == without.format && are_fewer && left.iter().all(is_left);
        let text = arrived.undone.first_mut().filter(|_| !with.has_errors());
        text.into_iter().for_each(|text| text.finding.severity = Severity::Warning);
        is_better
    }

    /// Sets the class of steps that only a sound recording proves.
    fn classify(&self, mut arrived: Arrived<S::Kept>, stored: &FileSet<'_>) -> Arrived<S::Kept> {
        let is_doubtful = |one: &Undone| needs_proof(one.wrapper);
        if !arrived.undone.iter().any(is_doubtful) {
            return arrived;
        }
        if self.has_errors(&arrived.view(stored)) {
            let fixes = arrived.undone.iter_mut().filter(|one| is_doubtful(one));
            fixes
                .filter_map(|one| one.finding.fix.as_mut())
                .for_each(|fix| fix.safety = Safety::Lossy);
        }
        arrived
    }

    /// Undoes one way, of the file that a recording consists of.
    fn step(&self, way: Wrapper, file: &File<'_>) -> io::Result<Option<Arrived<S::Kept>>> {
        let is_archive = matches!(way, Wrapper::Tar | Wrapper::Zip);
        if is_archive {
            return self.unpack(way, file);
        }
        let Some(mut stream) = open(way, &file.bytes) else { return Ok(None) };
        let mut fault = None;
        let kept = self.store.keep(&mut |out| {
            fault = self.pass_on(&mut stream, self.most(&file.bytes), out)?;
            Ok(())
        })?;
        let length = to_u64(kept.as_ref().len());
        // Of a compressed file the rest is lost; a conversion is of all bytes.
        if length == 0 || fault.is_some() && is_conversion(way) {
            return Ok(None);
        }
        let undone = describe::undone(way, file, length, fault);
        let files = vec![(file.name.clone(), Content::Kept(kept))];
        Ok(Some(Arrived { files, undone: vec![undone], is_folder: false, obstacle: None }))
    }

    /// Returns the bytes that a file may expand to.
    fn most(&self, source: &Source<'_>) -> u64 {
        let limits = &self.options.limits;
        let by_ratio = source.len().saturating_mul(limits.of(&UNPACKED_RATIO)).max(ALWAYS);
        by_ratio.min(limits.of(&UNPACKED))
    }

    /// Passes a stream on, and returns the reason if it cannot be read to its end.
    fn pass_on(
        &self,
        stream: &mut dyn Read,
        most: u64,
        out: &mut dyn Write,
    ) -> io::Result<Option<String>> {
        let (mut piece, mut left) = (vec![0; PIECE], most);
        loop {
            let read = match stream.read(&mut piece) {
                Ok(0) => return Ok(None),
                Ok(read) => read,
                Err(error) => return Ok(Some(error.to_string())),
            };
            left = left.checked_sub(to_u64(read)).ok_or_else(|| too_large(most))?;
            out.write_all(piece.get(..read).unwrap_or_default())?;
        }
    }
}

/// Returns how many errors and warnings of each code a report has.
fn faults_by_code(report: &Report) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::<_, u64>::new();
    for finding in report.findings().iter().filter(|one| one.severity != Severity::Info) {
        let count = counts.entry(finding.rule.code).or_default();
        *count = count.saturating_add(1);
    }
    counts
}

/// Returns whether a step gave a part of the bytes.
fn has_loss(undone: &Undone) -> bool {
    undone.finding.fix.as_ref().is_some_and(|fix| fix.safety == Safety::Lossy)
}

/// The error at the limit on unpacked bytes.
fn too_large(most: u64) -> io::Error {
    let most = byte_count(most);
    let message = format!("it unpacks to more than {most} (--limit {}=N)", UNPACKED.name);
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}
