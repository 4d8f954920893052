//! The meaning of a command line that names no command.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::kit::command::quote;

/// Words that people try, each with the command that does it.
const WORDS: [(&str, &[&str]); 10] = [
    ("check", &["validate", "lint", "test", "scan", "fsck"]),
    ("repair", &["fix", "recover", "restore", "salvage", "rescue", "heal"]),
    ("redact", &["anonymize", "anonymise", "sanitize", "sanitise", "strip", "scrub"]),
    ("cut", &["trim", "slice", "extract", "split", "crop"]),
    ("map", &["info", "show", "inspect", "stat", "layout"]),
    ("dump", &["print", "cat", "script", "decode", "list", "view"]),
    ("diff", &["compare", "cmp"]),
    ("explain", &["why", "describe"]),
    ("formats", &["types"]),
    ("codes", &["rules"]),
];

/// A command line that has no command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    /// `tracemend PATH...`: the arguments with `check` before the paths, and what to tell.
    Check(Vec<OsString>, String),
    /// Another word for a command: what to tell.
    Synonym(String),
}

/// Returns what `args` mean, which the parser refused with `error`.
pub(crate) fn of(args: &[OsString], error: &clap::Error) -> Option<Intent> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let at = args.iter().skip(1).position(|arg| arg.to_string_lossy() == *word)?.saturating_add(1);
    let (before, after) = args.split_at_checked(at)?;
    let is_path = |arg: &OsStr| arg == "-" || Path::new(arg).symlink_metadata().is_ok();
    let synonym = WORDS.iter().find(|(_, words)| words.contains(&word.as_str()));
    match synonym {
        Some((command, _)) if after.len() > 1 || !is_path(after.first()?) => {
            Some(Intent::Synonym(describe(command, word, after.get(1..)?)))
        }
        _ if is_path(after.first()?) => {
            let check = OsString::from("check");
            let args = before.iter().cloned().chain([check]).chain(after.iter().cloned());
            let told = format!("no command was given: {}", join("check", after));
            Some(Intent::Check(args.collect(), told))
        }
        _ => None,
    }
}

fn describe(command: &str, word: &str, rest: &[OsString]) -> String {
    format!("`{word}` is not a command; next: {}", join(command, rest))
}

/// A command that can be pasted.
fn join(command: &str, rest: &[OsString]) -> String {
    let rest = rest.iter().map(|arg| {
        let (path, quoted) = (Path::new(arg), quote(Path::new(arg)));
        let is_option = arg.to_string_lossy().starts_with('-') && !path.exists();
        quoted.strip_prefix("./").filter(|_| is_option).map(str::to_string).unwrap_or(quoted)
    });
    let words = ["tracemend".to_string(), command.to_string()].into_iter().chain(rest);
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_words(words: &[&str]) -> Option<Intent> {
        let args: Vec<OsString> = words.iter().map(OsString::from).collect();
        let error = crate::build_command().try_get_matches_from(args.clone()).unwrap_err();
        of(&args, &error)
    }

    #[test]
    fn a_path_alone_is_checked_and_other_words_lead_to_their_command() {
        let Some(Intent::Check(args, told)) = of_words(&["tracemend", "--color", "never", "src"])
        else {
            panic!("src is a folder of this crate")
        };
        assert_eq!(args, ["tracemend", "--color", "never", "check", "src"]);
        assert_eq!(told, "no command was given: tracemend check src");
        let Some(Intent::Synonym(told)) = of_words(&["tracemend", "fix", "--dry-run", "a b"])
        else {
            panic!("fix is a word for repair")
        };
        assert_eq!(told, "`fix` is not a command; next: tracemend repair --dry-run 'a b'");
        assert_eq!(of_words(&["tracemend", "nothing-of-this-name"]), None);
    }

    #[test]
    fn no_word_for_a_command_is_a_command() {
        let command = crate::build_command();
        let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        for (meant, words) in WORDS {
            assert!(names.contains(&meant), "{meant}");
            assert!(words.iter().all(|word| !names.contains(word)), "{words:?}");
        }
    }
}
