//! What an event does: states, CPUs, flushes and regions.

use super::*;

impl<'s, 'a> Machine<'s, 'a> {
    /// Judges whether an event may come now, and takes it.
    pub(super) fn act(&mut self, event: &Event<'_>, hot: &Hot, row: &EventRow, shared: &Shared) {
        if hot.states & self.state.bit() == 0 {
            let needs = MODELS.get(usize::from(hot.model)).map_or(Needs::Nothing, |m| m.needs);
            self.wrong_state(event, needs);
        }
        if self.out && hot.on_cpu {
            self.off_cpu(event);
        }
        if u64::from(hot.rank) > self.rank(hot.model) {
            self.newer(event, hot, row);
        }
        self.effect(event, hot, shared);
    }

    #[inline]
    pub(super) fn effect(&mut self, event: &Event<'_>, hot: &Hot, shared: &Shared) {
        let number = hot.model;
        match hot.act {
            Act::Push(stack) => self.push(event, stack, hot.state),
            Act::Pop(stack) => self.pop(event, stack, hot.state),
            Act::Task(step) => self.task(event, number, step),
            Act::Ignore => {}
            Act::Thread(step) => self.thread(event, step),
            Act::AffinitySet => self.affinity_set(event),
            Act::AffinityRemote => {
                let (cpu, tid) = (field_i32(event, 0), field_i32(event, 4));
                self.cross(event, 0, CrossKind::Remote(cpu, tid));
            }
            Act::Flush(open) => self.flush(event, open),
            Act::Region(open) => self.region(event, open),
            Act::Mark(step) => self.mark(event, step, shared),
            Act::Kernel(out) => self.kernel(event, out),
            Act::Idle => self.idle(event, number),
            Act::Type => self.define(event, number),
            Act::Create(parallel) => self.create(event, number, parallel),
            Act::Work(open) => self.work(event, number, open),
            Act::Counters => self.counters(event, shared),
        }
    }

    #[cold]
    pub(super) fn wrong_state(&mut self, event: &Event<'_>, needs: Needs) {
        if std::mem::replace(&mut self.told_state, true) {
            return;
        }
        let wanted = if needs == Needs::Active { "active" } else { "running" };
        let state = self.state.name();
        let message = format!("{} comes while the thread is {state}, not {wanted}", name(event));
        self.report(&rules::EVENT_STATE, event, "", message);
    }

    #[cold]
    pub(super) fn off_cpu(&mut self, event: &Event<'_>) {
        if !std::mem::replace(&mut self.told_out, true) {
            let message = format!("{} comes between KCO and KCI", name(event));
            self.report(&rules::OUT_OF_CPU, event, "", message);
        }
    }

    #[cold]
    pub(super) fn newer(&mut self, event: &Event<'_>, hot: &Hot, row: &EventRow) {
        let index = usize::from(hot.model);
        let shift = u32::from(hot.model).saturating_mul(8);
        self.ranks = self.ranks & !(0xff << shift) | u64::from(hot.rank) << shift;
        if let Some(seen) = self.seen.get_mut(index).filter(|seen| **seen < Some(row.since)) {
            *seen = Some(row.since);
        }
        let Some(Some(wanted)) = self.required.get(index).copied() else { return };
        if row.since > wanted && !self.newer.get(index).copied().unwrap_or(true) {
            if let Some(told) = self.newer.get_mut(index) {
                *told = true;
            }
            let message = format!(
                "{} came with version {}, the thread requires {}",
                name(event),
                version(row.since),
                version(wanted)
            );
            self.report(&rules::EVENT_NEWER, event, "", message);
        }
    }

    pub(super) fn push(&mut self, event: &Event<'_>, stack: Stack, state: u16) {
        let Some(open) = self.stacks.get_mut(stack.index()) else { return };
        let again = open.last() == Some(&state) && !stack.repeats();
        let full = open.len() >= STACK_MAX;
        if !full {
            open.push(state);
        }
        if again || full {
            let message = if full {
                format!("{} opens more than {STACK_MAX} states of {}", name(event), stack.name())
            } else {
                format!("{} opens a {} that is open already", name(event), stack.name())
            };
            self.report(&rules::STACK_MISMATCH, event, "", message);
        }
        self.changed();
    }

    pub(super) fn pop(&mut self, event: &Event<'_>, stack: Stack, state: u16) {
        let Some(open) = self.stacks.get_mut(stack.index()) else { return };
        if open.last() == Some(&state) {
            open.pop();
        } else {
            self.pop_wrong(event, stack, state);
        }
        self.changed();
    }

    #[cold]
    pub(super) fn pop_wrong(&mut self, event: &Event<'_>, stack: Stack, state: u16) {
        let Some(open) = self.stacks.get_mut(stack.index()) else { return };
        let top = open.last().copied();
        if let Some(depth) = open.iter().rposition(|value| *value == state) {
            open.truncate(depth);
        }
        let closes = state_name(stack, state);
        let message = match top {
            Some(top) => {
                let top = state_name(stack, top);
                format!("{} closes {closes}, the innermost {} is {top}", name(event), stack.name())
            }
            None => format!("{} closes {closes}, no {} is open", name(event), stack.name()),
        };
        self.report(&rules::STACK_MISMATCH, event, "", message);
    }

    /// Something that is closed at the end has changed.
    #[inline]
    pub(super) fn changed(&mut self) {
        if let Some(died) = &mut self.died {
            died.last = false;
        }
    }

    pub(super) fn thread(&mut self, event: &Event<'_>, step: layout::Step) {
        use layout::Step as S;
        let state = self.state;
        let (allowed, next) = match step {
            S::Execute => (matches!(state, State::Unknown | State::Dead), State::Running),
            S::End => (matches!(state, State::Running | State::Cooling), State::Dead),
            S::Pause => (matches!(state, State::Running | State::Cooling), State::Paused),
            S::Resume => (matches!(state, State::Paused | State::Warming), State::Running),
            S::Cool => (state == State::Running, State::Cooling),
            S::Warm => (state == State::Paused, State::Warming),
        };
        if !allowed {
            let message = format!("{} comes while the thread is {}", name(event), state.name());
            self.report(&rules::THREAD_STATE, event, "", message);
        } else if step == S::Execute && state == State::Dead {
            let message = "OHx comes after OHe: the thread begins a second time".to_string();
            self.report(&rules::EVENT_AFTER_END, event, "", message);
        }
        self.state = next;
        self.told_state = false;
        match step {
            S::Execute => {
                let cpu = if event.body.len() >= 4 { field_i32(event, 0) } else { -1 };
                self.died = None;
                self.cross(event, 0, CrossKind::Begin(cpu));
            }
            S::End => {
                self.died = Some(AtEnd { at: event.at, clock: self.clock, state, last: true });
                self.cross(event, 0, CrossKind::Dead);
            }
            S::Pause | S::Cool => self.cross(event, 0, CrossKind::Stop),
            S::Resume => self.cross(event, 0, CrossKind::Run),
            S::Warm => {}
        }
    }

    pub(super) fn affinity_set(&mut self, event: &Event<'_>) {
        let cpu = field_i32(event, 0);
        if !self.state.is_active() {
            let message =
                format!("OAs comes while the thread is {}, not active", self.state.name());
            self.report(&rules::THREAD_STATE, event, "", message);
            return;
        }
        self.cross(event, 0, CrossKind::Move(cpu));
    }

    pub(super) fn flush(&mut self, event: &Event<'_>, open: bool) {
        if self.flushing == open {
            let message = if open { "OF[ comes inside a flush" } else { "OF] ends no flush" };
            self.report(&rules::FLUSH_ORDER, event, "", message.to_string());
        }
        self.flushing = open;
    }

    pub(super) fn region(&mut self, event: &Event<'_>, open: bool) {
        if open == self.region.is_some() {
            let message = if open { "OU[ comes inside a region" } else { "OU] ends no region" };
            self.report(&rules::REGION_ORDER, event, "", message.to_string());
        }
        let region = self.region.take();
        if open {
            let lowest = region.and_then(|region| region.lowest);
            let before = self.before_last;
            self.region = Some(Region { place: self.place(event), before, lowest });
            if self.opened.len() >= OPENED_MAX {
                self.opened.pop_front();
            }
            self.opened.push_back((self.clock, event.at));
        } else if let Some(Region { place, before, lowest: Some(lowest) }) = region {
            self.unsorted(&place, before, lowest, event);
        }
    }

    /// A region whose events go back to `lowest`.
    #[cold]
    pub(super) fn unsorted(&mut self, opened: &Place, before: u64, lowest: u64, event: &Event<'_>) {
        let span = Span::new(self.file, opened.at, event.end());
        let message = format!(
            "the region from OU[ to OU] goes back to clock {lowest}, the stream was at {}",
            self.clock
        );
        let path = format!("event[{}].OU[", opened.number);
        let mut finding = Finding::new(&rules::UNSORTED_REGION, span, path, message);
        let clocks = (before, self.clock);
        let late = late(self.walk_source(), self.file, opened, event, clocks);
        if late.is_empty() {
            if let Some(edit) = self.sort(lowest, event.end()) {
                let summary = format!("sorts {} bytes of events by their clocks", edit.span.len());
                finding = finding.fix(Fix::new(Safety::Exact, summary, vec![edit]));
            }
        } else {
            let summary = "gives what is later than OU] or earlier than the rest another clock";
            finding = finding.fix(Fix::new(Safety::Synthetic, summary, late));
        }
        self.log.push(finding);
    }

    /// Sorts what lies before `end`, from a place on before which nothing is later than `lowest`.
    fn sort(&mut self, lowest: u64, end: u64) -> Option<Edit> {
        let before = self.opened.partition_point(|(clock, _)| *clock <= lowest);
        let from = before.checked_sub(1).and_then(|place| self.opened.get(place));
        let from = from.map_or(STREAM_HEADER, |(_, at)| *at);
        self.sort_work = self.sort_work.checked_sub(end.saturating_sub(from))?;
        sort(self.walk_source(), self.file, from, lowest, end)
    }

    pub(super) const fn walk_source(&self) -> &'s Source<'a> {
        self.walk.source()
    }

    pub(super) fn kernel(&mut self, event: &Event<'_>, out: bool) {
        if self.out == out {
            let where_ = if out { "off its CPU already" } else { "on its CPU" };
            let message = format!("{} comes while the thread is {where_}", name(event));
            self.report(&rules::OUT_OF_CPU, event, "", message);
        }
        self.out = out;
        self.told_out = false;
    }

    pub(super) fn idle(&mut self, event: &Event<'_>, number: u8) {
        let [.., value] = event.code;
        let Some(idle) = task_model(number).and_then(|table| self.idle.get_mut(table)) else {
            return;
        };
        if std::mem::replace(idle, value) == value {
            let message = format!("{} sets the idle state that is set", name(event));
            self.report(&rules::SAME_IDLE, event, "", message);
        }
    }
}

/// Clocks for a region in which something is later than the OU] that closes it: the one event that is,
/// or else OU] itself, is wrong. `before` is the clock before the region, `now` the latest that is one.
fn late(
    source: &Source<'_>,
    layer: Layer,
    opened: &Place,
    close: &Event<'_>,
    (before, now): (u64, u64),
) -> Vec<Edit> {
    if close.at.saturating_sub(opened.at) > SORTED_MAX {
        return Vec::new();
    }
    let mut walk = Walk::new(source, opened.at);
    let mut late: Vec<(u64, u64)> = Vec::new();
    while walk.at() < close.at {
        let Step::Event(event) = walk.step() else { return Vec::new() };
        if event.end() > close.at || !layout::printable(event.code) {
            // Damage, which goes first.
            return Vec::new();
        }
        if event.clock > close.clock.min(CLOCK_MAX) {
            late.push((event.at, event.clock));
        }
    }
    let beyond = late.iter().filter(|(_, clock)| *clock > CLOCK_MAX).count();
    let edit = |at: u64, clock: u64| {
        Edit::replace(Span::sized(layer, at.saturating_add(4), 8), clock.to_le_bytes())
    };
    if close.clock > CLOCK_MAX {
        late.push((close.at, close.clock));
        return late.iter().map(|(at, _)| edit(*at, now)).collect();
    }
    // With the clock of OU] it would be out of order where it stands.
    let opens_late = before > close.clock
        && late.iter().any(|(at, clock)| *at == opened.at && *clock <= CLOCK_MAX);
    if opens_late || (late.len() > 1 && late.len() > beyond) {
        return vec![edit(close.at, now)];
    }
    late.iter().map(|(at, _)| edit(*at, close.clock)).collect()
}

/// The events from the first one later than `lowest` up to `end`, sorted by their clocks.
fn sort(source: &Source<'_>, layer: Layer, from: u64, lowest: u64, end: u64) -> Option<Edit> {
    let mut walk = Walk::new(source, from);
    let mut start = None;
    let mut events: Vec<(u64, u64, u64)> = Vec::new();
    while walk.at() < end {
        let Step::Event(event) = walk.step() else { return None };
        if event.end() > end || !layout::printable(event.code) {
            // Damage, which goes first.
            return None;
        }
        if start.is_none() && event.clock > lowest {
            start = Some(event.at);
        }
        if let Some(start) = start {
            if end.saturating_sub(start) > SORTED_MAX {
                return None;
            }
            events.push((event.clock, event.at, event.end()));
        }
    }
    let start = start?;
    if events.is_sorted() {
        return None;
    }
    events.sort_unstable();
    let mut sorted = Vec::new();
    for (_, at, end) in events {
        sorted.extend_from_slice(&source.read(at, end));
    }
    Some(Edit::replace(Span::new(layer, start, end), sorted))
}
