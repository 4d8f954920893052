//! The edits that close a log, and the advice where the user has to choose.
//!
//! A fix closes a log structurally: version, a cut after the last event that a guest can do
//! without, and the events with which the writer of the layout ends a log. Whether the log replays
//! to its end depends on QEMU, the guest and the command line.

use crate::formats::qemu::decode::event::FILE;
use crate::formats::qemu::decode::header::{Version, VersionEvidence};
use crate::formats::qemu::layout::{Cause, HEADER_LEN, Kind, Layout, Layouts, VERSION_LEN};
use crate::formats::qemu::recover::cut::{Dropped, Kept};
use crate::formats::qemu::recover::ending::{Cut, Doubt, Ending, Tail, Trailing};
use crate::kit::num::to_usize;
use crate::kit::span::Span;
use crate::kit::words::{byte_count, join_and, plural, seconds};
use crate::model::edit::{Edit, Fix, Safety};

/// The option that keeps the part before damage, as it is by default.
const PREFIX: &str = "--strategy prefix";
/// The option that leaves a damaged log as it is.
const CLOSE: &str = "--strategy close";
/// Answers that a report names, at most, of those that the user may give for the release.
const ANSWERS_MAX: usize = 3;

/// Builds the fix for header and end; `None` if nothing can or has to be done.
pub fn close_log(ending: &Ending) -> Option<Fix> {
    if ending.doubt == Some(Doubt::Layout) {
        return None;
    }
    let layout = ending.layout();
    let has_one_version = ending.layouts.iter().all(|(_, one)| one.version == layout.version);
    let has_one_closing = ending.layouts.iter().all(|(_, one)| one.closing() == layout.closing());
    let has_prefix = ending.prefix_damage().is_some();
    let closes = has_prefix || !matches!(ending.tail, Tail::Complete(_));
    if matches!(ending.tail, Tail::Lost(_)) && !has_prefix {
        return Some(suggest_prefix(ending));
    }
    let is_known = ending.header.version.is_known();
    // The body is the same whichever release wrote it, and QEMU refuses a wrong word at once.
    let is_assumed = ending.header.version == Version::Unfinished && !has_one_version;
    let is_doubtful = ending.doubt.is_some() || !(is_known || has_one_version || is_assumed);
    if is_doubtful || (closes || is_assumed) && !has_one_closing {
        return Some(ask_for_release(ending));
    }
    let mut fix = Fix::new(Safety::Exact, "", Vec::new());
    let mut steps = Vec::new();
    if !is_known {
        let assumed = if is_assumed { describe_assumed(ending, layout) } else { String::new() };
        steps.push(format!("set version to {:#x}{assumed}", layout.version));
        fix = set_version(fix, ending, layout);
    }
    if is_assumed {
        let others = answers(ending).into_iter().filter(|answer| answer.version != layout.version);
        fix.options = others.map(name_release).collect();
    }
    if let Some(cut) = &ending.cut {
        let (edit, lost) = close_at(ending, cut, layout, &mut steps);
        let drops = !edit.span.is_empty();
        fix.edits.push(edit);
        fix.records_lost = lost;
        fix.safety = fix.safety.max(if drops { Safety::Lossy } else { Safety::Synthetic });
    }
    fix.summary = steps.join(", ");
    (!fix.edits.is_empty()).then_some(fix)
}

/// Adds the edit that writes the version.
///
/// A killed recorder leaves 0 in its place. The value is exact if the events fit one version only
/// and are all of the log, or if one byte of the word is damaged and the others lead to one version
/// that they fit. A damaged event may read as END, and the few before it fit nearly any version;
/// the low byte of the word may be left and name another one.
fn set_version(fix: Fix, ending: &Ending, layout: &Layout) -> Fix {
    let new = layout.version.to_be_bytes();
    let word = Span::new(FILE, 0, VERSION_LEN);
    let mut fix = fix;
    match ending.evidence {
        Some(VersionEvidence::Byte(byte)) => {
            let damaged = Span::sized(FILE, byte, 1);
            let value = new.iter().copied().skip(to_usize(byte)).take(1).collect::<Vec<u8>>();
            fix.edits.push(Edit::replace(damaged, value));
            for intact in
                [Span::new(FILE, 0, damaged.start), Span::new(FILE, damaged.end, word.end)]
            {
                if !intact.is_empty() {
                    fix = fix.witness(intact, "the other bytes of the version");
                }
            }
            fix
        }
        evidence => {
            // With other bytes after the word, events may stand where the header was.
            let is_header = ending.header.unused_set == 0;
            let is_empty = is_header && ending.header.version == Version::Unfinished;
            let edit = if is_empty { Edit::fill(word, new) } else { Edit::replace(word, new) };
            fix.edits.push(edit);
            let is_read_to_end =
                !matches!(ending.trailing, Some((_, Trailing::Bytes | Trailing::Zeros)));
            let is_told =
                evidence.is_some() && !ending.header.version.names_other_than(layout.version);
            if is_told && is_read_to_end && is_header {
                let kept = ending.cut.map_or(ending.len, |cut| cut.kept.cut);
                let events = Span::new(FILE, HEADER_LEN, kept.max(HEADER_LEN));
                return fix.witness(events, "events that fit this version only");
            }
            fix.safety = if is_empty { Safety::Synthetic } else { Safety::Lossy };
            fix
        }
    }
}

/// The edit that closes the log at a cut, and how many complete events it drops. Adds what it does
/// to `steps`.
fn close_at(ending: &Ending, cut: &Cut, layout: &Layout, steps: &mut Vec<String>) -> (Edit, u64) {
    let kept = &cut.kept;
    let mut closing = layout.closing();
    let replaces_end = ending.has_end_for_shutdown();
    let kept_from = cut.at.saturating_add(u64::from(replaces_end));
    let to = if ending.keeps_end() { kept_from } else { ending.len };
    if ending.keeps_end() {
        closing.pop();
    } else if kept.last == Some(Kind::Shutdown(Cause::HostSignal)) {
        // The recorder came as far as its own shutdown.
        closing = closing.split_off(closing.len().saturating_sub(1));
    }
    let added: Vec<&str> =
        closing.iter().filter_map(|id| layout.kind(*id)).map(Kind::name).collect();
    let lost = match &cut.dropped {
        Some(dropped) => {
            steps.push(describe_prefix(kept, dropped, to));
            dropped.events
        }
        None => {
            if replaces_end {
                steps.push("replace the first of two END".to_string());
            } else if cut.at < to {
                let bytes = byte_count(to.saturating_sub(cut.at));
                steps.push(format!("drop {bytes} of a truncated event"));
            }
            if kept.stepped > 0 {
                let events = plural(kept.stepped, "complete event");
                let at = kept.cut;
                steps.push(format!("drop {events} at {at:#x}, as the guest demands the next one"));
            }
            kept.stepped
        }
    };
    steps.push(format!("add {} (structurally closed)", join_and(&added)));
    (Edit::replace(Span::new(FILE, kept.cut, to), closing), lost)
}

fn describe_prefix(kept: &Kept, dropped: &Dropped, to: u64) -> String {
    let at = kept.cut;
    let time = dropped.time.and_then(|time| u64::try_from(time).ok());
    format!(
        "keep {} with {} before {at:#x}, drop {} with {} and {}{}",
        plural(kept.events, "event"),
        plural(kept.instructions, "instruction"),
        byte_count(to.saturating_sub(kept.cut)),
        plural(dropped.events, "event"),
        plural(dropped.instructions, "instruction"),
        time.map_or(String::new(), |time| format!(" ({})", seconds(time))),
    )
}

/// Advises to keep the part before damage, which the options forbid.
pub fn suggest_prefix(ending: &Ending) -> Fix {
    let at = ending.damage.map_or(ending.len, |damage| damage.at);
    let summary =
        format!("without {CLOSE}, keep the events before {at:#x}, drop the rest and close the log");
    Fix::manual(summary).option(PREFIX)
}

/// Advises to name the release that wrote the log.
fn ask_for_release(ending: &Ending) -> Fix {
    let fits = ending.layouts.describe_releases();
    let summary = format!(
        "name the release that wrote the log, as `qemu-system-x86_64 --version` prints it: {fits}"
    );
    let closes = ending.damage.is_some() && !ending.wants_prefix;
    let before = if closes { format!("{PREFIX} ") } else { String::new() };
    let mut fix = Fix::manual(summary);
    let named = answers(ending).into_iter().map(name_release);
    fix.options = named.map(|release| format!("{before}{release}")).collect();
    fix
}

/// Returns the newest layouts between which the user chooses: those of one version that end a log
/// alike give the same bytes, and the oldest stands for them.
fn answers(ending: &Ending) -> Vec<&'static Layout> {
    let mut answers: Vec<&'static Layout> = Vec::new();
    for (_, layout) in ending.layouts.iter() {
        let gives = |other: &Layout| (other.version, other.closing());
        if answers.last().is_none_or(|last| gives(last) != gives(layout)) {
            answers.push(layout);
        }
    }
    answers.into_iter().rev().take(ANSWERS_MAX).collect()
}

/// The option that names the release of a layout.
fn name_release(layout: &Layout) -> String {
    let [(major, minor), _] = layout.releases;
    format!("--qemu-version {major}.{minor}")
}

/// Says that the version is assumed, and which others are possible.
fn describe_assumed(ending: &Ending, layout: &Layout) -> String {
    let others = Layouts::of(|number, other| {
        ending.layouts.contains(number) && other.version != layout.version
    });
    let (assumed, others) = (layout.describe_releases(), others.describe_releases());
    format!(
        " (assumed: of QEMU {assumed}, the newest that fits; for {others} only the version differs)"
    )
}

/// Builds the fix for the bytes after END.
pub fn drop_trailing(ending: &Ending, span: Span, trailing: Trailing) -> Fix {
    let drop = |events: &str| {
        if ending.doubt.is_some() {
            let summary = "the place of END depends on a version that is not known";
            return Fix::manual(summary);
        }
        let summary = format!("drop {} after END{events}", byte_count(span.len()));
        Fix::new(Safety::Lossy, summary, vec![Edit::drop(span)])
    };
    match trailing {
        Trailing::SecondEnd | Trailing::Zeros | Trailing::Bytes => drop(""),
        Trailing::Log => {
            Fix::manual(format!("split the file at {:#x}: another log begins there", span.start))
        }
        Trailing::Events(events) if ending.wants_prefix => {
            let fix = drop(&format!(" with {}", plural(events, "event")));
            Fix { records_lost: events, ..fix }
        }
        Trailing::Events(_) => Fix::manual("drop the events after END").option(PREFIX),
    }
}
