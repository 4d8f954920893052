//! Loss of power at any moment of a run: of the names that were given since their folder was
//! synced, the last ones may be lost, and a file that was not synced after its last write has any
//! content.
//!
//! The calls of a run are read from strace, so that each moment is judged in one run.

use std::collections::BTreeMap;

use tracemend_tests::notice;

use super::injected::{place, source};
use super::*;

/// The calls that change names and contents.
const CALLS: &str = "openat,write,pwrite64,copy_file_range,ftruncate,fsync,fdatasync,rename,\
                     renameat,renameat2,link,linkat,unlink,unlinkat";
/// The content of the source: no call of a run may write it.
const SOURCE: &str = "source";

/// The names in a folder, with their contents.
type Names = BTreeMap<String, String>;

/// A disk during a run.
struct Disk {
    folder: String,
    /// Contents by the number of an open file.
    open: BTreeMap<String, String>,
    names: Names,
    /// The names when the folder was synced, and after each change since.
    possible: Vec<Names>,
    /// Contents that were written, and whether they were synced after that.
    synced: BTreeMap<String, bool>,
}

impl Disk {
    fn new(folder: &Path) -> Self {
        let names: Names = [("x".to_string(), SOURCE.to_string())].into();
        Self {
            folder: fs::canonicalize(folder).unwrap().display().to_string(),
            open: BTreeMap::new(),
            possible: vec![names.clone()],
            names,
            synced: BTreeMap::new(),
        }
    }

    /// Returns the name in the folder of a path; `None` for another path.
    fn name(&self, path: &str) -> Option<String> {
        let path = path.strip_prefix(&self.folder).unwrap_or(path);
        let path = path.trim_start_matches('/').trim_start_matches("./");
        (!path.is_empty() && !path.contains('/')).then(|| path.to_string())
    }

    /// Does what a line of strace says: `fsync(5</folder/#17>(deleted)) = 0`.
    fn apply(&mut self, line: &str) {
        let Some((call, rest)) = line.split_once('(') else { return };
        let call = call.rsplit(' ').next().unwrap_or(call);
        let Some((arguments, result)) = rest.rsplit_once(" = ") else { return };
        if result.starts_with('-') {
            return;
        }
        let quoted: Vec<&str> = arguments.split('"').skip(1).step_by(2).collect();
        // `5</folder/x>`: the number and the path of an open file.
        let opened = |text: &str| {
            let (number, rest) = text.split_once('<')?;
            Some((number.to_string(), rest.split_once('>')?.0.to_string()))
        };
        match call {
            "openat" => {
                if let Some((number, path)) = opened(result) {
                    let named = self.name(&path).and_then(|name| self.names.get(&name).cloned());
                    self.open.insert(number, named.unwrap_or(path));
                }
            }
            "write" | "pwrite64" | "ftruncate" | "copy_file_range" => {
                let written = match call {
                    "copy_file_range" => arguments.split(", ").nth(2).and_then(opened),
                    _ => opened(arguments),
                };
                let content = written.and_then(|(number, _)| self.open.get(&number));
                self.synced.extend(content.map(|content| (content.clone(), false)));
            }
            "fsync" | "fdatasync" => {
                let Some((number, path)) = opened(arguments) else { return };
                if path == self.folder {
                    self.possible = vec![self.names.clone()];
                } else if let Some(content) = self.open.get(&number) {
                    self.synced.insert(content.clone(), true);
                }
            }
            _ => self.change_names(call, &quoted),
        }
    }

    fn change_names(&mut self, call: &str, quoted: &[&str]) {
        let content = |path: &str| match path.strip_prefix("/proc/self/fd/") {
            Some(number) => self.open.get(number).cloned(),
            None => self.name(path).and_then(|name| self.names.get(&name).cloned()),
        };
        let from = quoted.first().copied().unwrap_or_default();
        let found = content(from);
        let old = self.name(from).filter(|_| !call.starts_with("link"));
        let new = quoted.get(1).and_then(|path| self.name(path));
        if let Some(old) = old {
            self.names.remove(&old);
        }
        if let (Some(new), Some(found)) = (new, found) {
            self.names.insert(new, found);
        }
        self.possible.push(self.names.clone());
    }

    /// Whether a content is on the disk.
    fn is_safe(&self, content: &str) -> bool {
        content == SOURCE || self.synced.get(content) == Some(&true)
    }
}

/// Runs a command and passes the names that may be left after each call to `check`.
fn with_every_loss(folder: &Path, args: &[&str], check: impl Fn(&Disk, &Names, &str)) {
    let log = folder.join("log-of-strace");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-y", "-s", "0", "-o"]).arg(&log);
    strace.arg("-e").arg(format!("trace={CALLS}"));
    let output = strace.arg(PROGRAM).args(args).current_dir(folder).output();
    let is_traced = output.as_ref().is_ok_and(|run| !run.stderr.starts_with(b"strace:"));
    if !is_traced {
        return notice::skip("loss of power", "strace is missing or may not trace");
    }
    let code = output.unwrap().status.code();
    assert!(matches!(code, Some(0 | 3)), "{args:?}: {code:?}");
    let text = fs::read_to_string(log).unwrap();
    let mut disk = Disk::new(folder);
    let mut changes = 0;
    for line in text.lines() {
        let before = disk.names.clone();
        disk.apply(line);
        changes += usize::from(disk.names != before);
        for names in &disk.possible {
            check(&disk, names, line);
        }
    }
    assert!(changes > 0, "{args:?}: no name changed in {text}");
    assert_eq!(disk.possible.len(), 1, "{args:?}: the last names are not synced");
}

/// No name of an output stands for a content that is not on the disk.
fn assert_whole(disk: &Disk, names: &Names, line: &str) {
    let half = names.iter().find(|(_, content)| !disk.is_safe(content));
    assert!(half.is_none(), "{half:?} after {line}");
}

#[test]
fn a_loss_of_power_leaves_the_source_and_no_half_output() {
    for args in
        [["repair", "x", "-o", "out"].as_slice(), &["repair", "x", "-o", "out", "--plan", "plan"]]
    {
        let folder = place(&source());
        with_every_loss(folder.path(), args, |disk, names, line| {
            assert_eq!(names.get("x").map(String::as_str), Some(SOURCE), "{args:?}: {line}");
            assert_whole(disk, names, line);
            // The plan says what the output has lost.
            let is_told = !args.contains(&"--plan") || names.contains_key("plan");
            assert!(!names.contains_key("out") || is_told, "{args:?}: {line}");
        });
    }
}

#[test]
fn a_loss_of_power_leaves_an_original_that_is_replaced() {
    for args in [
        ["repair", "x", "--in-place"].as_slice(),
        &["repair", "x", "--in-place", "--no-backup", "--plan", "plan"],
    ] {
        let folder = place(&source());
        with_every_loss(folder.path(), args, |disk, names, line| {
            assert_whole(disk, names, line);
            let is_original = names.get("x").is_some_and(|content| content == SOURCE);
            let copy = if args.contains(&"--no-backup") { "plan" } else { "x.orig" };
            assert!(names.contains_key("x"), "{args:?}: {line}");
            assert!(is_original || names.contains_key(copy), "{args:?}: {line}");
        });
    }
}
