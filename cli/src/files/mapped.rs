//! Files as bytes in memory, and their leases: the one file of the project with `unsafe`.
//!
//! Recordings are tens of GB; they are mapped. Small files are read, since threads that map and
//! unmap many of them wait for one another. A map is a `&[u8]` over bytes that other
//! processes may change, which Rust does not allow. It is sound enough here because
//!
//! - the map is private and read-only, and neither the library nor this crate has other unsafe
//!   code: no index, length or `str` is trusted because an earlier look at the bytes was right.
//!   Every read is bounds-checked against a length that lies outside the map, and text is decoded
//!   anew at each use. Bytes that change between two looks give a wrong finding, no wrong access;
//! - a wrong finding cannot become a wrong repair unseen: the output is compared with the source
//!   byte by byte and checked again before it gets its name, and the source must still have the
//!   length and time of change that it had.
//!
//! A file that shrinks, or whose disk fails, makes an access raise SIGBUS. The handler does only
//! what is allowed there. In a command over many recordings (`survive`) it puts zeros in the place
//! of the page and remembers it: whoever read the file asks `Mapped::has_lost_pages` before the
//! result counts. Else it writes a fixed sentence, removes the unfinished output and leaves with
//! code 5. The same removal is done on SIGINT, SIGTERM and SIGHUP, which then take their course;
//! the first two add a line about what was done. A program that is only a guest in its process
//! (`embedded`) handles SIGBUS alone, and only for its own maps.
//!
//! A lease (`take_lease`) is a system call on an open file, which touches no memory.
#![allow(unsafe_code, reason = "the memory map, signal handlers and leases, and nothing else")]
#![allow(clippy::as_conversions, reason = "a function becomes the number that sigaction takes")]

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::ptr;
use std::sync::Arc;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use crate::files::{embedded, lost};
use crate::kit::exit::Exit;
use crate::kit::interrupted::{self, LINE_MAX};

/// The reason of SIGBUS that is a page without a place in its file, or that could not be read.
const BUS_ADRERR: libc::c_int = 2;

/// Message of the signal handler, which may not format anything.
const SHRANK: &str = "tracemend: a file shrank, or its disk failed, while it was read: \
                      an unfinished output was removed\n";

/// Files of /proc have the length 0, some of /sys that of a page.
const MORE: &str = "it has the length 0 and more bytes: it grew while it was read, or the system \
                    makes up its contents; check a copy of it";
const FEWER: &str = "it has fewer bytes than its length: it shrank while it was read, or the \
                     system makes up its contents; check a copy of it";

/// Files up to this length are read.
const SMALL: usize = 64 << 10;
/// Bytes of small files that are held at a time; beyond that they are mapped, too. One recording
/// may have 20,000 files.
const HELD_MAX: usize = 4 << 20;

/// Bytes of small files that are held now.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// A file's bytes.
#[derive(Debug, Default)]
pub(crate) struct Mapped(Bytes);

#[derive(Debug, Default)]
enum Bytes {
    /// An empty file cannot be mapped.
    #[default]
    None,
    Read(Held),
    Map(Map),
    Part(Part),
}

/// The map of a file that other programs may change.
#[derive(Debug)]
struct Map(memmap2::Mmap);

impl Map {
    fn new(map: memmap2::Mmap) -> Self {
        let map = Self(map);
        let [start, end] = map.place();
        embedded::note_map(start, end);
        map
    }

    /// Where its pages lie.
    fn place(&self) -> [usize; 2] {
        let (start, page) = (self.0.as_ptr().addr(), PAGE.load(Ordering::SeqCst).max(1));
        [start, start.saturating_add(self.0.len()).next_multiple_of(page)]
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // Another map may come to lie there.
        let [start, end] = self.place();
        lost::forget(start, end);
        embedded::forget_map(start, end);
    }
}

/// A part of a file without a name, given back when it is dropped.
#[derive(Debug)]
struct Part {
    map: Map,
    file: Arc<File>,
    start: u64,
    len: u64,
}

impl Drop for Part {
    fn drop(&mut self) {
        // A part that cannot be given back takes its place until the program ends.
        #[cfg(target_os = "linux")]
        let _kept = rustix::fs::fallocate(
            &*self.file,
            rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE,
            self.start,
            self.len,
        );
    }
}

/// The bytes of a small file.
#[derive(Debug)]
struct Held(Vec<u8>);

impl Held {
    /// Reads a small file of `len` bytes; `None` if too many are held already.
    fn read(file: &File, len: usize) -> io::Result<Option<Self>> {
        if len > SMALL || HELD.fetch_add(len, Ordering::Relaxed) > HELD_MAX {
            if len <= SMALL {
                HELD.fetch_sub(len, Ordering::Relaxed);
            }
            return Ok(None);
        }
        let mut held = Self(vec![0; len]);
        file.read_exact_at(&mut held.0, 0).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::other(FEWER),
            _ => error,
        })?;
        Ok(Some(held))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.fetch_sub(self.0.len(), Ordering::Relaxed);
    }
}

impl Mapped {
    /// Maps or reads the whole of an open regular file.
    pub(crate) fn new(file: &File) -> io::Result<Self> {
        install();
        // The length as it is now, not as it was when the path was looked at.
        let len = file.metadata()?.len();
        if len == 0 {
            return fail_on_hidden_bytes(file).map(|()| Self::default());
        }
        let len = usize::try_from(len).map_err(|_| {
            io::Error::new(io::ErrorKind::FileTooLarge, "larger than the address space")
        })?;
        if let Some(held) = Held::read(file, len)? {
            return Ok(Self(Bytes::Read(held)));
        }
        // SAFETY: not upheld in full; the module's documentation says why that is sound enough.
        let map = unsafe { memmap2::MmapOptions::new().len(len).map(file)? };
        Ok(Self(Bytes::Map(Map::new(map))))
    }

    /// Whether some of the bytes that were read are not those of the file; see [`survive`].
    pub(crate) fn has_lost_pages(&self) -> bool {
        let (Bytes::Map(map) | Bytes::Part(Part { map, .. })) = &self.0 else { return false };
        let [start, end] = map.place();
        lost::has(start, end)
    }

    /// Whether it shows the file as it is now, instead of a copy.
    pub(crate) const fn is_map(&self) -> bool {
        matches!(self.0, Bytes::Map(_))
    }

    /// Whether as many bytes may be held in memory.
    pub(crate) fn may_hold(len: usize) -> bool {
        len <= SMALL && HELD.load(Ordering::Relaxed) <= HELD_MAX
    }

    /// Bytes that no file holds; see [`Mapped::may_hold`].
    pub(crate) fn of_bytes(bytes: Vec<u8>) -> Self {
        HELD.fetch_add(bytes.len(), Ordering::Relaxed);
        Self(Bytes::Read(Held(bytes)))
    }

    /// Maps a part of a file that nobody else writes to; `start` is the beginning of a page.
    pub(crate) fn part(file: Arc<File>, start: u64, len: u64) -> io::Result<Self> {
        install();
        let too_large = || io::Error::from(io::ErrorKind::FileTooLarge);
        let size = usize::try_from(len).map_err(|_| too_large())?;
        // SAFETY: the file has no name, and its parts are written once, before they are mapped.
        let map = unsafe { memmap2::MmapOptions::new().offset(start).len(size).map(&*file)? };
        Ok(Self(Bytes::Part(Part { map: Map::new(map), file, start, len })))
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.0 {
            Bytes::None => &[],
            Bytes::Read(held) => &held.0,
            Bytes::Map(map) => &map.0,
            Bytes::Part(part) => &part.map.0,
        }
    }
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

/// Fails if a file of the length 0 has bytes.
fn fail_on_hidden_bytes(file: &File) -> io::Result<()> {
    match file.read_at(&mut [0], 0)? {
        0 => Ok(()),
        _ => Err(io::Error::other(MORE)),
    }
}

/// Whether a lost page gets zeros.
static SURVIVES: AtomicBool = AtomicBool::new(false);
/// Bytes of a page.
static PAGE: AtomicUsize = AtomicUsize::new(0);

/// Lets a file that shrinks, or whose disk fails, cost only what is read of it.
pub(crate) fn survive() {
    SURVIVES.store(true, Ordering::SeqCst);
}

/// Puts zeros in the place of the page of a file that could not be read, and remembers it.
fn replace_lost(address: usize) -> bool {
    let len = PAGE.load(Ordering::SeqCst);
    if !SURVIVES.load(Ordering::SeqCst) || !len.is_power_of_two() {
        return false;
    }
    let page = address & !(len - 1);
    if embedded::is_on() && !embedded::has_map_at(page) {
        return false;
    }
    let next = page.wrapping_add(len);
    let is_noted = lost::note(page, next);
    // SAFETY: the page belongs to the map of a file, as the kernel found, so nothing else is lost;
    // mmap is one system call.
    is_noted
        && unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
            let place = ptr::with_exposed_provenance_mut(page);
            libc::mmap(place, len, libc::PROT_READ, flags, -1, 0) == place
        }
}

/// Paths to remove if the process dies: files first, then the folders that hold them, inner ones
/// first.
#[derive(Debug, Default)]
struct Unfinished {
    files: Vec<CString>,
    folders: Vec<CString>,
}

/// The unfinished files: an output and a plan, or the reports in all formats. The target of a slot
/// is never freed, so the handler may always read it.
static UNFINISHED: [AtomicPtr<Unfinished>; 16] = [const { AtomicPtr::new(ptr::null_mut()) }; 16];

/// While it lives, a dying process removes the paths.
#[derive(Debug)]
pub(crate) struct RemovedOnDeath(&'static AtomicPtr<Unfinished>);

impl RemovedOnDeath {
    /// Registers `files`, and the `folders` that they are alone in, inner ones first.
    pub(crate) fn new<'a>(
        files: impl IntoIterator<Item = &'a Path>,
        folders: impl IntoIterator<Item = &'a Path>,
    ) -> io::Result<Self> {
        install();
        let path = |path: &Path| Ok::<_, io::Error>(CString::new(path.as_os_str().as_bytes())?);
        let files = files.into_iter().map(path).collect::<io::Result<_>>()?;
        let folders = folders.into_iter().map(path).collect::<io::Result<_>>()?;
        let unfinished = Unfinished { files, folders };
        // Leaked: a signal may arrive while it would be freed. One output, one leak.
        let unfinished = ptr::from_mut(Box::leak(Box::new(unfinished)));
        for slot in &UNFINISHED {
            let (free, order) = (ptr::null_mut(), Ordering::SeqCst);
            if slot.compare_exchange(free, unfinished, order, order).is_ok() {
                return Ok(Self(slot));
            }
        }
        Err(io::Error::other("more than 16 outputs at a time"))
    }
}

impl Drop for RemovedOnDeath {
    fn drop(&mut self) {
        self.0.store(ptr::null_mut(), Ordering::SeqCst);
    }
}

/// The action of SIGBUS before that of this program.
static BUS_BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(ptr::null_mut());

/// Installs the handlers, once.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: sysconf takes and returns integers.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        PAGE.store(usize::try_from(page).unwrap_or(0), Ordering::SeqCst);
        handle(libc::SIGBUS);
        match embedded::is_on() {
            true => survive(),
            false => [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].into_iter().for_each(handle),
        }
        ignore_broken_leases();
    });
}

/// Ignores the signal about a broken lease, whose default action ends the process.
fn ignore_broken_leases() {
    // SAFETY: the structures are plain data that sigaction fills in and reads.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGIO, ptr::null(), &raw mut old);
        if old.sa_sigaction == libc::SIG_DFL {
            old.sa_sigaction = libc::SIG_IGN;
            libc::sigaction(libc::SIGIO, &raw const old, ptr::null_mut());
        }
    }
}

/// Takes a read lease of an open file and returns it at once: the kernel refuses the lease while
/// the file is open for writing. A program that opens the file for writing in between waits for the
/// second call, so there is nothing between the two.
#[cfg(target_os = "linux")]
pub(crate) fn take_lease(file: &File) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    install();
    // SAFETY: both calls take and return integers.
    let taken = unsafe {
        let taken = libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK);
        if taken == 0 {
            libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_UNLCK);
        }
        taken
    };
    if taken == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Installs the handler for one signal, unless the signal is ignored (as under nohup).
fn handle(signal: libc::c_int) {
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = died;
    // SAFETY: both structures are plain data that sigaction and sigemptyset fill in; `died` does
    // only what signal-safety(7) allows.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, ptr::null(), &raw mut old);
        if old.sa_sigaction == libc::SIG_IGN && signal != libc::SIGBUS {
            return;
        }
        if signal == libc::SIGBUS {
            // Leaked, once: the handler may need it at any time.
            BUS_BEFORE.store(Box::leak(Box::new(old)), Ordering::SeqCst);
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as libc::sighandler_t;
        // Rust's threads have an alternate stack for signals; the default action comes back, so
        // that a second signal ends the process whatever the handler is doing. A lost page may be
        // followed by another one.
        let once = if signal == libc::SIGBUS { 0 } else { libc::SA_RESETHAND };
        action.sa_flags = libc::SA_ONSTACK | libc::SA_SIGINFO | once;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(signal, &raw const action, ptr::null_mut());
    }
}

extern "C" fn died(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel passes the structure, with an address for SIGBUS. write, unlink, rmdir,
    // raise and _exit are async-signal-safe; what UNFINISHED points to is complete when it is
    // stored and is never freed or changed.
    unsafe {
        if signal == libc::SIGBUS
            && (*info).si_code == BUS_ADRERR
            && replace_lost((*info).si_addr().addr())
        {
            return;
        }
        if embedded::is_on() {
            // The access is repeated, and comes to the handler of the process or the default one.
            libc::sigaction(libc::SIGBUS, BUS_BEFORE.load(Ordering::SeqCst), ptr::null_mut());
            return;
        }
        for slot in &UNFINISHED {
            let Some(unfinished) = slot.load(Ordering::SeqCst).as_ref() else { continue };
            for path in &unfinished.files {
                libc::unlink(path.as_ptr());
            }
            for folder in &unfinished.folders {
                libc::rmdir(folder.as_ptr());
            }
        }
        if signal == libc::SIGBUS {
            libc::write(libc::STDERR_FILENO, SHRANK.as_ptr().cast(), SHRANK.len());
            libc::_exit(libc::c_int::from(Exit::Io.code()));
        }
        if signal != libc::SIGHUP {
            let mut line = [0; LINE_MAX];
            let line = interrupted::describe(&mut line);
            libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len());
        }
        // The default action is back in place and follows when the handler returns.
        libc::raise(signal);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A file of `len` bytes, as it is held.
    fn held(len: usize) -> Mapped {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; len]).unwrap();
        Mapped::new(&file).unwrap()
    }

    #[test]
    fn small_files_are_read_as_long_as_few_are_held() {
        assert!(matches!(held(0).0, Bytes::None));
        assert!(held(SMALL + 1).is_map());
        let mut files = Vec::new();
        while files.len() <= 2 * HELD_MAX / SMALL {
            let file = held(SMALL);
            assert_eq!(file.bytes(), [7; SMALL]);
            files.push(file);
        }
        let is_read = |file: &&Mapped| matches!(file.0, Bytes::Read(_));
        let read = files.iter().filter(is_read).count();
        assert!((1..=HELD_MAX / SMALL + 1).contains(&read), "read: {read}");
        drop(files);
        assert!(matches!(held(SMALL).0, Bytes::Read(_)));
    }

    #[test]
    fn a_small_file_that_is_cut_while_it_is_read_is_an_error() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[7; 9]).unwrap();
        assert_eq!(Held::read(&file, 9).unwrap().unwrap().0, [7; 9]);
        assert_eq!(Held::read(&file, 10).unwrap_err().to_string(), FEWER);
    }
}
