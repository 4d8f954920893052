//! The observations of a target: reports, repairs, and whatever else a user would see.
//!
//! The laws say what must never happen. They hold as well if a check finds less than it did, or a
//! repair chooses another fix. `tests/tests/all/observed.rs` compares what is observed with what it
//! was, so that such a change is seen.

use std::cell::RefCell;
use std::fmt::Debug;
use std::io::Write;

use tracemend::{Dump, FileSet, Options};

use super::{Broken, Held};

thread_local! {
    /// What was noted so far, if this thread observes.
    static NOTED: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// Runs a target and returns what it noted. Dear laws and long searches are left to a share of the
/// inputs, as under a fuzzer.
pub fn during(target: impl FnOnce() -> Held) -> Result<Vec<u8>, Broken> {
    NOTED.set(Some(Vec::new()));
    let held = target();
    let noted = NOTED.take();
    held.map(|()| noted.unwrap_or_default())
}

/// Returns whether this thread observes.
pub(crate) fn is_on() -> bool {
    NOTED.with_borrow(Option::is_some)
}

/// Notes bytes.
pub(crate) fn note(bytes: &[u8]) {
    NOTED.with_borrow_mut(|noted| noted.iter_mut().for_each(|noted| noted.extend(bytes)));
}

/// Notes the debug text of a value in a line of its own; nothing is written if nobody observes.
pub(crate) fn note_debug(value: &dyn Debug) {
    NOTED.with_borrow_mut(|noted| {
        if let Some(noted) = noted {
            let _infallible = writeln!(noted, "{value:?}");
        }
    });
}

/// Notes a recording as every dump and the map show it.
pub(crate) fn shown(files: &FileSet<'_>, options: &Options) {
    let Some(format) = options.format.filter(|_| is_on()) else { return };
    let styles = format.dump_styles().iter().map(|(style, _)| Some((*style).to_string()));
    let texts = styles.map(|style| Dump::Text { style });
    for request in texts.chain([Dump::JsonLines]) {
        let mut len = 0;
        let dumped = tracemend::dump(files, options, &request, &mut |piece| {
            note(piece.as_bytes());
            len += piece.len();
            len < DUMP_MAX
        });
        note_debug(&dumped);
    }
    tracemend::map(files, options, usize::MAX, &mut |step| note_debug(&step));
}

/// Bytes of a dump that are noted.
const DUMP_MAX: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_target_notes_is_observed() {
        note(b"before");
        let noted = during(|| {
            note(b"one ");
            note_debug(&[1, 2]);
            Ok(())
        });
        assert_eq!(noted, Ok(b"one [1, 2]\n".to_vec()));
        assert!(!is_on());
    }
}
