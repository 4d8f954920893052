//! Records: `perf_event_header` (type u32, misc u16, size u16) and a body.
//!
//! Sources: `include/uapi/linux/perf_event.h` for the kernel's records, `event.h` of
//! `tools/lib/perf/include/perf` for those of perf itself.

use super::attr::Attr;
use super::bytes::{Bytes, Order};
use super::sample::{CONTEXT_USER, Sample, Value, read_values, sample_id};

/// `misc` of user-space records.
pub const MISC_USER: u16 = 2;
/// `misc` of kernel records.
pub const MISC_KERNEL: u16 = 1;
/// `misc` of an MMAP2 record that carries a build id.
pub const MISC_MMAP_BUILD_ID: u16 = 1 << 14;
/// `misc` of a BUILD_ID record that carries the build id's size.
pub const MISC_BUILD_ID_SIZE: u16 = 1 << 15;
/// `misc` of a COMM record that stems from an exec.
pub const MISC_COMM_EXEC: u16 = 1 << 13;
/// `misc` of a SWITCH record for a thread that leaves the processor.
pub const MISC_SWITCH_OUT: u16 = 1 << 13;
/// Type of a SAMPLE record.
pub const SAMPLE: u32 = 9;

/// One record.
#[derive(Clone, Debug)]
pub struct Record {
    /// `header.type`.
    pub kind: u32,
    /// `header.misc`.
    pub misc: u16,
    /// The bytes after the header that `header.size` counts.
    pub body: Vec<u8>,
    /// The payload that `header.size` does not count: AUXTRACE and TRACING_DATA only.
    pub outside: Vec<u8>,
    /// Offsets of the fields of a SAMPLE in the body.
    pub fields: Vec<(&'static str, usize)>,
    /// The time of a SAMPLE.
    pub time: Option<u64>,
}

impl Record {
    /// A record of any type.
    pub fn new(kind: u32, misc: u16, body: Vec<u8>) -> Self {
        Self { kind, misc, body, outside: Vec::new(), fields: Vec::new(), time: None }
    }

    /// Encodes header and body, without the payload outside `header.size`.
    pub fn encode(&self, order: Order) -> Vec<u8> {
        let size = u16::try_from(8 + self.body.len()).expect("a record is below 64 KiB");
        let mut out = Bytes::new(order);
        out.u32(self.kind).u16(self.misc).u16(size).raw(&self.body);
        out.done()
    }
}

/// Builds records of one event, each one microsecond after the previous one.
#[derive(Clone, Debug)]
pub struct Maker {
    /// Byte order.
    pub order: Order,
    /// The event that the records belong to.
    pub attr: Attr,
    /// The time of the next record in nanoseconds.
    pub time: u64,
}

impl Maker {
    /// Starts at 1 s.
    pub fn new(order: Order, attr: &Attr) -> Self {
        Self { order, attr: attr.clone(), time: 1_000_000_000 }
    }

    fn tick(&mut self) -> Sample {
        let sample = Sample::of(&self.attr, self.time);
        self.time += 1000;
        sample
    }

    pub(super) fn body(&self) -> Bytes {
        Bytes::new(self.order)
    }

    /// A record of the kernel: the body padded to 8, then the id fields.
    pub(super) fn kernel(&mut self, kind: u32, misc: u16, mut body: Bytes) -> Record {
        let sample = self.tick();
        body.pad(8).raw(&sample_id(&self.attr, &sample, self.order));
        Record::new(kind, misc, body.done())
    }

    pub(super) fn user(&self, kind: u32, body: Bytes) -> Record {
        Record::new(kind, 0, body.done())
    }

    /// 9 SAMPLE with something in every field.
    pub fn sample(&mut self) -> Record {
        let sample = self.tick();
        self.sample_of(&sample)
    }

    /// 9 SAMPLE as described.
    pub fn sample_of(&self, sample: &Sample) -> Record {
        let (body, fields) = sample.encode(&self.attr, self.order);
        Record { fields, time: Some(sample.time), ..Record::new(SAMPLE, MISC_USER, body) }
    }

    /// 9 SAMPLE with changes; it takes the next time.
    pub fn sample_with(&mut self, change: impl FnOnce(&mut Sample)) -> Record {
        let mut sample = self.tick();
        change(&mut sample);
        self.sample_of(&sample)
    }

    /// 1 MMAP.
    pub fn mmap(&mut self) -> Record {
        let mut body = self.body();
        body.u32(100).u32(100).u64(0x50_0000).u64(0x1000).u64(0).text("/tmp/old", 8);
        self.kernel(1, MISC_USER, body)
    }

    /// 1 MMAP of the kernel at an address.
    pub fn kernel_map(&mut self, address: u64) -> Record {
        let mut body = self.body();
        body.u32(u32::MAX).u32(0).u64(address).u64(0x140_0000).u64(address);
        body.text("[kernel.kallsyms]_text", 8);
        self.kernel(1, MISC_KERNEL, body)
    }

    /// 2 LOST.
    pub fn lost(&mut self) -> Record {
        let mut body = self.body();
        body.u64(self.attr.ids.first().copied().unwrap_or(0)).u64(3);
        self.kernel(2, 0, body)
    }

    /// 3 COMM, from an exec.
    pub fn comm(&mut self, name: &str) -> Record {
        let mut body = self.body();
        body.u32(100).u32(100).text(name, 8);
        self.kernel(3, MISC_COMM_EXEC, body)
    }

    /// 4 EXIT or 7 FORK.
    pub fn task(&mut self, kind: u32) -> Record {
        let mut body = self.body();
        body.u32(101).u32(100).u32(101).u32(100).u64(self.time);
        self.kernel(kind, 0, body)
    }

    /// 5 THROTTLE or 6 UNTHROTTLE.
    pub fn throttle(&mut self, kind: u32) -> Record {
        let id = self.attr.ids.first().copied().unwrap_or(0);
        let mut body = self.body();
        body.u64(self.time).u64(id).u64(id);
        self.kernel(kind, 0, body)
    }

    /// 8 READ in the layout of the event's `read_format`.
    pub fn read(&mut self) -> Record {
        let id = self.attr.ids.first().copied().unwrap_or(0);
        let mut body = self.body();
        body.u32(100).u32(100);
        let values = [Value { value: 5, id, lost: 0 }];
        read_values(&mut body, self.attr.read_format, (self.time, self.time), &values);
        self.kernel(8, 0, body)
    }

    /// 10 MMAP2 with device and inode.
    pub fn mmap2(&mut self) -> Record {
        let mut body = self.body();
        body.u32(100).u32(100).u64(0x40_0000).u64(0x2000).u64(0);
        body.u32(0xfe).u32(0).u64(1234).u64(0).u32(5).u32(2).text("/tmp/forged", 8);
        self.kernel(10, MISC_USER, body)
    }

    /// 10 MMAP2 with a build id.
    pub fn mmap2_build_id(&mut self) -> Record {
        let mut body = self.body();
        body.u32(100).u32(100).u64(0x60_0000).u64(0x2000).u64(0);
        body.u8(20).u8(0).u16(0).raw(&[0xab; 20]).u32(5).u32(2).text("/tmp/identified", 8);
        self.kernel(10, MISC_USER | MISC_MMAP_BUILD_ID, body)
    }

    /// 11 AUX.
    pub fn aux(&mut self) -> Record {
        let mut body = self.body();
        body.u64(0).u64(48).u64(0);
        self.kernel(11, 0, body)
    }

    /// 12 ITRACE_START.
    pub fn itrace_start(&mut self) -> Record {
        let mut body = self.body();
        body.u32(100).u32(100);
        self.kernel(12, 0, body)
    }

    /// 13 LOST_SAMPLES.
    pub fn lost_samples(&mut self) -> Record {
        let mut body = self.body();
        body.u64(2);
        self.kernel(13, 0, body)
    }

    /// 14 SWITCH.
    pub fn switch(&mut self) -> Record {
        let body = self.body();
        self.kernel(14, MISC_SWITCH_OUT, body)
    }

    /// 15 SWITCH_CPU_WIDE.
    pub fn switch_cpu_wide(&mut self) -> Record {
        let mut body = self.body();
        body.u32(100).u32(100);
        self.kernel(15, 0, body)
    }

    /// 16 NAMESPACES: seven links.
    pub fn namespaces(&mut self) -> Record {
        let mut body = self.body();
        body.u32(100).u32(100).u64(7);
        for number in 0..7 {
            body.u64(4).u64(0xf000_0000 + number);
        }
        self.kernel(16, 0, body)
    }

    /// 17 KSYMBOL of type BPF.
    pub fn ksymbol(&mut self) -> Record {
        let mut body = self.body();
        body.u64(0xffff_ffff_c000_0000).u32(64).u16(1).u16(0).text("bpf_prog_6deef7357e7b4530", 8);
        self.kernel(17, 0, body)
    }

    /// 18 BPF_EVENT: a program was unloaded, so that no reader looks for it.
    pub fn bpf_event(&mut self) -> Record {
        let mut body = self.body();
        body.u16(2).u16(0).u32(9).raw(&[0x6d; 8]);
        self.kernel(18, 0, body)
    }

    /// 19 CGROUP.
    pub fn cgroup(&mut self) -> Record {
        let mut body = self.body();
        body.u64(1).text("/forged", 8);
        self.kernel(19, 0, body)
    }

    /// 20 TEXT_POKE: five bytes become five others.
    pub fn text_poke(&mut self) -> Record {
        let mut body = self.body();
        body.u64(0xffff_ffff_8100_0010).u16(5).u16(5);
        body.raw(&[0x0f, 0x1f, 0x44, 0, 0]).raw(&[0xe9, 1, 0, 0, 0]);
        self.kernel(20, MISC_KERNEL, body)
    }

    /// 21 AUX_OUTPUT_HW_ID.
    pub fn aux_output_hw_id(&mut self) -> Record {
        let mut body = self.body();
        body.u64(1);
        self.kernel(21, 0, body)
    }

    /// 22 CALLCHAIN_DEFERRED (Linux 6.19): cookie, count, addresses.
    pub fn callchain_deferred(&mut self) -> Record {
        let mut body = self.body();
        body.u64(77).u64(2).u64(CONTEXT_USER).u64(0x40_1000);
        self.kernel(22, MISC_USER, body)
    }

    /// Each kernel record from 1 to 21 once, type 9 twice.
    pub fn every_kernel_record(&mut self) -> Vec<Record> {
        vec![
            self.comm("forge"),
            self.mmap(),
            self.mmap2(),
            self.mmap2_build_id(),
            self.task(7),
            self.itrace_start(),
            self.namespaces(),
            self.ksymbol(),
            self.bpf_event(),
            self.cgroup(),
            self.text_poke(),
            self.sample(),
            self.throttle(5),
            self.throttle(6),
            self.switch(),
            self.switch_cpu_wide(),
            self.aux_output_hw_id(),
            self.aux(),
            self.lost(),
            self.lost_samples(),
            self.sample(),
            self.read(),
            self.task(4),
        ]
    }

    /// 64 HEADER_ATTR: an attr and its ids.
    pub fn header_attr(&self, attr: &Attr) -> Record {
        let mut body = self.body();
        body.raw(&attr.encode(self.order)).u64s(&attr.ids);
        self.user(64, body)
    }

    /// 65 HEADER_EVENT_TYPE (no longer written since 2012).
    pub fn event_type(&self) -> Record {
        let mut body = self.body();
        body.u64(0).fixed("cpu-clock", 64);
        self.user(65, body)
    }

    /// 66 TRACING_DATA: `header.size` is 12; the payload, padded to 8, follows outside of it.
    pub fn tracing_data(&self, payload: &[u8]) -> Record {
        let mut outside = payload.to_vec();
        outside.resize(payload.len().next_multiple_of(8), 0);
        let mut body = self.body();
        body.u32(outside.len() as u32);
        Record { outside, ..self.user(66, body) }
    }

    /// 67 BUILD_ID with a size byte, padded to a multiple of 8 as perf 7 demands.
    pub fn build_id(&self) -> Record {
        let body = [build_id_body(self.order), vec![0; 4]].concat();
        Record::new(67, MISC_USER | MISC_BUILD_ID_SIZE, body)
    }

    /// 68 FINISHED_ROUND.
    pub fn finished_round(&self) -> Record {
        self.user(68, self.body())
    }

    /// 69 ID_INDEX of the event's ids, one for each processor.
    pub fn id_index(&self) -> Record {
        let mut body = self.body();
        body.u64(self.attr.ids.len() as u64);
        for (index, id) in self.attr.ids.iter().enumerate() {
            body.u64(*id).u64(index as u64).u64(index as u64).u64(100);
        }
        self.user(69, body)
    }

    /// 70 AUXTRACE_INFO of type 2, Intel BTS, with its six numbers.
    pub fn auxtrace_info(&self) -> Record {
        let mut body = self.body();
        body.u32(2).u32(0).u64s(&[6, 0, 1, 0, 0, 0]);
        self.user(70, body)
    }

    /// 71 AUXTRACE: the trace follows outside `header.size`.
    pub fn auxtrace(&self, trace: &[u8]) -> Record {
        let mut body = self.body();
        body.u64(trace.len() as u64).u64(0).u64(1).u32(0).u32(100).u32(0).u32(0);
        Record { outside: trace.to_vec(), ..self.user(71, body) }
    }

    /// 72 AUXTRACE_ERROR, format 1 (with a time).
    pub fn auxtrace_error(&self) -> Record {
        let mut body = self.body();
        body.u32(1).u32(2).u32(0).u32(100).u32(100).u32(1).u64(0x40_1000).u64(self.time);
        body.text("lost data", 8);
        self.user(72, body)
    }

    /// 73 THREAD_MAP.
    pub fn thread_map(&self) -> Record {
        let mut body = self.body();
        body.u64(1).u64(100).fixed("forge", 16);
        self.user(73, body)
    }

    /// 74 CPU_MAP as a list of processors (type 0), padded to 8.
    pub fn cpu_map(&self, cpus: &[u16]) -> Record {
        let mut body = self.body();
        body.u16(0).u16(cpus.len() as u16);
        for cpu in cpus {
            body.u16(*cpu);
        }
        body.pad(8);
        self.user(74, body)
    }

    /// 74 CPU_MAP as a mask (type 1) of 64-bit words: type, count, 8, 4 bytes of padding, words.
    /// The union is packed, so the words lie at offset 10 and are not aligned.
    pub fn cpu_map_mask64(&self, mask: u64) -> Record {
        let mut body = self.body();
        body.u16(1).u16(1).u16(8).zeros(4).u64(mask).pad(8);
        self.user(74, body)
    }

    /// 74 CPU_MAP as a range (type 2, Linux 6.0): any_cpu u8, pad u8, first u16, last u16.
    pub fn cpu_map_range(&self, first: u16, last: u16) -> Record {
        let mut body = self.body();
        body.u16(2).u8(0).u8(0).u16(first).u16(last);
        self.user(74, body)
    }

    /// 75 STAT_CONFIG: aggregation mode 3 (global), no interval, scaled.
    pub fn stat_config(&self) -> Record {
        let mut body = self.body();
        body.u64(3).u64s(&[0, 0, 1, 0, 2, 1]);
        self.user(75, body)
    }

    /// 76 STAT: one count of the event over all processors (cpu -1), as `perf stat` writes it
    /// for a workload. perf refuses a processor that the CPU_MAP before does not name.
    pub fn stat(&self, value: u64) -> Record {
        let mut body = self.body();
        body.u64(self.attr.ids.first().copied().unwrap_or(0)).u32(u32::MAX).u32(0);
        body.u64s(&[value, 1000, 1000]);
        self.user(76, body)
    }

    /// 77 STAT_ROUND: type 0 is an interval, 1 is final.
    pub fn stat_round(&self, kind: u64) -> Record {
        let mut body = self.body();
        body.u64(kind).u64(self.time);
        self.user(77, body)
    }

    /// 78 EVENT_UPDATE of all four types: unit, scale, name, processors.
    pub fn event_updates(&self) -> Vec<Record> {
        let id = self.attr.ids.first().copied().unwrap_or(0);
        let update = |kind: u64, data: &Bytes| {
            let mut body = self.body();
            body.u64(kind).u64(id).raw(&data.clone().done());
            self.user(78, body)
        };
        let new = || self.body();
        vec![
            update(0, new().text("msec", 8)),
            update(1, new().u64(1e-6_f64.to_bits())),
            update(2, new().text("cpu-clock", 8)),
            update(3, new().u16(0).u16(2).u16(0).u16(1)),
        ]
    }

    /// 79 TIME_CONV, the long form.
    pub fn time_conv(&self) -> Record {
        let mut body = self.body();
        body.u64s(&[31, 1 << 31, 0, 0, u64::MAX]).u8(1).u8(0).zeros(6);
        self.user(79, body)
    }

    /// 79 TIME_CONV as before Linux 5.10: three numbers.
    pub fn time_conv_short(&self) -> Record {
        let mut body = self.body();
        body.u64s(&[31, 1 << 31, 0]);
        self.user(79, body)
    }

    /// 80 HEADER_FEATURE: a feature's section in pipe mode.
    pub fn feature(&self, number: u32, section: &[u8]) -> Record {
        let mut body = self.body();
        body.u64(u64::from(number)).raw(section);
        self.user(80, body)
    }

    /// 82 FINISHED_INIT.
    pub fn finished_init(&self) -> Record {
        self.user(82, self.body())
    }

    /// 84 BPF_METADATA (Linux 6.17): program name, count, keys of 64 and values of 256 bytes.
    pub fn bpf_metadata(&self) -> Record {
        let mut body = self.body();
        body.fixed("forged", 16).u64(1).fixed("version", 64).fixed("1", 256);
        self.user(84, body)
    }

    /// 85 SCHEDSTAT_CPU of version 15 (as in patches, not seen in a file).
    pub fn schedstat_cpu(&self) -> Record {
        let mut body = self.body();
        body.u64(self.time).u32(0).u16(15).u16(0);
        for number in 0..6 {
            body.u32(number);
        }
        body.u64s(&[1, 2, 3]);
        self.user(85, body)
    }

    /// 86 SCHEDSTAT_DOMAIN of version 15 (as in patches, not seen in a file).
    pub fn schedstat_domain(&self) -> Record {
        let mut body = self.body();
        body.u64(self.time).u32(0).u16(15).u16(0);
        for number in 0..36 {
            body.u32(number);
        }
        self.user(86, body)
    }
}

/// `perf_record_header_build_id` without its header: pid, 20 bytes, their number, padding, and a
/// file name padded to 64 as `write_buildid` does.
pub fn build_id_body(order: Order) -> Vec<u8> {
    let mut body = Bytes::new(order);
    body.u32(u32::MAX).raw(&[0xab; 20]).u8(20).zeros(3).text("/tmp/forged", 64);
    body.done()
}
