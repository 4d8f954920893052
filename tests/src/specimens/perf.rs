//! Specimens of the rules of perf.data.

use super::Specimen;
use crate::forge::perf::{
    Attr, Built, Maker, Order, Record, Recording, Wrapper, by_name, feature_bit, sample_type,
};

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

/// Compressed records with these inside, in a pipe.
fn piped(records: impl FnOnce(&mut Maker) -> Vec<Record>, cuts: &[usize]) -> Built {
    let mut recording = Recording::pipe(Order::Little, vec![Attr::cpu_clock(TYPE).with_ids(&[11])]);
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

/// A recording for every rule.
pub fn specimens() -> Vec<Specimen> {
    let plain = built("plain");
    let features = built("every_feature");
    let few = built("few_features");
    let compressed = built("compressed");
    let identifiers = built("two_events_by_identifier");
    let sample = plain.first_of(9).unwrap();
    let attr = plain.attr_spans[0].start;
    let mut ids_overlap = plain.bytes.clone();
    // The second eight bytes of the header's event_types section: it lies over the attrs.
    ids_overlap[56..64].copy_from_slice(&u64::try_from(attr + 8).unwrap().to_le_bytes());
    ids_overlap[64..72].copy_from_slice(&8_u64.to_le_bytes());
    let attrs_len = u64::try_from(plain.attr_spans[0].len()).unwrap();
    let attr_start = u64::try_from(attr).unwrap();
    let mut version1 = plain.bytes.clone();
    version1[..8].copy_from_slice(b"PERFFILE");
    let ids = built("two_events_by_id");
    let mut ids_odd = ids.bytes.clone();
    // The size of the first attr's ids section, in its last eight bytes.
    let size_at = ids.attr_spans[0].end - 8;
    ids_odd[size_at] = ids_odd[size_at].wrapping_add(4);
    let sample_time = few.features.iter().find(|f| f.number == feature_bit::SAMPLE_TIME).unwrap();
    let late_times = few.with_u64(sample_time.section.start, 1 << 60);
    let longer = {
        // A sample's size counts eight bytes more, which are there.
        let last = plain.records.last().unwrap();
        let mut bytes = plain.bytes.clone();
        let size = u16::try_from(last.len + 8).unwrap();
        bytes[last.offset + 6..last.offset + 8].copy_from_slice(&size.to_le_bytes());
        bytes.splice(last.range().end..last.range().end, [0; 8]);
        let data = u64::try_from(plain.data.len() + 8).unwrap();
        bytes[48..56].copy_from_slice(&data.to_le_bytes());
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
    vec![
        Specimen::new("PD0001", plain.cut(50)),
        Specimen::new("PD0002", plain.header_size(96)),
        Specimen::new("PD0003", plain.header_attr_size(72)),
        Specimen::new("PD0004", features.crashed()),
        Specimen::new("PD0005", plain.cut(plain.data.end - 8)),
        Specimen::new("PD0006", few.data_size_off_by(-8)),
        Specimen::new("PD0007", plain.ids_section_outside(0)),
        Specimen::new("PD0008", ids_overlap),
        Specimen::new("PD0009", plain.attrs_section(attr_start, attrs_len + 4)),
        Specimen::new("PD0010", few.features_cut(60)),
        Specimen::new("PD0011", {
            // COMPRESSED has the last section.
            let section = compressed.features.last().unwrap().section.clone();
            compressed.without_feature(feature_bit::COMPRESSED)[..section.start].to_vec()
        }),
        Specimen::new("PD0012", built("unknown_features").bytes),
        Specimen::new("PD0013", few.with_tail(b"0123456789")),
        Specimen::new("PD0014", plain.attrs_section(attr_start, 0)),
        Specimen::new("PD0015", plain.attr_size(0, 0x7000)),
        Specimen::new(
            "PD0016",
            plain.with_u64(attr + 24, (1 << 40) | u64_at(&plain.bytes, attr + 24)),
        ),
        Specimen::new("PD0017", {
            let mut bytes = plain.attr_size(0, 100);
            let ids = plain.attr_spans[0].end - 16;
            bytes.copy_within(ids..ids + 16, attr + 100);
            bytes[16..24].copy_from_slice(&116_u64.to_le_bytes());
            bytes[32..40].copy_from_slice(&116_u64.to_le_bytes());
            bytes
        }),
        Specimen::new("PD0018", ids_odd),
        // Only another recording has what this one lost.
        Specimen::new("PD0019", built("tracepoint").without_feature(feature_bit::TRACING_DATA))
            .donor(built("tracepoint").bytes),
        Specimen::new("PD0020", version1),
        Specimen::new("PD1001", built("pipe").torn(9)),
        Specimen::new("PD1002", plain.record_size(sample, 0)),
        Specimen::new("PD1003", {
            let last = plain.records.len() - 1;
            plain.record_size(last, u16::try_from(plain.records[last].len + 64).unwrap())
        }),
        Specimen::new("PD1004", plain.record_type(sample, 0x1234_5678)),
        Specimen::new("PD1005", plain.record_type(sample, 60)),
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
        Specimen::new("PD2004", few.section_first_u32(feature_bit::HOSTNAME, 0x7fff_ffff)),
        Specimen::new("PD2006", features.section_first_u32(feature_bit::PMU_MAPPINGS, 0x7fff_ffff)),
        Specimen::new("PD2005", {
            let sample = identifiers.first_of(9).unwrap();
            identifiers.sample_field(sample, "identifier", 0xdead_beef)
        }),
        Specimen::new("PD3001", late()),
        Specimen::new("PD3002", late_times),
        Specimen::new("PD3003", mmap_len),
        Specimen::new("PD8001", compressed.corrupt_block(0)),
        Specimen::new("PD8002", wild_inside()),
        Specimen::new("PD8003", torn_inside()),
    ]
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}
