//! A smallest log for every rule of QEMU's logs: it breaks the rule, and the rule alone. Where the rule
//! has a fix the mended log breaks none.

use tracemend::FormatId;
use tracemend::formats::qemu::rules;
use tracemend::{FileSet, Options, Outcome, Repair, Severity};
use tracemend_tests::forge::qemu::{Log, ids};
use tracemend_tests::mended::mended_as;

/// How the log of a rule is mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cure {
    /// Without a choice.
    Plain,
    /// With `--qemu-version`.
    Version(&'static str),
    /// With `--strategy prefix`, and not without.
    Prefix,
    /// By nothing.
    None,
}

fn log(release: &str) -> Log {
    let mut log = Log::new(ids::of(release));
    log.start();
    for number in 0..10 {
        log.tick(number);
    }
    log
}

/// A log with something in its middle.
fn with(release: &str, middle: impl FnOnce(&mut Log)) -> Vec<u8> {
    let mut log = log(release);
    middle(&mut log);
    for number in 0..10 {
        log.tick(number);
    }
    log.close();
    log.bytes
}

/// A log with an asynchronous event behind a checkpoint in its middle.
fn input(release: &str, middle: impl FnOnce(&mut Log)) -> Vec<u8> {
    with(release, |log| {
        middle(log.checkpoint("CP_CLOCK_HOST"));
        log.sync().host();
    })
}

fn whole() -> Vec<u8> {
    with("11.0", |_| ())
}

fn header(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = whole();
    change(&mut bytes);
    bytes
}

/// The code of a rule, a log that breaks it, and what mends it.
fn broken() -> Vec<(&'static str, Vec<u8>, Cure)> {
    use Cure::{None, Plain, Prefix, Version};
    let closing = log("11.0").closing();
    let behind = |more: &[u8]| [&whole()[..], more].concat();
    let unfinished = log("11.0");
    vec![
        ("QR0001", vec![0, 0xe0, 0x20, 0x0d, 0, 0, 0], None),
        ("QR0002", unfinished.killed(unfinished.bytes.len() - 3), Version("11.0")),
        ("QR0003", header(|bytes| bytes[3] = 0xe1), Version("11.0")),
        ("QR0004", header(|bytes| bytes[3] = 0x0f), None),
        ("QR0005", header(|bytes| bytes[7] = 1), None),
        ("QR0006", whole(), Version("5.2")),
        ("QR1001", with("11.0", |log| _ = log.event("damage", &[99])), Prefix),
        ("QR1002", whole()[..whole().len() - 2].to_vec(), Plain),
        (
            "QR1003",
            with("11.0", |log| {
                let past = [9, 0, 0, 0, 0, 0, 0x00, 0xff, 0xff, 0xff];
                log.event("damage", &past);
            }),
            Prefix,
        ),
        ("QR1004", behind(b"left over"), Plain),
        ("QR1005", behind(&closing[1..]), Plain),
        (
            "QR1006",
            {
                let mut bytes = whole();
                let rest = with("11.0", |_| ())[12..].to_vec();
                bytes.extend(rest);
                bytes
            },
            Prefix,
        ),
        (
            "QR2001",
            input("11.0", |log| {
                log.asynchronous("ASYNC_INPUT", &[0, 0, 0, 200, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
            }),
            Prefix,
        ),
        (
            "QR2002",
            input("11.0", |log| {
                log.asynchronous("ASYNC_INPUT", &[0, 0, 0, 0, 0, 0, 0, 2, 5, 6, 7, 8, 9]);
            }),
            Prefix,
        ),
        ("QR2003", input("11.0", |log| _ = log.key(200, 1)), Prefix),
        ("QR2004", input("11.0", |log| _ = log.button(10, 1)), Prefix),
        ("QR2005", input("11.0", |log| _ = log.key(20, 2)), None),
        ("QR2006", with("11.0", |log| _ = log.char_read(200, b"x")), Prefix),
        ("QR2007", with("11.0", |log| _ = log.net(64, 0, b"x")), Prefix),
        ("QR2008", with("11.0", |log| _ = log.net(0, 2, b"x")), None),
        ("QR2009", with("11.0", |log| _ = log.instruction(0).host()), Prefix),
        ("QR2010", with("11.0", |log| _ = log.instruction(1 << 31).host()), Prefix),
        ("QR2011", with("11.0", |log| _ = log.audio_out(1 << 40)), Prefix),
        ("QR2012", with("5.0", |log| _ = log.audio_in(64, 1, 0)), None),
        (
            "QR2013",
            with("5.0", |log| {
                log.checkpoint("CP_CLOCK_HOST").asynchronous_at("ASYNC_BH", 9, &[0; 8]);
            }),
            Prefix,
        ),
        (
            "QR2014",
            with("11.0", |log| {
                log.instruction(1).char_write(1, 1 << 30).instruction(1).host();
            }),
            Prefix,
        ),
        ("QR2015", with("11.0", |log| _ = log.read_error(3)), Prefix),
        ("QR2016", with("11.0", |log| _ = log.random(7, b"x")), None),
        (
            "QR3001",
            {
                let mut log = log("11.0");
                log.end();
                log.bytes
            },
            Plain,
        ),
        ("QR3002", with("11.0", |log| _ = log.host_at(5)), None),
        ("QR3003", with("11.0", |log| _ = log.instruction(1).instruction(2).host()), None),
        ("QR3004", with("11.0", |log| _ = log.checkpoint("CP_CLOCK_VIRTUAL_RT").host()), None),
        (
            "QR3005",
            {
                let mut log = Log::new(ids::of("11.0"));
                log.host().host().host().checkpoint("CP_INIT").close();
                log.bytes
            },
            None,
        ),
        ("QR3006", with("11.0", |log| _ = log.interrupt().host()), None),
        ("QR3007", with("11.0", |log| _ = log.button(1, 1).host()), None),
        (
            "QR3008",
            with("5.0", |log| {
                log.checkpoint("CP_CLOCK_HOST").asynchronous_at("ASYNC_BH", 4, &[0; 8]);
            }),
            None,
        ),
    ]
}

fn options(cure: Cure) -> Options {
    let mut options = Options { format: Some(FormatId::QEMU), ..Options::default() };
    match cure {
        Cure::Prefix => options.choices.set("strategy", "prefix").unwrap(),
        Cure::Version(release) => options.choices.set("qemu-version", release).unwrap(),
        Cure::Plain | Cure::None => {}
    }
    options
}

#[test]
fn every_rule_has_a_log_that_breaks_it_and_it_alone() {
    let table = broken();
    let mut wrong = Vec::new();
    for rule in rules::all() {
        let Some((_, bytes, cure)) = table.iter().find(|(code, ..)| *code == rule.code) else {
            wrong.push(format!("{}: no log", rule.code));
            continue;
        };
        let (repair, target) = mended_as("log", bytes, &options(*cure));
        let counts = repair.before.counts();
        if counts.len() != 1 || repair.before.count(rule) != 1 {
            wrong.push(format!("{}: finds {counts:?}", rule.code));
        }
        if let Some(problem) = after(*cure, rule.severity, bytes, &repair, &target) {
            wrong.push(format!("{}: {problem}", rule.code));
        }
        // A fix that needs the user's decision is advice: the page has "Next" instead of "Fix".
        let has_fix = matches!(cure, Cure::Plain | Cure::Version(_)) && rule.code != "QR0006";
        if has_fix != rule.has_fix() {
            wrong.push(format!("{}: the remedy of the rule is {:?}", rule.code, rule.remedy));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with a repair.
fn after(
    cure: Cure,
    severity: Severity,
    bytes: &[u8],
    repair: &Repair,
    target: &[u8],
) -> Option<String> {
    let left = repair.after.counts();
    let contradicted = cure == Cure::Version("5.2");
    if cure == Cure::None || contradicted {
        let stays = match severity {
            Severity::Error => Outcome::CannotRepair,
            _ => Outcome::Clean,
        };
        let same = repair.outcome == stays && target == bytes;
        return (!same).then(|| format!("has no fix, but {:?}", repair.outcome));
    }
    if cure != Cure::Plain {
        let (plain, same) = mended_as("log", bytes, &options(Cure::Plain));
        if plain.outcome != Outcome::CannotRepair || same != bytes {
            return Some(format!("without the choice {:?}", plain.outcome));
        }
    }
    let mended = matches!(repair.outcome, Outcome::Repaired | Outcome::RepairedWithLoss);
    let again = tracemend::check(&FileSet::single("again", target), &Options::default());
    let sound = left.is_empty() && again.counts().is_empty();
    (!(mended && sound))
        .then(|| format!("{:?}, left {left:?}, refused {:?}", repair.outcome, repair.refused))
}

#[test]
fn a_log_from_between_two_releases_is_never_given_another_version() {
    for word in [0x03, 0x05, 0x0b] {
        let bytes = header(|bytes| bytes[3] = word);
        let (repair, target) = mended_as("log", &bytes, &options(Cure::Version("11.0")));
        assert_eq!(repair.outcome, Outcome::CannotRepair);
        assert_eq!(target, bytes);
    }
}

#[test]
fn a_choice_that_the_log_contradicts_changes_nothing() {
    let log = log("11.0");
    let killed = log.killed(log.bytes.len());
    assert!(Options::default().with_choice("qemu-version", "no release").is_err());
    for release in ["2.5", "5.2", "7.1"] {
        let mut options = options(Cure::Plain);
        options.choices.set("qemu-version", release).unwrap();
        let (repair, target) = mended_as("log", &killed, &options);
        assert_eq!(repair.outcome, Outcome::CannotRepair, "{release}");
        assert_eq!(repair.before.count(&rules::CHOICE_CONTRADICTED), 1, "{release}");
        assert_eq!(target, killed, "{release}");
    }
}

#[test]
fn what_a_prefix_loses_is_counted() {
    let mut log = log("11.0");
    let kept = log.marks.len();
    log.instruction(0).host();
    for number in 0..20 {
        log.tick(number);
    }
    log.close();
    let dropped = log.marks.len() - 1 - kept;
    let (repair, target) = mended_as("log", &log.bytes, &options(Cure::Prefix));
    assert_eq!(target, log.mended(log.marks[kept - 1].end));
    assert_eq!(repair.records_lost(), u64::try_from(dropped).unwrap());
    let fix = repair.applied[0].fix().unwrap();
    assert!(fix.summary.contains(&format!("with {dropped} events")), "{}", fix.summary);
    assert!(fix.summary.contains("structurally closed"), "{}", fix.summary);
}
