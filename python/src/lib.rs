//! `tracemend._native`: the command line of tracemend, run inside the interpreter of Python.
//!
//! ```text
//!  run      the arguments of a command -> exit code, product, messages
//!  records  `dump --format jsonl`, read twice: shapes first, then batches of one kind
//!  shape    the type of a column, which holds every value that its records have
//!  column   the values of a batch -> the buffers of an Arrow array
//! ```
//!
//! The package around it (`tracemend/*.py`) makes objects and exceptions of what this module
//! returns. No function holds the lock of the interpreter while it reads a recording, and a panic
//! becomes an exception. The names of arguments, exit codes and JSON are those of the command line.

mod column;
mod records;
mod run;
mod shape;

use std::ffi::OsString;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Runs a command of the command line without the name of the program.
///
/// Returns its exit code, its product, and its messages.
#[pyfunction]
#[pyo3(name = "run")]
fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> (u8, Bound<'_, PyBytes>, String) {
    let mut product = Vec::new();
    let ended = py.detach(|| run::run(arguments, &mut product));
    (ended.exit, PyBytes::new(py, &product), ended.messages)
}

/// Is the program: runs it on the streams of the process, and ends the process with its exit code.
#[pyfunction]
#[pyo3(name = "main")]
fn run_program(py: Python<'_>, arguments: Vec<OsString>) {
    py.detach(|| {
        let mut code = 0;
        tracemend_cli::with_process(|streams| {
            code = tracemend_cli::run(arguments, streams);
            code
        });
        std::process::exit(code.into());
    });
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run_command, module)?)?;
    module.add_function(wrap_pyfunction!(run_program, module)?)?;
    module.add_class::<records::Records>()?;
    module.add_class::<records::Batch>()
}
