//! Seccomp: the kernel refuses system calls that a reader of files has no use for.
//!
//! The list names the calls that are refused. A list of the allowed ones would have to follow every
//! change of the standard library and the C library, and break runs when it does not.

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

/// Refuses the calls with EPERM, for all threads. Calls of another architecture end the process.
pub(super) fn restrict() -> Result<(), String> {
    apply_filter_all_threads(&build_filter(REFUSED)).map_err(|error| format!("seccomp: {error}"))
}

/// The filter: one comparison per call. The kernel runs it once for every system call that there is
/// when it is installed, so a filter of the usual five instructions per call takes half a
/// millisecond, and this one a tenth of that.
fn build_filter(refused: &[libc::c_long]) -> BpfProgram {
    let load = |place| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, place, 0);
    let leave = |result| step(libc::BPF_RET | libc::BPF_K, result, 0);
    let errno = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
    // Instructions between a comparison and the one that refuses: later comparisons, and `allow`.
    let rest = |after: usize| u8::try_from(after.saturating_add(1)).unwrap_or(u8::MAX);
    let mut program = vec![
        load(ARCHITECTURE_AT),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, ARCHITECTURE, 1),
        leave(libc::SECCOMP_RET_KILL_PROCESS),
        load(NUMBER_AT),
        step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, X32_BIT, rest(refused.len())),
    ];
    for (index, number) in refused.iter().enumerate() {
        let after = refused.len().saturating_sub(index).saturating_sub(1);
        let number = u32::try_from(*number).unwrap_or(u32::MAX);
        program.push(step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, number, rest(after)));
    }
    program.extend([leave(libc::SECCOMP_RET_ALLOW), leave(errno)]);
    program
}

/// One instruction; a comparison that holds skips `skipped` others.
fn step(code: u32, value: u32, skipped: u8) -> sock_filter {
    // All codes are below 256.
    sock_filter { code: u16::try_from(code).unwrap_or(u16::MAX), jt: skipped, jf: 0, k: value }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the filter returns for a system call: the instructions that it has, and no others.
    fn run(program: &BpfProgram, architecture: u32, number: u32) -> u32 {
        let (mut at, mut value) = (0, 0);
        loop {
            let sock_filter { code, jt, jf, k } = &program[at];
            at += 1;
            match u32::from(*code) {
                0x20 => value = if *k == NUMBER_AT { number } else { architecture },
                0x15 => at += usize::from(if value == *k { *jt } else { *jf }),
                0x35 => at += usize::from(if value >= *k { *jt } else { *jf }),
                0x06 => return *k,
                code => panic!("{code:#x}"),
            }
        }
    }

    #[test]
    fn the_filter_refuses_each_call_of_the_list_and_no_other() {
        let program = build_filter(REFUSED);
        let (allowed, refused) = (0x7fff_0000, 0x0005_0001);
        for number in 0..1_000 {
            let is_listed = REFUSED.contains(&libc::c_long::from(number));
            let expected = if is_listed { refused } else { allowed };
            assert_eq!(run(&program, ARCHITECTURE, number), expected, "call {number}");
        }
        assert_eq!(run(&program, ARCHITECTURE, X32_BIT), refused);
        assert_eq!(run(&program, ARCHITECTURE ^ 1, 0), 0x8000_0000, "the process ends");
        // The jumps of the first comparisons are one byte.
        assert!(REFUSED.len() < 255);
    }
}
