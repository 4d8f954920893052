//! SARIF 2.1.0, for code scanning.
//!
//! ```text
//!  {"$schema", "version", "runs": [{"results": [   HEAD
//!    one result per finding                        results, a line each
//!  ], "tool": rules, "invocations", ... }]}        close
//! ```
//!
//! The rules come after the results, in the order in which they are first broken: a result has the
//! number of its rule, and rules that nothing breaks are not listed.
//!
//! Relative paths count from %SRCROOT%, the directory of the run. It has no URI: the report is the
//! same on every machine, and names no directory of it.
//!
//! A recording has bytes, not lines. A region has `byteOffset` and `byteLength`, and line 1, which
//! code scanning demands. Offsets are those of the stored bytes.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use serde_sarif::sarif::{
    ArtifactChange, ArtifactContent, ArtifactLocation, Fix, Invocation, Location, LogicalLocation,
    Message, MultiformatMessageString, Notification, PhysicalLocation, PropertyBag, Region,
    Replacement, ReportingConfiguration, ReportingDescriptor, Result as SarifResult, ResultLevel,
    Run, Suppression as SarifSuppression, Tool, ToolComponent,
};
use tracemend::words::plural;
use tracemend::{
    Concern, Edit, Finding, FormatId, Layer, Remedy, Rule, Severity, Span, Suppression,
};

use super::{Checked, Closing, describe_writer_failure, place};
use crate::files::skipped::SkipReason;
use crate::kit::exit::{Exit, Failure};
use crate::show::markdown;

/// The text before the first result.
pub(super) const HEAD: &str = concat!(
    "{\n\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n",
    "\"version\": \"2.1.0\",\n\"runs\": [{\"results\": ["
);

/// Edits of a fix, and bytes that they insert, that a result holds. A platform shows a fix to a
/// person; one that stores a stream anew has megabytes, and `repair --plan` writes it.
const EDITS_MAX: usize = 256;
const INSERTED_MAX: usize = 64 << 10;

/// The name of the directory from which relative paths count.
const BASE: &str = "%SRCROOT%";
/// The list of codes, as it was when this version was released. It has a heading for each.
const CODES_URI: &str =
    concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/v", env!("CARGO_PKG_VERSION"), "/docs/codes.md#");

/// A result as a line of JSON, and its rule.
#[derive(Debug)]
pub(in crate::commands::check) struct Line {
    code: &'static str,
    json: String,
}

/// The codes of rules in the order in which results broke them.
#[derive(Debug, Default)]
pub(super) struct Broken(Vec<&'static str>);

impl Broken {
    /// Joins the results of a recording, each with the number of its rule.
    pub(super) fn join(&mut self, lines: Vec<Line>) -> String {
        let mut numbered = |Line { code, json }: Line| {
            let known = self.0.iter().position(|one| *one == code);
            let number = known.unwrap_or_else(|| {
                self.0.push(code);
                self.0.len().saturating_sub(1)
            });
            format!("\n{{\"ruleIndex\":{number},{}", json.strip_prefix('{').unwrap_or(&json))
        };
        let lines: Vec<String> = lines.into_iter().map(&mut numbered).collect();
        lines.join(",")
    }

    /// The rules of the results, then those whose findings are only counted.
    fn rules(&self, closing: &Closing<'_>) -> Vec<ReportingDescriptor> {
        let counts = closing.counts.findings.keys().chain(closing.counts.suppressed.keys());
        let counted: BTreeSet<&str> = counts.map(AsRef::as_ref).collect();
        let counted = counted.into_iter().filter(|code| !self.0.contains(code));
        let all = self.0.iter().copied().chain(counted);
        all.filter_map(tracemend::rule).map(describe_rule).collect()
    }
}

/// The findings of one recording.
pub(super) fn results(checked: &Checked<'_>, edit_bytes: usize) -> Result<Vec<Line>, Failure> {
    let found = checked.report.findings().iter().map(|finding| (finding, None));
    let set_aside = checked.report.set_aside().iter();
    let set_aside = set_aside.map(|(finding, reason)| (finding, Some(*reason)));
    let mut lines = Vec::new();
    for (finding, reason) in found.chain(set_aside) {
        let mut result = describe(checked, finding);
        result.fixes = fix(checked, finding, edit_bytes).map(|fix| vec![fix]);
        result.suppressions = reason.map(|reason| vec![suppression(reason)]);
        let json = serde_json::to_string(&result).map_err(describe_writer_failure)?;
        lines.push(Line { code: finding.rule.code, json });
    }
    Ok(lines)
}

/// Why a finding does not count.
fn suppression(reason: Suppression) -> SarifSuppression {
    let text = match reason {
        Suppression::Policy => "the policy allows this code",
        Suppression::Baseline => "the baseline has this finding",
    };
    SarifSuppression::builder().kind(json!("external")).justification(text).build()
}

fn describe(checked: &Checked<'_>, finding: &Finding) -> SarifResult {
    let span = place::stored(finding);
    let field = LogicalLocation::builder().fully_qualified_name(finding.path.to_string()).build();
    let location = Location::builder()
        .physical_location(physical(checked, span))
        .logical_locations(vec![field])
        .build();
    let related = finding.related.iter().filter(|one| one.span.layer().is_stored());
    let related: Vec<Location> = related
        .map(|one| {
            let message = Message::builder().text(one.message.clone()).build();
            let place = physical(checked, one.span);
            Location::builder().physical_location(place).message(message).build()
        })
        .collect();
    let text = format!("{} at {:#x}: {}", finding.path, span.start(), finding.message);
    let mut result = SarifResult::builder()
        .rule_id(finding.rule.code)
        .level(level(finding.severity))
        .message(Message::builder().text(text).build())
        .locations(vec![location])
        .properties(properties(finding))
        .build();
    if !related.is_empty() {
        result.related_locations = Some(related);
    }
    result.partial_fingerprints = finding.fingerprint.as_deref().map(prints);
    result
}

/// The fingerprint under the name that GitHub reads, and under that of tracemend.
fn prints(print: &str) -> BTreeMap<String, String> {
    ["primaryLocationLineHash", "tracemend/v1"]
        .into_iter()
        .map(|name| (name.to_string(), print.to_string()))
        .collect()
}

/// Facts without a place of their own in SARIF.
fn properties(finding: &Finding) -> PropertyBag {
    let mut bag = BTreeMap::new();
    let mut add = |name: &str, value: Value| drop(bag.insert(name.to_string(), value));
    if !finding.notes.is_empty() {
        add("notes", json!(finding.notes));
    }
    if !finding.span.layer().is_stored() {
        let span = finding.span;
        add("expanded", json!({ "start": span.start(), "end": span.end() }));
    }
    if let Some(fix) = &finding.fix {
        let edits = fix.edits.len();
        add("fix", json!({ "safety": fix.safety.name(), "summary": fix.summary, "edits": edits }));
    }
    PropertyBag::builder().additional_properties(bag).build()
}

fn level(severity: Severity) -> ResultLevel {
    match severity {
        Severity::Error => ResultLevel::Error,
        Severity::Warning => ResultLevel::Warning,
        Severity::Info => ResultLevel::Note,
    }
}

fn artifact(checked: &Checked<'_>, layer: Layer) -> ArtifactLocation {
    let path = place::relative(&place::file(checked, layer));
    let mut artifact = ArtifactLocation::builder().uri(place::uri(&path)).build();
    artifact.uri_base_id = path.is_relative().then(|| BASE.to_string());
    artifact
}

fn physical(checked: &Checked<'_>, span: Span) -> PhysicalLocation {
    let mut region = region(span);
    region.start_line = Some(1);
    PhysicalLocation::builder()
        .artifact_location(artifact(checked, span.layer()))
        .region(region)
        .build()
}

/// Bytes of a file. The library has the numbers as `i64`.
fn region(span: Span) -> Region {
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    Region::builder().byte_offset(number(span.start())).byte_length(number(span.len())).build()
}

/// The fix as replacements of stored bytes, if all of it can be said so, and no edit inserts more
/// than `edit_bytes`.
fn fix(checked: &Checked<'_>, finding: &Finding, edit_bytes: usize) -> Option<Fix> {
    let fix = finding.fix.as_ref()?;
    let inserted =
        fix.edits.iter().fold(0_usize, |sum, edit| sum.saturating_add(edit.insert.len()));
    let is_short = fix.edits.len() <= EDITS_MAX && inserted <= INSERTED_MAX;
    let is_whole =
        fix.edits.iter().all(|edit| edit.elided.is_none() && edit.insert.len() <= edit_bytes);
    let is_stored = fix.edits.iter().all(|edit| edit.span.layer().is_stored());
    if fix.edits.is_empty() || !fix.renames.is_empty() || !is_short || !is_whole || !is_stored {
        return None;
    }
    let mut changes: Vec<(Layer, Vec<Replacement>)> = Vec::new();
    for edit in &fix.edits {
        let layer = edit.span.layer();
        match changes.iter_mut().find(|(one, _)| *one == layer) {
            Some((_, replacements)) => replacements.push(replacement(edit)),
            None => changes.push((layer, vec![replacement(edit)])),
        }
    }
    let changes: Vec<ArtifactChange> = changes
        .into_iter()
        .map(|(layer, replacements)| {
            ArtifactChange::builder()
                .artifact_location(artifact(checked, layer))
                .replacements(replacements)
                .build()
        })
        .collect();
    let text = format!("{} ({})", fix.summary, fix.safety);
    let description = Message::builder().text(text).build();
    Some(Fix::builder().description(description).artifact_changes(changes).build())
}

fn replacement(edit: &Edit) -> Replacement {
    let mut replacement = Replacement::builder().deleted_region(region(edit.span)).build();
    if !edit.insert.is_empty() {
        let content = ArtifactContent::builder().binary(BASE64.encode(&edit.insert)).build();
        replacement.inserted_content = Some(content);
    }
    replacement
}

/// The end of the document: the rules that were broken, and what was not checked.
pub(super) fn close(broken: &Broken, closing: &Closing<'_>) -> Result<String, Failure> {
    let rules = broken.rules(closing);
    let version = env!("CARGO_PKG_VERSION");
    let driver = ToolComponent::builder()
        .name("tracemend")
        .version(version)
        .semantic_version(version)
        .information_uri(env!("CARGO_PKG_REPOSITORY"))
        .rules(rules)
        .build();
    let mut invocation = Invocation::builder()
        .execution_successful(closing.exit < Exit::Io)
        .exit_code(i64::from(closing.exit.code()))
        .build();
    let notifications = notifications(closing);
    if !notifications.is_empty() {
        invocation.tool_execution_notifications = Some(notifications);
    }
    let text = "the directory in which the check ran";
    let base = ArtifactLocation::builder().description(Message::builder().text(text).build());
    let run = Run::builder()
        .tool(Tool::builder().driver(driver).build())
        .invocations(vec![invocation])
        .original_uri_base_ids(BTreeMap::from([(BASE.to_string(), base.build())]))
        .build();
    let text = serde_json::to_string_pretty(&run).map_err(describe_writer_failure)?;
    // The members go on in the object that HEAD began.
    Ok(format!("\n],{}]}}\n", text.strip_prefix('{').unwrap_or(&text)))
}

/// Files that were skipped, paths that could not be read, and findings that are not listed.
fn notifications(closing: &Closing<'_>) -> Vec<Notification> {
    let note = |level: &str, text: String| {
        let message = Message::builder().text(text).build();
        Notification::builder().level(json!(level)).message(message).build()
    };
    let mut notes = Vec::new();
    for (path, message) in closing.skipped.unread().1 {
        notes.push(note("error", format!("{path}: {message}")));
    }
    for reason in SkipReason::ALL {
        for path in closing.skipped.of(reason).1 {
            notes.push(note("note", format!("{path}: skipped ({})", reason.name())));
        }
    }
    let unlisted = closing.totals.unlisted();
    if unlisted > 0 {
        let findings = plural(unlisted, "finding");
        notes.push(note("warning", format!("{findings} counted and not listed")));
    }
    notes
}

/// A rule with its page as Markdown.
fn describe_rule(rule: &Rule) -> ReportingDescriptor {
    let text = |text: &str| MultiformatMessageString::builder().text(text).build();
    let (heading, remedy) = match rule.remedy {
        Remedy::Fix(text) => ("Fix", text),
        Remedy::Next(text) => ("Next", text),
    };
    let sections = [
        ("Problem", rule.problem),
        ("Impact", rule.impact),
        (heading, remedy),
        ("Source", rule.source),
    ];
    let markdown = sections.map(|(heading, body)| {
        format!("### {heading}\n\n{}", markdown::format_rule_text(body).trim_end())
    });
    let plain = sections.map(|(heading, body)| format!("{heading}\n{body}"));
    let help = MultiformatMessageString::builder()
        .text(plain.join("\n\n"))
        .markdown(markdown.join("\n\n"))
        .build();
    let configuration =
        ReportingConfiguration::builder().level(json!(level(rule.severity))).build();
    ReportingDescriptor::builder()
        .id(rule.code)
        .name(pascal_case(rule.name))
        .short_description(text(rule.summary))
        .full_description(text(rule.problem))
        .help(help)
        .help_uri(format!("{CODES_URI}{}", rule.code.to_ascii_lowercase()))
        .default_configuration(configuration)
        .properties(rule_properties(rule))
        .build()
}

fn rule_properties(rule: &Rule) -> PropertyBag {
    let format = FormatId::ALL
        .iter()
        .find(|format| format.rules().iter().any(|one| one.code == rule.code))
        .map_or("all-formats", |format| format.name());
    let severity = match rule.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "recommendation",
    };
    let mut bag = BTreeMap::new();
    bag.insert("problem.severity".to_string(), json!(severity));
    let mut tags = vec![format.to_string()];
    if let Some(concern) = Concern::of(rule) {
        tags = vec!["audit".to_string(), concern.name().to_string()];
    }
    PropertyBag::builder().tags(tags).additional_properties(bag).build()
}

/// `data-size-zero` as `DataSizeZero`, the form that SARIF recommends.
fn pascal_case(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    name.split('-').map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_take_the_form_that_sarif_recommends() {
        assert_eq!(pascal_case("data-size-zero"), "DataSizeZero");
    }
}
