//! Builds the programs that are compared.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Builds the program of a commit in a work tree below `target`, which is kept for the next time.
pub(super) fn build_commit(commit: &str) -> Result<PathBuf, Box<dyn Error>> {
    let mut git = Command::new("git");
    git.args(["rev-parse", "--verify", &format!("{commit}^{{commit}}")]).current_dir(root());
    let output = git.output()?;
    if !output.status.success() {
        return Err(format!("{commit} is neither a commit nor a program").into());
    }
    let hash = String::from_utf8(output.stdout)?.trim().to_string();
    let tree = root().canonicalize()?.join("target/compare").join(&hash);
    if !tree.join("Cargo.toml").is_file() {
        let mut git = Command::new("git");
        git.args(["worktree", "add", "--force", "--detach"]).arg(&tree).arg(&hash);
        succeed(git.current_dir(root()))?;
    }
    build(&tree)
}

/// Builds the program of this tree.
pub(crate) fn build_this() -> Result<PathBuf, Box<dyn Error>> {
    build(&root().canonicalize()?)
}

fn build(tree: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--package", "tracemend-cli"]).current_dir(tree);
    succeed(cargo.env("CARGO_TARGET_DIR", tree.join("target")))?;
    Ok(tree.join("target/release/tracemend"))
}

fn succeed(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}").into()) }
}
