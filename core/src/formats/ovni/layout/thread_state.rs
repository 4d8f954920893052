//! The state machine of a thread.
//!
//! ```text
//!  unknown -OHx-> running -OHc-> cooling        running, cooling -OHp-> paused -OHw-> warming
//!  running, cooling -OHe-> dead -OHx-> running  paused, warming -OHr-> running
//! ```
//!
//! Source: ovni 1.14.0, src/emu/thread.c and src/emu/ovni/event.c.

/// State of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadState {
    /// Before OHx.
    #[default]
    Unknown,
    /// Runs.
    Running,
    /// Runs and is about to pause.
    Cooling,
    /// Does not run.
    Paused,
    /// Does not run yet and is about to.
    Warming,
    /// After OHe.
    Dead,
}

/// A step of the state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadStep {
    /// OHx.
    Execute,
    /// OHe.
    End,
    /// OHp.
    Pause,
    /// OHr.
    Resume,
    /// OHc.
    Cool,
    /// OHw.
    Warm,
}

impl ThreadState {
    /// Bits of all states.
    pub const ANY: u8 = 0b11_1111;
    /// Bits of the states running, cooling and warming.
    pub const ACTIVE: u8 = 0b01_0110;
    /// Bit of the state running.
    pub const RUNNING: u8 = 0b00_0010;

    /// Returns the bit of the state in [`EventSummary::states`](super::EventSummary::states).
    #[inline]
    pub const fn bit(self) -> u8 {
        match self {
            Self::Unknown => 1,
            Self::Running => 1 << 1,
            Self::Cooling => 1 << 2,
            Self::Paused => 1 << 3,
            Self::Warming => 1 << 4,
            Self::Dead => 1 << 5,
        }
    }

    /// Whether the thread is running, cooling or warming.
    #[inline]
    pub const fn is_active(self) -> bool {
        self.bit() & Self::ACTIVE != 0
    }

    /// Whether the emulator accepts `step` in this state.
    pub const fn allows(self, step: ThreadStep) -> bool {
        match step {
            ThreadStep::Execute => matches!(self, Self::Unknown | Self::Dead),
            ThreadStep::End | ThreadStep::Pause => matches!(self, Self::Running | Self::Cooling),
            ThreadStep::Resume => matches!(self, Self::Paused | Self::Warming),
            ThreadStep::Cool => matches!(self, Self::Running),
            ThreadStep::Warm => matches!(self, Self::Paused),
        }
    }

    /// Returns the fewest steps after which `step` is possible; `None` if the thread has to start
    /// or end a second time for it.
    pub const fn steps_before(self, step: ThreadStep) -> Option<&'static [ThreadStep]> {
        use ThreadStep::{Cool, End, Execute, Pause, Resume, Warm};
        Some(match (self, step) {
            (_, Execute) | (Self::Dead, End) | (Self::Warming, Warm) => return None,
            (Self::Unknown | Self::Dead, Resume | Warm) => &[Execute, Pause],
            (Self::Unknown | Self::Dead, _) => &[Execute],
            (Self::Running | Self::Cooling, Resume | Warm) => &[Pause],
            (Self::Cooling, Cool) => &[Pause, Resume],
            (Self::Paused | Self::Warming, End | Pause | Cool) => &[Resume],
            _ => &[],
        })
    }

    /// Returns the fewest steps after which the thread runs, or is active if that is enough.
    pub const fn steps_to_run(self, needs_running: bool) -> &'static [ThreadStep] {
        use ThreadStep::{Execute, Pause, Resume};
        match self {
            Self::Unknown | Self::Dead => &[Execute],
            Self::Paused => &[Resume],
            Self::Warming if needs_running => &[Resume],
            Self::Cooling if needs_running => &[Pause, Resume],
            _ => &[],
        }
    }

    /// Returns the state in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "not started",
            Self::Running => "running",
            Self::Cooling => "cooling",
            Self::Paused => "paused",
            Self::Warming => "warming",
            Self::Dead => "dead",
        }
    }
}

impl ThreadStep {
    /// Returns the value of its event: the third character.
    pub const fn value(self) -> u8 {
        match self {
            Self::Execute => b'x',
            Self::End => b'e',
            Self::Pause => b'p',
            Self::Resume => b'r',
            Self::Cool => b'c',
            Self::Warm => b'w',
        }
    }

    /// Returns the state after the step.
    pub const fn next_state(self) -> ThreadState {
        match self {
            Self::Execute | Self::Resume => ThreadState::Running,
            Self::End => ThreadState::Dead,
            Self::Pause => ThreadState::Paused,
            Self::Cool => ThreadState::Cooling,
            Self::Warm => ThreadState::Warming,
        }
    }

    /// Returns the states in which the emulator accepts the step, in messages.
    pub const fn expected_states(self) -> &'static str {
        match self {
            Self::Execute => "not started",
            Self::End | Self::Pause => "running or cooling",
            Self::Resume => "paused or warming",
            Self::Cool => "running",
            Self::Warm => "paused",
        }
    }
}
