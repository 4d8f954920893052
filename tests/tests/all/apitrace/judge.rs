//! apitrace itself judges repaired traces.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tracemend::FormatId;
use tracemend::kit::source::Source;
use tracemend::mend::rounds::{Repair, view};
use tracemend::{FileSet, Finding, Options, Outcome, Severity};
use tracemend_tests::forge::apitrace::{
    Container, Stream, call_heavy, chunks, snappy, structs, threaded, zstd,
};
use tracemend_tests::judge::apitrace::doubts::call_ranges;
use tracemend_tests::judge::apitrace::{Apitrace, Recorder};
use tracemend_tests::mended::mended;
use tracemend_tests::notice::skip;
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// Numbers that look random and recur.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
        (self.0 >> 33) as usize % bound
    }
}

fn succeeded(repair: &Repair) -> bool {
    matches!(repair.outcome, Outcome::Clean | Outcome::Repaired | Outcome::RepairedWithLoss)
}

#[test]
fn apitrace_reads_repaired_cuts_in_every_container_without_a_warning() {
    let Some(judge) = Apitrace::find_or_skip() else { return };
    let folder = Folder::new();
    let stream = call_heavy(400);
    let whole = judge.dump(&folder.file("whole", &Container::Snappy.file(&stream.bytes)));
    assert!(whole.is_silent() && whole.calls.len() as u64 == stream.calls(), "{}", whole.stderr);
    let mut wrong = Vec::new();
    for container in Container::ALL {
        let bytes = match container {
            // Some hundred chunks or frames.
            Container::SmallChunks => snappy(&stream.bytes, 4000),
            Container::Seekable => zstd(&stream.bytes, 4000, true),
            _ => container.file(&stream.bytes),
        };
        let mut numbers = Numbers(1);
        let (mut kept, mut judged) = (0, 0);
        let cuts = Share::one_in(20).count(200);
        for _ in 0..cuts {
            let len = 1 + numbers.below(bytes.len() - 1);
            let (repair, target) = mended(&bytes[..len]);
            if !succeeded(&repair) {
                // Before the end of the first call.
                if repair.before.tally.samples > 0 {
                    wrong.push(format!("{container:?} at {len}: {:?}", repair.after.counts()));
                }
                continue;
            }
            // apitrace 11.1 cannot read zstd: it judges the stream in another container.
            let path = match container {
                Container::Zstd | Container::Seekable => {
                    let stream =
                        tracemend::formats::apitrace::stream_bytes(&Source::new(&target), u64::MAX);
                    folder.file("cut", &Container::Snappy.file(&stream))
                }
                _ => folder.file("cut", &target),
            };
            let (dump, info) = (judge.dump(&path), judge.info(&path));
            let complete = |line: &str| !line.ends_with("// incomplete");
            let same = dump.calls.iter().filter(|(_, line)| complete(line));
            let same = same.filter(|(number, line)| whole.calls.get(*number) != Some(line)).count();
            let all = dump.calls.len() as u64 == repair.before.tally.samples;
            if !dump.is_silent() || !info.is_silent() || same > 0 || !all {
                wrong.push(format!(
                    "{container:?} at {len}: {:?} {} {same} {} of {}",
                    dump.code,
                    dump.stderr,
                    dump.calls.len(),
                    repair.before.tally.samples
                ));
            }
            (kept, judged) = (kept + dump.calls.len(), judged + 1);
        }
        eprintln!("{container:?}: {judged} of {cuts} cuts give a trace, {kept} calls in them");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Damages the bytes of a file at a place.
fn damage(kind: usize, bytes: &[u8], at: usize, bit: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    match kind {
        0 => bytes[at] ^= 1 << (bit % 8),
        1 => bytes[at..at + 4096].fill(0),
        2 => {
            let places = chunks(&bytes);
            let (start, _) = places[at % places.len()];
            bytes[start + bit % 3] ^= 1 << (bit % 8);
        }
        4 => {
            // A copy with distance 0.
            let copy = elements(&bytes).find(|one| one.copy && one.stored >= at).unwrap();
            bytes[copy.stored + 1..copy.stored + 3].fill(0);
        }
        5 => {
            // The length that a full chunk's block states.
            let places = chunks(&bytes);
            let (start, _) = places[at % (places.len() - 1)];
            bytes[start + 4 + bit % 3] ^= 1 << (bit % 6);
        }
        _ => drop(bytes.drain(at..at + 4096)),
    }
    bytes
}

const KINDS: [&str; 6] = [
    "bit flipped",
    "4 KiB zeroed",
    "length damaged",
    "4 KiB removed",
    "bad copy",
    "stated length damaged",
];

/// An element of a snappy block.
struct Element {
    /// Its tag, in the file.
    stored: usize,
    /// Its first byte, in the stream.
    stream: usize,
    /// Where the bytes of a literal begin in the file; where a copy ends.
    bytes: usize,
    /// Whether it is a copy with an offset of two bytes.
    copy: bool,
}

/// The elements of all blocks of a sound file.
fn elements(file: &[u8]) -> std::vec::IntoIter<Element> {
    let (mut all, mut stream) = (Vec::new(), 0);
    for (start, end) in chunks(file) {
        let length = file[start + 4..end].iter().position(|byte| byte & 0x80 == 0).unwrap();
        let mut stored = start + 4 + length + 1;
        while stored < end {
            let tag = usize::from(file[stored]);
            let high = tag >> 2;
            let extra = high.saturating_sub(59);
            let number = file[stored + 1..stored + 1 + extra].iter().rev();
            let number = number.fold(0, |sum, byte| sum << 8 | usize::from(*byte));
            let size = if extra == 0 { high } else { number } + 1;
            let (used, bytes, made) = match tag & 3 {
                0 => (1 + extra + size, 1 + extra, size),
                1 => (2, 2, 4 + (high & 7)),
                2 => (3, 3, high + 1),
                _ => (5, 5, high + 1),
            };
            all.push(Element { stored, stream, bytes: stored + bytes, copy: tag & 3 == 2 });
            (stored, stream) = (stored + used, stream + made);
        }
    }
    all.into_iter()
}

/// Returns how many bytes of the stream lie before `at` in a sound file.
fn stream_before(file: &[u8], at: usize) -> usize {
    let last = elements(file).take_while(|one| one.stored <= at).last();
    last.map_or(0, |one| match at.checked_sub(one.bytes) {
        Some(literal) if !one.copy => one.stream + literal,
        _ => one.stream,
    })
}

/// Counts of the calls of damaged traces.
#[derive(Debug, Default)]
struct Calls {
    /// Complete before the first damaged byte.
    before: u64,
    /// All after them.
    behind: u64,
    /// Unchanged among these.
    right: u64,
    /// Listed as suspect among the unchanged ones.
    doubted: u64,
    /// Changed among these, apart from placeholders.
    other: u64,
    /// Listed as suspect among the changed ones.
    marked: u64,
}

/// A sound trace that is damaged in many ways, and its calls as apitrace shows them.
struct Proof<'j> {
    judge: &'j Apitrace,
    folder: Folder,
    stream: Stream,
    bytes: Vec<u8>,
    whole: BTreeMap<u64, String>,
    donor: Option<Vec<u8>>,
    sums: BTreeMap<&'static str, Calls>,
    wrong: Vec<String>,
}

impl<'j> Proof<'j> {
    fn new(judge: &'j Apitrace, stream: Stream, donor: Option<&Stream>) -> Self {
        let folder = Folder::new();
        let bytes = Container::Snappy.file(&stream.bytes);
        let whole = judge.dump(&folder.file("whole", &bytes));
        assert!(whole.is_silent() && whole.calls.len() as u64 == stream.calls());
        let donor = donor.map(|donor| Container::Snappy.file(&donor.bytes));
        let (sums, wrong) = (BTreeMap::new(), Vec::new());
        Self { judge, folder, stream, bytes, whole: whole.calls, donor, sums, wrong }
    }

    /// Repairs a damaged trace and compares every call.
    fn mend(&mut self, kind: &'static str, at: usize, damaged: &[u8]) {
        let donor = self.donor.as_deref().map(Source::new);
        let files = FileSet::single("damaged", damaged).with_donor(donor);
        // The magic may be damaged.
        let options = Options { format: Some(FormatId::APITRACE), ..Options::default() };
        let repair = tracemend::repair(&files, &options);
        let target = view(&files, &repair.patches).bytes(0).pieces().collect::<Vec<_>>().concat();
        let path = self.folder.file("repaired", &target);
        let (dump, info) = (self.judge.dump(&path), self.judge.info(&path));
        if !succeeded(&repair) || !dump.is_silent() || !info.is_silent() {
            let left = repair.after.counts();
            self.wrong.push(format!("{kind} at {at}: {:?} {left:?} {}", dump.code, dump.stderr));
            return;
        }
        let faults = repair.before.findings().iter();
        // The number of bytes that are missing or too many is the cause of the fault.
        let is_cause = |code: &str| ["CM0102", "CM0103"].contains(&code);
        let is_fault = |one: &&Finding| one.severity > Severity::Info && !is_cause(one.rule.code);
        let faults = faults.filter(is_fault).count();
        if faults > 1 {
            let counts = repair.before.counts();
            self.wrong.push(format!("{kind} at {at}: one fault, {counts:?}"));
        }
        // Every call that was complete before the first damaged byte is unchanged.
        let touched = self.bytes.iter().zip(damaged).position(|(a, b)| a != b);
        let sound = stream_before(&self.bytes, touched.unwrap_or(damaged.len()));
        let early: BTreeSet<u64> = self
            .stream
            .left
            .iter()
            .filter(|(_, end)| *end <= sound)
            .map(|(call, _)| *call)
            .collect();
        let same = |number: &u64| dump.calls.get(number) == self.whole.get(number);
        let gone = early.iter().filter(|number| !same(number)).count();
        if gone > 0 {
            let all = early.len();
            self.wrong
                .push(format!("{kind} at {at}: {gone} of the {all} calls before it are gone"));
        }
        let suspect = call_ranges(&repair.before, "calls that may be wrong");
        let marked = |number: &u64| suspect.iter().any(|(from, to)| (from..=to).contains(&number));
        let sum = self.sums.entry(kind).or_default();
        sum.before += early.len() as u64;
        for number in self.whole.keys().filter(|number| !early.contains(number)) {
            sum.behind += 1;
            match dump.calls.get(number) {
                Some(_) if same(number) => {
                    sum.right += 1;
                    sum.doubted += u64::from(marked(number));
                }
                Some(found) if !found.contains("lost_call") => {
                    sum.other += 1;
                    sum.marked += u64::from(marked(number));
                }
                _ => {}
            }
        }
    }

    /// Prints the counts and returns them.
    fn end(self, name: &str) -> BTreeMap<&'static str, Calls> {
        for (kind, sum) in &self.sums {
            let Calls { before, behind, right, doubted, other, marked } = sum;
            let share = 100.0 * *right as f64 / *behind as f64;
            eprintln!(
                "{name}, {kind}: {before} calls before the damage, none lost; {share:.1} % of the \
                 {behind} after it right, {doubted} of them in doubt, {other} other ones, {marked} \
                 of them marked"
            );
        }
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
        self.sums
    }

    /// Runs a share of `count` cases, of every kind in turn, after the first `from` bytes.
    fn cases(&mut self, count: usize, from: usize) {
        let mut numbers = Numbers(7);
        for case in 0..Share::one_in(4).count(count) {
            let kind = case % KINDS.len();
            let at = from + numbers.below(self.bytes.len() - from - 4096);
            let damaged = damage(kind, &self.bytes, at, numbers.below(24));
            self.mend(KINDS[kind], at, &damaged);
        }
    }
}

#[test]
fn apitrace_reads_traces_repaired_in_the_middle_without_a_warning() {
    let Some(judge) = Apitrace::find_or_skip() else { return };
    let mut proof = Proof::new(&judge, call_heavy(12_000), Some(&call_heavy(4)));
    // After the header, whose loss is a case of its own.
    proof.cases(36, 3000);
    let sums = proof.end("one thread");
    let before: u64 = sums.values().map(|calls| calls.before).sum();
    assert!(
        before > Share::one_in(4).count(400_000) as u64,
        "{before} calls before the damage were compared"
    );
    // The rate of a prototype over all kinds; here each kind has to reach it.
    let least = sums
        .values()
        .map(|calls| (calls.before + calls.right) * 1000 / (calls.before + calls.behind))
        .min();
    assert!(least >= Some(881), "{sums:?}");
}

#[test]
fn damage_among_calls_of_several_threads_is_repaired() {
    if is_left_to_the_gate("damage among calls of several threads is repaired") {
        return;
    }
    let Some(judge) = Apitrace::find_or_skip() else { return };
    let mut proof = Proof::new(&judge, threaded(16_000), Some(&threaded(4)));
    proof.cases(24, 3000);
    let sums = proof.end("three threads");
    let least = sums.values().map(|calls| calls.right * 1000 / calls.behind).min();
    assert!(least >= Some(700), "{sums:?}");
    let (other, marked) =
        sums.values().fold((0, 0), |sum, calls| (sum.0 + calls.other, sum.1 + calls.marked));
    // A flip in a literal that gives another valid value leaves no trace.
    assert!(other - marked <= 8, "{sums:?}");
}

#[test]
fn the_loss_of_the_first_chunk_is_repaired_with_a_donor() {
    if is_left_to_the_gate("a lost first chunk of a trace, with a donor") {
        return;
    }
    let Some(judge) = Apitrace::find_or_skip() else { return };
    let streams = [
        ("one thread", call_heavy(12_000), call_heavy(4)),
        ("three threads", threaded(16_000), threaded(4)),
    ];
    for (name, stream, donor) in streams {
        let mut proof = Proof::new(&judge, stream, Some(&donor));
        let (start, end) = chunks(&proof.bytes)[0];
        let mut zeroed = proof.bytes.clone();
        zeroed[start..end].fill(0);
        let mut body = proof.bytes.clone();
        body[start + 4..end].fill(0xff);
        let mut gone = proof.bytes.clone();
        gone.drain(start..end);
        let mut half = proof.bytes.clone();
        half[start + 4..(start + end) / 2].fill(0);
        let cases = [
            ("chunk 0 zeroed", zeroed),
            ("chunk 0 overwritten", body),
            ("chunk 0 removed", gone),
            ("half of chunk 0 zeroed", half),
        ];
        for (kind, damaged) in &cases {
            proof.mend(kind, start, damaged);
        }
        let behind = proof.bytes.len() - end;
        let share = behind as u64 * 1000 / proof.bytes.len() as u64;
        for (kind, calls) in proof.end(name) {
            // All apart from those in the chunk, and some next to it.
            assert!(calls.right * 1000 / calls.behind + 10 > share, "{kind}: {calls:?}");
            assert_eq!(calls.other, calls.marked, "{kind}: {calls:?}");
        }
    }
}

#[test]
fn calls_with_structs_whose_definition_is_lost_are_read_by_their_members() {
    if is_left_to_the_gate("calls with structs whose definition is lost are read by their members")
    {
        return;
    }
    let Some(judge) = Apitrace::find_or_skip() else { return };
    // Defined in the second of three chunks, where the damage is.
    let stream = structs(40_000, 20_000);
    for donor in [None, Some(structs(4, 0))] {
        let mut proof = Proof::new(&judge, stream.clone(), donor.as_ref());
        let places = chunks(&proof.bytes);
        assert!(places.len() >= 3);
        let (start, end) = places[1];
        let mut zeroed = proof.bytes.clone();
        zeroed[start + 4..end].fill(0);
        let mut gone = proof.bytes.clone();
        gone.drain(start..end);
        for (kind, damaged) in [("chunk 1 zeroed", zeroed), ("chunk 1 removed", gone)] {
            proof.mend(kind, start, &damaged);
        }
        let last = stream.left.iter().filter(|(_, end)| *end > 2 << 20).count() as u64;
        let with_donor = proof.donor.is_some();
        for (kind, calls) in proof.end(if with_donor { "structs, donor" } else { "structs" }) {
            assert_eq!(calls.other, calls.marked, "{kind}: {calls:?}");
            // Every tenth call has a struct, which has a placeholder name without a donor.
            let least = if with_donor { last - 100 } else { last - last / 10 - 100 };
            assert!(calls.right >= least, "{kind}: {calls:?} of {last}");
            assert_eq!(calls.other > 0, !with_donor, "{kind}: {calls:?}");
        }
    }
}

#[test]
fn traces_of_programs_ended_by_any_signal_are_repaired() {
    if is_left_to_the_gate("traces of programs ended by any signal are repaired") {
        return;
    }
    let Some(judge) = Apitrace::find_or_skip() else { return };
    let Some(recorder) = Recorder::find_or_skip() else { return };
    let folder = Folder::new();
    for signal in Share::one_in(3).of([9, 15, 1, 2, 6, 11]) {
        let path = folder.0.path().join(format!("signal-{signal}.trace"));
        if let Err(why) = recorder.record(&path, signal, 300_000) {
            skip(&format!("a trace of glxgears that signal {signal} ends"), &why);
            continue;
        }
        let recorded = std::fs::read(&path).unwrap();
        let (repair, target) = mended(&recorded);
        assert!(succeeded(&repair), "signal {signal}: {:?}", repair.after.counts());
        let mended = folder.file("repaired", &target);
        let (dump, info) = (judge.dump(&mended), judge.info(&mended));
        assert!(dump.is_silent() && info.is_silent(), "signal {signal}: {}", dump.stderr);
        assert_eq!(dump.calls.len() as u64, repair.before.tally.samples, "signal {signal}");
        let replayed = recorder.replay(&judge, &mended);
        assert_eq!(replayed.code, Some(0), "signal {signal}: {}", replayed.stderr);
        let calls = dump.calls.len();
        eprintln!("signal {signal}: {:?}, {calls} calls", repair.before.counts());
    }
}

/// If definitions are lost, every changed call is listed as suspect.
#[test]
fn every_call_with_a_lost_definition_is_listed_as_suspect() {
    if is_left_to_the_gate("lost definitions of a trace that was recorded") {
        return;
    }
    let Some(judge) = Apitrace::find_or_skip() else { return };
    let Some(recorder) = Recorder::find_or_skip() else { return };
    let folder = Folder::new();
    let path = folder.0.path().join("recorded.trace");
    if let Err(why) = recorder.record(&path, 15, 1_300_000) {
        skip("lost definitions of a real trace of glxgears", &why);
        return;
    }
    let (_, recorded) = mended(&std::fs::read(&path).unwrap());
    let whole = judge.dump(&folder.file("whole", &recorded));
    let (first, end) = chunks(&recorded)[0];
    let zeroed = |from: usize, to: usize| {
        let mut bytes = recorded.clone();
        bytes[from..to].fill(0);
        bytes
    };
    let cases = [
        ("4 KiB zeroed at the start", zeroed(first + 4, first + 4100)),
        ("4 KiB zeroed after 8 KiB", zeroed(first + 8196, first + 12_292)),
        ("half of the first chunk zeroed", zeroed(first + 4, (first + end) / 2)),
        ("the first chunk zeroed", zeroed(first + 4, end)),
    ];
    let mut wrong = Vec::new();
    for (name, damaged) in Share::one_in(2).of(cases) {
        let (repair, target) = mended(&damaged);
        let dump = judge.dump(&folder.file("repaired", &target));
        if !succeeded(&repair) || !dump.is_silent() {
            wrong.push(format!("{name}: {:?} {}", repair.after.counts(), dump.stderr));
            continue;
        }
        let suspect = call_ranges(&repair.before, "calls that may be wrong");
        let marked = |number: &u64| suspect.iter().any(|(a, b)| (a..=b).contains(&number));
        let differs = |(number, line): &(&u64, &String)| {
            !line.contains("lost_call") && whole.calls.get(*number) != Some(*line)
        };
        let all: Vec<u64> = dump.calls.iter().filter(differs).map(|(number, _)| *number).collect();
        let unsaid: Vec<u64> = all.iter().copied().filter(|number| !marked(number)).collect();
        eprintln!(
            "{name}: {} of {} calls are not what they were, {} of them unsaid; {} ranges",
            all.len(),
            dump.calls.len(),
            unsaid.len(),
            suspect.len()
        );
        // The definitions are those of a known build, so nearly all calls are left.
        let is_short = dump.calls.len() * 4 < whole.calls.len() * 3;
        if !unsaid.is_empty() || is_short || suspect.len() > 32 {
            let (first, shown) = (unsaid.first(), dump.calls.len());
            let unsaid = unsaid.len();
            wrong.push(format!("{name}: {unsaid} of {shown} unsaid, {first:?}; {suspect:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn apitrace_reads_every_sound_trace_of_the_forge() {
    let Some(judge) = Apitrace::find_or_skip() else { return };
    let folder = Folder::new();
    for clean in tracemend_tests::forge::apitrace::clean() {
        for container in [Container::Snappy, Container::SmallChunks, Container::Gzip] {
            let path = folder.file("sound", &container.file(&clean.stream.bytes));
            let (dump, info) = (judge.dump(&path), judge.info(&path));
            let name = clean.name;
            assert!(dump.is_silent() && info.is_silent(), "{name} {container:?}: {}", dump.stderr);
            assert_eq!(dump.calls.len() as u64, clean.stream.calls(), "{name} {container:?}");
        }
    }
}

#[test]
fn traces_that_crash_apitrace_are_found_and_repaired() {
    let Some(judge) = Apitrace::find_or_skip() else { return };
    let folder = Folder::new();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/apitrace/crashed");
    let (mut seen, mut crashed) = (0, 0);
    for entry in std::fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "trace") {
            continue;
        }
        let (repair, target) = mended(&std::fs::read(&path).unwrap());
        let name = path.file_name().unwrap().display().to_string();
        assert!(!repair.before.findings().is_empty(), "{name} is not named");
        seen += 1;
        if !succeeded(&repair) {
            continue;
        }
        crashed += usize::from(!judge.dump(&path).is_silent());
        let mended = folder.file("repaired", &target);
        let (dump, info) = (judge.dump(&mended), judge.info(&mended));
        assert!(dump.is_silent() && info.is_silent(), "{name}: {:?} {}", dump.code, dump.stderr);
    }
    eprintln!("{seen} traces, {crashed} of which apitrace died of or complained about");
    assert!(seen >= 10);
}
