//! How calls use their functions, as far as that shows damage without an implementation of GL.
//!
//! - `shape`: the arguments of one event
//! - `shapes`: the arguments that the events of a function have
//! - `results`: results that apitrace converts
//!
//! Measured on 188 sound traces: all events of a function have the same arguments, apart from 9 of
//! 6,050,000 in a file that was rewritten by another program.

pub mod results;
pub mod shape;
pub mod shapes;

use super::repeats::FirstUse;
use results::Results;
use shapes::Shapes;

/// Ids of functions above this are not looked at: the highest of any tracer is 3,427.
const ID_MAX: u64 = 1 << 12;
/// Calls of a kind that are reported.
const REPORTED_MAX: usize = 1 << 10;

/// How calls use their functions.
#[derive(Debug, Default)]
pub struct Usage {
    /// The arguments of events.
    pub shapes: Shapes,
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

impl Usage {
    /// Whether one more argument out of order is reported.
    pub fn add_disorder(&mut self) -> bool {
        self.disorders = self.disorders.saturating_add(1);
        self.disorders <= REPORTED_MAX
    }

    /// Adds the definition of a function, as it is stored after its id.
    pub fn add_function(&mut self, id: u64, raw: &[u8]) {
        if let Some((name, arguments)) = read_names(raw).filter(|_| id <= ID_MAX) {
            self.shapes.add_function(id, &arguments);
            self.results.add_function(id, name);
        }
    }
}

/// Returns the names of a function and of its first arguments, if the names are short.
fn read_names(raw: &[u8]) -> Option<(&[u8], Vec<&[u8]>)> {
    const ARGUMENTS_MAX: u8 = 16;
    let mut rest = raw;
    let name = take_name(&mut rest)?;
    let count = *rest.split_off_first()?;
    let arguments = (0..count.min(ARGUMENTS_MAX)).map_while(|_| take_name(&mut rest)).collect();
    Some((name, arguments))
}

fn take_name<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = *rest.split_off_first().filter(|len| **len < 0x80)?;
    rest.split_off(..usize::from(len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_names_its_arguments_and_a_torn_one_those_that_are_there() {
        assert!(read_names(b"\x09glX").is_none());
        let names: (&[u8], Vec<&[u8]>) = (b"memcpy", vec![b"dest", b"src", b"n"]);
        assert_eq!(read_names(b"\x06memcpy\x03\x04dest\x03src\x01n"), Some(names));
        assert_eq!(read_names(b"\x01f\x03\x01a\x09b").unwrap().1, [b"a".as_slice()]);
    }

    #[test]
    fn arguments_out_of_order_are_reported_up_to_a_limit() {
        let mut usage = Usage::default();
        let reported = (0..2 * REPORTED_MAX).filter(|_| usage.add_disorder());
        assert_eq!(reported.count(), REPORTED_MAX);
    }
}
