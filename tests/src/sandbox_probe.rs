//! Tries everything that the sandbox refuses, and prints the results, one attempt per line.
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
}

#[allow(clippy::print_stdout, reason = "the product of this program")]
fn println(line: &str) {
    println!("{line}");
}
