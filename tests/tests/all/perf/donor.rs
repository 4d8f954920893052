//! Crashed recordings of tracepoints, and what a donor can give them.

use std::path::Path;

use tracemend::{Options, Outcome, Safety};
use tracemend_tests::forge::perf::feature::{
    TRACEPOINT_NAME, TRACEPOINT_NUMBER, tracepoint_raw, tracing_data,
};
use tracemend_tests::forge::perf::{Attr, Mode, Order, Recording, by_name, sample_type};
use tracemend_tests::judge::perf::Perf;
use tracemend_tests::mended::{mended, mended_from};
use tracemend_tests::properties::donor::{self, MACHINE, on_machine};
use tracemend_tests::sweep::is_left_to_the_gate;

const TRACED_TYPE: u64 = sample_type::TID | sample_type::TIME | sample_type::ID | sample_type::RAW;

#[test]
fn a_donor_restores_the_descriptions_in_both_byte_orders() {
    let perf = Perf::find_or_skip();
    let folder = tempfile::tempdir().unwrap();
    let text = |bytes: &[u8]| {
        let path = folder.path().join("judged.data");
        std::fs::write(&path, bytes).unwrap();
        let verdict = perf.as_ref()?.script_text(&path);
        assert!(verdict.is_success(), "{}", verdict.stderr);
        Some(verdict.stdout)
    };
    let wanted = text(&donor::traced(Order::Little, tracing_data(Order::Little)).bytes);
    for order in [Order::Little, Order::Big] {
        let tracing = tracing_data(order);
        let whole = donor::traced(order, tracing.clone());
        let (repair, target) = mended_from(&whole.crashed(), &whole.bytes, &Options::default());
        assert_eq!(repair.outcome, Outcome::Repaired, "{:?}", repair.after.findings());
        assert!(repair.after.findings().is_empty(), "{:?}", repair.after.findings());
        assert!(target.windows(tracing.len()).any(|window| window == tracing));
        let text = text(&target);
        assert_eq!(text, wanted, "{order:?}");
        assert!(text.is_none_or(|text| text.matches("prev_pid=").count() == 2));
    }
}

#[test]
fn a_donor_that_does_not_fit_is_refused_with_the_reason() {
    let order = Order::Little;
    let tracing = tracing_data(order);
    let whole = donor::traced(order, tracing.clone());
    let text = |from: &str, to: &str| {
        let at = tracing.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
        let mut bytes = tracing.clone();
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        donor::traced(order, bytes).bytes
    };
    let small = Options::default();
    let mut tight = Options::default();
    tight.limits.set(&tracemend::limits::WINDOW, 512);
    let cut = tracing[..200].to_vec();
    let cases = [
        (b"at\x00".to_vec(), &small, "it is not a perf.data file with a header of sections"),
        (
            by_name("pipe").built.bytes,
            &small,
            "it is not a perf.data file with a header of sections",
        ),
        (donor::traced(Order::Big, tracing_data(Order::Big)).bytes, &small, "the other byte order"),
        (by_name("plain").built.bytes, &small, "it has no TRACING_DATA"),
        (whole.crashed(), &small, "its feature table is invalid: repair the donor first"),
        (
            donor::traced(order, cut).bytes,
            &small,
            "TRACING_DATA is malformed: truncated tracing.format",
        ),
        (donor::traced(order, tracing_data(Order::Big)).bytes, &small, "its kernel has the other"),
        (whole.bytes.clone(), &tight, "bytes, more than the limit of 512"),
        (text("ID: 316", "ID: 317"), &small, "it does not describe tracepoint 316 of attrs[0]"),
        (
            text(
                "offset:8;\tsize:4;\tsigned:1;\n\nprint",
                "offset:8;\tsize:9;\tsigned:1;\n\nprint",
            ),
            &small,
            "tracepoint 316 is `sched_switch` of size 20, but samples of attrs[0] have 12",
        ),
        (
            text(
                "offset:8;\tsize:4;\tsigned:1;\n\nprint",
                "offset:2;\tsize:1;\tsigned:1;\n\nprint",
            ),
            &small,
            "",
        ),
    ];
    for (donor, options, why) in cases {
        let (repair, _) = mended_from(&whole.crashed(), &donor, options);
        if why.is_empty() {
            // 8 bytes of fields make 12 of raw data too.
            assert_eq!(repair.outcome, Outcome::Repaired);
            continue;
        }
        assert_eq!(repair.outcome, Outcome::CannotRepair, "{why}");
        let left = repair.after.findings().iter().find(|f| f.rule.code == "PD0019").unwrap();
        let fix = left.fix.as_ref().unwrap();
        assert!(fix.edits.is_empty());
        assert!(fix.summary.starts_with("the donor cannot be used: "), "{}", fix.summary);
        assert!(fix.summary.contains(why), "{} instead of {why}", fix.summary);
    }
}

#[test]
fn a_donor_restores_the_descriptions_of_a_pipe() {
    let perf = Perf::find_or_skip();
    let folder = tempfile::tempdir().unwrap();
    let order = Order::Little;
    let donor = donor::traced(order, tracing_data(order)).bytes;
    let attr = Attr::tracepoint(TRACED_TYPE, TRACEPOINT_NUMBER, TRACEPOINT_NAME);
    let build = |tracing: Option<Vec<u8>>| {
        let mut recording = Recording::pipe(order, vec![attr.clone().with_ids(&[61])]);
        let mut maker = recording.maker(0);
        tracing.iter().for_each(|tracing| {
            recording.push(maker.tracing_data(tracing));
        });
        recording.push(maker.sample_with(|sample| sample.raw = tracepoint_raw(order)));
        recording.build().bytes
    };
    let whole = build(Some(tracing_data(order)));
    let mut torn = tracing_data(order);
    let at = torn.windows(7).position(|window| window == b"format:").unwrap();
    torn[at - 20..].fill(0);
    for (damaged, outcome) in
        [(build(None), Outcome::Repaired), (build(Some(torn)), Outcome::RepairedWithLoss)]
    {
        let (repair, target) = mended_from(&damaged, &donor, &Options::default());
        assert_eq!(repair.outcome, outcome, "{:?}", repair.after.findings());
        assert_eq!(target, whole);
        let Some(perf) = &perf else { continue };
        let path = folder.path().join("repaired");
        std::fs::write(&path, &target).unwrap();
        let verdict = perf.script_text(&path);
        assert!(verdict.is_success(), "{}", verdict.stderr);
        assert_eq!(verdict.stdout.matches("prev_pid=").count(), 1, "{}", verdict.stdout);
    }
    let other = donor::traced(order, tracing_data(Order::Big)).bytes;
    let (refused, _) = mended_from(&build(None), &other, &Options::default());
    assert_eq!(refused.outcome, Outcome::CannotRepair);
}

#[test]
fn only_recordings_of_tracepoints_ask_the_donor() {
    let plain = by_name("plain").built;
    let (with, target) = mended_from(&plain.crashed(), b"no recording", &Options::default());
    assert_eq!(with.outcome, Outcome::Repaired);
    let (_, without) = mended(&plain.crashed());
    assert_eq!(target, without);
}

#[test]
fn a_damaged_donor_is_used_completely_or_not_at_all() {
    let tracing = tracing_data(Order::Little);
    for at in tracemend_tests::sweep::Share::one_in(16).of(0..tracing.len()) {
        donor::holds(&tracing[..at]).unwrap();
        let mut flipped = tracing.clone();
        flipped[at] ^= 1 << (at % 8);
        donor::holds(&flipped).unwrap();
    }
}

#[test]
fn a_donor_of_the_same_machine_gives_what_describes_it() {
    let donor = on_machine(MACHINE, 0x8100_0000);
    let other_host = on_machine(MACHINE, 0x8100_0000).without_feature(4);
    for (crashed, kept) in [
        (on_machine(&[], 0x8100_0000).crashed(), 0),
        // Features that are left stay as they are.
        (on_machine(&[3, 5, 21], 0x8100_0000).bytes, 3),
        (other_host, MACHINE.len() - 1),
    ] {
        let (repair, target) = mended_from(&crashed, &donor.bytes, &Options::default());
        assert_eq!(repair.outcome, Outcome::Repaired, "{:?}", repair.after.findings());
        assert!(repair.after.findings().is_empty(), "{:?}", repair.after.findings());
        let flags = u64::from_le_bytes(target[72..80].try_into().unwrap());
        assert!(MACHINE.iter().all(|bit| flags & 1 << bit != 0), "{flags:#x}, {kept} kept");
        let name = b"Forged CPU";
        assert!(target.windows(name.len()).any(|window| window == name));
        let (again, _) = mended_from(&target, &donor.bytes, &Options::default());
        assert_eq!(again.outcome, Outcome::Clean);
    }
}

#[test]
fn a_donor_of_another_machine_gives_nothing_and_says_why() {
    let donor = on_machine(MACHINE, 0x8100_0000);
    let mut other = on_machine(&[3], 0x8100_0000).bytes;
    let host = other.windows(5).rposition(|window| window == b"forge").unwrap();
    other[host] = b'g';
    let moved = "its kernel does not lie where that of the recording does";
    for (crashed, why) in [
        (on_machine(&[], 0x8200_0000).crashed(), moved),
        // Without the right to see it, perf writes the address 0.
        (on_machine(&[], 0).crashed(), moved),
        (other, "its HOSTNAME is not that of the recording"),
    ] {
        let (repair, target) = mended_from(&crashed, &donor.bytes, &Options::default());
        let (_, alone) = mended(&crashed);
        assert_eq!(target, alone);
        let findings = repair.after.findings();
        let fixes = findings.iter().filter_map(|finding| finding.fix.as_ref());
        let fixes: Vec<&str> = fixes.map(|fix| fix.summary.as_ref()).collect();
        assert_eq!(fixes, [format!("the donor cannot be used: {why}")]);
    }
}

/// Returns a recording as a recorder leaves it that is killed: no data.size, no features.
fn killed(whole: &[u8]) -> Vec<u8> {
    let word = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().unwrap());
    let end = usize::try_from(word(40) + word(48)).unwrap();
    let mut killed = whole[..end].to_vec();
    killed[48..56].fill(0);
    killed
}

#[test]
fn a_real_crashed_recording_gets_host_and_build_ids_from_a_donor() {
    if is_left_to_the_gate("a real crashed recording gets host and build ids from a donor") {
        return;
    }
    let Some(perf) = Perf::find_or_skip() else { return };
    let folder = tempfile::tempdir().unwrap();
    let record = |name: &str| {
        let path = folder.path().join(name);
        perf.record(&["-e", "cpu-clock"], &["/usr/bin/sort", "/etc/services"], &path).unwrap();
        std::fs::read(&path).unwrap()
    };
    let (whole, donor) = (record("whole"), record("donor"));
    let (repair, target) = mended_from(&killed(&whole), &donor, &Options::default());
    assert_eq!(repair.outcome, Outcome::Repaired, "{:?}", repair.after.findings());
    let mended = folder.path().join("repaired");
    std::fs::write(&mended, target).unwrap();
    let lines = |path: &Path, wanted: &str| {
        let verdict = perf.header(path);
        assert!(verdict.is_success(), "{}", verdict.stderr);
        let lines = verdict.stdout.lines().filter(|line| line.starts_with(wanted));
        lines.map(str::to_string).collect::<Vec<_>>()
    };
    for name in ["# hostname", "# os release", "# arch", "# nrcpus online", "# cpuid"] {
        let wanted = lines(&folder.path().join("whole"), name);
        assert_eq!(wanted.len(), 1, "{name}");
        assert_eq!(lines(&mended, name), wanted);
    }
}

#[test]
fn a_real_crashed_recording_of_tracepoints_reads_as_before_with_a_donor() {
    if is_left_to_the_gate("a real crashed recording of tracepoints reads as before with a donor") {
        return;
    }
    let Some(perf) = Perf::find_or_skip() else { return };
    let folder = tempfile::tempdir().unwrap();
    let events =
        ["-e", "sched:sched_process_exec,sched:sched_process_exit,sched:sched_process_fork"];
    let record = |name: &str, events: &[&str], workload: &[&str]| {
        let path = folder.path().join(name);
        let recorded = perf.record(events, workload, &path);
        recorded.map(|()| std::fs::read(&path).unwrap())
    };
    let whole = match record("whole", &events, &["/usr/bin/env", "/usr/bin/true"]) {
        Ok(whole) => whole,
        Err(why) => {
            tracemend_tests::notice::skip("perf record of tracepoints", &why);
            return;
        }
    };
    let donor = record("donor", &events, &["/usr/bin/true"]).unwrap();
    let other = record("other", &["-e", "sched:sched_switch"], &["/usr/bin/true"]).unwrap();
    let crashed = killed(&whole);
    let (repair, target) = mended_from(&crashed, &donor, &Options::default());
    assert_eq!(repair.outcome, Outcome::Repaired, "{:?}", repair.after.findings());
    let text = |path: &Path| {
        let verdict = perf.script_text(path);
        assert!(verdict.is_success(), "{}", verdict.stderr);
        verdict.stdout
    };
    let again = folder.path().join("again");
    std::fs::write(&again, target).unwrap();
    let wanted = text(&folder.path().join("whole"));
    assert!(wanted.contains("sched_process_exec: filename="), "{wanted}");
    assert_eq!(text(&again), wanted);

    let (refused, _) = mended_from(&crashed, &other, &Options::default());
    assert_eq!(refused.outcome, Outcome::CannotRepair);
}

#[test]
fn a_header_without_feature_bits_has_no_place_for_the_descriptions() {
    let order = Order::Little;
    let attr = Attr::tracepoint(TRACED_TYPE, TRACEPOINT_NUMBER, TRACEPOINT_NAME);
    let mut recording = Recording::new(order, vec![attr.with_ids(&[61])]);
    recording.mode = Mode::Old;
    let sample = recording.maker(0).sample_with(|sample| sample.raw = tracepoint_raw(order));
    let old = recording.push(sample).build().bytes;
    let donor = donor::traced(order, tracing_data(order)).bytes;
    let (repair, target) = mended_from(&old, &donor, &Options::default());
    assert_eq!((repair.outcome, target), (Outcome::CannotRepair, old));
    let left = repair.after.findings().iter().find(|f| f.rule.code == "PD0019").unwrap();
    assert_eq!(left.fix.as_ref().unwrap().safety, Safety::Manual);
}
