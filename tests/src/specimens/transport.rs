//! Specimens of the rules about ways to a reader.

use super::Specimen;
use crate::forge::perf::{Attr, Order, Recording, sample_type};
use crate::transport::{RECORDER, to_base64, to_crlf, to_gzip, to_stamped, to_tar, to_utf8};

/// Rules that bytes alone cannot break.
pub const IMPOSSIBLE: &[(&str, &str)] = &[];
/// Codes whose specimen is still to be made.
pub const MISSING: &[&str] = &[];

/// Why the faults of the format stay beside the finding that names their cause.
const TOO_SHORT: &str = "a sample has lost two bytes, and nothing gives them back";
/// Bytes that are not ASCII stand in the addresses of the kernel.
const SAMPLES: usize = 4;

/// A sound recording with bytes 0x0a, and with some that are not ASCII.
fn sound() -> Vec<u8> {
    let kind = sample_type::IP | sample_type::TID | sample_type::TIME | sample_type::ID;
    let attrs = vec![Attr::cpu_clock(kind).with_ids(&[10, 0x0a_0a])];
    let mut recording = Recording::new(Order::Little, attrs);
    let mut maker = recording.maker(0);
    recording.push(maker.comm("forge"));
    for _ in 0..SAMPLES {
        recording.push(maker.sample());
    }
    recording.build().bytes
}

/// A specimen of a way with an exact way back.
fn of_way(code: &'static str, encode: impl Fn(&[u8]) -> Vec<u8>) -> Specimen {
    let sound = sound();
    let name = format!("{code}.data");
    let mut specimen = Specimen::of(code, vec![(name.clone(), Some(encode(&sound)))]).arrived();
    specimen.repaired = Some(vec![(name, Some(sound))]);
    specimen
}

/// An archive of two recordings.
fn several() -> Specimen {
    let sound = sound();
    let archive = to_tar(&[("one.data", &sound), ("two.data", &sound)]);
    Specimen::of("TR0102", vec![("TR0102.tar".to_string(), Some(archive))]).arrived()
}

/// A recording whose bytes XON and XOFF a serial line took; all others are in it.
fn without_flow_control() -> Vec<u8> {
    let kind = sample_type::IP | sample_type::TID | sample_type::TIME | sample_type::RAW;
    let mut recording = Recording::new(Order::Little, vec![Attr::cpu_clock(kind)]);
    let mut maker = recording.maker(0);
    let is_control = |byte: &u8| matches!(*byte, 0x11 | 0x13);
    for number in 0..=SAMPLES {
        let is_short = number == 1;
        let bytes = (0..=u8::MAX).filter(|byte| is_short || !is_control(byte));
        recording.push(maker.sample_with(|sample| sample.raw = bytes.collect()));
    }
    let mut bytes = recording.build().bytes;
    bytes.retain(|byte| !is_control(byte));
    bytes
}

/// A recording in each kind of wrapper and conversion.
pub fn specimens() -> Vec<Specimen> {
    vec![
        of_way("TR0001", to_gzip),
        of_way("TR0002", to_base64),
        of_way("TR0003", |bytes| to_utf8(bytes, "")),
        of_way("TR0004", to_crlf),
        of_way("TR0005", |bytes| {
            let words = bytes.chunks(2).flat_map(|word| word.iter().rev());
            words.copied().collect()
        }),
        of_way("TR0006", to_stamped),
        of_way("TR0007", |bytes| [b"* daemon started successfully\n", bytes].concat()),
        of_way("TR0008", |bytes| [bytes, RECORDER].concat()),
        several(),
        Specimen::new("TR0103", without_flow_control()).also(&["PD0005", "PD1003"], TOO_SHORT),
        Specimen::new("TR0101", String::from_utf8_lossy(&sound()).into_owned().into_bytes()),
    ]
}
