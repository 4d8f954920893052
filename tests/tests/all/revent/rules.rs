//! The rules of revent together. Each by itself has a specimen (`specimens/revent.rs`).

use tracemend::formats::revent::{limits, rules};
use tracemend::{FileSet, Options, Outcome, Remedy};
use tracemend_tests::forge::revent::{
    ENTER, Event, ID, KEY_A, Layout, SLOT, SOUTH, SYN, TOUCH, X, encode, play, session,
};
use tracemend_tests::mended::mended_as;
use tracemend_tests::specimens::revent::{pad, tapped, v3, wide_words, with};

#[test]
fn the_page_of_a_fix_names_its_class() {
    for rule in rules::all() {
        if let Remedy::Fix(text) = rule.remedy {
            let words = ["exact", "synthetic", "lossy"];
            assert!(words.iter().any(|word| text.contains(word)), "{}: {text}", rule.code);
        }
    }
}

#[test]
fn a_message_names_the_event_its_code_and_its_device() {
    let message = |bytes: &[u8], code: &str| {
        let report = tracemend::check(&FileSet::single("recording", bytes), &Options::default());
        let found = report.findings().iter().find(|finding| finding.rule.code == code);
        found.unwrap_or_else(|| panic!("no {code}")).message.clone()
    };
    assert_eq!(
        message(&with(1, &[(ID, 1334)]), "RV3007"),
        "contact 1334 in slot 0 is still pressed at the end (/dev/input/event1)"
    );
    assert_eq!(
        message(&with(0, &[(KEY_A, 0)]), "RV3006"),
        "event 8 releases KEY_A, which is not pressed (/dev/input/event0)"
    );
    let hostile = {
        let mut recording = v3();
        recording.paths[0] = b"/dev/input/event0\x1b[2J".to_vec();
        recording.frame(0, &[(KEY_A, 0)]).build().bytes
    };
    assert!(message(&hostile, "RV3006").contains("event0\\x1b[2J"));
}

#[test]
fn pressed_keys_and_contacts_are_released_as_the_option_demands() {
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
    // Both contacts, the slot between them, each key, a frame per device, and no position.
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
    let truncated = &held.bytes[..held.bytes.len() - 1];
    let (_, never) = mended(truncated, "never");
    let (_, auto) = mended(truncated, "auto");
    // The frame of the key is dropped with the tail; keys pressed before it are released.
    assert_eq!(never.len(), held.at(held.count - 2));
    assert_eq!(auto.len(), never.len() + 6 * 26);
}

#[test]
fn the_return_key_that_ends_a_recording_is_not_still_pressed() {
    let mut recording = v3();
    recording.frame(0, &[(ENTER, 1)]).enter();
    let bytes = recording.build().bytes;
    let report = tracemend::check(&FileSet::single("recording", &bytes), &Options::default());
    let found: Vec<&str> = report.counts().keys().copied().collect();
    assert_eq!(found, ["RV1006"]);
}

#[test]
fn an_upgrade_that_is_too_large_reaches_a_limit() {
    let bytes = session(Layout::P20).build().bytes;
    let mut options = Options::default();
    options.choices.set("upgrade", "").unwrap();
    options.limits.set(&tracemend::limits::INSERTED, 100);
    let (repair, target) = mended_as("recording", &bytes, &options);
    assert_eq!((repair.outcome, target == bytes), (Outcome::Incomplete, true));
    let reached = repair.after.findings().iter().find(|f| f.rule.code == "CM9001").unwrap();
    let expected = "limit reached: the upgrade would write 780 bytes, the limit is 100";
    assert_eq!(reached.message, expected);
}

#[test]
fn swapped_bitmaps_of_a_gamepad_are_swapped_back() {
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
fn widened_times_are_narrowed_to_the_original_bytes() {
    let (repair, target) = mended_as("recording", &wide_words(), &Options::default());
    assert_eq!((repair.outcome, target), (Outcome::Repaired, tapped(Layout::V2).build().bytes));
    // Version 3: the nanoseconds follow the seconds; the microseconds are a thousandth of them.
    let mut recording = v3();
    recording.times = Some([(2_670, 123_456), (2_672, 1)]);
    let sound = recording.build().bytes;
    recording.times = Some([(2_670 | 123_456_789 << 32, 123_456), (2_672 | 1_000 << 32, 1)]);
    let (repair, target) = mended_as("recording", &recording.build().bytes, &Options::default());
    assert_eq!((repair.outcome, target), (Outcome::Repaired, sound));
    // If the microseconds do not match, the high halves are not nanoseconds.
    recording.times = Some([(2_670 | 123_456_789 << 32, 123_457), (2_672, 1)]);
    let (repair, _) = mended_as("recording", &recording.build().bytes, &Options::default());
    assert_eq!(repair.before.counts().keys().copied().collect::<Vec<_>>(), ["RV0019"]);
}

#[test]
fn a_damaged_count_is_restored_and_a_count_before_garbage_is_trusted() {
    let built = session(Layout::V3).build();
    for count in [1_u64, 7, 29, 31, u64::MAX] {
        let bytes = built.with(built.prefix, &count.to_le_bytes());
        let (_, target) = mended_as("recording", &bytes, &Options::default());
        // A count above the number of events means a truncated file; its last frame is complete.
        assert_eq!(target, built.bytes, "{count}");
    }
    let mut garbage = built.bytes.clone();
    garbage.extend([0x5a; 78]);
    let options = Options { lossy_warnings: true, ..Options::default() };
    let (repair, target) = mended_as("recording", &garbage, &options);
    assert_eq!((repair.outcome, target), (Outcome::RepairedWithLoss, built.bytes));
}

#[test]
fn a_frame_longer_than_the_limit_is_not_taken_for_a_truncated_one() {
    let mut recording = v3();
    recording.add(1, &[(X, 1), (X, 2), (X, 3)]);
    let built = recording.build();
    let truncated = built.cut(built.bytes.len() - 1);
    let mut options = Options::default();
    let (_, target) = mended_as("recording", &truncated, &options);
    assert_eq!(target.len(), built.at(built.count - 3));
    options.limits.set(&limits::OPEN_FRAME, 1);
    options.choices.set("release", "never").unwrap();
    let (_, target) = mended_as("recording", &truncated, &options);
    assert_eq!(target.len(), built.at(built.count - 1));
}

#[test]
fn a_layout_is_recognised_by_as_many_events_as_the_limit_allows() {
    let bytes = session(Layout::P20).build().bytes;
    let mut options = Options::default();
    options.limits.set(&limits::LAYOUT_SAMPLE, 45);
    let report = tracemend::check(&FileSet::single("recording", &bytes), &options);
    let (_, layout) = report.facts.iter().find(|(fact, _)| *fact == "layout").unwrap();
    assert!(layout.contains("2 of the first 2 events"), "{layout}");
}

#[test]
fn the_length_of_a_file_of_full_buffers_leaves_out_a_header_that_is_not_buffered() {
    let notes = |layout: Layout, code: &str| {
        let mut recording = session(layout);
        (0..100).for_each(|id| _ = recording.tap(id));
        let bytes = recording.build().killed(4096);
        let report = tracemend::check(&FileSet::single("recording", &bytes), &Options::default());
        let found = report.findings().iter().find(|finding| finding.rule.code == code);
        let found = found.unwrap_or_else(|| panic!("{:#?}", report.findings()));
        (found.notes.join(" "), bytes.len())
    };
    let text = "the recorder was killed: the file ends with a full buffer";
    let (note, len) = notes(Layout::V3, rules::COUNT_ZERO.code);
    assert_eq!(note, format!("{text} (16 + {} x 4096 bytes)", len / 4096));
    let (note, len) = notes(Layout::V1, rules::TRUNCATED_EVENT.code);
    assert_eq!(note, format!("{text} ({} x 4096 bytes)", len / 4096));
}
