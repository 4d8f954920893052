//! The laws on the logs of the forge, truncated at every byte and with every byte flipped.

use arbitrary::{Arbitrary, Unstructured};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tracemend::Allow;
use tracemend_tests::forge::qemu::{Log, all};
use tracemend_tests::properties::qemu::{Description, holds, with};
use tracemend_tests::properties::{Held, guarded};
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

/// Checks the laws on every log of the forge after `change` at every byte.
fn check_everywhere(change: impl Fn(&[u8], usize) -> Vec<Vec<u8>> + Sync) {
    let logs = all();
    let half = logs.len() / 2;
    let check_log = |name: &str, log: &Log| {
        // Small logs and those with every event at each byte, the others at some bytes.
        let step = if name.ends_with("every event") || log.bytes.len() < 200 { 1 } else { 17 };
        for at in Share::one_in(16).of((0..log.bytes.len()).step_by(step)) {
            for (number, bytes) in change(&log.bytes, at).into_iter().enumerate() {
                // With and without the release and the prefix, in turn.
                let release = (at + number).is_multiple_of(2);
                let release = release.then(|| log.ids.release.to_string());
                let prefix = (at + number) / 2 % 2 == 1;
                let held: Held = guarded(|| with(&bytes, release.clone(), prefix, Allow::Lossy));
                held.unwrap_or_else(|broken| {
                    panic!("{name} at {at}, change {number}, {release:?} {prefix}: {broken}")
                });
            }
        }
    };
    let work = |logs: &[(String, Log)]| logs.iter().for_each(|(name, log)| check_log(name, log));
    std::thread::scope(|scope| {
        scope.spawn(|| work(&logs[..half]));
        work(&logs[half..]);
    });
}

fn killed(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes.iter_mut().take(4).for_each(|byte| *byte = 0);
    bytes
}

#[test]
fn the_laws_hold_for_logs_truncated_at_every_byte() {
    check_everywhere(|bytes, at| vec![bytes[..at].to_vec(), killed(&bytes[..at])]);
}

#[test]
fn the_laws_hold_for_logs_with_every_byte_flipped() {
    if is_left_to_the_gate("the laws hold for logs with every byte flipped") {
        return;
    }
    check_everywhere(|bytes, at| {
        let flip = |mask: u8| {
            let mut bytes = bytes.to_vec();
            bytes[at] ^= mask;
            bytes
        };
        vec![if at.is_multiple_of(2) { flip(0xff) } else { flip(1) }, killed(&flip(0x80))]
    });
}

proptest! {
    // The same cases each time: looking for new ones is the fuzzer's work.
    #![proptest_config(ProptestConfig {
        cases: u32::try_from(Share::one_in(8).count(3000)).unwrap(),
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_laws_hold_for_described_logs(seed in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut description = Description::arbitrary_take_rest(Unstructured::new(&seed)).unwrap();
        prop_assert_eq!(guarded(|| holds(&description)), Ok(()), "{:?}", description);
        description.damages.clear();
        prop_assert_eq!(guarded(|| holds(&description)), Ok(()), "{:?}", description);
    }
}
