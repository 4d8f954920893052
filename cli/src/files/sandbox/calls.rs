//! Seccomp: the kernel refuses the system calls that a reader of files has no use for.
//!
//! [`allowed`] lists the calls that pass. A call that is not on the list fails like one that the
//! user may not make (EPERM); a later one than the list knows, like one that the kernel does not
//! have (ENOSYS). The C library and the standard library expect both, and none ends the process.
//!
//! ```text
//!  clone3     ENOSYS: the C library uses clone, whose flags a filter can read
//!  clone      only with CLONE_THREAD: threads, no processes
//!  tgkill     only to threads of this process
//!  ioctl      only questions about terminals, flags of descriptors, and copies that share blocks
//!  prctl      only names of threads and of memory
//!  prlimit64  only without a new limit
//!  utimensat  only without a path, as futimens calls it, and only where files are written
//! ```

use seccompiler::{BpfProgram, apply_filter_all_threads, sock_filter};

use super::allowed::{ALWAYS, NEWEST, OF_WRITERS, PROCESS_OPTIONS, REQUESTS};

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
/// The lower halves of the first three arguments; the upper one follows on these architectures.
const FIRST_AT: u32 = 16;
const SECOND_AT: u32 = 24;
const THIRD_AT: u32 = 32;
/// `CLONE_THREAD`.
const THREAD: u32 = 0x1_0000;

const PASS: u32 = libc::SECCOMP_RET_ALLOW;
const REFUSE: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
const UNKNOWN: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();

/// Lets the calls of the list pass, for all threads, and no others. Calls of another architecture
/// end the process. `writes`: the command gives names to files that it wrote, and changes their
/// modes, owners, attributes and times.
pub(super) fn restrict(writes: bool) -> Result<(), String> {
    let filter = build_filter(&allowed(writes), writes, std::process::id());
    apply_filter_all_threads(&filter).map_err(|error| format!("seccomp: {error}"))
}

fn allowed(writes: bool) -> Vec<libc::c_long> {
    let of_writers = if writes { OF_WRITERS } else { &[] };
    ALWAYS.iter().copied().chain([of_writers]).flatten().copied().collect()
}

/// The filter: one comparison per call. The kernel runs it once for every system call that there is
/// when it is installed, so a filter of the usual five instructions per call takes half a
/// millisecond, and this one a tenth of that.
fn build_filter(allowed: &[libc::c_long], writes: bool, process: u32) -> BpfProgram {
    let if_written = if writes { PASS } else { REFUSE };
    let mut program = vec![
        load(ARCHITECTURE_AT),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, ARCHITECTURE, 1),
        leave(libc::SECCOMP_RET_KILL_PROCESS),
        load(NUMBER_AT),
        step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, X32_BIT, 1),
        step(libc::BPF_JMP | libc::BPF_JA, 1, 0),
        leave(REFUSE),
    ];
    judge(&mut program, libc::SYS_clone3, &[leave(UNKNOWN)]);
    let has_bit = step(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, THREAD, 1);
    let thread = [load(FIRST_AT), has_bit, leave(REFUSE), leave(PASS)];
    judge(&mut program, libc::SYS_clone, &thread);
    judge(&mut program, libc::SYS_tgkill, &pass_one_of(FIRST_AT, &[process]));
    judge(&mut program, libc::SYS_ioctl, &pass_one_of(SECOND_AT, REQUESTS));
    judge(&mut program, libc::SYS_prctl, &pass_one_of(FIRST_AT, PROCESS_OPTIONS));
    judge(&mut program, libc::SYS_prlimit64, &if_null(THIRD_AT, PASS));
    judge(&mut program, libc::SYS_utimensat, &if_null(SECOND_AT, if_written));
    for (index, number) in allowed.iter().enumerate() {
        // Instructions up to the one that lets the call pass: later comparisons, and three others.
        let after = allowed.len().saturating_sub(index).saturating_add(2);
        let after = u8::try_from(after).unwrap_or(u8::MAX);
        program.push(step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, as_word(*number), after));
    }
    let is_later = step(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, NEWEST, 1);
    program.extend([is_later, leave(REFUSE), leave(UNKNOWN), leave(PASS)]);
    program
}

/// Adds the judgement of the call of this number, which ends with a result.
fn judge(program: &mut BpfProgram, number: libc::c_long, judgement: &[sock_filter]) {
    let skipped = u8::try_from(judgement.len()).unwrap_or(u8::MAX);
    program.push(unless(as_word(number), skipped));
    program.extend_from_slice(judgement);
}

/// Passes a call whose argument has one of these values in its lower half, and refuses others.
fn pass_one_of(argument: u32, values: &[u32]) -> Vec<sock_filter> {
    let comparisons = values.iter().flat_map(|value| [unless(*value, 1), leave(PASS)]);
    [load(argument)].into_iter().chain(comparisons).chain([leave(REFUSE)]).collect()
}

/// Refuses a call whose argument is not a null pointer; otherwise the call has this result.
fn if_null(argument: u32, result: u32) -> [sock_filter; 6] {
    let upper = argument.saturating_add(4);
    [load(argument), unless(0, 3), load(upper), unless(0, 1), leave(result), leave(REFUSE)]
}

fn load(place: u32) -> sock_filter {
    step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, place, 0)
}

fn leave(result: u32) -> sock_filter {
    step(libc::BPF_RET | libc::BPF_K, result, 0)
}

/// A comparison that skips instructions if it does not hold.
fn unless(value: u32, skipped: u8) -> sock_filter {
    sock_filter { jf: skipped, ..step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, 0) }
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

    /// What the filter returns for a system call with these halves of its first arguments: the
    /// instructions that it has, and no others.
    fn run_with(program: &BpfProgram, (architecture, number): (u32, u32), halves: [u32; 6]) -> u32 {
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
                0x25 => at += usize::from(if value > *k { *jt } else { *jf }),
                0x35 => at += usize::from(if value >= *k { *jt } else { *jf }),
                0x06 => return *k,
                code => panic!("{code:#x}"),
            }
        }
    }

    fn run(program: &BpfProgram, architecture: u32, number: u32) -> u32 {
        run_with(program, (architecture, number), [0; 6])
    }

    fn call(program: &BpfProgram, number: libc::c_long, halves: [u32; 6]) -> u32 {
        run_with(program, (ARCHITECTURE, as_word(number)), halves)
    }

    const PROCESS: u32 = 4711;

    fn filter(writes: bool) -> BpfProgram {
        build_filter(&allowed(writes), writes, PROCESS)
    }

    const ALLOWED: u32 = 0x7fff_0000;
    const EPERM: u32 = 0x0005_0001;
    const ENOSYS: u32 = 0x0005_0026;

    #[test]
    fn the_filter_passes_each_call_of_the_list_and_no_other() {
        for writes in [false, true] {
            let (program, allowed) = (filter(writes), allowed(writes));
            let special = [
                libc::SYS_clone,
                libc::SYS_clone3,
                libc::SYS_tgkill,
                libc::SYS_ioctl,
                libc::SYS_prctl,
                libc::SYS_prlimit64,
                libc::SYS_utimensat,
            ];
            for number in 0..1_000 {
                let call = libc::c_long::from(number);
                let expected = match number {
                    _ if allowed.contains(&call) => ALLOWED,
                    470.. => ENOSYS,
                    _ => EPERM,
                };
                if !special.contains(&call) {
                    assert_eq!(run(&program, ARCHITECTURE, number), expected, "call {number}");
                }
            }
            assert_eq!(run(&program, ARCHITECTURE, X32_BIT), EPERM);
            assert_eq!(run(&program, ARCHITECTURE, u32::MAX), EPERM);
            assert_eq!(run(&program, ARCHITECTURE ^ 1, 0), 0x8000_0000, "the process ends");
            // The jumps of the first comparisons are one byte.
            assert!(allowed.len() < 250, "{}", allowed.len());
        }
    }

    #[test]
    fn threads_begin_and_processes_do_not() {
        let program = filter(true);
        let clone = |flags: u32| call(&program, libc::SYS_clone, [flags, 0, 0, 0, 0, 0]);
        // As pthread_create calls it, and as fork and posix_spawn do.
        assert_eq!([0x003d_0f00, 0x0120_0011, 0x4111].map(clone), [ALLOWED, EPERM, EPERM]);
        assert_eq!(run(&program, ARCHITECTURE, as_word(libc::SYS_clone3)), ENOSYS);
        let kill = |process: u32| call(&program, libc::SYS_tgkill, [process, 0, 0, 0, 0, 0]);
        assert_eq!([PROCESS, PROCESS + 1, 1].map(kill), [ALLOWED, EPERM, EPERM]);
    }

    #[test]
    fn a_terminal_is_asked_and_gets_no_input() {
        let program = filter(true);
        let ioctl = |request: u32| call(&program, libc::SYS_ioctl, [1, 0, request, 0, 0, 0]);
        // TIOCGWINSZ, TIOCSTI.
        assert_eq!([0x5413, 0x5412].map(ioctl), [ALLOWED, EPERM]);
        let prctl = |option: u32| call(&program, libc::SYS_prctl, [option, 0, 0, 0, 0, 0]);
        // PR_SET_NAME, PR_SET_DUMPABLE.
        assert_eq!([15, 4].map(prctl), [ALLOWED, EPERM]);
        let limit =
            |new: [u32; 2]| call(&program, libc::SYS_prlimit64, [0, 0, 3, 0, new[0], new[1]]);
        assert_eq!([[0, 0], [8, 0], [0, 8]].map(limit), [ALLOWED, EPERM, EPERM]);
    }

    #[test]
    fn names_and_times_change_by_commands_that_write() {
        for (writes, expected) in [(false, EPERM), (true, ALLOWED)] {
            let program = filter(writes);
            let times = |path: [u32; 2]| {
                call(&program, libc::SYS_utimensat, [3, 0, path[0], path[1], 0, 0])
            };
            assert_eq!(times([0, 0]), expected);
            assert_eq!([[1, 0], [0, 1]].map(times), [EPERM; 2]);
            assert_eq!(call(&program, libc::SYS_linkat, [0; 6]), expected);
        }
    }
}
