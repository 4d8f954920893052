#![no_main]
use tracemend_tests::{known_originals, properties::targets};
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::must(known_originals::labels_are_true(bytes)));
