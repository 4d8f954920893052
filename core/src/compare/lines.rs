//! The records of two dumps, side by side.
//!
//! A dump passes its text on, piece by piece, and cannot be asked for the next record. So each dump
//! runs on a thread of its own, which waits when it is a few pieces ahead.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use crate::compare::hidden::Ends;
use crate::format::Format;
use crate::kit::steps;
use crate::model::difference::Compared;
use crate::model::dump::{Dump, DumpError, Dumped};
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::row::Row;

/// Pieces of text that a dump is ahead of the comparison.
const PIECES_AHEAD: usize = 2;

/// A piece of text, and the steps that were taken since the one before.
type Piece = (String, u64);

/// The records of one dump, from the next one on.
pub(super) struct Side {
    pieces: Receiver<Piece>,
    /// Records that were looked at before their turn.
    waiting: VecDeque<String>,
    /// Where the last record ended.
    pub(super) end: Option<u64>,
}

impl Side {
    /// Returns the record `ahead` after the next one; `None` after the last one, and after the
    /// limit of steps. The steps of a piece count when it is read: how far a dump is ahead depends
    /// on the machine.
    pub(super) fn peek(&mut self, ahead: usize) -> Option<&str> {
        while self.waiting.len() <= ahead {
            let (piece, steps) = self.pieces.recv().ok()?;
            steps::count(steps);
            if steps::is_spent() {
                return None;
            }
            self.waiting.extend(piece.lines().map(str::to_string));
        }
        self.waiting.get(ahead).map(String::as_str)
    }

    /// Passes over the next record.
    pub(super) fn advance(&mut self) {
        let Some(line) = self.waiting.pop_front() else { return };
        // The end is only needed after the last record.
        if self.waiting.is_empty() {
            let place = Row::read(&line).and_then(|row| {
                row.integer("offset")?.checked_add(row.integer("length")?)?.try_into().ok()
            });
            self.end = place.or(self.end);
        }
    }
}

/// Dumps both recordings while `compare` runs; adds the bytes that they left out.
pub(super) fn side_by_side(
    [one, two]: [&FileSet<'_>; 2],
    (format, options): (&dyn Format, &Options),
    compare: impl FnOnce([Side; 2]) -> (Compared, Ends),
) -> Result<(Compared, Ends), DumpError> {
    let rest = steps::rest();
    let run = |files: &FileSet<'_>, out: SyncSender<Piece>| {
        steps::with_rest(rest);
        let dumped = format.dump(files, options, &Dump::JsonLines, &mut |piece| {
            out.send((piece.to_string(), steps::take())).is_ok()
        });
        // Nobody may be there to read the last one.
        let _sent = out.send((String::new(), steps::take()));
        dumped
    };
    let run = &run;
    thread::scope(|scope| {
        let start = |files| {
            let (sender, pieces) = sync_channel(PIECES_AHEAD);
            let started = thread::Builder::new().spawn_scoped(scope, move || run(files, sender));
            let no_thread = |_| DumpError::Choice("no thread can be started".to_string());
            let side = Side { pieces, waiting: VecDeque::new(), end: None };
            started.map(|thread| (thread, side)).map_err(no_thread)
        };
        let (one, first) = start(one)?;
        let (two, second) = start(two)?;
        // A dump that is not read to its end stops when its reader is gone.
        let (mut compared, ends) = compare([first, second]);
        let (one, two) = (join(one)?, join(two)?);
        compared.left_out = [one.left_out, two.left_out];
        Ok((compared, ends))
    })
}

fn join(
    thread: thread::ScopedJoinHandle<'_, Result<Dumped, DumpError>>,
) -> Result<Dumped, DumpError> {
    // A panic goes on where it can be caught.
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
