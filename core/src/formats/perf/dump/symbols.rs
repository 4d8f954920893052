//! The symbols that a recording holds: simpleperf records those of the files in which samples lie.

use std::collections::BTreeMap;

use crate::formats::perf::decode::feature::SymbolFile;
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::layout::feature as bit;
use crate::model::limits::{Limits, WINDOW};

/// Types of files: the kernel, a program or library, and code of the Android runtime.
const KERNEL: u32 = 0;
const ELF: u32 = 2;
const DEX: u32 = 3;

/// Symbols of files by their paths.
#[derive(Default)]
pub(super) struct Symbols {
    files: BTreeMap<Vec<u8>, SymbolFile>,
}

impl Symbols {
    /// Reads the symbols of a recording, if its features take no more than the limit `window`.
    pub(super) fn read(recording: &Recording<'_>, limits: &Limits) -> Self {
        let mut files = BTreeMap::new();
        let table = recording.body.data.end().map(|end| recording.table(end));
        for number in [bit::SIMPLEPERF_FILE, bit::SIMPLEPERF_FILE2] {
            let section = table.as_ref().and_then(|table| table.section(number));
            let Some(section) = section.filter(|one| one.size <= limits.of(&WINDOW)) else {
                continue;
            };
            let found = recording.symbol_files(number, section);
            files.extend(found.into_iter().map(|file| (file.path.clone(), file)));
        }
        Self { files }
    }

    /// Returns the symbol at an offset of a file; `address` is the one in memory.
    pub(super) fn find(&self, path: &[u8], offset: u64, address: u64) -> Option<&[u8]> {
        let file = self.files.get(path)?;
        let address = match file.kind {
            KERNEL => address,
            ELF => offset.checked_sub(file.offset_of_min_vaddr)?.checked_add(file.min_vaddr)?,
            DEX => offset,
            _ => return None,
        };
        file.find(address)
    }
}
