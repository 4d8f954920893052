//! Flipped bits in zstd blocks as libzstd makes them for `perf record -z`, and what the partial
//! expander still knows of them.

use tracemend::kit::expand::zstd::{Change, Expander, PartialStream};
use tracemend_tests::sweep::{Share, is_left_to_the_gate};
use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer};

/// Bytes of the header of a frame without content size.
const FRAME_HEADER: usize = 6;
/// Bytes of the header of a block.
const BLOCK_HEADER: usize = 3;
const WINDOW_MAX: u64 = 1 << 27;

/// Words as samples have them: some that are often the same, and some low bytes that differ.
fn records(count: u64) -> Vec<u8> {
    let word = |number: u64| match number % 8 {
        0 => 9 | 64 << 48,
        1 => 0xffff_ffff_8200_0000 + number.wrapping_mul(0x9e37_79b9) % 4096 * 16,
        2 => 4711 | 4711 << 32,
        3 => 4_000_000_000_000 + number * 1_000_003 + number.wrapping_mul(0x85eb_ca6b) % 977,
        other => other * 0x1001,
    };
    (0..count * 8).flat_map(|number| word(number).to_le_bytes()).collect()
}

/// Compresses bytes as `perf record -z` does: the frame header, and a block that is flushed.
pub(super) fn compress(bytes: &[u8], level: i32) -> (Vec<u8>, Vec<u8>) {
    let mut context = CCtx::create();
    context.set_parameter(CParameter::CompressionLevel(level)).unwrap();
    let mut stored = vec![0; bytes.len() + 1024];
    let mut out = OutBuffer::around(&mut stored[..]);
    let mut input = InBuffer::around(bytes);
    while input.pos() < bytes.len() {
        context.compress_stream(&mut out, &mut input).unwrap();
    }
    assert_eq!(context.flush_stream(&mut out).unwrap(), 0);
    let block = out.as_slice()[FRAME_HEADER..].to_vec();
    let size =
        usize::from(block[0] >> 3) | usize::from(block[1]) << 5 | usize::from(block[2]) << 13;
    assert_eq!(size + BLOCK_HEADER, block.len(), "one block");
    (out.as_slice()[..FRAME_HEADER].to_vec(), block)
}

/// The stream after a frame header.
fn open(header: &[u8]) -> PartialStream {
    let mut stream = PartialStream::new(WINDOW_MAX);
    assert_eq!(stream.feed(header, &mut Vec::new(), usize::MAX), header.len());
    stream
}

/// Expands a block by the partial expander; `None` if it has a fault.
fn expand(header: &[u8], block: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let fed = open(header).feed(block, &mut out, usize::MAX);
    (fed == block.len()).then_some(out)
}

/// Whether libzstd, which the check uses, refuses a block.
fn is_refused(header: &[u8], block: &[u8]) -> bool {
    let mut expander = Expander::new(WINDOW_MAX);
    let stored = [header, block].concat();
    let mut rest = stored.as_slice();
    while !rest.is_empty() {
        let Ok(fed) = expander.feed(rest) else { return true };
        rest = &rest[fed.stored..];
        expander.take(&mut Vec::new(), usize::MAX);
    }
    false
}

/// The bytes of a block with one bit flipped.
fn flipped(block: &[u8], at: usize, bit: usize) -> Vec<u8> {
    let mut damaged = block.to_vec();
    damaged[at] ^= 1 << (bit % 8);
    damaged
}

#[test]
fn what_libzstd_refuses_is_refused() {
    let (header, block) = compress(&records(900), 3);
    let share = Share::one_in(7);
    let (mut refused, mut disputed) = (0, Vec::new());
    for at in share.of(BLOCK_HEADER..block.len()) {
        for bit in 0..8 {
            let damaged = flipped(&block, at, bit);
            if is_refused(&header, &damaged) {
                refused += 1;
                disputed.extend(expand(&header, &damaged).map(|_| (at, bit)));
            }
        }
    }
    assert!(disputed.is_empty() && refused > 100, "{refused}, {disputed:?}");
}

#[test]
fn a_reserved_bit_of_the_sequences_is_a_fault_that_is_found() {
    // Raw literals: a header of 2 bytes, and the literals; then the number of sequences.
    let bytes = records(100);
    let (header, block) = compress(&bytes, 3);
    let literals = &block[BLOCK_HEADER..];
    assert_eq!(literals[0] & 0xf, 4, "stored literals of 12 bits");
    let count = usize::from(literals[0] >> 4) | usize::from(literals[1]) << 4;
    let sequences = BLOCK_HEADER + 2 + count;
    let modes = sequences + if block[sequences] < 128 { 1 } else { 2 };
    for bit in 0..2 {
        let damaged = flipped(&block, modes, bit);
        assert!(is_refused(&header, &damaged) && expand(&header, &damaged).is_none());
        let changes = open(&header).find_changes(&damaged, &mut (1 << 24));
        assert!(changes.contains(&Change { at: modes, value: block[modes] }), "{changes:?}");
    }
}

#[test]
fn a_flipped_bit_is_found_where_all_values_take_too_many_steps() {
    if is_left_to_the_gate("a flipped bit is found where all values take too many steps") {
        return;
    }
    let (header, block) = compress(&records(900), 3);
    let (mut found, mut cases) = (0, 0);
    let mut fewer = 0;
    // The bits of the sequences end the block, and are read from its end on.
    for at in (block.len() - 900..block.len() - 100).step_by(37) {
        let damaged = flipped(&block, at, at);
        if expand(&header, &damaged).is_some() {
            continue;
        }
        if fewer == 0 {
            let mut left = u64::MAX;
            open(&header).find_changes(&damaged, &mut left);
            // All values take about 32 times the steps of the bits.
            fewer = (u64::MAX - left) / 8;
        }
        let changes = open(&header).find_changes(&damaged, &mut fewer.clone());
        cases += 1;
        found += usize::from(changes.contains(&Change { at, value: block[at] }));
    }
    assert!(cases > 10 && found + 1 >= cases, "{found} of {cases}");
}

#[test]
fn literals_of_the_streams_without_a_fault_are_known() {
    if is_left_to_the_gate("literals of the streams without a fault are known") {
        return;
    }
    let bytes = records(900);
    for level in [1, 3, 22] {
        let (header, block) = compress(&bytes, level);
        assert_eq!(expand(&header, &block).as_ref(), Some(&bytes));
        let (mut known, mut blocks) = (0, 0);
        for at in (BLOCK_HEADER..block.len()).step_by(11) {
            let damaged = flipped(&block, at, at);
            let fill = |filler| {
                let mut out = Vec::new();
                open(&header).fill(&damaged, filler, &mut out).map(|_| out)
            };
            if expand(&header, &damaged).is_some() {
                continue;
            }
            let (Some(one), Some(other)) = (fill(0x55), fill(0xaa)) else { continue };
            blocks += 1;
            for (place, (one, other)) in one.iter().zip(&other).enumerate() {
                if one == other {
                    assert_eq!(*one, bytes[place], "level {level}, byte {at} of the block");
                    known += 1;
                }
            }
        }
        assert!(blocks > 20, "{blocks}");
        assert!(known * 2 > blocks * bytes.len(), "level {level}: {known} of {blocks} blocks");
    }
}

#[test]
fn the_right_value_is_among_those_of_a_byte_that_is_found() {
    if is_left_to_the_gate("the right value is among those of a byte that is found") {
        return;
    }
    let (header, block) = compress(&records(900), 3);
    let mut few = 0;
    let (mut found, mut missed) = (0, Vec::new());
    let share = Share::one_in(32);
    for (at, mask) in share.of((block.len() - 900..block.len() - 60).flat_map(|at| {
        // Several bits: with one of them right, a value can be near enough.
        [0b11_u8, 0b1001_0000, 0b110_1000, 0x5b].map(|mask| (at, mask))
    })) {
        let mut damaged = block.clone();
        damaged[at] ^= mask;
        if expand(&header, &damaged).is_some() {
            continue;
        }
        if few == 0 {
            let mut left = u64::MAX;
            open(&header).find_changes(&damaged, &mut left);
            // All values of all bytes take more.
            few = (u64::MAX - left) / 8;
        }
        let changes = open(&header).find_changes(&damaged, &mut few.clone());
        if changes.iter().any(|change| change.at == at) {
            found += 1;
            if !changes.contains(&Change { at, value: block[at] }) {
                missed.push((at, mask));
            }
        }
    }
    assert!(missed.is_empty() && found > 0, "{found} found: {missed:?}");
}
