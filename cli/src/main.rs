//! The program `tracemend`: everything is in [`tracemend_cli::run`].

use std::process::ExitCode;

fn main() -> ExitCode {
    tracemend_cli::with_process(|streams| tracemend_cli::run(std::env::args_os(), streams))
}
