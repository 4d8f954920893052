//! `map`: every byte of every recording belongs to one region of each level.

use tracemend_tests::forge::qemu as qemu_forge;
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

use super::*;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Fails if regions do not adjoin and cover `start..end` exactly, on every level.
fn assert_cover(regions: &[Value], start: u64, end: u64, path: &str) {
    let number = |value: &Value| value.as_u64().unwrap();
    let mut at = start;
    for region in regions {
        assert_eq!(number(&region["start"]), at, "{path}: {region}");
        let (from, to) = (at, number(&region["end"]));
        assert!(to > from, "{path}: {region}");
        let children = region["children"].as_array().map_or(&[][..], Vec::as_slice);
        if !children.is_empty() {
            assert_cover(children, from, to, path);
        }
        at = to;
    }
    assert_eq!(at, end, "{path}");
}

/// Every recording of the corpus: files, and directories that are one recording.
fn recordings(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        match path.is_dir() {
            true if run!("map", &path).code == 0 => found.push(path),
            true => recordings(&path, found),
            false => found.push(path),
        }
    }
}

#[test]
fn the_regions_of_every_recording_of_the_corpus_cover_every_byte() {
    if is_left_to_the_gate("the regions of every recording of the corpus cover every byte") {
        return;
    }
    let schema = schema("map.schema.json");
    let mut paths = Vec::new();
    recordings(&root().join("corpus"), &mut paths);
    let (mut mapped, mut fields) = (0, 0);
    let share = Share::one_in(2);
    for path in share.of(paths) {
        let name = path.display().to_string();
        let ran = run!("map", &path, "--format", "json", "--depth", "9");
        assert!(ran.out.chars().all(|c| c == '\n' || is_safe(c)), "{name}");
        if ran.code != 0 {
            assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{name}: {}", ran.err);
            continue;
        }
        let document = parse(&ran.out);
        if document["recordings"][0]["files"].as_array().unwrap().len() < 4 {
            assert_valid(&schema, &document);
        }
        let recording = &document["recordings"][0];
        let mut total = 0;
        for layer in ["files", "layers"] {
            for file in recording[layer].as_array().unwrap() {
                let length = file["length"].as_u64().unwrap();
                assert_cover(file["regions"].as_array().unwrap(), 0, length, &name);
                total += if layer == "files" { length } else { 0 };
            }
        }
        let text = run!("map", &path);
        assert_eq!(text.code, 0, "{name}");
        let sum = format!("{total} of {total} byte");
        assert!(text.out.contains(&sum), "{name}: {sum} is not in\n{}", text.out);
        // The map of a wrapped recording is that of the recording.
        let is_wrapped = path.components().any(|part| part.as_os_str() == "transport");
        if path.is_file() && !is_wrapped {
            assert_eq!(total, fs::metadata(&path).unwrap().len(), "{name}");
        }
        mapped += 1;
        fields += ran.out.matches("\"kind\":\"field\"").count();
    }
    // A share is about as large as it claims.
    let is_enough = mapped > share.count(150) && fields > share.count(5_000);
    assert!(is_enough, "{mapped} recordings, {fields} fields");
}

#[test]
fn a_byte_is_found_from_the_section_to_the_field() {
    let perf = root().join("corpus/perf/clean/plain.data");
    let at = run!("map", &perf, "--at", "0x30");
    assert_eq!(at.code, 0, "{}", at.err);
    let lines: Vec<&str> = at.out.lines().collect();
    assert!(lines[0].contains("header"), "{}", at.out);
    assert!(lines.last().unwrap().contains("0x30..0x38"), "{}", at.out);
    let length = fs::metadata(&perf).unwrap().len();
    // Every byte has a path, and its last region is inside those before it.
    for offset in (0..length).step_by(97) {
        let ran = run!("map", &perf, "--at", offset.to_string(), "--format", "json");
        let document = parse(&ran.out);
        let path = document["recordings"][0]["at"].as_array().unwrap();
        assert!(!path.is_empty(), "{offset}");
        for region in path {
            let range = region["start"].as_u64().unwrap()..region["end"].as_u64().unwrap();
            assert!(range.contains(&offset), "{offset}: {region}");
        }
    }
    assert_eq!(run!("map", &perf, "--at", length.to_string()).code, 2);
    assert_eq!(run!("map", &perf, "--at", "0xzz").code, 2);
    assert_eq!(run!("map", &perf, "--at", "1", "--file", "no\u{1b}").code, 2);
}

#[test]
fn levels_are_those_that_were_asked_for() {
    let log = qemu_forge::clean::every(qemu_forge::ids::of("7.2"));
    let folder = folder(&[("boot.log", &log.bytes)]);
    let path = folder.path().join("boot.log");
    let lines = |depth: &str| run!("map", &path, "--depth", depth).out.lines().count();
    let json = |depth: &str| parse(&run!("map", &path, "--depth", depth, "--format=json").out);
    assert!(lines("1") < lines("2") && lines("2") < lines("3"), "{}", lines("3"));
    let first = &json("1")["recordings"][0]["files"][0]["regions"];
    assert_eq!(first[0]["name"], "header");
    assert_eq!(first[0]["children"], serde_json::json!([]));
    let third = &json("3")["recordings"][0]["files"][0]["regions"];
    assert_eq!(third[0]["children"][0]["name"], "version");
    assert_eq!(third[1]["kind"], "records");
    assert_eq!(third[1]["children"][0]["children"][0]["name"], "id");
    assert_eq!(run!("map", &path, "--depth", "0").code, 2);
}

#[test]
fn limits_can_be_set_for_every_command_that_reads() {
    let folder = folder(&[("a.data", &crashed())]);
    let path = folder.path().join("a.data");
    let fields = |limit: &str| {
        let ran = run!("map", &path, "--format=json", "--depth=9", "--limit", limit);
        ran.out.matches("\"kind\":\"field\"").count()
    };
    assert!(fields("map-fields=1") < fields("map-fields=1000"));
    let merged = run!("map", &path, "--depth=1", "--limit=map-regions=1");
    assert_eq!(merged.out.lines().filter(|line| line.starts_with("  0x")).count(), 1);
    for command in ["check", "repair", "dump", "map"] {
        let wrong = run!(command, &path, "--limit", "no-such=1");
        assert_eq!(wrong.code, 2, "{command}: {}", wrong.err);
        assert!(wrong.err.contains("unknown limit `no-such`"), "{}", wrong.err);
    }
    // A repair that may insert nothing reaches its limit; the suggested command has the option.
    let ran = run!("check", &path, "--limit", "findings=7", "--limits", "strict");
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.out.contains("--limits strict --limit findings=7"), "{}", ran.out);
    assert_eq!(run!("check", &path, "--limit=rounds=1", "--limits=large").code, 1);
}

#[test]
fn unused_bytes_and_damage_are_named() {
    let mut bytes = fs::read(root().join("corpus/perf/clean/plain.data")).unwrap();
    bytes.extend([0; 16]);
    bytes.extend(b"\x1b[2Jhidden");
    let folder = folder(&[("x.data", &bytes)]);
    let ran = run!("map", folder.path().join("x.data"));
    assert!(ran.out.contains("unused: trailing = not 0: 0000"), "{}", ran.out);
    bytes.truncate(bytes.len() - 10);
    fs::write(folder.path().join("x.data"), &bytes).unwrap();
    let ran = run!("map", folder.path().join("x.data"));
    assert!(ran.out.contains("unused: trailing = all bytes are 0"), "{}", ran.out);
}

#[test]
fn the_segments_of_a_bar_lead_to_regions_of_the_page() {
    use tracemend_tests::forge::perf::{Attr, Order, Record, Recording, sample_type};
    let kind = sample_type::IP | sample_type::TID | sample_type::TIME;
    let mut recording = Recording::new(Order::Little, vec![Attr::cpu_clock(kind).with_ids(&[1])]);
    let comm = recording.maker(0).comm("forge");
    // More regions than a page shows; four records in a row end a search after damage.
    for _ in 0..700 {
        recording.extend(vec![comm.clone(); 5]).push(Record::new(0, 0, Vec::new()));
    }
    // Zeros instead of the headers of the empty records.
    let mut bytes = recording.build().bytes;
    let empty = [0, 0, 0, 0, 0, 0, 8, 0];
    for at in 0..bytes.len() - empty.len() {
        if bytes[at..at + empty.len()] == empty {
            bytes[at + 6] = 0;
        }
    }
    let folder = folder(&[("many.data", &bytes)]);
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    for (path, least) in [
        (folder.path().join("many.data"), 1_000),
        (corpus.join("perf/clean/zstd.data"), 4),
        (corpus.join("ovni/clean/tampi"), 2),
    ] {
        let page = run!("map", &path, "--format", "html").out;
        let all = |before: &str| -> Vec<String> {
            let rest = page.split(before).skip(1);
            rest.filter_map(|rest| Some(rest.split_once('"')?.0.to_string())).collect()
        };
        let mut places = all("<li id=\"");
        let links: Vec<String> =
            all("<a href=\"#").into_iter().filter(|link| link.contains('-')).collect();
        assert!(links.len() >= least, "{}: {} links", path.display(), links.len());
        places.sort();
        for link in links {
            assert!(places.binary_search(&link).is_ok(), "{}: {link}", path.display());
        }
        let count = places.len();
        places.dedup();
        assert_eq!(places.len(), count, "{}: a place is there twice", path.display());
    }
}
