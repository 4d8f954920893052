//! A report of JUnit: a recording is a test case, and a skipped file is a skipped one.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use tracemend::Verdict;

use super::{Checked, Closing, describe_writer_failure, lines};
use crate::files::skipped::SkipReason;
use crate::kit::exit::{Exit, Failure};
use crate::show::group::count_severities;

/// Returns the text with U+FFFD for the characters that no XML document may hold. The library drops
/// control characters, but keeps U+FFFE and U+FFFF.
fn legal(text: &str) -> String {
    let is_legal = |c: char| {
        matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}'
            | '\u{10000}'..)
    };
    text.chars().map(|c| if is_legal(c) { c } else { '\u{fffd}' }).collect()
}

/// One recording: failed if it has findings at or above `--fail-on`, an error if it could not be
/// checked to its end.
pub(super) fn case(checked: &Checked<'_>) -> TestCase {
    let report = checked.report;
    let found = legal(&lines::oneline(checked));
    let status = match checked.exit {
        Exit::Clean => TestCaseStatus::success(),
        exit => {
            let is_complete = exit == Exit::Findings && report.verdict() != Verdict::Incomplete;
            let kind = if is_complete { NonSuccessKind::Failure } else { NonSuccessKind::Error };
            let codes: Vec<&str> = report.counts().keys().copied().collect();
            let mut status = TestCaseStatus::non_success(kind);
            status
                .set_message(count_severities(report).join(", "))
                .set_type(codes.join(" "))
                .set_description(found.as_str());
            status
        }
    };
    let is_success = matches!(status, TestCaseStatus::Success { .. });
    let mut case = TestCase::new(legal(&checked.name), status);
    let format = report.format.map_or("unknown", |format| format.name());
    case.set_classname(format!("tracemend.{format}"));
    if is_success && !found.is_empty() {
        case.set_system_out(found);
    }
    case
}

/// The whole report.
pub(super) fn report(cases: Vec<TestCase>, closing: &Closing<'_>) -> Result<String, Failure> {
    let mut suite = TestSuite::new("tracemend");
    suite.add_test_cases(cases);
    for reason in SkipReason::ALL {
        for path in closing.skipped.of(reason).1 {
            let mut status = TestCaseStatus::skipped();
            status.set_description(reason.name());
            suite.add_test_case(other_case(path, status));
        }
    }
    for (path, message) in closing.skipped.unread().1 {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("unread").set_message(legal(message));
        suite.add_test_case(other_case(path, status));
    }
    let mut report = Report::new("tracemend");
    report.add_test_suite(suite);
    report.to_string().map_err(describe_writer_failure)
}

/// The case of a path that was not checked.
fn other_case(path: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(legal(path), status);
    case.set_classname("tracemend");
    case
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_characters_of_xml_are_left() {
        assert_eq!(
            legal("a\u{1}b\u{fffe}c\u{ffff}\n<&\u{1f600}"),
            "a\u{fffd}b\u{fffd}c\u{fffd}\n<&\u{1f600}"
        );
    }
}
