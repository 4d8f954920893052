//! The promises of the command line: exit codes, outputs that match their schemas, and not one
//! character from a file that a terminal could act on.

mod access;
mod addresses;
mod audit;
mod batch;
mod captures;
mod codes;
mod cut;
mod diff;
mod dump;
mod edits;
mod exit_codes;
mod expected;
mod false_clean;
mod formats;
mod harm;
mod human;
mod in_use;
mod installer;
mod kit;
mod many;
mod map;
mod obvious;
mod options;
mod outputs;
mod pages;
mod pictures;
mod plans;
mod planted;
mod planted_spellings;
mod planted_words;
mod platforms;
mod policy;
mod redact;
mod redactions;
mod repair;
mod sandbox;
mod shards;
mod tables;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use tracemend::kit::text::is_safe;
use tracemend_cli::{Look, Streams};
use tracemend_tests::forge::{perf, qemu, revent};

struct Ran {
    code: u8,
    out: String,
    err: String,
}

/// Runs the command line in this process.
fn run_with(args: &[&OsStr], input: &mut dyn Read, look: Look) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let program = [OsString::from("tracemend")].into_iter();
    let args = args.iter().map(|arg| OsString::from(*arg));
    let code =
        tracemend_cli::run(program.chain(args), Streams::new(input, &mut out, &mut err, look));
    Ran { code, out: String::from_utf8(out).unwrap(), err: String::from_utf8(err).unwrap() }
}

macro_rules! run {
    ($($arg:expr),* $(,)?) => {
        run_with(&[$(OsStr::new(&$arg)),*], &mut io::empty(), Look::PLAIN)
    };
}

// By path, for the modules below.
use run;

/// A folder with files of these names and contents.
fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn sound() -> Vec<u8> {
    perf::clean().swap_remove(0).built.bytes
}

/// A killed recorder's file whose last record is truncated: repaired with loss.
fn truncated() -> Vec<u8> {
    perf::clean().swap_remove(0).built.crashed_torn(5)
}

/// A killed recorder's file, all of whose records are whole.
fn crashed() -> Vec<u8> {
    perf::clean().swap_remove(0).built.crashed()
}

fn exit_of(bytes: &[u8]) -> u8 {
    use tracemend::Outcome;
    match tracemend_tests::mended::mended(bytes).0.outcome {
        Outcome::Clean | Outcome::Repaired => 0,
        Outcome::RepairedWithLoss => 3,
        Outcome::CannotRepair => 4,
        Outcome::Incomplete => 6,
    }
}

fn schema(name: &str) -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema").join(name);
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn assert_valid(validator: &jsonschema::Validator, document: &Value) {
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
