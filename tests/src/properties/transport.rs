//! Ways to a reader: any bytes are unwrapped within their limits, and conversions are made again.

use tracemend::kit::num::to_u64;
use tracemend::kit::source::Source;
use tracemend::transport::{Memory, arrive, convert};
use tracemend::{FileSet, Options, limits};

use super::{Held, ensure};

/// Bytes of a recording that is unwrapped: more would let a fuzzer spend its time in one input.
const UNPACKED: u64 = 1 << 20;

/// Tests the ways of one file.
pub fn of_bytes(bytes: &[u8]) -> Held {
    let mut options = Options::default();
    options.limits.set(&limits::UNPACKED, UNPACKED);
    let stored = FileSet::single("recording", bytes);
    let Ok(Some(arrived)) = arrive(&stored, &options, &Memory) else { return Ok(()) };
    let recording = arrived.view(&stored);
    let steps = to_u64(arrived.undone.len());
    let most = options.limits.of(&limits::TRANSPORTS);
    ensure((1..=most).contains(&steps), "ways are as many as the limit allows", || {
        steps.to_string()
    })?;
    ensure(
        recording.len() <= UNPACKED,
        "a recording has as many bytes as the limit allows",
        || recording.len().to_string(),
    )?;
    let report = tracemend::check(&recording, &options);
    let named = report.findings().iter().filter(|finding| finding.rule.code.starts_with("TR00"));
    ensure(to_u64(named.count()) == steps, "each way is a finding", || format!("{report:#?}"))?;
    let [step] = arrived.undone.as_slice() else { return Ok(()) };
    let mut again = Vec::new();
    let source = Source::new(&[]);
    let source = recording.files().first().map_or(source, |file| file.bytes.clone());
    let is_made = convert(step.wrapper, &source, &mut again).unwrap_or(false);
    ensure(!is_made || again == bytes, "a conversion gives the same file again", || {
        format!("{}: {again:x?}", step.wrapper.name())
    })
}
