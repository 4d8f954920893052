//! Specimens of the rules that all formats share.

use super::Specimen;
use crate::forge::perf::{Attr, Order, Recording, feature_bit, sample_type};

/// Rules about paths and limits, which bytes alone cannot break.
pub const IMPOSSIBLE: &[(&str, &str)] = &[
    ("CM0003", "a device, a socket or a pipe is not a file that a repository can hold"),
    ("CM0004", "a directory without a recording is not a file that a repository can hold"),
    ("CM0005", "a program that writes a file is not a part of the file"),
    ("CM0006", "only a repair finds it, and this collection shows what a check finds"),
    ("CM9001", "it takes a recording beyond a limit, or a lowered limit"),
    ("CM9002", "it takes a recording beyond a limit, or a lowered limit"),
];
/// Codes whose specimen is still to be made.
pub const MISSING: &[&str] = &[];

/// Feature bits of EVENT_DESC and of two texts.
const FEATURES: [u32; 4] = [3, 5, 6, feature_bit::EVENT_DESC];

/// A sound recording of two events.
fn sound() -> Vec<u8> {
    sound_of(3)
}

/// The same of so many samples.
fn sound_of(samples: usize) -> Vec<u8> {
    let kind = sample_type::IP | sample_type::TID | sample_type::TIME | sample_type::ID;
    let attrs = vec![
        Attr::cpu_clock(kind).with_ids(&[11, 12]),
        Attr::page_faults(kind).with_ids(&[21, 22]),
    ];
    let mut recording = Recording::new(Order::Little, attrs);
    let (mut first, mut second) = (recording.maker(0), recording.maker(1));
    second.time += 500;
    recording.push(first.comm("forge"));
    for number in 0..samples {
        recording.push(if number % 2 == 0 { first.sample() } else { second.sample() });
    }
    recording.features(FEATURES);
    recording.build().bytes
}

/// A specimen of a reading of a whole file, which gives the sound recording back.
fn of_sound(code: &'static str, change: impl Fn(&[u8]) -> Vec<u8>) -> Specimen {
    of(code, sound(), change)
}

fn of(code: &'static str, sound: Vec<u8>, change: impl Fn(&[u8]) -> Vec<u8>) -> Specimen {
    let name = format!("{code}.data");
    let mut specimen = Specimen::of(code, vec![(name.clone(), Some(change(&sound)))]);
    specimen.repaired = Some(vec![(name, Some(sound))]);
    specimen
}

/// An empty file, one of no format, and a recording that was changed as a whole.
pub fn specimens() -> Vec<Specimen> {
    vec![
        Specimen::new("CM0001", Vec::new()),
        Specimen::new("CM0002", b"The first line of a text file.\n".to_vec()),
        of_sound("CM0101", |sound| [&sound[..340], &sound[200..]].concat()),
        of_sound("CM0102", |sound| [&sound[..109], &[7; 12], &sound[109..]].concat()),
        of_sound("CM0103", |sound| [&sound[..24], &sound[44..]].concat()),
        Specimen::new("CM0105", {
            let mut bytes = sound_of(40);
            bytes[0x400..0x600].fill(0);
            bytes
        })
        .also(&["PD1003"], "the fault of the records in the hole, which the repair drops"),
        of("CM0104", sound_of(40), |sound| {
            let blocks: Vec<&[u8]> = sound.chunks(512).collect();
            let order = [0, 3, 2, 1].into_iter().chain(4..blocks.len());
            order.flat_map(|block| blocks[block]).copied().collect()
        }),
    ]
}
