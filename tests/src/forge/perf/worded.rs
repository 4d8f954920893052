//! Records and a feature of many words, of which no two are alike: a word under the name of its
//! neighbour shows.
//!
//! Sources: the headers of `tools/perf/util` and `tools/perf/arch` that fill AUXTRACE_INFO,
//! `schedstat-v15.h` to `schedstat-v17.h` of `tools/lib/perf/include/perf`, and `bpf-utils.c`.

use super::bytes::{Bytes, Order};
use super::record::{Maker, Record};

/// The type of the event of the recordings, which perf demands of CoreSight.
const SOFTWARE: u64 = 1;
/// The number of the first word that may have any value.
const FIRST: u64 = 0x101;
/// The filter of Intel PT.
pub const FILTER: &str = "filter 0x1100/0x40@/bin/app";

/// Numbers from `first` on.
fn counted(first: u64, nr: u64) -> Vec<u64> {
    (first..first + nr).collect()
}

impl Maker {
    fn tracer_of(&self, kind: u32, words: &[u64]) -> Record {
        let mut body = self.body();
        body.u32(kind).u32(0).u64s(words);
        self.user(70, body)
    }

    /// 70 AUXTRACE_INFO of every tracer, in every form.
    pub fn every_tracer(&self) -> Vec<Record> {
        let pt = counted(FIRST, 16);
        let mut filtered = self.body();
        filtered.u32(1).u32(0).u64s(&pt).u64(FILTER.len() as u64).text(FILTER, 8).u64(FIRST + 16);
        vec![
            // From the first versions to a recent one with a filter.
            self.tracer_of(1, &pt[..10]),
            self.tracer_of(1, &[&pt[..], &[0, FIRST + 16]].concat()),
            self.user(70, filtered),
            self.tracer_of(2, &counted(FIRST, 6)),
            self.coresight(0, &[(0x30, 4), (0x40, 7)]),
            // A newer perf may add registers.
            self.coresight(2, &[(0x30, 4), (0x40, 8), (0x50, 11)]),
            self.tracer_of(4, &counted(FIRST, 2)),
            self.arm_spe(4, 6),
            // A newer perf may add words.
            self.arm_spe(5, 9),
            self.tracer_of(5, &[]),
            self.tracer_of(6, &counted(FIRST, 1)),
            self.tracer_of(7, &counted(FIRST, 1)),
        ]
    }

    /// CoreSight with a CPU for each byte of a magic and number of registers.
    fn coresight(&self, version: u64, units: &[(u8, u64)]) -> Record {
        let mut words = vec![version, SOFTWARE << 32 | units.len() as u64, FIRST];
        let mut next = FIRST + 1;
        for (byte, nr) in units {
            words.extend([u64::from_ne_bytes([*byte; 8]), next]);
            words.extend((version > 0).then_some(nr));
            words.extend(counted(next + 1, *nr));
            next += nr + 1;
        }
        self.tracer_of(3, &words)
    }

    /// Arm SPE of version 2 with a head of so many words, and two CPUs of so many.
    fn arm_spe(&self, head: u64, each: u64) -> Record {
        let mut words = vec![2, head, FIRST, 2];
        words.extend(counted(FIRST + 1, head - 4));
        for cpu in [1, 2] {
            let start = FIRST + 16 * cpu;
            words.extend([0x1010_1010_1010_1010, start, each - 3]);
            words.extend(counted(start + 1, each - 3));
        }
        self.tracer_of(4, &words)
    }

    /// 86 SCHEDSTAT_DOMAIN of the versions 15 to 17 and the next one, in the size that perf 7.2
    /// gives each.
    pub fn schedstat_domains(&self) -> Vec<Record> {
        let domain = |(version, nr): (u16, u32)| {
            let mut body = self.body();
            body.u64(self.time).u32(5).u16(version).u16(7);
            (1..=nr).for_each(|count| _ = body.u32(count));
            body.zeros(184 - 4 * nr as usize);
            self.user(86, body)
        };
        [(15, 36), (16, 36), (17, 45), (18, 46)].map(domain).into()
    }
}

/// BPF_PROG_INFO: a program with all arrays, and one with a shorter description and two arrays.
pub fn programs(order: Order) -> Vec<u8> {
    let mut out = Bytes::new(order);
    let (info, data) = (program_info(order), program_data());
    out.u32(2).u32(info.len() as u32).u32(data.len() as u32).u64(0x1ff).raw(&info).raw(&data);
    // The description ends after nr_jited_func_lens; map_ids and jited_ksyms follow.
    out.u32(112).u32(24).u64(0xc).raw(&info[..112]).raw(&data[32..56]);
    out.done()
}

/// BPF_PROG_INFO: a program with a description of a newer kernel, and data that no array has.
pub fn newer_program(order: Order) -> Vec<u8> {
    let mut out = Bytes::new(order);
    let info = program_info(order);
    out.u32(1).u32(info.len() as u32 + 8).u32(8).u64(0).raw(&info).u64(1).raw(&[7; 8]);
    out.done()
}

/// `struct bpf_prog_info` with the places of [`program_data`].
fn program_info(order: Order) -> Vec<u8> {
    let mut out = Bytes::new(order);
    out.u32(0x101).u32(0x102).raw(b"\x01tag\x02\x03\x04\x05").u32(9).u32(16);
    out.u64(0).u64(16).u64(0x103).u32(0x104).u32(3).u64(32);
    out.fixed("forged_program", 16).u32(0x105).u32(1).u64(0x106).u64(0x107);
    // Two symbols, one length of a function; of the others one entry each.
    out.u32(1).u32(2).u64(48).u64(56).u32(0x108).u32(8).u64(64).u32(1).u32(2).u64(72).u64(104);
    out.u32(3).u32(16).u32(8).u32(1).u64(128).u64(0x109).u64(0x10a).u64(0x10b);
    out.u32(0x10c).u32(0x10d).u32(0x10e).u32(0);
    out.done()
}

/// Code of 9 and of 16 bytes, 3 maps, a symbol, 2 lengths, a function, 2 lines of 16 bytes, 3 lines
/// of 8 bytes, a tag; each padded to 8.
fn program_data() -> Vec<u8> {
    let sizes = [9, 16, 12, 8, 8, 8, 32, 24, 8];
    let arrays = sizes.into_iter().enumerate().map(|(index, size)| {
        let mut array = vec![index as u8 + 1; size];
        array.resize(size.next_multiple_of(8), 0);
        array
    });
    arrays.collect::<Vec<_>>().concat()
}
