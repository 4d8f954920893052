//! Specimens of the rules of perf.data.

use super::Specimen;
use crate::forge::perf::damage::FLAGS_AT;
use crate::forge::perf::feature::tracepoint_raw;
use crate::forge::perf::trace::{self, Tracer, traced};
use crate::forge::perf::{
    Attr, Built, Maker, Order, Record, Recording, Wrapper, by_name, feature_bit, read_format,
    sample_type,
};
use crate::properties::donor::{MACHINE, on_machine};

/// Rules that no recording can break.
pub const IMPOSSIBLE: &[(&str, &str)] = &[];
/// Codes whose specimen is still to be made.
pub const MISSING: &[&str] = &[];

fn built(name: &str) -> Built {
    by_name(name).built
}

const TYPE: u64 = sample_type::IP | sample_type::TID | sample_type::TIME | sample_type::PERIOD;

fn recording() -> Recording {
    Recording::new(Order::Little, vec![Attr::cpu_clock(TYPE).with_ids(&[11])])
}

/// A record that is older than the second round before it.
fn late() -> Vec<u8> {
    let mut recording = recording();
    let mut maker = recording.maker(0);
    let records = vec![
        maker.comm("forge"),
        maker.sample(),
        maker.finished_round(),
        maker.sample(),
        maker.finished_round(),
        maker.sample_with(|sample| sample.time = 1),
    ];
    recording.extend(records);
    recording.build().bytes
}

/// A sample whose attr has a bit more in sample_type. Two samples without the field would
/// contradict the bit.
fn with_sample_bit(bit: u32) -> Vec<u8> {
    let mut recording = recording();
    let mut maker = recording.maker(0);
    recording.extend(vec![maker.comm("forge"), maker.sample()]);
    let built = recording.build();
    let at = built.attr_spans[0].start + 24;
    built.with_u64(at, (1 << bit) | u64_at(&built.bytes, at))
}

/// One of many samples has a mode that no processor has.
fn odd_mode() -> Vec<u8> {
    let mut recording = recording();
    let mut maker = recording.maker(0);
    recording.push(maker.comm("forge"));
    recording.extend((0..64).map(|_| maker.sample()).collect::<Vec<_>>());
    let built = recording.build();
    let at = built.records[built.first_of(9).unwrap()].offset + 4;
    let mut bytes = built.bytes;
    bytes[at] |= 7;
    bytes
}

/// The main file of a directory without the others.
fn without_parts() -> Vec<u8> {
    let mut recording = recording();
    let mut maker = recording.maker(0);
    recording.extend(vec![maker.comm("forge"), maker.sample()]).feature(feature_bit::DIR_FORMAT);
    recording.build().bytes
}

/// A tracepoint whose TRACING_DATA is gone, as is its format.
fn without_formats() -> Vec<u8> {
    let traced = built("tracepoint");
    let content = traced.features.iter().find(|one| one.number == feature_bit::TRACING_DATA);
    let mut bytes = traced.without_feature(feature_bit::TRACING_DATA);
    bytes[content.unwrap().section.clone()].fill(0);
    bytes
}

/// Two events: records of one store their id first, those of the other after three fields.
fn mismatched() -> Vec<u8> {
    let first = Attr::cpu_clock(TYPE | sample_type::IDENTIFIER).with_ids(&[11]);
    let second = Attr::cpu_clock(TYPE | sample_type::ID).with_ids(&[12]);
    let mut recording = Recording::new(Order::Little, vec![first, second]);
    let mut maker = recording.maker(0);
    recording.extend(vec![maker.comm("forge"), maker.sample()]);
    recording.build().bytes
}

/// Compressed records with these inside, in a pipe.
fn piped(records: impl FnOnce(&mut Maker) -> Vec<Record>, cuts: &[usize]) -> Built {
    let mut recording = Recording::pipe(Order::Little, vec![Attr::cpu_clock(TYPE).with_ids(&[11])]);
    recording.feature(feature_bit::COMPRESSED);
    let mut maker = recording.maker(0);
    recording.push(maker.comm("forge"));
    recording.pack(Wrapper::Compressed, records(&mut maker), cuts);
    recording.build()
}

/// A record in a compressed one has a type that nothing writes.
fn wild_inside() -> Vec<u8> {
    let wild = |maker: &mut Maker| {
        let mut wild = maker.sample();
        wild.kind = 0x1234_5678;
        vec![maker.sample(), maker.sample(), wild, maker.sample()]
    };
    // The first sample has a compressed record of its own.
    let len = piped(|maker| vec![maker.sample()], &[]).expanded.len();
    piped(wild, &[len]).bytes
}

/// Cut between two compressed records that share a record.
fn torn_inside() -> Vec<u8> {
    let built = piped(|maker| vec![maker.sample(), maker.sample()], &[20]);
    let second = built.records.iter().filter(|record| record.kind == 81).nth(1).unwrap();
    built.cut(second.offset)
}

/// Counter values in samples without the ids of their events.
fn read_without_id() -> Vec<u8> {
    let attr = Attr::cpu_clock(TYPE | sample_type::ID | sample_type::READ);
    let attr = attr.with_read_format(read_format::ENABLED).with_ids(&[11]);
    let mut recording = Recording::new(Order::Little, vec![attr]);
    let mut maker = recording.maker(0);
    recording.extend(vec![maker.comm("forge"), maker.sample(), maker.sample()]);
    recording.build().bytes
}

/// Counts of `perf stat`, but not the map of their CPUs.
fn without_cpu_map() -> Vec<u8> {
    let attr = Attr::cpu_clock(sample_type::IDENTIFIER).with_ids(&[71]);
    let mut recording = Recording::new(Order::Little, vec![attr]);
    let maker = recording.maker(0);
    recording.push(maker.thread_map()).push(maker.stat_config()).push(maker.stat(500));
    recording.push(maker.stat_round(1));
    recording.features([feature_bit::STAT]);
    recording.build().bytes
}

/// The last compressed record ends inside its block.
fn cut_inside() -> Vec<u8> {
    let built = piped(|maker| vec![maker.sample(), maker.sample()], &[40]);
    let last = built.records.iter().rfind(|record| record.kind == 81).unwrap();
    let mut bytes = built.cut(last.offset + last.len - 5);
    let size = u16::try_from(last.len - 5).unwrap();
    bytes[last.offset + 6..last.offset + 8].copy_from_slice(&size.to_le_bytes());
    bytes
}

/// Attrs and ids in the attr table, in EVENT_DESC and in ID_INDEX.
fn copies() -> Built {
    let attr = Attr::cpu_clock(TYPE | sample_type::ID).with_ids(&[11, 12]);
    let mut recording = Recording::new(Order::Little, vec![attr]);
    let mut maker = recording.maker(0);
    let records =
        [maker.id_index(), maker.comm("forge"), maker.sample(), maker.sample(), maker.sample()];
    recording.extend(records).features([3, 5, 6, 7, 12, 13]);
    recording.build()
}

/// A pipe whose attr comes after its samples.
fn attr_at_end() -> Vec<u8> {
    let piped = built("pipe");
    let attr = piped.records[piped.first_of(64).unwrap()].range();
    let mut bytes = piped.bytes.clone();
    let moved: Vec<u8> = bytes.drain(attr).collect();
    bytes.extend(moved);
    bytes
}

/// A recording with these features.
fn of_features(numbers: &[u32]) -> Built {
    let mut recording = recording();
    let mut maker = recording.maker(0);
    recording.extend(vec![maker.comm("forge"), maker.sample(), maker.sample()]);
    recording.features(numbers.iter().copied());
    recording.build()
}

/// Flips bits of the byte at `at`.
fn flipped(built: &Built, at: usize, bits: u8) -> Vec<u8> {
    built.with_byte(at, built.bytes[at] ^ bits)
}

/// The place of the index of traces.
fn of_index(built: &Built) -> usize {
    let index = built.features.iter().find(|feature| feature.number == feature_bit::AUXTRACE);
    index.unwrap().section.start
}

/// A recording for every rule.
pub fn specimens() -> Vec<Specimen> {
    let plain = built("plain");
    let features = built("every_feature");
    let few = built("few_features");
    let spe = traced(Tracer::ArmSpe);
    let compressed = built("compressed");
    let copies = copies();
    let described = copies.features.iter().find(|f| f.number == 12).unwrap().section.clone();
    let index = copies.records[copies.first_of(69).unwrap()].clone();
    let identifiers = built("two_events_by_identifier");
    let sample = plain.first_of(9).unwrap();
    let last = plain.records.iter().rposition(|record| record.kind == 9).unwrap();
    // A header of 72 bytes, or attrs before their ids: nothing restores the outline of these.
    let old = built("old_header");
    let attrs_first = built("attrs_before_ids");
    let data_start = u64::try_from(attrs_first.data.start).unwrap();
    let old_attrs = old.attr_spans[0].clone();
    let old_start = u64::try_from(old_attrs.start).unwrap();
    let old_len = u64::try_from(old_attrs.len()).unwrap();
    let mut version1 = plain.bytes.clone();
    version1[..8].copy_from_slice(b"PERFFILE");
    let mut ids_odd = attrs_first.bytes.clone();
    // The size of the ids section, in the last eight bytes of its attr; there are 2 ids.
    let size_at = attrs_first.attr_spans[0].end - 8;
    ids_odd[size_at] -= 4;
    let sample_time = few.features.iter().find(|f| f.number == feature_bit::SAMPLE_TIME).unwrap();
    let late_times = few.with_u64(sample_time.section.start, 1 << 40);
    let longer = {
        // The size of the first sample covers the next one as well.
        let first = plain.first_of(9).unwrap();
        let [one, next] = [first, first + 1].map(|index| &plain.records[index]);
        assert_eq!(next.kind, 9);
        let mut bytes = plain.bytes.clone();
        let size = u16::try_from(one.len + next.len).unwrap();
        bytes[one.offset + 6..one.offset + 8].copy_from_slice(&size.to_le_bytes());
        bytes
    };
    let parameters = compressed
        .features
        .iter()
        .find(|feature| feature.number == feature_bit::COMPRESSED)
        .unwrap()
        .section
        .start;
    let mut mmap_len = compressed.bytes.clone();
    mmap_len[parameters + 16..parameters + 20].copy_from_slice(&8_u32.to_le_bytes());
    let mut large_mmap_len = compressed.bytes.clone();
    large_mmap_len[parameters + 19] ^= 0x80;
    vec![
        Specimen::new("PD0001", plain.cut(50)),
        Specimen::new("PD0002", plain.header_size(96)),
        Specimen::new("PD0003", plain.header_attr_size(72)),
        Specimen::new("PD0004", features.crashed()),
        Specimen::new("PD0005", plain.cut(plain.data.end - 8)),
        Specimen::new("PD0006", few.data_size_off_by(-8)),
        Specimen::new("PD0007", attrs_first.ids_section_outside(0)),
        Specimen::new("PD0008", attrs_first.ids_section(0, data_start, 8)),
        Specimen::new("PD0009", old.attrs_section(old_start, old_len + 4)),
        Specimen::new("PD0010", few.features_cut(60)),
        Specimen::new("PD0011", {
            // COMPRESSED has the last section.
            let section = compressed.features.last().unwrap().section.clone();
            compressed.without_feature(feature_bit::COMPRESSED)[..section.start].to_vec()
        }),
        Specimen::new("PD0012", built("unknown_features").bytes),
        Specimen::new("PD0013", few.with_tail(b"0123456789")),
        Specimen::new("PD0014", old.attrs_section(old_start, 0)),
        Specimen::new("PD0015", {
            // The header agrees with the attr.
            let mut bytes = old.attr_size(0, 0x7000);
            bytes[16..24].copy_from_slice(&0x7010_u64.to_le_bytes());
            bytes
        }),
        // A bit of the next years, and one that no kernel will have for long.
        Specimen::new("PD0016", with_sample_bit(26)),
        Specimen::new("PD0017", {
            // The attr of an old header has 64 bytes; 60 are the first version, too.
            let mut bytes = old.attr_size(0, 68);
            let ids = old_attrs.end - 16;
            bytes.splice(ids..ids, [0; 4]);
            bytes[16..24].copy_from_slice(&84_u64.to_le_bytes());
            bytes[32..40].copy_from_slice(&84_u64.to_le_bytes());
            let data = u64::try_from(old.data.start + 4).unwrap();
            bytes[40..48].copy_from_slice(&data.to_le_bytes());
            bytes
        }),
        Specimen::new("PD0018", ids_odd),
        Specimen::new("PD0019", without_formats()),
        Specimen::new("PD0020", version1),
        Specimen::new("PD0021", plain.with_byte(5, plain.bytes[5] ^ 8)),
        Specimen::new("PD0022", features.data_offset(112)),
        Specimen::new("PD0023", features.with_byte(FLAGS_AT + 2, features.bytes[FLAGS_AT + 2] ^ 4)),
        Specimen::new("PD0024", features.section_offset_off_by(feature_bit::PMU_MAPPINGS, 64)),
        Specimen::new("PD0025", plain.with_u64(64, 1 << 20)),
        Specimen::new("PD0026", flipped(&copies, copies.attr_spans[0].start + 26, 0x80)),
        Specimen::new("PD0027", flipped(&copies, 105, 1)),
        // A bit of sample_type that does not exist proves that the copy is damaged.
        Specimen::new("PD0028", with_sample_bit(40)),
        Specimen::new("PD0029", mismatched()),
        Specimen::new("PD0031", on_machine(&[], 0x8100_0000).bytes)
            .donor(on_machine(MACHINE, 0x8100_0000).bytes),
        Specimen::new("PD0030", read_without_id()),
        Specimen::new("PD0033", {
            let attr = Attr::cpu_clock(TYPE).with_ids(&[11]).with_size(136);
            let mut recording = Recording::new(Order::Little, vec![attr]);
            let mut maker = recording.maker(0);
            recording.extend(vec![maker.comm("forge"), maker.sample()]);
            recording.build().bytes
        })
        .with("abi", "128"),
        Specimen::new("PD0034", plain.blank())
            .donor(plain.bytes.clone())
            .also(&["PD0004"], "the size of the records is as unknown as in a crashed file"),
        Specimen::new("PD0032", without_parts()),
        Specimen::new("PD0039", {
            let index = of_index(&spe);
            spe.with_u64(index + 16, 49)
        }),
        Specimen::new("PD2007", flipped(&copies, described.start + 8 + 24 + 5, 1)),
        Specimen::new("PD2008", flipped(&copies, index.offset + 16, 4)),
        Specimen::new("PD2009", without_cpu_map()),
        Specimen::new("PD2010", {
            let traced = built("tracepoint");
            let last = traced.records.iter().rfind(|record| record.kind == 9).unwrap();
            // The data follow their size, at the end of the sample.
            let at = last.range().end - tracepoint_raw(Order::Little).len();
            flipped(&traced, at, 0x80)
        }),
        Specimen::new("PD2011", {
            let usual = built("sample_usual");
            let last = usual.records.iter().rposition(|record| record.kind == 9).unwrap();
            usual.sample_field(last, "cpu", 1 << 24)
        }),
        Specimen::new("PD2017", odd_mode()),
        Specimen::new("PD2012", of_features(&[2, 3, 5, 6, 13]).bytes),
        Specimen::new("PD2013", {
            let mut records = trace::records(Tracer::ArmSpe);
            records.retain(|record| record.kind != 70);
            trace::of_records(records, None).bytes
        }),
        Specimen::new(
            "PD2014",
            spe.with_u64(spe.records[spe.first_of(79).unwrap()].offset + 16, 0),
        ),
        Specimen::new("PD2015", {
            let second = spe.records.iter().rfind(|record| record.kind == 71).unwrap();
            spe.with_u64(second.offset + 32, u64::MAX)
        }),
        Specimen::new("PD2016", {
            let record = &spe.records[spe.first_of(71).unwrap()];
            spe.with_u64(record.offset + 8, 0)
        }),
        Specimen::new("PD3006", {
            let aux = &spe.records[spe.first_of(11).unwrap()];
            spe.with_u64(aux.offset + 8, 1 << 20)
        }),
        Specimen::new("PD3007", {
            let record = &spe.records[spe.first_of(71).unwrap()];
            spe.with_u64(record.offset + record.len + 192, u64::MAX)
        }),
        Specimen::new("PD3004", {
            let first = few.first_of(9).unwrap();
            let time = few.records[first].time.unwrap();
            few.sample_field(first, "time", time ^ (1 << 29))
        }),
        Specimen::new("PD1001", built("pipe").torn(9)),
        Specimen::new("PD1002", plain.record_size(sample, 0)),
        Specimen::new("PD1003", {
            let last = plain.records.len() - 1;
            plain.record_size(last, u16::try_from(plain.records[last].len + 64).unwrap())
        }),
        Specimen::new("PD1004", plain.record_type(plain.first_of(3).unwrap(), 0x1234_5678)),
        Specimen::new("PD1005", plain.record_type(sample, 30)),
        Specimen::new("PD1006", {
            let bare = built("no_sample_id_all");
            let comm = bare.records[bare.first_of(3).unwrap()].clone();
            let mut bytes = bare.bytes.clone();
            let size = u16::try_from(comm.len + 4).unwrap();
            bytes[comm.offset + 6..comm.offset + 8].copy_from_slice(&size.to_le_bytes());
            bytes.splice(comm.range().end..comm.range().end, [0; 4]);
            let data = u64::try_from(bare.data.len() + 4).unwrap();
            bytes[48..56].copy_from_slice(&data.to_le_bytes());
            bytes
        }),
        Specimen::new("PD1008", attr_at_end()),
        Specimen::new("PD1009", {
            let foreign = Attr::page_faults(TYPE).with_ids(&[11]);
            let body = [foreign.encode(Order::Little), 11_u64.to_le_bytes().to_vec()].concat();
            let mut recording = recording();
            let mut maker = recording.maker(0);
            let records = vec![maker.comm("forge"), Record::new(64, 0, body), maker.sample()];
            recording.extend(records);
            recording.build().bytes
        }),
        Specimen::new("PD2001", {
            let callchain = built("sample_callchain");
            callchain.callchain_count(callchain.first_of(9).unwrap(), 1 << 40)
        }),
        Specimen::new("PD2002", longer),
        Specimen::new("PD2003", {
            // The name of a MMAP has no end.
            let mut bytes = plain.bytes.clone();
            let mmap = &plain.records[plain.first_of(1).or(plain.first_of(10)).unwrap()];
            bytes[mmap.offset + 40..mmap.range().end].fill(b'x');
            bytes
        }),
        Specimen::new("PD1007", plain.record_type(last, 9 | 1 << 5)),
        Specimen::new("PD2004", {
            let versioned = of_features(&[2, 3, 5, 21]);
            versioned.section_first_u32(feature_bit::HOSTNAME, 0x7fff_ffff)
        }),
        Specimen::new("PD2006", features.section_first_u32(feature_bit::PMU_MAPPINGS, 0x7fff_ffff)),
        Specimen::new("PD2005", {
            let sample = identifiers.first_of(9).unwrap();
            identifiers.sample_field(sample, "identifier", 0xdead_beef)
        }),
        Specimen::new("PD3001", late()),
        Specimen::new("PD3002", late_times),
        Specimen::new("PD3003", mmap_len),
        Specimen::new("PD3005", large_mmap_len),
        Specimen::new("PD8001", compressed.corrupt_block(0)),
        Specimen::new("PD8002", wild_inside()),
        Specimen::new("PD8003", torn_inside()),
        Specimen::new("PD8004", cut_inside()),
        Specimen::new("PD8005", {
            let newer = built("compressed2");
            let at = newer.records[newer.first_of(83).unwrap()].offset + 8;
            newer.with_u64(at, u64_at(&newer.bytes, at) - 9)
        })
        .leaves(&["PD0035"], "perf reads such records since 6.16"),
        Specimen::new("PD0035", {
            let mut recording = Recording::new(
                Order::Little,
                vec![Attr::cpu_clock(TYPE).with_ids(&[11]).with_size(144)],
            );
            let sample = recording.maker(0).sample();
            recording.push(sample);
            recording.build().bytes
        }),
        Specimen::new("PD0036", built("compressed2").bytes).with("for-perf", "6.1"),
        Specimen::new("PD0037", [built("plain").bytes, built("pipe").bytes].concat())
            .with("part", "1"),
        // Without EVENT_DESC, no copy is left.
        Specimen::new("PD0038", plain.with_byte(plain.attr_spans[0].start + 3, 0x40)),
    ]
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}
