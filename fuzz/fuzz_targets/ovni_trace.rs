#![no_main]

tracemend_fuzz::target!("ovni_trace");
