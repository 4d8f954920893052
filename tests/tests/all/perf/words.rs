//! Records and features of many words: each word is shown under its own name.

use tracemend::formats::perf::PERF;
use tracemend::map::map;
use tracemend::{Dump, FileSet, MapStep, Options, Region, RegionKind};
use tracemend_tests::forge::perf::worded::{newer_program, programs};
use tracemend_tests::forge::perf::{
    Attr, Built, Maker, Order, Record, Recording, feature_bit, sample_type,
};
use tracemend_tests::judge::perf::Perf;

const BPF_PROG_INFO: u32 = 25;

/// The words of `Maker::every_tracer`, as a dump shows them.
const TRACERS: [&str; 12] = [
    "auxtrace_type=1 reserved=00000000 pmu_type=257 time_shift=258 time_mult=259 time_zero=260 \
        cap_user_time_zero=261 tsc_bit=0x106 noretcomp_bit=0x107 have_sched_switch=264 \
        snapshot_mode=265 per_cpu_mmaps=266",
    "auxtrace_type=1 reserved=00000000 pmu_type=257 time_shift=258 time_mult=259 time_zero=260 \
        cap_user_time_zero=261 tsc_bit=0x106 noretcomp_bit=0x107 have_sched_switch=264 \
        snapshot_mode=265 per_cpu_mmaps=266 mtc_bit=0x10b mtc_freq_bits=0x10c tsc_ctc_n=269 \
        tsc_ctc_d=270 cyc_bit=0x10f max_nonturbo_ratio=272 filter_str_len=0 cap_event_trace=273",
    "auxtrace_type=1 reserved=00000000 pmu_type=257 time_shift=258 time_mult=259 time_zero=260 \
        cap_user_time_zero=261 tsc_bit=0x106 noretcomp_bit=0x107 have_sched_switch=264 \
        snapshot_mode=265 per_cpu_mmaps=266 mtc_bit=0x10b mtc_freq_bits=0x10c tsc_ctc_n=269 \
        tsc_ctc_d=270 cyc_bit=0x10f max_nonturbo_ratio=272 filter_str_len=27 \
        filter=filter 0x1100/0x40@/bin/app padding=0000000000 cap_event_trace=273",
    "auxtrace_type=2 reserved=00000000 pmu_type=257 time_shift=258 time_mult=259 time_zero=260 \
        cap_user_time_zero=261 snapshot_mode=262",
    "auxtrace_type=3 reserved=00000000 version=0 cpus=2 pmu_type=1 snapshot=257 \
        entries=[magic=0x3030303030303030 cpu=258 etmcr=0x103 etmtraceidr=0x104 etmccer=0x105 \
        etmidr=0x106, magic=0x4040404040404040 cpu=263 trcconfigr=0x108 trctraceidr=0x109 \
        trcidr0=0x10a trcidr1=0x10b trcidr2=0x10c trcidr8=0x10d trcauthstatus=0x10e]",
    "auxtrace_type=3 reserved=00000000 version=2 cpus=3 pmu_type=1 snapshot=257 \
        entries=[magic=0x3030303030303030 cpu=258 parameters=4 etmcr=0x103 etmtraceidr=0x104 \
        etmccer=0x105 etmidr=0x106, magic=0x4040404040404040 cpu=263 parameters=8 \
        trcconfigr=0x108 trctraceidr=0x109 trcidr0=0x10a trcidr1=0x10b trcidr2=0x10c \
        trcidr8=0x10d trcauthstatus=0x10e ts_source=271, magic=0x5050505050505050 cpu=272 \
        parameters=11 trcconfigr=0x111 trctraceidr=0x112 trcidr0=0x113 trcidr1=0x114 \
        trcidr2=0x115 trcidr8=0x116 trcauthstatus=0x117 trcdevarch=0x118 ts_source=281] \
        priv=1a010000000000001b01000000000000",
    "auxtrace_type=4 reserved=00000000 pmu_type=257 per_cpu_mmaps=258",
    "auxtrace_type=4 reserved=00000000 version=2 head=4 pmu_type=257 cpus=2 \
        entries=[magic=0x1010101010101010 cpu=273 parameters=3 midr=0x112 pmu_type=275 \
        cap_min_ival=276, magic=0x1010101010101010 cpu=289 parameters=3 midr=0x122 pmu_type=291 \
        cap_min_ival=292]",
    "auxtrace_type=4 reserved=00000000 version=2 head=5 pmu_type=257 cpus=2 \
        priv=0201000000000000 entries=[magic=0x1010101010101010 cpu=273 parameters=6 midr=0x112 \
        pmu_type=275 cap_min_ival=276 cap_event_filter=0x115, magic=0x1010101010101010 cpu=289 \
        parameters=6 midr=0x122 pmu_type=291 cap_min_ival=292 cap_event_filter=0x125]",
    "auxtrace_type=5 reserved=00000000",
    "auxtrace_type=6 reserved=00000000 pmu_type=257",
    "auxtrace_type=7 reserved=00000000 pmu_type=257",
];

/// Names of the counts of a domain: those of each state of a CPU, and those after them.
const STATES: [[&str; 3]; 3] =
    [["idle", "busy", "newidle"], ["busy", "idle", "newidle"], ["busy", "idle", "newidle"]];
const OF_STATE: [&str; 3] = [
    "count balanced failed imbalance gained hot_gained nobusyq nobusyg",
    "count balanced failed imbalance gained hot_gained nobusyq nobusyg",
    "count balanced failed imbalance_load imbalance_util imbalance_task imbalance_misfit gained \
        hot_gained nobusyq nobusyg",
];
const AFTER_STATES: &str = "alb_count alb_failed alb_pushed sbe_count sbe_balanced sbe_pushed \
    sbf_count sbf_balanced sbf_pushed ttwu_wake_remote ttwu_move_affine ttwu_move_balance";

/// The fields of the first of `worded::programs` in a map, without the beginnings of the names.
const PROGRAM: &str = "info_len=232 data_len=136 arrays=511 type=257 id=258 tag=0174616702030405 \
    jited_prog_len=9 xlated_prog_len=16 jited_prog_insns=0 xlated_prog_insns=16 load_time=259 \
    created_by_uid=260 nr_map_ids=3 map_ids=32 name=\"forged_program\" ifindex=261 \
    gpl_compatible=1 netns_dev=262 netns_ino=263 nr_jited_ksyms=1 nr_jited_func_lens=2 \
    jited_ksyms=48 jited_func_lens=56 btf_id=264 func_info_rec_size=8 func_info=64 \
    nr_func_info=1 nr_line_info=2 line_info=72 jited_line_info=104 nr_jited_line_info=3 \
    line_info_rec_size=16 jited_line_info_rec_size=8 nr_prog_tags=1 prog_tags=128 \
    run_time_ns=265 run_cnt=266 recursion_misses=267 verified_insns=268 attach_btf_obj_id=269 \
    attach_btf_id=270 reserved=4 data.jited_prog_insns=01010101010101010100000000000000 \
    data.xlated_prog_insns=02020202020202020202020202020202 \
    data.map_ids=03030303030303030303030300000000 data.jited_ksyms=0404040404040404 \
    data.jited_func_lens=0505050505050505 data.func_info=0606060606060606 \
    data.line_info=07070707070707070707070707070707... \
    data.jited_line_info=08080808080808080808080808080808... data.prog_tags=0909090909090909";

fn event() -> Attr {
    Attr::cpu_clock(sample_type::IP | sample_type::TID | sample_type::TIME).with_ids(&[11])
}

fn with_records(order: Order, records: impl Fn(&Maker) -> Vec<Record>) -> Built {
    let mut recording = Recording::new(order, vec![event()]);
    let mut maker = recording.maker(0);
    recording.extend(records(&maker)).push(maker.comm("forge")).push(maker.sample());
    recording.feature(feature_bit::HOSTNAME).build()
}

fn with_programs(order: Order, section: Vec<u8>) -> Built {
    let mut recording = Recording::new(order, vec![event()]);
    let sample = recording.maker(0).sample();
    recording.push(sample).feature(feature_bit::HOSTNAME).feature_with(BPF_PROG_INFO, section);
    recording.build()
}

fn add_fields(region: &Region, fields: &mut Vec<String>) {
    for child in &region.children {
        if !child.children.is_empty() {
            add_fields(child, fields);
        } else if !child.name.starts_with("header.") {
            let name = child.name.split_once('.').map_or(&*child.name, |(_, name)| name);
            // The number in decimal, or the bytes.
            let value = child.value.as_deref().unwrap_or_default();
            fields.push(format!("{name}={}", value.split(' ').next().unwrap()));
        }
    }
}

/// The fields of each region with this name in a map.
fn mapped(built: &Built, wanted: (RegionKind, &str)) -> Vec<Vec<String>> {
    let files = FileSet::single("perf.data", &built.bytes);
    let mut found = Vec::new();
    map((&files, &PERF), &Options::default(), 9, &mut |step| {
        if let MapStep::Region(region) = step
            && (region.kind, &*region.name) == wanted
        {
            let mut fields = Vec::new();
            add_fields(region, &mut fields);
            found.push(fields);
        }
    });
    found
}

/// The fields of the records of a type in a dump.
fn dumped(built: &Built, name: &str) -> Vec<String> {
    let files = FileSet::single("perf.data", &built.bytes);
    let style = Dump::Text { style: Some("records".to_owned()) };
    let mut text = String::new();
    let dumped = tracemend::dump(&files, &Options::default(), &style, &mut |piece| {
        text += piece;
        true
    });
    dumped.expect("a sound recording");
    let title = format!(": PERF_RECORD_{name} ");
    let fields = text.lines().filter_map(|line| line.split_once(&title));
    fields.map(|(_, fields)| fields.to_owned()).collect()
}

fn in_any_order(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = text.split(' ').collect();
    words.sort_unstable();
    words
}

#[test]
fn each_word_of_a_tracer_has_its_name() {
    let little = with_records(Order::Little, Maker::every_tracer);
    assert_eq!(dumped(&little, "AUXTRACE_INFO"), TRACERS);
    let big = with_records(Order::Big, Maker::every_tracer);
    for (found, expected) in dumped(&big, "AUXTRACE_INFO").iter().zip(TRACERS) {
        // The two halves of a word of CoreSight are exchanged.
        let words = in_any_order(found).into_iter().filter(|word| !word.starts_with("priv="));
        let expected = in_any_order(expected).into_iter().filter(|word| !word.starts_with("priv"));
        assert!(words.eq(expected), "{found}");
    }
    let tell = |name: &str, number: &str| format!("{name}={number}");
    for built in [little, big] {
        let maps = mapped(&built, (RegionKind::Record, "AUXTRACE_INFO"));
        assert_eq!(maps.len(), TRACERS.len());
        let [_, _, filtered, ..] = maps.as_slice() else { panic!("{maps:?}") };
        assert_eq!(filtered[17], tell("max_nonturbo_ratio", "272"));
        assert_eq!(filtered[19], tell("filter", "\"filter"));
        let coresight = &maps[5];
        assert_eq!(coresight[16], tell("entries[].trcconfigr", "264"));
        assert_eq!(coresight.last().unwrap().split_once('=').unwrap().0, "priv");
        // No word is without a name but those that newer versions of perf may have added.
        assert!(maps.iter().flatten().all(|field| !field.starts_with("rest")), "{maps:?}");
    }
}

#[test]
fn each_count_of_a_domain_has_its_name() {
    for order in [Order::Little, Order::Big] {
        let built = with_records(order, Maker::schedstat_domains);
        let maps = mapped(&built, (RegionKind::Record, "SCHEDSTAT_DOMAIN"));
        let dumps = dumped(&built, "SCHEDSTAT_DOMAIN");
        assert_eq!((maps.len(), dumps.len()), (4, 4));
        for (index, states) in STATES.into_iter().enumerate() {
            let of_states = states.into_iter().flat_map(|state| {
                OF_STATE[index].split(' ').map(move |count| format!("{state}_lb_{count}"))
            });
            let names = of_states.chain(AFTER_STATES.split(' ').map(str::to_owned));
            let counts = names.zip(1..).map(|(name, count)| format!("{name}={count}"));
            let mut expected = vec!["timestamp=1000000000".to_owned(), "cpu=5".to_owned()];
            expected.extend([format!("version={}", index + 15), "domain=7".to_owned()]);
            expected.extend(counts);
            assert_eq!(dumps[index], expected.join(" "));
            let (rest, counts) = maps[index].split_last().unwrap();
            assert_eq!(counts, expected);
            assert!(rest.starts_with("rest="), "{rest}");
        }
        assert!(maps[3].iter().skip(4).all(|field| field.starts_with("counts[]=")), "{maps:?}");
        assert!(dumps[3].contains(" counts=[1, 2, 3, "), "{dumps:?}");
    }
}

#[test]
fn each_field_of_a_program_has_its_name_and_each_array_its_bytes() {
    for order in [Order::Little, Order::Big] {
        let wanted = (RegionKind::Structure, "BPF_PROG_INFO");
        let maps = mapped(&with_programs(order, programs(order)), wanted);
        let [fields] = maps.as_slice() else { panic!("{maps:?}") };
        let program: Vec<&str> = PROGRAM.split(' ').collect();
        assert_eq!(fields[1..=program.len()], program);
        // The shorter one ends where its writer knew no more.
        let shorter = &fields[program.len() + 1..];
        assert_eq!(shorter[..3], ["info_len=112", "data_len=24", "arrays=12"]);
        assert_eq!(shorter[3..21], program[3..21]);
        let arrays = ["data.map_ids=03030303030303030303030300000000", program[45]];
        assert_eq!(shorter[21..], arrays);
        let maps = mapped(&with_programs(order, newer_program(order)), wanted);
        let end = maps[0].iter().rev().take(2).map(|field| field.split('=').next().unwrap());
        assert_eq!(end.collect::<Vec<_>>(), ["data", "info"]);
    }
}

/// The numbers of a line of a dump, but those that perf shows in another way.
fn numbers_of(line: &str) -> Vec<u64> {
    let other = ["auxtrace_type", "reserved", "padding", "filter", "cap_event_trace", "priv"];
    let words = line.split([' ', '[', ']', ',']).filter_map(|word| word.split_once('='));
    let words = words.filter(|(name, value)| !other.contains(name) && !value.is_empty());
    let mut numbers: Vec<u64> = Vec::new();
    for (name, value) in words {
        let number = match value.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).unwrap(),
            None => value.parse().unwrap(),
        };
        // CoreSight has two halves of a word.
        let is_half =
            name == "pmu_type" && numbers.len() == 2 && line.contains("entries=[magic=0x3");
        if is_half {
            numbers[1] |= number << 32;
        } else {
            numbers.push(number);
        }
    }
    numbers
}

#[test]
fn perf_shows_the_same_words() {
    let newer = Perf::newer_or_skip();
    let Some(perf) = newer.iter().find(|perf| perf.release() >= (7, 2)) else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    let mut seen = 0;
    let little = Maker::new(Order::Little, &event());
    for (record, ours) in little.every_tracer().into_iter().zip(TRACERS) {
        // A record that perf does not write, and one without words.
        if ours.contains("head=5") || ours.contains("auxtrace_type=5") {
            continue;
        }
        let built = with_records(Order::Little, |maker| vec![maker.time_conv(), record.clone()]);
        std::fs::write(&path, &built.bytes).unwrap();
        let text = perf.dump(&path).stdout;
        let (_, words) = text.split_once("PERF_RECORD_AUXTRACE_INFO type: ").expect("the record");
        let lines = words.lines().skip(1).take_while(|line| !line.is_empty());
        let is_other = |line: &&str| {
            ["Filter string  ", "Cap Event", "Unknown"].iter().any(|one| line.contains(one))
        };
        let shown: Vec<&str> = lines
            .filter(|line| !is_other(line))
            .map(|line| line.rsplit([' ', '\t', ':']).next().unwrap())
            .collect();
        let ours = numbers_of(ours);
        assert_eq!(shown.len(), ours.len(), "{text}");
        for (text, number) in shown.iter().zip(&ours) {
            let digits = text.trim_start_matches("0x");
            let values = [text.parse().ok(), u64::from_str_radix(digits, 16).ok()];
            assert!(values.contains(&Some(*number)), "{number}: {shown:?}");
            seen += 1;
        }
    }
    assert_eq!(seen, 121);
}
