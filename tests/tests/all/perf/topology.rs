//! NRCPUS and CPU_TOPOLOGY, which perf reads by each other.

use std::ops::Range;
use std::path::Path;

use tracemend::{Outcome, Safety, Severity};
use tracemend_tests::mended::mended;

/// Numbers of features.
const NRCPUS: u32 = 7;
const CPU_TOPOLOGY: u32 = 13;

fn corpus(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean");
    std::fs::read(folder.join(name)).unwrap()
}

fn number(bytes: &[u8], at: usize) -> usize {
    usize::try_from(u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())).unwrap()
}

/// Returns the section of a feature of a little-endian file.
fn section(bytes: &[u8], bit: u32) -> Range<usize> {
    let flags = u64::from_le_bytes(bytes[72..80].try_into().unwrap());
    let before = usize::try_from((flags & ((1 << bit) - 1)).count_ones()).unwrap();
    let entry = number(bytes, 40) + number(bytes, 48) + before * 16;
    number(bytes, entry)..number(bytes, entry) + number(bytes, entry + 8)
}

#[test]
fn a_damaged_number_of_cpus_gets_the_value_that_explains_the_topology() {
    // Without compressed records perf only prints less.
    for (name, code, severity) in
        [("zstd.data", "PD2006", Severity::Error), ("plain.data", "PD2004", Severity::Warning)]
    {
        let bytes = corpus(name);
        let place = section(&bytes, NRCPUS);
        for bit in 0..32 {
            let mut damaged = bytes.clone();
            damaged[place.start + bit / 8] ^= 1 << (bit % 8);
            let (repair, target) = mended(&damaged);
            let found: Vec<_> =
                repair.before.findings().iter().map(|one| (one.rule.code, one.severity)).collect();
            assert_eq!(found, [(code, severity)], "{name}, bit {bit}");
            assert_eq!((repair.outcome, repair.safety()), (Outcome::Repaired, Some(Safety::Exact)));
            assert!(target == bytes, "{name}, bit {bit}");
        }
    }
}

#[test]
fn a_socket_above_the_number_of_cpus_ends_what_perf_reads() {
    for (name, code) in [("zstd.data", "PD2006"), ("plain.data", "PD2004")] {
        let bytes = corpus(name);
        let cpus = usize::try_from(u32::from_le_bytes(
            bytes[section(&bytes, NRCPUS)][..4].try_into().unwrap(),
        ))
        .unwrap();
        let topology = section(&bytes, CPU_TOPOLOGY);
        // One list of dies with a text of 64 bytes, and the die of each CPU end the section.
        let socket = topology.end - cpus * 4 - 4 - 4 - 64 - 4;
        let mut damaged = bytes.clone();
        damaged[socket + 1] = 1;
        let (repair, _) = mended(&damaged);
        let codes: Vec<_> = repair.before.counts().keys().copied().collect();
        assert_eq!(codes, [code], "{name}");
    }
}

#[test]
fn zeros_in_the_topology_say_nothing_about_the_number_of_cpus() {
    for name in ["zstd.data", "plain.data"] {
        let bytes = corpus(name);
        let topology = section(&bytes, CPU_TOPOLOGY);
        for start in topology.clone().step_by(4) {
            let mut damaged = bytes.clone();
            damaged[start..topology.end].fill(0);
            let (repair, _) = mended(&damaged);
            let mut found = repair.before.findings().iter();
            assert!(found.all(|one| one.path != "features.NRCPUS"), "{name} from {start:#x}");
        }
    }
}
