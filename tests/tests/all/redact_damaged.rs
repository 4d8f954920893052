//! Redaction of damaged recordings: words are planted where a redaction of the sound recording
//! replaces bytes, the recording is damaged, and no word is left in the output unless the redaction
//! names private content that it left.
//!
//! The output has no more errors than the damaged recording, and a second redaction changes
//! nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tracemend::formats::apitrace::stream_bytes;
use tracemend::kit::source::Source;
use tracemend::{Dump, FileSet, FormatId, Options, RedactError, RedactRequest, Redaction};
use tracemend_tests::forge::apitrace::{Container, Stream, Value};
use tracemend_tests::known_originals::damage::damage;
use tracemend_tests::known_originals::{Dice, Files, Original, SUBJECTS, Subject, set};
use tracemend_tests::notice;
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

/// Bytes of the longest originals.
const LONGEST: usize = 64 << 10;
/// Words that are planted in a recording.
const WORDS: usize = 24;
/// Damaged recordings of each format in an exhaustive run.
const CASES: usize = 2_000;
/// Longest stream that is searched for words.
const STREAM_MAX: u64 = 16 << 20;

/// A sound recording with words, none of which its redaction leaves.
struct Planted {
    original: Original,
    words: BTreeSet<Vec<u8>>,
}

fn redact(files: &FileSet<'_>, format: FormatId) -> Result<Redaction, RedactError> {
    let options = Options::default().with_format(format);
    let mut request = RedactRequest::default();
    if format == FormatId::OVNI {
        // The folders of a trace are named by these ids.
        request = request.with_kept(RedactRequest::kind("process").unwrap());
    }
    tracemend::redact(files, &options, &request)
}

/// Returns the files of a recording in memory.
fn files_of(set: &FileSet<'_>) -> Files {
    let files = set.files().iter();
    files
        .map(|file| (file.name.clone(), file.bytes.read(0, file.bytes.len()).into_owned()))
        .collect()
}

/// A word of eight letters for each number.
fn word(number: usize) -> Vec<u8> {
    let letters = (0_u32..6).map(|place| b'a' + (number / 26_usize.pow(place) % 26) as u8);
    b"Qz".iter().copied().chain(letters.map(|letter| letter ^ 0x20)).collect()
}

/// The ranges of at least eight bytes in which two files differ.
fn differences(one: &[u8], two: &[u8]) -> Vec<Range<usize>> {
    let mut at = 0;
    let pairs: Vec<bool> = one.iter().zip(two).map(|(one, two)| one != two).collect();
    let runs = pairs.chunk_by(|one, two| one == two).filter_map(|run| {
        let start = at;
        at += run.len();
        (run[0] && run.len() >= 8).then_some(start..at)
    });
    runs.collect()
}

/// Plants words in a sound recording.
fn plant(original: &Original, format: FormatId, dice: &mut Dice<'_>) -> Option<Planted> {
    let sound = set(&original.files);
    let redacted = redact(&sound, format).ok().filter(|redaction| redaction.left.is_empty())?;
    let output = files_of(&redacted.repair.output(&sound));
    let mut words = BTreeSet::new();
    let mut files = original.files.clone();
    for (file, (_, new)) in output.iter().enumerate() {
        let old = original.files[file].1.clone();
        if old.len() != new.len() {
            continue;
        }
        let mut places = differences(&old, new);
        while places.len() > WORDS {
            places.swap_remove(dice.below(places.len()));
        }
        for place in places {
            let word = word(dice.below(1 << 20));
            let mut planted = files.clone();
            planted[file].1[place.start..place.start + 8].copy_from_slice(&word);
            if !tracemend::check(&set(&planted), &Options::default()).has_errors() {
                files = planted;
                words.insert(word);
            }
        }
    }
    // Words of the dump that are not in that of the redacted recording.
    if format != FormatId::APITRACE {
        let left = tokens(&output, format);
        words.extend(tokens(&files, format).difference(&left).cloned());
    }
    (!words.is_empty())
        .then(|| Planted { original: Original { name: original.name.clone(), files }, words })
}

fn dump(files: &Files, format: FormatId) -> String {
    let mut text = String::new();
    let options = Options::default().with_format(format);
    let _ended = tracemend::dump(&set(files), &options, &Dump::JsonLines, &mut |part| {
        text += part;
        true
    });
    text
}

/// The words of at least six characters, with a letter, in a dump.
fn tokens(files: &Files, format: FormatId) -> BTreeSet<Vec<u8>> {
    let text = dump(files, format);
    let words = text.split(|char: char| !char.is_ascii_alphanumeric());
    let is_word = |word: &&str| {
        // Not a number in hexadecimal digits, and not the name of a kind of record.
        word.len() >= 6 && word.bytes().filter(|byte| (b'g'..=b'z').contains(byte)).count() >= 4
    };
    words.filter(is_word).map(|word| word.as_bytes().to_vec()).collect()
}

/// Traces of every container with words in texts and blobs.
fn traces() -> Vec<Planted> {
    let containers = [Container::Snappy, Container::Gzip, Container::Zstd, Container::Brotli];
    let traces = containers.into_iter().map(|container| {
        let (mut stream, mut words) = (Stream::new(6), BTreeSet::new());
        for call in 0..400 {
            let word = word(call * 7919);
            let value = match call % 3 {
                0 => Value::String(word.clone()),
                1 => Value::Blob(word.repeat(3)),
                _ => Value::Array(vec![Value::Uint(1), Value::String(word.clone())]),
            };
            if call % 5 == 0 {
                words.insert(word);
                stream.named_call(0, 1, "glObjectLabel", &[value]);
            } else {
                stream.named_call(0, 2, "glViewport", &[Value::Uint(call as u64)]);
            }
        }
        let bytes = container.file(&stream.bytes);
        let name = format!("{container:?} with words");
        Planted { original: Original::single(name, bytes), words }
    });
    traces.collect()
}

fn originals(subject: &Subject) -> Vec<Planted> {
    let mut dice = Dice::seeded(47);
    let len =
        |original: &Original| original.files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
    let short = subject.originals.iter().filter(|original| len(original) <= LONGEST);
    let mut all: Vec<Planted> =
        short.filter_map(|original| plant(original, subject.format, &mut dice)).collect();
    if subject.format == FormatId::APITRACE {
        all.extend(traces());
    }
    all
}

/// Returns the words whose first or last six bytes are left in a recording.
fn find_words(planted: &Planted, files: &Files, format: FormatId) -> Vec<String> {
    let mut places: Vec<Vec<u8>> = files.iter().map(|(_, bytes)| bytes.clone()).collect();
    places.extend(files.iter().map(|(name, _)| name.clone().into_bytes()));
    places.push(dump(files, format).into_bytes());
    if format == FormatId::APITRACE {
        places.push(stream_bytes(&Source::new(&files[0].1), STREAM_MAX));
    }
    let parts = places.iter().flat_map(|bytes| bytes.windows(6));
    let parts: BTreeSet<&[u8]> = parts.collect();
    let is_left = |word: &&Vec<u8>| word.windows(6).any(|part| parts.contains(part));
    let left = planted.words.iter().filter(is_left);
    left.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// The outcome of a case.
fn judge(
    planted: &Planted,
    format: FormatId,
    seed: u64,
    number: usize,
) -> (String, Option<String>) {
    let mut dice = Dice::seeded(seed.wrapping_mul(0x9e37_79b9).wrapping_add(number as u64));
    let damaged = damage(&planted.original.files, &mut dice);
    let files = set(&damaged.files);
    let about = format!("case {number} of {}: {}", planted.original.name, damaged.describe());
    let redaction = match redact(&files, format) {
        Ok(redaction) => redaction,
        Err(error) => {
            let reason: String = error.to_string().chars().take(50).collect();
            return (format!("refused: {reason}"), None);
        }
    };
    let output = files_of(&redaction.repair.output(&files));
    let words = find_words(planted, &output, format);
    let is_named = !redaction.left.is_empty();
    let errors = |files: &Files| {
        let report = tracemend::check(&set(files), &Options::default().with_format(format));
        report.findings().iter().filter(|one| one.severity == tracemend::Severity::Error).count()
    };
    let codes = |list: &[tracemend::Sighting]| {
        let codes: BTreeSet<&str> = list.iter().map(|one| one.rule.code).collect();
        codes.into_iter().collect::<Vec<_>>().join(" ")
    };
    let fault = if !words.is_empty() && !is_named {
        Some(format!("{about}: in the output: {words:?}"))
    } else if errors(&output) > errors(&damaged.files) {
        Some(format!("{about}: more errors"))
    } else {
        let again = redact(&set(&output), format);
        let is_same = again
            .as_ref()
            .is_ok_and(|again| files_of(&again.repair.output(&set(&output))) == output);
        (!is_same).then(|| {
            format!("{about}: a second redaction: {:?}", again.map(|again| codes(&again.redacted)))
        })
    };
    let result = match (is_named, codes(&redaction.redacted).contains("AU1024")) {
        (true, _) => format!("left: {}", codes(&redaction.left)),
        (false, true) => "blanked".to_string(),
        (false, false) => "without damage".to_string(),
    };
    (result, fault)
}

/// Runs a share of the cases of a format.
fn leaves_no_word(name: &str) {
    let subject = SUBJECTS.iter().find(|subject| subject.format.name() == name).unwrap();
    let share = Share::one_in(20);
    let seed = std::env::var("TRACEMEND_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let all = originals(subject);
    assert!(!all.is_empty(), "{name}: no original has private content");
    let (mut results, mut faults) = (BTreeMap::<String, usize>::new(), Vec::new());
    for number in share.of(0..CASES) {
        let (result, fault) = judge(&all[number % all.len()], subject.format, seed, number);
        *results.entry(result).or_default() += 1;
        faults.extend(fault);
    }
    notice::say(&format!("damaged and redacted, {name}, seed {seed}: {results:?}"));
    let cases: usize = results.values().sum();
    let refused = results.iter().filter(|(result, _)| result.starts_with("refused"));
    let refused: usize = refused.map(|(_, count)| count).sum();
    assert!(refused * 4 <= cases.max(20), "{name}, seed {seed}: {results:?}");
    assert!(faults.is_empty(), "{name}, seed {seed}: {results:?}\n{}", faults.join("\n"));
}

#[test]
fn no_word_is_left_in_a_damaged_recording_of_perf_unless_named() {
    leaves_no_word("perf");
}

#[test]
fn no_word_is_left_in_a_damaged_trace_of_apitrace_unless_named() {
    if is_left_to_the_gate("no word is left in a damaged trace of apitrace unless named") {
        return;
    }
    leaves_no_word("apitrace");
}

#[test]
fn no_word_is_left_in_a_damaged_trace_of_ovni_unless_named() {
    leaves_no_word("ovni");
}

#[test]
fn no_word_is_left_in_a_damaged_log_of_qemu_unless_named() {
    if is_left_to_the_gate("no word is left in a damaged log of qemu unless named") {
        return;
    }
    leaves_no_word("qemu");
}

#[test]
fn no_word_is_left_in_a_damaged_recording_of_revent_unless_named() {
    leaves_no_word("revent");
}
