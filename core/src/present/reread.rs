//! Reports that were written as JSON, read again: to join those of several machines.
//!
//! A report has no bytes of the recording, so the findings come without their windows. The severity
//! of findings that are counted and not listed is that of the listed ones of their code.

use std::collections::BTreeMap;

use super::json::{Entry, FixEntry, InsertedEntry, Place, Recording, RereadError};
use crate::catalogue::rule;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::text::{is_safe, unescape};
use crate::model::description::FormatId;
use crate::model::edit::{Edit, Elided, Fix, Safety, Witness};
use crate::model::recording::{File, FileSet};
use crate::model::{Finding, Related, Report, Rule, Severity, Tally, Verdict};

/// Names of the files of a recording, which spans refer to by their numbers.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        // A name stands in a file set as it is, and is escaped when it is shown.
        let name = String::from_utf8_lossy(&unescape(name)).into_owned();
        let known = self.0.iter().position(|one| *one == name);
        let index = known.unwrap_or_else(|| {
            self.0.push(name);
            self.0.len().saturating_sub(1)
        });
        u32::try_from(index).unwrap_or(u32::MAX)
    }

    fn span(&mut self, place: &Place) -> Span {
        let layer = Layer { file: self.number(&place.file), depth: place.layer };
        Span::new(layer, place.start, place.end)
    }
}

impl Recording {
    /// Returns the report that the entry was made from, and its files, which have names and no
    /// bytes.
    ///
    /// # Errors
    ///
    /// If the entry names a code or a word that this version does not know, or has text that no
    /// report has.
    pub fn reread(&self) -> Result<(Report, FileSet<'static>), RereadError> {
        let format = match &self.format {
            Some(name) => {
                Some(name.parse::<FormatId>().map_err(|_| RereadError::unknown("format", name))?)
            }
            None => None,
        };
        let mut report = Report::new(format, self.length, usize::MAX);
        report.tally = Tally {
            records: self.records,
            samples: self.samples,
            first_time: self.time.map(|[first, _]| first),
            last_time: self.time.map(|[_, last]| last),
            expanded: 0,
        };
        for (name, value) in &self.facts {
            report.facts.push((checked(name)?.to_string().into(), checked(value)?.to_string()));
        }
        checked(&self.path)?;
        let mut names = Names::default();
        let mut severities: BTreeMap<&str, (Severity, u64)> = BTreeMap::new();
        for entry in &self.findings {
            let finding = read_finding(entry, &mut names)?;
            let (severity, count) =
                severities.entry(finding.rule.code).or_insert((finding.severity, 0));
            *severity = (*severity).max(finding.severity);
            *count = count.saturating_add(1);
            report.hold(finding);
        }
        for (code, count) in &self.counts {
            let rule = known_rule(code)?;
            let (severity, held) = severities.get(rule.code).copied().unwrap_or((rule.severity, 0));
            report.count_more(rule, severity, count.saturating_sub(held));
        }
        for (code, count) in &self.suppressed {
            report.count_suppressed(known_rule(code)?, *count);
        }
        let verdicts =
            [Verdict::Clean, Verdict::Findings, Verdict::Unreadable, Verdict::Incomplete];
        let verdict = verdicts.into_iter().find(|verdict| verdict.name() == self.verdict);
        match verdict.ok_or_else(|| RereadError::unknown("verdict", &self.verdict))? {
            Verdict::Unreadable => report.mark_unreadable(),
            Verdict::Incomplete => report.mark_incomplete(),
            Verdict::Clean | Verdict::Findings => {}
        }
        let file = |name: &String| File::new(name.clone(), Source::default());
        Ok((report, FileSet::new(names.0.iter().map(file).collect())))
    }
}

/// Text of a report, if it is escaped: a report from elsewhere is no more trusted than a recording.
fn checked(text: &str) -> Result<&str, RereadError> {
    match text.chars().all(is_safe) {
        true => Ok(text),
        false => Err(RereadError::new(format!("text is not escaped: `{text}`"))),
    }
}

fn known_rule(code: &str) -> Result<&'static Rule, RereadError> {
    let found = rule(code).filter(|rule| rule.code == code);
    found.ok_or_else(|| RereadError::unknown("code", code))
}

fn read_finding(entry: &Entry, names: &mut Names) -> Result<Finding, RereadError> {
    let rule = known_rule(&entry.code)?;
    let severity: Severity =
        entry.severity.parse().map_err(|_| RereadError::unknown("severity", &entry.severity))?;
    let span = names.span(&entry.span);
    let message = checked(&entry.message)?;
    let mut finding = Finding::new(rule, span, checked(&entry.path)?.to_string(), message);
    finding.severity = severity;
    finding.stored = entry.stored.as_ref().map(|place| names.span(place));
    if let Some(print) = &entry.fingerprint {
        finding.fingerprint = Some(checked(print)?.to_string());
    }
    for note in &entry.notes {
        finding.notes.push(checked(note)?.to_string());
    }
    for related in &entry.related {
        let (span, message) = (names.span(&related.span), checked(&related.message)?);
        finding.related.push(Related { span, message: message.to_string() });
    }
    finding.fix = entry.fix.as_ref().map(|fix| read_fix(fix, names)).transpose()?;
    Ok(finding)
}

fn read_fix(entry: &FixEntry, names: &mut Names) -> Result<Fix, RereadError> {
    let safety = Safety::ALL.into_iter().find(|safety| safety.name() == entry.safety);
    let safety = safety.ok_or_else(|| RereadError::unknown("class", &entry.safety))?;
    let mut fix = Fix::new(safety, checked(&entry.summary)?, Vec::new());
    for edit in &entry.edits {
        let layer = Layer::stored(names.number(&edit.file));
        let span = Span::new(layer, edit.start, edit.end);
        fix.edits.push(match (&edit.insert, &edit.inserted) {
            (Some(insert), None) => Edit::replace(span, from_hex(insert)?),
            (None, Some(inserted)) => {
                let elided = Some(Box::new(read_elided(inserted)?));
                Edit { elided, ..Edit::drop(span) }
            }
            _ => return Err(RereadError::new("an edit has not one of `insert` and `inserted`")),
        });
    }
    for witness in &entry.witnesses {
        let (span, meaning) = (names.span(&witness.span), checked(&witness.meaning)?);
        fix.witnesses.push(Witness { span, meaning: meaning.to_string().into() });
    }
    Ok(fix)
}

/// The bytes of an edit that the report does not hold.
fn read_elided(entry: &InsertedEntry) -> Result<Elided, RereadError> {
    let digits = checked(&entry.crc32)?;
    let is_whole = digits.len() == 8 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let crc32 = u32::from_str_radix(digits, 16).ok().filter(|_| is_whole);
    let wrong = || RereadError::new("the CRC-32 of an edit is not eight digits");
    Ok(Elided { length: entry.length, crc32: crc32.ok_or_else(wrong)? })
}

/// The bytes that pairs of hexadecimal digits stand for.
fn from_hex(text: &str) -> Result<Vec<u8>, RereadError> {
    let wrong = || RereadError::new("edits insert bytes that are not pairs of digits");
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let digits =
        digits.filter(|digits| to_u64(digits.len()).is_multiple_of(2)).ok_or_else(wrong)?;
    let pair = |pair: &[u32]| match pair {
        [high, low] => high.checked_mul(16)?.checked_add(*low).and_then(|b| u8::try_from(b).ok()),
        _ => None,
    };
    digits.chunks(2).map(pair).collect::<Option<Vec<u8>>>().ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::options::Options;
    use crate::model::rule::common;
    use crate::present::json::EDIT_BYTES_MAX;

    #[test]
    fn a_report_that_is_read_again_is_written_the_same() {
        let files = FileSet::single("x\u{1b}", b"\x1b[2Junknown");
        let mut report = crate::check(&files, &Options::default());
        report.identify(b"x", &files);
        let first = Recording::new("a/x\u{1b}", &report, &files);
        let text = serde_json::to_string(&first).unwrap();
        let read: Recording = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        let (report, files) = read.reread().unwrap();
        assert_eq!(report.verdict(), Verdict::Unreadable);
        let again = Recording::new("a/x", &report, &files);
        assert_eq!(
            serde_json::to_string(&again.findings).unwrap(),
            serde_json::to_string(&first.findings).unwrap()
        );
        let hostile = text.replace("the file begins", "the \\u001b[2J begins");
        assert_ne!(hostile, text);
        let read: Recording = serde_json::from_str(&hostile).unwrap();
        let error = read.reread().unwrap_err().to_string();
        assert!(error.contains("not escaped") && error.chars().all(is_safe), "{error}");
        let unknown: Recording = serde_json::from_str(&text.replace("CM0002", "none")).unwrap();
        assert!(unknown.reread().unwrap_err().to_string().contains("unknown code `none`"));
    }

    #[test]
    fn an_edit_without_its_bytes_keeps_their_length_and_checksum() {
        let files = FileSet::single("x", b"unknown");
        let mut report = crate::check(&files, &Options::default());
        let span = Span::new(Layer::stored(0), 1, 3);
        let long = vec![7; EDIT_BYTES_MAX + 1];
        let edits =
            vec![Edit::replace(span, vec![7; EDIT_BYTES_MAX]), Edit::replace(span, long.clone())];
        report.push(Finding::new(&common::SEARCH_ENDED, span, "x", "x").fix(Fix::new(
            Safety::Lossy,
            "x",
            edits,
        )));
        let entry = Recording::new("x", &report, &files);
        let text = serde_json::to_string(&entry.findings).unwrap();
        let crc32 = format!("{:08x}", crc32fast::hash(&long));
        let whole = format!("\"insert\":\"{}\"}}", "07".repeat(EDIT_BYTES_MAX));
        let short = format!("\"end\":3,\"inserted\":{{\"length\":65,\"crc32\":\"{crc32}\"}}}}");
        assert!(text.contains(&whole) && text.contains(&short), "{text}");
        // Read again, it is written the same, and nothing takes it for an edit that drops.
        let (report, files) = entry.reread().unwrap();
        let fix = report.findings().iter().find_map(|finding| finding.fix.as_ref()).unwrap();
        let elided = fix.edits.last().and_then(|edit| edit.elided.as_deref());
        assert_eq!(elided, Some(&Elided { length: 65, crc32: crc32fast::hash(&long) }));
        let again = Recording::with_edits("x", &report, &files, usize::MAX);
        assert_eq!(serde_json::to_string(&again.findings).unwrap(), text);
        let line = serde_json::to_string(&entry).unwrap();
        let both = ("\"inserted\":", "\"insert\":\"07\",\"inserted\":");
        for (from, to) in
            [("65,", "-1,"), (crc32.as_str(), "+1234567"), (&short, "\"end\":3}"), both]
        {
            let wrong = line.replace(from, to);
            assert_ne!(wrong, line);
            let read: Result<Recording, _> = serde_json::from_str(&wrong);
            assert!(read.map_or(true, |one| one.reread().is_err()), "{from} as {to}");
        }
    }

    #[test]
    fn bytes_are_pairs_of_digits() {
        assert_eq!(from_hex("00ff1B"), Ok(vec![0, 255, 27]));
        assert!(from_hex("0").is_err() && from_hex("0g").is_err());
    }
}
