//! Writes the built-in signatures of a tracer from its libraries, as a package installs them:
//!
//! ```sh
//! cargo run -p tracemend-tools --bin apitrace_signatures -- \
//!     core/src/formats/apitrace/recover/signatures/tables.bin \
//!     "apitrace 11.1, glxtrace=/usr/lib/x86_64-linux-gnu/apitrace/wrappers/glxtrace.so" \
//!     "apitrace 11.1, egltrace=/usr/lib/x86_64-linux-gnu/apitrace/wrappers/egltrace.so" \
//!     listings/*.list
//! ```
//!
//! The ids of functions, structs, enums and bitmasks are constants of a build of the tracer. Its
//! library holds them as structures whose pointers the loader relocates:
//!
//! ```text
//! function, struct   { u32 id, u32 0, char *name, u32 count, u32 0, char **items }
//! enum, bitmask      { u32 id, u32 count, { char *name, i64 value } *items }
//! ```
//!
//! All relocations are searched for these shapes. A name that begins as no function does belongs to
//! a struct; a signature of which all names are bits is a bitmask. An id that two signatures claim
//! is left out. `signatures.rs` describes the file that is written.
//!
//! A listing holds the signatures of a build for which there is no library here: the name of the
//! table, then a line per signature, with tabs between the words `function` or `struct`, the id,
//! the name, and the names of the arguments or members.
#![allow(
    clippy::as_conversions,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::collections::BTreeMap;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use tracemend_tests::forge::apitrace::uint;

/// Ids above this are no ids.
const ID_MAX: u32 = 4095;
/// Arguments or members of a signature at most.
const ITEMS_MAX: u32 = 200;
/// Values of an enum at most.
const VALUES_MAX: u32 = 10_000;
/// Beginnings of the names of functions.
const FUNCTIONS: [&str; 7] = ["gl", "egl", "memcpy", "malloc", "free", "realloc", "wgl"];

/// The namespaces, in the order of the file.
const SPACES: usize = 4;

/// The definitions of a library: for each namespace, by id, the bytes after the id.
type Table = [BTreeMap<u32, Vec<u8>>; SPACES];

/// A section: its kind, its address, and its bytes in the file.
struct Section {
    kind: u32,
    address: u64,
    start: usize,
    len: usize,
}

/// A library with the addresses that the loader relocates.
struct Library {
    bytes: Vec<u8>,
    sections: Vec<Section>,
    pointers: BTreeMap<u64, u64>,
}

const NO_BITS: u32 = 8;
const RELOCATIONS: u32 = 4;
const RELATIVE: u64 = 8;

impl Library {
    fn read(path: &str) -> Self {
        let bytes = std::fs::read(path).unwrap();
        let word = |at: usize, len: usize| number(&bytes[at..at + len]);
        let (table, size, count) =
            (word(0x28, 8) as usize, word(0x3a, 2) as usize, word(0x3c, 2) as usize);
        let sections: Vec<Section> = (0..count)
            .map(|index| table + index * size)
            .map(|at| Section {
                kind: word(at + 4, 4) as u32,
                address: word(at + 16, 8),
                start: word(at + 24, 8) as usize,
                len: word(at + 32, 8) as usize,
            })
            .collect();
        let mut pointers = BTreeMap::new();
        for section in sections.iter().filter(|section| section.kind == RELOCATIONS) {
            for entry in bytes[section.start..section.start + section.len].chunks_exact(24) {
                if number(&entry[8..16]) & 0xffff_ffff == RELATIVE {
                    pointers.insert(number(&entry[..8]), number(&entry[16..]));
                }
            }
        }
        Self { bytes, sections, pointers }
    }

    fn at(&self, address: u64, len: usize) -> Option<&[u8]> {
        let holds = |section: &&Section| {
            let end = section.address + section.len as u64;
            section.kind != NO_BITS
                && section.address > 0
                && (section.address..end).contains(&address)
        };
        let section = self.sections.iter().find(holds)?;
        let from = section.start + (address - section.address) as usize;
        self.bytes.get(from..from + len)
    }

    fn word(&self, address: u64) -> Option<u32> {
        Some(number(self.at(address, 4)?) as u32)
    }

    fn text(&self, address: u64) -> Option<&str> {
        let len = (0..300).find(|len| self.at(address + len, 1) == Some(&[0]))?;
        let text = std::str::from_utf8(self.at(address, len as usize)?).ok()?;
        let is_plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        (is_plain && !text.is_empty()).then_some(text)
    }

    fn named(&self, pointer: u64) -> Option<&str> {
        self.text(*self.pointers.get(&pointer)?)
    }

    /// The function or struct whose name is at `name`: namespace, id and definition.
    fn signature(&self, name: u64) -> Option<(usize, u32, Vec<u8>)> {
        let (id, count) = (self.word(name.checked_sub(8)?)?, self.word(name + 8)?);
        let is_padded = self.word(name - 4) == Some(0) && self.word(name + 12) == Some(0);
        if id > ID_MAX || count > ITEMS_MAX || !is_padded {
            return None;
        }
        let text = self.named(name)?;
        let mut raw = string(text);
        raw.extend(uint(u64::from(count)));
        if count > 0 {
            let items = *self.pointers.get(&(name + 16))?;
            for index in 0..u64::from(count) {
                raw.extend(string(self.named(items + 8 * index)?));
            }
        }
        let is_function = FUNCTIONS.iter().any(|begin| text.starts_with(begin));
        let is_struct = count > 0 && text.len() > 3 && text.starts_with(|c: char| c.is_uppercase());
        let is_struct = is_struct || text.starts_with("struct ");
        (is_function || is_struct).then_some((usize::from(!is_function), id, raw))
    }

    /// The enum or bitmask whose items are at the address that `items` holds.
    fn values(&self, items: u64) -> Option<(usize, u32, Vec<u8>)> {
        let (id, count) = (self.word(items.checked_sub(8)?)?, self.word(items - 4)?);
        if id > ID_MAX || count == 0 || count > VALUES_MAX {
            return None;
        }
        let first = *self.pointers.get(&items)?;
        let mut values = Vec::new();
        for index in 0..u64::from(count) {
            let name = self.named(first + 16 * index)?;
            let value = number(self.at(first + 16 * index + 8, 8)?).cast_signed();
            values.push((name, value));
        }
        let is_bitmask = values.iter().all(|(name, _)| name.contains("_BIT"));
        let mut raw = uint(u64::from(count));
        for (name, value) in values {
            raw.extend(string(name));
            match (is_bitmask, value < 0) {
                (true, _) => {}
                (false, true) => raw.push(3),
                (false, false) => raw.push(4),
            }
            raw.extend(uint(value.unsigned_abs()));
        }
        Some((if is_bitmask { 3 } else { 2 }, id, raw))
    }

    fn table(&self) -> Table {
        let mut found: [BTreeMap<u32, Vec<Vec<u8>>>; SPACES] = Default::default();
        for pointer in self.pointers.keys() {
            for (space, id, raw) in
                [self.signature(*pointer), self.values(*pointer)].into_iter().flatten()
            {
                let all = found[space].entry(id).or_default();
                if !all.contains(&raw) {
                    all.push(raw);
                }
            }
        }
        found.map(|space| {
            let one = |(id, mut raws): (u32, Vec<Vec<u8>>)| {
                let raw = raws.pop()?;
                raws.is_empty().then_some((id, raw))
            };
            space.into_iter().filter_map(one).collect()
        })
    }
}

/// Reads a listing: the name of the table, and the table.
fn read_listing(path: &str) -> (String, Table) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let name = lines.next().unwrap().to_string();
    let mut table = Table::default();
    for line in lines {
        let fields: Vec<&str> = line.split('\t').collect();
        let [kind, id, own, items @ ..] = fields.as_slice() else { panic!("{path}: {line}") };
        let mut raw = string(own);
        raw.extend(uint(items.len() as u64));
        items.iter().for_each(|item| raw.extend(string(item)));
        table[usize::from(*kind == "struct")].insert(id.parse().unwrap(), raw);
    }
    (name, table)
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

fn string(text: &str) -> Vec<u8> {
    [uint(text.len() as u64).as_slice(), text.as_bytes()].concat()
}

/// Encodes the definitions of all tables once, then the runs of each table.
fn encode(tables: &[(String, Table)]) -> Vec<u8> {
    let mut pool: Vec<&[u8]> = Vec::new();
    let mut places: BTreeMap<&[u8], u64> = BTreeMap::new();
    for raw in tables.iter().flat_map(|(_, table)| table).flat_map(BTreeMap::values) {
        if !places.contains_key(raw.as_slice()) {
            places.insert(raw, pool.len() as u64);
            pool.push(raw);
        }
    }
    let mut out = uint(pool.len() as u64);
    for raw in &pool {
        out.extend(uint(raw.len() as u64));
        out.extend(*raw);
    }
    out.extend(uint(tables.len() as u64));
    for (name, table) in tables {
        out.extend(string(name));
        for space in table {
            let mut runs: Vec<(u64, u64, u64)> = Vec::new();
            for (id, raw) in space {
                let (id, place) = (u64::from(*id), places[raw.as_slice()]);
                match runs.last_mut().filter(|(a, b, n)| (a + *n, b + *n) == (id, place)) {
                    Some((_, _, count)) => *count += 1,
                    None => runs.push((id, place, 1)),
                }
            }
            out.extend(uint(runs.len() as u64));
            runs.iter().for_each(|(a, b, n)| out.extend([uint(*a), uint(*b), uint(*n)].concat()));
        }
    }
    out
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [out, libraries @ ..] = arguments.as_slice() else {
        panic!("usage: apitrace_signatures OUT NAME=LIBRARY|LISTING...");
    };
    let mut tables = Vec::new();
    for library in libraries {
        let (name, table) = match library.split_once('=') {
            Some((name, path)) => (name.to_string(), Library::read(path).table()),
            None => read_listing(library),
        };
        println!(
            "{name}: {:?} functions, structs, enums, bitmasks",
            table.each_ref().map(BTreeMap::len)
        );
        tables.push((name, table));
    }
    let encoded = encode(&tables);
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&encoded).unwrap();
    let packed = encoder.finish().unwrap();
    println!("{} bytes, {} deflated", encoded.len(), packed.len());
    std::fs::write(out, packed).unwrap();
}
