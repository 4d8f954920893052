//! From one event to the next: framing, clocks, damage, and whether an event may come now.

use super::*;

impl<'s, 'a> Machine<'s, 'a> {
    /// Walks on until the stream ends or `capacity` events wait in the queue.
    pub fn fill(&mut self, shared: &Shared, capacity: usize) {
        while self.ended.is_none() && self.queue.len() < capacity {
            // The walk is taken out of the machine while an event of it is looked at.
            let nothing = Walk::new(self.walk.source(), u64::MAX);
            let mut walk = std::mem::replace(&mut self.walk, nothing);
            self.run(&mut walk, shared, capacity);
            self.walk = walk;
        }
    }

    pub(super) fn run(&mut self, walk: &mut Walk<'s, 'a>, shared: &Shared, capacity: usize) {
        loop {
            self.stride(walk);
            let from = match walk.step() {
                Step::Event(event) => {
                    if self.event(&event, shared) {
                        if self.queue.len() >= capacity {
                            return;
                        }
                        continue;
                    }
                    if self.ended.is_some() {
                        self.end = event.at;
                        self.close_run();
                        return;
                    }
                    // No event: damage.
                    event.at
                }
                Step::Torn { at, needed } => {
                    if self.state == State::Dead {
                        self.stop(at, Ending::Stale);
                    } else if let Some(next) = resync(walk.source(), at, self.clock, shared.resync)
                    {
                        self.damage(at, next);
                        walk.seek(next);
                        continue;
                    } else {
                        self.stop(at, Ending::Torn(needed));
                    }
                    return;
                }
                Step::End => {
                    self.stop(walk.source().len(), Ending::Whole);
                    return;
                }
            };
            match resync(walk.source(), from, self.clock, shared.resync) {
                Some(next) => {
                    self.damage(from, next);
                    walk.seek(next);
                }
                None => {
                    let left = walk.source().len().saturating_sub(from);
                    self.stop(from, Ending::Torn(left.saturating_add(1)));
                    return;
                }
            }
        }
    }

    pub(super) fn stop(&mut self, at: u64, ending: Ending) {
        self.ended = Some(ending);
        self.end = at;
        self.close_run();
    }

    /// Takes events that do nothing but open and close states, as long as nothing about them is
    /// unusual. Most events of most streams are taken here.
    #[inline]
    pub(super) fn stride(&mut self, walk: &mut Walk<'s, 'a>) {
        if !self.calm || self.out || self.died.is_some() {
            return;
        }
        let state = self.state.bit();
        let (mut clock, mut before, mut events) = (self.clock, self.before_last, self.events);
        let mut rest = walk.rest();
        while let Some((head, tail)) = rest.split_first_chunk::<12>() {
            let [flags, model, category, value, time @ ..] = *head;
            let now = u64::from_le_bytes(time);
            let hot = layout::number([model, category, value]).and_then(layout::hot);
            let Some(hot) = hot else { break };
            let usual = flags == 0
                && hot.flags == 0
                && hot.states & state != 0
                && self.used_bits >> hot.model & 1 != 0
                && now >= clock
                && now <= self.ceiling
                && u64::from(hot.rank) <= self.rank(hot.model);
            if !usual {
                break;
            }
            match hot.act {
                Act::Push(stack) => {
                    let Some(open) = self.stacks.get_mut(stack.index()) else { break };
                    if open.last() == Some(&hot.state) && !stack.repeats()
                        || open.len() >= STACK_MAX
                    {
                        break;
                    }
                    open.push(hot.state);
                }
                Act::Pop(stack) => {
                    let Some(open) = self.stacks.get_mut(stack.index()) else { break };
                    if open.last() != Some(&hot.state) {
                        break;
                    }
                    open.pop();
                }
                Act::Ignore => {}
                _ => break,
            }
            (before, clock) = (clock, now);
            events = events.saturating_add(1);
            rest = tail;
        }
        if events != self.events {
            (self.clock, self.before_last, self.events) = (clock, before, events);
            walk.go_on(rest);
            self.last_at = walk.at().saturating_sub(layout::EVENT_HEADER);
        }
    }

    #[cold]
    pub(super) fn damage(&mut self, from: u64, to: u64) {
        let span = Span::new(self.file, from, to);
        let count = span.len();
        let message = format!("{count} bytes are no event; events follow again at {to:#x}");
        let fix = Fix::new(
            Safety::Lossy,
            format!("drops {count} bytes that are no event"),
            vec![Edit::drop(span)],
        );
        self.log.push(Finding::new(&rules::DAMAGED_BYTES, span, "events", message).fix(fix));
    }

    #[cold]
    pub(super) fn report(
        &mut self,
        rule: &'static Rule,
        event: &Event<'_>,
        field: &str,
        message: String,
    ) {
        let finding = self.finding(rule, event, field, message);
        self.log.push(finding);
    }

    #[cold]
    pub(super) fn finding(
        &self,
        rule: &'static Rule,
        event: &Event<'_>,
        field: &str,
        text: String,
    ) -> Finding {
        let span = Span::sized(self.file, event.at, event.len);
        let code = layout::shown(event.code);
        let dot = if field.is_empty() { "" } else { "." };
        let path = format!("event[{}].{code}{dot}{field}", self.events.saturating_sub(1));
        Finding::new(rule, span, path, text)
    }

    pub(super) fn place(&self, event: &Event<'_>) -> Place {
        Place { at: event.at, len: event.len, number: self.events.saturating_sub(1) }
    }

    #[inline]
    pub(super) fn cross(&mut self, event: &Event<'_>, table: usize, kind: CrossKind) {
        self.queue.push_back(Cross {
            clock: self.clock,
            at: event.at,
            number: self.events,
            len: u32::try_from(event.len).unwrap_or(u32::MAX),
            table: u8::try_from(table).unwrap_or(0),
            kind,
        });
    }

    /// Takes an event; `false` if it is none, or if the stream ends before it.
    #[inline]
    pub(super) fn event(&mut self, event: &Event<'_>, shared: &Shared) -> bool {
        let number = layout::number(event.code);
        let Some(hot) = number.and_then(layout::hot) else {
            return self.unusual(event, number, shared);
        };
        let in_order = event.clock >= self.clock && event.clock <= self.ceiling && self.calm;
        let plain = event.flags == hot.flags && hot.states & self.state.bit() != 0;
        let used = self.used_bits >> hot.model & 1 != 0;
        if !(in_order && plain && used) || self.out || u64::from(hot.rank) > self.rank(hot.model) {
            return self.unusual(event, number, shared);
        }
        self.before_last = self.clock;
        self.clock = event.clock;
        self.events = self.events.saturating_add(1);
        self.last_at = event.at;
        self.effect(event, hot, shared);
        true
    }

    /// An event of which something has to be looked at more closely.
    #[cold]
    pub(super) fn unusual(
        &mut self,
        event: &Event<'_>,
        number: Option<u16>,
        shared: &Shared,
    ) -> bool {
        if number.is_none() && !self.unknown_is_event(event) {
            return false;
        }
        if event.clock < self.clock || event.clock > CLOCK_MAX {
            if !self.backwards(event) {
                return false;
            }
        } else {
            if event.clock > self.ceiling {
                self.ended = Some(Ending::Cut);
                return false;
            }
            if self.backwards.first.is_some() {
                self.close_run();
            }
            self.before_last = self.clock;
            self.clock = event.clock;
            self.last_at = event.at;
        }
        self.events = self.events.saturating_add(1);
        if self.first.is_none() {
            self.first = Some(self.clock);
            self.before_last = self.clock;
        }
        self.calm = self.backwards.first.is_none();
        if event.flags & (RESERVED_FLAGS | layout::JUMBO) != 0 {
            self.flags(event);
        }
        let (Some(row), Some(hot)) =
            (number.and_then(layout::numbered), number.and_then(layout::hot))
        else {
            let [first, ..] = event.code;
            self.unknown(event, layout::model_of(first), shared);
            return true;
        };
        if self.used_bits >> hot.model & 1 == 0 {
            self.used_bits |= 1 << hot.model;
            let place = self.place(event);
            if let Some(used) = self.used.get_mut(usize::from(hot.model)) {
                used.get_or_insert(place);
            }
        }
        let fits = match row.payload {
            Payload::Exact(len) => {
                !event.is_jumbo()
                    && event.len == layout::EVENT_HEADER.saturating_add(u64::from(len))
            }
            Payload::Jumbo(len) => event.is_jumbo() && event.body_len() >= u64::from(len),
        };
        if fits {
            self.act(event, hot, row, shared);
        } else {
            self.misfit(event, hot, row, shared);
        }
        true
    }

    #[inline]
    pub(super) fn rank(&self, model: u8) -> u64 {
        self.ranks >> u32::from(model).saturating_mul(8) & 0xff
    }

    /// An event whose payload is not what the newest version's signature says.
    #[cold]
    pub(super) fn misfit(
        &mut self,
        event: &Event<'_>,
        hot: &Hot,
        row: &'static EventRow,
        shared: &Shared,
    ) {
        let number = hot.model;
        let (sized, len) = (event.is_jumbo(), event.body_len());
        let nosv = self.required.get(usize::from(model::NOSV)).copied().flatten();
        if !sized
            && number == model::NOSV
            && let Some(old) = layout::older(event.code, len)
        {
            self.old_nosv = true;
            if nosv.is_none_or(|(major, ..)| major < 2) {
                self.act(event, hot, old, shared);
                return;
            }
        }
        let (wants, fields) = match row.payload {
            Payload::Exact(fields) => (format!("{fields} bytes"), u64::from(fields)),
            Payload::Jumbo(fields) => {
                (format!("a jumbo payload of at least {fields} bytes"), u64::from(fields))
            }
        };
        let has = if sized { format!("a jumbo payload of {len}") } else { len.to_string() };
        let message = format!("{} has {has} bytes, {} takes {wants}", name(event), row.signature);
        let mut finding = self.finding(&rules::PAYLOAD_SIZE, event, "payload", message);
        // The tools look at the size of these alone, or read fields that are not there.
        let exact = matches!(row.act, Act::AffinitySet | Act::AffinityRemote | Act::Mark(_))
            || matches!(row.act, Act::Create(_)) && number != model::NOSV;
        let plain = matches!(row.payload, Payload::Exact(_)) && !sized;
        let readable = plain && len >= fields && !exact;
        let needless = row.payload == Payload::Exact(0) || row.act == Act::Ignore;
        if readable || needless {
            finding.severity = Severity::Warning;
        }
        self.log.push(finding);
        let follows = matches!(row.act, Act::Thread(_)) && row.code != *b"OHx";
        if readable || needless || follows {
            self.act(event, hot, row, shared);
        } else if row.code == *b"OHx" {
            self.thread(event, layout::Step::Execute);
        }
    }

    #[cold]
    pub(super) fn flags(&mut self, event: &Event<'_>) {
        if event.flags & RESERVED_FLAGS != 0 && !self.told_flags {
            self.told_flags = true;
            let message =
                format!("{} has flags {:#04x}, bits 5 to 7 are 0", name(event), event.flags);
            self.report(&rules::RESERVED_FLAGS, event, "flags", message);
        }
        if event.is_jumbo() && event.flags & 0x0f != layout::JUMBO_CODE && !self.told_code {
            self.told_code = true;
            let code = event.flags & 0x0f;
            let message =
                format!("the payload code of {} is {code}, libovni writes 3", name(event));
            self.report(&rules::JUMBO_CODE, event, "flags", message);
        }
    }

    /// Whether something that no table knows can be an event at all.
    #[cold]
    pub(super) fn unknown_is_event(&mut self, event: &Event<'_>) -> bool {
        if layout::printable(event.code) && self.unknown_is_followed(event) {
            return true;
        }
        if self.state == State::Dead {
            self.ended = Some(Ending::Stale);
        }
        false
    }

    /// Whether an event, or the end, follows the first event of a model that is not known: bytes that
    /// are read from a wrong place on can look like one.
    fn unknown_is_followed(&self, event: &Event<'_>) -> bool {
        let [first, ..] = event.code;
        if layout::model_of(first).is_some() || self.foreign.contains_key(&first) {
            return true;
        }
        let next = self.walk.source().read(event.end(), event.end().saturating_add(4));
        match *next {
            [_, model, category, value] => layout::printable([model, category, value]),
            _ => true,
        }
    }

    #[cold]
    pub(super) fn unknown(&mut self, event: &Event<'_>, number: Option<u8>, shared: &Shared) {
        let Some(number) = number else {
            let [first, ..] = event.code;
            if !self.foreign.contains_key(&first) && self.foreign.len() < KINDS_MAX {
                self.foreign.insert(first, ());
                let message = format!(
                    "model `{}` is not known here; its events are kept",
                    Untrusted(&[first])
                );
                self.report(&rules::UNKNOWN_MODEL, event, "", message);
            }
            return;
        };
        let index = usize::from(number);
        let name_of = MODELS.get(index).map_or("", |model| model.name);
        if let Some(used) = self.used.get_mut(index).filter(|used| used.is_none()) {
            let number = self.events.saturating_sub(1);
            *used = Some(Place { at: event.at, len: event.len, number });
        }
        let message = format!("model {name_of} has no event {}", name(event));
        let mut finding = self.finding(&rules::UNKNOWN_EVENT, event, "", message);
        let passed_over = number == model::OVNI && matches!(event.code, [_, b'U' | b'B', _]);
        let enabled = !shared.known || shared.enabled.get(index).copied().unwrap_or(false);
        if passed_over || !enabled {
            finding.severity = Severity::Info;
        }
        self.log.push(finding);
    }

    /// An event with a lower clock than the one before it. `false` if it is an older run's.
    #[cold]
    pub(super) fn backwards(&mut self, event: &Event<'_>) -> bool {
        if let Some(region) = &mut self.region {
            let lowest = region.lowest.map_or(event.clock, |lowest| lowest.min(event.clock));
            region.lowest = Some(lowest);
            return true;
        }
        let older = self.first.is_some_and(|first| event.clock < first);
        if self.state == State::Dead || self.unfinished && older && self.events > 1 {
            self.ended = Some(Ending::Stale);
            return false;
        }
        let place = Place { at: event.at, len: event.len, number: self.events };
        let layer = self.file;
        let clamp = move |place: &Place, clock: u64| {
            let at = place.at.saturating_add(4);
            Edit::replace(Span::sized(layer, at, 8), clock.to_le_bytes())
        };
        if self.backwards.first.is_none() {
            let top = event.clock >> 63 != 0;
            // One event that is too late by itself: the ones around it are in order without it.
            let single = !top && event.clock >= self.before_last && self.events > 1;
            self.backwards = Backwards {
                first: Some((place, event.clock)),
                before: self.clock,
                ..Backwards::default()
            };
            if single {
                let last = Place { at: self.last_at, ..place };
                let edit = clamp(&last, self.before_last);
                self.backwards.edits.push(edit);
                self.backwards.events = 1;
                if let Some(cross) = self.queue.back_mut().filter(|cross| cross.at == last.at) {
                    cross.clock = self.before_last;
                }
                self.clock = event.clock;
                self.last_at = event.at;
                self.close_run();
                return true;
            }
        }
        self.backwards.events = self.backwards.events.saturating_add(1);
        if self.backwards.edits.len() < CLAMPED_MAX {
            let edit = clamp(&place, self.clock);
            self.backwards.edits.push(edit);
        }
        true
    }

    /// Reports the clocks that were out of order.
    #[cold]
    pub(super) fn close_run(&mut self) {
        let run = std::mem::take(&mut self.backwards);
        let Some((place, clock)) = run.first else { return };
        let span = Span::sized(self.file, place.at.saturating_add(4), 8);
        let message = format!(
            "clock {clock} follows {}; {} of the events around it out of order",
            run.before,
            if run.events == 1 { "1 is".to_string() } else { format!("{} are", run.events) }
        );
        let path = format!("event[{}].clock", place.number);
        let mut finding = Finding::new(&rules::CLOCK_BACKWARDS, span, path, message);
        if to_u64(run.edits.len()) == run.events {
            let summary = match run.edits.as_slice() {
                [one] if one.span.start < place.at => {
                    "gives the event before it, which is too late by itself, the clock before that"
                        .to_string()
                }
                edits => format!("gives {} events the clock before them", edits.len()),
            };
            finding = finding.fix(Fix::new(Safety::Synthetic, summary, run.edits));
        }
        self.log.push(finding);
    }
}
