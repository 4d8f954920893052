//! The agreement of the check with the perf that recorded, over all [`changes`] of a recording.

use std::fmt::Write as _;
use std::path::Path;

use tracemend::{FileSet, Options, Outcome};

use super::changes::{Change, Shown, changes};
use super::{CPU_CLOCK, Perf};
use crate::mended::mended;
use crate::sweep::Share;

/// The workload of the recordings.
const WORKLOAD: [&str; 2] = ["/usr/bin/sha256sum", "/usr/bin/perf"];

/// The counts of a run.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    /// Number of changed recordings.
    pub cases: u64,
    /// Those of which perf shows less.
    pub refused: u64,
    /// Those of which perf shows less though the check has no error.
    pub silent: Vec<String>,
    /// Those whose repair is called complete though perf shows less of the result than the repair
    /// says.
    pub unread: Vec<String>,
    /// Those with an error though perf shows everything.
    pub stricter: Vec<String>,
}

/// Records a file, a compressed one, and a pipe with a perf.
///
/// # Errors
///
/// The message of perf if it cannot record here.
pub fn recordings(perf: &Perf, folder: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut made = Vec::new();
    let groups: [(&str, &[&str], bool); 4] = [
        ("file", &["-q", "-F5000", "-e", "cpu-clock,page-faults"], false),
        ("group", &["-q", "-e", "{cpu-clock,page-faults}:S"], false),
        ("packed", &["-q", "-F5000", "-z", "-e", "cpu-clock"], false),
        ("pipe", &CPU_CLOCK, true),
    ];
    for (name, options, is_pipe) in groups {
        let path = folder.join(format!("{name}-{}", perf.version()));
        match is_pipe {
            true => perf.record_pipe(options, &WORKLOAD, &path)?,
            false => perf.record(options, &WORKLOAD, &path)?,
        }
        let bytes = std::fs::read(&path).map_err(|error| error.to_string())?;
        made.push((format!("{} {name}", perf.version()), bytes));
    }
    Ok(made)
}

impl Agreement {
    /// Judges a share of the changes of a recording by the perf that wrote it.
    pub fn judge(
        &mut self,
        perf: &Perf,
        (name, recording): &(String, Vec<u8>),
        share: Share,
        folder: &Path,
    ) {
        let path = folder.join("changed");
        let show = |bytes: &[u8]| {
            std::fs::write(&path, bytes).expect("a file in a temporary folder");
            Shown::by(perf, &path)
        };
        let whole = show(recording);
        let all = changes(recording);
        for (_, change) in all.iter().enumerate().filter(|(index, _)| share.has(*index)) {
            let shown = show(&change.bytes);
            self.note(name, change, shown, &whole);
            if !has_errors(&change.bytes) {
                continue;
            }
            let (repair, target) = mended(&change.bytes);
            let is_claimed = repair.outcome == Outcome::Repaired && !has_errors(&target);
            let after = show(&target);
            // A repair may drop samples, and says so; the rest has to be shown.
            if is_claimed && (after.samples.is_none_or(|count| count == 0) || !after.has_header) {
                self.unread.push(format!("{name}: {}: {after:?}", change.name));
            }
        }
    }

    fn note(&mut self, name: &str, change: &Change, shown: Shown, whole: &Shown) {
        self.cases += 1;
        let (has_errors, is_whole) = (has_errors(&change.bytes), shown.is_whole(whole));
        self.refused += u64::from(!is_whole);
        let line = format!("{name}: {}: {shown:?}", change.name);
        match (has_errors, is_whole) {
            (false, false) => self.silent.push(line),
            (true, true) => self.stricter.push(line),
            _ => {}
        }
    }

    /// Describes the counts, and lists what disagrees.
    pub fn describe(&self) -> String {
        let mut text = format!(
            "{} changed recordings, perf shows less of {}; without an error here: {}; repaired and \
             not shown: {}; with an error here though perf shows all: {}\n",
            self.cases,
            self.refused,
            self.silent.len(),
            self.unread.len(),
            self.stricter.len()
        );
        let lists =
            [("silent", &self.silent), ("unread", &self.unread), ("stricter", &self.stricter)];
        for (title, lines) in lists {
            for line in lines {
                _ = writeln!(text, "{title}: {line}");
            }
        }
        text
    }
}

fn has_errors(bytes: &[u8]) -> bool {
    let files = FileSet::single("perf.data", bytes);
    tracemend::check(&files, &Options::default()).has_errors()
}
