#![no_main]

tracemend_fuzz::target!("perf_damaged");
