//! Linux `perf.data`.
//!
//! ```text
//!  file                                   pipe
//!  0    header, 104 bytes                 0   header, 16 bytes
//!  104  ids of each event                 16  records: HEADER_ATTR, HEADER_FEATURE, ... samples
//!       attrs: { attr, ids section }          (payloads of TRACING_DATA and AUXTRACE follow theirs)
//!       data: records
//!       table: one section per feature bit
//!       (hole of reserved table entries)
//!       sections of the features
//! ```
//!
//! The recorder writes `data.size` and everything behind the records when it ends: a crash leaves 0
//! there, and flags of features that never came. Compressed records hold one zstd stream between
//! them, whose records form the expanded layer.
//!
//! Sources: the user's document (perf.data-file-format.txt, as of Linux 4.7),
//! `include/uapi/linux/perf_event.h`, perf's `util/header.c`, `util/session.c` and `util/evsel.c`, and
//! recordings of perf 6.1 and 6.12. Where the document and real files disagree the files win:
//! the header's magic is `PERFILE2`, sections of features need not adjoin, COMPRESSED records are
//! one stream, and fields of a sample follow perf's parser and not the bits' order.

pub mod check;
pub mod decode;
pub mod directory;
pub mod layout;
pub mod limits;
pub mod options;
pub mod repair;
pub mod rules;

use crate::formats::{Confidence, DirectoryShape, Format, Tile};
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::mend::edit::Edit;
use crate::report::{Finding, Report, Rule};
use crate::limits::Limit;
use crate::options::{OptionSpec, Options};
use crate::recording::FileSet;

/// The format.
#[derive(Debug)]
pub struct Perf;

/// The one value of [`Perf`].
pub static PERF: Perf = Perf;

impl Format for Perf {
    fn name(&self) -> &'static str {
        "perf"
    }

    fn summary(&self) -> &'static str {
        "Linux perf.data: files, pipes and directories, both byte orders, zstd; mends what a killed \
         recorder, a full disk or a cut copy leaves"
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

    fn directory(&self) -> Option<&'static dyn DirectoryShape> {
        Some(&directory::PerfDirectory)
    }

    fn sniff(&self, files: &FileSet<'_>, _options: &Options) -> Option<Confidence> {
        let first = files.bytes(0).read(0, 8);
        decode::header::magic(&first).map(|_| Confidence::Certain)
    }

    fn check(&self, files: &FileSet<'_>, options: &Options, report: &mut Report) {
        let source = files.bytes(0);
        match decode::header::header(&source, 0) {
            Err(error) => {
                let span = Span::new(Layer::stored(0), 0, source.len());
                let message = format!("{} bytes: {error}", source.len());
                report.push(Finding::new(&rules::HEADER_TORN, span, "header", message));
                report.mark_unreadable();
            }
            Ok(header) => match header.body {
                Some(body) => check::file::check(files, &header, &body, options, report),
                None => check::pipe::check(files, &header, options, report),
            },
        }
    }

    fn settle(&self, files: &FileSet<'_>, edits: &[Edit], _options: &Options) -> Vec<Edit> {
        repair::settle(files, edits)
    }

    fn tile(&self, files: &FileSet<'_>, options: &Options, each: &mut dyn FnMut(Tile)) {
        for index in 0..u32::try_from(to_u64(files.files().len())).unwrap_or(u32::MAX) {
            decode::tile::tile(files, index, &options.limits, each);
        }
    }
}
