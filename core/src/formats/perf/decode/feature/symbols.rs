//! The symbols in FILE and FILE2 of simpleperf. The layouts are in `simpleperf`.

use super::error::FeatureError;
use super::simpleperf::{number, text};
use crate::formats::perf::layout::feature::SIMPLEPERF_FILE;
use crate::kit::cursor::Cursor;
use crate::kit::num::to_u64;

/// A file with its symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SymbolFile {
    /// Its path.
    pub path: Vec<u8>,
    /// Its type: 0 for the kernel, 2 for ELF, 3 for DEX.
    pub kind: u32,
    /// The lowest address in it.
    pub min_vaddr: u64,
    /// The offset of that address.
    pub offset_of_min_vaddr: u64,
    symbols: Vec<Symbol>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Symbol {
    start: u64,
    len: u64,
    name: Vec<u8>,
}

impl SymbolFile {
    /// Returns the name of the symbol that holds an address of the file.
    pub fn find(&self, address: u64) -> Option<&[u8]> {
        let after = self.symbols.partition_point(|symbol| symbol.start <= address);
        let symbol = self.symbols.get(after.checked_sub(1)?)?;
        let distance = address.saturating_sub(symbol.start);
        (distance < symbol.len).then_some(symbol.name.as_slice())
    }
}

/// Reads the files of the feature `bit` up to the first one that does not fit.
pub fn symbol_files(bit: u32, cursor: &mut Cursor<'_>) -> Vec<SymbolFile> {
    let mut files = Vec::new();
    while let Some(file) = next_file(bit, cursor) {
        files.push(file);
    }
    files
}

fn next_file(bit: u32, cursor: &mut Cursor<'_>) -> Option<SymbolFile> {
    let size = u64::from(cursor.u32("file.size").ok()?);
    let mut own = cursor.part(size, "file").ok()?;
    let mut file = SymbolFile::default();
    let read = if bit == SIMPLEPERF_FILE {
        plain(&mut own, &mut file)
    } else {
        message(&mut own, &mut file)
    };
    // Symbols before the first one that does not fit are right.
    let _symbols = read;
    file.symbols.sort_by_key(|symbol| symbol.start);
    Some(file)
}

/// An entry of FILE.
fn plain(own: &mut Cursor<'_>, file: &mut SymbolFile) -> Result<(), FeatureError> {
    file.path = text(own, "file.path")?.to_vec();
    file.kind = own.u32("file.type")?;
    file.min_vaddr = own.u64("file.min_vaddr")?;
    let count = own.u32("file.symbol_count")?;
    for _ in 0..count {
        let start = own.u64("symbol.start_vaddr")?;
        let len = own.u32("symbol.len")?.into();
        file.symbols.push(Symbol { start, len, name: text(own, "symbol.name")?.to_vec() });
    }
    if file.kind != DEX {
        // The first versions had no offset.
        file.offset_of_min_vaddr = own.u64("file.offset_of_min_vaddr").unwrap_or(0);
    }
    Ok(())
}

/// The type of a file with code of the Android runtime.
const DEX: u32 = 3;

/// An entry of FILE2: path 1, type 2, min_vaddr 3, symbol 4, dex_file 5, elf_file 6.
fn message(own: &mut Cursor<'_>, file: &mut SymbolFile) -> Result<(), FeatureError> {
    while !own.is_empty() {
        match field(own)? {
            (1, Field::Bytes(mut bytes)) => file.path = rest(&mut bytes)?,
            (2, Field::Number(value)) => file.kind = u32::try_from(value).unwrap_or(u32::MAX),
            (3, Field::Number(value)) => file.min_vaddr = value,
            (4, Field::Bytes(mut bytes)) => file.symbols.push(symbol(&mut bytes)?),
            (6, Field::Bytes(mut bytes)) => {
                while !bytes.is_empty() {
                    if let (1, Field::Number(value)) = field(&mut bytes)? {
                        file.offset_of_min_vaddr = value;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// A symbol: address 1, length 2, name 3.
fn symbol(own: &mut Cursor<'_>) -> Result<Symbol, FeatureError> {
    let mut symbol = Symbol::default();
    while !own.is_empty() {
        match field(own)? {
            (1, Field::Number(value)) => symbol.start = value,
            (2, Field::Number(value)) => symbol.len = value,
            (3, Field::Bytes(mut bytes)) => symbol.name = rest(&mut bytes)?,
            _ => {}
        }
    }
    Ok(symbol)
}

/// The value of a field of a message.
enum Field<'a> {
    Number(u64),
    Bytes(Cursor<'a>),
    Other,
}

/// Reads a field and its number.
fn field<'a>(own: &mut Cursor<'a>) -> Result<(u64, Field<'a>), FeatureError> {
    let key = number(own, "message.key")?;
    let value = match key & 7 {
        0 => Field::Number(number(own, "message.number")?),
        1 => Field::Number(own.u64("message.number")?),
        2 => {
            let len = number(own, "message.length")?;
            Field::Bytes(own.part(len, "message")?)
        }
        _ => {
            own.skip(1, 4, "message.number")?;
            Field::Other
        }
    };
    Ok((key >> 3, value))
}

fn rest(bytes: &mut Cursor<'_>) -> Result<Vec<u8>, FeatureError> {
    let len = bytes.left();
    let read = bytes.bytes(len, "text")?;
    debug_assert_eq!(to_u64(read.len()), len, "all of it");
    Ok(read.to_vec())
}
