#![no_main]

tracemend_fuzz::target!("transport");
