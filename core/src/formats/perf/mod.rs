//! Linux `perf.data`.
//!
//! ```text
//!  file                                   pipe
//!  0    header, 104 bytes                 0   header, 16 bytes
//!  104  ids of each event                 16  records: HEADER_ATTR, HEADER_FEATURE, ... samples
//!       attrs: { attr, ids section }          (TRACING_DATA and AUXTRACE precede their payload)
//!       data: records
//!       table: one section per feature bit
//!       (hole of reserved table entries)
//!       sections of the features
//! ```
//!
//! The recorder writes `data.size` and everything after the records when it exits: after a crash
//! `data.size` is 0, and the header flags features that do not exist. Compressed records contain
//! one zstd stream together; the records in it form the expanded layer.
//!
//! Sources: the published document (perf.data-file-format.txt, as of Linux 4.7),
//! `include/uapi/linux/perf_event.h`, perf's `util/header.c`, `util/session.c` and `util/evsel.c`,
//! and recordings of perf 6.1 and 6.12. Where the document and real files disagree, tracemend
//! follows the files: the magic is `PERFILE2`, sections of features need not adjoin, COMPRESSED
//! records are one stream, and the fields of a sample follow perf's parser and not the order of the
//! bits.

mod audit;
pub mod check;
pub mod decode;
pub mod directory;
pub mod dump;
pub mod layout;
pub mod limits;
pub mod options;
pub mod repair;
pub mod rules;

use crate::audit::Auditor;
use crate::formats::{
    Confidence, DirectoryShape, Dump, DumpError, Dumped, Format, StoreError, Stored, TileSink,
};
use crate::kit::reading::Hints;
use crate::limits::Limit;
use crate::mend::edit::Edit;
use crate::options::{OptionSpec, Options};
use crate::recording::FileSet;
use crate::report::{Finding, Report, Rule};

/// The format.
#[derive(Debug)]
pub struct Perf;

/// The only value of [`Perf`].
pub static PERF: Perf = Perf;

impl Format for Perf {
    fn name(&self) -> &'static str {
        "perf"
    }

    fn summary(&self) -> &'static str {
        "Linux perf.data: files, pipes and directories, both byte orders, zstd; repairs recordings \
         after a crash, a full disk or an incomplete copy"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        rules::all()
    }

    fn options(&self) -> &'static [OptionSpec] {
        options::OPTIONS
    }

    fn dump_options(&self) -> &'static [OptionSpec] {
        options::DUMP
    }

    fn limits(&self) -> &'static [&'static Limit] {
        limits::LIMITS
    }

    fn directory(&self) -> Option<&'static dyn DirectoryShape> {
        Some(&directory::PerfDirectory)
    }

    fn has_magic(&self) -> bool {
        true
    }

    fn magics(&self) -> &'static [&'static [u8]] {
        &[layout::MAGIC_LITTLE, layout::MAGIC_BIG]
    }

    fn is_found_by_records(&self) -> bool {
        true
    }

    fn file_names(&self) -> &'static [&'static str] {
        &["perf.data", "perf.data.old", "*.perf.data"]
    }

    fn sniff(&self, files: &FileSet<'_>, _options: &Options) -> Option<Confidence> {
        let source = files.bytes(0);
        if decode::restore::is_magic(&source) {
            return Some(Confidence::Certain);
        }
        decode::restore::is_blank(&source).then_some(Confidence::Evidence)
    }

    fn check(&self, files: &FileSet<'_>, options: &Options, report: &mut Report) {
        check::check(files, options, report);
    }

    fn settle(&self, files: &FileSet<'_>, edits: &[Edit], _options: &Options) -> Vec<Edit> {
        repair::settle(files, edits)
    }

    fn last_resort(
        &self,
        files: &FileSet<'_>,
        options: &Options,
        report: &Report,
    ) -> Option<Finding> {
        check::last_resort(files, options, report)
    }

    fn dump_styles(&self) -> &'static [(&'static str, &'static str)] {
        dump::STYLES
    }

    fn dump(
        &self,
        files: &FileSet<'_>,
        options: &Options,
        request: &Dump,
        out: &mut dyn FnMut(&str) -> bool,
    ) -> Result<Dumped, DumpError> {
        dump::dump(files, options, request, out)
    }

    fn audit(&self, files: &FileSet<'_>, options: &Options, auditor: &mut Auditor<'_>) {
        audit::audit(self, files, options, auditor);
    }

    fn store(
        &self,
        files: &FileSet<'_>,
        edits: &[Edit],
        options: &Options,
    ) -> Result<Stored, StoreError> {
        repair::store(files, edits, &options.limits)
    }

    fn signs_of_reading(&self) -> &'static [&'static str] {
        &["PD0013", "PD1006", "PD2002", "PD2004", "PD2007", "PD3001", "PD3002", "PD3004", "PD8003"]
    }

    fn reading_hints(&self, files: &FileSet<'_>, options: &Options, _report: &Report) -> Hints {
        decode::restore::find_displaced(&files.bytes(0), &options.limits)
    }

    fn hazards(&self) -> &'static [&'static str] {
        audit::HAZARDS
    }

    fn tile(&self, files: &FileSet<'_>, options: &Options, each: TileSink<'_>) {
        decode::tile::tile(files, &options.limits, each);
    }
}
