//! Everything that is known of a trace once all streams were walked.

use std::collections::BTreeMap;

use crate::formats::ovni::decode::files::StreamFiles;
use crate::formats::ovni::decode::stream::Stream;
use crate::formats::ovni::decode::trace::Trace;
use crate::formats::ovni::options::Strategy;
use crate::formats::ovni::recover::older_run::OlderRun;
use crate::formats::ovni::state::metadata::Metadata;
use crate::formats::ovni::state::system::System;
use crate::formats::ovni::state::thread::ThreadSummary;
use crate::kit::span::{Layer, Span};
use crate::model::limits::Limits;

/// Everything that is known of a trace once all streams were walked.
#[derive(Debug)]
pub struct TraceSummary<'t, 'a> {
    /// The files.
    pub trace: &'t Trace<'t, 'a>,
    /// All streams, in the order of their paths.
    pub streams: Vec<StreamSummary<'t, 'a>>,
    /// All metadata together.
    pub system: &'t System,
    /// Definitions that the threads together lack.
    pub shortages: Shortages,
    /// Earliest clock, in the time of the trace.
    pub earliest: i128,
    /// Last clock of any thread, in the time of the trace.
    pub latest: i128,
    /// Limits of what a repair may add.
    pub limits: &'t Limits,
    /// Decisions of the user.
    pub decisions: Decisions,
}

/// Decisions of the user.
#[derive(Clone, Copy, Debug, Default)]
pub struct Decisions {
    /// How unfinished streams are ended.
    pub strategy: Option<Strategy>,
    /// Convert the trace to the newest layout.
    pub upgrade: bool,
    /// Keep the earlier run of a stream that has two.
    pub keeps_older: bool,
}

/// One stream and its metadata.
#[derive(Debug)]
pub struct StreamSummary<'t, 'a> {
    /// Its number.
    pub number: usize,
    /// Its files.
    pub files: &'t StreamFiles,
    /// Its metadata.
    pub metadata: &'t Metadata,
    /// Its events.
    pub stream: &'t Stream<'a>,
    /// Its thread.
    pub thread: ThreadSummary,
    /// Other threads move this thread, or share its CPU.
    pub placement: ThreadPlacement,
    /// The run did not finish, or the metadata has to be written again.
    pub needs_repair: bool,
    /// Its loom, process and thread are known.
    pub has_owner: bool,
    /// The events of an earlier run after the end of its thread.
    pub older: Option<OlderRun>,
}

impl StreamSummary<'_, '_> {
    /// Returns the file of its events, or else of its metadata, for spans.
    pub fn layer(&self) -> Layer {
        self.stream.layer()
    }

    /// Whether the bytes after the end of the thread are zeros: a file system reserved them, and no
    /// run wrote there.
    pub fn ends_in_zeros(&self) -> bool {
        let tail = Span::new(self.layer(), self.thread.end.at, self.stream.len());
        self.stream.events(tail.start).bytes(tail).iter().all(|byte| *byte == 0)
    }

    /// Returns the first byte of the object that lacks a key.
    pub fn object_start(&self) -> Span {
        let file = self.files.json.or(self.files.obs).map_or(0, |file| file.index);
        let whole = Span::new(Layer::stored(file), 0, 0);
        let span = self.metadata.object.unwrap_or(whole);
        Span::new(span.layer, span.start, span.start.saturating_add(1).min(span.end))
    }
}

/// CPU of a thread at the end of the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadPlacement {
    /// Its CPU; -1 is the virtual CPU.
    pub cpu: Option<i32>,
    /// The last time another thread moved it after the end of its stream, and the CPU.
    pub moved_after_end: Option<(u64, i32)>,
}

/// CPUs, tasks and types that events use and nothing defines.
#[derive(Clone, Debug, Default)]
pub struct Shortages {
    /// CPUs of each loom.
    pub cpus: BTreeMap<usize, MissingCpu>,
    /// Tasks and types of each process and task table.
    pub definitions: BTreeMap<(usize, usize), MissingDefinitions>,
}

/// A CPU that an event names and the loom does not define.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingCpu {
    /// The first event that names one.
    pub span: Span,
    /// Number of the event.
    pub number: u64,
    /// Highest CPU that is missing.
    pub highest: i32,
}

/// Tasks and types of a process that are used and never created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingDefinitions {
    /// Stream of the first use.
    pub stream: usize,
    /// The first use.
    pub span: Span,
    /// Where they are defined, and the clock there: the last place before the first use at which
    /// events were lost, or else the first use.
    pub place: (Span, u64),
    /// Types.
    pub types: Vec<u32>,
    /// Tasks: id, and whether the task is parallel.
    pub tasks: Vec<(u32, bool)>,
    /// A type that the process does not use, for the missing tasks.
    pub free_type: u32,
}

impl<'t, 'a> TraceSummary<'t, 'a> {
    /// Returns a stream by its number.
    pub fn stream(&self, number: usize) -> Option<&StreamSummary<'t, 'a>> {
        self.streams.get(number)
    }

    /// Returns the first of some streams whose metadata a repair completes in any case.
    pub fn first_in_repair(&self, among: &[usize]) -> Option<usize> {
        among.iter().copied().find(|number| self.is_in_repair(*number))
    }

    /// Returns the first stream of the trace whose metadata a repair completes in any case.
    pub fn first_in_repair_of_all(&self) -> Option<usize> {
        (0..self.streams.len()).find(|number| self.is_in_repair(*number))
    }

    fn is_in_repair(&self, number: usize) -> bool {
        self.stream(number).is_some_and(|stream| stream.needs_repair && stream.has_owner)
    }
}
