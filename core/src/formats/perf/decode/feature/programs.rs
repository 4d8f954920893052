//! BPF_PROG_INFO: for each program two lengths, a bitmap of arrays, and the bytes of both lengths.

use super::error::FeatureError;
use super::lists::repeated;
use crate::formats::perf::layout::programs::{Each, PROGRAM_ARRAYS, PROGRAM_INFO};
use crate::kit::cursor::{Cursor, ReadError};

/// Reads the programs.
pub(super) fn bpf_programs(cursor: &mut Cursor<'_>) -> Result<(), FeatureError> {
    repeated(cursor, "programs.nr", 16, |cursor| {
        let info_len = cursor.u32("program.info_len")?;
        let data_len = cursor.u32("program.data_len")?;
        let arrays = cursor.hex64("program.arrays")?;
        let info = cursor.part(info_len.into(), "program.info")?;
        if info.has_log() {
            log_info(info.clone())?;
        }
        let data = cursor.part(data_len.into(), "program.data")?;
        if data.has_log() {
            log_data(data, arrays, &info)?;
        }
        Ok(())
    })
}

/// Notes the fields that the writer had.
fn log_info(mut info: Cursor<'_>) -> Result<(), ReadError> {
    info.fitting(PROGRAM_INFO);
    info.skip(1, info.left(), "program.info")
}

/// Notes the arrays, up to the first one that does not fit.
fn log_data(mut data: Cursor<'_>, arrays: u64, info: &Cursor<'_>) -> Result<(), ReadError> {
    for (bit, array) in PROGRAM_ARRAYS.iter().enumerate() {
        if arrays >> bit & 1 == 0 {
            continue;
        }
        let each = match array.each {
            Each::Fixed(size) => size,
            Each::Stored(label) => number_in(info, label),
        };
        let size = number_in(info, array.count).saturating_mul(each);
        if data.skip(1, size.saturating_add(7) & !7, array.data).is_err() {
            break;
        }
    }
    data.skip(1, data.left(), "program.data")
}

/// Returns the number in a field of the description; 0 if it is not there.
fn number_in(info: &Cursor<'_>, wanted: &str) -> u64 {
    let mut info = info.unlogged();
    for (label, form) in PROGRAM_INFO {
        match info.number(label, *form) {
            Ok(number) if *label == wanted => return number,
            Ok(_) => {}
            Err(_) => break,
        }
    }
    0
}
