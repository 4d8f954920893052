//! Workload Automation's `revent` recordings of input events.
//!
//! ```text
//!  0   magic REVENT, u16 version                        version 1, 2016-07
//!  8   u16 mode, 6 bytes of padding                     version 2, 2016-10, and 3
//!  16  mode 0: u32 number of devices, each u32 length and path without a NUL
//!      mode 1: 4 u16 of an id, u32 length and name, ev_bits (4 bytes), abs_bits, rel_bits,
//!              key_bits (96 bytes each), u32 number of axes, each 7 i32:
//!              code, value, minimum, maximum, fuzz, flat, resolution
//!      u64 number of events                             version 2 and 3
//!      u64 start sec, start usec, end sec, end usec     version 3, 2017-09
//!      events: u16 device, i64 sec, i64 usec, u16 type, u16 code, i32 value
//!      (the recorder's own release of the return key, 52 bytes that are not counted)
//! ```
//!
//! Everything is little-endian and unaligned. Older layouts differ in all sizes:
//!
//! | | written | header | devices | event |
//! |---|---|---|---|---|
//! | P20 | to 2015-03, 32-bit | none | i32 | 20: i32 device, i32 sec, i32 usec, u16, u16, i32 |
//! | P28 | to 2015-03, 64-bit | none | u64 | 28: i32 device, i64 sec, i64 usec, u16, u16, i32 |
//! | P24 | to 2016-07, 32-bit | none | i32 | 24: as P20 with u32 0xdeadbeef behind the device |
//! | P32 | to 2016-07, 64-bit | none | i32 | 32: as P28 with u32 0xdeadbeef behind the device |
//! | v1 | to 2016-10 | 8 bytes | i32 | 32: as P32 |
//!
//! None of these counts its events: they go to the end of the file, and the release of the return
//! key is among them. Times are of the clock that counts from 1970, in version 3 from the start of
//! the machine.
//!
//! A recorder that is killed leaves whole buffers of 4096 bytes (behind the 16 of the header), a count
//! of 0, what its stack held for start and end, and an event that is cut.
//!
//! Sources: the user's document (revent-recordings.rst), the recorder's C source (`revent.c` of
//! Workload Automation, through its history), its Python reader (`wa/utils/revent.py`), and what the
//! published builds of the recorder wrote. Where the document and the recorder disagree the recorder
//! wins, for it made the files: the document calls version 2 current, has start and end in every
//! version, puts the bitmaps in the order ev, key, rel, abs (as the Python reader does), gives six
//! values to a described axis in place of seven, and calls values unsigned.

mod check;
pub mod decode;
mod dump;
pub mod layout;
pub mod limits;
pub mod options;
mod repair;
pub mod rules;

use crate::formats::{Confidence, Dump, DumpError, Dumped, Format, Tile};
use crate::report::{Report, Rule};
use crate::limits::Limit;
use crate::options::{OptionSpec, Options};
use crate::recording::FileSet;

/// The format.
#[derive(Debug)]
pub struct Revent;

/// The one value of [`Revent`].
pub static REVENT: Revent = Revent;

impl Format for Revent {
    fn name(&self) -> &'static str {
        "revent"
    }

    fn summary(&self) -> &'static str {
        "Workload Automation input recordings: seven layouts and gamepads; mends what a killed \
         recorder, a cut copy, a lost device or a 32-bit writer leaves; --upgrade to version 3"
    }

    fn nouns(&self) -> [&'static str; 2] {
        ["event", "frame"]
    }

    fn rules(&self) -> &'static [&'static Rule] {
        rules::RULES
    }

    fn options(&self) -> &'static [OptionSpec] {
        options::OPTIONS
    }

    fn limits(&self) -> &'static [&'static Limit] {
        limits::LIMITS
    }

    fn sniff(&self, files: &FileSet<'_>, _options: &Options) -> Option<Confidence> {
        let source = files.bytes(0);
        if decode::head::has_magic(&source) {
            return Some(Confidence::Certain);
        }
        let evidence = decode::evidence::elder(&source);
        evidence.map(|_| Confidence::Evidence)
    }

    fn check(&self, files: &FileSet<'_>, options: &Options, report: &mut Report) {
        check::check(files, options, report);
    }

    fn tile(&self, files: &FileSet<'_>, _options: &Options, each: &mut dyn FnMut(Tile)) {
        decode::tile::tile(&files.bytes(0), each);
    }

    fn dump_styles(&self) -> &'static [(&'static str, &'static str)] {
        dump::STYLES
    }

    fn dump(
        &self,
        files: &FileSet<'_>,
        _options: &Options,
        request: &Dump,
        out: &mut dyn FnMut(&str) -> bool,
    ) -> Result<Dumped, DumpError> {
        dump::dump(files, request, out)
    }
}
