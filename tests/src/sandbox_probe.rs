//! Tries everything that the sandbox refuses, and prints the results, one attempt per line: what
//! the standard library does, then system calls by their numbers.
//!
//! ```text
//! sandbox-probe on|off FOLDER    FOLDER has: named, other, walked/{inside, link -> ../other}, out/
//! ```

use std::io;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs, thread};

use tracemend_cli::sandbox::{Reach, confine};

fn read(path: PathBuf) -> io::Result<()> {
    fs::read(path).map(drop)
}

fn mode() -> fs::Permissions {
    fs::Permissions::from_mode(0o600)
}

fn set_mode(path: &Path) -> io::Result<()> {
    fs::File::open(path)?.set_permissions(mode())
}

fn set_time(path: &Path) -> io::Result<()> {
    fs::File::open(path)?.set_modified(SystemTime::UNIX_EPOCH)
}

fn set_attribute(path: &Path) -> io::Result<()> {
    let set = rustix::fs::setxattr(path, "user.probe", b"x", rustix::fs::XattrFlags::empty());
    match set {
        // A file system without attributes refuses none.
        Err(rustix::io::Errno::OPNOTSUPP) => Ok(()),
        set => Ok(set?),
    }
}

fn set_times(path: &Path) -> io::Result<()> {
    let now = rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
    let times = rustix::fs::Timestamps { last_access: now, last_modification: now };
    let flags = rustix::fs::AtFlags::empty();
    Ok(rustix::fs::utimensat(rustix::fs::CWD, path, &times, flags)?)
}

/// `RLIMIT_CORE`, whose type differs between systems.
const RLIMIT_CORE: libc::c_long = 4;

/// System calls that need no file, with arguments that do no harm. Those after the first sixteen
/// are dangerous to nobody: only a list of the allowed ones refuses them.
const CALLS: &[(&str, libc::c_long, [libc::c_long; 4])] = &[
    ("ptrace", libc::SYS_ptrace, [0xffff, 0, 0, 0]),
    ("process_vm_readv", libc::SYS_process_vm_readv, [0, 0, 0, 0]),
    ("process_vm_writev", libc::SYS_process_vm_writev, [0, 0, 0, 0]),
    ("io_uring_setup", libc::SYS_io_uring_setup, [0, 0, 0, 0]),
    ("bpf", libc::SYS_bpf, [-1, 0, 0, 0]),
    ("perf_event_open", libc::SYS_perf_event_open, [0, 0, 0, 0]),
    ("userfaultfd", libc::SYS_userfaultfd, [-1, 0, 0, 0]),
    ("keyctl", libc::SYS_keyctl, [-1, 0, 0, 0]),
    ("mount", libc::SYS_mount, [0, 0, 0, 0]),
    ("unshare", libc::SYS_unshare, [0, 0, 0, 0]),
    ("setns", libc::SYS_setns, [-1, 0, 0, 0]),
    ("socket", libc::SYS_socket, [-1, 0, 0, 0]),
    ("memfd_create", libc::SYS_memfd_create, [0, 0, 0, 0]),
    ("shmget", libc::SYS_shmget, [1, 0, 0, 0]),
    ("msgget", libc::SYS_msgget, [1, 0, 0, 0]),
    ("kill", libc::SYS_kill, [0, 0, 0, 0]),
    ("inotify_init1", libc::SYS_inotify_init1, [-1, 0, 0, 0]),
    ("timerfd_create", libc::SYS_timerfd_create, [-1, 0, 0, 0]),
    ("signalfd4", libc::SYS_signalfd4, [-1, 0, 0, 0]),
    ("pidfd_open", libc::SYS_pidfd_open, [0, 0, 0, 0]),
    ("name_to_handle_at", libc::SYS_name_to_handle_at, [-1, 0, 0, 0]),
    ("mknodat", libc::SYS_mknodat, [-1, 0, 0, 0]),
    ("chdir", libc::SYS_chdir, [0, 0, 0, 0]),
    ("getsid", libc::SYS_getsid, [0, 0, 0, 0]),
    ("pipe2", libc::SYS_pipe2, [0, -1, 0, 0]),
    ("vmsplice", libc::SYS_vmsplice, [-1, 0, 0, 0]),
    ("sched_setaffinity", libc::SYS_sched_setaffinity, [0, 0, 0, 0]),
    ("setpriority", libc::SYS_setpriority, [-1, 0, 0, 0]),
    ("mlock", libc::SYS_mlock, [0, 0, 0, 0]),
    ("capget", libc::SYS_capget, [0, 0, 0, 0]),
    ("setresuid", libc::SYS_setresuid, [-1, -1, -1, 0]),
    ("personality", libc::SYS_personality, [0xffff_ffff, 0, 0, 0]),
    ("ioctl(TIOCSTI)", libc::SYS_ioctl, [-1, 0x5412, 0, 0]),
    ("prctl(PR_GET_DUMPABLE)", libc::SYS_prctl, [3, 0, 0, 0]),
    ("prlimit64 with a new limit", libc::SYS_prlimit64, [0, RLIMIT_CORE, 1, 0]),
    ("tgkill of another process", libc::SYS_tgkill, [1, 1, 0, 0]),
];

/// Whether the kernel let a call pass: one that fails for another reason came through.
fn try_call((number, [a, b, c, d]): (libc::c_long, [libc::c_long; 4])) -> io::Result<()> {
    // SAFETY: the pointers are null or invalid, which the kernel answers with an error; none of
    // these calls changes this process or another one.
    let result = unsafe { libc::syscall(number, a, b, c, d) };
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EPERM | libc::ENOSYS) if result == -1 => Err(error),
        _ => Ok(()),
    }
}

fn attempts(folder: &Path) -> Vec<(&'static str, io::Result<()>)> {
    let at = |name: &str| folder.join(name);
    let other = at("other");
    let in_thread = thread::spawn(move || read(other)).join().unwrap_or(Ok(()));
    vec![
        ("read a named file", read(at("named"))),
        ("read below a named folder", read(at("walked/inside"))),
        ("list a named folder", fs::read_dir(at("walked")).map(drop)),
        ("write in the folder of outputs", fs::write(at("out/new"), "new")),
        ("rename in the folder of outputs", fs::rename(at("out/new"), at("out/renamed"))),
        ("set the mode of an open output", set_mode(&at("out/x"))),
        ("set the time of an open output", set_time(&at("out/x"))),
        ("start a thread", thread::spawn(|| ()).join().map_err(|_| io::ErrorKind::Other.into())),
        ("read another file", read(at("other"))),
        ("read another file in a thread", in_thread),
        ("read another file by a link", read(at("walked/link"))),
        ("read a file of the system", read(PathBuf::from("/etc/passwd"))),
        ("list another folder", fs::read_dir(folder).map(drop)),
        ("set the mode of another file", fs::set_permissions(at("other"), mode())),
        ("set the mode of a named file", fs::set_permissions(at("named"), mode())),
        ("set the owner of another file", chown(at("other"), None, None)),
        ("set an attribute of another file", set_attribute(&at("other"))),
        ("set the times of another file", set_times(&at("other"))),
        ("write a named file", fs::OpenOptions::new().append(true).open(at("named")).map(drop)),
        ("create another file", fs::write(at("new"), "new")),
        ("create a file below a named folder", fs::write(at("walked/new"), "new")),
        ("remove another file", fs::remove_file(at("other"))),
        ("move a named file", fs::rename(at("named"), at("out/named"))),
        ("open a TCP socket", TcpListener::bind("127.0.0.1:0").map(drop)),
        ("open a UDP socket", UdpSocket::bind("127.0.0.1:0").map(drop)),
        ("open a local socket", UnixDatagram::unbound().map(drop)),
        ("open a pair of sockets", UnixStream::pair().map(drop)),
        ("run a program", Command::new("/bin/true").status().map(drop)),
    ]
}

fn main() {
    let args: Vec<String> = env::args().collect();
    let [_, choice, folder] = args.as_slice() else { return };
    let folder = Path::new(folder);
    if choice == "on" {
        let reach = Reach::default().read(&folder.join("named")).read(&folder.join("walked"));
        let dropped = confine(&reach.write(&folder.join("out/report")));
        println(&dropped.to_string());
    }
    for (name, result) in attempts(folder) {
        match result {
            Ok(()) => println(&format!("allowed: {name}")),
            Err(error) => println(&format!("refused: {name}: {:?}", error.kind())),
        }
    }
    for (name, number, arguments) in CALLS {
        match try_call((*number, *arguments)) {
            Ok(()) => println(&format!("call allowed: {name}")),
            Err(error) => println(&format!("call refused: {name}: {:?}", error.kind())),
        }
    }
}

#[allow(clippy::print_stdout, reason = "the product of this program")]
fn println(line: &str) {
    println!("{line}");
}
