//! Plans are read back, sealed and refused.

use super::*;
use crate::mend::rounds::Outcome;
use crate::model::Report;

fn repair(source: &[u8], edits: &[Edit]) -> Repair {
    Repair {
        outcome: Outcome::Repaired,
        patches: vec![Patch::from_edits(to_u64(source.len()), edits).unwrap()],
        applied: Vec::new(),
        before: Report::default(),
        after: Report::default(),
        refused: None,
    }
}

fn plan() -> Plan {
    let source = b"0123456789".as_slice();
    let edits = [Edit::replace(Span::new(Layer::stored(0), 2, 4), *b"ab")];
    let files = FileSet::single("\u{1b}name", source);
    Plan::new(&repair(source, &edits), &files, &Limits::default()).unwrap()
}

#[test]
fn a_plan_reads_back_as_it_was_written() {
    let text = plan().to_json().unwrap();
    let read = Plan::from_json(text.as_bytes()).unwrap();
    assert_eq!(read, Plan { seal: read.seal.clone(), ..plan() });
    assert_eq!(read.to_json().unwrap(), text);
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text}");
}

#[test]
fn a_plan_of_another_version_or_with_more_members_is_refused() {
    let other = Plan { schema: "tracemend.plan.v2\u{1b}".to_string(), ..plan() };
    let error = Plan::from_json(other.to_json().unwrap().as_bytes()).unwrap_err();
    assert!(matches!(error, PlanError::Schema(_)));
    let expected =
        "unsupported plan: schema is `tracemend.plan.v2\\x1b`, expected `tracemend.plan.v1`";
    assert_eq!(error.to_string(), expected);
    let more = plan().to_json().unwrap().replacen('{', "{\"more\": 1,", 1);
    assert!(matches!(Plan::from_json(more.as_bytes()), Err(PlanError::Malformed(_))));
    let deep = "[".repeat(100_000);
    assert!(matches!(Plan::from_json(deep.as_bytes()), Err(PlanError::Malformed(_))));
}

#[test]
fn a_sealed_plan_that_contradicts_itself_is_refused() {
    type Change = fn(&mut FilePlan);
    let changes: [(&str, Change); 7] = [
        ("odd hexadecimal", |file| file.edits[0].new.push('0')),
        ("no hexadecimal", |file| file.edits[0].old = "zzzz".to_string()),
        ("old bytes of another length", |file| file.edits[0].end = 5),
        ("an end before the start", |file| file.edits[0].end = 0),
        ("checksum of the old bytes", |file| file.edits[0].old_crc32 = "0".repeat(8)),
        ("checksum of the new bytes", |file| file.edits[0].new_crc32 = "0".repeat(8)),
        ("length of the output", |file| file.output.length = 11),
    ];
    for (name, change) in changes {
        let mut plan = plan();
        change(&mut plan.files[0]);
        // The seal is right; only the content is not.
        let plan = Plan::from_json(plan.to_json().unwrap().as_bytes()).unwrap();
        let error = plan.files[0].patch().unwrap_err();
        assert!(matches!(error, PlanError::Inconsistent(_)), "{name}");
        assert!(error.to_string().starts_with("inconsistent plan: "), "{name}: {error}");
        assert!(plan.reversed().is_err(), "{name}");
    }
    let mut outside = plan();
    outside.files[0].source.length = 3;
    assert!(outside.files[0].patch().is_err());
}

#[test]
fn more_dropped_bytes_than_a_plan_may_hold_are_refused() {
    let source = [0; 64];
    let edits = [Edit::drop(Span::new(Layer::stored(0), 0, 33))];
    let mut limits = Limits::default();
    limits.set(&PLAN, 32);
    let files = FileSet::single("x", &source);
    let error = Plan::new(&repair(&source, &edits), &files, &limits).unwrap_err();
    assert_eq!(error, PlanError::TooLarge { bytes: 33, max: 32 });
}
