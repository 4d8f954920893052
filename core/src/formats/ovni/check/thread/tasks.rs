//! What an event does: types, tasks and their bodies, worksharings, marks and counters.

use super::*;

impl Machine<'_, '_> {
    pub(super) fn mark(&mut self, event: &Event<'_>, step: MarkStep, shared: &Shared) {
        let (value, kind) = (field_i64(event, 0), field_i32(event, 8));
        if value == 0 {
            let message = format!("{} gives mark {kind} the value 0", name(event));
            self.report(&rules::BAD_ARGUMENT, event, "value", message);
        }
        let stack = step != MarkStep::Set;
        match shared.marks.get(&kind) {
            None if shared.known => {
                let place = self.place(event);
                if self.undefined_marks.len() < KINDS_MAX {
                    self.undefined_marks.entry(kind).or_insert(MarkUse { place, stack });
                }
            }
            Some(defined) if *defined != stack => {
                let defined = if *defined { "a stack" } else { "single" };
                let message = format!("{} is about mark {kind}, which is {defined}", name(event));
                self.report(&rules::MARK_KIND, event, "type", message);
                return;
            }
            _ => {}
        }
        if self.marks.len() >= KINDS_MAX && !self.marks.contains_key(&kind) {
            return;
        }
        let values = self.marks.entry(kind).or_default();
        let wrong = match step {
            MarkStep::Set => None,
            MarkStep::Push if values.len() >= STACK_MAX => {
                Some(format!("OM[ opens more than {STACK_MAX} values of mark {kind}"))
            }
            MarkStep::Push => {
                values.push(value);
                None
            }
            MarkStep::Pop if values.last() == Some(&value) => {
                values.pop();
                None
            }
            MarkStep::Pop => {
                let top = values.last().copied();
                if let Some(depth) = values.iter().rposition(|open| *open == value) {
                    values.truncate(depth);
                }
                Some(match top {
                    Some(top) => {
                        format!("OM] closes {value} of mark {kind}, the innermost is {top}")
                    }
                    None => format!("OM] closes {value} of mark {kind}, nothing is open"),
                })
            }
        };
        if let Some(message) = wrong {
            self.report(&rules::STACK_MISMATCH, event, "value", message);
        }
    }

    pub(super) fn define(&mut self, event: &Event<'_>, number: u8) {
        let Some(table) = task_model(number) else { return };
        let id = field_u32(event, 0);
        let label = event.body.get(4..).unwrap_or_default();
        let text = label.split(|byte| *byte == 0).next().unwrap_or_default();
        if id == 0 {
            let message = format!("{} defines type 0", name(event));
            self.report(&rules::BAD_ARGUMENT, event, "typeid", message);
        }
        if text.len() == label.len() && event.body_len() == to_u64(event.body.len()) {
            self.unterminated(event, label);
        }
        if text.len() >= LABEL_MAX {
            let message = format!("the label of type {id} has {} bytes", text.len());
            self.report(&rules::LABEL_TOO_LONG, event, "label", message);
        }
        // Labels are compared, not kept; without one the emulator makes one of the id.
        let hash = if text.is_empty() { u64::from(id) } else { hash(text) };
        self.cross(event, table, CrossKind::Type(id, hash));
    }

    #[cold]
    pub(super) fn unterminated(&mut self, event: &Event<'_>, label: &[u8]) {
        let message = format!("the label {:?} has no NUL at its end", Untrusted(label));
        let size = u32::try_from(event.body_len()).unwrap_or(u32::MAX).checked_add(1);
        let mut finding = self.finding(&rules::LABEL_UNTERMINATED, event, "label", message);
        if let Some(size) = size {
            let at = event.at.saturating_add(layout::EVENT_HEADER);
            let end = Span::sized(self.file, event.end(), 0);
            let edits = vec![
                Edit::replace(Span::sized(self.file, at, 4), size.to_le_bytes()),
                Edit::replace(end, [0]),
            ];
            finding = finding.fix(Fix::new(Safety::Synthetic, "adds the NUL", edits));
        }
        self.log.push(finding);
    }

    pub(super) fn create(&mut self, event: &Event<'_>, number: u8, parallel: bool) {
        let Some(table) = task_model(number) else { return };
        let (task, kind) = (field_u32(event, 0), field_u32(event, 4));
        if number == model::OPENMP && (task == 0 || kind == 0) {
            let message = format!("PPc creates task {task} with type {kind}, neither may be 0");
            self.report(&rules::BAD_ARGUMENT, event, "taskid", message);
        }
        self.cross(event, table, CrossKind::Create(task, kind, parallel));
    }

    pub(super) fn task(&mut self, event: &Event<'_>, number: u8, step: TaskStep) {
        let Some(table) = task_model(number) else { return };
        let task = field_u32(event, 0);
        // Bodies have ids in nosv alone; in other models a longer payload says nothing.
        let named = number == model::NOSV && event.body.len() >= 8;
        let body = if named { field_u32(event, 4) } else { 0 };
        if task == 0 {
            let message = format!("{} is about task 0", name(event));
            self.report(&rules::BAD_ARGUMENT, event, "taskid", message);
        }
        let this = Body { task, body, paused: false };
        let Some(bodies) = self.bodies.get_mut(table) else { return };
        let top = bodies.last().copied();
        let wrong = match step {
            TaskStep::Execute => {
                let nests = number == model::NOSV && top.is_some_and(|top| !top.paused);
                if bodies.len() < STACK_MAX {
                    bodies.push(this);
                }
                nests.then_some("begins over one that runs")
            }
            TaskStep::End if top == Some(this) => {
                bodies.pop();
                None
            }
            TaskStep::Pause if top == Some(this) => {
                if let Some(top) = bodies.last_mut() {
                    top.paused = true;
                }
                (body != 0).then_some("pauses, though it is one of a parallel task")
            }
            TaskStep::Resume if top == Some(Body { paused: true, ..this }) => {
                if let Some(top) = bodies.last_mut() {
                    top.paused = false;
                }
                None
            }
            _ => {
                let mine = |open: &Body| (open.task, open.body) == (task, body);
                let depth = bodies.iter().rposition(mine);
                if step == TaskStep::End {
                    if let Some(depth) = depth {
                        bodies.truncate(depth);
                    }
                } else if let Some(open) = depth.and_then(|depth| bodies.get_mut(depth)) {
                    open.paused = step == TaskStep::Pause;
                }
                Some(match (depth, step) {
                    (None, _) => "moves, but this thread does not run it",
                    (Some(depth), _) if depth.saturating_add(1) < bodies.len() => {
                        "moves, but another one is on top of it"
                    }
                    (_, TaskStep::Resume) => "resumes, but is not paused",
                    (_, TaskStep::Pause) => "pauses, but does not run",
                    _ => "ends, but does not run",
                })
            }
        };
        if let Some(wrong) = wrong {
            let message = format!("{}: task {task} {wrong}", name(event));
            self.report(&rules::TASK_STEP, event, "taskid", message);
        }
        let subsystem = match table {
            0 => Some(Stack::Nanos6Subsystem),
            1 => Some(Stack::NosvSubsystem),
            _ => None,
        };
        match (step, subsystem) {
            (TaskStep::Execute, _) => {
                match subsystem {
                    Some(stack) => self.push(event, stack, TASK_BODY),
                    None if self.labels.len() < STACK_MAX => self.labels.push(Label::Task(task)),
                    None => {}
                }
                self.cross(event, table, CrossKind::Execute(task, body));
            }
            (TaskStep::End, _) => {
                match subsystem {
                    Some(stack) => self.pop(event, stack, TASK_BODY),
                    None => self.pop_label(event, Label::Task(task)),
                }
                self.cross(event, table, CrossKind::End(task, body));
            }
            _ => {}
        }
    }

    pub(super) fn work(&mut self, event: &Event<'_>, number: u8, open: bool) {
        let Some(table) = task_model(number) else { return };
        let kind = field_u32(event, 0);
        if kind == 0 {
            let message = format!("{} is about type 0", name(event));
            self.report(&rules::BAD_ARGUMENT, event, "typeid", message);
        }
        self.cross(event, table, CrossKind::Work(kind));
        if !open {
            self.pop_label(event, Label::Work(kind));
        } else if self.labels.len() < STACK_MAX {
            self.labels.push(Label::Work(kind));
        }
    }

    /// Tasks and worksharings of OpenMP end in reverse order, but for those whose labels are the same:
    /// the emulator compares labels alone.
    pub(super) fn pop_label(&mut self, event: &Event<'_>, label: Label) {
        let Some(top) = self.labels.last().copied() else {
            let message = format!("{} ends a task or worksharing, and none is open", name(event));
            self.report(&rules::STACK_MISMATCH, event, "", message);
            return;
        };
        let depth = self.labels.iter().rposition(|open| *open == label);
        let last = self.labels.len().saturating_sub(1);
        self.labels.remove(depth.unwrap_or(last));
        if top != label {
            self.cross(event, 2, CrossKind::Same(top, label));
        }
    }

    pub(super) fn counters(&mut self, event: &Event<'_>, shared: &Shared) {
        let size = event.body_len();
        match shared.counters {
            None if shared.known => {
                let place = self.place(event);
                self.undefined_counters.get_or_insert((place, size / 8));
            }
            Some(count) if size != count.saturating_mul(8) => {
                let message = format!("VWC holds {size} bytes for {count} counters of 8 bytes");
                self.report(&rules::COUNTERS_SIZE, event, "size", message);
            }
            _ => {}
        }
    }
}

/// FNV-1a: labels are told apart by it, and only where two of them have to be the same.
fn hash(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
