//! Builds TRACING_DATA from the tracepoints of a recording.
//!
//! A tracepoint without a format gets one without fields: perf counts its samples and shows their
//! time, thread and name, and the text `fields lost`. Sources: perf's `util/trace-event-read.c`,
//! which reads it, and `kernel/trace/trace_events.c`, which has the common fields; the result was
//! read by perf 6.1.

use super::encode::{u16_bytes, u32_bytes, u64_bytes};
use crate::formats::perf::layout::record;
use crate::formats::perf::recover::tracepoints::Tracepoint;
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;

/// Magic and version: one without the command lines at the end.
const HEAD: &[u8] = b"\x17\x08\x44tracing0.5\0";
/// Size of a long of the kernel, and of its pages, in bytes.
const LONG_SIZE: u8 = 8;
const PAGE_SIZE: u32 = 4096;
/// The head of a page of the ring buffer, which samples of perf do not have. perf refuses
/// TRACING_DATA without it.
const PAGE_HEADER: &[u8] = b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
/// The head of an event of the ring buffer. perf skips it.
const EVENT_HEADER: &[u8] = b"\n";
/// The fields that all tracepoints have, and one without a size for the rest: perf demands one.
const FIELDS: &str = "format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:unsigned char fields[];\toffset:8;\tsize:0;\tsigned:0;

print fmt: \"fields lost\"\n";

/// Builds the content of TRACING_DATA.
pub fn tracing_data(tracepoints: &[Tracepoint], order: Order) -> Vec<u8> {
    let mut out = HEAD.to_vec();
    out.extend([u8::from(order == Order::Big), LONG_SIZE]);
    out.extend(u32_bytes(PAGE_SIZE, order));
    for (name, text) in
        [(b"header_page\0".as_slice(), PAGE_HEADER), (b"header_event\0", EVENT_HEADER)]
    {
        out.extend(name);
        push_text(&mut out, text, order);
    }
    // No formats of ftrace's own events.
    out.extend(u32_bytes(0, order));
    out.extend(u32_bytes(u32::try_from(tracepoints.len()).unwrap_or(u32::MAX), order));
    for tracepoint in tracepoints {
        let system = tracepoint.name.as_ref().map_or(b"unknown".as_slice(), |(system, _)| system);
        out.extend(system);
        out.push(0);
        out.extend(u32_bytes(1, order));
        match &tracepoint.format {
            Some(text) => push_text(&mut out, text, order),
            None => push_text(&mut out, &placeholder(tracepoint), order),
        }
    }
    // No symbols and no formats of printk.
    out.extend(u32_bytes(0, order));
    out.extend(u32_bytes(0, order));
    out
}

/// Builds a TRACING_DATA record of a pipe, with the content after it.
pub fn tracing_record(content: &[u8], order: Order) -> Vec<u8> {
    let len = content.len().next_multiple_of(8);
    let mut out = u32_bytes(record::TRACING_DATA, order).to_vec();
    out.extend(u16_bytes(0, order));
    out.extend(u16_bytes(TRACING_RECORD_LEN, order));
    out.extend(u32_bytes(u32::try_from(len).unwrap_or(u32::MAX), order));
    out.extend(content);
    out.resize(len.saturating_add(usize::from(TRACING_RECORD_LEN)), 0);
    out
}

/// Size of a TRACING_DATA record without its content: a header and a u32.
const TRACING_RECORD_LEN: u16 = 12;

/// Adds a text after its length.
fn push_text(out: &mut Vec<u8>, text: &[u8], order: Order) {
    out.extend(u64_bytes(to_u64(text.len()), order));
    out.extend(text);
}

/// Builds the format of a tracepoint whose fields are lost.
fn placeholder(tracepoint: &Tracepoint) -> Vec<u8> {
    let id = tracepoint.id;
    let name = match &tracepoint.name {
        Some((_, name)) => name.clone(),
        None => format!("tracepoint_{id}").into_bytes(),
    };
    [b"name: ".as_slice(), &name, format!("\nID: {id}\n{FIELDS}").as_bytes()].concat()
}
