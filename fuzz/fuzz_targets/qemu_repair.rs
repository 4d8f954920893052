#![no_main]
use tracemend_tests::properties::{allocation::Counting, targets};
#[global_allocator]
static ALLOCATOR: Counting = Counting;
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::must(targets::qemu_repair(bytes)));
