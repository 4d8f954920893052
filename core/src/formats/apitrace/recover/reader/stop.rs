//! Finds where damage begins: it is seen later than that.

use super::read::NextStep;
use super::{FirstFault, StreamReader, bytes_from, excerpt_around};
use crate::formats::apitrace::decode::damage::{AffectedCalls, Damage, DamageCause, DamagedUnits};
use crate::formats::apitrace::decode::grammar::{ParseStop, StreamError};
use crate::formats::apitrace::decode::tracker::events::EventEffect;
use crate::formats::apitrace::layout::VERSION_MAX;
use crate::model::limits::FIXES;

impl StreamReader<'_> {
    /// Handles bytes that are not an event: finds where the damage begins and looks for its end in
    /// `data`, which begins at `base`.
    pub(super) fn handle_stop(&mut self, stop: ParseStop, data: &[u8], base: u64) -> NextStep {
        match stop.cause {
            StreamError::Limit(limit, max) => {
                let message = format!("limit reached: more than {max} {}", limit.unit);
                self.faults.limit = Some((stop.at, message));
                return NextStep::Finish;
            }
            StreamError::Version(_) => return NextStep::Finish,
            _ => {}
        }
        let most = self.limits.count_of(&FIXES);
        if self.faults.damages.len() >= most {
            let message = format!("limit reached: more than {most} damages");
            self.faults.limit = Some((stop.at, message));
            return NextStep::Finish;
        }
        let has_header = self.parser.is_in_header();
        let start = match has_header {
            true => self.find_header_damage(),
            false => self.find_damage_start(stop.cause),
        };
        let is_long = self.tracker.history.is_in_long_event();
        let cause = match &mut self.attempts.first_fault {
            FirstFault::Passed(Some(fault)) => DamageCause::Unit(fault.clone()),
            FirstFault::Passed(None) | FirstFault::Damage => DamageCause::Stream(stop.cause),
        };
        self.attempts.first_fault = FirstFault::Damage;
        self.open_damage(start, cause, stop.at);
        if let Some(damage) = self.faults.damages.last_mut() {
            damage.excerpt = Some(excerpt_around(data, base, stop.at));
            damage.has_header = has_header;
        }
        // The length of a long string in the event itself may be what is wrong.
        let is_again = self.attempts.resumed_in_place == Some(start) || has_header;
        let from = if is_long || is_again { start.saturating_add(1) } else { start };
        if from < base {
            return NextStep::Rewind(from);
        }
        match self.find_sync(bytes_from(data, base, from), from, start, false) {
            Ok(place) => NextStep::Sync(place),
            Err(next) => NextStep::Seek(next),
        }
    }

    /// Returns where the header is damaged: after the sound properties, if the version is known.
    pub(super) fn find_header_damage(&self) -> u64 {
        let header = self.tracker.header;
        header.version.map_or(0, |_| header.sound_end)
    }

    fn find_damage_start(&self, cause: StreamError) -> u64 {
        let event = self.parser.event();
        let history = &self.tracker.history;
        let contradiction = history.find_first_contradiction();
        match cause {
            StreamError::InconsistentCalls => {
                let unmatched = match history.is_in_enter() {
                    true => history.find_first_nested_enter(),
                    false => history.find_first_unmatched(),
                };
                [unmatched, contradiction]
                    .into_iter()
                    .flatten()
                    .min()
                    .map_or(event, |at| at.min(event))
            }
            _ => contradiction.unwrap_or(event).min(event),
        }
    }

    /// Begins a damage at `start`, which was seen at `seen`: takes back the events from there on.
    pub(super) fn open_damage(&mut self, start: u64, cause: DamageCause, seen: u64) {
        let first = self.tracker.history.recent().find_map(|event| match event.effect {
            EventEffect::Enter(open) => Some(open.number),
            EventEffect::Leave { .. } => None,
        });
        let block = self.places.first_call_at(start);
        self.tracker.take_back(start);
        self.budget.earn(&self.limits, self.tracker.history.count);
        self.parser.turn_to_event(match self.tracker.header.version {
            Some((version, _)) => version,
            None => self.attempts.assumed_version.unwrap_or(VERSION_MAX),
        });
        let call = self.tracker.calls.next;
        let unit = self.places.unit_at(start.saturating_sub(1)).or(self.places.last);
        self.faults.damages.push(Damage {
            cause,
            seen,
            start,
            end: start,
            is_open: true,
            has_header: false,
            calls: AffectedCalls {
                first: call,
                lost: 0,
                suspects: (block.max(first.unwrap_or(block)).min(call), call),
                doubt_end: start,
                is_settled: false,
            },
            units: DamagedUnits {
                at_fault: unit,
                stored_end: unit.map_or(0, |unit| unit.stored.end),
                place: None,
            },
            definitions: Vec::new(),
            excerpt: None,
        });
    }
}
