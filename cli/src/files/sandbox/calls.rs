//! Seccomp: the kernel refuses system calls that a reader of files has no use for.
//!
//! The list names the calls that are refused. A list of the allowed ones would have to follow every
//! change of the standard library and the C library, and break runs when it does not.
//!
//! ```text
//!  clone3     ENOSYS: the C library uses clone, whose flags a filter can read
//!  clone      only with CLONE_THREAD: threads, no processes
//!  utimensat  only without a path, as futimens calls it, and only where files are written
//! ```

use seccompiler::{BpfProgram, apply_filter_all_threads, sock_filter};

/// Calls that are refused.
const REFUSED: &[libc::c_long] = &[
    // Networks, and whatever else sockets lead to.
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    // Other programs.
    libc::SYS_execve,
    libc::SYS_execveat,
    // Lengths, modes, owners, attributes and times by a path: of a file that was not named.
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    libc::SYS_truncate,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    // New processes; see CLONE.
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    // System calls by another way.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Files by another way.
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_memfd_create,
    libc::SYS_mq_open,
    libc::SYS_shmget,
    libc::SYS_msgget,
    libc::SYS_semget,
    // Kernel interfaces in which faults are found.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_unshare,
    libc::SYS_setns,
    // Changes of the system.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_fsmount,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_personality,
    libc::SYS_quotactl,
    libc::SYS_syslog,
];

/// Calls that are refused to commands that write no file: modes, owners and attributes of open
/// files.
const REFUSED_TO_READERS: &[libc::c_long] =
    &[libc::SYS_fchmod, libc::SYS_fchown, libc::SYS_fsetxattr, libc::SYS_fremovexattr];

/// Numbers that the library does not have: include/uapi/asm-generic/unistd.h.
const FCHMODAT2: libc::c_long = 452;
const SETXATTRAT: libc::c_long = 463;
const REMOVEXATTRAT: libc::c_long = 466;

/// The architecture of this program, as the kernel names it for a filter.
// linux/audit.h: the number of the machine in ELF, 64 bits, little endian
const ARCHITECTURE: u32 = 0xc000_0000
    | match () {
        () if cfg!(target_arch = "x86_64") => 62,
        () if cfg!(target_arch = "aarch64") => 183,
        () => 243,
    };
/// System calls of the x32 ABI have this bit and the architecture of x86-64. No other call has it.
const X32_BIT: u32 = 0x4000_0000;
/// Places in what the kernel gives to the filter: `struct seccomp_data`.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
/// The lower halves of the first two arguments; the upper one follows on these architectures.
const FIRST_AT: u32 = 16;
const SECOND_AT: u32 = 24;
/// `CLONE_THREAD`.
const THREAD: u32 = 0x1_0000;

/// Refuses the calls with EPERM, for all threads. Calls of another architecture end the process.
/// `writes`: the command changes modes, owners, attributes and times of files that it opened.
pub(super) fn restrict(writes: bool) -> Result<(), String> {
    let filter = build_filter(&refused(writes), writes);
    apply_filter_all_threads(&filter).map_err(|error| format!("seccomp: {error}"))
}

fn refused(writes: bool) -> Vec<libc::c_long> {
    let others = if writes { &[] } else { REFUSED_TO_READERS };
    [REFUSED, others].concat()
}

/// The filter: one comparison per call. The kernel runs it once for every system call that there is
/// when it is installed, so a filter of the usual five instructions per call takes half a
/// millisecond, and this one a tenth of that.
fn build_filter(refused: &[libc::c_long], writes: bool) -> BpfProgram {
    let load = |place| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, place, 0);
    let leave = |result| step(libc::BPF_RET | libc::BPF_K, result, 0);
    let errno = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
    let unknown = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    let if_written = if writes { libc::SECCOMP_RET_ALLOW } else { errno };
    // A comparison that does not hold skips instructions.
    let unless = |number: libc::c_long, skipped| sock_filter {
        jf: skipped,
        ..step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, as_word(number), 0)
    };
    let has_bit = |bit| step(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, bit, 1);
    // Instructions between a comparison and the one that refuses: later comparisons, and `allow`.
    let rest = |after: usize| u8::try_from(after.saturating_add(1)).unwrap_or(u8::MAX);
    let mut program = vec![
        load(ARCHITECTURE_AT),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, ARCHITECTURE, 1),
        leave(libc::SECCOMP_RET_KILL_PROCESS),
        load(NUMBER_AT),
        step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, X32_BIT, 1),
        step(libc::BPF_JMP | libc::BPF_JA, 1, 0),
        leave(errno),
        unless(libc::SYS_clone3, 1),
        leave(unknown),
        unless(libc::SYS_clone, 4),
        load(FIRST_AT),
        has_bit(THREAD),
        leave(errno),
        leave(libc::SECCOMP_RET_ALLOW),
        unless(libc::SYS_utimensat, 6),
        load(SECOND_AT),
        unless(0, 3),
        load(SECOND_AT.saturating_add(4)),
        unless(0, 1),
        leave(if_written),
        leave(errno),
    ];
    for (index, number) in refused.iter().enumerate() {
        let after = refused.len().saturating_sub(index).saturating_sub(1);
        let number = as_word(*number);
        program.push(step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, number, rest(after)));
    }
    program.extend([leave(libc::SECCOMP_RET_ALLOW), leave(errno)]);
    program
}

/// The number of a call in a filter.
fn as_word(number: libc::c_long) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// One instruction; a comparison that holds skips `skipped` others.
fn step(code: u32, value: u32, skipped: u8) -> sock_filter {
    // All codes are below 256.
    sock_filter { code: u16::try_from(code).unwrap_or(u16::MAX), jt: skipped, jf: 0, k: value }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the filter returns for a system call with these halves of the first two arguments: the
    /// instructions that it has, and no others.
    fn run_with(program: &BpfProgram, (architecture, number): (u32, u32), halves: [u32; 4]) -> u32 {
        let (mut at, mut value) = (0, 0);
        let data = [&[number, architecture, 0, 0][..], &halves].concat();
        loop {
            let sock_filter { code, jt, jf, k } = &program[at];
            at += 1;
            match u32::from(*code) {
                0x20 => value = data[usize::try_from(*k / 4).unwrap()],
                0x05 => at += usize::try_from(*k).unwrap(),
                0x45 => at += usize::from(if value & *k != 0 { *jt } else { *jf }),
                0x15 => at += usize::from(if value == *k { *jt } else { *jf }),
                0x35 => at += usize::from(if value >= *k { *jt } else { *jf }),
                0x06 => return *k,
                code => panic!("{code:#x}"),
            }
        }
    }

    fn run(program: &BpfProgram, architecture: u32, number: u32) -> u32 {
        run_with(program, (architecture, number), [0; 4])
    }

    const ALLOWED: u32 = 0x7fff_0000;
    const EPERM: u32 = 0x0005_0001;

    #[test]
    fn the_filter_refuses_each_call_of_the_list_and_no_other() {
        for writes in [false, true] {
            let refused = refused(writes);
            let program = build_filter(&refused, writes);
            let special = [libc::SYS_clone, libc::SYS_clone3, libc::SYS_utimensat];
            for number in 0..1_000 {
                let call = libc::c_long::from(number);
                let expected = if refused.contains(&call) { EPERM } else { ALLOWED };
                if !special.contains(&call) {
                    assert_eq!(run(&program, ARCHITECTURE, number), expected, "call {number}");
                }
            }
            assert_eq!(run(&program, ARCHITECTURE, X32_BIT), EPERM);
            assert_eq!(run(&program, ARCHITECTURE, u32::MAX), EPERM);
            assert_eq!(run(&program, ARCHITECTURE ^ 1, 0), 0x8000_0000, "the process ends");
            // The jumps of the first comparisons are one byte.
            assert!(refused.len() < 255);
        }
    }

    #[test]
    fn threads_begin_and_processes_do_not() {
        let program = build_filter(&refused(true), true);
        let clone = |flags: u32| {
            run_with(&program, (ARCHITECTURE, as_word(libc::SYS_clone)), [flags, 0, 0, 0])
        };
        // As pthread_create calls it, and as fork and posix_spawn do.
        assert_eq!([0x003d_0f00, 0x0120_0011, 0x4111].map(clone), [ALLOWED, EPERM, EPERM]);
        assert_eq!(run(&program, ARCHITECTURE, as_word(libc::SYS_clone3)), 0x0005_0026, "ENOSYS");
    }

    #[test]
    fn times_change_without_a_path_and_by_commands_that_write() {
        for (writes, expected) in [(false, EPERM), (true, ALLOWED)] {
            let program = build_filter(&refused(writes), writes);
            let call = (ARCHITECTURE, as_word(libc::SYS_utimensat));
            assert_eq!(run_with(&program, call, [3, 0, 0, 0]), expected);
            for path in [[1, 0], [0, 1]] {
                assert_eq!(run_with(&program, call, [3, 0, path[0], path[1]]), EPERM);
            }
        }
    }
}
