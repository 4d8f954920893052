//! Measures peak private memory by the kernel's own limit: `RLIMIT_DATA` bounds the private
//! writable pages of a process (heap and anonymous maps, without the growth of stacks). The pages
//! of a mapped recording are not among them.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use crate::contender::CONTENDERS;
use crate::recording::{self, SHAPES};

/// Limits in bytes. The README promises the first; the others show the margin.
const LIMITS: [u64; 4] = [64 << 20, 16 << 20, 4 << 20, 2 << 20];

/// Checks a recording of each shape under each limit with `program check FILE`, or with this
/// program if `program` is `None`.
pub(crate) fn measure(bytes: u64, program: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let this = std::env::current_exe()?;
    let program = program.unwrap_or(&this);
    println!("| recording | file | --data | `{} check` |", program.display());
    println!("|---|---:|---:|---|");
    for shape in SHAPES {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("perf.data");
        let written = recording::write(&path, shape, bytes)?;
        for limit in LIMITS {
            let mut command = Command::new("prlimit");
            command.arg(format!("--data={limit}")).arg(program).arg("check").arg(&path);
            let output = command.output()?;
            let result = match output.status.code() {
                Some(0) => "clean".to_string(),
                _ => format!("{}", output.status),
            };
            println!(
                "| {} | {} MB | {} MiB | {result} |",
                shape.name,
                written.stored / crate::MB,
                limit >> 20
            );
        }
    }
    Ok(())
}

/// Checks one file and prints the memory of the process.
pub(crate) fn check(path: &Path) -> Result<(), Box<dyn Error>> {
    let records = (CONTENDERS[0].run)(path)?;
    println!("clean, {records} records");
    let status = std::fs::read_to_string("/proc/self/status")?;
    for line in
        status.lines().filter(|line| line.starts_with("RssAnon") || line.starts_with("VmData"))
    {
        println!("{line}");
    }
    Ok(())
}
