//! kubernetes-validate, which has the schemas of the Kubernetes API.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Judge;

/// The judge of the manifest.
pub static JUDGE: Judge = Judge {
    name: "kubernetes",
    install: "pip install kubernetes-validate; TRACEMEND_KUBERNETES names it outside the PATH",
    probe: || {
        let output = Command::new(program()).arg("--version").output();
        let output = output.map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
    },
};

fn program() -> PathBuf {
    let named = std::env::var_os("TRACEMEND_KUBERNETES").map(PathBuf::from);
    named.unwrap_or_else(|| PathBuf::from("kubernetes-validate"))
}

/// Validates a manifest; fields that the API does not have are errors.
///
/// # Errors
///
/// The complaint.
pub fn validate(manifest: &Path) -> Result<(), String> {
    let output = Command::new(program()).arg("--strict").arg(manifest).output();
    let output = output.map_err(|error| error.to_string())?;
    let complaint = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() { Ok(()) } else { Err(complaint) }
}
