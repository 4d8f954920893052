//! Records as events of the Trace Event Format, which Perfetto and other viewers of timelines open.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tracemend::{Clock, ClockUnit, Row};

use crate::kit::exit::{Exit, Failure};

/// The style of all formats that this is.
pub(super) const STYLE: &str = "chrome-json";
/// The style in a list of styles.
pub(super) const MEANING: &str =
    "one event per record with a time, for Perfetto and other viewers of timelines";
/// Threads and devices whose names are written, each held in memory: later ones have a number only.
const LANES_MAX: usize = 65_536;

/// The line of a timeline on which records are shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lane {
    Thread(i128, i128),
    Subject(String),
}

/// The events of a recording, in the order of its records.
pub(super) struct Timeline {
    clock: &'static Clock,
    /// The lanes, each with its number and the name that was written last.
    lanes: BTreeMap<Lane, (usize, String)>,
    is_empty: bool,
}

impl Timeline {
    pub(super) const fn new(clock: &'static Clock) -> Self {
        Self { clock, lanes: BTreeMap::new(), is_empty: true }
    }

    /// Returns the events of a record, in JSON; empty if it has no time.
    pub(super) fn add(&mut self, line: &str) -> Result<String, Failure> {
        let failed = || Failure::new(Exit::Io, "a line of the dump is not an object");
        let row = Row::read(line).ok_or_else(failed)?;
        let Some(time) = row.time(self.clock) else { return Ok(String::new()) };
        let name = self.clock.names.iter().chain(&["kind"]).find_map(|name| row.text(name));
        let name = Value::from(name.unwrap_or_default());
        let ((pid, tid), named) = self.find_lane(&row);
        let mut text = String::new();
        if let Some(lane) = named {
            let args = json!({ "name": lane });
            text += self.separate();
            let place = format!(r#""pid":{pid},"tid":{tid}"#);
            text += &format!(r#"{{"ph":"M","name":"thread_name",{place},"args":{args}}}"#);
        }
        let time = self.microseconds(time);
        text += self.separate();
        // The record is an object already, with every digit.
        let event = format!(r#"{{"ph":"i","s":"t","name":{name},"ts":{time}"#);
        text += &format!(r#"{event},"pid":{pid},"tid":{tid},"args":{line}}}"#);
        Ok(text)
    }

    /// Returns the end of the list.
    pub(super) fn end(&mut self) -> &'static str {
        if self.is_empty { "[]\n" } else { "\n]\n" }
    }

    fn separate(&mut self) -> &'static str {
        if std::mem::take(&mut self.is_empty) { "[\n" } else { ",\n" }
    }

    /// Returns the process and the thread of a record, and the name of the thread if it is new.
    fn find_lane(&mut self, row: &Row<'_>) -> ((i128, i128), Option<String>) {
        let thread = self.clock.threads.iter().find_map(|[process, thread]| {
            Some(Lane::Thread(row.integer(process)?, row.integer(thread)?))
        });
        let (lane, name) = match thread {
            Some(lane) => (lane, row.text("comm")),
            None => {
                let subject = row.subject(self.clock).unwrap_or_default();
                (Lane::Subject(subject.clone()), Some(subject))
            }
        };
        let (number, is_full) = (self.lanes.len(), self.lanes.len() >= LANES_MAX);
        let known = match self.lanes.get_mut(&lane) {
            None if is_full => None,
            None => Some(self.lanes.entry(lane.clone()).or_insert((number, String::new()))),
            known => known,
        };
        let number = known.as_ref().map_or(number, |(number, _)| *number);
        let named = known.and_then(|(_, last)| {
            let name = name.filter(|name| !name.is_empty() && name != last)?;
            last.clone_from(&name);
            Some(name)
        });
        let place = match lane {
            Lane::Thread(process, thread) => (process, thread),
            Lane::Subject(_) => (0, i128::try_from(number).unwrap_or_default()),
        };
        (place, named)
    }

    /// Returns a reading in microseconds; one instruction or call takes one.
    fn microseconds(&self, time: i128) -> String {
        match self.clock.unit {
            ClockUnit::Nanoseconds => {
                let sign = if time < 0 { "-" } else { "" };
                let time = time.unsigned_abs();
                format!("{sign}{}.{:03}", time / 1000, time % 1000)
            }
            _ => time.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_threads_have_a_limit() {
        let ovni = tracemend::FormatId::ALL.iter().find(|format| format.name() == "ovni").unwrap();
        let mut timeline = Timeline::new(ovni.clock());
        for lane in 0..LANES_MAX {
            assert!(
                timeline
                    .add(&format!(r#"{{"clock":1,"stream":{lane}}}"#))
                    .unwrap()
                    .contains("\"M\"")
            );
        }
        assert!(!timeline.add(r#"{"clock":1,"stream":"one more"}"#).unwrap().contains("\"M\""));
        assert_eq!(timeline.lanes.len(), LANES_MAX);
    }
}
