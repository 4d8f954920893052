//! Text for people.

use super::{Checked, Closing, Piece, Settings};
use crate::kit::look::Look;
use crate::show::group::Drawing;
use crate::show::plain;
use crate::show::summary::{describe_recording, list_facts};

/// The findings of one recording and a line about it.
pub(super) fn describe(checked: &Checked<'_>, settings: &Settings, look: Look) -> Piece {
    let Checked { path, name, report, files, is_walked, .. } = checked;
    let is_sound = report.worst().is_none();
    if settings.statistics || (settings.quiet && is_sound) {
        return Piece::Text(String::new());
    }
    let next = settings.next(path);
    let drawing = Drawing { path: name, files, look, all: settings.all, next: &next };
    let mut text = plain::describe(name, report, look);
    text += &drawing.findings(report, |_| true);
    let mut line = describe_recording(&format!("{name}: "), report, look);
    if settings.verbose {
        line += &list_facts(report, look);
    }
    if *is_walked && is_sound && !settings.verbose {
        return Piece::CleanLine(line);
    }
    text += &line;
    if !is_sound && *is_walked {
        text.push('\n');
    }
    Piece::Text(text)
}

/// The table that ends a run, or the line about its only recording.
pub(super) fn close(
    closing: &Closing<'_>,
    settings: &Settings,
    look: Look,
    clean_line: String,
) -> String {
    let Closing { totals, skipped, .. } = closing;
    let is_one = totals.recordings() == 1 && skipped.count() == 0 && skipped.unread().0 == 0;
    match is_one {
        _ if settings.statistics => totals.statistics(look),
        _ if settings.quiet => String::new(),
        true => clean_line,
        false => totals.table(skipped, settings.repair_all.as_deref(), look),
    }
}
