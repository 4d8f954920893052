//! The picture of many recordings: one row each.

use tracemend::words::plural;

use super::class::Class;
use super::sheet::{Picture, Sheet};
use super::strip::{Stretch, Strip, paint};
use crate::show::finding::shorten_middle;

/// Rows of a picture, which wait for the end of the run: one with many findings takes some 40 KB.
const ROWS_SHOWN: usize = 2_000;
/// Characters of a name.
const NAME_CHARACTERS: usize = 90;

/// The row of one recording.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    name: String,
    title: String,
    worst: Class,
    strip: Strip,
}

impl Row {
    /// `worst` is [`Class::Plain`] for a clean recording of `length` bytes; `marks` are the places
    /// of its findings.
    pub(crate) fn new(
        name: &str,
        verdict: &str,
        (worst, length): (Class, u64),
        mut marks: Vec<Stretch>,
    ) -> Self {
        marks.push(Stretch::new((0, length), Class::Plain));
        Self {
            name: shorten_middle(name, NAME_CHARACTERS),
            title: format!("{name}: {verdict}"),
            worst,
            strip: Strip::lay(paint(marks).into_iter(), (0, length)),
        }
    }
}

/// The rows of a picture. If there are too many, clean recordings are left out first.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    rows: Vec<Row>,
    clean: usize,
    left_out: u64,
}

impl Rows {
    pub(crate) fn push(&mut self, row: Row) {
        let is_clean = row.worst == Class::Plain;
        if self.rows.len() >= ROWS_SHOWN {
            self.left_out = self.left_out.saturating_add(1);
            if is_clean || self.clean == 0 {
                return;
            }
            if let Some(clean) = self.rows.iter().rposition(|row| row.worst == Class::Plain) {
                self.rows.remove(clean);
                self.clean = self.clean.saturating_sub(1);
            }
        }
        self.clean = self.clean.saturating_add(usize::from(is_clean));
        self.rows.push(row);
    }

    /// The picture, with lines on all recordings.
    pub(crate) fn draw(self, title: &str, summary: &[String]) -> Picture {
        let mut sheet = Sheet::default();
        sheet.heading(title);
        summary.iter().filter(|line| !line.is_empty()).for_each(|line| sheet.line(line));
        if self.left_out > 0 {
            let left_out = plural(self.left_out, "recording");
            sheet.line(&format!("{left_out} not drawn; --format json has all"));
        }
        for row in self.rows {
            sheet.row((&row.name, row.title), row.worst, row.strip);
        }
        sheet.legend();
        sheet.finish(title)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_recordings_make_room_for_damaged_ones() {
        let mut rows = Rows::default();
        let row = |worst: Class| Row::new("x", "verdict", (worst, 10), Vec::new());
        (0..ROWS_SHOWN).for_each(|_| rows.push(row(Class::Plain)));
        (0..10).for_each(|_| rows.push(row(Class::Error)));
        rows.push(row(Class::Plain));
        let errors = rows.rows.iter().filter(|row| row.worst == Class::Error).count();
        assert_eq!((rows.rows.len(), errors, rows.left_out), (ROWS_SHOWN, 10, 11));
        let picture = rows.draw("title", &["summary".to_string()]);
        assert!(picture.description.contains("11 recordings not drawn"));
    }
}
