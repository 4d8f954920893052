//! `docs/perf-records.md` lists every record type and feature, with what is decoded and judged.
//!
//! Numbers, names and fields come from the library: the fields are those that a map and a dump of
//! forged recordings show. `BLESS=1` rewrites them. The other cells are written by hand; forged
//! recordings prove that their codes are those of short and of damaged fields.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use tracemend::formats::perf::PERF;
use tracemend::formats::perf::decode::{feature, record};
use tracemend::map::map;
use tracemend::{Dump, File, FileSet, FormatId, MapStep, Options, Region, RegionKind};
use tracemend_tests::forge::perf::feature::{section, tracing_data};
use tracemend_tests::forge::perf::worded::{newer_program, programs};
use tracemend_tests::forge::perf::{
    Attr, Built, Maker, Order, Record, Recording, Wrapper, by_name, feature_bit, flag, read_format,
    sample_type, simpleperf,
};

const SAMPLE: u32 = 9;
/// Features.
const VERSION: u32 = 5;
const CPU_DOMAIN_INFO: u32 = 32;
const BPF_PROG_INFO: u32 = 25;
const CPU_TOPOLOGY: u32 = 13;
const TRACING_DATA: u32 = 66;
const AUXTRACE: u32 = 71;
const STAT: u32 = 76;
const STAT_ROUND: u32 = 77;
const COMPRESSED: u32 = 81;
const COMPRESSED2: u32 = 83;
const BPF_METADATA: u32 = 84;
const AUXTRACE_INFO: u32 = 70;
const SCHEDSTAT_DOMAIN: u32 = 86;
/// First letters of the codes of records, fields, times and compressed records.
const COVERED: [&str; 4] = ["PD1", "PD2", "PD3", "PD8"];

/// The rows of a table by number: their cells.
type Rows = BTreeMap<u32, Vec<String>>;

fn page() -> String {
    std::fs::read_to_string(path()).expect("the page exists")
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/perf-records.md")
}

/// Divides the page at a table, which lies between two marks: the text up to the head of the table,
/// the rows, and the text after them.
fn divide<'p>(page: &'p str, mark: &str) -> (String, Rows, &'p str) {
    let start = page.find(&format!("<!-- {mark}:")).expect("a mark before the table");
    let (before, rest) = page.split_at(start);
    let end = rest.find("\n<!-- /").expect("a mark after the table");
    let (table, after) = rest.split_at(end);
    let is_row = |line: &&str| {
        line.strip_prefix("| ").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let head = table.lines().take_while(|line| !is_row(line));
    let head = head.map(|line| format!("{line}\n")).collect::<String>();
    let cells = table.lines().filter(is_row).map(|line| {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()
    });
    let rows = cells.map(|cells| (cells[0].parse().expect("a number"), cells)).collect();
    (before.to_owned() + &head, rows, after)
}

fn rows_of(page: &str, mark: &str) -> Rows {
    divide(page, mark).1
}

/// Returns a table with these generated cells, and the others as the page has them.
fn table(written: &Rows, generated: &Rows, columns: usize) -> String {
    let lines = generated.iter().map(|(number, cells)| {
        let kept = written.get(number).map(|row| &row[cells.len()..]).unwrap_or_default();
        let mut cells = [cells, kept].concat();
        cells.resize(columns, String::new());
        format!("| {} |\n", cells.join(" | "))
    });
    lines.collect()
}

/// Returns the codes in a text.
fn codes_in(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| word.len() == 6 && word.starts_with("PD")).collect()
}

/// The codes of a check.
fn codes_of(built: &Built) -> BTreeSet<&'static str> {
    let mut files = vec![File::new("data", built.bytes.as_slice())];
    if built.features.iter().any(|feature| feature.number == feature_bit::DIR_FORMAT) {
        files.push(File::new("data.0", [].as_slice()));
    }
    let files = FileSet::new(files);
    tracemend::check(&files, &Options::default()).counts().keys().copied().collect()
}

/// An event whose other records do not end in a `sample_id`.
fn attr() -> Attr {
    let attr = Attr::cpu_clock(sample_type::IP | sample_type::TID | sample_type::TIME);
    Attr { flags: flag::USUAL & !flag::SAMPLE_ID_ALL, ..attr }
        .with_ids(&[11, 12])
        .with_read_format(read_format::ID)
}

/// Every record that is not compressed, some types in several forms.
fn every_record(maker: &mut Maker) -> Vec<Record> {
    let mut all = maker.every_kernel_record();
    let attr = maker.attr.clone();
    all.extend([maker.callchain_deferred(), maker.header_attr(&attr), maker.event_type()]);
    all.push(maker.tracing_data(&tracing_data(Order::Little)));
    all.extend([maker.build_id(), maker.finished_round(), maker.id_index()]);
    all.extend([maker.auxtrace_info(), maker.auxtrace(&[0; 48]), maker.auxtrace_error()]);
    all.extend([maker.thread_map(), maker.cpu_map(&[0, 1]), maker.cpu_map_mask64(3)]);
    all.extend([maker.cpu_map_range(0, 1), maker.stat_config(), maker.stat(5)]);
    all.push(maker.stat_round(1));
    all.extend(maker.event_updates());
    all.extend([maker.time_conv(), maker.time_conv_short()]);
    all.push(maker.feature(feature_bit::STAT, &[0; 8]));
    all.push(maker.finished_init());
    // A name of 512 or 256 bytes, one entry with a key of 64 and a value of 256 bytes.
    all.extend([511, 255].map(|len| {
        Record::new(BPF_METADATA, 0, [vec![b'n'; len], vec![0, 1], vec![0; 7 + 64 + 256]].concat())
    }));
    all.extend([maker.schedstat_cpu(), maker.schedstat_domain()]);
    all
}

/// Recordings with records of a type.
fn with_record(kind: u32) -> Vec<Vec<u8>> {
    if kind == SAMPLE {
        let names = ["sample_everything", "group_read_together"];
        return names.map(|name| by_name(name).built.bytes).into();
    }
    let mut recording = Recording::pipe(Order::Little, vec![attr()]);
    let mut maker = recording.maker(0);
    match kind {
        COMPRESSED => drop(recording.pack(Wrapper::Compressed, vec![maker.sample()], &[])),
        COMPRESSED2 => drop(recording.pack(Wrapper::Compressed2, vec![maker.sample()], &[])),
        AUXTRACE_INFO => drop(recording.extend(maker.every_tracer())),
        SCHEDSTAT_DOMAIN => drop(recording.extend(maker.schedstat_domains())),
        _ => {
            let records = every_record(&mut maker).into_iter();
            recording.extend(records.filter(|record| record.kind == kind));
        }
    }
    vec![recording.build().bytes]
}

/// A file with a feature, and those that it needs to be read. `change` changes its section.
fn with_feature(bit: u32, change: impl FnOnce(&mut Vec<u8>)) -> Built {
    with_features(bit, &[feature_bit::HOSTNAME, 7], change)
}

/// The same of perf 6.1.
fn versioned(bit: u32, change: impl FnOnce(&mut Vec<u8>)) -> Built {
    with_features(bit, &[feature_bit::HOSTNAME, VERSION, 7], change)
}

fn with_features(bit: u32, others: &[u32], change: impl FnOnce(&mut Vec<u8>)) -> Built {
    let mut recording = Recording::new(Order::Little, vec![attr()]);
    let mut maker = recording.maker(0);
    recording.push(maker.comm("forge")).push(maker.sample());
    if bit == feature_bit::AUXTRACE {
        recording.push(maker.auxtrace_info()).push(maker.auxtrace(&[0; 48]));
    }
    let mut section = match bit {
        feature_bit::AUXTRACE => {
            // A count of one, and an entry.
            let trace = recording.build().records.last().unwrap().clone();
            let words = [1, trace.offset as u64, trace.len as u64];
            words.iter().flat_map(|word| word.to_le_bytes()).collect()
        }
        feature_bit::SAMPLE_TIME => [[0; 8]; 2].concat(),
        BPF_PROG_INFO => programs(Order::Little),
        // CLN_SIZE: a cache line of 64 bytes.
        34 => vec![64, 0, 0, 0],
        // schedstat 16, at most one domain, and two CPUs without any.
        32 => [16_u32, 1, 0, 0, 1, 0].iter().flat_map(|word| word.to_le_bytes()).collect(),
        bit if bit > feature_bit::LAST => vec![0; 8],
        bit => section(bit, Order::Little, &[attr()]),
    };
    change(&mut section);
    for other in others.iter().filter(|other| **other != bit) {
        recording.feature(*other);
    }
    recording.feature_with(bit, section);
    recording.build()
}

/// Adds the names of the innermost regions, without those of the header of a record.
fn add_fields(region: &Region, fields: &mut Vec<String>) {
    for child in &region.children {
        let name = match child.kind {
            RegionKind::Gap => "(gap)".to_owned(),
            _ => format!("`{}`", child.name),
        };
        if !child.children.is_empty() {
            add_fields(child, fields);
        } else if !child.name.starts_with("header.") && !fields.contains(&name) {
            fields.push(name);
        }
    }
}

/// Returns the fields of the regions with this name in maps of recordings.
fn mapped_fields(recordings: &[Vec<u8>], (kind, name): (RegionKind, &str)) -> String {
    let mut fields = Vec::new();
    for bytes in recordings {
        let files = FileSet::single("perf.data", bytes);
        map((&files, &PERF), &Options::default(), 9, &mut |step| match step {
            MapStep::Region(region) if region.kind == kind && region.name == name => {
                add_fields(region, &mut fields);
            }
            _ => {}
        });
    }
    if fields.is_empty() { "none".to_owned() } else { fields.join(", ") }
}

/// Returns the fields that dumps of recordings show of a record.
fn dumped_fields(recordings: &[Vec<u8>], name: &str) -> String {
    let mut fields: Vec<String> = Vec::new();
    for bytes in recordings {
        let files = FileSet::single("perf.data", bytes);
        let mut text = String::new();
        let style = Dump::Text { style: Some("records".to_owned()) };
        let dumped = tracemend::dump(&files, &Options::default(), &style, &mut |piece| {
            text += piece;
            true
        });
        dumped.expect("a sound recording");
        let title = format!(": PERF_RECORD_{name}");
        let lines = text.lines().filter_map(|line| line.split_once(&title));
        let shown = lines.filter(|(_, rest)| rest.is_empty() || rest.starts_with(' '));
        for word in shown.flat_map(|(_, rest)| rest.split(' ')) {
            // The first word of a list has its name, and that of the first field of an entry.
            let (names, _value) = word.rsplit_once('=').unwrap_or_default();
            for name in names.split('=').filter(|name| !name.is_empty()) {
                let field = format!("`{}`", name.trim_start_matches('['));
                fields.extend(Some(field).filter(|field| !fields.contains(field)));
            }
        }
    }
    if fields.is_empty() { "none".to_owned() } else { fields.join(", ") }
}

/// Returns the generated cells of the record types.
fn generated_records() -> Rows {
    records_in(0..=u32::from(u8::MAX), with_record)
}

/// Returns the generated cells of the types in a range, as recordings have them.
fn records_in(kinds: RangeInclusive<u32>, with: impl Fn(u32) -> Vec<Vec<u8>>) -> Rows {
    let named = kinds.filter_map(|kind| Some((kind, record::name(kind)?)));
    let row = |(kind, name): (u32, &str)| {
        let recordings = with(kind);
        let mapped = mapped_fields(&recordings, (RegionKind::Record, name));
        let dumped = dumped_fields(&recordings, name);
        (kind, vec![kind.to_string(), name.to_owned(), mapped, dumped])
    };
    named.map(row).collect()
}

/// The first feature of simpleperf, and the last one of any.
const OF_SIMPLEPERF: u32 = 128;
const LAST_FEATURE: u32 = 255;
/// The types of simpleperf.
const SIMPLEPERF_TYPES: RangeInclusive<u32> = 32_768..=u16::MAX as u32;

/// The recordings of simpleperf, for a type or feature of its own. `perf::simpleperf` tests them.
fn of_simpleperf(_number: u32) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = simpleperf::all().into_iter().map(|(_, bytes)| bytes).collect();
    let mut recording = Recording::new(Order::Little, vec![attr()]);
    let mut maker = recording.maker(0);
    let features = [(133, vec![1; 8]), (134, maker.mmap2().encode(Order::Little))];
    all.push(simpleperf::finish(&recording.push(maker.sample()).build(), &features));
    all
}

/// Returns the generated cells of the features.
fn generated_features() -> Rows {
    features_in(0..=OF_SIMPLEPERF - 1, |bit| {
        let mut recordings = vec![with_feature(bit, |_| {}).bytes];
        if bit == BPF_PROG_INFO {
            let newer = with_feature(bit, |section| *section = newer_program(Order::Little));
            recordings.push(newer.bytes);
        }
        recordings
    })
}

/// Returns the generated cells of the features in a range, as recordings have them.
fn features_in(bits: RangeInclusive<u32>, with: impl Fn(u32) -> Vec<Vec<u8>>) -> Rows {
    let named = bits.filter_map(|bit| Some((bit, feature::name(bit)?)));
    let row = |(bit, name): (u32, &str)| {
        let mapped = mapped_fields(&with(bit), (RegionKind::Structure, name));
        (bit, vec![bit.to_string(), name.to_owned(), mapped])
    };
    named.map(row).collect()
}

#[test]
fn the_page_lists_every_record_type_and_feature_with_its_fields() {
    let mut now = page();
    // The cells that are written by hand come after the generated ones.
    let tables = [
        ("records", generated_records(), 3),
        ("features", generated_features(), 3),
        ("types of simpleperf", records_in(SIMPLEPERF_TYPES, of_simpleperf), 1),
        ("own features of simpleperf", features_in(OF_SIMPLEPERF..=LAST_FEATURE, of_simpleperf), 1),
    ];
    let marks = tables.each_ref().map(|(mark, ..)| *mark);
    for (mark, generated, by_hand) in tables {
        let (before, written, after) = divide(&now, mark);
        let columns = generated.values().next().expect("a row").len() + by_hand;
        now = before + &table(&written, &generated, columns) + after;
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path(), &now).expect("the page can be written");
    }
    assert!(page() == now, "docs/perf-records.md: BLESS=1 rewrites numbers, names and fields");
    for (number, cells) in marks.into_iter().flat_map(|mark| rows_of(&now, mark)) {
        assert!(cells.iter().all(|cell| !cell.is_empty()), "{number}: a cell is empty: {cells:?}");
    }
}

#[test]
fn every_code_of_the_page_exists_and_every_code_of_records_is_on_the_page() {
    let page = page();
    let named = codes_in(&page);
    let known: BTreeSet<&str> = FormatId::PERF.rules().iter().map(|rule| rule.code).collect();
    let unknown: Vec<_> = named.difference(&known).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let is_covered = |code: &&&str| COVERED.iter().any(|first| code.starts_with(first));
    let missing: Vec<_> = known.difference(&named).filter(is_covered).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The codes of a file with a record of this type between others.
fn codes_around(record: &Record) -> BTreeSet<&'static str> {
    let mut recording = Recording::new(Order::Little, vec![attr()]);
    let mut maker = recording.maker(0);
    recording.push(maker.comm("forge"));
    if record.kind == AUXTRACE {
        recording.push(maker.auxtrace_info());
    }
    if [STAT, STAT_ROUND].contains(&record.kind) {
        recording.push(maker.thread_map()).push(maker.cpu_map(&[u16::MAX]));
    }
    recording.push(record.clone());
    recording.push(maker.sample()).push(maker.sample());
    let mut codes = codes_of(&recording.build());
    // The type alone decides about it.
    codes.remove("PD0035");
    codes
}

/// Every record that is not compressed, without a payload that only a pipe has.
fn every_stored_record() -> Vec<Record> {
    let mut all = every_record(&mut Recording::new(Order::Little, vec![attr()]).maker(0));
    let piped = all.iter_mut().filter(|record| record.kind == TRACING_DATA);
    piped.for_each(|record| record.outside.clear());
    all
}

#[test]
fn a_record_without_its_fields_has_the_code_of_its_row_and_trailing_bytes_have_none() {
    let rows = rows_of(&page(), "records");
    let of_records = |codes: BTreeSet<&str>| -> BTreeSet<String> {
        let codes = codes.into_iter().filter(|code| ["PD2001", "PD2003"].contains(code));
        codes.map(str::to_owned).collect()
    };
    let mut all = every_stored_record();
    all.extend([COMPRESSED, COMPRESSED2].map(|kind| Record::new(kind, 0, Vec::new())));
    for record in all {
        let row = rows[&record.kind].last().expect("a cell with codes");
        let empty = Record::new(record.kind, record.misc, Vec::new());
        let short = of_records(codes_around(&empty));
        assert_eq!(short, of_records(codes_in(row)), "{}", record.kind);
        // The end of BPF_METADATA shows the length of its name; a longer TRACING_DATA is that of
        // the first versions of simpleperf, with the content inside.
        if matches!(record.kind, COMPRESSED | COMPRESSED2 | BPF_METADATA | TRACING_DATA) {
            continue;
        }
        let longer = Record { body: [record.body.as_slice(), &[0xff; 16]].concat(), ..record };
        let mut codes = codes_around(&longer);
        codes.retain(|code| code.starts_with("PD2"));
        let expected: &[&str] = if longer.kind == SAMPLE { &["PD2002"] } else { &[] };
        assert_eq!(codes, expected.iter().copied().collect(), "{}", longer.kind);
    }
}

#[test]
fn a_damaged_byte_of_a_record_has_only_codes_of_its_row() {
    let rows = rows_of(&page(), "records");
    for record in every_stored_record() {
        let row = codes_in(rows[&record.kind].last().expect("a cell with codes"));
        for at in 0..record.body.len() {
            let mut damaged = record.clone();
            damaged.body[at] ^= 0xff;
            let codes = codes_around(&damaged);
            assert!(codes.is_subset(&row), "{} at {at}: {codes:?}", record.kind);
        }
    }
}

#[test]
fn a_damaged_byte_of_a_feature_has_only_codes_of_its_row() {
    for (bit, row) in rows_of(&page(), "features") {
        let row = codes_in(row.last().expect("a cell with codes"));
        let mut len = 0;
        let sound = codes_of(&with_feature(bit, |section| len = section.len()));
        assert!(sound.is_empty(), "{bit}: {sound:?}");
        for at in 0..len {
            let codes = codes_of(&with_feature(bit, |section| section[at] ^= 0xff));
            assert!(codes.is_subset(&row), "{bit} at {at}: {codes:?}");
        }
    }
}

#[test]
fn a_feature_without_its_fields_has_the_code_of_its_row_and_trailing_bytes_have_none() {
    let of_features = |codes: BTreeSet<&str>| -> BTreeSet<String> {
        let codes = codes.into_iter().filter(|code| ["PD2004", "PD2006"].contains(code));
        codes.map(str::to_owned).collect()
    };
    for (bit, row) in rows_of(&page(), "features") {
        let row = row.last().expect("a cell with codes");
        let mut short = codes_of(&with_feature(bit, |section| *section = vec![0]));
        // Earlier versions of perf skip what perf 7, or an unknown version, does not survive.
        short.extend(codes_of(&versioned(bit, |section| *section = vec![0])));
        let mut listed = codes_in(row);
        if bit == VERSION {
            // A version that is not read is unknown; the NUL of a text does not matter.
            assert!(listed.remove("PD2004"));
        }
        if bit == feature_bit::BUILD_ID {
            // Only a build id that is too long makes perf abort.
            assert!(listed.remove("PD2006"));
        }
        if bit == CPU_TOPOLOGY {
            // Only after a socket that is too large does perf show all samples.
            assert!(listed.remove("PD2004"));
        }
        if bit == feature_bit::DIR_FORMAT {
            // Its recording has data.N files, which need it: PD0011.
            assert!(listed.remove("PD2004") && listed.remove("PD2006"));
        }
        if bit == feature_bit::AUXTRACE {
            // The record in its recording determines it: PD0039.
            assert!(listed.remove("PD2004") && listed.remove("PD2006"));
        }
        assert_eq!(of_features(short), of_features(listed), "{bit}");
        // These have no count: their entries end with the section.
        if ![feature_bit::BUILD_ID, CPU_DOMAIN_INFO].contains(&bit) {
            let longer = codes_of(&with_feature(bit, |section| section.extend([0xff; 8])));
            assert_eq!(of_features(longer), BTreeSet::new(), "{bit}");
        }
    }
}
