//! Counts of `perf stat record` against their maps. The files that repairs write are read by perf.

use tracemend::limits::FIXES;
use tracemend::{Options, Outcome};
use tracemend_tests::forge::perf::{
    Attr, Order, Record, Recording, feature_bit, read_format, sample_type,
};
use tracemend_tests::judge::perf::{End, Perf};
use tracemend_tests::mended::{mended, mended_as};

const ANY_CPU: u32 = u32::MAX;

/// A recording with these maps and counts of (CPU, thread).
fn with_counts(maps: impl FnOnce(&Maps) -> Vec<Record>, counts: &[(u32, u32)]) -> Vec<u8> {
    let attr = Attr::cpu_clock(sample_type::IDENTIFIER).with_ids(&[71]);
    let attr = attr.with_read_format(read_format::ID);
    let mut recording = Recording::new(Order::Little, vec![attr]);
    let maker = recording.maker(0);
    recording.extend(maps(&Maps(maker.thread_map(), maker.cpu_map(&[0, 1]))));
    recording.push(maker.stat_config());
    for (cpu, thread) in counts {
        let mut stat = maker.stat(500);
        stat.body[8..16].copy_from_slice(&[cpu.to_le_bytes(), thread.to_le_bytes()].concat());
        recording.push(stat);
    }
    recording.push(maker.stat_round(1)).features([feature_bit::STAT]);
    recording.build().bytes
}

/// A THREAD_MAP of one thread and a CPU_MAP of CPUs 0 and 1.
struct Maps(Record, Record);

impl Maps {
    fn both(&self) -> Vec<Record> {
        vec![self.0.clone(), self.1.clone()]
    }
}

/// Whether perf reads all counts. Without perf, nothing is judged.
fn is_read(perf: Option<&Perf>, bytes: &[u8]) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    std::fs::write(&path, bytes).unwrap();
    perf.is_none_or(|perf| perf.samples(&path).end == End::Code(0))
}

/// Number of counts in a file.
fn counts_in(bytes: &[u8]) -> usize {
    let header = [76, 0, 0, 0, 0, 0, 48, 0];
    bytes.windows(8).filter(|window| *window == header).count()
}

#[test]
fn counts_of_listed_cpus_and_threads_have_no_error() {
    let perf = Perf::find_or_skip();
    for bytes in [
        with_counts(Maps::both, &[(0, 0), (1, 0)]),
        with_counts(|maps| vec![maps.1.clone(), maps.0.clone()], &[(1, 0)]),
        // The second map of a kind is ignored.
        with_counts(|maps| [maps.both(), maps.both()].concat(), &[(0, 0)]),
        with_counts(Maps::both, &[]),
    ] {
        assert_eq!(mended(&bytes).0.outcome, Outcome::Clean);
        assert!(is_read(perf.as_ref(), &bytes));
    }
}

#[test]
fn a_lost_map_is_built_from_the_counts() {
    let perf = Perf::find_or_skip();
    let counts = [(0, 0), (1, 0), (0, 1), (1, 1)];
    let lost: [fn(&Maps) -> Vec<Record>; 3] =
        [|maps| vec![maps.0.clone()], |maps| vec![maps.1.clone()], |_| Vec::new()];
    for maps in lost {
        let bytes = with_counts(maps, &counts);
        let (repair, target) = mended(&bytes);
        assert_eq!(repair.before.counts().keys().collect::<Vec<_>>(), [&"PD2009"]);
        assert!(!is_read(perf.as_ref(), &bytes) || perf.is_none());
        assert!(is_read(perf.as_ref(), &target));
    }
    // A STAT_ROUND without maps crashes perf.
    let (repair, target) = mended(&with_counts(|_| Vec::new(), &[]));
    assert_eq!(repair.before.counts().keys().collect::<Vec<_>>(), [&"PD2009"]);
    assert!(is_read(perf.as_ref(), &target));
    // A map of threads that is there is kept, so counts of others are dropped.
    let (repair, target) = mended(&with_counts(|maps| vec![maps.0.clone()], &counts));
    assert_eq!((repair.outcome, counts_in(&target)), (Outcome::RepairedWithLoss, 2));
    let (repair, target) = mended(&with_counts(|maps| vec![maps.1.clone()], &counts));
    assert_eq!((repair.outcome, counts_in(&target)), (Outcome::Repaired, 4));
}

#[test]
fn a_count_of_another_cpu_or_thread_is_dropped_and_a_wrong_map_is_written_again() {
    let perf = Perf::find_or_skip();
    for (counts, left) in [
        (&[(0, 0), (1, 0), (7, 0)][..], 2),
        (&[(0, 0), (70_000, 0), (1, 0)], 2),
        (&[(0, 0), (1, 9)], 1),
        (&[(ANY_CPU, 0), (ANY_CPU, 0), (ANY_CPU, 0)], 3),
        (&[(5, 0), (6, 1), (7, 1), (8, 2)], 4),
        // A number that is damaged, too, does not decide the size of the map.
        (&[(0, u32::MAX), (1, 1 << 31), (0, 0), (1, 1 << 30)], 1),
    ] {
        let bytes = with_counts(Maps::both, counts);
        assert!(!is_read(perf.as_ref(), &bytes) || perf.is_none(), "{counts:?}");
        let (repair, target) = mended(&bytes);
        assert_eq!(repair.before.counts().keys().collect::<Vec<_>>(), [&"PD2009"], "{counts:?}");
        assert_eq!(counts_in(&target), left, "{counts:?}");
        assert!(is_read(perf.as_ref(), &target), "{counts:?}");
    }
}

#[test]
fn counts_past_the_limit_of_fixes_wait_for_the_next_round() {
    let counts = [(0, 0), (7, 0), (0, 0), (8, 0)];
    let mut options = Options::default();
    options.limits.set(&FIXES, 1);
    let (repair, target) = mended_as("perf.data", &with_counts(Maps::both, &counts), &options);
    assert_eq!((repair.outcome, counts_in(&target)), (Outcome::RepairedWithLoss, 2));
    assert_eq!(repair.applied.last().map(|applied| applied.round), Some(2));
}

#[test]
fn a_cpu_map_of_an_unknown_type_is_an_error_as_in_perf() {
    let perf = Perf::find_or_skip();
    for (kind, is_sound) in [(2, true), (3, false)] {
        let attr = Attr::cpu_clock(sample_type::IP | sample_type::TID).with_ids(&[71]);
        let mut recording = Recording::new(Order::Little, vec![attr]);
        let (comm, sample) = (recording.maker(0).comm("forge"), recording.maker(0).sample());
        let map = Record::new(74, 0, vec![kind, 0, 0, 0, 0, 0, 1, 0]);
        let bytes = recording.push(map).push(comm).push(sample).build().bytes;
        let (repair, target) = mended(&bytes);
        let codes: Vec<_> = repair.before.counts().keys().copied().collect();
        assert_eq!(codes, if is_sound { vec![] } else { vec!["PD2003"] });
        assert_eq!(is_read(perf.as_ref(), &bytes), is_sound || perf.is_none());
        assert!(is_read(perf.as_ref(), &target));
    }
}
