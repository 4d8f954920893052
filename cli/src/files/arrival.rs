//! Recordings that were wrapped or converted on their way: read as the recorder wrote them.
//!
//! ```text
//!  bytes of a step   few    in memory, as those of a small file
//!                    many   in one file without a name, which all threads share
//! ```
//!
//! The file is made before the sandbox allows no further ones. The place of a step is given back
//! when nobody reads it any more.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tracemend::transport::{self, Arrived, Content, Store};
use tracemend::{Digest, FileSet, Options, Plan, PlanStep, Source};

use crate::files::mapped::Mapped;
use crate::files::paths::shown;
use crate::files::recording::{InputFile, Recording};
use crate::kit::exit::{Exit, Failure};

/// Maps begin at multiples of this.
const PAGE: u64 = 64 << 10;

/// The bytes of steps.
#[derive(Debug, Default)]
pub(crate) struct Spool {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    file: Option<Arc<File>>,
    end: u64,
}

impl Spool {
    /// Makes the file, as long as that is allowed. Without one, large steps fail.
    pub(crate) fn reserve(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.file = tempfile::tempfile().ok().map(Arc::new);
    }
}

/// Bytes that are being kept: in memory until they are many.
struct Gathered<'s> {
    memory: Vec<u8>,
    state: &'s mut State,
    /// Where they begin in the file, if they are there.
    start: Option<u64>,
}

impl Write for Gathered<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.start.is_none() && Mapped::may_hold(self.memory.len() + bytes.len()) {
            self.memory.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        let mut file: &File = match &self.state.file {
            Some(file) => file,
            None => self.state.file.insert(Arc::new(tempfile::tempfile()?)),
        };
        if self.start.is_none() {
            let start = self.state.end.next_multiple_of(PAGE);
            file.seek(SeekFrom::Start(start))?;
            file.write_all(&self.memory)?;
            self.start = Some(start);
        }
        file.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Store for Spool {
    type Kept = Mapped;

    fn keep(
        &self,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Self::Kept> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut gathered = Gathered { memory: Vec::new(), state: &mut state, start: None };
        write(&mut gathered)?;
        let Gathered { memory, start, .. } = gathered;
        let (Some(start), Some(file)) = (start, state.file.clone()) else {
            return Ok(Mapped::of_bytes(memory));
        };
        let end = (&*file).stream_position()?;
        state.end = end;
        Mapped::part(file, start, end.saturating_sub(start))
    }
}

/// How recordings are read that were wrapped or converted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival<'a> {
    /// `None` if they are read as they are stored.
    pub(crate) options: Option<&'a Options>,
    pub(crate) spool: &'a Spool,
}

impl Arrival<'_> {
    /// Returns the recording as its recorder wrote it.
    pub(crate) fn of(&self, recording: Recording) -> Result<Recording, Failure> {
        let Some(options) = self.options.filter(|_| recording.undone.is_empty()) else {
            return Ok(recording);
        };
        let arrived = transport::arrive(&recording.file_set(), options, self.spool);
        recording.was_readable()?;
        let arrived = arrived.map_err(|error| describe(&recording.path, &error))?;
        Ok(match arrived {
            Some(arrived) => take_over(recording, arrived),
            None => recording,
        })
    }
}

/// Undoes the ways that a plan lists. Returns `None` if the recording is not the one of the plan.
pub(crate) fn undo(
    recording: Recording,
    plan: &Plan,
    spool: &Spool,
) -> Result<Option<Recording>, Failure> {
    if plan.steps().next().is_none() {
        return Ok(Some(recording));
    }
    let arrived = transport::undo(&recording.file_set(), plan, spool);
    let arrived = arrived.map_err(|error| describe(&recording.path, &error))?;
    Ok(arrived.map(|arrived| take_over(recording, arrived)))
}

/// Wraps or converts files again in the ways that a plan lists, from the last to the first. Fails
/// if one of them has no way back.
pub(crate) fn convert(
    files: &FileSet<'_>,
    plan: &Plan,
    spool: &Spool,
) -> Result<Vec<Mapped>, Failure> {
    let mut all: Vec<Option<Mapped>> = files.files().iter().map(|_| None).collect();
    let refused = |reason: String| Failure::new(Exit::Unrepaired, reason);
    let steps: Vec<&PlanStep> = plan.steps().collect();
    for step in steps.into_iter().rev() {
        let way = step.wrapper().map_err(|error| refused(error.to_string()))?;
        let mut found = files.files().iter().zip(&mut all);
        let is_single = files.files().len() == 1;
        let found = found.find(|(file, _)| is_single || file.name == step.file);
        let mut has_way = found.is_some();
        if let Some((file, kept)) = found {
            let next = spool.keep(&mut |out| {
                let source = match kept {
                    Some(kept) => Source::new(kept.bytes()),
                    None => file.bytes.clone(),
                };
                has_way = transport::convert(way, &source, out)?;
                Ok(())
            });
            *kept = Some(next.map_err(|error| Failure::io("a temporary file", &error))?);
        }
        let mut kept = all.iter().flatten();
        if !has_way || !kept.any(|kept| Digest::of(&Source::new(kept.bytes())) == step.stored) {
            return Err(refused(format!(
                "the file was {}: it is the way back itself, and is not made again; nothing was \
                 written",
                way.description()
            )));
        }
    }
    let keep = |(kept, file): (Option<Mapped>, &tracemend::File<'_>)| match kept {
        Some(kept) => Ok(kept),
        None => {
            spool.keep(&mut |out| file.bytes.pieces().try_for_each(|piece| out.write_all(piece)))
        }
    };
    let all: io::Result<Vec<Mapped>> = all.into_iter().zip(files.files()).map(keep).collect();
    all.map_err(|error| Failure::io("a temporary file", &error))
}

fn take_over(recording: Recording, arrived: Arrived<Mapped>) -> Recording {
    let Recording { path, directory, files: stored, unfollowed_links, .. } = recording;
    let Arrived { files, undone, is_folder, obstacle } = arrived;
    let is_single = stored.len() == 1;
    let mut stored: Vec<Option<InputFile>> = stored.into_iter().map(Some).collect();
    let mut taken = Vec::new();
    for (at, (name, content)) in files.into_iter().enumerate() {
        let model = if is_single { 0 } else { at };
        let file = match content {
            Content::Stored(index) => {
                usize::try_from(index).ok().and_then(|index| stored.get_mut(index)?.take())
            }
            content => stored.get(model).and_then(Option::as_ref).map(|model| match content {
                Content::Kept(map) => model.arrived(name, map, is_folder),
                _ => InputFile::absent(&name, None, &model.metadata),
            }),
        };
        taken.extend(file);
    }
    let directory = directory || is_folder;
    let obstacle = obstacle.map(Box::new);
    Recording { path, directory, files: taken, unfollowed_links, undone, obstacle }
}

fn describe(path: &Path, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::FileTooLarge {
        let message = format!("{}: CM9001 limit-reached: {error}", shown(path));
        return Failure::new(Exit::Incomplete, message);
    }
    Failure::io(shown(path), error)
}
