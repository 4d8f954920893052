//! Laws of the texts that tracemend reads: baselines, reports as JSON, selectors, options, limits
//! and escaped names.

use tracemend::kit::text::is_safe;
use tracemend::present::json::Recording;
use tracemend::{
    Baseline, FileSet, FormatId, Level, Options, Policy, Selector, Untrusted, unescape,
};

use super::{Held, ensure};

/// Tests the bytes as each of the texts in turn.
pub fn of_bytes(bytes: &[u8]) -> Held {
    escaped(&bytes[..bytes.len().min(NAME_LEN)])?;
    let text = String::from_utf8_lossy(bytes);
    baseline(&text)?;
    report(&text)?;
    text.lines().take(LINES).try_for_each(setting)
}

/// Returns texts of each kind that are accepted, by name.
pub fn accepted() -> Vec<(&'static str, String)> {
    let damaged = FileSet::single("recording", b"REVENT\x02\0 and no event");
    let report = tracemend::check(&damaged, &Options::default());
    let mut baseline = Baseline::default();
    baseline.add("recording", &report, &damaged);
    let settings = "all\nPD\nrv2010\ngamepad-name\nqemu\nqemu-version=7.2\nrange=1..9\n\
        time=1.5..2\nupgrade=\nstrategy=cut\nfindings=7\nrounds=0\n";
    vec![
        ("baseline", baseline.to_json().unwrap_or_default()),
        ("report", Recording::new("recording", &report, &damaged).line().unwrap_or_default()),
        ("settings", settings.to_string()),
        ("name", "a \u{202e}name\u{0}\n\\x41".to_string()),
    ]
}

/// Bytes that are tested as a name: longer ones are shortened where they are shown.
const NAME_LEN: usize = 64;

/// Lines that are tested as settings.
const LINES: usize = 16;

/// Tests that an escaped name is safe to print, and reads back.
fn escaped(bytes: &[u8]) -> Held {
    let text = Untrusted(bytes).to_string();
    ensure(text.chars().all(is_safe), "an escaped name is safe to print", || text.clone())?;
    let back = unescape(&text);
    ensure(back.as_slice() == bytes, "an escaped name reads back", || format!("{text} {back:?}"))
}

/// Tests that a baseline that is accepted reads back as it was written.
fn baseline(text: &str) -> Held {
    const LAW: &str = "a baseline reads back as it was written";
    let Ok(read) = Baseline::from_json(text) else { return Ok(()) };
    let written = read.to_json().unwrap_or_default();
    let again = Baseline::from_json(&written);
    let same = again.as_ref().is_ok_and(|again| {
        again.count() == read.count() && again.to_json().is_ok_and(|again| again == written)
    });
    ensure(same, LAW, || format!("{written} {again:?}"))
}

/// Tests that a report that is accepted has only text that is safe to print.
fn report(text: &str) -> Held {
    let Ok(read) = serde_json::from_str::<Recording>(text) else { return Ok(()) };
    let Ok((report, files)) = read.reread() else { return Ok(()) };
    let mut texts: Vec<&str> = files.files().iter().map(|file| file.name.as_str()).collect();
    for finding in report.findings() {
        texts.extend([finding.message.as_str(), &finding.path]);
        texts.extend(finding.related.iter().map(|related| related.message.as_str()));
    }
    let other = texts.into_iter().find(|text| !text.chars().all(|c| c == '\n' || is_safe(c)));
    ensure(other.is_none(), "a report that is read has safe texts", || format!("{other:?}"))
}

/// Tests a line as a selector with each level, as an option or limit with its value, and as a
/// format.
fn setting(line: &str) -> Held {
    const LAW: &str = "a policy gives a rule the level of its only selector, or none";
    if let Ok(selector) = line.parse::<Selector>() {
        for level in [Level::Allow, Level::Warn, Level::Deny] {
            let policy = Policy::default().with(selector.clone(), level);
            let rules = tracemend::rules().filter(|rule| selector.selects(rule));
            let mut levels = rules.map(|rule| policy.level(rule));
            ensure(levels.all(|given| given == Some(level)), LAW, || line.to_string())?;
        }
    }
    let _unknown_format = line.parse::<FormatId>();
    let Some((name, value)) = line.split_once('=') else { return Ok(()) };
    let mut options = Options::default();
    if options.choices.set(name, value).is_ok() {
        let is_kept = options.choices.value(name) == Some(value);
        ensure(is_kept, "an option keeps its value", || line.to_string())?;
    }
    if let Ok(number) = value.parse() {
        let _unknown_limit = options.limits.set_by_name(name, number);
    }
    Ok(())
}
