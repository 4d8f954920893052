//! Texts that perf and the kernel write by themselves: names of events, tracepoints and maps.

use crate::sight::harmless::{has_only, holds};

/// Words of the names of events, units, caches, PMUs and their capabilities.
const WORDS: &str = "\
    cycles cpu-cycles instructions cache-references cache-misses branches branch-instructions \
    branch-misses bus-cycles ref-cycles idle-cycles-frontend idle-cycles-backend \
    stalled-cycles-frontend stalled-cycles-backend cpu-clock task-clock page-faults faults \
    context-switches cs cpu-migrations migrations minor-faults major-faults alignment-faults \
    emulation-faults dummy bpf-output cgroup-switches duration_time user_time system_time \
    slots L1-dcache-loads L1-dcache-load-misses L1-dcache-stores L1-dcache-store-misses \
    L1-dcache-prefetches L1-icache-loads L1-icache-load-misses LLC-loads LLC-load-misses \
    LLC-stores LLC-store-misses LLC-prefetches dTLB-loads dTLB-load-misses dTLB-stores \
    dTLB-store-misses iTLB-loads iTLB-load-misses branch-loads branch-load-misses node-loads \
    node-load-misses node-stores node-store-misses u k h G H HG p pp ppp P S D W e uk ku up \
    upp uppp kp kpp kppp Pu uP pu ppu pppu uH kH SG Sku anon group anon_group tool cpu \
    cpu_core cpu_atom breakpoint software tracepoint kprobe uprobe msr power intel_pt \
    intel_bts cs_etm arm_spe_0 i915 uncore_imc cstate_core cstate_pkg amd_iommu ibs_op \
    ibs_fetch amd_df amd_l3 hv_24x7 hv_gpci armv8_pmuv3 armv8_pmuv3_0 armv8_cortex_a53 \
    armv8_cortex_a57 armv8_cortex_a72 armv7_cortex_a7 armv7_cortex_a15 max_precise pmu_name \
    br_counters_nr br_counters_width caps Data Instruction Unified msec ns Joules MiB MB KB GB \
    Bytes bytes CPUs utilized GHz C % field timestamp offset size signed local_t commit int \
    overwrite char data compressed entry header type_len bits time_delta array padding type \
    time_extend time_stamp max unsigned long \
    simpleperf_version android_sdk_version android_version app_type clockid cpu_usage \
    event_type_info kernel_symbols_available kernel_version system_wide_collection \
    trace_offcpu exclude_perf branch_filtering app_package_name app_debuggable product_props \
    recording_process android_build_fingerprint android_build_type";

/// Tracepoints of Linux 6.12 and 6.18, a line per system or a part of it. Those of system calls
/// lack `sys_enter_` and `sys_exit_`.
static TRACEPOINTS: &str = include_str!("tracepoints.txt");

/// Systems of tracepoints in Linux 6.12.
const SYSTEMS: &str = "\
    alarmtimer asoc avc block bpf_test_run bpf_trace bridge btrfs cfg80211 cgroup clk cma \
    compaction context_tracking cpuhp cros_ec csd dev devfreq devlink dma dma_fence drm \
    error_report exceptions ext4 f2fs fib fib6 filelock filemap fs_dax gpio gpu_scheduler \
    handshake huge_memory hwmon hyperv i2c i915 initcall intel_iommu interconnect io_uring \
    iomap iommu ipi irq irq_matrix irq_vectors iscsi jbd2 kmem ksm kvm kvmmmu libata lock \
    mac80211 maple_tree mce mdio mei memcg migrate mmap mmap_lock mmc module mptcp msr napi \
    neigh net netfs netlink nfs nfs4 nfsd nmi notifier nvme oom osnoise page_isolation \
    page_pool pagemap percpu power printk pwm qdisc ras raw_syscalls rcu regmap regulator \
    resctrl rpm rpmh rseq rtc sched sched_ext scsi signal skb smbus sock spi sunrpc swiotlb \
    syscalls task tcp thermal thp timer timestamp tlb tls ucsi udp v4l2 vb2 virtio_gpu vmalloc \
    vmscan vsock vsyscall watchdog wbt workqueue writeback x86_fpu xdp xen xfs xhci-hcd zone";

/// Returns whether a text consists of words that perf writes by itself.
pub(super) fn is_harmless(text: &[u8]) -> bool {
    let is_word = |text: &[u8]| holds(WORDS, text);
    is_word(text) || is_tracepoint(text) || {
        let is_separator = |byte: u8| matches!(byte, b':' | b'{' | b'}' | b',' | b'/' | b' ');
        has_only(text, is_separator, is_word)
    }
}

/// Returns whether a text names a tracepoint of the kernel: `sched:sched_switch`.
fn is_tracepoint(text: &[u8]) -> bool {
    let at = text.iter().position(|byte| *byte == b':');
    let parts = at.and_then(|at| Some((text.get(..at)?, text.get(at.checked_add(1)?..)?)));
    parts.is_some_and(|(system, name)| has_tracepoint(system, name))
}

/// Returns whether a system of the kernel has a tracepoint of this name.
fn has_tracepoint(system: &[u8], name: &[u8]) -> bool {
    let call = name.strip_prefix(b"sys_enter_").or_else(|| name.strip_prefix(b"sys_exit_"));
    let name = call.filter(|_| system == b"syscalls").unwrap_or(name);
    let mut lines = TRACEPOINTS.lines().filter_map(|line| line.split_once(": "));
    lines.any(|(of, names)| of.as_bytes() == system && holds(names, name))
}

/// Returns whether a system of tracepoints is one of the kernel, not of a user's probes.
pub(super) fn is_system(text: &[u8]) -> bool {
    holds(SYSTEMS, text)
}

/// Returns whether the format of an event is that of a tracepoint of the kernel.
pub(super) fn is_format(system: &[u8], format: &[u8]) -> bool {
    let line = format.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let name = line.strip_prefix(b"name: ");
    !is_probe(format) && name.is_some_and(|name| has_tracepoint(system, name))
}

/// Numbers in the description of the pages of ftrace: sizes, places and types. A page has 4 to
/// 64 KiB, without its header of 8 or 16 bytes.
const PAGE_NUMBERS: &str =
    "0 1 4 5 8 12 16 27 28 29 30 31 32 4080 4084 8176 8180 16368 16372 32752 32756 65520 65524";

/// Returns whether a text describes the pages of ftrace, and nothing else.
pub(super) fn is_page(text: &[u8]) -> bool {
    let is_separator = |byte: &u8| !(byte.is_ascii_alphanumeric() || *byte == b'_');
    let mut words = text.split(is_separator).filter(|word| !word.is_empty());
    words.all(|word| [WORDS, PAGE_NUMBERS, "u8 u16 u32 u64"].iter().any(|list| holds(list, word)))
}

/// Returns whether the format of an event is that of a probe, whose fields a user named.
fn is_probe(format: &[u8]) -> bool {
    format.windows(7).any(|part| part == b"__probe")
}

/// Names of machines, as `uname -m` prints them.
const MACHINES: &str = "\
    x86_64 i386 i486 i586 i686 aarch64 aarch64_be armv5tel armv6l armv7l armv8l ppc ppc64 ppc64le \
    s390 s390x riscv32 riscv64 mips mips64 loongarch64 sparc sparc64 parisc parisc64 alpha ia64 \
    m68k sh4";

/// Returns whether a text is the name of a kind of machine.
pub(super) fn is_machine(text: &[u8]) -> bool {
    holds(MACHINES, text)
}

/// Most digits of a number of a version that stays.
const VERSION_DIGITS: usize = 3;

/// Returns the parts of the version of perf that no reader needs: `57`, `deb13` and `amd64` of
/// `6.12.57+deb13-amd64`. The first two numbers, and `el9` of a distribution that adds features of
/// later versions, decide which faults readers accept.
pub(super) fn version_details(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_separator = |byte: &u8| matches!(byte, b'.' | b'-' | b'+' | b'~');
    let parts = text.split(is_separator).enumerate();
    let details = parts.filter(|(index, part)| {
        let rest = part.strip_prefix(b"el").unwrap_or(part);
        let is_number = rest.len() <= VERSION_DIGITS && rest.iter().all(u8::is_ascii_digit);
        !part.is_empty() && !(is_number && (*index < 2 || rest.len() < part.len()))
    });
    details.map(|(_, part)| part)
}

/// Returns whether a text is the part of an address filter before the path: an action, or a range.
pub(super) fn is_filter(part: &[u8]) -> bool {
    let is_hex = |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b'x' | b'/' | b'@');
    let is_range = part.first().is_none_or(u8::is_ascii_digit) && part.iter().all(is_hex);
    is_range || holds("filter start stop tracestop", part)
}

/// Names of maps that the kernel and perf give.
const MAPS: &[&str] = &[
    "[kernel.kallsyms]",
    "[kernel]",
    "[guest.kernel.kallsyms]",
    "[vdso]",
    "[vdso32]",
    "[vvar]",
    "[vvar_vclock]",
    "[vsyscall]",
    "[heap]",
    "[stack]",
    "[uprobes]",
    "[anon]",
    "//anon",
    "[vectors]",
    "[sigpage]",
    "/",
];
/// Ends of the names of the kernel's maps.
const MAP_ENDS: &[&str] = &["_text", "_stext", "_etext"];
/// The beginning of the name of a guest's kernel, before the number of its process.
const GUEST: &[u8] = b"[guest.kernel.kallsyms.";
/// Most digits of the number of a process.
const PID_DIGITS: usize = 7;

/// Returns whether a map has a name that the kernel or perf gives.
pub(super) fn is_map(name: &[u8]) -> bool {
    let end = MAP_ENDS.iter().find_map(|end| name.strip_suffix(end.as_bytes()));
    let map = end.unwrap_or(name);
    let guest = map.strip_prefix(GUEST).and_then(|rest| rest.strip_suffix(b"]"));
    MAPS.iter().any(|known| known.as_bytes() == map)
        || guest.is_some_and(|pid| pid.len() <= PID_DIGITS && pid.iter().all(u8::is_ascii_digit))
}

/// Values of META_INFO that simpleperf writes by itself: switches, clocks, types of apps and
/// filters of branches.
const META_VALUES: &str = "\
    true false monotonic monotonic_raw realtime boottime perf debuggable profileable unknown any \
    any_call any_ret ind_call u k hv";

/// Returns whether a value of META_INFO consists of words that simpleperf writes by itself.
pub(super) fn is_meta_value(value: &[u8]) -> bool {
    has_only(value, |byte| byte == b',', |word| holds(META_VALUES, word))
}

/// Returns whether a value of META_INFO is a time in seconds, which begins with 1 until 2033.
pub(super) fn is_time(value: &[u8]) -> bool {
    value.len() == 10 && value.starts_with(b"1") && value.iter().all(u8::is_ascii_digit)
}

/// Returns the names of events in a value of META_INFO that a user chose; type and config follow
/// each: `cpu-cycles:u,0,0`.
pub(super) fn chosen_events(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_number = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    let parts = value.split(|byte| matches!(byte, b',' | b'\n')).enumerate();
    let chosen = parts.filter(move |(index, part)| match index % 3 {
        0 => !is_harmless(part),
        _ => !is_number(part),
    });
    chosen.map(|(_, part)| part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_perf_writes_are_harmless_and_names_of_users_are_not() {
        for name in [
            &b"cpu-clock"[..],
            b"cycles:u",
            b"dummy:HG",
            b"sched:sched_switch",
            b"syscalls:sys_enter_openat",
            b"{cpu-clock,page-faults}",
            b"anon group",
            b"cpu/cycles/",
            b"0-3,8",
        ] {
            assert!(is_harmless(name), "{name:?}");
        }
        for name in [
            &b"secret"[..],
            b"probe_app:login",
            b"cycles:secret",
            b"cycles:4111111111",
            b"sched:SECRET",
            b"sched:hunter2secret",
            b"xen:hunter2",
            b"syscalls:sys_enter_hunter2",
            b"10.1.2.3",
        ] {
            assert!(!is_harmless(name), "{name:?}");
        }
        assert!(is_system(b"syscalls") && !is_system(b"probe_app"));
    }

    #[test]
    fn the_first_numbers_of_a_version_are_needed_and_the_rest_is_private() {
        let details = |text: &'static str| {
            let parts = version_details(text.as_bytes()).map(String::from_utf8_lossy);
            parts.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(details("6.1.158"), "158");
        assert_eq!(details("6.12.57+deb13-amd64"), "57 deb13 amd64");
        assert_eq!(details("5.14.0-570.el9.x86_64"), "0 570 x86_64");
        assert_eq!(details("7.0.secret~elsecret"), "secret elsecret");
        assert_eq!(details("1.build.7848450"), "build 7848450");
        assert_eq!(details("6.1"), "");
        assert_eq!(details("5551234567.4111111111.el4111"), "5551234567 4111111111 el4111");
        assert!(is_machine(b"aarch64") && !is_machine(b"secret"));
    }

    #[test]
    fn formats_of_tracepoints_and_pages_are_known_by_their_names_and_numbers() {
        assert!(is_format(b"sched", b"name: sched_switch\nID: 316\n"));
        for format in [&b"name: hunter2\nID: 1\n"[..], b"name: sched_switch\n __probe_ip", b""] {
            assert!(!is_format(b"sched", format), "{format:?}");
        }
        assert!(is_page(b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"));
        assert!(!is_page(b"field: u64 hunter2;") && !is_page(b"size:4111;"));
    }

    #[test]
    fn values_of_simpleperf_have_the_shape_of_their_key() {
        assert!(is_meta_value(b"monotonic") && is_meta_value(b"any,u") && is_meta_value(b"31"));
        assert!(!is_meta_value(b"hunter2secret") && !is_meta_value(b"4111111111"));
        assert!(is_time(b"1700000000") && !is_time(b"4111111111") && !is_time(b"17"));
        let chosen = |value: &'static str| chosen_events(value.as_bytes()).collect::<Vec<_>>();
        assert_eq!(chosen("cpu-cycles:u,0,0\nsched:sched_switch,2,316\n"), [b""; 0]);
        assert_eq!(chosen("hunter2,0,secret"), [&b"hunter2"[..], b"secret"]);
    }

    #[test]
    fn a_filter_has_actions_and_ranges() {
        for part in [&b"filter"[..], b"tracestop", b"0x1100/0x4a@", b"0x1100", b""] {
            assert!(is_filter(part), "{part:?}");
        }
        for part in [&b"main"[..], b"deadbeef", b"secret/0x40@", b"0x1100/secret@"] {
            assert!(!is_filter(part), "{part:?}");
        }
    }

    #[test]
    fn maps_of_the_kernel_are_known_and_others_are_not() {
        for name in [
            &b"[kernel.kallsyms]_text"[..],
            b"[guest.kernel.kallsyms.12]",
            b"[vdso]",
            b"//anon",
            b"/",
            b"[stack]",
        ] {
            assert!(is_map(name), "{name:?}");
        }
        for name in [
            &b"[secret]"[..],
            b"secret.so",
            b"/secret",
            b"[kernel.kallsyms]_secret",
            b"[heap]4111111111111111",
            b"[guest.kernel.kallsyms.4111111111111111]",
        ] {
            assert!(!is_map(name), "{name:?}");
        }
    }
}
