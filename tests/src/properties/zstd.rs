//! Laws of the zstd expander that hold for any bytes.

use tracemend::Limits;
use tracemend::kit::expand::zstd::{ExpandError, Expander};

use super::{Held, ensure, observed, pieces};

/// Expanded bytes after which a test ends: four stored bytes can expand to 128 KiB.
const ENOUGH: usize = 8 << 20;

/// The expansion of a stream.
#[derive(Debug, PartialEq, Eq)]
struct Expanded {
    /// Number of bytes in the blocks, as the expander counts them.
    counted: u64,
    /// The first fault and its position in the stream.
    fault: Option<(ExpandError, u64)>,
    /// Bytes of an incomplete unit at the end, if there is no fault.
    pending: u64,
    bytes: Vec<u8>,
}

/// Tests that a stream expands to the same bytes and the same fault wherever it is cut, that only
/// counted bytes are taken, and that every call makes progress.
pub fn expanded(stream: &[u8]) -> Held {
    let whole = expand(&[stream])?;
    let apart = expand(&pieces(stream))?;
    let singly: Vec<&[u8]> = stream.chunks(1).collect();
    let singly = expand(&singly)?;
    observed::note_debug(&(whole.counted, &whole.fault, whole.pending));
    observed::note(&whole.bytes);
    for other in [apart, singly] {
        if whole.bytes.len() >= ENOUGH || other.bytes.len() >= ENOUGH {
            let len = whole.bytes.len().min(other.bytes.len());
            ensure(whole.bytes[..len] == other.bytes[..len], PIECES, || format!("in {len} bytes"))?;
        } else {
            ensure(whole == other, PIECES, || format!("{}\n{}", brief(&whole), brief(&other)))?;
        }
    }
    Ok(())
}

const PIECES: &str = "a stream in pieces expands to the same bytes";

fn expand(pieces: &[&[u8]]) -> Result<Expanded, super::Broken> {
    let mut expander = Expander::new(Limits::default().of(&tracemend::limits::ZSTD_WINDOW));
    let mut out = Expanded { counted: 0, fault: None, pending: 0, bytes: Vec::new() };
    let mut fed_bytes = 0_u64;
    'stream: for piece in pieces {
        let mut rest = *piece;
        while !rest.is_empty() && out.bytes.len() < ENOUGH {
            let fed = match expander.feed(rest) {
                Ok(fed) => fed,
                Err(fault) => {
                    out.counted += fault.good.expanded;
                    let at = match fault.good.stored {
                        0 => fed_bytes - expander.pending(),
                        good => fed_bytes + good as u64,
                    };
                    out.fault = Some((fault.error, at));
                    break 'stream;
                }
            };
            out.counted += fed.expanded;
            fed_bytes += fed.stored as u64;
            rest = &rest[fed.stored..];
            let taken = expander.take(&mut out.bytes, usize::MAX);
            ensure(taken > 0 || fed.stored > 0, "every call makes progress", || {
                format!("{} bytes are left", rest.len())
            })?;
        }
    }
    if out.fault.is_none() {
        out.pending = expander.pending();
    }
    expander.finish();
    expander.take(&mut out.bytes, usize::MAX);
    ensure(out.bytes.len() as u64 == out.counted, "what is counted can be taken", || brief(&out))?;
    Ok(out)
}

fn brief(expanded: &Expanded) -> String {
    let Expanded { counted, fault, pending, bytes } = expanded;
    format!("{} bytes, {counted} counted, {pending} pending, {fault:?}", bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_with_raw_and_repeated_blocks_hold() {
        let mut stream = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x48];
        stream.extend([5 << 3, 0, 0]);
        stream.extend(b"forge");
        stream.extend([0x02, 0x00, 0x10, b'x']); // a byte 131072 times
        stream.extend([0x03, 0x00, 0x00, b'y', 0, 0, 0]);
        for len in 0..=stream.len() {
            expanded(&stream[..len]).unwrap();
            let mut flipped = stream.clone();
            if let Some(byte) = flipped.get_mut(len) {
                *byte ^= 0xff;
            }
            expanded(&flipped).unwrap();
        }
    }
}
