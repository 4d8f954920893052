//! mdbook, which builds the book.

use std::path::Path;
use std::process::Command;

use super::Judge;

/// The judge of the book's sources.
pub static JUDGE: Judge = Judge {
    name: "mdbook",
    install: "cargo install mdbook --locked --no-default-features --features search",
    probe: || {
        let output = Command::new("mdbook").arg("--version").output();
        let output = output.map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
    },
};

/// Builds the book in `folder`.
///
/// # Errors
///
/// The complaint of mdbook; it writes warnings about broken pages there, too.
pub fn build(folder: &Path) -> Result<(), String> {
    let output = Command::new("mdbook").arg("build").arg(folder).output();
    let output = output.map_err(|error| error.to_string())?;
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_sound = output.status.success() && !complaint.contains("WARN");
    if is_sound { Ok(()) } else { Err(complaint) }
}
