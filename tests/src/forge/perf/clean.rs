//! Valid recordings, ready-made.

use super::attr::{
    ATTR_SIZES, Attr, BRANCH_COUNTERS, BRANCH_HW_INDEX, TYPE_TRACEPOINT, flag, read_format,
    sample_type as bit,
};
use super::bytes::Order::{self, Big, Little};
use super::feature::{
    TRACEPOINT_NAME, TRACEPOINT_NUMBER, compressed_section, number as feature, tracepoint_raw,
    tracing_data,
};
use super::record::{Maker, Record};
use super::recording::{Built, Layout, Mode, Recording, Wrapper};
use super::sample::Value;

/// IP, TID, TIME and PERIOD: the fields that `perf record` samples of one event.
pub const USUAL: u64 = bit::IP | bit::TID | bit::TIME | bit::PERIOD;

/// The reason why `perf` 6.1 misreads some valid recordings.
pub mod refusal {
    /// Records of perf itself that 6.1 does not know.
    pub const NEWER_USER_RECORDS: &str =
        "perf 6.1 stops at user types from 83 on: failed to process type";
    /// A kernel record that 6.1 does not know.
    pub const NEWER_KERNEL_RECORDS: &str =
        "perf 6.1 prints every sample, counts unknown events and exits with 255";
    /// AUXTRACE in pipe mode.
    pub const PIPED_TRACE: &str =
        "perf 6.1 loses step at a piped AUXTRACE unless it reads a real pipe and decodes the trace";
    /// An attr larger than the reader's own.
    pub const NEWER_ATTR: &str =
        "perf 6.1 refuses every attr in file mode above 128 bytes (read_attr)";
}

/// A valid recording.
#[derive(Clone, Debug)]
pub struct Clean {
    /// Its name, unique.
    pub name: &'static str,
    /// The bytes and their description.
    pub built: Built,
    /// How many lines `perf script -F event` prints: one for each sample, and one for each value
    /// of a group that is read together.
    pub lines: usize,
    /// The reason why `perf` 6.1 misreads it; `None` if it does not.
    pub refused: Option<&'static str>,
}

impl Clean {
    fn new(name: &'static str, recording: &Recording) -> Self {
        let built = recording.build();
        Self { name, lines: built.samples(), built, refused: None }
    }

    fn refused(mut self, why: &'static str) -> Self {
        self.refused = Some(why);
        self
    }

    /// Whether `perf` 6.1 reads it and counts its samples.
    pub fn judged(&self) -> bool {
        self.refused.is_none()
    }
}

/// Every clean recording by name.
pub fn all() -> Vec<(&'static str, Vec<u8>)> {
    clean().into_iter().map(|clean| (clean.name, clean.built.bytes)).collect()
}

/// The clean recording of this name.
///
/// # Panics
///
/// If there is no recording of this name.
pub fn by_name(name: &str) -> Clean {
    clean().into_iter().find(|clean| clean.name == name).expect("a recording of this name")
}

/// Returns every clean recording with its description.
pub fn clean() -> Vec<Clean> {
    let mut list = attr_sizes();
    list.extend(files());
    list.extend(several_events());
    list.extend(pipes());
    list.extend(records());
    list.extend(samples());
    list.extend(read_formats());
    list.extend(compressed());
    list.extend(big_endian());
    list
}

/// One event with two ids, in file mode, with few records.
fn small(order: Order, attr: Attr) -> Recording {
    let mut recording = Recording::new(order, vec![attr.with_ids(&[11, 12])]);
    let few = few(&mut recording.maker(0));
    recording.extend(few);
    recording
}

/// COMM, MMAP2, two samples, FINISHED_ROUND, a sample.
fn few(maker: &mut Maker) -> Vec<Record> {
    vec![
        maker.comm("forge"),
        maker.mmap2(),
        maker.sample(),
        maker.sample(),
        maker.finished_round(),
        maker.sample(),
    ]
}

fn attr_sizes() -> Vec<Clean> {
    const NAMES: [&str; 10] = [
        "attr_64", "attr_72", "attr_80", "attr_96", "attr_104", "attr_112", "attr_120", "attr_128",
        "attr_136", "attr_144",
    ];
    let one = |(name, size): (&&'static str, &u32)| {
        Clean::new(name, &small(Little, Attr::cpu_clock(USUAL).with_size(*size)))
    };
    let mut list: Vec<_> = NAMES.iter().zip(&ATTR_SIZES).map(one).collect();
    list[8].refused = Some(refusal::NEWER_ATTR);
    list[9].refused = Some(refusal::NEWER_ATTR);
    let newer = Attr { size: 136, config3: 1, ..Attr::cpu_clock(USUAL) };
    list.push(Clean::new("attr_136_config3", &small(Little, newer)).refused(refusal::NEWER_ATTR));
    let newest = Attr { size: 144, config4: 1, ..Attr::cpu_clock(USUAL) };
    list.push(Clean::new("attr_144_config4", &small(Little, newest)).refused(refusal::NEWER_ATTR));
    list
}

/// Header and feature variants of file mode.
fn files() -> Vec<Clean> {
    let plain = || small(Little, Attr::cpu_clock(USUAL));
    let mut old = small(Little, Attr::cpu_clock(USUAL).with_size(64));
    old.mode = Mode::Old;
    // Without any record `data.size` would be 0, which is the sign of a crash.
    let mut empty = Recording::new(Little, vec![Attr::cpu_clock(USUAL)]);
    let comm = empty.maker(0).comm("forge");
    empty.push(comm).features([3, 5, 6]);
    let mut few_features = plain();
    few_features.features([2, 3, 21]);
    let mut hole = few_features.clone();
    hole.hole = true;
    // BRANCH_STACK without branches would make `perf report` find nothing.
    let branches =
        Attr { branch_sample_type: 1 << 3, ..Attr::cpu_clock(USUAL | bit::BRANCH_STACK) };
    let mut every = small(Little, branches);
    every.hole = true;
    every.features((1..=feature::LAST).filter(|number| {
        // No traces, no directory; `perf stat` data and tracepoints are recordings of their own.
        !matches!(*number, 1 | feature::AUXTRACE | feature::STAT | feature::DIR_FORMAT)
    }));
    let mut unknown = plain();
    unknown
        .feature(3)
        .feature_with(33, vec![62, 0, 0, 0, 0, 0, 0, 0])
        .feature_with(200, vec![1; 12]);
    let mut attrs_first = plain();
    attrs_first.layout = Layout::AttrsFirst;
    let mut data_first = plain();
    data_first.layout = Layout::DataFirst;
    let mut no_ids = Recording::new(Little, vec![Attr::cpu_clock(USUAL)]);
    let records = few(&mut no_ids.maker(0));
    no_ids.extend(records);
    let bare = Attr { flags: flag::MMAP | flag::COMM, ..Attr::cpu_clock(USUAL) };
    vec![
        Clean::new("plain", &plain()),
        Clean::new("old_header", &old),
        Clean::new("no_samples", &empty),
        Clean::new("few_features", &few_features),
        Clean::new("hole_before_sections", &hole),
        Clean::new("every_feature", &every),
        Clean::new("unknown_features", &unknown),
        Clean::new("attrs_before_ids", &attrs_first),
        Clean::new("attrs_after_data", &data_first),
        Clean::new("no_ids", &no_ids),
        Clean::new("no_sample_id_all", &small(Little, bare)),
        Clean::new("tracepoint", &tracepoint(Little)),
        Clean::new("auxtrace", &auxtrace(Little)),
        Clean::new("stat", &stat(Little)),
    ]
}

/// Several events in one recording.
fn several_events() -> Vec<Clean> {
    let by_id = USUAL | bit::ID;
    let mut same = Recording::new(
        Little,
        vec![
            Attr::cpu_clock(by_id).with_ids(&[11, 12]),
            Attr::page_faults(by_id).with_ids(&[21, 22]),
        ],
    );
    let (mut first, mut second) = (same.maker(0), same.maker(1));
    second.time += 500;
    same.extend([first.comm("forge"), first.sample(), second.sample(), first.sample()]);
    same.features([12, 17]);

    let by_identifier = USUAL | bit::IDENTIFIER;
    let mut different = Recording::new(
        Little,
        vec![
            Attr::cpu_clock(by_identifier | bit::CALLCHAIN).with_ids(&[31]),
            Attr::page_faults(by_identifier | bit::ADDR).with_ids(&[41]),
        ],
    );
    let (mut first, mut second) = (different.maker(0), different.maker(1));
    second.time += 500;
    different.extend([first.comm("forge"), first.sample(), second.sample(), second.sample()]);

    let mut group = Recording::new(
        Little,
        vec![group_attr(true).with_ids(&[51]), group_attr(false).with_ids(&[52])],
    );
    let mut leader = group.maker(0);
    let both =
        |value| vec![Value { value, id: 51, lost: 0 }, Value { value: value + 1, id: 52, lost: 0 }];
    group.push(leader.comm("forge"));
    group.push(leader.sample_with(|sample| sample.values = both(10)));
    group.push(leader.sample_with(|sample| sample.values = both(20)));
    group.feature(feature::GROUP_DESC);
    vec![
        Clean::new("two_events_by_id", &same),
        Clean::new("two_events_by_identifier", &different),
        Clean { lines: 4, ..Clean::new("group_read_together", &group) },
    ]
}

fn group_attr(leader: bool) -> Attr {
    let format = read_format::GROUP | read_format::ID | read_format::ENABLED | read_format::RUNNING;
    let sample_type = USUAL | bit::IDENTIFIER | bit::READ;
    let attr = if leader { Attr::cpu_clock(sample_type) } else { Attr::page_faults(sample_type) };
    attr.with_read_format(format)
}

fn pipe(order: Order) -> Recording {
    let mut recording = Recording::pipe(order, vec![Attr::cpu_clock(USUAL).with_ids(&[11, 12])]);
    let mut maker = recording.maker(0);
    recording.push(maker.id_index());
    recording.extend(few(&mut maker));
    recording
}

/// Pipe mode.
fn pipes() -> Vec<Clean> {
    let mut with_features = Recording::pipe(Little, vec![Attr::cpu_clock(USUAL).with_ids(&[11])]);
    with_features.features([3, 5, 6, 7, 11, 12, 22]);
    let mut maker = with_features.maker(0);
    // After the last feature perf 6.1 writes a HEADER_FEATURE of number 32 without a section.
    with_features.push(maker.feature(feature::LAST + 1, &[]));
    with_features.push(maker.event_type()).push(maker.build_id());
    with_features.extend(few(&mut maker));

    let attr = tracepoint_attr().with_ids(&[61]);
    let mut traced = Recording::pipe(Little, vec![attr]);
    let mut maker = traced.maker(0);
    traced.push(maker.tracing_data(&tracing_data(Little)));
    traced.push(maker.comm("forge"));
    traced.push(maker.sample_with(|sample| sample.raw = tracepoint_raw(Little)));

    let mut aux = Recording::pipe(Little, vec![Attr::cpu_clock(USUAL).with_ids(&[11])]);
    let mut maker = aux.maker(0);
    aux.push(maker.auxtrace_info()).push(maker.comm("forge")).push(maker.sample());
    aux.push(maker.auxtrace(&[0; 48])).push(maker.sample());
    vec![
        Clean::new("pipe", &pipe(Little)),
        Clean::new("pipe_features", &with_features),
        Clean::new("pipe_tracepoint", &traced),
        Clean::new("pipe_auxtrace", &aux).refused(refusal::PIPED_TRACE),
    ]
}

fn tracepoint_attr() -> Attr {
    Attr::tracepoint(USUAL | bit::CPU | bit::RAW, TRACEPOINT_NUMBER, TRACEPOINT_NAME)
}

fn tracepoint(order: Order) -> Recording {
    let attr = tracepoint_attr().with_ids(&[61, 62]);
    assert_eq!(attr.kind, TYPE_TRACEPOINT);
    let mut recording = Recording::new(order, vec![attr]);
    let mut maker = recording.maker(0);
    recording.push(maker.comm("forge"));
    for _ in 0..2 {
        recording.push(maker.sample_with(|sample| sample.raw = tracepoint_raw(order)));
    }
    recording.features([feature::TRACING_DATA, feature::HOSTNAME, 12]);
    recording
}

/// AUXTRACE records with traces outside `header.size`, and their index.
fn auxtrace(order: Order) -> Recording {
    let mut recording = Recording::new(order, vec![Attr::cpu_clock(USUAL).with_ids(&[11])]);
    let mut maker = recording.maker(0);
    recording.push(maker.auxtrace_info()).push(maker.comm("forge")).push(maker.sample());
    recording.push(maker.aux()).push(maker.auxtrace(&[0; 48])).push(maker.auxtrace(&[0; 24]));
    recording.push(maker.sample()).push(maker.finished_round());
    recording.features([feature::AUXTRACE, feature::HOSTNAME]);
    recording
}

/// `perf stat record`: no samples, counts instead.
fn stat(order: Order) -> Recording {
    let mut recording =
        Recording::new(order, vec![Attr::cpu_clock(bit::IDENTIFIER).with_ids(&[71])]);
    let maker = recording.maker(0);
    recording.extend(maker.event_updates());
    recording.push(maker.thread_map()).push(maker.cpu_map(&[u16::MAX])).push(maker.stat_config());
    recording.push(maker.stat(500)).push(maker.stat_round(0)).push(maker.stat(900));
    recording.push(maker.time_conv()).push(maker.stat_round(1));
    recording.features([feature::HOSTNAME, feature::STAT, 23, feature::COMPRESSED, 29]);
    recording
}

/// A record of every type.
fn records() -> Vec<Clean> {
    let attr = || Attr::cpu_clock(every_id()).with_ids(&[11, 12]);
    let kernel = every_kernel_record(Little);
    let mut user = Recording::new(Little, vec![attr()]);
    let mut maker = user.maker(0);
    user.push(maker.header_attr(&maker.attr.clone())).push(maker.event_type());
    user.push(maker.build_id()).push(maker.id_index()).push(maker.thread_map());
    user.extend([maker.cpu_map(&[0, 1]), maker.cpu_map_mask64(3), maker.cpu_map_range(0, 1)]);
    user.extend(maker.event_updates());
    user.extend([maker.time_conv(), maker.time_conv_short(), maker.auxtrace_error()]);
    user.push(maker.comm("forge")).push(maker.finished_init()).push(maker.sample());
    user.push(maker.finished_round()).push(maker.sample()).push(maker.finished_round());

    let mut deferred = Recording::new(Little, vec![attr()]);
    let mut maker = deferred.maker(0);
    deferred.extend([maker.comm("forge"), maker.sample(), maker.callchain_deferred()]);
    let mut newer = Recording::new(Little, vec![attr()]);
    let mut maker = newer.maker(0);
    newer.extend([maker.comm("forge"), maker.sample(), maker.bpf_metadata()]);
    newer.extend([maker.schedstat_cpu(), maker.schedstat_domain(), maker.sample()]);
    vec![
        Clean::new("every_kernel_record", &kernel),
        Clean::new("every_user_record", &user),
        Clean::new("callchain_deferred", &deferred).refused(refusal::NEWER_KERNEL_RECORDS),
        Clean::new("newer_user_records", &newer).refused(refusal::NEWER_USER_RECORDS),
    ]
}

/// Every field that the id trailer can have.
fn every_id() -> u64 {
    USUAL | bit::ID | bit::STREAM_ID | bit::CPU | bit::IDENTIFIER
}

fn every_kernel_record(order: Order) -> Recording {
    let attr = Attr::cpu_clock(every_id()).with_ids(&[11, 12]);
    let attr = attr.with_read_format(read_format::ID | read_format::LOST);
    let mut recording = Recording::new(order, vec![attr]);
    let records = recording.maker(0).every_kernel_record();
    recording.extend(records);
    recording
}

/// An attr that samples everything. WEIGHT_STRUCT takes the place of WEIGHT.
fn sampling_everything() -> Attr {
    let every = (1 << 25) - 1;
    Attr {
        branch_sample_type: BRANCH_HW_INDEX | 1 << 3,
        sample_regs_user: 0xff,
        sample_stack_user: 32,
        sample_regs_intr: 0x0f,
        aux_sample_size: 16,
        ..Attr::cpu_clock(every & !bit::WEIGHT)
    }
    .with_read_format(read_format::ID | read_format::LOST | read_format::ENABLED)
}

/// One layout of samples each.
fn samples() -> Vec<Clean> {
    let with = |bits: u64| Attr::cpu_clock(USUAL | bits);
    let one = |name, attr: Attr| Clean::new(name, &small(Little, attr));
    let branches = |kinds: u64| Attr { branch_sample_type: kinds, ..with(bit::BRANCH_STACK) };
    let user = Attr {
        sample_regs_user: 0xff_0fff,
        sample_stack_user: 64,
        ..with(bit::REGS_USER | bit::STACK_USER)
    };
    let mut none = Recording::new(Little, vec![user.clone().with_ids(&[11])]);
    let mut maker = none.maker(0);
    none.push(maker.comm("forge"));
    none.push(maker.sample_with(|sample| {
        sample.regs_user.clear();
        sample.stack_user.clear();
    }));
    vec![
        one("sample_ip_only", Attr::cpu_clock(bit::IP)),
        one("sample_usual", with(bit::CPU)),
        one("sample_callchain", with(bit::CALLCHAIN)),
        one("sample_raw", with(bit::RAW)),
        one("sample_branches", branches(1 << 3)),
        one("sample_branches_hw_idx", branches(1 << 3 | BRANCH_HW_INDEX)),
        one("sample_branch_counters", branches(1 << 3 | BRANCH_HW_INDEX | BRANCH_COUNTERS)),
        one("sample_user", user),
        Clean::new("sample_user_none", &none),
        one("sample_intr", Attr { sample_regs_intr: 0xff_0fff, ..with(bit::REGS_INTR) }),
        one("sample_weight", with(bit::WEIGHT | bit::ADDR | bit::DATA_SRC)),
        one("sample_weight_struct", with(bit::WEIGHT_STRUCT | bit::TRANSACTION)),
        one("sample_phys_cgroup", with(bit::PHYS_ADDR | bit::CGROUP)),
        one("sample_page_sizes", with(bit::ADDR | bit::DATA_PAGE_SIZE | bit::CODE_PAGE_SIZE)),
        one("sample_aux", Attr { aux_sample_size: 24, ..with(bit::AUX) }),
        one("sample_everything", sampling_everything()),
    ]
}

/// READ samples in every layout with the id, without which perf drops them.
fn read_formats() -> Vec<Clean> {
    const NAMES: [(&str, u64); 16] = [
        ("read_id", 0),
        ("read_id_enabled", read_format::ENABLED),
        ("read_id_running", read_format::RUNNING),
        ("read_id_times", TIMES),
        ("read_group_id", read_format::GROUP),
        ("read_group_id_enabled", read_format::GROUP | read_format::ENABLED),
        ("read_group_id_running", read_format::GROUP | read_format::RUNNING),
        ("read_group_id_times", read_format::GROUP | TIMES),
        ("read_lost_id", read_format::LOST),
        ("read_lost_id_enabled", read_format::LOST | read_format::ENABLED),
        ("read_lost_id_running", read_format::LOST | read_format::RUNNING),
        ("read_lost_id_times", read_format::LOST | TIMES),
        ("read_lost_group_id", LOST_GROUP),
        ("read_lost_group_id_enabled", LOST_GROUP | read_format::ENABLED),
        ("read_lost_group_id_running", LOST_GROUP | read_format::RUNNING),
        ("read_lost_group_id_times", LOST_GROUP | TIMES),
    ];
    const TIMES: u64 = read_format::ENABLED | read_format::RUNNING;
    const LOST_GROUP: u64 = read_format::LOST | read_format::GROUP;
    let one = |(name, format): (&'static str, u64)| {
        let sample_type = bit::IDENTIFIER | bit::IP | bit::TID | bit::TIME | bit::READ;
        let format = format | read_format::ID;
        let attr = Attr::cpu_clock(sample_type).with_read_format(format).with_ids(&[11]);
        let mut recording = Recording::new(Little, vec![attr]);
        let mut maker = recording.maker(0);
        recording.extend([maker.comm("forge"), maker.sample(), maker.sample()]);
        Clean::new(name, &recording)
    };
    NAMES.into_iter().map(one).collect()
}

/// Compressed records in one frame.
fn compressed() -> Vec<Clean> {
    let packed = |wrapper, cuts: &[usize]| {
        let mut recording =
            Recording::new(Little, vec![Attr::cpu_clock(USUAL).with_ids(&[11, 12])]);
        let mut maker = recording.maker(0);
        recording.push(maker.comm("forge"));
        recording.pack(wrapper, vec![maker.mmap2(), maker.sample(), maker.sample()], cuts);
        recording.push(maker.finished_round());
        recording.pack(wrapper, vec![maker.sample(), maker.sample()], &[]);
        recording.push(maker.finished_round());
        recording.features([6, feature::COMPRESSED]);
        recording
    };
    let mut piped = Recording::pipe(Little, vec![Attr::cpu_clock(USUAL).with_ids(&[11])]);
    piped.feature(feature::COMPRESSED);
    let mut maker = piped.maker(0);
    piped.push(maker.comm("forge"));
    piped.pack(Wrapper::Compressed, vec![maker.sample(), maker.sample()], &[20]);
    piped.push(maker.finished_round());
    let newer = |name, cuts: &[usize]| {
        Clean::new(name, &packed(Wrapper::Compressed2, cuts)).refused(refusal::NEWER_USER_RECORDS)
    };
    let mut tight = Recording::new(Little, vec![Attr::cpu_clock(USUAL).with_ids(&[11, 12])]);
    let mut maker = tight.maker(0);
    tight.pack(Wrapper::Compressed, vec![maker.comm("forge"), maker.sample()], &[]);
    tight.feature_with(feature::COMPRESSED, compressed_section(Little, 65 * 4096));
    vec![
        Clean::new("compressed", &packed(Wrapper::Compressed, &[])),
        Clean::new("compressed_spanning", &packed(Wrapper::Compressed, &[30, 115])),
        Clean::new("compressed_smaller_ring", &tight),
        Clean::new("compressed_pipe", &piped),
        newer("compressed2", &[]),
        newer("compressed2_spanning", &[30, 115]),
    ]
}

/// The same on a big-endian machine. Each feature table has HOSTNAME: perf takes this bit as
/// proof that it swapped the bitmap correctly; without it, perf keeps only BUILD_ID.
fn big_endian() -> Vec<Clean> {
    let plain = || small(Big, Attr::cpu_clock(USUAL | bit::CPU));
    let mut old = small(Big, Attr::cpu_clock(USUAL).with_size(64));
    old.mode = Mode::Old;
    let mut features = plain();
    features.hole = true;
    features.features([2, 3, 6, 7, 11, 12, 13, 14, 16, 20, 21, 22]);
    let mut packed = Recording::new(Big, vec![Attr::cpu_clock(USUAL).with_ids(&[11])]);
    let mut maker = packed.maker(0);
    packed.push(maker.comm("forge"));
    packed.pack(Wrapper::Compressed, vec![maker.sample(), maker.sample()], &[20]);
    packed.feature(3).feature(feature::COMPRESSED);
    let mut piped_features = pipe(Big);
    piped_features.feature(3);
    vec![
        Clean::new("big_plain", &plain()),
        Clean::new("big_old_header", &old),
        Clean::new("big_features", &features),
        Clean::new("big_every_kernel_record", &every_kernel_record(Big)),
        Clean::new("big_sample_everything", &small(Big, sampling_everything())),
        Clean::new("big_stat", &stat(Big)),
        Clean::new("big_tracepoint", &tracepoint(Big)),
        Clean::new("big_auxtrace", &auxtrace(Big)),
        Clean::new("big_compressed", &packed),
        Clean::new("big_pipe", &pipe(Big)),
        Clean::new("big_pipe_features", &piped_features),
    ]
}

/// A recording that is a directory, `perf record --threads`: file names and bytes. `data` is a
/// file with DIR_FORMAT; `data.0` and `data.1` hold records alone. Two samples are in each.
pub fn directory() -> Vec<(&'static str, Vec<u8>)> {
    let mut main = Recording::new(Little, vec![Attr::cpu_clock(USUAL).with_ids(&[11, 12])]);
    let mut maker = main.maker(0);
    main.push(maker.comm("forge")).push(maker.mmap2()).push(maker.finished_init());
    main.features([6, feature::DIR_FORMAT]);
    let mut raw = || {
        let samples = [maker.sample(), maker.sample()];
        samples.iter().flat_map(|record| record.encode(Little)).collect::<Vec<u8>>()
    };
    let (first, second) = (raw(), raw());
    vec![("data", main.build().bytes), ("data.0", first), ("data.1", second)]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::judge::perf::Perf;

    #[test]
    fn names_are_unique_and_recordings_small() {
        let names: BTreeSet<_> = clean().iter().map(|clean| clean.name).collect();
        assert_eq!(names.len(), clean().len());
        for (name, bytes) in all() {
            assert!(bytes.len() <= 4608, "{name} has {} bytes", bytes.len());
        }
    }

    #[test]
    fn records_tile_the_data_and_sections_the_rest() {
        for Clean { name, built, .. } in clean() {
            let mut at = built.data.start;
            for record in &built.records {
                assert_eq!(record.offset, at, "{name}");
                at = record.range().end;
            }
            assert_eq!(at, built.data.end, "{name}");
            let ends = built.features.iter().map(|feature| feature.section.end);
            let end = ends.chain(built.attr_spans.iter().map(|span| span.end)).chain([at]).max();
            assert_eq!(end, Some(built.bytes.len()), "{name}");
            let expanded = built.expanded_records.last().map_or(0, |record| record.range().end);
            assert_eq!(expanded, built.expanded.len(), "{name}");
        }
    }

    #[test]
    fn perf_counts_the_samples_of_every_judged_recording_and_refuses_the_others() {
        let Some(perf) = Perf::find_or_skip() else { return };
        let folder = tempfile::tempdir().unwrap();
        for clean in clean() {
            let path = folder.path().join(clean.name);
            std::fs::write(&path, &clean.built.bytes).unwrap();
            let verdict = perf.samples(&path);
            let agrees = verdict.is_success() && verdict.count == clean.lines;
            if clean.judged() {
                assert!(agrees, "{}: {} lines are due: {verdict:?}", clean.name, clean.lines);
            } else if perf.version().starts_with("6.1.") {
                assert!(!agrees, "{}: {:?} no longer holds", clean.name, clean.refused);
            }
        }
        let parts = folder.path().join("directory");
        std::fs::create_dir(&parts).unwrap();
        for (name, bytes) in directory() {
            std::fs::write(parts.join(name), bytes).unwrap();
        }
        let verdict = perf.samples(&parts);
        assert!(verdict.is_success() && verdict.count == 4, "{verdict:?}");
    }

    #[test]
    fn perf_shows_nothing_of_a_crashed_recording() {
        let Some(perf) = Perf::find_or_skip() else { return };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("crashed");
        std::fs::write(&path, by_name("every_feature").built.crashed()).unwrap();
        let verdict = perf.samples(&path);
        assert_eq!((verdict.is_success(), verdict.count), (false, 0), "{verdict:?}");
    }
}
