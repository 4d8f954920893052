//! Options that do not apply are named: every option with every format and command.

use tracemend::{FormatId, OptionSpec, OptionValue};
use tracemend_tests::forge::{apitrace, ovni};

use super::*;

/// A sound recording of each format, in a folder.
fn recordings() -> (TempDir, Vec<(FormatId, PathBuf)>) {
    let folder = TempDir::new().unwrap();
    let mut paths = Vec::new();
    let tap = revent::Recording::new(revent::Layout::V3).tap(1).build().bytes;
    let calls = apitrace::clean().pop().expect("a trace").stream.bytes;
    let calls = apitrace::Container::Snappy.file(&calls);
    let log = qemu::long(qemu::ids::of("5.2"), 500).bytes;
    let files = [
        (FormatId::PERF, sound()),
        (FormatId::APITRACE, calls),
        (FormatId::QEMU, log),
        (FormatId::REVENT, tap),
    ];
    for (format, bytes) in files {
        let path = folder.path().join(format.name());
        fs::write(&path, bytes).unwrap();
        paths.push((format, path));
    }
    let trace = ovni::by_name("smallest");
    for (name, bytes) in &trace.files {
        let path = folder.path().join("ovni").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes.as_ref().unwrap()).unwrap();
    }
    paths.push((FormatId::OVNI, folder.path().join("ovni")));
    fs::write(folder.path().join("donor"), sound()).unwrap();
    (folder, paths)
}

/// A value that the option takes; each word of one that takes words.
fn values(spec: &OptionSpec, donor: &Path) -> Vec<Option<String>> {
    match &spec.value {
        OptionValue::Flag => vec![None],
        OptionValue::File => vec![Some(donor.to_str().unwrap().to_string())],
        OptionValue::OneOf { words, .. } => {
            words.iter().map(|(word, _)| Some((*word).to_string())).collect()
        }
        // A word, since a path is one of a file.
        OptionValue::Text { .. } if spec.may_be_file => vec![Some("x".to_string())],
        OptionValue::Text { check, .. } => {
            let samples = ["5.2", "1", "0..9", "0", "CP", "SAMPLE", "1..2", "x", "7", "128"];
            let fits = samples.into_iter().find(|text| check(text).is_ok());
            vec![Some(fits.expect("a sample that the option takes").to_string())]
        }
        _ => panic!("a kind of value that the test does not know"),
    }
}

fn specs(format: FormatId, command: &str) -> &'static [OptionSpec] {
    match command {
        "dump" => format.dump_options(),
        _ => format.options(),
    }
}

/// Whether the format has the option, and takes the value.
fn owns(format: FormatId, command: &str, name: &str, value: Option<&str>) -> bool {
    let has_word = |own: &OptionSpec| match (&own.value, value) {
        (OptionValue::OneOf { words, .. }, Some(value)) => {
            words.iter().any(|(word, _)| *word == value)
        }
        (OptionValue::Text { check, .. }, Some(value)) => check(value).is_ok(),
        _ => true,
    };
    specs(format, command).iter().any(|own| own.name == name && has_word(own))
}

/// Every command with every value of every option of any format.
fn every_option(donor: &Path) -> Vec<(&'static str, &'static str, Option<String>)> {
    let mut options = Vec::new();
    for command in ["check", "repair", "dump"] {
        for spec in FormatId::ALL.iter().flat_map(|format| specs(*format, command)) {
            let values = values(spec, donor).into_iter();
            options.extend(values.map(|value| (command, spec.name, value)));
        }
    }
    options
}

#[test]
fn every_option_of_a_format_is_taken_by_it_and_refused_by_the_others() {
    let (folder, recordings) = recordings();
    let mut refused = 0;
    for (command, name, value) in every_option(&folder.path().join("donor")) {
        let option = format!("--{name}");
        for (format, path) in &recordings {
            let mut args: Vec<&OsStr> = vec![command.as_ref(), path.as_os_str(), option.as_ref()];
            args.extend(value.as_deref().map(OsStr::new));
            args.extend((command == "repair").then_some(OsStr::new("--dry-run")));
            let ran = run_with(&args, &mut io::empty(), Look::PLAIN);
            let is_named =
                ran.code == 2 && ran.err.contains(&option) && ran.err.contains("does not apply");
            // These recordings have no parts.
            let owns = owns(*format, command, name, value.as_deref()) && name != "part";
            assert_eq!(is_named, !owns, "{args:?}: {} {}", ran.code, ran.err);
            refused += usize::from(is_named);
        }
    }
    assert!(refused > 40, "{refused} combinations were refused");
}

#[test]
fn an_option_that_applies_to_some_of_many_recordings_is_a_warning() {
    let (folder, recordings) = recordings();
    let ran = run!("check", folder.path(), "--strategy", "prefix");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    // Once per format: the donor is a recording of perf as well.
    for (format, _) in recordings.iter().filter(|(format, _)| *format != FormatId::QEMU) {
        let warning = format!("--strategy prefix does not apply to {format} recordings");
        assert_eq!(ran.err.matches(&warning).count(), 1, "{}", ran.err);
    }
    assert!(!ran.err.contains("apply to qemu"), "{}", ran.err);
    let ran = run!("check", &recordings[0].1, &recordings[2].1, "--strategy=prefix");
    assert_eq!((ran.code, ran.err.lines().count()), (0, 1), "{}", ran.err);
}

#[test]
fn a_check_shows_the_fix_that_an_option_asks_for() {
    let log = qemu::long(qemu::ids::of("5.2"), 500);
    let log = log.killed(log.bytes.len() - 3);
    let folder = folder(&[("log", &log)]);
    let path = folder.path().join("log");
    let ran = run!("check", &path, "--qemu-version", "5.2");
    assert_eq!(ran.code, 1);
    let next = format!("tracemend repair {} --qemu-version 5.2 -o", path.display());
    assert!(ran.out.contains(&next), "{}", ran.out);
}

#[test]
fn a_path_without_a_file_is_not_taken_for_a_model() {
    let (folder, recordings) = recordings();
    let (_, revent) = recordings.iter().find(|(format, _)| *format == FormatId::REVENT).unwrap();
    let missing = folder.path().join("devices");
    for target in [missing.to_str().unwrap(), "devices.txt", "./devices", "."] {
        let ran = run!("check", revent, "--target", target);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{target}: {}", ran.err);
        assert!(ran.err.contains(&format!("--target {target}")), "{target}: {}", ran.err);
    }
    assert_ne!(run!("check", revent, "--target", "Nexus10").code, 2);
}

#[test]
fn options_of_a_command_that_have_no_effect_are_named() {
    let (folder, _) = recordings();
    let path = |name: &str| folder.path().join(name);
    for (args, option) in [
        (vec!["check", "perf", "--quiet", "--format", "json"], "--quiet"),
        (vec!["check", "perf", "--verbose", "--format", "jsonl"], "--verbose"),
        (vec!["repair", "perf", "--link", "--dry-run"], "--link"),
        (vec!["repair", "perf", "--no-backup"], "--in-place"),
        (vec!["dump", "revent", "--style", "evemu", "--format", "jsonl"], "--style"),
    ] {
        let named = path(args[1]);
        let mut words: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        words[1] = named.as_os_str();
        let ran = run_with(&words, &mut io::empty(), Look::PLAIN);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(option), "{args:?}: {}", ran.err);
    }
}
