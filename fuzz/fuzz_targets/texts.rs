#![no_main]

tracemend_fuzz::target!("texts");
