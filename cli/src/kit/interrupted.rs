//! The line about a run that a signal ends: a handler writes it, so the numbers are atomic and
//! nothing is allocated.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Recordings that are done in a command over many.
static DONE: AtomicU64 = AtomicU64::new(0);
/// Outputs, plans and reports that have their names.
static WRITTEN: AtomicU64 = AtomicU64::new(0);
/// Whether a bar is drawn on the terminal.
static DRAWN: AtomicBool = AtomicBool::new(false);

/// Bytes of the line at most.
pub(crate) const LINE_MAX: usize = 160;

/// Counts a recording that is done.
pub(crate) fn count_done() {
    DONE.fetch_add(1, Ordering::SeqCst);
}

/// Counts a file or folder that got its name.
pub(crate) fn count_written() {
    WRITTEN.fetch_add(1, Ordering::SeqCst);
}

/// Notes whether the last line of the terminal has a bar.
pub(crate) fn note_bar(is_drawn: bool) {
    DRAWN.store(is_drawn, Ordering::SeqCst);
}

/// Returns the line about this run.
pub(crate) fn describe(line: &mut [u8; LINE_MAX]) -> &[u8] {
    let order = Ordering::SeqCst;
    put(line, DRAWN.load(order), DONE.load(order), WRITTEN.load(order))
}

fn put(line: &mut [u8; LINE_MAX], is_drawn: bool, done: u64, written: u64) -> &[u8] {
    let mut text = Text { line, len: 0 };
    if is_drawn {
        // To the beginning of the line, which is cleared: the terminal has shown ^C in it.
        text.add(b"\r\x1b[K");
    }
    text.add(b"tracemend: interrupted");
    if done > 0 {
        text.add(b" after ");
        text.add_count(done, b" recording");
    }
    text.add(b": ");
    match written {
        0 => text.add(b"no file was written"),
        _ => {
            text.add_count(written, b" file");
            text.add(if written == 1 { b" was written, and is complete" } else { OF_SEVERAL });
        }
    }
    text.add(b"\n");
    let Text { line, len } = text;
    line.get(..len).unwrap_or_default()
}

/// The sentence about several files.
const OF_SEVERAL: &[u8] = b" were written, and are complete";

/// A line that grows in its place.
struct Text<'l> {
    line: &'l mut [u8; LINE_MAX],
    len: usize,
}

impl Text<'_> {
    /// Adds bytes, as far as there is room.
    fn add(&mut self, bytes: &[u8]) {
        let room = self.line.get_mut(self.len..).unwrap_or_default();
        for (place, byte) in room.iter_mut().zip(bytes) {
            *place = *byte;
            self.len += 1;
        }
    }

    fn add_count(&mut self, count: u64, noun: &[u8]) {
        let mut divisor = 1_u64;
        while count / divisor >= 10 {
            divisor *= 10;
        }
        while divisor > 0 {
            let digit = u8::try_from(count / divisor % 10).unwrap_or(0);
            self.add(&[b'0' + digit]);
            divisor /= 10;
        }
        self.add(noun);
        if count != 1 {
            self.add(b"s");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_was_done() {
        let text = |is_drawn, done, written| {
            let mut line = [0; LINE_MAX];
            String::from_utf8(put(&mut line, is_drawn, done, written).to_vec()).unwrap()
        };
        assert_eq!(text(false, 0, 0), "tracemend: interrupted: no file was written\n");
        let after =
            "tracemend: interrupted after 1 recording: 1 file was written, and is complete\n";
        assert_eq!(text(false, 1, 1), after);
        let most = text(true, u64::MAX, 1_203);
        let expected = "\r\x1b[Ktracemend: interrupted after 18446744073709551615 recordings: 1203 \
                        files were written, and are complete\n";
        assert_eq!(most, expected);
        assert!(text(true, u64::MAX, u64::MAX).len() < LINE_MAX);
    }
}
