//! Chromium without a window, which opens the pages that the command line writes.

use std::path::Path;
use std::process::Command;

use super::Judge;

/// The judge of pages.
pub static JUDGE: Judge = Judge {
    name: "chromium",
    install: "install chromium",
    probe: || {
        let output = Command::new("chromium").arg("--version").output();
        let output = output.map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_string();
        if output.status.success() { Ok(text) } else { Err("it does not start".to_string()) }
    },
};

/// A page as the browser has it.
#[derive(Debug)]
pub struct Opened {
    /// The document after it was loaded, as HTML.
    pub document: String,
    /// Lines of the console: errors of scripts and violations of the policy.
    pub console: Vec<String>,
}

/// The options of every run. `folder` takes the profile; as root, the browser has no sandbox.
fn command(folder: &Path) -> Command {
    let mut command = Command::new("chromium");
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"]);
    command.args(["--no-first-run", "--disable-background-networking", "--disable-sync"]);
    command.args(["--disable-component-update", "--enable-logging=stderr", "--hide-scrollbars"]);
    command.arg("--timeout=20000");
    command.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    command
}

/// Opens a page, `target` of it (`#ID` or nothing) in view.
///
/// # Errors
///
/// The complaint of the browser.
pub fn open(folder: &Path, page: &Path, target: &str) -> Result<Opened, String> {
    let mut command = command(folder);
    let address = format!("file://{}{target}", page.display());
    let output = command.arg("--dump-dom").arg(address).output();
    let output = output.map_err(|error| error.to_string())?;
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(log);
    }
    let console = log.lines().filter(|line| line.contains("CONSOLE")).map(String::from).collect();
    Ok(Opened { document: String::from_utf8_lossy(&output.stdout).into_owned(), console })
}

/// Writes a picture of a page, `size` pixels wide and high, on light or on dark ground.
///
/// # Errors
///
/// The complaint of the browser.
pub fn draw(
    folder: &Path,
    page: &Path,
    picture: &Path,
    size: (u32, u32),
    is_dark: bool,
) -> Result<(), String> {
    let mut command = command(folder);
    let scheme = if is_dark { 0 } else { 1 };
    command.arg(format!("--blink-settings=preferredColorScheme={scheme}"));
    command.arg(format!("--window-size={},{}", size.0, size.1));
    command.arg(format!("--screenshot={}", picture.display()));
    let output = command.arg(format!("file://{}", page.display())).output();
    let output = output.map_err(|error| error.to_string())?;
    match output.status.success() && picture.exists() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}
