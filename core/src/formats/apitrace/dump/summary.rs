//! The summary of a trace: what it holds, and what is doubtful in it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::call::Call;
use super::line::{each_argument, signature};
use super::names::Names;
use crate::formats::apitrace::recover::trace::Trace;
use crate::kit::ranges::{Ranges, count_numbers};
use crate::kit::words::{byte_count, plural, range};

/// Contexts, and sizes of blobs, that are told apart.
const KINDS_MAX: usize = 1 << 12;
/// Ranges of calls that a line lists.
const RANGES_SHOWN: usize = 32;
/// Arguments that name the context that becomes current.
const CONTEXT_ARGUMENTS: [&str; 3] = ["ctx", "hglrc", "context"];

/// Calls and frames of a thread.
#[derive(Clone, Debug, Default)]
struct Thread {
    calls: u64,
    frames: u64,
    /// The context that is current.
    context: Option<String>,
}

/// The use of a context.
#[derive(Clone, Debug, Default)]
struct Context {
    /// The call that created it, and its function.
    created: Option<(u64, String)>,
    /// Calls while it was current.
    calls: u64,
}

/// Blobs of one argument.
#[derive(Clone, Debug, Default)]
struct Blobs {
    count: u64,
    bytes: u64,
    largest: u64,
}

/// Counts of the calls of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Summary {
    calls: u64,
    incomplete: u64,
    fake: u64,
    frames: u64,
    after_frames: u64,
    threads: BTreeMap<u64, Thread>,
    functions: BTreeMap<String, u64>,
    contexts: BTreeMap<String, Context>,
    blobs: BTreeMap<String, Blobs>,
}

impl Summary {
    /// Counts a call.
    pub(super) fn add(&mut self, call: &Call, names: &Names) {
        let signature = signature(call, names);
        let name = signature.map_or("?", |signature| signature.name.as_str());
        let ends_frame = u64::from(signature.is_some_and(|signature| signature.ends_frame));
        self.calls = self.calls.saturating_add(1);
        self.incomplete = self.incomplete.saturating_add(u64::from(!call.is_complete));
        self.fake = self.fake.saturating_add(u64::from(call.is_fake));
        self.frames = self.frames.saturating_add(ends_frame);
        self.after_frames = if ends_frame > 0 { 0 } else { self.after_frames.saturating_add(1) };
        let thread = self.threads.entry(call.thread).or_default();
        thread.calls = thread.calls.saturating_add(1);
        thread.frames = thread.frames.saturating_add(ends_frame);
        match self.functions.get_mut(name) {
            Some(count) => *count = count.saturating_add(1),
            None => _ = self.functions.insert(name.to_string(), 1),
        }
        self.add_blobs(call, name, names);
        self.add_context(call, name, names);
    }

    fn add_blobs(&mut self, call: &Call, name: &str, names: &Names) {
        for (index, len) in &call.blobs.places {
            let items = signature(call, names).map(|signature| &*signature.items);
            let index = usize::try_from(*index).unwrap_or(usize::MAX);
            let item = items.and_then(|items| items.get(index)).map_or("?", String::as_str);
            let key = format!("{name}.{item}");
            if self.blobs.len() >= KINDS_MAX && !self.blobs.contains_key(&key) {
                continue;
            }
            let blobs = self.blobs.entry(key).or_default();
            blobs.count = blobs.count.saturating_add(1);
            blobs.bytes = blobs.bytes.saturating_add(*len);
            blobs.largest = blobs.largest.max(*len);
        }
    }

    fn add_context(&mut self, call: &Call, name: &str, names: &Names) {
        if name.contains("CreateContext") || name.contains("CreateNewContext") {
            let Some(result) = call.result.clone().filter(|_| self.contexts.len() < KINDS_MAX)
            else {
                return;
            };
            let context = self.contexts.entry(result).or_default();
            context.created = Some((call.number, name.to_string()));
            return;
        }
        let Some(thread) = self.threads.get_mut(&call.thread) else { return };
        if name.contains("Make") && name.contains("Current") {
            thread.context = None;
            each_argument(call, names, |name, value| {
                let is_context = CONTEXT_ARGUMENTS.contains(&name);
                let value = value.filter(|value| is_context && *value != "NULL");
                thread.context = thread.context.take().or(value.map(str::to_string));
            });
            return;
        }
        let current = thread.context.as_ref();
        if let Some(context) = current.filter(|_| self.contexts.len() < KINDS_MAX) {
            let context = self.contexts.entry(context.clone()).or_default();
            context.calls = context.calls.saturating_add(1);
        }
    }

    /// Appends the summary.
    pub(super) fn write(&self, trace: &Trace, text: &mut String) {
        let mut line = |name: &str, value: String| {
            let _infallible = writeln!(text, "{name:10} {value}");
        };
        let (container, version) = (trace.container.name(), trace.version);
        let len = byte_count(trace.places.end);
        line("container", format!("{container}, version {version}, {len} of stream"));
        let after = match self.after_frames {
            0 => String::new(),
            count => format!(", {} after the last one", plural(count, "call")),
        };
        line("frames", format!("{}{after}", self.frames));
        let (open, fake) = (self.incomplete, self.fake);
        line("calls", format!("{}, {open} without a leave, {fake} fake", self.calls));
        line("threads", self.threads.len().to_string());
        for (number, thread) in &self.threads {
            let (calls, frames) = (plural(thread.calls, "call"), plural(thread.frames, "frame"));
            line("", format!("{number}: {calls}, {frames}"));
        }
        line("contexts", self.contexts.len().to_string());
        for (context, usage) in &self.contexts {
            let created = usage.created.as_ref();
            let created = created.map(|(call, name)| format!("created by {name} in call {call}"));
            let created = created.unwrap_or_else(|| "created before the trace".to_string());
            line("", format!("{context}: {created}, {}", plural(usage.calls, "call")));
        }
        self.write_tables(&mut line);
        write_losses(trace, &mut line);
    }

    fn write_tables(&self, line: &mut impl FnMut(&str, String)) {
        line("functions", self.functions.len().to_string());
        let mut functions: Vec<_> = self.functions.iter().collect();
        functions.sort_by_key(|(name, count)| (Reverse(**count), *name));
        functions.into_iter().for_each(|(name, count)| line("", format!("{count:8} {name}")));
        let sum =
            |part: fn(&Blobs) -> u64| self.blobs.values().map(part).fold(0, u64::saturating_add);
        let (count, bytes) = (sum(|blobs| blobs.count), sum(|blobs| blobs.bytes));
        line("blobs", format!("{count}, {}", byte_count(bytes)));
        let mut blobs: Vec<_> = self.blobs.iter().collect();
        blobs.sort_by_key(|(name, blobs)| (Reverse(blobs.bytes), *name));
        for (name, Blobs { count, bytes, largest }) in blobs {
            let largest = byte_count(*largest);
            line("", format!("{count:8} {name}: {}, the largest {largest}", byte_count(*bytes)));
        }
    }
}

/// Appends the calls that damage took or made doubtful.
fn write_losses(trace: &Trace, line: &mut impl FnMut(&str, String)) {
    let (mut lost, mut suspects) = (Ranges::default(), Ranges::default());
    for damage in &trace.faults.damages {
        if damage.lost_calls() > 0 {
            lost.add(damage.calls.first, damage.last_lost_call());
        }
        damage.suspects().into_iter().for_each(|(from, to)| suspects.add(from, to));
    }
    suspects.add_all(&trace.tracker.lost_definitions.made_up_calls);
    for (name, ranges) in [("lost", lost), ("suspects", suspects)] {
        let shown = ranges.at_most(RANGES_SHOWN);
        if shown.is_empty() {
            continue;
        }
        let count = plural(count_numbers(shown.iter().copied()), "call");
        let shown: Vec<String> = shown.iter().map(|(from, to)| range(*from, *to)).collect();
        line(name, format!("{count}: {}", shown.join(", ")));
    }
}
