//! The words of AUXTRACE_INFO that name other parts of the recording: the PMU and the CPUs.

use super::aux::tracer_type;
use super::auxtrace::{BTS, CORESIGHT, PT, SPE};
use crate::formats::perf::decode::frame::RecordView;
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::span::Span;

/// Words of Arm SPE before version 2.
const SPE_WORDS: u64 = 2;

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
}

impl TracerInfo {
    /// Reads the words; `None` if the record has no type.
    pub fn read(record: &RecordView<'_>, order: Order) -> Option<Self> {
        let kind = tracer_type(record, order)?;
        let mut info = Self { kind, span: record.span(), pmu: None, cpus: Vec::new() };
        // The check of the record reports words that are missing.
        _ = info.read_words(record.cursor(order), order);
        Some(info)
    }

    fn read_words(&mut self, mut words: Cursor<'_>, order: Order) -> Result<(), ReadError> {
        words.skip(1, 8, "auxtrace_info.type")?;
        match self.kind {
            PT | BTS => self.read_pmu(&mut words),
            SPE => {
                let before = if words.left() >> 3 == SPE_WORDS { 0 } else { 2 };
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
