//! The content of a feature, part by part as the table of features declares it.

use super::domains::cpu_domains;
use super::error::FeatureError;
use super::lists::{STRING_MIN, count, cpu_list, string};
use super::programs::bpf_programs;
use super::sections::{self, expect_range, expect_version};
use super::simpleperf::{FILE, UNWIND, each, file, framed, init_map, message, meta_info};
use crate::formats::perf::decode::tracing;
use crate::formats::perf::layout::part::{Number, Part, Reader};
use crate::kit::cursor::{Cursor, ReadError};
use crate::kit::row::{Form, row_size};

/// Who reads a content.
#[derive(Clone, Copy, Debug)]
pub(super) enum As {
    /// The check, by the number of CPUs in NRCPUS.
    Check(Option<u32>),
    /// perf 7, which refuses lists that are too long, and fields that are missing in the rest.
    /// Readers of their own are left out.
    Strict,
}

/// Reads the parts of a content.
pub(super) fn read(
    parts: &[Part],
    cursor: &mut Cursor<'_>,
    reading: As,
) -> Result<(), FeatureError> {
    for part in parts {
        let start = cursor.position();
        match (part, reading) {
            (Part::Fields(row), _) | (Part::Rest(_, row), As::Strict) => cursor.row(row)?,
            (Part::Text(label, _), _) => string(cursor, label)?,
            (Part::CpuList(label), _) => cpu_list(cursor, label)?,
            (Part::One(version), _) => {
                let value = read_number(cursor, version)?;
                expect_version(version.0, value, cursor.since(start))?;
            }
            (Part::Blob(size, data), _) => {
                let size = cursor.u32(size)?.into();
                cursor.skip(1, size, data)?;
            }
            (Part::Bitmap(size, label), _) => {
                let words = cursor.u64(size)?.div_ceil(64);
                let words = count(words, 8, cursor.left(), size, cursor.since(start))?;
                cursor.skip(words, 8, label)?;
            }
            (Part::List(number, most, entry), _) => {
                let (value, label) = (read_number(cursor, number)?, number.0);
                let span = cursor.since(start);
                // Entries of no bytes would be there any number of times.
                let nr = count(value, least(entry).max(1), cursor.left(), label, span)?;
                if matches!(reading, As::Strict) {
                    expect_range(label, value, (0, *most), span)?;
                }
                (0..nr).try_for_each(|_| read(entry, cursor, reading))?;
            }
            (Part::Rest(label, _), As::Check(_)) => cursor.skip(1, cursor.left(), label)?,
            (Part::Read(reader, ..), As::Check(cpus)) => match reader {
                Reader::Tracing => tracing::walk(cursor)?,
                Reader::BuildIds => sections::build_ids(cursor)?,
                Reader::Events => sections::event_desc(cursor)?,
                Reader::Topology => sections::cpu_topology(cursor, cpus)?,
                Reader::Domains => cpu_domains(cursor, cpus.map(u64::from), None)?,
                Reader::AuxtraceIndex => sections::auxtrace(cursor)?,
                Reader::Programs => bpf_programs(cursor)?,
                Reader::Files => each(cursor, |cursor| framed(cursor, file))?,
                Reader::MetaInfo => each(cursor, meta_info)?,
                Reader::Unwinding => message(cursor, UNWIND)?,
                Reader::FileMessages => {
                    each(cursor, |cursor| framed(cursor, |own| message(own, FILE)))?;
                }
                Reader::InitMaps => each(cursor, init_map)?,
            },
            (Part::Read(..), As::Strict) => {}
        }
    }
    Ok(())
}

/// Reads a number of four or eight bytes.
pub fn read_number(cursor: &mut Cursor<'_>, (label, form): &Number) -> Result<u64, ReadError> {
    if *form == Form::U64 { cursor.u64(label) } else { cursor.u32(label).map(u64::from) }
}

/// Returns the size of the shortest content in bytes.
fn least(parts: &[Part]) -> u64 {
    let size = |part: &Part| match part {
        Part::Fields(row) => row_size(row),
        Part::Text(..) | Part::CpuList(_) => STRING_MIN,
        Part::One((_, form)) | Part::List((_, form), ..) => form.size(),
        Part::Blob(..) => 4,
        Part::Bitmap(..) => 8,
        Part::Rest(..) | Part::Read(..) => 0,
    };
    parts.iter().fold(0, |sum: u64, part| sum.saturating_add(size(part)))
}
