//! The name of the file, by which Workload Automation finds a recording.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::layout::{EXTENSION, STAGES};
use crate::formats::revent::rules;
use crate::kit::span::Span;
use crate::kit::text::Untrusted;
use crate::kit::words;
use crate::model::{Finding, Report};

/// Compares the name with `<device>.<stage>.revent`. Files with another extension are not judged.
pub(super) fn check(path: &str, report: &mut Report) {
    let name = path.rsplit('/').next().unwrap_or(path);
    if let Some(defect) = find_defect(name) {
        let message = format!("file name `{}` {defect}", Untrusted(name.as_bytes()));
        let span = Span::new(FILE, 0, 0);
        report.push(Finding::new(&rules::FILE_NAME, span, "file name", message));
    }
}

/// Returns the reason why Workload Automation does not find a recording of this name.
///
/// wa/framework/resource.py, `ReventFile.match_path`: of more than two parts between dots, the
/// second is the stage; of two parts, the first. wa/framework/getters.py ignores the case of the
/// extension.
fn find_defect(name: &str) -> Option<String> {
    let parts: Vec<&str> = name.split('.').collect();
    let (extension, parts) = parts.split_last()?;
    if parts.is_empty() || !extension.eq_ignore_ascii_case(EXTENSION) {
        return None;
    }
    let is_stage = |part: &&str| STAGES.contains(part);
    let stage = match parts {
        [stage] => stage,
        [_, stage, ..] => stage,
        [] => return None,
    };
    if is_stage(stage) {
        return None;
    }
    let expected = format!("expected <device>.<stage>.{EXTENSION}");
    if parts.len() == 1 {
        return Some(format!("has no stage, {expected}"));
    }
    if parts.iter().any(is_stage) {
        return Some(format!("has a dot in the name of the device, {expected}"));
    }
    let lower = stage.to_ascii_lowercase();
    let meant = STAGES.iter().find(|known| ***known == *lower || lower == "startup");
    let hint = meant.map_or_else(String::new, |known| format!(" (did you mean `{known}`?)"));
    let stage = Untrusted(stage.as_bytes());
    Some(format!("has the unknown stage `{stage}`, expected {}{hint}", words::join_or(&STAGES)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_judged_by_its_parts_its_stage_and_its_case() {
        let found =
            ["Nexus10.run.revent", "setup.revent", "pad.run.v2.revent", "Nexus10.run.REVENT"];
        for sound in found.into_iter().chain(["data", "a.txt", "revent"]) {
            assert_eq!(find_defect(sound), None, "{sound}");
        }
        for (name, expected) in [
            ("angrybirds_classic.revent", "has no stage"),
            ("Nexus.10.run.revent", "has a dot in the name of the device"),
            ("Nexus10.startup.revent", "did you mean `setup`?"),
            ("Nexus10.Run.revent", "did you mean `run`?"),
            ("Nexus10.play.revent", "expected setup, run, extract_results or teardown"),
        ] {
            let defect = find_defect(name);
            assert!(
                defect.as_ref().is_some_and(|text| text.contains(expected)),
                "{name}: {defect:?}"
            );
        }
    }
}
