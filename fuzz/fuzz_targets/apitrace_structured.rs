#![no_main]

tracemend_fuzz::target!("apitrace_structured");
