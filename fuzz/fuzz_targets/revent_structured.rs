#![no_main]

tracemend_fuzz::target!("revent_structured");
