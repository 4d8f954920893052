//! Progress of long work, on standard error: a bar on a terminal, a line a minute elsewhere.
//!
//! ```text
//!  checking night.data ██████████░░░░░░░░░░ 52 % of 3.22 GB, 1.21 GB/s, 2 s left
//!  checking night.data, step 2 ██░░░░░░░░░░░░░░░░░░ 11 % of 3.22 GB, 940 MB/s, 4 s left
//!  repairing, 123 recordings ██████████░░░░░░░░░░ 52 % of 3.22 GB, 310 MB/s, 5 s left
//! ```
//!
//! Nothing is shown of work that ends at once. A file has a watch, which counts the bytes that the
//! walks over it pass; a thread looks at it several times a second, so the work itself pays nothing
//! for being watched. A step is one walk over all of a recording: how many a damaged one needs is
//! not known before, so the share and the time are those of the step.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracemend::Watch;
use tracemend::words::plural;

use crate::kit::figures::{percent, rate, share, size, wait};
use crate::kit::interrupted;
use crate::kit::look::{Look, Showing};

/// Work that takes no longer shows no progress.
const DELAY: Duration = Duration::from_millis(700);
/// Time between two drawings.
const TICK: Duration = Duration::from_millis(150);
/// Time between two lines, where no terminal shows a bar.
const MINUTE: Duration = Duration::from_secs(60);
/// A step has to last this long before its rate means anything.
const MEASURED: Duration = Duration::from_millis(500);

/// The progress of one command; nothing if nobody waits for it.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    work: Arc<Work>,
    bar: Option<ProgressBar>,
    /// Dropped at the end, which wakes the thread that waits.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The work that is done, as far as it is known.
#[derive(Debug, Default)]
struct Work {
    /// `checking`, or `checking night.data`.
    verb: String,
    /// Bytes of all recordings, if there are several and their sum is known.
    bytes: OnceLock<u64>,
    /// Whether it is about one recording.
    is_one: bool,
    /// Recordings that are done, and their bytes.
    recordings: AtomicU64,
    done: AtomicU64,
    /// The files of the recordings that are being worked on.
    watched: Mutex<Vec<Arc<Watch>>>,
}

/// Passes on to the progress what a thread works on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge(Option<Arc<Work>>);

/// A recording that is being worked on.
#[derive(Debug)]
pub(crate) struct Watching {
    work: Arc<Work>,
    files: Vec<Arc<Watch>>,
}

impl Work {
    fn watched(&self) -> MutexGuard<'_, Vec<Arc<Watch>>> {
        // A thread that panics ends the whole run.
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns the bytes of all recordings.
    fn set_sum(&self, sum: Option<impl FnOnce() -> Option<u64>>) {
        if let Some(bytes) = sum.and_then(|sum| sum()) {
            let _known = self.bytes.set(bytes);
        }
    }

    /// How far the work is.
    fn position(&self) -> Position {
        let watched = self.watched();
        let sum = |of: &dyn Fn(&Watch) -> u64| {
            watched.iter().fold(0, |sum: u64, watch| sum.saturating_add(of(watch)))
        };
        if !self.is_one {
            let under_way = sum(&|watch: &Watch| watch.passed().min(watch.len()));
            let done = self.done.load(Ordering::Relaxed).saturating_add(under_way);
            let of = self.bytes.get().copied();
            return Position { step: 1, done: done.min(of.unwrap_or(u64::MAX)), of, shown: of };
        }
        let (passed, of) = (sum(&|watch| watch.passed()), sum(&|watch| watch.walk_len()));
        // The end of a step belongs to it.
        let steps = passed.saturating_sub(1).checked_div(of).unwrap_or(0);
        let done = passed.saturating_sub(steps.saturating_mul(of));
        let shown = Some(sum(&|watch| watch.len())).filter(|bytes| *bytes > 0);
        Position { step: steps.saturating_add(1), done, of: Some(of).filter(|of| *of > 0), shown }
    }
}

/// A place in the work, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Position {
    step: u64,
    done: u64,
    /// Bytes of the step, if they are known.
    of: Option<u64>,
    /// Bytes that the recordings have.
    shown: Option<u64>,
}

/// Looks at the work again and again.
struct Clock {
    began: Instant,
    /// Where and when the step began that is under way.
    step: (Position, Instant),
}

impl Clock {
    fn start() -> Self {
        let now = Instant::now();
        Self { began: now, step: (Position { step: 1, ..Position::default() }, now) }
    }

    /// Returns the text before the bar and after it.
    fn describe(&mut self, work: &Work, now: Instant) -> (String, String) {
        let position = work.position();
        if position.step != self.step.0.step {
            self.step = (position, now);
        }
        let mut name = work.verb.clone();
        if !work.is_one {
            name += &format!(", {}", plural(work.recordings.load(Ordering::Relaxed), "recording"));
        } else if position.step > 1 {
            name += &format!(", step {}", position.step);
        }
        let (first, since) = &self.step;
        let (passed, time) = (position.done.saturating_sub(first.done), now - *since);
        let figures = match position.of {
            // Standard input, many small files, or too many to sum up.
            None => wait(now - self.began),
            Some(of) => {
                let mut figures = share(position.done, of);
                figures +=
                    &position.shown.map_or(String::new(), |all| format!(" of {}", size(all)));
                if time >= MEASURED && passed > 0 {
                    let left = of.saturating_sub(position.done);
                    let per_second = per_second(passed, time);
                    let left = Duration::from_secs(left / per_second.max(1));
                    figures += &format!(", {}, {} left", rate(per_second), wait(left));
                }
                figures
            }
        };
        (name, figures)
    }
}

fn per_second(bytes: u64, time: Duration) -> u64 {
    let per_second = u128::from(bytes) * 1_000 / time.as_millis().max(1);
    u64::try_from(per_second).unwrap_or(u64::MAX)
}

impl Progress {
    /// Progress over several recordings. `sum` gives the bytes of all, if it can; it is called
    /// before the first drawing, by the thread that draws.
    pub(crate) fn of_many(
        look: Look,
        verb: &str,
        sum: impl FnOnce() -> Option<u64> + Send + 'static,
    ) -> Self {
        Self::start(look, Work { verb: verb.to_string(), ..Work::default() }, sum)
    }

    /// Progress over the one recording that is called `name`, escaped.
    pub(crate) fn of_one(look: Look, verb: &str, name: &str) -> Self {
        let verb = format!("{verb} {name}");
        Self::start(look, Work { verb, is_one: true, ..Work::default() }, || None)
    }

    fn start(look: Look, work: Work, sum: impl FnOnce() -> Option<u64> + Send + 'static) -> Self {
        let work = Arc::new(work);
        let (end, ended) = channel();
        let shown = Arc::clone(&work);
        let (bar, thread) = match look.progress {
            Showing::Nothing => return Self::default(),
            Showing::Lines => {
                let print = |line: &str| {
                    use std::io::Write;
                    // A failure to write to standard error cannot be reported anywhere.
                    let _lost = writeln!(std::io::stderr(), "tracemend: {line}");
                };
                let lines = move || print_lines(&shown, sum, (&ended, MINUTE), print);
                (None, std::thread::spawn(lines))
            }
            Showing::Bar => {
                let bar = ProgressBar::with_draw_target(Some(100), ProgressDrawTarget::hidden());
                let style = ProgressStyle::with_template("{prefix} {wide_bar} {msg}");
                if let Ok(style) = style {
                    bar.set_style(match look.unicode {
                        true => style,
                        false => style.progress_chars("#>-"),
                    });
                }
                let drawn = bar.clone();
                (Some(bar), std::thread::spawn(move || draw(&shown, sum, &ended, &drawn)))
            }
        };
        Self { work, bar, end: Some(end), thread: Some(thread) }
    }

    /// Returns what tells the progress about the recordings that are worked on.
    pub(crate) fn gauge(&self) -> Gauge {
        Gauge(self.end.as_ref().map(|_| Arc::clone(&self.work)))
    }

    /// Counts a recording that is done.
    pub(crate) fn advance(&self) {
        self.work.recordings.fetch_add(1, Ordering::Relaxed);
        interrupted::count_done();
    }

    /// Takes the bar away while something else is written to the terminal.
    pub(crate) fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Takes the bar away for good: the product itself comes to the terminal.
    pub(crate) fn finish(&mut self) {
        self.end = None;
        // The thread draws no more when it has ended.
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
            interrupted::note_bar(false);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Gauge {
    /// Notes that a recording of these files is worked on, until the result is dropped.
    pub(crate) fn watch(&self, files: impl Iterator<Item = Arc<Watch>>) -> Option<Watching> {
        let work = Arc::clone(self.0.as_ref()?);
        let files: Vec<Arc<Watch>> = files.collect();
        work.watched().extend(files.iter().cloned());
        Some(Watching { work, files })
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let mut watched = self.work.watched();
        for file in &self.files {
            self.work.done.fetch_add(file.len(), Ordering::Relaxed);
            if let Some(place) = watched.iter().position(|one| Arc::ptr_eq(one, file)) {
                watched.swap_remove(place);
            }
        }
    }
}

/// Prints a line whenever `pause` has passed, until the work ends.
fn print_lines(
    work: &Work,
    sum: impl FnOnce() -> Option<u64>,
    (ended, pause): (&Receiver<()>, Duration),
    mut print: impl FnMut(&str),
) {
    let mut clock = Clock::start();
    let mut sum = Some(sum);
    while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        work.set_sum(sum.take());
        let (name, figures) = clock.describe(work, Instant::now());
        print(&format!("{name}: {figures}"));
    }
}

/// Draws the bar, until the work ends.
fn draw(work: &Work, sum: impl FnOnce() -> Option<u64>, ended: &Receiver<()>, bar: &ProgressBar) {
    let mut clock = Clock::start();
    if ended.recv_timeout(DELAY) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    work.set_sum(Some(sum));
    bar.set_draw_target(ProgressDrawTarget::stderr());
    interrupted::note_bar(true);
    loop {
        let (name, figures) = clock.describe(work, Instant::now());
        let Position { done, of, .. } = work.position();
        bar.set_prefix(name);
        bar.set_message(figures);
        bar.set_position(of.map_or(0, |of| percent(done, of)));
        bar.tick();
        if ended.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use tracemend::Source;

    use super::*;

    /// Bytes of which a watch makes eight blocks or more.
    const BYTES: u64 = 4 << 20;

    fn walk(bytes: &[u8], watch: &Watch, to: u64) {
        let source = Source::new(bytes).watched(watch);
        let mut at = 0;
        while at < to {
            at += u64::try_from(source.run(at).len()).unwrap();
        }
    }

    fn watch(bytes: &[u8]) -> Arc<Watch> {
        Arc::new(Watch::new(u64::try_from(bytes.len()).unwrap()))
    }

    #[test]
    fn one_recording_shows_its_share_its_rate_and_the_time_left_of_each_step() {
        let bytes = vec![0; usize::try_from(BYTES).unwrap()];
        let watch = watch(&bytes);
        let work = Work { verb: "checking x".into(), is_one: true, ..Work::default() };
        work.watched().push(Arc::clone(&watch));
        let mut clock = Clock::start();
        let after = |seconds| clock.began + Duration::from_secs(seconds);
        let (two, three, five) = (after(2), after(3), after(5));
        let half = watch.walk_len() / 15 * 8;
        walk(&bytes, &watch, half);
        let (name, figures) = clock.describe(&work, two);
        assert_eq!(name, "checking x");
        assert!(figures.starts_with("4"), "{figures}");
        assert!(figures.contains(" % of 4.19 MB, ") && figures.ends_with(" s left"), "{figures}");
        // The first walk ends, and the next one has begun.
        walk(&bytes, &watch, BYTES);
        walk(&bytes, &watch, half);
        assert_eq!(work.position().step, 2);
        assert!(clock.describe(&work, three).0.ends_with("x, step 2"));
        let (_, figures) = clock.describe(&work, five);
        assert!(figures.contains(" of 4.19 MB"), "{figures}");
    }

    #[test]
    fn several_recordings_are_counted_by_their_bytes() {
        let bytes = vec![0; usize::try_from(BYTES).unwrap()];
        let progress = Progress::default();
        let work = Work { verb: "checking".into(), ..Work::default() };
        work.set_sum(Some(|| Some(3 * BYTES)));
        let gauge = Gauge(Some(Arc::new(work)));
        assert!(progress.gauge().watch([watch(&bytes)].into_iter()).is_none());
        let work = gauge.0.as_ref().unwrap();
        let one = watch(&bytes);
        let first = gauge.watch([Arc::clone(&one)].into_iter());
        walk(&bytes, &one, BYTES);
        walk(&bytes, &one, BYTES);
        assert_eq!(work.position().done, BYTES);
        drop(first);
        let second = gauge.watch([watch(&bytes)].into_iter());
        assert_eq!((work.position().done, work.position().step), (BYTES, 1));
        drop(second);
        assert_eq!(work.position().done, 2 * BYTES);
        work.recordings.fetch_add(2, Ordering::Relaxed);
        let (name, figures) = Clock::start().describe(work, Instant::now());
        assert_eq!(
            (name.as_str(), figures.as_str()),
            ("checking, 2 recordings", "66 % of 12.6 MB")
        );
    }

    #[test]
    fn a_line_is_printed_each_time_the_pause_has_passed_and_none_after_the_end() {
        let work = Work { verb: "checking x".into(), is_one: true, ..Work::default() };
        let (end, ended) = channel::<()>();
        let lines = RefCell::new(Vec::new());
        let mut end = Some(end);
        print_lines(
            &work,
            || None,
            (&ended, Duration::from_millis(1)),
            |line| {
                lines.borrow_mut().push(line.to_string());
                if lines.borrow().len() == 3 {
                    end = None;
                }
            },
        );
        assert_eq!(*lines.borrow(), ["checking x: 1 s"; 3]);
        let (end, ended) = channel::<()>();
        drop(end);
        print_lines(&work, || panic!("summed up"), (&ended, MINUTE), |line| panic!("{line}"));
    }
}
