//! What every fuzz target needs: the allocator that counts, and its property by name.
//!
//! The properties are in `tests/src/properties/`; memory is one of them in every target.

pub use libfuzzer_sys::fuzz_target;
pub use tracemend_tests::properties::targets::run;

use tracemend_tests::properties::allocation::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Makes the program of a target.
#[macro_export]
macro_rules! target {
    ($name:literal) => {
        $crate::fuzz_target!(|bytes: &[u8]| $crate::run($name, bytes));
    };
}
