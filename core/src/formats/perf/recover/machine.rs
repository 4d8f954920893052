//! Features that describe a machine and not a recording: another recording of the machine, the
//! donor, has the same.

use std::collections::BTreeSet;

use crate::formats::perf::decode::feature;
use crate::formats::perf::decode::header::{Body, Section};
use crate::formats::perf::decode::record::fields;
use crate::formats::perf::decode::recording::{RecordFile, Recording};
use crate::formats::perf::decode::value::Value;
use crate::formats::perf::layout::features::{self, Trait};
use crate::formats::perf::layout::{feature as bit, record};
use crate::formats::perf::recover::donor::open;
use crate::kit::cursor::{Cursor, Order};
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::Layer;
use crate::kit::walk::Item;
use crate::model::limits::{Limits, RESYNC, WINDOW};

/// Records at the beginning among which perf writes the map of the kernel.
const FIRST_RECORDS: usize = 64;
/// The beginning of the name of that map.
const KERNEL: &[u8] = b"[kernel.";
/// The fields that MMAP and MMAP2 share and that are those of the kernel.
const KERNEL_PLACE: [&str; 4] = ["addr", "len", "pgoff", "filename"];
/// A host name that a repair made up.
const LOST: &[u8] = b"(lost)";
/// Bytes of an entry of BUILD_ID before the name: a header, a process, and the build id.
const ENTRY_HEAD: usize = 36;

/// Features that the donor has and the recording lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Features by bit, with their contents.
    pub features: Vec<(u32, Vec<u8>)>,
    /// Files of the recording whose build ids are among them.
    pub files: u64,
}

impl Machine {
    /// Reads the features of the donor that a recording with the features `kept` lacks; `None`
    /// without a donor, or if the donor has no more.
    ///
    /// # Errors
    ///
    /// The reason why the donor cannot be used, as a phrase about the donor.
    pub fn take(
        recording: &Recording<'_>,
        kept: &[(u32, Section)],
        limits: &Limits,
    ) -> Option<Result<Self, String>> {
        let donor = recording.donor.as_ref()?;
        Self::read(recording, donor, kept, limits).transpose()
    }

    fn read(
        recording: &Recording<'_>,
        donor: &Source<'_>,
        kept: &[(u32, Section)],
        limits: &Limits,
    ) -> Result<Option<Self>, String> {
        let (order, most) = (recording.order(), limits.of(&WINDOW));
        let (body, table) = open(donor, order)?;
        let content = |file: &Source<'_>, section: &Section| {
            file.read(section.offset, section.end().unwrap_or(section.offset)).into_owned()
        };
        let (mut machine, mut other, mut cpus) = (Self::default(), None, None);
        for (bit, section) in table.entries.iter().filter(|(_, section)| section.size <= most) {
            let donated = content(donor, section);
            // The donor is not a file of the recording: no span into it leaves this function.
            let mut cursor = Cursor::new(&donated, Layer::stored(0), section.offset, order);
            let Ok(read) = feature::body(*bit, &mut cursor, cpus) else { continue };
            cpus = cpus.or(read.nr_cpus);
            let known = features::feature(*bit);
            match kept.iter().find(|(own, _)| own == bit) {
                Some((_, own)) if known.is_some_and(|one| one.is(Trait::Identity)) => {
                    // A section that is too large to be held is not that of the donor.
                    let own = (own.size <= most).then(|| content(recording.file.source(), own));
                    // A repair writes it for the readers that need one.
                    let is_made_up = |own: &Vec<u8>| own.windows(LOST.len()).any(|at| at == LOST);
                    if own.as_ref() != Some(&donated) && !own.as_ref().is_some_and(is_made_up) {
                        other = feature::name(*bit);
                    }
                }
                None if *bit == bit::BUILD_ID => {
                    let names = mapped_files(recording, limits);
                    machine.add_build_ids(&donated, &names, order);
                }
                None if known.is_some_and(|one| one.is(Trait::Shared)) && !donated.is_empty() => {
                    machine.features.push((*bit, donated));
                }
                _ => {}
            }
        }
        if machine.features.is_empty() {
            return Ok(None);
        }
        if let Some(name) = other {
            return Err(format!("its {name} is not that of the recording"));
        }
        let map = kernel_map(&RecordFile::of_donor(donor.clone(), order), &body, limits);
        if map.is_none() || map != kernel_map(&recording.file, &recording.body, limits) {
            return Err("its kernel does not lie where that of the recording does".to_string());
        }
        Ok(Some(machine))
    }

    /// Adds the entries of a BUILD_ID section whose files are among `names`.
    fn add_build_ids(&mut self, section: &[u8], names: &BTreeSet<Vec<u8>>, order: Order) {
        let mut entries = Vec::new();
        let mut rest = section;
        while let Some(size) = entry_size(rest, order)
            && let Some((entry, after)) = rest.split_at_checked(size)
        {
            let name = entry.get(ENTRY_HEAD..).unwrap_or_default();
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            // The map of the kernel has the name of a symbol after that of the kernel.
            if names.contains(name) || name.starts_with(KERNEL) {
                entries.extend_from_slice(entry);
                self.files = self.files.saturating_add(1);
            }
            rest = after;
        }
        if !entries.is_empty() {
            self.features.push((bit::BUILD_ID, entries));
        }
    }
}

/// Reads the size of the first entry of a BUILD_ID section.
fn entry_size(entries: &[u8], order: Order) -> Option<usize> {
    let mut cursor = Cursor::new(entries, Layer::stored(0), 0, order);
    cursor.skip(1, 6, "type and misc").ok()?;
    let size = usize::from(cursor.u16("size").ok()?);
    (size > ENTRY_HEAD).then_some(size)
}

/// Returns place and name in the record that maps the kernel, an MMAP, or an MMAP2 since perf 6.19:
/// the address differs with each start of the machine.
fn kernel_map(
    file: &RecordFile<'_>,
    body: &Body,
    limits: &Limits,
) -> Option<Vec<(&'static str, Value)>> {
    let start = body.data.offset;
    let area = (start, body.data.end().unwrap_or(start));
    let records = file.records(area, limits.of(&RESYNC)).filter_map(Item::record);
    let is_map = |kind: u32| matches!(kind, record::MMAP | record::MMAP2);
    let maps = records.take(FIRST_RECORDS).filter(|found| is_map(found.frame.kind));
    let fields = maps.map(|found| {
        let view = found.view(file.layer(), 0);
        let mut fields = fields(&view, file.order());
        fields.retain(|(name, _)| KERNEL_PLACE.contains(name));
        fields
    });
    let mut kernels = fields.filter(|fields| {
        let is_kernel =
            |value: &Value| matches!(value, Value::Text(name) if name.starts_with(KERNEL));
        // Without the right to see it, perf writes 0.
        let is_hidden = fields.contains(&("addr", Value::Hex(0)));
        fields.iter().any(|(_, value)| is_kernel(value)) && !is_hidden
    });
    kernels.next()
}

/// Returns the names of all files that the records map.
fn mapped_files(recording: &Recording<'_>, limits: &Limits) -> BTreeSet<Vec<u8>> {
    let (file, data) = (&recording.file, recording.body.data);
    let area = (data.offset, data.end().unwrap_or(data.offset));
    let (mut names, mut held) = (BTreeSet::new(), 0);
    for found in file.records(area, limits.of(&RESYNC)).filter_map(Item::record) {
        if !matches!(found.frame.kind, record::MMAP | record::MMAP2) {
            continue;
        }
        let view = found.view(file.layer(), 0);
        let fields = fields(&view, file.order());
        if let Some((_, Value::Text(name))) = fields.into_iter().next_back()
            && !names.contains(&name)
        {
            held = to_u64(name.len()).saturating_add(held);
            if held > limits.of(&WINDOW) {
                break;
            }
            names.insert(name);
        }
    }
    names
}
