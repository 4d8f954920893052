//! Specimens of the rules of revent.

use super::Specimen;
use crate::forge::revent::{
    Event, Gamepad, ID, KEY_A, Layout, Recording, SLOT, TOUCH, X, play, session,
};

/// Rules that no recording can break.
pub const IMPOSSIBLE: &[(&str, &str)] = &[];
/// Why RV0017 fires and stays.
const OLD: &str = "the rule is about an older layout, which stays unless an upgrade is asked for";
/// Why RV1007 does not fire alone.
const KILLED: &str = "the layout is an older one, and the recording ends inside a frame";
/// Codes whose specimen is still to be made.
pub const MISSING: &[&str] = &[];

/// Returns a recording of one tap of a finger.
pub fn tapped(layout: Layout) -> Recording {
    let mut recording = Recording::new(layout);
    recording.tap(1);
    recording
}

/// Returns a recording of one tap in the newest layout.
pub fn v3() -> Recording {
    tapped(Layout::V3)
}

/// Returns a recording with one more frame of the screen or the keyboard.
pub fn with(device: i32, events: &[((u16, u16), i32)]) -> Vec<u8> {
    v3().frame(device, events).build().bytes
}

/// Returns a recording as a 32-bit recorder of 2016 wrote it: eight bytes from the address of each
/// four-byte number.
pub fn wide_words() -> Vec<u8> {
    let built = tapped(Layout::V2).build();
    let mut bytes = built.bytes.clone();
    for index in 0..built.count {
        let at = built.at(index);
        let usec: [u8; 4] = bytes[at + 10..at + 14].try_into().unwrap();
        let next: [u8; 4] = bytes[at + 18..at + 22].try_into().unwrap();
        bytes[at + 6..at + 10].copy_from_slice(&usec);
        bytes[at + 14..at + 18].copy_from_slice(&next);
    }
    bytes
}

/// Returns a recording whose device was lost: its last events are zeros, and counted.
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

/// Returns a recording of a changed gamepad.
pub fn pad(change: impl FnOnce(&mut Gamepad)) -> Vec<u8> {
    let mut recording = play(Layout::V3);
    change(recording.gamepad.as_mut().unwrap());
    recording.build().bytes
}

/// Returns a recording of a gamepad with one more event.
fn pressed(event: ((u16, u16), i32)) -> Vec<u8> {
    play(Layout::V3).frame(0, &[event]).build().bytes
}

/// Returns a recording that is cut to full buffers of 4096 bytes and ends after a complete event:
/// inside a frame or, if `even`, after a frame with the finger down.
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
        let complete = built.frames.iter().filter(|end| **end <= bytes.len()).count();
        let last = built.frames[complete - 1];
        let whole = (bytes.len() - built.events).is_multiple_of(layout.stride());
        if whole && (last == bytes.len()) == even {
            return bytes;
        }
    }
    panic!("no such recording of {layout:?}");
}

/// Returns a smallest recording for every rule.
pub fn specimens() -> Vec<Specimen> {
    let built = v3().build();
    let p20 = tapped(Layout::P20).build();
    let mut truncated = tapped(Layout::P20).frame(1, &[(X, 1)]).build().bytes;
    truncated.truncate(truncated.len() - 3);
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
    odd_path.paths[1] = b"/dev/inqut/event1".to_vec();
    let mut outside = v3();
    outside.paths[1] = b"/dev/input/../../etc/passwd".to_vec();
    // Too few events to recover a head by them.
    let few = Recording::new(Layout::V3).frame(1, &[(X, 1)]).build();
    let mut misaligned = built.bytes.clone();
    misaligned.splice(built.at(4)..built.at(4), *b"bytes");
    let mut many = v3();
    many.paths = (0..17).map(|index| format!("/dev/input/event{index}").into_bytes()).collect();
    let mut swapped = play(Layout::V3);
    swapped.gamepad.as_mut().unwrap().bits.swap(0, 2);
    vec![
        Specimen::new("RV0001", unread).named_format(),
        Specimen::new("RV0002", built.cut(built.events - 1)),
        Specimen::new("RV0003", built.cut(16)),
        Specimen::new("RV0004", built.with(6, &[9, 0])),
        Specimen::new("RV0005", built.with(8, &[7, 0])),
        Specimen::new("RV0006", built.with(12, &[1])),
        Specimen::new("RV0007", few.with(16, &[0; 4])),
        Specimen::new("RV0008", few.with(20, &[0xff; 4])),
        Specimen::new("RV0009", many.build().bytes),
        Specimen::new("RV0010", odd_path.build().bytes),
        Specimen::new("RV0011", same.build().bytes),
        Specimen::new("RV0012", play(Layout::V3).build().with(24, &[200])),
        Specimen::new("RV0013", play(Layout::V3).build().with(330, &[65])),
        Specimen::new("RV0014", pad(|pad| pad.axes[1][0] = 0x40)),
        Specimen::new("RV0015", swapped.build().bytes),
        Specimen::new("RV0016", built.bytes.clone()).ending(".startup.revent"),
        Specimen::new("RV0017", p20.bytes.clone())
            .with("upgrade", "")
            .leaves(&["RV3008"], "the clock stays, and the newest layout has a rule about it"),
        Specimen::new("RV0018", wide_end),
        Specimen::new("RV0019", built.with(start + 8, &number(1_000_000))),
        Specimen::new("RV0020", built.with(start, &number(5000))),
        Specimen::new("RV0021", tapped(Layout::V1).build().with(6, &[0, 0]))
            .also(&["RV0017"], OLD)
            .leaves(&["RV0017"], OLD),
        Specimen::new("RV0022", outside.build().bytes),
        Specimen::new("RV0023", built.with(20, &[0xff; 4])),
        Specimen::new("RV0024", built.with(start, &[0; 16])),
        Specimen::new("RV1001", built.killed(1)),
        Specimen::new("RV1002", built.with(built.prefix, &number(500))),
        Specimen::new("RV1003", built.with(built.prefix, &number(5))),
        Specimen::new("RV1004", truncated).also(&["RV0017"], OLD).leaves(&["RV0017"], OLD),
        Specimen::new("RV1005", trailing),
        Specimen::new("RV1006", v3().enter().build().bytes),
        Specimen::new("RV1007", killed(Layout::P24, false))
            .also(&["RV0017", "RV3004", "RV3007"], KILLED)
            .leaves(&["RV0017"], OLD),
        Specimen::new("RV1008", Recording::new(Layout::V3).build().bytes),
        Specimen::new("RV1009", misaligned)
            .also(&["CM0102"], "the number of events shows how many bytes were inserted"),
        Specimen::new("RV2001", built.with_event(2, 0, &[2, 0])),
        Specimen::new("RV2002", built.with_event(2, 10, &number(1_000_000))),
        Specimen::new("RV2003", wide_words()).also(&["RV0017"], OLD).leaves(&["RV0017"], OLD),
        Specimen::new("RV2004", lost_device()),
        Specimen::new("RV2005", with(1, &[((3, 0x50), 1)])),
        Specimen::new("RV2006", {
            let mut recording = v3();
            recording.frame(0, &[(KEY_A, 3)]).frame(0, &[(KEY_A, 0)]);
            recording.build().bytes
        }),
        Specimen::new("RV2007", {
            let built = tapped(Layout::V1).build();
            built.with_event(1, 4, &[0; 4])
        })
        .also(&["RV0017"], OLD),
        Specimen::new("RV2008", pressed(((3, 5), 1))),
        Specimen::new("RV2009", pressed(((3, 0), 128))),
        Specimen::new("RV2010", with(1, &[(SLOT, 128)])),
        Specimen::new("RV2011", {
            let mut recording = v3();
            recording.frame(1, &[(ID, 5), (X, 1)]).frame(1, &[(SLOT, 1), (ID, 5)]);
            recording.frame(1, &[(ID, -1), (SLOT, 0), (ID, -1)]).build().bytes
        }),
        Specimen::new("RV3001", {
            let mut recording = v3();
            recording.wait(-30_000).frame(1, &[(X, 1)]);
            recording.build().bytes
        }),
        Specimen::new("RV3002", {
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
        Specimen::new("RV3003", {
            let mut recording = v3();
            recording.wait(3_600_000_000).frame(1, &[(X, 1)]);
            recording.build().bytes
        }),
        Specimen::new("RV3004", {
            let mut recording = v3();
            recording.add(0, &[((2, 0), 1)]);
            recording.build().bytes
        })
        .with("release", "always"),
        Specimen::new("RV3005", with(1, &[((0, 3), 0)])),
        Specimen::new("RV3006", with(0, &[(KEY_A, 0)])),
        Specimen::new("RV3007", with(1, &[(ID, 3), (TOUCH, 1)])).with("release", "always"),
        Specimen::new("RV3008", {
            let mut recording = Recording::new(Layout::V3);
            recording.wait(1_375_894_916_000_000).tap(1);
            recording.build().bytes
        }),
        Specimen::new("RV4001", v3().build().bytes).ending(".run.revent").with("target", "Nexus10"),
        Specimen::new("RV4002", v3().build().bytes)
            .with("target", "devices.txt")
            .donor(device_list("/dev/input/event4", "0000")),
        Specimen::new("RV4003", v3().build().bytes)
            .with("target", "devices.txt")
            .donor(device_list("/dev/input/event1", "0001")),
    ]
}

/// Returns a list of the screen of a recording, with one more axis than that of its contacts and
/// positions.
pub fn device_list(path: &str, axis: &str) -> Vec<u8> {
    let range = "value 0, min 0, max 719, fuzz 0, flat 0, resolution 0";
    let axes = [axis, "0036", "0039"].map(|axis| format!("                {axis}  : {range}\n"));
    let head = format!("add device 1: {path}\n  name:     \"touch\"\n  events:\n");
    let text = format!(
        "{head}    KEY (0001): 014a\n    ABS (0003): 002f  : {range}\n{}  input props:\n",
        axes.concat()
    );
    text.into_bytes()
}
