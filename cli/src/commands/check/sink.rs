//! Where the reports of a run go: standard output or files, several at a time.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::format::Wanted;
use super::writer::{Closing, Layout, Piece, Settings, Writer};
use crate::files::access::Readers;
use crate::files::output::TextFile;
use crate::files::places::Places;
use crate::files::recording::Stamp;
use crate::files::streams::Streams;
use crate::kit::exit::Failure;
use crate::kit::look::ColorChoice;
use crate::kit::progress::Progress;

/// A report that is written.
struct Output {
    writer: Writer,
    /// Standard output, if it is `None`.
    file: Option<TextFile>,
}

/// The places that the reports go to.
pub(super) struct Sink<'r, 's> {
    pub(super) streams: &'r mut Streams<'s>,
    outputs: Vec<Output>,
    pub(super) progress: Progress,
    /// Warnings that were printed.
    warned: BTreeSet<String>,
}

impl<'r, 's> Sink<'r, 's> {
    /// Creates the files of the reports that are `wanted`, none of which has its name before the
    /// end.
    pub(super) fn new(
        streams: &'r mut Streams<'s>,
        wanted: &[Wanted],
        color: ColorChoice,
        places: &mut Places,
        progress: Progress,
    ) -> Result<Self, Failure> {
        let mut outputs = Vec::new();
        for Wanted { format, file } in wanted {
            let (file, look) = match file {
                Some(path) => {
                    places.write("the report", path)?;
                    (
                        Some(TextFile::create(path, true, Readers::EVERYBODY)?),
                        streams.look.of_file(color),
                    )
                }
                None => (None, streams.look),
            };
            let writer = Writer::new(Layout { format: *format, look });
            outputs.push(Output { writer, file });
        }
        Ok(Self { streams, outputs, progress, warned: BTreeSet::new() })
    }

    /// How each report is rendered.
    pub(super) fn layouts(&self) -> Vec<Layout> {
        self.outputs.iter().map(|output| output.writer.layout()).collect()
    }

    /// Restricts the readers of each report to those of a source.
    pub(super) fn restrict(&mut self, of: impl Fn(&Path) -> Readers) {
        for file in self.outputs.iter_mut().filter_map(|output| output.file.as_mut()) {
            file.restrict(of(file.path()));
        }
    }

    /// The files of the reports.
    pub(super) fn texts(&self) -> Vec<PathBuf> {
        let files = self.outputs.iter().filter_map(|output| output.file.as_ref());
        files.map(|file| file.path().to_path_buf()).collect()
    }

    /// Restricts the readers of each report to those of a recording; `each` has one for each file.
    pub(super) fn restrict_each(&mut self, each: &[Readers]) {
        let files = self.outputs.iter_mut().filter_map(|output| output.file.as_mut());
        files.zip(each).for_each(|(file, readers)| file.restrict(*readers));
    }

    /// Files that the run writes and a walk must not read.
    pub(super) fn written(&self) -> Vec<Stamp> {
        let files = self.outputs.iter().filter_map(|output| output.file.as_ref());
        files.filter_map(TextFile::stamp).chain(self.streams.stdout_file()).collect()
    }

    /// Adds a recording: a piece for each report.
    pub(super) fn append(&mut self, pieces: Vec<Piece>) -> Result<(), Failure> {
        let (outputs, streams) = (&mut self.outputs, &mut *self.streams);
        self.progress.suspend(|| {
            for (output, piece) in outputs.iter_mut().zip(pieces) {
                let text = output.writer.append(piece);
                emit(&text, output.file.as_mut(), streams)?;
            }
            Ok(())
        })
    }

    /// Ends every report, and gives the files their names.
    pub(super) fn close(self, closing: &Closing<'_>, settings: &Settings) -> Result<(), Failure> {
        let Self { streams, outputs, progress, .. } = self;
        let mut files = Vec::new();
        for Output { writer, mut file } in outputs {
            let text = writer.finish(closing, settings)?;
            progress.suspend(|| emit(&text, file.as_mut(), streams))?;
            files.extend(file);
        }
        files.into_iter().try_for_each(TextFile::publish)
    }

    pub(super) fn warn(&mut self, text: &str) {
        let streams = &mut *self.streams;
        self.progress.suspend(|| streams.warn(text));
    }

    /// Warns once.
    pub(super) fn warn_once(&mut self, text: String) {
        if !self.warned.contains(&text) {
            self.warn(&text);
            self.warned.insert(text);
        }
    }
}

fn emit(text: &str, file: Option<&mut TextFile>, streams: &mut Streams<'_>) -> Result<(), Failure> {
    match file {
        Some(file) => file.write(text),
        None => streams.print(text),
    }
}
