//! A map as one page without a script: a bar and a tree to open by mouse or keyboard.
//!
//! See [`crate::show::page`] for what keeps it harmless.

use std::collections::VecDeque;
use std::fmt::Write as _;

use tracemend::words::{byte_count, plural};
use tracemend::{FileSet, Finding, FormatId, MapStep, MappedLayer, Region, Report};

use super::bar;
use crate::show::markup::escape;
use crate::show::page::{self, describe_rules};
use crate::show::picture::{self, Picture};

/// Records of one group that the page has; the others are counted. With their fields and bytes,
/// these make some 2 MB.
const RECORDS_SHOWN: u64 = 1_000;
/// Damaged places and other regions beyond them.
const REGIONS_SHOWN: u64 = 2_000;
/// Bytes of a region with its fields; further fields are counted.
const REGION_BYTES: usize = 250_000;
/// Bytes of a page; further regions and files are counted.
const PAGE_BYTES: usize = 4_000_000;
/// Findings that are listed.
const FINDINGS_SHOWN: usize = 200;
/// Bytes of a region that are shown.
const BYTES_SHOWN: u64 = 64;

/// The text before the layers: the head of the page, the picture, and what a check finds.
pub(super) fn head(
    (name, format): (&str, FormatId),
    files: &FileSet<'_>,
    report: &Report,
    drawn: &Picture,
) -> String {
    let mut text = page::begin(name);
    let _infallible = writeln!(
        text,
        "<p>{format}, {}, verdict {}</p>",
        byte_count(files.len()),
        report.verdict().name()
    );
    text += &picture::embedded(drawn);
    if !report.findings().is_empty() {
        text += "<h2>Findings</h2>\n<table>\n<tr><th>severity</th><th>code</th><th>place</th>\
                 <th>finding</th></tr>\n";
        for finding in report.findings().iter().take(FINDINGS_SHOWN) {
            text += &row(finding);
        }
        text += "</table>\n";
        let more = report.findings().len().saturating_sub(FINDINGS_SHOWN);
        if more > 0 {
            let _infallible = writeln!(text, "<p>and {more} more</p>");
        }
    }
    text
}

fn row(finding: &Finding) -> String {
    let (severity, code) = (finding.severity.name(), finding.rule.code);
    let (path, message) = (escape(&finding.path), escape(&finding.message));
    format!(
        "<tr><td class=\"{severity}\">{severity}</td>\
         <td><a href=\"#{code}\"><code>{code}</code></a></td>\
         <td><code>{}</code><br/>{path}</td><td>{message}</td></tr>\n",
        finding.span
    )
}

/// Writes the steps of a map.
pub(super) struct Writer<'f, 'a> {
    files: &'f FileSet<'a>,
    is_open: bool,
    /// Records of the group that is open, and other regions, so far.
    records: u64,
    regions: u64,
    left_out: u64,
    /// Bytes so far.
    bytes: usize,
    /// Files that the page has no room for; their steps are passed over.
    files_left_out: u64,
    is_passed_over: bool,
    /// Places of the layer that its bar links to and that did not come yet.
    linked: VecDeque<u64>,
}

impl<'f, 'a> Writer<'f, 'a> {
    pub(super) const fn new(files: &'f FileSet<'a>) -> Self {
        Self {
            files,
            is_open: false,
            records: 0,
            regions: 0,
            left_out: 0,
            bytes: 0,
            files_left_out: 0,
            is_passed_over: false,
            linked: VecDeque::new(),
        }
    }

    pub(super) fn step(&mut self, step: MapStep<'_>) -> String {
        let is_full = self.bytes > PAGE_BYTES;
        if matches!(step, MapStep::Layer(_)) {
            self.is_passed_over = is_full;
            self.files_left_out = self.files_left_out.saturating_add(u64::from(is_full));
        }
        let text = if self.is_passed_over { self.end_layer() } else { self.write(step) };
        self.bytes = self.bytes.saturating_add(text.len());
        text
    }

    fn write(&mut self, step: MapStep<'_>) -> String {
        match step {
            MapStep::Layer(layer) => self.end_layer() + &self.begin_layer(layer),
            MapStep::Open(region) => {
                self.records = 0;
                let id = self.take_id(region);
                let line = line(region);
                format!("<li{id}><details open=\"open\"><summary>{line}</summary>\n<ul>\n")
            }
            MapStep::Region(region) => self.region(region),
            MapStep::Close => {
                let more = std::mem::take(&mut self.left_out);
                let note = match more {
                    0 => String::new(),
                    more => format!("<li>{} not shown</li>\n", plural(more, "region")),
                };
                self.records = 0;
                format!("{note}</ul></details></li>\n")
            }
            _ => String::new(),
        }
    }

    fn region(&mut self, region: &Region) -> String {
        self.records = self.records.saturating_add(1);
        self.regions = self.regions.saturating_add(1);
        let is_damage = region.kind == tracemend::RegionKind::Damage;
        let is_beyond = self.records > RECORDS_SHOWN && !is_damage;
        let is_full = self.bytes > PAGE_BYTES;
        if is_beyond || is_full || self.regions > RECORDS_SHOWN.saturating_add(REGIONS_SHOWN) {
            let id = self.take_id(region);
            if !id.is_empty() {
                return format!("<li{id}>{}</li>\n", line(region));
            }
            self.left_out = self.left_out.saturating_add(1);
            return String::new();
        }
        let id = self.take_id(region);
        self.tree(region, &id)
    }

    /// The attribute by which the bar links to a region; empty if it does not.
    fn take_id(&mut self, region: &Region) -> String {
        let start = region.span.start();
        while self.linked.front().is_some_and(|linked| *linked < start) {
            self.linked.pop_front();
        }
        if self.linked.front() != Some(&start) {
            return String::new();
        }
        self.linked.pop_front();
        format!(" id=\"{}\"", bar::anchor(region.span))
    }

    fn begin_layer(&mut self, layer: &MappedLayer) -> String {
        self.is_open = true;
        (self.records, self.regions) = (0, 0);
        self.linked = bar::linked(layer).collect();
        let what = if layer.layer.is_stored() { "" } else { ", expanded" };
        let name = if layer.name.is_empty() { "file" } else { &layer.name };
        let bar = bar::draw(layer) + &bar::zoom(layer, self.files);
        format!("<h2>{}{what}: {}</h2>\n{bar}<ul>\n", escape(name), byte_count(layer.length))
    }

    fn end_layer(&mut self) -> String {
        let was_open = std::mem::replace(&mut self.is_open, false);
        if was_open { "</ul>\n".to_string() } else { String::new() }
    }

    /// The text after the last layer.
    pub(super) fn finish(&mut self, report: &Report) -> String {
        let findings = report.findings().iter().take(FINDINGS_SHOWN);
        let codes = findings.map(|finding| finding.rule.code).collect();
        let end = self.end_layer();
        let left_out = match self.files_left_out {
            0 => String::new(),
            files => format!("<p>{} not shown</p>\n", plural(files, "further file")),
        };
        end + &left_out + &describe_rules(&codes) + page::END
    }

    /// A region with its children. An explicit stack: a recording decides how deep fields nest.
    fn tree(&self, region: &Region, id: &str) -> String {
        enum Task<'r> {
            Begin(&'r Region),
            End,
        }
        let mut text = String::new();
        let mut left_out = 0_u64;
        let mut left = vec![Task::Begin(region)];
        let mut id = id;
        while let Some(task) = left.pop() {
            let Task::Begin(region) = task else {
                text += "</ul></details></li>\n";
                continue;
            };
            if text.len() > REGION_BYTES {
                left_out = left_out.saturating_add(1);
                continue;
            }
            let bytes = self.bytes(region);
            let id = std::mem::take(&mut id);
            if region.children.is_empty() {
                let _infallible = writeln!(
                    text,
                    "<li{id}><details><summary>{}</summary>{bytes}</details></li>",
                    line(region)
                );
                continue;
            }
            let _infallible =
                writeln!(text, "<li{id}><details><summary>{}</summary>\n<ul>", line(region));
            left.push(Task::End);
            left.extend(region.children.iter().rev().map(Task::Begin));
        }
        if left_out > 0 {
            let _infallible = writeln!(text, "<li>{} not shown</li>", plural(left_out, "field"));
        }
        text
    }

    /// The first bytes of a region, in hexadecimal.
    fn bytes(&self, region: &Region) -> String {
        let span = region.span;
        if !span.layer().is_stored() {
            return String::new();
        }
        bar::hex(self.files, span, BYTES_SHOWN)
    }
}

/// One region.
fn line(region: &Region) -> String {
    let Region { span, kind, name, meaning, value, .. } = region;
    let class = if *kind == tracemend::RegionKind::Damage { " class=\"is-damage\"" } else { "" };
    let mut text = format!(
        "<span class=\"range\">{span}</span> <span{class}>{}</span> \
         <span class=\"meaning\">{}</span>",
        escape(name),
        byte_count(span.len())
    );
    if let Some(value) = value {
        let _infallible = write!(text, " = <span class=\"value\">{}</span>", escape(value));
    }
    if let Some(meaning) = meaning {
        let _infallible = write!(text, " <span class=\"meaning\">({})</span>", escape(meaning));
    }
    text
}
