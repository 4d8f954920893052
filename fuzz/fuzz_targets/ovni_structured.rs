#![no_main]

tracemend_fuzz::target!("ovni_structured");
