//! The files of the tree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use crate::tidy::lexer::{self, Piece};
use crate::tidy::prose::{Passage, passages};

/// A text file of the tree.
pub(super) struct File {
    /// Path from the root, with `/`.
    pub(super) path: String,
    /// Content of the file.
    pub(super) content: String,
}

/// The tree that the tests look at.
pub(super) struct Tree {
    /// Root of the tree.
    pub(super) root: PathBuf,
    /// Paths of all files.
    pub(super) paths: Vec<String>,
    /// All files that are UTF-8 and not too long to be text.
    pub(super) files: Vec<File>,
}

/// The tree of this build, or the one that `TRACEMEND_TIDY_ROOT` names (to measure another one).
pub(super) static TREE: LazyLock<Tree> = LazyLock::new(|| {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are in a folder");
    let named = std::env::var_os("TRACEMEND_TIDY_ROOT").map(PathBuf::from);
    Tree::load(&named.unwrap_or_else(|| here.to_path_buf()))
});

/// The pieces of each Rust file, by path.
pub(super) static PIECES: LazyLock<BTreeMap<&str, Vec<Piece>>> =
    LazyLock::new(|| TREE.rust().map(|file| (&*file.path, lexer::split(&file.content))).collect());

/// The passages of each file but the tidy test's own, which lists the words that it forbids.
static PASSAGES: LazyLock<BTreeMap<&str, Vec<Passage>>> = LazyLock::new(|| {
    let files = TREE.files.iter().filter(|file| !is_own(&file.path));
    let read = |file: &'static File| {
        (&*file.path, passages(&file.path, &file.content, PIECES.get(&*file.path)))
    };
    files.map(read).collect()
});

/// Returns the passages of all files.
pub(super) fn all_passages() -> impl Iterator<Item = &'static Passage> {
    PASSAGES.values().flatten()
}

/// Returns the passages of the file at `path`.
pub(super) fn passages_of(path: &str) -> &'static [Passage] {
    PASSAGES.get(path).map_or(&[], Vec::as_slice)
}

impl Tree {
    /// Reads the files below `root` that git tracks or would add.
    fn load(root: &Path) -> Self {
        let arguments = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
        let listed = Command::new("git").args(arguments).current_dir(root).output();
        let listed = listed.expect("git is needed to list the files of the tree");
        assert!(listed.status.success(), "git ls-files failed in {}", root.display());
        let names = String::from_utf8(listed.stdout).expect("paths are UTF-8");
        let mut paths: Vec<String> = names.split('\0').map(str::to_owned).collect();
        paths.retain(|path| root.join(path).is_file());
        paths.sort();
        paths.dedup();
        let files = paths.iter().filter_map(|path| {
            let content = std::fs::read(root.join(path)).ok()?;
            let content = String::from_utf8(content).ok()?;
            (!content.contains('\0')).then(|| File { path: path.clone(), content })
        });
        Self { root: root.to_path_buf(), files: files.collect(), paths }
    }

    /// Returns the Rust files.
    pub(super) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }
}

/// Whether a file belongs to the tidy test itself, whose tables contain what it forbids.
pub(super) fn is_own(path: &str) -> bool {
    path.starts_with("tests/tests/all/tidy/")
}
