//! The file's name, by which Workload Automation finds a recording.

use crate::formats::revent::decode::head::FILE;
use crate::formats::revent::layout::{EXTENSION, STAGES};
use crate::formats::revent::rules;
use crate::kit::span::Span;
use crate::kit::text::Untrusted;
use crate::report::{Finding, Report};

/// Compares the name with `<device>.<stage>.revent`; a file of another kind of name is not looked for.
pub(super) fn check(path: &str, report: &mut Report) {
    let name = path.rsplit('/').next().unwrap_or(path);
    if let Some(why) = fault(name) {
        let message = format!("`{}`: {why}", Untrusted(name.as_bytes()));
        let span = Span::new(FILE, 0, 0);
        report.push(Finding::new(&rules::FILE_NAME, span, "file name", message));
    }
}

/// Why a recording of this name is not found.
fn fault(name: &str) -> Option<String> {
    let parts: Vec<&str> = name.split('.').take(5).collect();
    let extension = parts.last().filter(|_| parts.len() > 1)?;
    if !extension.eq_ignore_ascii_case(EXTENSION) {
        return None;
    }
    if *extension != EXTENSION {
        return Some(format!("it has to end in .{EXTENSION}, in lower case"));
    }
    let [_, stage, _] = parts.as_slice() else {
        let parts =
            if parts.len() < 3 { "it names no stage" } else { "it has more than three parts" };
        return Some(format!("{parts}; the form is <device>.<stage>.{EXTENSION}"));
    };
    if STAGES.contains(stage) {
        return None;
    }
    let lower = stage.to_ascii_lowercase();
    let meant = STAGES.iter().find(|known| ***known == *lower || lower == "startup");
    let meant = meant.map_or_else(String::new, |known| format!("; `{known}` may be meant"));
    Some(format!(
        "`{}` is none of the stages {}{meant}",
        Untrusted(stage.as_bytes()),
        STAGES.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_by_parts_stage_and_case() {
        for sound in
            ["Nexus10.run.revent", "generic_android.setup.revent", "data", "a.txt", "revent"]
        {
            assert_eq!(fault(sound), None, "{sound}");
        }
        for (name, why) in [
            ("angrybirds_classic.revent", "names no stage"),
            ("Nexus.10.run.revent", "more than three parts"),
            ("Nexus10.startup.revent", "`setup` may be meant"),
            ("Nexus10.Run.revent", "`run` may be meant"),
            ("Nexus10.play.revent", "none of the stages"),
            ("Nexus10.run.REVENT", "lower case"),
        ] {
            assert!(
                fault(name).is_some_and(|text| text.contains(why)),
                "{name}: {:?}",
                fault(name)
            );
        }
    }
}
