//! The first records in which two recordings differ.
//!
//! ```text
//!  dump of the first  -> lines -+
//!                               +-> pairs in lockstep -> the first that differ, by degree
//!  dump of the second -> lines -+                          v
//!                                      no record differs: the bytes that a dump does not show
//! ```
//!
//! - [`lines`]: the records of both dumps, side by side. [`pair`]: how far two records differ.
//! - [`hidden`]: bytes that no member of a record shows.

mod hidden;
mod lines;
mod pair;

use self::hidden::Ends;
use self::lines::Side;
use self::pair::Judge;
use crate::catalogue;
use crate::format::Format;
use crate::kit::num::to_u64;
use crate::mend::beginning::recognise;
use crate::model::difference::{
    Compared, Comparison, Degree, Difference, FieldDifference, Hidden, HiddenDifference,
};
use crate::model::dump::DumpError;
use crate::model::options::Options;
use crate::model::recording::FileSet;

/// Records of each recording that are searched for the place where both agree again.
const AHEAD: usize = 64;
/// Records in a row that agree there.
const AGREEING: usize = 4;

/// Compares two recordings, see [`crate::diff()`].
pub(crate) fn diff(
    one: &FileSet<'_>,
    two: &FileSet<'_>,
    options: &Options,
) -> Result<Compared, DumpError> {
    let mut options = options.clone();
    options.format = recognise(one, &options);
    let format = options.format.and_then(catalogue::format).ok_or(DumpError::Unreadable)?;
    let rule = format.description().recorder.comparison;
    let (mut compared, ends) = lines::side_by_side([one, two], (format, &options), |sides| {
        let [first, second] = sides;
        let (files, judge) = ([one, two], Judge::new(rule));
        let mut search = Search { files, rule, judge, first, second, next: 0 };
        let mut compared = Compared::default();
        search.run(&mut compared);
        let ends = [search.first.end, search.second.end];
        (compared, ends)
    })?;
    if compared.differences.is_empty() && compared.hidden.is_none() {
        compared.hidden = find_hidden([one, two], (format, &options), ends);
    } else if let Some(hidden) = &mut compared.hidden {
        hidden.place = hidden::name_place(one, (format, &options), (0, hidden.offsets[0]));
    }
    Ok(compared)
}

fn find_hidden(
    files: [&FileSet<'_>; 2],
    (format, options): (&dyn Format, &Options),
    ends: Ends,
) -> Option<HiddenDifference> {
    match format.description().recorder.comparison.hidden {
        Hidden::All => hidden::find_anywhere(files, (format, options)),
        Hidden::AfterRecords => hidden::find_after(files, ends),
        Hidden::None => None,
    }
}

/// A walk over both recordings.
struct Search<'s> {
    files: [&'s FileSet<'s>; 2],
    rule: &'static Comparison,
    judge: Judge,
    first: Side,
    second: Side,
    /// Number of the next pair.
    next: u64,
}

/// The next record of each recording.
enum Step {
    /// Both have ended.
    End,
    /// They are equal.
    Equal,
    /// They are equal but for bytes that the dump does not show.
    Hidden(HiddenDifference),
    /// They differ in these fields.
    Different(Degree, Vec<FieldDifference>),
}

impl Search<'_> {
    /// Adds the first difference of each degree.
    fn run(&mut self, compared: &mut Compared) {
        let mut found: Option<Degree> = None;
        loop {
            let step = self.step();
            let is_pair = self.first.peek(0).is_some() && self.second.peek(0).is_some();
            if is_pair && found < Some(Degree::Content) {
                compared.records = compared.records.saturating_add(1);
            }
            match step {
                Step::End => return,
                Step::Equal => {}
                Step::Hidden(hidden) => {
                    compared.hidden = Some(hidden);
                    return;
                }
                Step::Different(degree, fields) if found < Some(degree) => {
                    let difference = self.describe(found, degree, fields);
                    found = Some(difference.degree);
                    compared.differences.push(difference);
                    if found == Some(Degree::Kind) {
                        return;
                    }
                }
                Step::Different(..) => {}
            }
            self.first.advance();
            self.second.advance();
            self.next = self.next.saturating_add(1);
        }
    }

    fn step(&mut self) -> Step {
        match [self.first.peek(0), self.second.peek(0)] {
            [None, None] => Step::End,
            [Some(one), Some(two)] => {
                let (degree, fields) = self.judge.judge(one, two);
                if let Some(degree) = degree {
                    return Step::Different(degree, fields);
                }
                let is_wanted = self.rule.hidden == Hidden::All;
                let hidden = is_wanted.then(|| hidden::find_in_record(self.files, [one, two]));
                hidden.flatten().map_or(Step::Equal, |hidden| {
                    Step::Hidden(HiddenDifference { number: Some(self.next), ..hidden })
                })
            }
            _ => Step::Different(Degree::Kind, Vec::new()),
        }
    }

    /// Describes the next records, which differ.
    fn describe(
        &mut self,
        found: Option<Degree>,
        degree: Degree,
        fields: Vec<FieldDifference>,
    ) -> Difference {
        let missing = self.find_missing(found, degree);
        let (degree, fields) = match missing {
            Some(_) => (Degree::Kind, Vec::new()),
            None => (degree, fields),
        };
        let records = [self.first.peek(0), self.second.peek(0)];
        let records = records.map(|line| line.map(str::to_string));
        Difference { degree, fields, number: self.next, records, missing }
    }

    /// Returns how many records from here on only one of the recordings has: both agree after them.
    ///
    /// The first difference is compared in full, since a repaired copy agrees in full. Later ones,
    /// between two runs, are compared in what is not volatile.
    fn find_missing(&mut self, found: Option<Degree>, degree: Degree) -> Option<[u64; 2]> {
        let allowed = match (found, degree) {
            (None, _) => None,
            (Some(_), Degree::Volatile) => return None,
            (Some(_), Degree::Content | Degree::Kind) => Some(Degree::Volatile),
        };
        for sum in 1..AHEAD {
            for apart in 0..=sum {
                // The least shift first: 1 and 1 before 2 and 0.
                if (sum ^ apart) & 1 != 0 {
                    continue;
                }
                let more = sum.midpoint(apart);
                let less = sum.saturating_sub(more);
                for skipped in [[more, less], [less, more]] {
                    if self.agrees(skipped, allowed) {
                        let [one, two] = skipped.map(to_u64);
                        return (one != two && (one == 0 || two == 0)).then_some([one, two]);
                    }
                }
            }
        }
        None
    }

    /// Whether the records after those that are skipped agree.
    fn agrees(&mut self, [one, two]: [usize; 2], allowed: Option<Degree>) -> bool {
        for at in 0..AGREEING {
            let pair =
                [self.first.peek(one.saturating_add(at)), self.second.peek(two.saturating_add(at))];
            match pair {
                [Some(one), Some(two)] if self.judge.judge(one, two).0 <= allowed => {}
                // Both end here: the records that are skipped are the last ones of one of them.
                [None, None] => return at > 0 || one == 0 || two == 0,
                _ => return false,
            }
        }
        true
    }
}
