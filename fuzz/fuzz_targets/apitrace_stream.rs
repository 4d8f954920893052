#![no_main]
use tracemend_tests::properties::{apitrace, targets};
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::must(apitrace::stream(bytes)));
