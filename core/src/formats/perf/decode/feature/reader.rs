//! Values that readers refuse in a feature whose fields fit its section.
//!
//! perf 7 reads the features of a file before its records, and refuses the whole file at the first
//! one that it cannot read. Earlier versions skip that feature and those after it, and they accept
//! more. The limits are those that perf 7.2 names in its messages; the layouts are those of the
//! `process_*` functions of `tools/perf/util/header.c`.

use super::error::FeatureError;
use super::lists::{string, strings};
use super::sections::{check_sockets, expect_version, ranged};
use super::{Machine, content, domains};
use crate::formats::perf::layout::features::{Judge, Trait, feature};
use crate::formats::perf::layout::programs::PROGRAM_INFO;
use crate::kit::cursor::Cursor;
use crate::kit::num::to_u64;
use crate::kit::row::row_size;

/// Most available CPUs.
const MOST_CPUS: u64 = 1 << 20;
/// Most groups.
const MOST_GROUPS: u64 = 1 << 15;
/// Most BPF programs.
const MOST_PROGRAMS: u64 = 1 << 17;
/// Largest `struct bpf_prog_info` that later versions may have.
const PROGRAM_INFO_NEXT: u64 = 1024;
/// Granularity and least value of the buffer of compressed records.
const PAGE: u64 = 4096;

/// The readers that refuse a feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Every version.
    All(FeatureError),
    /// Those from perf 7 on; earlier ones read it.
    Newer(FeatureError),
}

/// Refuses values that readers refuse in the section of feature `bit`, whose fields fit. `events`
/// is the number of events of the recording.
///
/// # Errors
///
/// The first fault, and its readers.
pub fn refuse(
    bit: u32,
    mut cursor: Cursor<'_>,
    machine: &Machine,
    events: usize,
) -> Result<(), Refusal> {
    let Some(feature) = feature(bit) else { return Ok(()) };
    let judge = feature.traits.iter().find_map(|one| match one {
        Trait::Judged(judge) => Some(*judge),
        _ => None,
    });
    let Some(judge) = judge else {
        let read = content::read(feature.content, &mut cursor, content::As::Strict);
        return read.map_err(Refusal::Newer);
    };
    match judge {
        Judge::Topology => {
            topology(cursor.clone(), machine).map_err(Refusal::Newer)?;
            if machine.has_free_sockets {
                return Ok(());
            }
            check_sockets(cursor, machine.cpus).map_err(Refusal::All)
        }
        Judge::Groups => groups(cursor, events).map_err(Refusal::All),
        Judge::Clock => clock(cursor).map_err(Refusal::All),
        Judge::Programs => programs(cursor, machine).map_err(Refusal::All),
        Judge::Cpus => cpus(cursor).map_err(Refusal::Newer),
        Judge::Buffer => compressed(cursor).map_err(Refusal::Newer),
        Judge::Domains => domains(cursor, machine).map_err(Refusal::Newer),
    }
}

/// NRCPUS: no more CPUs online than available, and no more than any machine has.
fn cpus(mut cursor: Cursor<'_>) -> Result<(), FeatureError> {
    let available = ranged(&mut cursor, "nr_cpus_available", (1, MOST_CPUS))?;
    ranged(&mut cursor, "nr_cpus_online", (0, available)).map(drop)
}

/// CPU_TOPOLOGY: it is read by NRCPUS, and no list is longer than the CPUs are many.
fn topology(mut cursor: Cursor<'_>, machine: &Machine) -> Result<(), FeatureError> {
    let cpus = needed_cpus(&cursor, machine)?;
    for (label, text) in [("cores.nr", "core"), ("threads.nr", "thread")] {
        ranged(&mut cursor.unlogged(), label, (0, cpus))?;
        strings(&mut cursor, label, text)?;
    }
    if cursor.is_empty() {
        return Ok(());
    }
    cursor.skip(cpus, 8, "cpus")?;
    match cursor.is_empty() {
        true => Ok(()),
        false => ranged(&mut cursor, "dies.nr", (0, cpus)).map(drop),
    }
}

/// Returns the number of available CPUs, without which perf 7 does not read the feature.
fn needed_cpus(cursor: &Cursor<'_>, machine: &Machine) -> Result<u64, FeatureError> {
    let cpus = machine.cpus.filter(|cpus| *cpus > 0).map(u64::from);
    cpus.ok_or_else(|| FeatureError::NeedsCpus { span: cursor.ahead() })
}

/// GROUP_DESC: the groups are in the order of their leaders, lie among the events and do not
/// overlap (`process_group_desc`).
fn groups(mut cursor: Cursor<'_>, events: usize) -> Result<(), FeatureError> {
    let (mut free, end) = (0_u64, to_u64(events));
    for _ in 0..ranged(&mut cursor, "groups.nr", (0, MOST_GROUPS))? {
        string(&mut cursor, "group.name")?;
        let leader = ranged(&mut cursor, "group.leader_idx", (free, end.saturating_sub(1)))?;
        let most = end.saturating_sub(leader);
        let members = ranged(&mut cursor, "group.nr_members", (1, most))?;
        free = leader.saturating_add(members);
    }
    Ok(())
}

/// CLOCK_DATA: version 1.
fn clock(mut cursor: Cursor<'_>) -> Result<(), FeatureError> {
    let (label, start) = ("clock_data.version", cursor.position());
    let version = cursor.u32(label)?;
    expect_version(label, version.into(), cursor.since(start))
}

/// COMPRESSED: a buffer of complete pages.
fn compressed(mut cursor: Cursor<'_>) -> Result<(), FeatureError> {
    cursor.skip(4, 4, "compressed.version")?;
    let start = cursor.position();
    let value = u64::from(cursor.u32("compressed.mmap_len")?);
    if value >= PAGE && value.is_multiple_of(PAGE) {
        return Ok(());
    }
    Err(FeatureError::Pages { label: "compressed.mmap_len", value, span: cursor.since(start) })
}

/// BPF_PROG_INFO: no more of a program than the structure of the kernel has.
fn programs(mut cursor: Cursor<'_>, machine: &Machine) -> Result<(), FeatureError> {
    let most = if machine.may_be_newer() { PROGRAM_INFO_NEXT } else { row_size(PROGRAM_INFO) };
    for _ in 0..ranged(&mut cursor, "programs.nr", (0, MOST_PROGRAMS))? {
        let info_len = ranged(&mut cursor, "program.info_len", (0, most))?;
        let data_len = cursor.u32("program.data_len")?;
        cursor.skip(1, 8, "program.arrays")?;
        cursor.skip(1, info_len, "program.info")?;
        cursor.skip(1, data_len.into(), "program.data")?;
    }
    Ok(())
}

/// CPU_DOMAIN_INFO: it is read by NRCPUS.
fn domains(mut cursor: Cursor<'_>, machine: &Machine) -> Result<(), FeatureError> {
    // perf 6.1 ends the features of a pipe with this number, and perf 7 goes on after it.
    let is_end = cursor.is_empty() || !machine.is_recorder_strict();
    if is_end && !machine.is_in_file {
        return Ok(());
    }
    let cpus = needed_cpus(&cursor, machine)?;
    let online = machine.online.map_or(cpus, u64::from);
    domains::cpu_domains(&mut cursor, Some(cpus), Some(online))
}
