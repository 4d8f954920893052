//! Recordings with traces of a processor (AUX data), packet by packet.
//!
//! Sources: Intel SDM, volume 3, Intel Processor Trace; Arm Architecture Reference Manual,
//! Statistical Profiling Extension; Arm CoreSight Architecture Specification, Trace Formatter.

use super::attr::{Attr, sample_type as bit};
use super::bytes::Order;
use super::feature::number as feature;
use super::record::{Maker, Record};
use super::recording::{Built, Recording};

/// The type of the event of the recordings.
const SOFTWARE: u64 = 1;
/// A feature that follows the index.
const CLOCKID: u32 = 23;

/// A tracer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracer {
    /// Intel PT.
    IntelPt,
    /// Arm SPE.
    ArmSpe,
    /// CoreSight with one ETMv4.
    CoreSight,
}

impl Tracer {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::IntelPt, Self::ArmSpe, Self::CoreSight];

    /// The type and the words of AUXTRACE_INFO.
    fn info(self) -> (u32, Vec<u64>) {
        match self {
            // PMU type, clock, bits of the options, snapshot, per CPU, MTC, TSC, CYC, filter.
            Self::IntelPt => {
                (1, vec![8, 0, 1, 0, 0, 1 << 10, 1 << 11, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0])
            }
            Self::ArmSpe => (4, vec![8, 1]),
            Self::CoreSight => {
                let etm = [0x4040_4040_4040_4040, 0, 7, 0, 0x10, 0, 0, 0, 0, 0];
                // perf demands an event of the PMU.
                (3, [&[1, SOFTWARE << 32 | 1, 0][..], &etm].concat())
            }
        }
    }

    /// A trace of this tracer, of `blocks` blocks of 64 bytes.
    pub fn trace(self, blocks: usize) -> Vec<u8> {
        match self {
            Self::IntelPt => intel_pt().repeat(blocks),
            Self::ArmSpe => arm_spe().repeat(blocks),
            Self::CoreSight => coresight().repeat(blocks),
        }
    }
}

/// PSB, TSC, CBR, PSBEND, TIP.PGE, TNT, TIP, MTC, FUP, TIP.PGD, PAD.
fn intel_pt() -> Vec<u8> {
    let mut block = [0x02, 0x82].repeat(8);
    block.extend([0x19, 1, 2, 3, 4, 5, 6, 7, 0x02, 0x03, 0x18, 0x00, 0x02, 0x23]);
    block.extend([0x71, 0, 0x10, 0x40, 0, 0, 0, 0x06, 0xa6, 0x2d, 0x20, 0x10, 0x59, 0x17]);
    block.extend([0x3d, 0x30, 0x10, 0x01]);
    block.resize(64, 0);
    block
}

/// Address, context, events, operation, counters, data source, address, timestamp, padding.
fn arm_spe() -> Vec<u8> {
    let mut block = vec![0xb0, 0, 0x10, 0x40, 0, 0, 0, 0, 0x80, 0x64, 9, 0, 0, 0, 0x52, 6, 0];
    block.extend([0x49, 0, 0x98, 3, 0, 0x99, 4, 0, 0x9a, 1, 0, 0x43, 1]);
    block.extend([0xb2, 0, 0x20, 0x60, 0, 0, 0, 0, 0, 0x71, 1, 2, 3, 4, 5, 6, 7, 8]);
    block.resize(64, 0);
    block
}

/// Four frames, of which the first names source 0x10. Their data would be reserved sources.
fn coresight() -> Vec<u8> {
    let mut block = vec![0x21];
    block.extend((1..64).map(|place| if place % 2 == 0 { 0x04 } else { 0xf5 }));
    block
}

impl Maker {
    /// 70 AUXTRACE_INFO of a tracer.
    pub fn tracer(&self, tracer: Tracer) -> Record {
        let (kind, words) = tracer.info();
        let mut body = self.body();
        body.u32(kind).u32(0).u64s(&words);
        self.user(70, body)
    }

    /// 11 AUX.
    pub fn aux_of(&mut self, offset: u64, size: u64, flags: u64) -> Record {
        let mut body = self.body();
        body.u64(offset).u64(size).u64(flags);
        self.kernel(11, 0, body)
    }

    /// 71 AUXTRACE with the bytes from `offset` on of the buffer of CPU 0.
    pub fn auxtrace_of(&self, offset: u64, trace: &[u8]) -> Record {
        let mut body = self.body();
        body.u64(trace.len() as u64).u64(offset).u64(1).u32(0).u32(u32::MAX).u32(0).u32(0);
        Record { outside: trace.to_vec(), ..self.user(71, body) }
    }
}

/// The event of the recordings: its records name their CPU, by which a trace is found.
pub fn event() -> Attr {
    let fields = bit::IP | bit::TID | bit::TIME | bit::CPU | bit::PERIOD;
    Attr::cpu_clock(fields).with_ids(&[11])
}

/// The records of a recording with two traces, one after the other, of one buffer.
pub fn records(tracer: Tracer) -> Vec<Record> {
    let mut maker = Maker::new(Order::Little, &event());
    // For Arm SPE perf script divides by the multiplier of the TIME_CONV before AUXTRACE_INFO.
    let mut records = vec![maker.time_conv(), maker.tracer(tracer)];
    records.extend([maker.comm("forge"), maker.sample()]);
    let mut offset = 0;
    for trace in [tracer.trace(16), tracer.trace(8)] {
        let len = trace.len() as u64;
        records.push(maker.aux_of(offset, len, 0));
        records.extend([maker.auxtrace_of(offset, &trace), maker.sample()]);
        offset += len;
    }
    records
}

/// A recording of these records with an index, which is `index` or the right one.
pub fn of_records(records: Vec<Record>, index: Option<Vec<u8>>) -> Built {
    let mut recording = Recording::new(Order::Little, vec![event()]);
    recording.extend(records).feature(feature::HOSTNAME);
    match index {
        Some(section) => recording.feature_with(feature::AUXTRACE, section),
        None => recording.feature(feature::AUXTRACE),
    };
    recording.feature(CLOCKID).build()
}

/// A sound recording with two traces.
pub fn traced(tracer: Tracer) -> Built {
    of_records(records(tracer), None)
}
