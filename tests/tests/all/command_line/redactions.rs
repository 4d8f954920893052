//! `redact` of compressed records, and of several recordings.

use super::redact::{places, redact, root};
use super::*;

/// The kinds of the records in a dump without the compressed ones, sorted: a dump shows expanded
/// records when the decoder releases them.
fn records(path: &Path) -> Vec<String> {
    let dump = run!("dump", path, "--format", "jsonl").out;
    let kinds = dump.lines().map(|line| parse(line)["kind"].as_str().unwrap().to_string());
    let mut kinds: Vec<String> = kinds.filter(|kind| !kind.starts_with("COMPRESSED")).collect();
    kinds.sort();
    kinds
}

#[test]
fn compressed_records_are_replaced_by_the_records_in_them() {
    let forged = perf::clean().into_iter().filter(|one| one.name.contains("compressed"));
    let mut seen = 0;
    for one in forged {
        let folder = folder(&[(one.name, &one.built.bytes)]);
        let path = folder.path().join(one.name);
        let out = TempDir::new().unwrap();
        let (document, output) = redact(&path, &out);
        assert_eq!(records(&output), records(&path), "{}: {document}", one.name);
        let kinds = |path: &Path| run!("dump", path, "--format", "jsonl").out;
        let is_left = kinds(&output).contains("\"COMPRESSED");
        let fields = places(&document["redacted"], "field");
        // Private content elsewhere leaves the compressed records as they are.
        let is_inside = fields.iter().any(|(_, field)| field == "MMAP2");
        assert!(kinds(&path).contains("\"COMPRESSED"), "{}", one.name);
        if is_inside {
            assert!(!is_left, "{}: {document}", one.name);
            seen += 1;
        }
    }
    assert!(seen >= 4, "{seen}");
    let zstd = root().join("corpus/perf/clean/zstd.data");
    let out = TempDir::new().unwrap();
    let (_, output) = redact(&zstd, &out);
    assert_eq!(records(&output), records(&zstd));
    // Content of other sections only: the compressed records stay.
    let only = run!("redact", &zstd, "-o", out.path().join("host"), "--only", "host-name");
    assert_eq!(only.code, 0, "{}", only.err);
    let len = |path: &Path| fs::metadata(path).unwrap().len();
    assert_eq!(len(&out.path().join("host")), len(&zstd));
    let target = out.path().join("out");
    let limit = ["--only", "file-path", "--limit", "redacted=1100"];
    let ran = run!("redact", &zstd, "-o", &target, limit[0], limit[1], limit[2], limit[3]);
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert!(ran.err.contains("expand to more than can be held (limit redacted)"), "{}", ran.err);
    assert!(!target.exists());
}

/// The place of the attrs in a recording.
fn attrs(bytes: &[u8]) -> std::ops::Range<usize> {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    word(24)..word(24) + word(32)
}

#[test]
fn attrs_after_compressed_records_move_with_the_records_that_replace_them() {
    // `perf inject` writes ids and attrs of a pipe after the records.
    let mut recording = perf::Recording::new(
        perf::Order::Little,
        vec![perf::Attr::cpu_clock(perf::sample_type::IP).with_ids(&[11, 12])],
    );
    recording.layout = perf::Layout::DataFirst;
    let mut maker = recording.maker(0);
    let ring = perf::feature::compressed_section(perf::Order::Little, 528_384);
    recording.push(maker.feature(27, &ring)).push(maker.comm("forge"));
    let packed = vec![maker.mmap2(), maker.sample(), maker.sample()];
    recording.pack(perf::Wrapper::Compressed, packed, &[]);
    recording.push(maker.finished_round());
    let bytes = recording.build().bytes;
    let entries = |bytes: &[u8]| bytes[attrs(bytes)].to_vec();
    let folder = folder(&[("perf.data", &bytes)]);
    let path = folder.path().join("perf.data");
    let errors =
        |path: &Path| parse(&run!("check", path, "--format", "json").out)["totals"].clone();
    let out = TempDir::new().unwrap();
    let (_, output) = redact(&path, &out);
    let redacted = fs::read(&output).unwrap();
    assert_ne!(redacted.len(), bytes.len());
    // The last word but one of an entry is the place of its ids.
    let [one, other] = [entries(&bytes), entries(&redacted)];
    assert_eq!(one[..one.len() - 16], other[..other.len() - 16]);
    let place = |entries: &[u8]| {
        let at = entries.len() - 16;
        u64::from_le_bytes(entries[at..at + 8].try_into().unwrap()) as usize
    };
    assert_eq!(bytes[place(&one)..][..16], redacted[place(&other)..][..16]);
    assert_eq!(records(&output), records(&path));
    assert_eq!(errors(&output), errors(&path));
}

#[test]
fn compressed_records_before_aux_data_are_not_replaced() {
    let mut recording = perf::Recording::new(
        perf::Order::Little,
        vec![perf::Attr::cpu_clock(perf::sample_type::IP).with_ids(&[11])],
    );
    let mut maker = recording.maker(0);
    let packed = vec![maker.comm("forge"), maker.sample()];
    recording.push(maker.auxtrace_info()).pack(perf::Wrapper::Compressed, packed, &[]);
    recording.push(maker.auxtrace(&[7; 32])).features([27, 18]);
    let folder = folder(&[("own.data", &recording.build().bytes)]);
    let out = folder.path().join("out");
    let ran = run!("redact", folder.path().join("own.data"), "-o", &out);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("AUX data follows them"), "{}", ran.err);
    assert!(!out.exists());
}

#[test]
fn damage_is_replaced_and_counted_or_kept_and_named() {
    let source = truncated();
    let folder = folder(&[("cut.data", &source)]);
    let path = |name: &str| folder.path().join(name);
    let codes = |document: &Value, list: &str| places(&document[list], "code");
    let has_damage = |document: &Value, list: &str| {
        codes(document, list).iter().any(|(code, _)| code == "AU1024")
    };
    for (name, options, code, list) in [
        ("all", &["--undo-plan", path("undo").to_str().unwrap()][..], 3, "redacted"),
        ("kept", &["--keep", "damage"], 1, "left"),
        ("host", &["--only", "host-name"], 1, "left"),
        ("alone", &["--only", "damage"], 3, "redacted"),
    ] {
        let (source, output) = (path("cut.data"), path(name));
        let fixed = ["redact", "--format", "json", "-o"].map(OsStr::new);
        let mut words = fixed.to_vec();
        words.extend([output.as_os_str(), source.as_os_str()]);
        words.extend(options.iter().map(OsStr::new));
        let ran = run_with(&words, &mut io::empty(), Look::PLAIN);
        assert_eq!(ran.code, code, "{name}: {}{}", ran.out, ran.err);
        let document = parse(&ran.out);
        assert_valid(&schema("redact.schema.json"), &document);
        assert!(has_damage(&document, list), "{name}: {document}");
        let errors = |path: &Path| {
            run!("check", path, "--format", "oneline").out.matches(": error[").count()
        };
        assert!(errors(&output) <= errors(&path("cut.data")), "{name}");
    }
    let back = run!("apply", path("undo"), path("all"), "-o", path("back"), "--reverse");
    assert_eq!(back.code, 0, "{}", back.err);
    assert_eq!(fs::read(path("back")).unwrap(), source);
}

#[test]
fn several_recordings_are_redacted_below_one_folder() {
    let folder = folder(&[("b/own.data", &sound()), ("cut.data", &truncated()), ("notes", b"x")]);
    let out = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let loom = root().join("corpus/ovni/clean/tampi");
    let zstd = root().join("corpus/perf/clean/zstd.data");
    let target = out.path().join("public");
    let ran = run!("redact", folder.path(), &zstd, &loom, "--out-dir", &target, "--format", "json");
    // The worst: of the damaged one, bytes were replaced.
    assert_eq!(ran.code, 3, "{}", ran.err);
    let document = parse(&ran.out);
    assert_valid(&schema("redactions.schema.json"), &document);
    assert_eq!(names(&target), ["b", "cut.data", "tampi", "zstd.data"]);
    assert_eq!(names(&target.join("b")), ["own.data"]);
    assert_eq!(document["redactions"].as_array().unwrap().len(), 4, "{document}");
    assert_eq!(document["errors"].as_array().unwrap().len(), 0, "{document}");
    assert_eq!(document["skipped"].as_array().unwrap().len(), 1, "{document}");
    assert_eq!(run!("check", target.join("b"), target.join("tampi")).code, 0);
    // One at a time gives the same bytes.
    let alone = out.path().join("alone");
    assert_eq!(run!("redact", path("b/own.data"), "-o", &alone).code, 0);
    assert_eq!(fs::read(&alone).unwrap(), fs::read(target.join("b/own.data")).unwrap());
    // A name that exists is not replaced, and the others are written.
    let own = target.join("b/own.data");
    fs::write(&own, "kept").unwrap();
    fs::remove_file(target.join("zstd.data")).unwrap();
    let ran = run!("redact", path("b"), &zstd, "--out-dir", target.join("b"));
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert_eq!(fs::read(&own).unwrap(), b"kept");
    assert_eq!(names(&target.join("b")), ["own.data", "zstd.data"]);
    assert!(ran.out.contains("1 recording: 1 redacted"), "{}", ran.out);
    // Nothing is written in a dry run, or into the walked folder; one name for several is refused.
    let dry = run!("redact", path("b"), "--dry-run");
    assert_eq!(dry.code, 0, "{}", dry.err);
    assert_eq!(names(&path("b")), ["own.data"]);
    for arguments in [
        &["--out-dir", folder.path().join("inside").to_str().unwrap()][..],
        &["--out-dir", target.to_str().unwrap(), "--undo-plan", "undo"],
        &["--out-dir", target.to_str().unwrap(), "-o", "one"],
        &[],
    ] {
        let all: Vec<&OsStr> = ["redact".as_ref(), folder.path().as_os_str(), zstd.as_os_str()]
            .into_iter()
            .chain(arguments.iter().map(OsStr::new))
            .collect();
        let ran = run_with(&all, &mut io::empty(), Look::PLAIN);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.err);
    }
}
