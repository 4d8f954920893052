//! A night's run over many recordings, of which some shrink, vanish, hang or lie meanwhile: each
//! costs its own verdict only.

use std::collections::BTreeMap;

use serde_json::Value;

use super::*;

/// Recordings of the run.
const RECORDINGS: usize = 10_000;
/// Those that are not what they seem.
const ODD: usize = 50;
/// Every so many of the odd ones shrink; they are long, so that they are still read when they do.
const SHRINKING: usize = 20;
/// Bytes of one that shrinks.
const LONG_BYTES: usize = BIG_BYTES / 2;

/// The fate of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Sound,
    /// It is cut while it is read.
    Shrinks,
    /// It is removed while another one is read.
    Vanishes,
    /// It is a pipe that nobody writes to.
    Hangs,
    /// Its header counts more bytes than there are.
    Lies,
}

impl Fate {
    /// Returns the fate of a recording of so many. The first one shrinks, so that the rest waits.
    fn of(number: usize, all: usize) -> Self {
        let odd = number / (all / ODD);
        match (number % (all / ODD), odd % SHRINKING, odd % 3) {
            (0, 0, _) if odd < ODD => Self::Shrinks,
            (0, _, 0) if odd < ODD => Self::Vanishes,
            (0, _, 1) if odd < ODD => Self::Hangs,
            (0, ..) if odd < ODD => Self::Lies,
            _ => Self::Sound,
        }
    }

    fn write(self, path: &Path, sound: &[u8]) {
        match self {
            Self::Sound | Self::Vanishes => fs::write(path, sound).unwrap(),
            Self::Shrinks => fs::write(path, long(LONG_BYTES)).unwrap(),
            Self::Hangs => {
                assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
            }
            Self::Lies => {
                let mut bytes = sound.to_vec();
                // data.size
                bytes[48..56].fill(0xff);
                fs::write(path, bytes).unwrap();
            }
        }
    }

    /// Returns the verdict in the report; nothing if it could not be read.
    const fn verdict(self) -> Option<&'static str> {
        match self {
            Self::Sound => Some("clean"),
            Self::Shrinks | Self::Vanishes => None,
            Self::Hangs => Some("unreadable"),
            Self::Lies => Some("findings"),
        }
    }
}

#[test]
fn a_recording_that_shrinks_vanishes_hangs_or_lies_costs_no_other_its_verdict() {
    if is_left_to_the_gate(
        "a recording that shrinks vanishes hangs or lies costs no other its verdict",
    ) {
        return;
    }
    // The odd ones are as many in each run.
    let all = Share::one_in(1).count(RECORDINGS).max(10 * ODD);
    let folder = TempDir::new().unwrap();
    let sound = perf::clean().swap_remove(0).built.bytes;
    let fates: Vec<(PathBuf, Fate)> = (0..all)
        .map(|number| (folder.path().join(format!("{number:05}.data")), Fate::of(number, all)))
        .collect();
    fates.iter().for_each(|(path, fate)| fate.write(path, &sound));
    let list = folder.path().join("list");
    let names: Vec<&str> = fates.iter().map(|(path, _)| path.to_str().unwrap()).collect();
    fs::write(&list, names.join("\n")).unwrap();
    let report = folder.path().join("report");
    let words = ["check", "--format=json", "--jobs=1", "--files-from"].map(Path::new);
    let mut child = start(&[&words[..], &[&list, Path::new("-o"), &report]].concat());
    let of_fate = |wanted: Fate| fates.iter().filter(move |(_, fate)| *fate == wanted);
    for (path, _) in of_fate(Fate::Shrinks) {
        assert!(
            wait_until(&mut child, |pid| maps(pid, path)),
            "it ended before the test could act"
        );
        shrink(path);
        for (path, _) in of_fate(Fate::Vanishes) {
            _ = fs::remove_file(path);
        }
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(5), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
    let by_path = |list: &str| -> BTreeMap<String, Value> {
        let entries = report[list].as_array().unwrap().iter().cloned();
        entries.map(|one| (one["path"].as_str().unwrap().to_string(), one)).collect()
    };
    let (judged, errors) = (by_path("recordings"), by_path("errors"));
    for (path, fate) in &fates {
        let name = path.to_str().unwrap();
        let verdict = judged.get(name).and_then(|one| one["verdict"].as_str());
        assert_eq!(verdict, fate.verdict(), "{name}: {fate:?}");
        assert_eq!(errors.contains_key(name), fate.verdict().is_none(), "{name}: {fate:?}");
    }
    assert_eq!(judged.len() + errors.len(), all);
    assert_eq!(of_fate(Fate::Sound).count(), all - ODD);
}
