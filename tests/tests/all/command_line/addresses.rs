//! `redact` of addresses: each map moves as a whole, and addresses in it with it.

use std::collections::BTreeSet;
use tracemend_tests::sweep::is_left_to_the_gate;

use tracemend_tests::forge::perf::{
    Attr, Branch, Maker, Order, Record, Recording, Sample, sample_type,
};
use tracemend_tests::judge::perf::Perf;
use tracemend_tests::notice;

use super::redact::places;
use super::*;

/// The command of a neutral workload that is in the kernel half of its time.
const WORKLOAD: [&str; 6] = ["/usr/bin/find", "/usr/lib", "-xdev", "-name", "no such name", "-ls"];
/// How to record it, by what the samples have.
const KINDS: [(&str, &[&str]); 5] = [
    ("plain", &["-e", "cpu-clock", "-c", "300000"]),
    ("chains", &["-g", "-e", "cpu-clock", "-c", "300000"]),
    ("compressed", &["-z", "-g", "-e", "cpu-clock", "-c", "300000"]),
    ("stacks", &["--call-graph", "dwarf,1024", "-e", "cpu-clock", "-c", "2000000"]),
    ("data", &["-d", "-g", "-e", "page-faults", "-c", "1"]),
];
/// Where the first map of the kernel begins after a redaction, and the stand-in for its addresses.
const KERNEL: u64 = 0xffff_8000_0000_1000;
const STAND_IN: u64 = 0xffff_8000_0000_0000;

fn jsonl(path: &Path) -> Vec<Value> {
    run!("dump", path, "--format", "jsonl").out.lines().map(parse).collect()
}

fn number(record: &Value, key: &str) -> Option<u64> {
    record[key].as_u64()
}

/// Start and length of each map, in the order of the records.
fn maps(path: &Path) -> Vec<(u64, u64)> {
    let is_map = |record: &Value| record["kind"].as_str().is_some_and(|kind| kind.contains("MMAP"));
    let maps = jsonl(path).into_iter().filter(is_map);
    maps.map(|map| (number(&map, "addr").unwrap(), number(&map, "len").unwrap())).collect()
}

/// The folded stacks with counts. A frame of the kernel has the address, so the start of its map
/// is taken from it, and that of memory without a file has no more than its name.
fn stacks(path: &Path) -> Vec<String> {
    let is_kernel = |map: &&(u64, u64)| map.0 >= STAND_IN;
    let kernel = maps(path).iter().find(is_kernel).map_or(0, |(start, _)| *start);
    let ran = run!("dump", path, "--style", "folded");
    let frame = |frame: &str| {
        let (name, place) = frame.split_once("+0x").unwrap_or((frame, ""));
        let address = u64::from_str_radix(place, 16).ok();
        match (name, address) {
            ("[kernel.kallsyms]", Some(at)) => format!("kernel+{:#x}", at.wrapping_sub(kernel)),
            ("anon" | "//anon" | "[heap]" | "[stack]", _) => name.to_string(),
            _ => frame.to_string(),
        }
    };
    let stack = |line: &str| {
        let (stack, count) = line.rsplit_once(' ').unwrap();
        let frames: Vec<String> = stack.split(';').map(frame).collect();
        format!("{} {count}", frames.join(";"))
    };
    let mut stacks: Vec<String> = ran.out.lines().map(stack).collect();
    stacks.sort();
    stacks
}

/// The names that `perf script` gives to the addresses of each sample, without these.
fn script(perf: &Perf, path: &Path) -> Vec<String> {
    let fields = ["script", "--no-itrace", "-F", "comm,tid,time,event,ip,sym,symoff,dso"];
    let verdict = perf.view(path, &fields);
    assert!(verdict.is_success(), "{}: {}", path.display(), verdict.stderr);
    let is_other = |word: &&str| u64::from_str_radix(word, 16).is_err();
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().filter(is_other).collect();
        words.join(" ")
    };
    verdict.stdout.lines().map(line).collect()
}

/// Whether eight bytes anywhere in `bytes` are an address in the first page of a map.
fn holds_start(bytes: &[u8], maps: &[(u64, u64)]) -> bool {
    let pages: BTreeSet<u64> = maps.iter().map(|(start, _)| start >> 12).collect();
    bytes.windows(8).any(|word| {
        let value = u64::from_le_bytes(word.try_into().unwrap());
        pages.contains(&(value >> 12))
    })
}

#[test]
fn a_real_recording_has_the_same_stacks_at_other_addresses() {
    if is_left_to_the_gate("a real recording has the same stacks at other addresses") {
        return;
    }
    let mut recorded = 0;
    for perf in Perf::all_or_skip() {
        for (kind, options) in KINDS {
            let folder = TempDir::new().unwrap();
            let path = |name: &str| folder.path().join(name);
            let source = path("perf.data");
            if let Err(reason) = perf.record(options, &WORKLOAD, &source) {
                notice::say(&format!("perf {} records no {kind}: {reason}", perf.version()));
                continue;
            }
            recorded += 1;
            compare_moved(&perf, &folder, &format!("perf {}, {kind}", perf.version()));
        }
    }
    notice::say(&format!("{recorded} recordings whose addresses were moved"));
}

/// Redacts the recording in a folder, and compares both.
fn compare_moved(perf: &Perf, folder: &TempDir, name: &str) {
    let path = |name: &str| folder.path().join(name);
    let (source, out) = (path("perf.data"), path("out"));
    let keep = ["--keep", "file-path", "--keep", "build-id", "--keep", "process"].map(OsStr::new);
    let mut words: Vec<&OsStr> = vec!["redact".as_ref(), source.as_os_str()];
    let (out_word, plan_word, plan) = (OsStr::new("-o"), OsStr::new("--undo-plan"), path("plan"));
    words.extend([out_word, out.as_os_str(), plan_word, plan.as_os_str()].iter().chain(&keep));
    let ran = run_with(&words, &mut io::empty(), Look::PLAIN);
    assert_eq!(ran.code, 0, "{name}: {}{}", ran.out, ran.err);
    assert!(ran.out.contains("redacted: AU1023 address: "), "{name}: {}", ran.out);
    // Registers and stacks as well: perf unwinds what is left of them to the same frames.
    assert_eq!(script(perf, &out), script(perf, &source), "{name}");
    assert_eq!(stacks(&out), stacks(&source), "{name}");
    let (before, after) = (maps(&source), maps(&out));
    let lengths = |maps: &[(u64, u64)]| maps.iter().map(|map| map.1).collect::<Vec<_>>();
    assert_eq!(lengths(&before), lengths(&after), "{name}");
    for (one, other) in before.iter().zip(&after) {
        assert!(one.0 != other.0 && one.0 % 4096 == other.0 % 4096, "{name}: {one:?} {other:?}");
    }
    assert!(!holds_start(&fs::read(&out).unwrap(), &before), "{name}");
    let undone = run!("apply", &plan, &out, "--reverse", "-o", path("back"));
    assert_eq!(undone.code, 0, "{name}: {}", undone.err);
    assert_eq!(fs::read(path("back")).unwrap(), fs::read(&source).unwrap(), "{name}");
    let again = run!("redact", &out, "-o", path("again"), "--only", "address");
    assert_eq!(again.code, 0, "{name}: {}", again.err);
    assert!(again.out.contains("nothing private was found"), "{name}: {}", again.out);
    assert_eq!(fs::read(path("again")).unwrap(), fs::read(&out).unwrap(), "{name}");
    // All kinds: perf reads the samples.
    assert_eq!(run!("redact", &source, "-o", path("all")).code, 0, "{name}");
    assert_eq!(perf.samples(&path("all")).count, perf.samples(&source).count, "{name}");
}

/// A recording of a program, the kernel and one sample.
fn of_sample(change: impl FnOnce(&mut Sample)) -> Vec<u8> {
    let kind = sample_type::IP | sample_type::TID | sample_type::TIME | sample_type::ADDR;
    let more = sample_type::CALLCHAIN | sample_type::BRANCH_STACK | sample_type::STACK_USER;
    let mut attr = Attr::cpu_clock(kind | more).with_ids(&[11]);
    attr.sample_stack_user = 32;
    let records = |maker: &mut Maker| -> Vec<Record> {
        let kernel = maker.kernel_map(0xffff_ffff_9a00_0000);
        vec![kernel, maker.mmap2(), maker.ksymbol(), maker.sample_with(change)]
    };
    let mut recording = Recording::new(Order::Little, vec![attr]);
    let records = records(&mut recording.maker(0));
    recording.extend(records);
    recording.build().bytes
}

const MARK: u64 = 0xffff_ffff_ffff_fe00;

/// A recording with addresses in maps and in none, in every field.
fn scattered() -> Vec<u8> {
    of_sample(|sample| {
        (sample.ip, sample.addr) = (0xffff_ffff_9a00_1234, 0x7ffe_0000_0010);
        sample.callchain =
            vec![MARK, 0xffff_ffff_9a00_1234, 0xffff_ffff_0000_0001, MARK, 0x40_0010, 0x7ffe_1111];
        sample.branches =
            vec![Branch { from: 0x40_0020, to: 0x7001, mispredicted: true, cycles: 9 }];
        sample.stack_user = [0x40_0030_u64, 77, 0xffff_ffff_c000_0004, 5]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
    })
}

/// The words of the sample that is the last record of a redaction.
fn redacted_words(bytes: &[u8], arguments: &[&str]) -> (Vec<u64>, Value) {
    let folder = folder(&[("perf.data", bytes)]);
    let (source, out) = (folder.path().join("perf.data"), folder.path().join("out"));
    let words: Vec<&OsStr> =
        ["redact".as_ref(), source.as_os_str(), "-o".as_ref(), out.as_os_str()]
            .into_iter()
            .chain(["--format", "json"].iter().chain(arguments).map(OsStr::new))
            .collect();
    let ran = run_with(&words, &mut io::empty(), Look::PLAIN);
    assert!(ran.code < 2, "{arguments:?}: {}{}", ran.out, ran.err);
    let sample = jsonl(&out).into_iter().find(|one| one["kind"] == "SAMPLE").unwrap();
    let at = usize::try_from(number(&sample, "offset").unwrap()).unwrap();
    let len = usize::try_from(number(&sample, "length").unwrap()).unwrap();
    let body = fs::read(&out).unwrap()[at + 8..at + len].to_vec();
    let words = body.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    (words, parse(&ran.out))
}

/// Place of each field in the words of the sample.
const IP: usize = 0;
const ADDR: usize = 3;
const CHAIN: usize = 5;
const BRANCH: usize = 12;
const STACK: usize = 16;

#[test]
fn addresses_in_no_map_have_one_stand_in_and_marks_and_flags_stay() {
    let (before, _) = redacted_words(&scattered(), &["--keep", "address", "--keep", "memory"]);
    let (after, document) = redacted_words(&scattered(), &[]);
    assert_eq!(after[IP], KERNEL + 0x1234);
    assert_eq!(after[ADDR], 0);
    let chain = [MARK, KERNEL + 0x1234, STAND_IN, MARK, 0x1_0010, 0];
    assert_eq!(after[CHAIN..CHAIN + 6], chain);
    assert_eq!(after[BRANCH..BRANCH + 2], [0x1_0020, 0]);
    assert_eq!(after[BRANCH + 2], before[BRANCH + 2], "flags");
    assert_eq!(after[STACK..STACK + 2], [0x1_0030, 0]);
    // The symbol of the kernel is a map of its own, after that of the kernel.
    assert_eq!(after[STACK + 2..STACK + 4], [KERNEL + 0x140_1000 + 4, 0]);
    let found = places(&document["redacted"], "field");
    for place in [
        ("AU1007", "no known map"),
        ("AU1008", "callchain outside of all maps"),
        ("AU1008", "stack_user"),
        ("AU1023", "no known map"),
        ("AU1023", "stack_user"),
    ] {
        assert!(
            found.contains(&(place.0.to_string(), place.1.to_string())),
            "{place:?}: {found:?}"
        );
    }
}

#[test]
fn kinds_of_addresses_are_selected_alone_and_together() {
    let bytes = scattered();
    let (kept, _) = redacted_words(&bytes, &["--only", "host-name"]);
    let (kernel, _) = redacted_words(&bytes, &["--only", "kernel-address"]);
    assert_eq!(kernel[IP], KERNEL + 0x1234);
    assert_eq!(kernel[CHAIN + 4..CHAIN + 6], kept[CHAIN + 4..CHAIN + 6]);
    // A word in no map would seem to lie in one that moved, so it goes with the addresses.
    let (all, _) = redacted_words(&bytes, &["--only", "address"]);
    assert_eq!(all[CHAIN..CHAIN + 6], [MARK, KERNEL + 0x1234, STAND_IN, MARK, 0x1_0010, 0]);
    assert_eq!(all[STACK..STACK + 2], [0x1_0030, 77], "other words of a stack are memory");
    let (memory, _) = redacted_words(&bytes, &["--only", "memory"]);
    assert_eq!(memory[CHAIN + 4..CHAIN + 6], [0x40_0010, 0]);
    assert_eq!(memory[STACK..STACK + 4], [0x40_0030, 0, 0xffff_ffff_c000_0004, 0]);
    let (none, document) = redacted_words(&bytes, &["--keep", "address", "--keep", "memory"]);
    assert_eq!(none, kept);
    assert!(document["left"].as_array().unwrap().is_empty(), "kept kinds are not named");
}

#[test]
fn addresses_are_left_and_named_where_they_take_more_than_the_limit() {
    let kind = sample_type::IP | sample_type::TID | sample_type::TIME;
    let mut recording = Recording::new(Order::Little, vec![Attr::cpu_clock(kind).with_ids(&[11])]);
    let mut maker = recording.maker(0);
    let (comm, map) = (maker.comm("forge"), maker.mmap2());
    recording.push(comm).push(map).extend((0..100).map(|_| maker.sample()));
    let folder = folder(&[("perf.data", &recording.build().bytes)]);
    let path = |name: &str| folder.path().join(name);
    let limit = ["--limit", "redacted=1000", "--only", "address"];
    let ran = run!("redact", path("perf.data"), "-o", path("out"), limit[0], limit[1]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let text = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("redacted: AU1006 process: 1 process name in COMM"), "{text}");
    assert!(
        text.contains("not redacted: AU1023 address: 1 address in MMAP2, 100 addresses"),
        "{text}"
    );
    let [one, two, three, four] = limit;
    let ran = run!("redact", path("perf.data"), "-o", path("none"), one, two, three, four);
    assert_eq!(ran.code, 6, "{}", ran.out);
    assert!(ran.err.contains("(limit redacted)") && !path("none").exists(), "{}", ran.err);
}
