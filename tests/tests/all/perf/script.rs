//! `dump` of samples with all that they have, against `perf script` and the JSON of perf.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tracemend::{Dump, FileSet, FormatId, Options};
use tracemend_tests::forge::perf::{Attr, Order, Recording, sample_type as bit};
use tracemend_tests::judge::perf::Perf;
use tracemend_tests::notice;
use tracemend_tests::sweep::is_left_to_the_gate;

fn dump(bytes: &[u8], request: &Dump) -> String {
    let mut text = String::new();
    let options = Options { format: Some(FormatId::PERF), ..Options::default() };
    let dumped =
        tracemend::dump(&FileSet::single("perf.data", bytes), &options, request, &mut |piece| {
            text += piece;
            true
        });
    assert_eq!(dumped.unwrap().left_out, 0);
    text
}

fn script(bytes: &[u8]) -> String {
    dump(bytes, &Dump::Text { style: None })
}

fn samples(bytes: &[u8]) -> Vec<Value> {
    let json = dump(bytes, &Dump::JsonLines);
    let lines = json.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.filter(|line: &Value| line["kind"] == "SAMPLE").collect()
}

/// A value as libtraceevent shows it.
fn as_perf(value: &Value, shown: &str) -> bool {
    match value {
        Value::Number(number) => {
            // perf pads some numbers in hexadecimal with zeros.
            let digits = shown.trim().strip_prefix("0x");
            let hex = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
            let decimal = shown.trim().parse::<i128>().ok();
            decimal.is_some() && decimal == number.as_i128()
                || hex.is_some() && hex == number.as_u64()
        }
        Value::String(text) => text == shown,
        // perf shows the bytes.
        Value::Array(_) => shown.starts_with("ARRAY["),
        _ => false,
    }
}

#[test]
fn the_fields_of_tracepoints_are_those_of_perf() {
    if is_left_to_the_gate("the fields of tracepoints are those of perf") {
        return;
    }
    const EVENTS: &str = "sched:sched_switch,raw_syscalls:sys_enter,sched:sched_process_exec,\
                          sched:sched_process_exit,sched:sched_wakeup";
    for perf in Perf::newer_or_skip() {
        let folder = tempfile::tempdir().unwrap();
        let (path, json) = (folder.path().join("perf.data"), folder.path().join("json"));
        let recorded = perf.record(&["-e", EVENTS], &["ls", "-l", "/usr/share/doc"], &path);
        if let Err(why) = recorded {
            return notice::skip("perf record of tracepoints", &why);
        }
        let bytes = std::fs::read(&path).unwrap();
        let out = json.to_str().unwrap();
        let shown = perf.view(&path, &["data", "convert", "--force", "--to-json", out]);
        assert!(shown.is_success(), "{}", shown.stderr);
        let theirs: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
        let theirs = theirs["samples"].as_array().unwrap();
        let by_time = |one: &Value| (one["timestamp"].as_u64(), one["tid"].as_u64());
        let theirs: BTreeMap<_, &Value> = theirs.iter().map(|one| (by_time(one), one)).collect();
        let (mut compared, text) = (0, script(&bytes));
        for sample in samples(&bytes) {
            let other = theirs[&(sample["time"].as_u64(), sample["tid"].as_u64())];
            let fields = sample["fields"].as_object().unwrap();
            assert_eq!(fields["common_pid"], sample["tid"], "{sample}");
            for (name, value) in fields.iter().filter(|(name, _)| !name.starts_with("common_")) {
                let shown = other[name].as_str().unwrap_or_else(|| panic!("{name}: {other}"));
                assert!(as_perf(value, shown), "{name} is {value}, not {shown}");
                compared += 1;
                if let (Value::String(value), true) = (value, name.ends_with("_comm")) {
                    assert!(text.contains(&format!(" {name}={value}")), "{name} {value}");
                }
            }
        }
        assert!(compared > 100, "{compared} fields");
    }
}

/// The lines of perf without the offsets in the kernel, which it takes from the symbols of this
/// machine, and without symbols.
fn plain(text: &str) -> Vec<String> {
    let line = |line: &str| {
        let Some(frame) = line.strip_prefix('\t') else {
            return line.split_whitespace().collect::<Vec<_>>().join(" ");
        };
        let (address, place) = frame.trim().split_once(' ').unwrap();
        let (_, place) = place.split_at(place.rfind('(').unwrap());
        let is_kernel = place.starts_with("([kernel") || place.starts_with("([guest");
        format!("\t{address} {}", if is_kernel { "(kernel)" } else { place })
    };
    text.lines().map(line).collect()
}

#[test]
fn call_chains_are_those_of_perf_line_by_line() {
    if is_left_to_the_gate("call chains are those of perf line by line") {
        return;
    }
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean");
    // perf 6.1 does not print offsets.
    for perf in Perf::all_or_skip().into_iter().filter(|perf| perf.release() >= (6, 5)) {
        let folder = tempfile::tempdir().unwrap();
        let recorded = folder.path().join("perf.data");
        let workload = ["/usr/bin/sha256sum", "/usr/bin/perf"];
        perf.record(&["-e", "cpu-clock", "-g"], &workload, &recorded).unwrap();
        // Without periods in the samples, perf shows that of the attr.
        let both = [(corpus.join("callgraph.data"), ""), (recorded, "period,")];
        for (path, period) in both {
            let fields = &format!("comm,tid,time,{period}event,ip,sym,dso,dsoff");
            let arguments = ["script", "--no-itrace", "--no-inline", "-F", fields];
            let shown = perf.view(&path, &arguments);
            assert!(shown.is_success(), "{}", shown.stderr);
            let mine = script(&std::fs::read(&path).unwrap());
            assert!(mine.lines().any(|line| line.starts_with('\t')));
            let by = format!("{path:?} by {}", perf.version());
            assert_eq!(in_time_order(&plain(&mine)), in_time_order(&plain(&shown.stdout)), "{by}");
        }
    }
}

/// The samples of a text by their times: those of a process that went to another CPU lie in the
/// file as perf emptied the buffers.
fn in_time_order(lines: &[String]) -> Vec<&[String]> {
    let mut samples: Vec<&[String]> = lines.split(String::is_empty).collect();
    samples.sort_by_key(|sample| sample.first().and_then(|line| line.split(' ').nth(2)));
    samples
}

/// Samples and COMM records of which the later ones in time come first in the file.
fn with_late_names(sample_type: u64) -> Vec<u8> {
    let attr = Attr::cpu_clock(bit::IP | bit::TID | sample_type).with_ids(&[7]);
    let mut recording = Recording::new(Order::Little, vec![attr]);
    let mut maker = recording.maker(0);
    let mut early = maker.clone();
    maker.time += 1_000_000;
    let late = vec![maker.comm("late"), maker.sample(), maker.comm("last"), maker.sample()];
    recording.extend(late);
    let first = vec![early.comm("early"), early.sample(), early.sample()];
    recording.extend(first);
    for feature in [3, 6, 7, 12] {
        recording.feature(feature);
    }
    recording.build().bytes
}

#[test]
fn a_thread_has_the_name_that_it_had_at_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    let timed = ["early", "early", "late", "last"];
    let in_file_order = ["late", "last", "early", "early"];
    for (sample_type, field, names) in
        [(bit::TIME, "time,", timed), (bit::PERIOD, "", in_file_order)]
    {
        let bytes = with_late_names(sample_type);
        std::fs::write(&path, &bytes).unwrap();
        let mut lines = plain(&script(&bytes));
        let time = |line: &String| line.split(' ').nth(2).map(str::to_string);
        lines.sort_by_key(|line| time(line).filter(|_| !field.is_empty()));
        let mine: Vec<&str> = lines.iter().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(mine, names);
        for perf in Perf::all_or_skip() {
            let fields = format!("comm,tid,{field}event,ip");
            let shown = perf.view(&path, &["script", "-F", &fields]);
            assert!(shown.is_success(), "{}", shown.stderr);
            let theirs = plain(&shown.stdout);
            let theirs: Vec<&str> =
                theirs.iter().filter_map(|line| line.split(' ').next()).collect();
            assert_eq!(theirs, names, "{}", perf.version());
        }
    }
}

/// Samples of an attr with a register of everything.
fn forged(order: Order, sample_type: u64, change: impl FnOnce(&mut Attr)) -> Vec<u8> {
    let mut attr = Attr::cpu_clock(bit::IP | bit::TID | bit::TIME | bit::PERIOD | sample_type);
    change(&mut attr);
    let mut recording = Recording::new(order, vec![attr.with_ids(&[7])]);
    let mut maker = recording.maker(0);
    let all = vec![maker.comm("app"), maker.sample(), maker.sample()];
    recording.extend(all);
    for feature in [3, 6, 7, 12] {
        recording.feature(feature);
    }
    recording.build().bytes
}

#[test]
fn registers_and_branches_are_those_of_perf() {
    let registers = forged(Order::Little, bit::REGS_USER | bit::REGS_INTR, |attr| {
        (attr.sample_regs_user, attr.sample_regs_intr) = (0x00ff_0fff, 0x1c1);
    });
    let branches = forged(Order::Little, bit::BRANCH_STACK, |attr| attr.branch_sample_type = 8);
    let all = [(registers, "iregs,uregs"), (branches, "brstack")];
    // perf 6.1 does not say whether a branch was speculative.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    let newer = Perf::newer_or_skip();
    for (perf, (bytes, field)) in
        newer.iter().flat_map(|perf| all.iter().map(move |one| (perf, one)))
    {
        std::fs::write(&path, bytes).unwrap();
        let fields = format!("comm,tid,time,period,event,ip,{field}");
        let shown = perf.view(&path, &["script", "--no-itrace", "-F", &fields]);
        assert!(shown.is_success() && !shown.stdout.is_empty(), "{}", shown.stderr);
        assert_eq!(plain(&script(bytes)), plain(&shown.stdout), "{}", perf.version());
    }
}

#[test]
fn every_value_of_a_sample_is_in_its_line_of_json() {
    let all = bit::ADDR
        | bit::READ
        | bit::STREAM_ID
        | bit::BRANCH_STACK
        | bit::REGS_USER
        | bit::STACK_USER
        | bit::WEIGHT_STRUCT
        | bit::DATA_SRC
        | bit::TRANSACTION
        | bit::PHYS_ADDR
        | bit::CGROUP
        | bit::DATA_PAGE_SIZE
        | bit::CODE_PAGE_SIZE;
    for order in [Order::Little, Order::Big] {
        let bytes = forged(order, all, |attr| {
            (attr.sample_regs_user, attr.sample_stack_user) = (3, 16);
            (attr.branch_sample_type, attr.read_format) = (1 << 17 | 8, 3);
        });
        let sample = &samples(&bytes)[0];
        for (name, value) in [
            ("addr", 0x7f00_0000_1000_u64),
            ("stream_id", 7),
            ("data_src", 0x000a_6810_0222),
            ("transaction", 0),
            ("phys_addr", 0x1_2345_6000),
            ("cgroup", 1),
            ("data_page_size", 4096),
            ("code_page_size", 4096),
            ("hw_idx", 0),
            ("user_abi", 2),
            ("user_regs_mask", 3),
            ("user_stack_size", 16),
            ("ins_lat", 0),
            ("weight", 7),
        ] {
            assert_eq!(sample[name], value, "{name}: {sample}");
        }
        assert_eq!(sample["time_enabled"], sample["time"], "{sample}");
        assert_eq!(sample["time_running"], sample["time"], "{sample}");
        assert_eq!(sample["branches"][0]["from"], 0x40_1000, "{sample}");
        assert_eq!(sample["user_regs"].as_array().unwrap().len(), 2, "{sample}");
    }
}

#[test]
fn raw_data_that_nothing_describes_are_bytes() {
    let bytes = forged(Order::Little, bit::RAW, |_| {});
    let raw = "52".repeat(20);
    let sample = &samples(&bytes)[0];
    assert!(sample["raw"].as_str().unwrap().replace(' ', "").starts_with(&raw), "{sample}");
    assert!(script(&bytes).lines().all(|line| line.contains(" raw=52")));
}
