//! The device of a replay: its model by the name of the file, its input devices by a list.

use std::collections::BTreeMap;

use crate::formats::revent::check::Context;
use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::device_list::{Capabilities, read_device_list};
use crate::formats::revent::decode::event::Event;
use crate::formats::revent::decode::head::Devices;
use crate::formats::revent::layout::{EXTENSION, kind};
use crate::formats::revent::limits::DEVICE_LIST;
use crate::formats::revent::options;
use crate::formats::revent::rules;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::kit::text::Untrusted;
use crate::kit::walk::Item;
use crate::kit::words::{byte_count, list, plural};
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::rule::common;
use crate::model::{Finding, Report};

/// Events that a message names.
const SHOWN: usize = 8;

/// Compares the name of the file with the model of the device, unless a list of devices is given.
pub(super) fn check_name(files: &FileSet<'_>, options: &Options, report: &mut Report) {
    let Some(model) = options::target(options).filter(|_| files.donor().is_none()) else { return };
    let Some(file) = files.files().first() else { return };
    let name = file.name.rsplit('/').next().unwrap_or(&file.name);
    // wa/framework/resource.py, `ReventFile.match_path`: of more than two parts, the first is the
    // device; a file without one is of all.
    let parts: Vec<&str> = name.split('.').collect();
    let device = parts.first().filter(|_| parts.len() > 2);
    let Some(device) = device.filter(|device| **device != model) else { return };
    let [device, model] = [*device, model].map(|text| Untrusted(text.as_bytes()));
    let message = format!(
        "the file name is of device `{device}`: for `{model}`, Workload Automation looks for \
         {model}.<stage>.{EXTENSION}"
    );
    report.push(Finding::new(&rules::TARGET_MODEL, Span::new(FILE, 0, 0), "file name", message));
}

/// The events of one device that the device of a replay does not have.
#[derive(Default)]
struct Lacking {
    /// Number of the first event, and the event.
    first: Option<(u64, Event)>,
    count: u64,
    /// Names of the first different ones.
    names: Vec<String>,
    more: bool,
}

impl Lacking {
    fn add(&mut self, index: u64, event: &Event, name: String) {
        self.first.get_or_insert((index, *event));
        self.count = self.count.saturating_add(1);
        if self.names.contains(&name) {
            return;
        }
        if self.names.len() < SHOWN {
            self.names.push(name);
        } else {
            self.more = true;
        }
    }

    fn list(&self) -> String {
        let more = u64::from(self.more);
        list(&self.names, SHOWN, to_u64(self.names.len()).saturating_add(more))
    }
}

/// Compares the devices and events of a recording with a list of devices.
pub(super) fn check_devices(context: &Context<'_, '_>, donor: &Source<'_>, report: &mut Report) {
    // A gamepad is created for the replay, as the recording describes it.
    let Devices::Paths(paths) = &context.recording.head.devices else { return };
    let max = context.options.limits.of(&DEVICE_LIST);
    if donor.len() > max {
        let message = format!(
            "limit reached: the list of devices has {}, more than {max}",
            byte_count(donor.len())
        );
        let span = Span::new(FILE, 0, 0);
        report.push(Finding::new(&common::LIMIT_REACHED, span, "target", message));
        return;
    }
    let devices = read_device_list(donor);
    let known: Vec<Option<&Capabilities>> = paths
        .iter()
        .map(|path| devices.get(String::from_utf8_lossy(&path.bytes).as_ref()))
        .collect();
    let used = find_lacking(context, &known);
    for (index, path) in (0_i32..).zip(paths) {
        let Some((all, lacking, outside)) = used.get(&index) else { continue };
        let capabilities = usize::try_from(index).ok().and_then(|index| known.get(index).copied());
        if capabilities.flatten().is_none() {
            let name = Untrusted(&path.bytes);
            let events = plural(*all, "event");
            let message = match devices.is_empty() {
                true => "the list of devices is empty, expected the output of getevent -lp".into(),
                false => format!("the target has no device `{name}`, which has {events}"),
            };
            let field = format!("devices.paths[{index}]");
            report.push(Finding::new(&rules::TARGET_DEVICE, path.span, field, message));
            continue;
        }
        report_events(context, index, lacking, "does not have", report);
        report_events(context, index, outside, "has other limits for", report);
    }
}

/// Number of events of a device, those that the target lacks, and those outside its limits.
type Used = (u64, Lacking, Lacking);

fn find_lacking(context: &Context<'_, '_>, known: &[Option<&Capabilities>]) -> BTreeMap<i32, Used> {
    let mut used: BTreeMap<i32, Used> = BTreeMap::new();
    for item in context.recording.walk() {
        let Item::Record(record) = item else { continue };
        let event = &record.event;
        let (all, lacking, outside) = used.entry(event.device).or_default();
        *all = all.saturating_add(1);
        let device = usize::try_from(event.device).ok().and_then(|index| known.get(index).copied());
        let Some(device) = device.flatten() else { continue };
        let name = || Event { value: 0, ..*event }.describe().trim_end_matches(" 0").to_string();
        if !device.has(event.kind, event.code) {
            lacking.add(record.index, event, name());
        } else if event.kind == kind::ABS
            && device.range(event.code).is_some_and(|(min, max)| {
                // A tracking id of -1 ends a contact.
                event.value != -1 && !(min..=max).contains(&event.value)
            })
        {
            outside.add(record.index, event, name());
        }
    }
    used
}

fn report_events(
    context: &Context<'_, '_>,
    device: i32,
    lacking: &Lacking,
    verb: &str,
    report: &mut Report,
) {
    let Some((first, event)) = lacking.first else { return };
    let recording = context.recording;
    let message = format!(
        "the target's {} {verb} {}: {}, first event {first}, {}",
        recording.device_name(device),
        lacking.list(),
        plural(lacking.count, "event"),
        event.describe()
    );
    let span = recording.extent.all.event_span(first);
    let path = format!("events[{first}]");
    report.push(Finding::new(&rules::TARGET_EVENT, span, path, message));
}
