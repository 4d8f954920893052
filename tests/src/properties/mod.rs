//! Laws that hold for any bytes, as plain functions.
//!
//! ```text
//!  cargo test   forge and corpus, cut at every byte, every byte flipped ---+
//!                                                                          +--> properties
//!  cargo fuzz   inputs of libFuzzer (fuzz/README.md) ------------+
//! ```
//!
//! - [`recording`]: check, tiles and repair of a recording. [`allocation`]: memory of a check.
//!   [`work`]: its steps.
//! - [`patch`]: the algebra of patches, and plans. [`zstd`]: the expander.
//! - [`mod@perf`]: damaged perf.data against its original, and perf as the judge.
//! - [`archive`]: a directory of files as one input.
//! - [`donor`]: a repair with a donor.
//! - [`structured`]: recordings from a description, sound until the description damages them.
//! - [`ovni`]: known originals of ovni traces.
//! - [`views`]: dump, map, redaction and rendered findings. [`texts`]: the texts that are read.
//! - [`transport`]: ways to a reader.
//! - [`targets`]: the laws of each fuzz target. [`observed`]: all that one sees.

pub mod allocation;
pub mod apitrace;
pub mod archive;
pub mod donor;
pub mod observed;
pub mod ovni;
pub mod patch;
pub mod perf;
pub mod qemu;
pub mod recording;
pub mod revent;
pub mod structured;
pub mod targets;
pub mod texts;
pub mod transport;
pub mod views;
pub mod work;
pub mod zstd;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A property that an input breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The law.
    pub law: &'static str,
    /// The observation that breaks it.
    pub detail: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.law, self.detail)
    }
}

impl std::error::Error for Broken {}

/// The result of a test of a property.
pub type Held = Result<(), Broken>;

/// Returns an error with `law` and `detail` unless `holds`.
pub fn ensure(holds: bool, law: &'static str, detail: impl FnOnce() -> String) -> Held {
    if holds { Ok(()) } else { Err(Broken { law, detail: detail() }) }
}

/// Runs `property`; a panic breaks it as well.
pub fn guarded(property: impl FnOnce() -> Held) -> Held {
    catch_unwind(AssertUnwindSafe(property)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let detail = text.unwrap_or("a panic without a message").to_string();
        Err(Broken { law: "nothing panics", detail })
    })
}

/// Cuts `bytes` into pieces. The cuts depend on the bytes alone, so a failure recurs; for some
/// inputs every piece is a single byte, for others there is only one piece.
pub fn pieces(bytes: &[u8]) -> Vec<&[u8]> {
    let mut state = seed(bytes);
    let longest = 1_u64 << (state >> 32 & 15);
    let mut rest = bytes;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        // Knuth's MMIX generator.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let len = (1 + (state >> 33) % longest).min(rest.len() as u64);
        let (piece, after) = rest.split_at(len as usize);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Returns a number that depends on the bytes: FNV-1a, over the beginning and the end of long ones.
pub fn seed(bytes: &[u8]) -> u64 {
    let end = bytes.len().saturating_sub(512);
    let sampled = bytes.iter().take(512).chain(&bytes[end..]);
    let hash = |state: u64, byte: &u8| (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    sampled.fold(0xcbf2_9ce4_8422_2325 ^ bytes.len() as u64, hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_bytes_and_recur() {
        let bytes: Vec<u8> = (0..=255).cycle().take(3000).collect();
        for len in 0..bytes.len() {
            let cut = &bytes[..len];
            assert_eq!(pieces(cut).concat(), cut);
            assert_eq!(pieces(cut), pieces(cut));
        }
    }

    #[test]
    fn a_panic_breaks_a_guarded_property() {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let held = guarded(|| panic!("no {}", "end"));
        std::panic::set_hook(hook);
        assert_eq!(held.unwrap_err().to_string(), "nothing panics: no end");
    }
}
