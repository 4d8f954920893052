#![no_main]
use tracemend_tests::properties::targets;
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::must(targets::ovni_json(bytes)));
