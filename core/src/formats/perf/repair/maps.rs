//! Builds the maps of `perf stat record`: the CPUs and the threads of its counts.

use std::collections::BTreeSet;

use super::encode::{u16_bytes, u32_bytes, u64_bytes};
use crate::formats::perf::layout::{RECORD_HEADER, record};
use crate::kit::cursor::Order;
use crate::kit::num::{align8, to_u64, to_usize};

/// Most threads of a THREAD_MAP: 24 bytes each, and its size is a u16.
pub const THREADS: u32 = 2_700;

/// Builds a CPU_MAP that lists `cpus`, of which 65535 stands for any CPU; that one alone if there
/// are none. At most 4,097 fit.
pub fn cpu_map(cpus: &BTreeSet<u16>, order: Order) -> Vec<u8> {
    let any = BTreeSet::from([u16::MAX]);
    let cpus = if cpus.is_empty() { &any } else { cpus };
    let nr = u16::try_from(cpus.len()).unwrap_or(u16::MAX);
    let mut body = [u16_bytes(0, order), u16_bytes(nr, order)].concat();
    body.extend(cpus.iter().flat_map(|cpu| u16_bytes(*cpu, order)));
    map_record(record::CPU_MAP, body, order)
}

/// Builds a THREAD_MAP of unnamed threads (pid -1) up to number `last`, which is below [`THREADS`].
pub fn thread_map(last: u32, order: Order) -> Vec<u8> {
    let nr = last.saturating_add(1).min(THREADS);
    let mut body = u64_bytes(nr.into(), order).to_vec();
    for _ in 0..nr {
        body.extend(u64_bytes(u64::MAX, order));
        body.extend([0; 16]);
    }
    map_record(record::THREAD_MAP, body, order)
}

fn map_record(kind: u32, mut body: Vec<u8>, order: Order) -> Vec<u8> {
    body.resize(to_usize(align8(to_u64(body.len()))), 0);
    let size = RECORD_HEADER.saturating_add(to_u64(body.len()));
    let size = u16::try_from(size).unwrap_or(u16::MAX);
    let mut bytes = u32_bytes(kind, order).to_vec();
    bytes.extend(u16_bytes(0, order));
    bytes.extend(u16_bytes(size, order));
    bytes.extend(body);
    bytes
}
