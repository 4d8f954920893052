#![no_main]

tracemend_fuzz::target!("qemu_repair");
