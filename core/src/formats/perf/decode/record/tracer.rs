//! The words of AUXTRACE_INFO that name other parts of the recording: the PMU and the CPUs.

use super::aux::tracer_type;
use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::layout::tracers::{ARM_SPE, BTS, CORESIGHT, PT, SPE};
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::row::row_size;
use crate::kit::span::Span;

/// Words of Intel PT between the multiplier and the ratio.
const RATIO_AFTER: u64 = 12;
/// Nanoseconds of a second.
const GIGAHERTZ: u64 = 1_000_000_000;
/// The lowest frequency of which perf makes a ratio above 0.
const LEAST_HERTZ: u64 = 50_000_000;

/// The words of a tracer that name other parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracerInfo {
    /// `type`.
    pub kind: u32,
    /// The record.
    pub span: Span,
    /// The type of the PMU, and its field of 4 or 8 bytes.
    pub pmu: Option<(u64, Span)>,
    /// The CPUs of CoreSight, and their fields.
    pub cpus: Vec<(u64, Span)>,
    /// The clock of Intel PT.
    pub clock: Option<PtClock>,
}

/// The clock of Intel PT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtClock {
    /// The shift and the multiplier, as in TIME_CONV, and their fields.
    pub words: [u64; 2],
    /// Their bytes.
    pub span: Span,
    /// The ratio of the clock of the processor, or 0.
    pub ratio: u64,
}

impl PtClock {
    /// Whether perf divides by 0: it takes the ratio from the frequency if there is none, which is
    /// 0 below 50 MHz.
    pub fn is_zero(&self) -> bool {
        let [shift, mult] = self.words;
        let (shift, mult) = (u32::try_from(shift & 63).unwrap_or(0), mult & 0xffff_ffff);
        let parts = GIGAHERTZ.checked_div(mult).zip(GIGAHERTZ.checked_rem(mult));
        let ticks = parts.and_then(|(whole, rest)| {
            let rest = rest.wrapping_shl(shift).checked_div(mult)?;
            Some(whole.wrapping_shl(shift).wrapping_add(rest))
        });
        self.ratio == 0 && ticks.is_some_and(|ticks| ticks < LEAST_HERTZ)
    }
}

impl TracerInfo {
    /// Reads the words; `None` if the record has no type.
    pub fn read(record: &RecordView<'_>, order: Order) -> Option<Self> {
        let kind = tracer_type(record, order)?;
        let mut info = Self { kind, span: record.span(), pmu: None, cpus: Vec::new(), clock: None };
        // The check of the record reports words that are missing.
        _ = info.read_words(record.cursor(order), order);
        Some(info)
    }

    fn read_words(&mut self, mut words: Cursor<'_>, order: Order) -> Result<(), ReadError> {
        words.skip(1, 8, "auxtrace_info.type")?;
        match self.kind {
            PT => {
                self.read_pmu(&mut words)?;
                self.read_clock(&mut words)
            }
            BTS => self.read_pmu(&mut words),
            SPE => {
                let before = if words.left() >> 3 == row_size(ARM_SPE) >> 3 { 0 } else { 2 };
                words.skip(before, 8, "auxtrace_info.priv")?;
                self.read_pmu(&mut words)
            }
            CORESIGHT => self.read_coresight(&mut words, order),
            _ => Ok(()),
        }
    }

    fn read_pmu(&mut self, words: &mut Cursor<'_>) -> Result<(), ReadError> {
        let start = words.position();
        self.pmu = Some((words.u64("auxtrace_info.pmu_type")?, words.since(start)));
        Ok(())
    }

    fn read_clock(&mut self, words: &mut Cursor<'_>) -> Result<(), ReadError> {
        let start = words.position();
        let shift = words.u64("auxtrace_info.time_shift")?;
        let mult = words.u64("auxtrace_info.time_mult")?;
        let span = words.since(start);
        words.skip(RATIO_AFTER, 8, "auxtrace_info.priv")?;
        let ratio = words.u64("auxtrace_info.max_non_turbo_ratio")?;
        self.clock = Some(PtClock { words: [shift, mult], span, ratio });
        Ok(())
    }

    fn read_coresight(&mut self, words: &mut Cursor<'_>, order: Order) -> Result<(), ReadError> {
        let version = words.u64("auxtrace_info.version")?;
        let start = words.position();
        let value = words.u64("auxtrace_info.cpus")?;
        let at = match order {
            Order::Little => start.saturating_add(4),
            Order::Big => start,
        };
        self.pmu = Some((value >> 32, Span::sized(words.since(start).layer, at, 4)));
        words.skip(1, 8, "auxtrace_info.snapshot")?;
        // Before version 1, the words of a CPU do not tell their number.
        while version > 0 && !words.is_empty() {
            words.skip(1, 8, "auxtrace_info.magic")?;
            let start = words.position();
            self.cpus.push((words.u64("auxtrace_info.cpu")?, words.since(start)));
            let parameters = words.u64("auxtrace_info.parameters")?;
            words.skip(parameters, 8, "auxtrace_info.parameters")?;
        }
        Ok(())
    }
}
