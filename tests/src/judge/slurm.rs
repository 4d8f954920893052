//! Slurm, started on this machine for one command by `.ci/with-slurm`.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Judge;

/// The judge of the example for job arrays.
pub static JUDGE: Judge = Judge {
    name: "slurm",
    install: "install slurm-wlm and munge, and run as root",
    probe: || {
        for daemon in ["slurmctld", "slurmd", "munged"] {
            let output = Command::new(daemon).arg("-V").output();
            output.map_err(|error| format!("{daemon}: {error}"))?;
        }
        // The daemons change to users of their own.
        let user = Command::new("id").arg("-u").output().map_err(|error| error.to_string())?;
        if user.stdout != b"0\n" {
            return Err("not root".to_string());
        }
        let output = Command::new("sinfo").arg("-V").output().map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
    },
};

/// The script that starts a cluster, runs the command after it and stops the cluster.
pub fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/with-slurm")
}
