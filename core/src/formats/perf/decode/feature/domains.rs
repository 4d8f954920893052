//! CPU_DOMAIN_INFO: the scheduling domains of each CPU, which perf sched stats shows.
//!
//! ```text
//!  u32 schedstat version, u32 most domains of a CPU, then for each CPU that is online
//!    u32 number, u32 count of domains, then for each domain
//!      u32 number, name (since schedstat 17), mask and list of CPUs as texts
//! ```
//!
//! Source: `process_cpu_domain_info` of `tools/perf/util/header.c` in perf 7.2.

use std::collections::BTreeSet;

use super::error::FeatureError;
use super::lists::{count, string};
use super::sections::ranged;
use crate::kit::cursor::Cursor;

/// Most scheduling domains of a CPU.
const MOST_DOMAINS: u64 = 64;
/// First schedstat version with the names of domains.
const NAMED_DOMAINS: u32 = 17;
/// Size of the entry of a CPU without domains.
const CPU_MIN: u64 = 8;

/// Reads the domains of a machine with as many CPUs, of which `online` have an entry; without that
/// number, entries fill the section. An empty section has none.
pub(super) fn cpu_domains(
    cursor: &mut Cursor<'_>,
    cpus: Option<u64>,
    online: Option<u64>,
) -> Result<(), FeatureError> {
    if online.is_none() && cursor.is_empty() {
        return Ok(());
    }
    let version = cursor.u32("schedstat_version")?;
    let most = ranged(cursor, "max_sched_domains", (0, MOST_DOMAINS))?;
    let span = cursor.ahead();
    let nr =
        online.map(|online| count(online, CPU_MIN, cursor.left(), "cpus", span)).transpose()?;
    let last = cpus.unwrap_or(u64::MAX).saturating_sub(1);
    let (mut known, mut read) = (BTreeSet::new(), 0_u64);
    while nr.map_or(cursor.left() >= CPU_MIN, |nr| read < nr) {
        let (label, start) = ("domains.cpu", cursor.position());
        let cpu = ranged(cursor, label, (0, last))?;
        if !known.insert(cpu) {
            return Err(FeatureError::Twice { label, value: cpu, span: cursor.since(start) });
        }
        domains_of_cpu(cursor, most, version >= NAMED_DOMAINS)?;
        read = read.saturating_add(1);
    }
    Ok(())
}

/// Reads the domains of a CPU.
fn domains_of_cpu(cursor: &mut Cursor<'_>, most: u64, has_names: bool) -> Result<(), FeatureError> {
    let mut seen = 0_u64;
    for _ in 0..ranged(cursor, "nr_domains", (0, most))? {
        let (label, start) = ("domain", cursor.position());
        let value = ranged(cursor, label, (0, most.saturating_sub(1)))?;
        // There are 64 at most.
        let mask = 1_u64.rotate_left(u32::try_from(value).unwrap_or(0));
        if seen & mask != 0 {
            return Err(FeatureError::Twice { label, value, span: cursor.since(start) });
        }
        seen |= mask;
        if has_names {
            string(cursor, "domain.name")?;
        }
        string(cursor, "domain.cpumask")?;
        string(cursor, "domain.cpulist")?;
    }
    Ok(())
}
