//! Findings about events: each defect is one rule, with its message.

use crate::formats::qemu::decode::defect::{Defect, Located, OutOfRange};
use crate::formats::qemu::decode::defect_log::Defects;
use crate::formats::qemu::decode::turns;
use crate::formats::qemu::layout::{Checkpoint, Kind, range};
use crate::formats::qemu::rules;
use crate::kit::words::{byte_count, plural, seconds};
use crate::model::edit::Fix;
use crate::model::{Finding, Related, Report, Rule, Severity};

/// Adds the findings of a lane, those that were only counted as well. The first error gets the fix.
pub fn push_all(defects: Defects, fix: Option<Fix>, report: &mut Report) {
    let mut fix = fix;
    for located in &defects.found {
        let mut finding = build_finding(located);
        if finding.severity == Severity::Error {
            finding.fix = fix.take();
        }
        report.push(finding);
    }
    for (defect, count) in &defects.more {
        let rule = rule_of(defect);
        report.count_more(rule, rule.severity, *count);
    }
}

fn build_finding(located: &Located) -> Finding {
    let name = located.kind.map_or("", Kind::name);
    let dot = if name.is_empty() { "" } else { "." };
    let field = field_of(&located.defect);
    let path = format!("event[{}].{name}{dot}{field}", located.number);
    let mut finding = Finding::new(rule_of(&located.defect), located.span, path, describe(located));
    if let Some(earliest) = located.earlier.first() {
        let at = earliest.span.start;
        finding = finding.note(format!("the damage may begin at {at:#x}: {}", describe(earliest)));
    }
    finding.related = located
        .earlier
        .iter()
        .map(|earlier| Related { span: earlier.span, message: describe(earlier) })
        .collect();
    finding
}

/// Returns the rule that a defect breaks.
pub const fn rule_of(defect: &Defect) -> &'static Rule {
    match defect {
        Defect::UnknownEvent(_) => &rules::UNKNOWN_EVENT,
        Defect::InputKind(_) => &rules::INPUT_KIND,
        Defect::KeyKind(_) => &rules::KEY_KIND,
        Defect::Length { .. } | Defect::DoubtfulLength => &rules::LENGTH_PAST_END,
        Defect::Key(_) => &rules::KEY_RANGE,
        Defect::Pointer(_) => &rules::POINTER_RANGE,
        Defect::Down(_) => &rules::DOWN_RANGE,
        Defect::Device(_) => &rules::DEVICE_RANGE,
        Defect::Filter(_) => &rules::FILTER_RANGE,
        Defect::NetFlags(_) => &rules::NET_FLAGS,
        Defect::InstructionZero => &rules::INSTRUCTION_ZERO,
        Defect::InstructionRange(_) => &rules::INSTRUCTION_RANGE,
        Defect::Samples(_) => &rules::AUDIO_RANGE,
        Defect::FullRing(_) => &rules::FULL_RING,
        Defect::AsyncCheckpoint(_) => &rules::ASYNC_CHECKPOINT,
        Defect::WriteOffset(_) => &rules::CHAR_WRITE_RANGE,
        Defect::ReadErrorSign(_) => &rules::READ_ERROR_SIGN,
        Defect::RandomResult(_) => &rules::RANDOM_RESULT,
        Defect::ClockBackwards { .. } => &rules::CLOCK_BACKWARDS,
        Defect::InstructionRate { .. } => &rules::INSTRUCTION_RATE,
        Defect::InstructionPattern { .. } => &rules::INSTRUCTION_PATTERN,
        Defect::BottomHalfId { .. } => &rules::BOTTOM_HALF_ID,
        Defect::BlockId { .. } | Defect::BlockTwice(_) => &rules::BLOCK_ID,
        Defect::BlockMissing { .. } => &rules::BLOCK_MISSING,
        Defect::FilterGap { .. } => &rules::FILTER_GAP,
        Defect::WriteResult { .. } => &rules::CHAR_WRITE_RESULT,
        Defect::InitTwice => &rules::INIT_TWICE,
        Defect::InstructionTwice => &rules::INSTRUCTION_TWICE,
        Defect::ClockMissing(_) => &rules::CLOCK_MISSING,
        Defect::InitLate => &rules::INIT_LATE,
        Defect::InstructionMissing(_) => &rules::INSTRUCTION_MISSING,
        Defect::TurnLeftOut(_) => &rules::TURN_LEFT_OUT,
        Defect::InputSyncMissing(_) => &rules::INPUT_SYNC_MISSING,
        Defect::OtherCheckpoint { .. } => &rules::CHECKPOINT_MISMATCH,
        Defect::BytesAfterEnd => &rules::BYTES_AFTER_END,
    }
}

/// Returns the name of the field that a defect is about.
const fn field_of(defect: &Defect) -> &'static str {
    match defect {
        Defect::UnknownEvent(range)
        | Defect::Key(range)
        | Defect::Pointer(range)
        | Defect::Samples(range)
        | Defect::AsyncCheckpoint(range) => range.field,
        Defect::InputKind(_) => "input kind",
        Defect::KeyKind(_) => "key value kind",
        Defect::Length { label, .. } => label,
        Defect::DoubtfulLength => "array length",
        Defect::Down(_) => "down",
        Defect::Device(_) => "device",
        Defect::Filter(_) => "filter",
        Defect::NetFlags(_) => "flags",
        Defect::InstructionZero
        | Defect::InstructionRange(_)
        | Defect::InstructionRate { .. }
        | Defect::InstructionPattern { .. } => "count",
        Defect::BottomHalfId { .. }
        | Defect::BlockId { .. }
        | Defect::BlockTwice(_)
        | Defect::BlockMissing { .. } => "id",
        Defect::FilterGap { .. } => "filter",
        Defect::WriteResult { .. } => "offset",
        Defect::FullRing(_) => "samples",
        Defect::WriteOffset(_) => "offset",
        Defect::ReadErrorSign(_) => "error",
        Defect::RandomResult(_) => "result",
        Defect::ClockBackwards { .. } => "clock",
        Defect::OtherCheckpoint { .. } => "checkpoint",
        Defect::InstructionTwice
        | Defect::ClockMissing(_)
        | Defect::InitLate
        | Defect::InitTwice
        | Defect::InstructionMissing(_)
        | Defect::TurnLeftOut(_)
        | Defect::InputSyncMissing(_)
        | Defect::BytesAfterEnd => "id",
    }
}

/// Describes a defect in one line: the field, the value, and what was expected.
fn describe(located: &Located) -> String {
    let name = located.kind.map_or("event", Kind::name);
    let number = located.number;
    match located.defect {
        Defect::UnknownEvent(OutOfRange { field: "id", value, .. }) => {
            format!("unknown event id {value} in event {number}")
        }
        Defect::UnknownEvent(OutOfRange { field, value, .. }) => {
            format!("unknown {field} {value} in event {number}")
        }
        Defect::InputKind(kind) => format!("unknown input kind {kind} in event {number}"),
        Defect::KeyKind(kind) => {
            format!("unknown key value kind {kind} in event {number}, expected 0 or 1")
        }
        Defect::Length { label, needed, left } => describe_length(name, label, needed, left),
        Defect::DoubtfulLength => "the length in this event may be wrong".to_string(),
        Defect::Key(range) | Defect::Pointer(range) | Defect::AsyncCheckpoint(range) => {
            let OutOfRange { field, value, limit } = range;
            format!("{field} is {value}, expected 0 to {}", limit.saturating_sub(1))
        }
        Defect::Samples(OutOfRange { field, value, limit }) => {
            let samples = plural(value, "sample");
            format!("{field} is {samples}, expected at most {}", limit.saturating_sub(1))
        }
        Defect::Down(down) => format!("down is {down}, expected 0 or 1"),
        Defect::Device(device) => {
            format!("char device index is {device}, expected less than {}", range::DEVICES)
        }
        Defect::Filter(filter) => {
            format!("network filter index is {filter}, expected less than {}", range::DEVICES)
        }
        Defect::NetFlags(flags) => format!("packet flags are {flags:#x}, expected 0 or 1"),
        Defect::InstructionZero => "INSTRUCTION count is 0, expected at least 1".to_string(),
        Defect::InstructionRange(count) => {
            format!("INSTRUCTION count is {count}, expected at most {}", range::INSTRUCTIONS)
        }
        Defect::FullRing(recorded) => {
            format!("AUDIO_IN counts {}, but none are stored", plural(recorded, "sample"))
        }
        Defect::WriteOffset(offset) => {
            format!("CHAR_WRITE offset is {offset}, expected at most {}", range::ARRAY)
        }
        Defect::ReadErrorSign(code) => {
            format!("CHAR_READ_ALL_ERROR code is {code}, expected a negative value")
        }
        Defect::RandomResult(result) => format!("RANDOM result is {result}, expected 0 or -1"),
        _ => describe_order(located, name),
    }
}

/// Describes a defect that concerns the place of an event among others.
fn describe_order(located: &Located, name: &str) -> String {
    match located.defect {
        Defect::ClockBackwards { before, now } => {
            format!("{name} goes back from {before} to {now}")
        }
        Defect::InstructionTwice => "duplicate INSTRUCTION: two events in a row".to_string(),
        Defect::ClockMissing(after) => {
            let is_host = after == Kind::Checkpoint(Checkpoint::ClockHost);
            let clock = if is_host { Kind::ClockHost } else { Kind::ClockVirtualRt };
            format!("missing {}: {name} follows {}", clock.name(), after.name())
        }
        Defect::InstructionRate { count, nanoseconds } => {
            format!("INSTRUCTION count is {count}, too many for {}", seconds(nanoseconds))
        }
        Defect::InstructionPattern { count, expected } => {
            format!("INSTRUCTION count is {count}, expected {expected} as in the row around it")
        }
        Defect::BottomHalfId { id, instructions } => {
            format!(
                "bottom half id is {id}, more than the {} so far",
                plural(instructions, "instruction")
            )
        }
        Defect::BlockId { id, next } => {
            format!("block request id is {id}, expected a value near {next}")
        }
        Defect::BlockTwice(id) => format!("duplicate block request id {id}"),
        Defect::BlockMissing { id, later } => {
            format!("missing block request id {id}: {} follow", plural(later, "later request"))
        }
        Defect::FilterGap { filter, next } => {
            format!("network filter index is {filter}, but {next} has no packet before")
        }
        Defect::WriteResult { result, offset } => {
            format!("inconsistent CHAR_WRITE: offset is {offset}, but the result is {result}")
        }
        Defect::InitTwice => "duplicate CP_INIT".to_string(),
        Defect::InitLate => "missing CP_INIT in the first 3 events".to_string(),
        Defect::InstructionMissing(after) => {
            format!("missing INSTRUCTION: {name} follows {}", after.name())
        }
        Defect::TurnLeftOut(kind) => {
            let other = turns::partner(kind).map_or("", Kind::name);
            format!("missing {other} between two {name}")
        }
        Defect::InputSyncMissing(after) => {
            format!("missing ASYNC_INPUT_SYNC: {name} follows {}", after.name())
        }
        Defect::OtherCheckpoint { named, last } => {
            format!("inconsistent checkpoint: {named}, but the last one is {last}")
        }
        Defect::BytesAfterEnd => "trailing bytes after END".to_string(),
        _ => name.to_string(),
    }
}

/// Describes an array that ends after the file.
pub fn describe_length(name: &str, label: &str, needed: u64, left: u64) -> String {
    format!("{name} {label} length is {}, but {} left", byte_count(needed), are_left(left))
}

fn are_left(left: u64) -> String {
    let verb = if left == 1 { "is" } else { "are" };
    format!("{left} {verb}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Damage is what a user may want to cut off, which is what the rules call an error.
    #[test]
    fn damage_is_an_error_and_every_other_defect_is_less() {
        let range = OutOfRange { field: "id", value: 1, limit: 1 };
        let length = Defect::Length { label: "array", needed: 2, left: 1 };
        let damage = [
            Defect::UnknownEvent(range),
            Defect::InputKind(9),
            Defect::KeyKind(9),
            length,
            Defect::Key(range),
            Defect::Pointer(range),
            Defect::Device(64),
            Defect::Filter(64),
            Defect::InstructionZero,
            Defect::InstructionRange(u64::MAX),
            Defect::Samples(range),
            Defect::AsyncCheckpoint(range),
            Defect::WriteOffset(u64::MAX),
            Defect::ReadErrorSign(1),
            Defect::InstructionRate { count: 9, nanoseconds: 1 },
            Defect::InstructionTwice,
            Defect::BottomHalfId { id: 2, instructions: 1 },
            Defect::BlockId { id: 100, next: 1 },
            Defect::BlockTwice(1),
            Defect::InitTwice,
            Defect::TurnLeftOut(Kind::End),
        ];
        let others = [
            Defect::Down(2),
            Defect::NetFlags(2),
            Defect::FullRing(2),
            Defect::RandomResult(2),
            Defect::ClockBackwards { before: 2, now: 1 },
            Defect::FilterGap { filter: 3, next: 0 },
            Defect::BlockMissing { id: 3, later: 9 },
            Defect::WriteResult { result: 1, offset: 9 },
            Defect::ClockMissing(Kind::End),
            Defect::InitLate,
            Defect::InstructionMissing(Kind::End),
            Defect::InputSyncMissing(Kind::End),
            Defect::InstructionPattern { count: 9, expected: 1 },
            Defect::OtherCheckpoint { named: 1, last: 2 },
        ];
        for defect in damage {
            assert!(defect.is_damage() && rule_of(&defect).severity == Severity::Error);
        }
        for defect in others {
            assert!(!defect.is_damage() && rule_of(&defect).severity < Severity::Error);
        }
        // An error, but no event before it is damaged: it is cut off, and the log stays closed.
        let after = Defect::BytesAfterEnd;
        assert!(!after.is_damage() && rule_of(&after).severity == Severity::Error);
        let is_info = |defect: &Defect| rule_of(defect).severity == Severity::Info;
        let silent = |defect: &Defect| !defect.contradicts_layout();
        assert!(others.iter().all(|defect| !is_info(defect) || silent(defect)));
    }
}
