//! Compiled into the copy of the library: which mutant runs.
#![allow(missing_docs, reason = "not part of the library")]

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

const RECORD: u32 = u32::MAX - 1;
const UNREAD: u32 = u32::MAX;
static CHOSEN: AtomicU32 = AtomicU32::new(UNREAD);
static SEEN: [AtomicBool; 20_000] = [const { AtomicBool::new(false) }; 20_000];
static LOG: OnceLock<Option<File>> = OnceLock::new();

/// Whether this process runs the mutant `number`.
#[inline]
pub fn is_on(number: u32) -> bool {
    let chosen = CHOSEN.load(Relaxed);
    if chosen < RECORD { chosen == number } else { record(number) }
}

/// Without a choice, notes that the place was reached.
#[cold]
pub fn record(number: u32) -> bool {
    if CHOSEN.load(Relaxed) == UNREAD {
        let choice = std::env::var("MUTANT").ok().and_then(|choice| choice.parse().ok());
        CHOSEN.store(choice.unwrap_or(RECORD), Relaxed);
        return is_on(number);
    }
    let log = LOG.get_or_init(|| {
        OpenOptions::new().append(true).open(std::env::var_os("MUTANTS_SEEN")?).ok()
    });
    let seen = usize::try_from(number).ok().and_then(|number| SEEN.get(number));
    if let (Some(mut log), Some(seen)) = (log.as_ref(), seen)
        && !seen.swap(true, Relaxed)
    {
        let _ = log.write_all(format!("{number}\n").as_bytes());
    }
    false
}
