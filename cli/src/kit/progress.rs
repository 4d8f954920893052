//! Progress of long work, on standard error if that is a terminal.
//!
//! Nothing is drawn for work that ends at once. Over several recordings the bar counts bytes and
//! shows how many recordings are done, the rate and the time that is left; one recording is checked
//! in one piece, so that there is only a clock beside its size.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracemend::words::plural;

use crate::kit::look::Look;

/// Work that takes no longer shows no progress.
const DELAY: Duration = Duration::from_millis(700);
/// Time between two drawings.
const TICK: Duration = Duration::from_millis(150);
/// Entries of the named directories that are looked at for the sum of their bytes. A walk that is
/// larger has a clock and a rate, but no time that is left.
const ENTRIES_MAX: usize = 200_000;

/// The progress of one command; nothing if there is no terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    message: String,
    /// Recordings that are done.
    done: Cell<u64>,
    /// Dropped at the end, which wakes the thread that waits for [`DELAY`].
    end: Option<Sender<()>>,
}

impl Progress {
    /// Progress over recordings of `bytes` in all, if that is known.
    pub(crate) fn new(look: Look, message: String, bytes: Option<u64>) -> Self {
        if !look.progress {
            return Self { bar: ProgressBar::hidden(), message, done: Cell::new(0), end: None };
        }
        let bar = ProgressBar::with_draw_target(bytes, ProgressDrawTarget::hidden());
        let bar = bar.with_message(message.clone());
        let template = match bytes {
            Some(_) => "{msg} {bar:20} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
            None => "{spinner} {msg}, {elapsed}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(match look.unicode {
                true => style,
                false => style.progress_chars("#>-").tick_chars("|/-\\ "),
            });
        }
        let (end, ended) = channel();
        let shown = bar.clone();
        std::thread::spawn(move || {
            if ended.recv_timeout(DELAY) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(TICK);
            }
        });
        Self { bar, message, done: Cell::new(0), end: Some(end) }
    }

    /// Counts a recording of `bytes` that is done.
    pub(crate) fn advance(&self, bytes: u64) {
        if self.bar.is_hidden() && self.end.is_none() {
            return;
        }
        self.done.set(self.done.get().saturating_add(1));
        self.bar.set_message(format!("{}, {}", self.message, plural(self.done.get(), "recording")));
        self.bar.inc(bytes);
    }

    /// Takes the bar away while something else is written to the terminal.
    pub(crate) fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Returns the bytes below these paths, or `None` if one of them cannot be summed up quickly.
pub(crate) fn sum_bytes(paths: &[PathBuf]) -> Option<u64> {
    let mut sum = 0_u64;
    let mut entries = 0_usize;
    for path in paths {
        let one = |path: &Path| std::fs::metadata(path).ok();
        let metadata = one(path)?;
        if !metadata.is_dir() {
            sum = sum.saturating_add(metadata.len());
            continue;
        }
        for entry in walkdir::WalkDir::new(path) {
            entries += 1;
            if entries > ENTRIES_MAX {
                return None;
            }
            let metadata = entry.ok().and_then(|entry| entry.metadata().ok());
            let file = metadata.filter(std::fs::Metadata::is_file);
            sum = sum.saturating_add(file.map_or(0, |file| file.len()));
        }
    }
    Some(sum)
}
