//! A smallest recording for every rule of revent: it breaks the rule, and the rule alone. Where the
//! rule has a fix the mended recording breaks none.

use tracemend::FormatId;
use tracemend::formats::revent::rules;
use tracemend::{Choices, FileSet, Options, Outcome, Remedy, Rule, Severity};
use tracemend_tests::forge::revent::{
    ENTER, Event, ID, KEY_A, Layout, Recording, SLOT, SOUTH, SYN, TOUCH, X, encode, play, session,
};
use tracemend_tests::mended::mended_as;

/// Notes that older layouts and recordings ended by the return key cannot do without.
const NOTES: [&str; 2] = ["RV0017", "RV1006"];

struct Case {
    code: &'static str,
    name: &'static str,
    bytes: Vec<u8>,
    options: Options,
}

fn case(code: &'static str, bytes: Vec<u8>) -> Case {
    Case { code, name: "recording", bytes, options: Options::default() }
}

impl Case {
    fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    fn forced(mut self) -> Self {
        self.options.format = Some(FormatId::REVENT);
        self
    }

    fn choosing(mut self, choose: impl FnOnce(&mut Choices)) -> Self {
        choose(&mut self.options.choices);
        self
    }
}

fn tapped(layout: Layout) -> Recording {
    let mut recording = Recording::new(layout);
    recording.tap(1);
    recording
}

fn v3() -> Recording {
    tapped(Layout::V3)
}

/// A recording with one more frame of the screen or the keyboard.
fn with(device: i32, events: &[((u16, u16), i32)]) -> Vec<u8> {
    v3().frame(device, events).build().bytes
}

/// What a 32-bit recorder of 2016 made of the events: eight bytes from each four-byte number on.
fn wide_words() -> Vec<u8> {
    let built = tapped(Layout::V2).build();
    let mut bytes = built.bytes.clone();
    for index in 0..built.count {
        let at = built.at(index);
        let usec: [u8; 4] = bytes[at + 10..at + 14].try_into().unwrap();
        let behind: [u8; 4] = bytes[at + 18..at + 22].try_into().unwrap();
        bytes[at + 6..at + 10].copy_from_slice(&usec);
        bytes[at + 14..at + 18].copy_from_slice(&behind);
    }
    bytes
}

/// A recording whose device is lost: zeros, counted.
fn lost_device() -> Vec<u8> {
    let mut recording = session(Layout::V3);
    let nothing = Event { device: 1, time: 0, kind: 0, code: 0, value: 0 };
    let times = recording.build();
    let times = &times.bytes[times.prefix + 8..times.prefix + 40];
    let word = |at: usize| u64::from_le_bytes(times[at..at + 8].try_into().unwrap());
    recording.times = Some([(word(0), word(8)), (word(16), word(24))]);
    recording.events.splice(6..6, [nothing; 5]);
    recording.events.extend([nothing; 30]);
    recording.build().bytes
}

fn pad(change: impl FnOnce(&mut tracemend_tests::forge::revent::Gamepad)) -> Vec<u8> {
    let mut recording = play(Layout::V3);
    change(recording.gamepad.as_mut().unwrap());
    recording.build().bytes
}

/// A gamepad that is as told, and one more press or axis.
fn pressed(event: ((u16, u16), i32)) -> Vec<u8> {
    play(Layout::V3).frame(0, &[event]).build().bytes
}

/// Taps until the file of the layout, cut to whole buffers of 4096 bytes, ends in the middle of a
/// frame (or, if `even`, behind a frame, with the finger down).
fn killed(layout: Layout, even: bool) -> Vec<u8> {
    for paths in 1..60 {
        let mut recording = Recording::new(layout);
        recording.paths.push(vec![b'/'; paths]);
        recording.paths.pop();
        recording.paths[0] = format!("/dev/input/event{}", "1".repeat(1 + paths % 4)).into_bytes();
        recording.paths[1] =
            format!("/dev/input/event{}", "2".repeat(1 + paths / 4 % 4)).into_bytes();
        for _ in 0..paths % 7 {
            recording.frame(1, &[(X, 5)]);
        }
        for id in 0..200 {
            recording.tap(id);
        }
        let built = recording.build();
        let bytes = built.killed(4096);
        let behind = built.frames.iter().filter(|end| **end <= bytes.len()).count();
        let last = built.frames[behind - 1];
        let whole = (bytes.len() - built.events).is_multiple_of(layout.stride());
        if whole && (last == bytes.len()) == even {
            return bytes;
        }
    }
    panic!("no such recording of {layout:?}");
}

fn broken() -> Vec<Case> {
    let built = v3().build();
    let p20 = tapped(Layout::P20).build();
    let mut torn = tapped(Layout::P20).frame(1, &[(X, 1)]).build().bytes;
    torn.truncate(torn.len() - 3);
    let number = |value: u64| value.to_le_bytes();
    let mut trailing = built.bytes.clone();
    trailing.extend([0; 100]);
    let (start, end) = (built.prefix + 8, built.prefix + 24);
    let mut wide_end = built.bytes.clone();
    let usec = u64::from_le_bytes(wide_end[end + 8..end + 16].try_into().unwrap());
    wide_end[end + 4..end + 8].copy_from_slice(&(usec * 1000 + 321).to_le_bytes()[..4]);
    let mut unread = built.bytes.clone();
    unread[..6].copy_from_slice(b"RVEENT");
    let second = "/dev/input/event0".as_bytes().to_vec();
    let mut same = v3();
    same.paths[1] = second;
    let mut odd_path = v3();
    odd_path.paths[1] = b"/dev/uinput".to_vec();
    let mut many = v3();
    many.paths = (0..17).map(|index| format!("/dev/input/event{index}").into_bytes()).collect();
    let mut swapped = play(Layout::V3);
    swapped.gamepad.as_mut().unwrap().bits.swap(0, 2);
    vec![
        case("RV0001", unread).forced(),
        case("RV0002", built.cut(built.events - 1)),
        case("RV0003", built.cut(16)),
        case("RV0004", built.with(6, &[9, 0])),
        case("RV0005", built.with(8, &[7, 0])),
        case("RV0006", built.with(12, &[1])),
        case("RV0007", built.with(16, &[0; 4])),
        case("RV0008", built.with(20, &[0xff; 4])),
        case("RV0009", many.build().bytes),
        case("RV0010", odd_path.build().bytes),
        case("RV0011", same.build().bytes),
        case("RV0012", pad(|pad| pad.name.clear())),
        case("RV0013", pad(|pad| pad.axes = vec![[0; 7]; 65])),
        case("RV0014", pad(|pad| pad.axes[1][0] = 0x40)),
        case("RV0015", swapped.build().bytes),
        case("RV0016", built.bytes.clone()).named("Nexus10.startup.revent"),
        case("RV0017", p20.bytes.clone()).choosing(|choices| choices.set("upgrade", "").unwrap()),
        case("RV0018", wide_end),
        case("RV0019", built.with(start + 8, &number(1_000_000))),
        case("RV0020", built.with(start, &number(5000))),
        case("RV1001", built.killed(1)),
        case("RV1002", built.with(built.prefix, &number(500))),
        case("RV1003", built.with(built.prefix, &number(5))),
        case("RV1004", torn),
        case("RV1005", trailing),
        case("RV1006", v3().enter().build().bytes),
        case("RV1007", killed(Layout::P24, false)),
        case("RV1008", Recording::new(Layout::V3).build().bytes),
        case("RV2001", built.with_event(2, 0, &[2, 0])),
        case("RV2002", built.with_event(2, 10, &number(1_000_000))),
        case("RV2003", wide_words()),
        case("RV2004", lost_device()),
        case("RV2005", with(1, &[((3, 0x50), 1)])),
        case("RV2006", {
            let mut recording = v3();
            recording.frame(0, &[(KEY_A, 3)]).frame(0, &[(KEY_A, 0)]);
            recording.build().bytes
        }),
        case("RV2007", {
            let built = tapped(Layout::V1).build();
            built.with_event(1, 4, &[0; 4])
        }),
        case("RV2008", pressed(((3, 5), 1))),
        case("RV2009", pressed(((3, 0), 128))),
        case("RV2010", with(1, &[(SLOT, 128)])),
        case("RV3001", {
            let mut recording = v3();
            recording.wait(-30_000).frame(1, &[(X, 1)]);
            recording.build().bytes
        }),
        case("RV3002", {
            let times = v3();
            let mut recording = times.clone();
            let last = recording.now();
            let split = |time: i64| {
                let time = time.unsigned_abs();
                (time / 1_000_000, time % 1_000_000)
            };
            recording.times = Some([split(last - 1_000_000), split(last - 1)]);
            recording.build().bytes
        }),
        case("RV3003", {
            let mut recording = v3();
            recording.wait(3_600_000_000).frame(1, &[(X, 1)]);
            recording.build().bytes
        }),
        case("RV3004", {
            let mut recording = v3();
            recording.add(0, &[((2, 0), 1)]);
            recording.build().bytes
        })
        .choosing(|choices| choices.set("release", "always").unwrap()),
        case("RV3005", with(1, &[((0, 3), 0)])),
        case("RV3006", with(0, &[(KEY_A, 0)])),
        case("RV3007", with(1, &[(ID, 3), (TOUCH, 1)]))
            .choosing(|c| c.set("release", "always").unwrap()),
        case("RV3008", {
            let mut recording = Recording::new(Layout::V3);
            recording.wait(1_375_894_916_000_000).tap(1);
            recording.build().bytes
        }),
    ]
}

#[test]
fn every_rule_has_a_recording_that_breaks_it_and_it_alone() {
    let mut wrong = Vec::new();
    let table = broken();
    for rule in rules::RULES {
        let Some(case) = table.iter().find(|case| case.code == rule.code) else {
            wrong.push(format!("{}: no recording", rule.code));
            continue;
        };
        let (repair, target) = mended_as(case.name, &case.bytes, &case.options);
        let found: Vec<&str> = repair.before.counts().keys().copied().collect();
        let others = found.iter().filter(|code| !NOTES.contains(code) && **code != rule.code);
        if !found.contains(&rule.code) || others.count() > 0 {
            let said: Vec<_> = repair.before.findings().iter().map(|f| &f.message).collect();
            wrong.push(format!("{}: finds {found:?} {said:?}", rule.code));
        }
        if repair.before.count(rule) != 1 {
            wrong.push(format!("{}: fires {} times", rule.code, repair.before.count(rule)));
        }
        if let Some(problem) = after(rule, case, &repair, &target) {
            wrong.push(format!("{}: {problem}", rule.code));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with the repair of a recording that breaks `rule`.
fn after(rule: &Rule, case: &Case, repair: &tracemend::Repair, target: &[u8]) -> Option<String> {
    let left = repair.after.counts();
    if !rule.has_fix() {
        let wanted =
            if rule.severity == Severity::Error { Outcome::CannotRepair } else { Outcome::Clean };
        let same = repair.outcome == wanted && target == case.bytes;
        return (!same).then(|| format!("has no fix, but {:?}", repair.outcome));
    }
    let mended = matches!(repair.outcome, Outcome::Repaired | Outcome::RepairedWithLoss);
    // Times of another clock stay what they are.
    let clean = left.keys().all(|code| NOTES.contains(code) || *code == "RV3008");
    let options = Options { format: Some(FormatId::REVENT), ..case.options.clone() };
    let again = tracemend::check(&FileSet::single(case.name, target), &options);
    (!(mended && clean && again.counts() == left))
        .then(|| format!("{:?}, left {left:?}, refused {:?}", repair.outcome, repair.refused))
}

#[test]
fn the_page_of_a_fix_names_its_class() {
    for rule in rules::RULES {
        if let Remedy::Fix(text) = rule.remedy {
            let words = ["exact", "synthetic", "lossy"];
            assert!(words.iter().any(|word| text.contains(word)), "{}: {text}", rule.code);
        }
    }
}

#[test]
fn events_are_named_by_number_device_and_header() {
    let message = |bytes: &[u8], code: &str| {
        let report = tracemend::check(&FileSet::single("recording", bytes), &Options::default());
        let found = report.findings().iter().find(|finding| finding.rule.code == code);
        found.unwrap_or_else(|| panic!("no {code}")).message.clone()
    };
    assert_eq!(
        message(&with(1, &[(ID, 1334)]), "RV3007"),
        "/dev/input/event1 still holds contact 1334 in slot 0"
    );
    assert_eq!(
        message(&with(0, &[(KEY_A, 0)]), "RV3006"),
        "event 8 of /dev/input/event0, EV_KEY KEY_A 0: it was not pressed"
    );
    let hostile = {
        let mut recording = v3();
        recording.paths[0] = b"/dev/input/event0\x1b[2J".to_vec();
        recording.frame(0, &[(KEY_A, 0)]).build().bytes
    };
    assert!(message(&hostile, "RV3006").contains("event0\\x1b[2J"));
}

#[test]
fn what_was_never_lifted_is_let_go_as_the_user_says() {
    let mut recording = v3();
    recording.frame(1, &[(ID, 3), (SLOT, 4), (ID, 5), (TOUCH, 1)]).frame(0, &[(KEY_A, 1)]);
    let held = recording.build();
    let mended = |bytes: &[u8], release: &str| {
        let mut options = Options::default();
        options.choices.set("release", release).unwrap();
        mended_as("recording", bytes, &options)
    };
    for release in ["never", "auto"] {
        let (repair, target) = mended(&held.bytes, release);
        assert_eq!((repair.outcome, target == held.bytes), (Outcome::Clean, true), "{release:?}");
    }
    let (_, target) = mended(&held.bytes, "always");
    // Both contacts, the slot in between, each key, a frame for each device; no position.
    let time = recording.now();
    let event = |device, (kind, code): (u16, u16), value| Event { device, time, kind, code, value };
    let wanted = [
        event(0, KEY_A, 0),
        event(0, SYN, 0),
        event(1, SLOT, 0),
        event(1, ID, -1),
        event(1, SLOT, 4),
        event(1, ID, -1),
        event(1, TOUCH, 0),
        event(1, SYN, 0),
    ];
    let wanted: Vec<u8> = wanted.iter().flat_map(|event| encode(Layout::V3, event)).collect();
    assert_eq!(target[held.bytes.len()..], wanted);
    let torn = &held.bytes[..held.bytes.len() - 1];
    let (_, never) = mended(torn, "never");
    let (_, auto) = mended(torn, "auto");
    // The frame of the key is cut with the tail; what was held before it is let go.
    assert_eq!(never.len(), held.at(held.count - 2));
    assert_eq!(auto.len(), never.len() + 6 * 26);
}

#[test]
fn the_return_key_that_ends_a_recording_is_not_held() {
    let mut recording = v3();
    recording.frame(0, &[(ENTER, 1)]).enter();
    let bytes = recording.build().bytes;
    let report = tracemend::check(&FileSet::single("recording", &bytes), &Options::default());
    let found: Vec<&str> = report.counts().keys().copied().collect();
    assert_eq!(found, ["RV1006"]);
}

#[test]
fn an_upgrade_that_is_too_large_reaches_a_limit_and_says_so() {
    let bytes = session(Layout::P20).build().bytes;
    let mut options = Options::default();
    options.choices.set("upgrade", "").unwrap();
    options.limits.set(&tracemend::limits::INSERTED, 100);
    let (repair, target) = mended_as("recording", &bytes, &options);
    assert_eq!((repair.outcome, target == bytes), (Outcome::Incomplete, true));
    let said = &repair.after.findings().iter().find(|f| f.rule.code == "CM9001").unwrap().message;
    assert_eq!(said, "the upgrade would write 780 bytes, 100 are the limit");
}

#[test]
fn a_gamepad_in_the_order_of_the_document_is_put_right() {
    let bytes = pad(|pad| pad.bits.swap(0, 2));
    let (repair, target) = mended_as("recording", &bytes, &Options::default());
    assert_eq!(repair.outcome, Outcome::Repaired);
    assert_eq!(target, play(Layout::V3).build().bytes);
    let mut press = play(Layout::V3);
    press.frame(0, &[(SOUTH, 1)]).frame(0, &[(SOUTH, 0)]);
    let report =
        tracemend::check(&FileSet::single("recording", &press.build().bytes), &Options::default());
    assert!(report.findings().is_empty());
}

#[test]
fn what_32_bit_writers_did_is_undone_to_the_byte() {
    let (repair, target) = mended_as("recording", &wide_words(), &Options::default());
    assert_eq!((repair.outcome, target), (Outcome::Repaired, tapped(Layout::V2).build().bytes));
    // Version 3: the nanoseconds beside the seconds, of which the microseconds are a thousandth.
    let mut recording = v3();
    recording.times = Some([(2_670, 123_456), (2_672, 1)]);
    let sound = recording.build().bytes;
    recording.times = Some([(2_670 | 123_456_789 << 32, 123_456), (2_672 | 1_000 << 32, 1)]);
    let (repair, target) = mended_as("recording", &recording.build().bytes, &Options::default());
    assert_eq!((repair.outcome, target), (Outcome::Repaired, sound));
    // Without the microseconds to vouch for them the high words are no nanoseconds.
    recording.times = Some([(2_670 | 123_456_789 << 32, 123_457), (2_672, 1)]);
    let (repair, _) = mended_as("recording", &recording.build().bytes, &Options::default());
    assert_eq!(repair.before.counts().keys().copied().collect::<Vec<_>>(), ["RV0019"]);
}

#[test]
fn a_count_that_lost_bits_is_restored_and_one_before_garbage_is_trusted() {
    let built = session(Layout::V3).build();
    for count in [1_u64, 7, 29, 31, u64::MAX] {
        let bytes = built.with(built.prefix, &count.to_le_bytes());
        let (_, target) = mended_as("recording", &bytes, &Options::default());
        // More than there are is a cut file; its last frame is whole.
        assert_eq!(target, built.bytes, "{count}");
    }
    let mut garbage = built.bytes.clone();
    garbage.extend([0x5a; 78]);
    let (repair, target) = mended_as("recording", &garbage, &Options::default());
    assert_eq!((repair.outcome, target), (Outcome::RepairedWithLoss, built.bytes));
}
