//! Damages sound traces in every container, repairs them, and counts the calls that survive:
//!
//! ```sh
//! cargo run --release -p tracemend-tools --bin apitrace_campaign -- \
//!     single 300 1 gears.trace glxinfo.trace
//! cargo run --release -p tracemend-tools --bin apitrace_campaign -- compound 100 1 *.trace
//! cargo run --release -p tracemend-tools --bin apitrace_campaign -- silent 500 1 *.trace
//! cargo run --release -p tracemend-tools --bin apitrace_campaign -- aborts 500 1 *.trace
//! ```
//!
//! `single N SEED TRACE...` makes one damage per case, N cases per container, and prints the table
//! of containers and kinds: how many calls are right, those of them whose bytes can still be read
//! from the file ("left"), those of them whose definitions can be read, too ("defined"), calls
//! that are shown otherwise, right ones that the report says may be wrong ("in doubt"), in per
//! cent, and how many of those that are shown otherwise it does not say so of ("unsaid"); the calls
//! that apitrace reads by itself, in per cent; then in how
//! many cases it keeps fewer calls than apitrace reads, and the sums of the calls that apitrace
//! shows and the repair does not ("missed"), that never were ("invented") and that are more than
//! the sound trace had ("excess"). `compound N SEED TRACE...` makes 1 to 8 damages per case.
//! `silent N SEED TRACE...` flips a bit of the expanded stream per case: which flips that apitrace
//! shows does the check not find? `aborts N SEED TRACE...` flips a bit per case, too: at which
//! flips does a command of apitrace fail (dump, info, trim, replay, replay with a dump of the
//! state) although the check gives no error? Traces of few calls are the best. APITRACE_LIST=1
//! lists them, and has the files of all cases kept. Each case prints its number; a case depends on
//! nothing but the seed, its number and the traces. The files of cases that are given up, refused
//! by apitrace, below its own reading, or that lose more than 1 % of the calls although these
//! could be read go to the folder APITRACE_KEEP, if it is set, and so do those with missed,
//! invented or excess calls. APITRACE_CONTAINER names the only container to be damaged,
//! APITRACE_KIND the only kind of damage.
#![allow(
    clippy::as_conversions,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::indexing_slicing,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::collections::BTreeMap;
use std::path::Path;

use tracemend::Options;
use tracemend_tests::judge::apitrace::aborts;
use tracemend_tests::judge::apitrace::silent::{self, Change};
use tracemend_tests::judge::apitrace::survival::{
    CHUNK_KINDS, CONTAINERS, Damaged, KINDS, Numbers, Original, Survival, damage,
};
use tracemend_tests::judge::apitrace::{Apitrace, Recorder};

/// The sums of a line of the table.
#[derive(Default)]
struct Sums {
    cases: usize,
    /// Shares of the calls, which count each case alike.
    right: f64,
    other: f64,
    by_apitrace: f64,
    /// Right calls of all cases together, those of them that are in doubt, and calls that are shown
    /// otherwise and are not.
    doubts: [usize; 3],
    /// Calls whose bytes are left, and those of them that are right, of all cases together.
    left: [usize; 2],
    /// The same for those whose definitions are left, too.
    defined: [usize; 2],
    /// Calls that are missed, invented and in excess.
    wrong: [usize; 3],
    /// Cases with fewer right calls than apitrace reads, given up, and refused by it.
    failed: [usize; 3],
}

impl Sums {
    fn add(&mut self, one: &Survival) {
        let share = |part: usize| 100.0 * part as f64 / one.calls.max(1) as f64;
        self.cases += 1;
        self.right += share(one.right);
        self.other += share(one.other);
        self.by_apitrace += share(one.by_apitrace);
        let doubts = [one.right, one.doubts.right, one.doubts.unsaid];
        self.doubts.iter_mut().zip(doubts).for_each(|(sum, count)| *sum += count);
        self.left = [self.left[0] + one.left.all, self.left[1] + one.left.right];
        let [defined, right] = self.defined;
        self.defined = [defined + one.defined.all, right + one.defined.right];
        let wrong = [one.faults.missed, one.faults.invented, one.faults.excess];
        self.wrong.iter_mut().zip(wrong).for_each(|(sum, count)| *sum += count);
        let failed = [one.right < one.by_apitrace, one.is_given_up, one.is_refused];
        self.failed.iter_mut().zip(failed).for_each(|(sum, is)| *sum += usize::from(is));
    }

    fn line(&self, name: &str) -> String {
        let mean = |sum: f64| sum / self.cases.max(1) as f64;
        let share = |[all, part]: [usize; 2]| match all {
            0 => "-".to_string(),
            _ => format!("{:.1}", 100.0 * part as f64 / all as f64),
        };
        let (of_left, of_defined) = (share(self.left), share(self.defined));
        let [missed, invented, excess] = self.wrong;
        let [below, given_up, refused] = self.failed;
        let [right, doubted, unsaid] = self.doubts;
        let in_doubt = share([right, doubted]);
        format!(
            "{name:38} {:5} {:7.1} {of_left:>7} {of_defined:>7} {:7.1} {in_doubt:>8} {unsaid:6} \
             {:8.1} {:5} {missed:7} {invented:8} {excess:7} {:8} {:7}",
            self.cases,
            mean(self.right),
            mean(self.other),
            mean(self.by_apitrace),
            below,
            given_up,
            refused
        )
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [verb, count, seed, paths @ ..] = arguments.as_slice() else {
        panic!("usage: apitrace_campaign single|compound|silent|aborts N SEED TRACE...");
    };
    let (count, seed): (usize, u64) = (count.parse().unwrap(), seed.parse().unwrap());
    let judge = Apitrace::find().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let originals: Vec<Original> =
        paths.iter().map(|path| Original::read(&judge, Path::new(path), folder)).collect();
    match verb.as_str() {
        "silent" => return flip_all(&judge, &originals, (count, seed), folder),
        "aborts" => return abort_all(&judge, &originals, (count, seed), folder),
        _ => {}
    }
    let keep = std::env::var_os("APITRACE_KEEP");
    let mut table: BTreeMap<String, Sums> = BTreeMap::new();
    let only = std::env::var("APITRACE_CONTAINER").ok();
    let only_kind = std::env::var("APITRACE_KIND").ok();
    for container in CONTAINERS {
        if only.as_ref().is_some_and(|only| only != container) {
            continue;
        }
        for case in 0..count {
            let mut numbers = Numbers::of(seed.wrapping_mul(1_000_003).wrapping_add(case as u64));
            let original = &originals[numbers.below(originals.len())];
            let mut bytes = Damaged::of(original, container);
            let kind = match (&only_kind, verb.as_str()) {
                (Some(kind), _) => kind.clone(),
                (None, "single") => {
                    let kinds = kinds_of(container);
                    kinds[case % kinds.len()].to_string()
                }
                _ => format!("{} damages", 1 + numbers.below(8)),
            };
            let done = damage_as(&kind, &mut bytes, &mut numbers);
            let survival = original.judge(&judge, &bytes, &Options::default(), folder);
            let faults = survival.faults;
            let is_remarkable = survival.is_given_up
                || survival.is_refused
                || survival.left.right + survival.calls / 100 < survival.left.all
                || survival.right < survival.by_apitrace
                || std::env::var_os("APITRACE_LIST").is_some()
                || faults.missed + faults.invented + faults.excess > 0;
            if let Some(keep) = keep.as_ref().filter(|_| is_remarkable) {
                let name = format!("{container}-{verb}-{seed}-{case}.trace");
                std::fs::write(Path::new(keep).join(name), &bytes.bytes).unwrap();
            }
            eprintln!("{container} {case} {} {done}: {survival:?}", original.name);
            table.entry(format!("{container}, all")).or_default().add(&survival);
            table.entry(format!("{container}, {kind}")).or_default().add(&survival);
        }
    }
    println!("seed {seed}, traces {paths:?}");
    print_table(&table);
}

fn print_table(table: &BTreeMap<String, Sums>) {
    println!(
        "{:38} {:>5} {:>7} {:>7} {:>7} {:>7} {:>8} {:>6} {:>8} {:>5} {:>7} {:>8} {:>7} {:>8} {:>7}",
        "container, kind",
        "cases",
        "right %",
        "of left",
        "defined",
        "other %",
        "in doubt",
        "unsaid",
        "apitrace",
        "below",
        "missed",
        "invented",
        "excess",
        "given up",
        "refused"
    );
    for (name, sums) in table {
        println!("{}", sums.line(name));
    }
}

/// Flips a bit per case and prints a table: what it changes, and whether the check finds it.
fn flip_all(judge: &Apitrace, originals: &[Original], (count, seed): (usize, u64), folder: &Path) {
    let lists = std::env::var_os("APITRACE_LIST").is_some();
    let mut table: BTreeMap<Change, [usize; 2]> = BTreeMap::new();
    for case in 0..count {
        let mut numbers = Numbers::of(seed.wrapping_mul(1_000_003).wrapping_add(case as u64));
        let original = &originals[numbers.below(originals.len())];
        let flipped = silent::flip(judge, original, &mut numbers, folder);
        let is_found = !flipped.codes.is_empty();
        table.entry(flipped.change).or_default()[usize::from(is_found)] += 1;
        if lists && !is_found && flipped.change != Change::Nothing {
            println!("{} {case} {flipped}", original.name);
        }
    }
    println!("seed {seed}, {count} flipped bits");
    println!("{:12} {:>6} {:>7}", "change", "found", "silent");
    for (change, [silent, found]) in &table {
        println!("{:12} {found:6} {silent:7}", format!("{change:?}"));
    }
    let share = |without: &[Change]| {
        let shown = table.iter().filter(|(change, _)| !without.contains(change));
        let [silent, found] = shown.fold([0, 0], |[a, b], (_, [c, d])| [a + c, b + d]);
        100.0 * silent as f64 / (silent + found).max(1) as f64
    };
    println!("silent of those that apitrace shows: {:.1} %", share(&[Change::Nothing]));
    let others = share(&[Change::Nothing, Change::Float]);
    println!("the same without numbers with a fraction: {others:.1} %");
}

/// Flips a bit per case and prints a table: which commands fail, and does the check give an error?
fn abort_all(judge: &Apitrace, originals: &[Original], (count, seed): (usize, u64), folder: &Path) {
    let recorder = Recorder::find().unwrap();
    let lists = std::env::var_os("APITRACE_LIST").is_some();
    for original in originals {
        let path = folder.join("sound.trace");
        std::fs::write(&path, original.file("snappy")).unwrap();
        let failures = aborts::failures((judge, &recorder), &path, folder);
        assert!(failures.is_empty(), "{}: {failures:?}", original.name);
    }
    let mut table: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for case in 0..count {
        let mut numbers = Numbers::of(seed.wrapping_mul(1_000_003).wrapping_add(case as u64));
        let original = &originals[numbers.below(originals.len())];
        let flipped = aborts::flip((judge, &recorder), original, &mut numbers, folder);
        let is_found = !flipped.errors.is_empty();
        for (command, _) in &flipped.failures {
            table.entry(command).or_default()[usize::from(is_found)] += 1;
        }
        if lists && !is_found && !flipped.failures.is_empty() {
            println!("{} {case} {flipped}", original.name);
        }
    }
    println!("seed {seed}, {count} flipped bits");
    println!("{:12} {:>6} {:>8}", "fails", "error", "no error");
    for (command, [silent, found]) in &table {
        println!("{command:12} {found:6} {silent:8}");
    }
}

/// Damages a file as `kind` names it, or by as many damages as it counts.
fn damage_as(kind: &str, bytes: &mut Damaged, numbers: &mut Numbers) -> String {
    let Some(count) = kind.strip_suffix(" damages") else {
        return damage(kind, bytes, numbers);
    };
    let count: usize = count.parse().unwrap();
    let done = (0..count).map(|_| damage(KINDS[numbers.below(KINDS.len())], bytes, numbers));
    done.collect::<Vec<_>>().join(", ")
}

fn kinds_of(container: &str) -> Vec<&'static str> {
    match container {
        "snappy" => [&KINDS[..], &CHUNK_KINDS].concat(),
        _ => KINDS.to_vec(),
    }
}
