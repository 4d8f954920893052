//! xmllint, which validates XML by a schema.

use std::path::Path;
use std::process::Command;

use super::Judge;

/// The judge of reports in XML.
pub static JUDGE: Judge = Judge {
    name: "xmllint",
    install: "install libxml2-utils",
    probe: || {
        let output = Command::new("xmllint").arg("--version").output();
        let output = output.map_err(|error| error.to_string())?;
        // The version goes to standard error.
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let first = text.lines().next().unwrap_or_default();
        if output.status.success() { Ok(first.to_string()) } else { Err(text) }
    },
};

/// Validates a document by a schema.
///
/// # Errors
///
/// The complaint of xmllint.
pub fn validate(schema: &Path, document: &Path) -> Result<(), String> {
    let mut command = Command::new("xmllint");
    command.args(["--noout", "--nonet", "--schema"]).arg(schema).arg(document);
    let output = command.output().map_err(|error| error.to_string())?;
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(complaint) }
}
