use super::*;
use crate::kit::num::to_usize;

const PSB: [u8; 16] = *b"\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82";

/// Returns the stretches of a trace, each with its sign.
fn damage(tracer: Tracer, trace: &[u8]) -> Vec<(Range<u64>, Sign)> {
    let found = find_damage(tracer, &Source::new(trace), 0..to_u64(trace.len()));
    found.into_iter().map(|one| (one.range, one.sign)).collect()
}

/// Packets of Intel PT of every kind and size.
fn packets() -> Vec<Vec<u8>> {
    let sized = |head: &[u8], len: usize| {
        let mut packet = head.to_vec();
        packet.resize(len, 0x05);
        packet
    };
    let extended: [(u8, usize); 20] = [
        (0x23, 2),
        (0xf3, 2),
        (0x83, 2),
        (0x62, 2),
        (0xe2, 2),
        (0x33, 2),
        (0xb3, 2),
        (0x03, 4),
        (0x22, 4),
        (0x13, 4),
        (0x73, 7),
        (0xc8, 7),
        (0xa2, 7),
        (0xa3, 8),
        (0x43, 8),
        (0xc2, 10),
        (0x53, 11),
        (0x12, 6),
        (0x32, 10),
        (0xb2, 10),
    ];
    let mut all: Vec<_> = extended.iter().map(|(second, len)| sized(&[2, *second], *len)).collect();
    all.push(sized(&[2, 0xc3, 0x88], 11));
    all.extend([sized(&[0x19], 8), sized(&[0x59], 2), sized(&[0x99], 2), vec![0x06], vec![0x00]]);
    for kind in [0x01, 0x0d, 0x11, 0x1d] {
        let sizes = [(0, 1), (1, 3), (2, 5), (3, 7), (4, 7), (6, 9)];
        all.extend(sizes.map(|(bytes, len)| sized(&[bytes << 5 | kind], len)));
    }
    all.extend([vec![0x03], vec![0x07, 0x02], vec![0x07, 0x03, 0x02]]);
    // Items of 9 and of 5 bytes in a block, which another packet ends.
    all.extend([vec![2, 0x63, 0x00], sized(&[0x04], 9), vec![2, 0x33]]);
    all.extend([vec![2, 0x63, 0x80], sized(&[0x0c], 5), sized(&[0x1d], 1), sized(&[0x14], 5)]);
    all
}

#[test]
fn packets_of_intel_pt_follow_one_another_up_to_the_next_psb() {
    let sound = [&PSB[..], &packets().concat(), &PSB, &[0x06]].concat();
    assert_eq!(damage(Tracer::IntelPt, &sound), []);
    // Each byte of the trace may be its last one.
    for end in 0..sound.len() {
        assert_eq!(damage(Tracer::IntelPt, &sound[..end]), [], "{end}");
    }
}

#[test]
fn bytes_that_are_not_a_packet_are_damage_up_to_the_next_psb() {
    let trace = [&[0x05; 7][..], &PSB, &[0x06, 0x05, 0x05, 0x05], &PSB, &[0x06, 0x06]].concat();
    assert_eq!(damage(Tracer::IntelPt, &trace), [(24..27, Sign::Header([5, 5]))]);
}

#[test]
fn a_sector_of_zeros_between_packets_of_intel_pt_is_damage() {
    let trace = |zeros: usize| [&PSB[..], &vec![0; zeros], &[0x06], &PSB].concat();
    assert_eq!(damage(Tracer::IntelPt, &trace(511)), []);
    assert_eq!(damage(Tracer::IntelPt, &trace(512)), [(16..528, Sign::Zeros)]);
    // The rest of a buffer may be empty.
    assert_eq!(damage(Tracer::IntelPt, &[&PSB[..], &[0; 4096]].concat()), []);
}

#[test]
fn a_header_that_occurs_again_and_again_is_that_of_a_later_packet() {
    let one = [&PSB[..], &[0x02, 0xff, 0x05]].concat();
    assert_eq!(damage(Tracer::IntelPt, &one.repeat(2)).len(), 2);
    assert_eq!(damage(Tracer::IntelPt, &one.repeat(3)), []);
}

#[test]
fn a_trace_of_several_pieces_is_judged_like_one() {
    let block = [&PSB[..], &packets().concat()].concat();
    let count = to_usize(PIECE) * 2 / block.len();
    let mut trace = block.repeat(count);
    assert_eq!(damage(Tracer::IntelPt, &trace), []);
    let place = block.len() * (count - 1) + 16;
    trace[place] = 0x05;
    let end = block.len() * count;
    assert_eq!(
        damage(Tracer::IntelPt, &trace),
        [(to_u64(place)..to_u64(end), Sign::Header([5, trace[place + 1]]))]
    );
}

/// A record of Arm SPE, padded to 64 bytes.
fn record() -> Vec<u8> {
    let mut record = vec![0xb0, 1, 2, 3, 4, 5, 6, 7, 0x80, 0x64, 9, 0, 0, 0, 0x52, 6, 0];
    record.extend([0x49, 1, 0x98, 3, 0, 0x99, 4, 0, 0x00, 0x20, 0x98, 7, 0, 0x43, 1]);
    record.extend([0xb2, 1, 2, 3, 4, 5, 6, 7, 8, 0x71, 1, 2, 3, 4, 5, 6, 7, 8]);
    record.resize(64, 0);
    record
}

#[test]
fn packets_of_arm_spe_have_headers_that_give_their_size() {
    let sound = record().repeat(20);
    assert_eq!(damage(Tracer::ArmSpe, &sound), []);
    for end in 0..130 {
        assert_eq!(damage(Tracer::ArmSpe, &sound[..end]), [], "{end}");
    }
    // It may begin inside a record, and the recorder fills pages with zeros.
    for start in 1..60 {
        assert_eq!(damage(Tracer::ArmSpe, &sound[start..]), [], "{start}");
    }
    assert_eq!(damage(Tracer::ArmSpe, &[&sound[..], &[0; 4096], &sound].concat()), []);
}

#[test]
fn a_header_that_no_packet_of_arm_spe_has_is_damage_up_to_the_next_packets() {
    let mut trace = record().repeat(20);
    trace[640..650].fill(0xff);
    // The rest of the record is packets again.
    assert_eq!(damage(Tracer::ArmSpe, &trace), [(640..654, Sign::Header([0xff, 0xff]))]);
    trace[1270..].fill(0xee);
    assert_eq!(damage(Tracer::ArmSpe, &trace)[1..], [(1270..1280, Sign::Header([0xee, 0xee]))]);
}

/// A frame with data of source 0x10.
const FRAME_OF_DATA: [u8; 16] = [0x21, 9, 2, 9, 4, 9, 6, 9, 8, 9, 10, 9, 12, 9, 14, 0];

#[test]
fn frames_of_coresight_have_numbers_of_sources_that_exist() {
    let sync = [0xff, 0xff, 0xff, 0x7f].repeat(4);
    let mut sound = FRAME_OF_DATA.repeat(40);
    sound.splice(320..320, sync);
    // A trigger, and a flush.
    (sound[64], sound[66]) = (0x7d << 1 | 1, 0x7b << 1 | 1);
    assert_eq!(damage(Tracer::CoreSight, &sound), []);
    let mut wrong = sound.clone();
    (wrong[96], wrong[160], wrong[640]) = (0xe1, 0xff, 0xff);
    let found = [(96..176, Sign::Source(0x70)), (640..656, Sign::Source(0x7f))];
    assert_eq!(damage(Tracer::CoreSight, &wrong), found);
    // Data that are not in frames are not judged.
    assert_eq!(damage(Tracer::CoreSight, &[0xff; 1024]), []);
}

#[test]
fn more_stretches_than_are_kept_are_one() {
    let mut trace = Vec::new();
    for number in 0..STRETCHES + 10 {
        let first = [0x05, 0x09, 0x15][number % 3] | u8::try_from(number / 3 % 8).unwrap() << 5;
        trace.extend([&PSB[..], &[first, u8::try_from(number / 24 % 250).unwrap()]].concat());
    }
    let found = find_damage(Tracer::IntelPt, &Source::new(&trace), 0..to_u64(trace.len()));
    assert_eq!((found.len(), found.last().unwrap().range.end), (STRETCHES, to_u64(trace.len())));
}
