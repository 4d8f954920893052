//! Recordings that were compressed, packed or converted as a whole: no repair puts an invented
//! recording in the place of one, and a report says what the bytes are.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use tracemend_tests::sweep::is_left_to_the_gate;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use tracemend::kit::wrapper::Wrapper;
use tracemend::{Options, Outcome, Repair, Severity};
use tracemend_cli::{Look, Streams};
use tracemend_tests::known_originals::{Files, Original, SUBJECTS, Subject, set};

/// Bytes of a file that is encoded, at least: a smaller one has too little content to be judged.
const LEAST: usize = 2_048;
/// Originals of a format that are encoded, the first ones aside from short ones.
const ORIGINALS: usize = 8;

/// An encoding of a whole file.
type Encode = fn(&[u8]) -> Vec<u8>;

/// Encodings that make other bytes of a file, with the wrapper that is recognised.
const PACKED: [(Wrapper, Encode); 4] = [
    (Wrapper::Gzip, |bytes| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }),
    (Wrapper::Tar, |bytes| {
        let mut header = tar::Header::new_ustar();
        header.set_size(u64::try_from(bytes.len()).unwrap());
        let mut archive = tar::Builder::new(Vec::new());
        archive.append_data(&mut header, "recording", bytes).unwrap();
        archive.into_inner().unwrap()
    }),
    (Wrapper::Base64, |bytes| {
        let text = STANDARD.encode(bytes);
        let lines = text.as_bytes().chunks(76).map(|line| [line, b"\n"].concat());
        lines.collect::<Vec<_>>().concat()
    }),
    (Wrapper::HexDump, |bytes| {
        let mut text = Vec::new();
        for (index, line) in bytes.chunks(16).enumerate() {
            write!(text, "{:08x}:", index * 16).unwrap();
            line.chunks(2).for_each(|pair| {
                text.push(b' ');
                pair.iter().for_each(|byte| write!(text, "{byte:02x}").unwrap());
            });
            text.push(b'\n');
        }
        text
    }),
];

/// Conversions of text, which leave a part of the bytes as they are.
const CONVERTED: [(&str, Encode); 3] = [
    ("UTF-8", |bytes| bytes.iter().copied().map(char::from).collect::<String>().into_bytes()),
    ("UTF-8 with replaced bytes", |bytes| String::from_utf8_lossy(bytes).into_owned().into()),
    ("CR LF", |bytes| {
        let line_end = |byte: &u8| if *byte == b'\n' { vec![b'\r', b'\n'] } else { vec![*byte] };
        bytes.iter().flat_map(line_end).collect()
    }),
];

/// A recording with the file of its records encoded.
fn encoded(original: &Original, encode: Encode) -> Option<Files> {
    let is_text = |name: &str| name.ends_with(".json");
    let longest = |(_, (name, bytes)): &(usize, &(String, Vec<u8>))| {
        if is_text(name) { 0 } else { bytes.len() }
    };
    let (index, (_, bytes)) = original.files.iter().enumerate().max_by_key(longest)?;
    let changed = encode(bytes);
    if bytes.len() < LEAST || changed == *bytes {
        return None;
    }
    let mut files = original.files.clone();
    files[index].1 = changed;
    Some(files)
}

/// Runs `each` for encoded originals of every format, and returns how many there were.
fn for_each(encode: Encode, mut each: impl FnMut(&Subject, &Original, &Files)) -> usize {
    let mut count = 0;
    for subject in SUBJECTS {
        let originals = subject.originals.iter();
        let cases = originals.filter_map(|original| Some((original, encoded(original, encode)?)));
        for (original, files) in cases.take(ORIGINALS) {
            each(subject, original, &files);
            count += 1;
        }
    }
    count
}

/// Repairs files like a user who names no format.
fn repaired(files: &Files) -> (Repair, Files) {
    let source = set(files);
    let repair = tracemend::repair(&source, &Options::default());
    let output = repair.output(&source);
    let output = output.files().iter().map(|file| (file.name.clone(), file.bytes.to_vec()));
    let output = output.collect();
    (repair, output)
}

const fn is_refused(repair: &Repair) -> bool {
    matches!(repair.outcome, Outcome::CannotRepair | Outcome::Incomplete)
}

#[test]
fn a_packed_recording_is_refused_and_named() {
    if is_left_to_the_gate("a packed recording is refused and named") {
        return;
    }
    for (wrapper, encode) in PACKED {
        let count = for_each(encode, |subject, original, files| {
            let (repair, output) = repaired(files);
            let case = format!("{} {}, {wrapper:?}", subject.format, original.name);
            assert!(is_refused(&repair) || output == original.files, "{case}: {repair:#?}");
            // Files of apitrace may be compressed with gzip: its stream is what is wrong.
            if subject.format == tracemend::FormatId::APITRACE && wrapper == Wrapper::Gzip {
                return;
            }
            let reports = [&repair.before, &repair.after];
            let errors = reports.into_iter().flat_map(|report| report.findings());
            let mut errors = errors.filter(|finding| finding.severity == Severity::Error);
            let is_named = errors.any(|finding| finding.message.contains(wrapper.description()));
            assert!(is_named || output == original.files, "{case}: {repair:#?}");
        });
        assert!(count >= 20, "{count} recordings");
    }
}

#[test]
fn a_converted_recording_is_refused_unless_a_part_of_its_records_is_left() {
    if is_left_to_the_gate("a converted recording is refused unless a part of its records is left")
    {
        return;
    }
    for (name, encode) in CONVERTED {
        let count = for_each(encode, |subject, original, files| {
            let (repair, output) = repaired(files);
            if is_refused(&repair) || output == original.files {
                return;
            }
            let identities = |files: &Files| -> BTreeSet<Vec<u8>> {
                let records = (subject.records)(original, files).into_iter();
                records.map(|record| record.identity).collect()
            };
            let kept = identities(&output).intersection(&identities(&original.files)).count();
            assert!(kept > 0, "{} {}, {name}: {repair:#?}", subject.format, original.name);
        });
        assert!(count >= 10, "{count} recordings");
    }
}

/// Runs the program on paths, which follow the other arguments.
fn run(args: &[&str], paths: &[&std::path::Path]) -> (u8, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = ["tracemend"].iter().chain(args).map(OsString::from);
    let args = args.chain(paths.iter().map(OsString::from));
    let mut input = std::io::empty();
    let code = tracemend_cli::run(args, Streams::new(&mut input, &mut out, &mut err, Look::PLAIN));
    (code, String::from_utf8([out, err].concat()).unwrap())
}

#[test]
fn a_trace_with_a_compressed_stream_is_written_only_if_asked_for_in_part() {
    let subject = SUBJECTS.iter().find(|subject| subject.format.name() == "ovni").unwrap();
    let (_, gzip) = PACKED[0];
    let files = subject.originals.iter().find_map(|original| encoded(original, gzip)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (trace, output) = (folder.path().join("trace"), folder.path().join("output"));
    for (name, bytes) in files {
        let path = trace.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let (code, text) = run(&["repair", "--no-transport", "-o"], &[&output, &trace]);
    assert_eq!((code, output.exists()), (4, false), "{text}");
    assert!(text.contains("CM0006") && text.contains("gzip -dc FILE > OUT"), "{text}");
    let (code, text) = run(
        &["repair", "--no-transport", "--partial", "--format", "json", "-o"],
        &[&output, &trace],
    );
    assert_eq!((code, output.exists()), (4, true), "{text}");
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&report["outcome"], &report["after"]["counts"]["CM0006"]),
        (&"cannot-repair".into(), &1.into())
    );
}
