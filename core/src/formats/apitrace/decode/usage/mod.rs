//! How calls use their functions, as far as that shows damage without an implementation of GL.
//!
//! - `shapes`: the arguments that the events of a function have
//! - `primitives`: calls between glBegin and glEnd
//! - `results`: results that apitrace converts
//! - `uploads`: sizes of blobs against the arguments beside them
//!
//! Measured on 188 sound traces: all events of a function have the same arguments, apart from 9 of
//! 6,050,000 in a file that was rewritten by another program; none of 156,797 pairs of glBegin and
//! glEnd is broken; and the 348 blobs whose size follows from other arguments have that size.

pub mod primitives;
pub mod results;
pub mod shapes;
pub mod uploads;

use super::repeats::FirstUse;
use primitives::Primitives;
use results::Results;
use shapes::Shapes;
use uploads::Uploads;

/// Ids of functions above this are not looked at: the highest of any tracer is 3,427.
const ID_MAX: u64 = 1 << 12;
/// Calls of a kind that are reported.
const REPORTED_MAX: usize = 1 << 10;

/// How calls use their functions.
#[derive(Debug, Default)]
pub struct Usage {
    /// The arguments of events.
    pub shapes: Shapes,
    /// Calls between glBegin and glEnd.
    pub primitives: Primitives,
    /// Sizes of blobs.
    pub uploads: Uploads,
    /// Results that apitrace converts.
    pub results: Results,
    /// Arguments out of order that were reported.
    disorders: usize,
}

/// A call that uses its function as no sound call does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misuse {
    /// The call.
    pub at: FirstUse,
    /// The sentence about it.
    pub message: String,
}

/// Adds a call unless there are too many.
fn push_misuse(found: &mut Vec<Misuse>, at: FirstUse, message: impl FnOnce() -> String) {
    if found.len() < REPORTED_MAX {
        found.push(Misuse { at, message: message() });
    }
}

impl Usage {
    /// Whether one more argument out of order is reported.
    pub fn add_disorder(&mut self) -> bool {
        self.disorders = self.disorders.saturating_add(1);
        self.disorders <= REPORTED_MAX
    }

    /// Adds the definition of a function, as it is stored after its id.
    pub fn add_function(&mut self, id: u64, raw: &[u8]) {
        if let Some(signature) = Signature::parse(raw).filter(|_| id <= ID_MAX) {
            self.shapes.add_function(id, &signature);
            self.primitives.add_function(id, signature.name);
            self.uploads.add_function(id, &signature);
            self.results.add_function(id, signature.name);
        }
    }
}

/// The names of a function and its first arguments.
struct Signature<'a> {
    name: &'a [u8],
    arguments: Vec<&'a [u8]>,
}

impl<'a> Signature<'a> {
    /// Reads a definition with short names, as all are that are looked for.
    fn parse(raw: &'a [u8]) -> Option<Self> {
        /// Arguments of the function with the most that is looked for.
        const ARGUMENTS_MAX: u8 = 16;
        let mut rest = raw;
        let name = take_name(&mut rest)?;
        let count = *rest.split_off_first()?;
        let names = (0..count.min(ARGUMENTS_MAX)).map_while(|_| take_name(&mut rest));
        Some(Self { name, arguments: names.collect() })
    }

    /// Returns the index of the argument with this name.
    fn find(&self, name: &str) -> Option<usize> {
        self.arguments.iter().position(|argument| *argument == name.as_bytes())
    }
}

fn take_name<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = *rest.split_off_first().filter(|len| **len < 0x80)?;
    rest.split_off(..usize::from(len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_names_its_arguments_and_a_torn_one_those_that_are_there() {
        let raw = b"\x08glBufferX\x02";
        assert!(Signature::parse(b"\x09glX").is_none());
        assert!(Signature::parse(raw).is_some());
        let signature = Signature::parse(b"\x06memcpy\x03\x04dest\x03src\x01n").unwrap();
        assert_eq!((signature.name, signature.find("n")), (b"memcpy".as_slice(), Some(2)));
        assert_eq!(signature.find("size"), None);
        assert_eq!(Signature::parse(b"\x01f\x03\x01a\x09b").unwrap().arguments.len(), 1);
    }

    #[test]
    fn calls_are_reported_up_to_a_limit() {
        let at = FirstUse { call: 1, argument: None, at: 0, end: 1 };
        let mut found = Vec::new();
        for _ in 0..2 * REPORTED_MAX {
            push_misuse(&mut found, at, String::new);
        }
        assert_eq!(found.len(), REPORTED_MAX);
        let mut usage = Usage::default();
        let reported = (0..2 * REPORTED_MAX).filter(|_| usage.add_disorder());
        assert_eq!(reported.count(), REPORTED_MAX);
    }
}
