//! ovni traces on disk: what directory is one, and what a repair writes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tracemend_cli::{Look, Streams};
use tracemend_tests::forge::ovni::{Stream, Thread, Trace, by_name};

/// Runs the command line in this process: exit code and output.
fn run(args: &[&str]) -> (u8, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = ["tracemend"].iter().chain(args).map(OsString::from);
    let mut input = std::io::empty();
    let code = tracemend_cli::run(args, Streams::new(&mut input, &mut out, &mut err, Look::PLAIN));
    (code, String::from_utf8([out, err].concat()).unwrap())
}

fn write(trace: &Trace, root: &Path) {
    for (name, bytes) in &trace.files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if let Some(bytes) = bytes {
            fs::write(path, bytes).unwrap();
        }
    }
}

/// Every file below a folder, with its bytes.
fn read(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_path_buf();
                files.insert(name, fs::read(path).unwrap());
            }
        }
    }
    files
}

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_string()
    }
}

/// Two threads, one of them killed, and a file that no tool reads.
fn killed(place: &Place) -> String {
    let path = place.path("ovni");
    let second = Thread::new(7, 8);
    let trace = Trace::of(&Thread::new(7, 7), Stream::default().begin(0).end())
        .and(&second.killed(), Stream::at(5_000).begin(0));
    write(&trace, Path::new(&path));
    fs::write(Path::new(&path).join("notes.txt"), "of a user").unwrap();
    path
}

#[test]
fn a_trace_is_one_recording_wherever_the_walk_comes_upon_it() {
    let place = Place::new();
    write(&by_name("two_threads"), Path::new(&place.path("a/b/ovni")));
    write(&by_name("smallest"), Path::new(&place.path("a/c")));
    let (code, text) = run(&["check", &place.path("a")]);
    assert_eq!(code, 0, "{text}");
    let total = "total                2       2        0          0         0";
    assert!(text.contains(total), "{text}");
    for part in ["a/b/ovni/loom.node.0", "a/b/ovni/loom.node.0/proc.7/thread.7"] {
        let (_, text) = run(&["check", &place.path(part)]);
        assert!(text.contains("; ovni, "), "{text}");
    }
    let (code, text) = run(&["check", &place.path("a/c/loom.node.0/proc.7/thread.7/stream.obs")]);
    assert_eq!(code, 0, "{text}");
}

#[test]
fn a_directory_around_traces_is_told_what_to_name() {
    let place = Place::new();
    write(&by_name("two_threads"), Path::new(&place.path("a/b/ovni")));
    write(&by_name("smallest"), Path::new(&place.path("a/c")));
    let (code, text) = run(&["repair", &place.path("a")]);
    assert_eq!(code, 2, "{text}");
    let traces = format!(
        "holds several recordings ({}, {}); next: tracemend repair {} --out-dir repaired",
        place.path("a/b/ovni"),
        place.path("a/c"),
        place.path("a")
    );
    assert!(text.contains(&traces), "{text}");
    fs::create_dir(place.path("empty")).unwrap();
    let (code, text) = run(&["repair", &place.path("empty")]);
    assert!(code == 2 && text.contains("is a directory, not a recording; name a file"), "{text}");
}

#[test]
fn a_trace_is_mended_into_a_directory_that_can_be_verified_and_undone() {
    let place = Place::new();
    let source = killed(&place);
    let (out, plan, back) = (place.path("out"), place.path("plan"), place.path("back"));
    let (code, text) = run(&["repair", &source, "-o", &out, "--plan", &plan]);
    assert_eq!(code, 0, "{text}");
    let (code, text) = run(&["check", &out]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(read(Path::new(&out))[Path::new("notes.txt")], b"of a user");
    assert_eq!(run(&["verify", &plan, &source, &out]).0, 0);
    assert_eq!(run(&["apply", &plan, &out, "--reverse", "-o", &back]).0, 0);
    assert_eq!(read(Path::new(&back)), read(Path::new(&source)));
    assert_eq!(run(&["verify", &plan, &source, &back]).0, 1);
}

#[test]
fn a_missing_stream_json_is_written_and_gone_after_the_reversal() {
    let place = Place::new();
    let source = killed(&place);
    let lost = "loom.node.0/proc.7/thread.8/stream.json";
    fs::remove_file(Path::new(&source).join(lost)).unwrap();
    let (out, plan, back) = (place.path("out"), place.path("plan"), place.path("back"));
    let (code, text) = run(&["check", &source]);
    assert!(code == 1 && text.contains("OV4001"), "{text}");
    let (code, text) = run(&["repair", &source, "-o", &out, "--plan", &plan]);
    assert_eq!(code, 0, "{text}");
    assert!(Path::new(&out).join(lost).is_file());
    assert_eq!(run(&["check", &out]).0, 0);
    assert_eq!(run(&["verify", &plan, &source, &out]).0, 0);
    assert_eq!(run(&["apply", &plan, &out, "--reverse", "-o", &back]).0, 0);
    assert_eq!(read(Path::new(&back)), read(Path::new(&source)));
    assert!(!Path::new(&back).join(lost).exists());
}

#[test]
fn files_that_stay_are_linked_if_the_user_says_so() {
    let place = Place::new();
    let source = killed(&place);
    let same = |out: &str, name: &str| {
        let inode = |root: &str| fs::metadata(Path::new(root).join(name)).unwrap().ino();
        inode(&source) == inode(out)
    };
    let (copied, linked) = (place.path("copied"), place.path("linked"));
    assert_eq!(run(&["repair", &source, "-o", &copied]).0, 0);
    assert_eq!(run(&["repair", &source, "-o", &linked, "--link"]).0, 0);
    let (kept, mended) =
        ("loom.node.0/proc.7/thread.7/stream.obs", "loom.node.0/proc.7/thread.8/stream.obs");
    assert!(!same(&copied, kept) && same(&linked, kept) && !same(&linked, mended));
    assert_eq!(read(Path::new(&copied)), read(Path::new(&linked)));
}

#[test]
fn links_out_of_the_trace_are_named_and_nothing_is_put_in_their_place() {
    let place = Place::new();
    let source = killed(&place);
    let link = Path::new(&source).join("loom.node.0/proc.7/thread.8/stream.json");
    fs::rename(&link, place.path("elsewhere.json")).unwrap();
    symlink(place.path("elsewhere.json"), &link).unwrap();
    symlink(place.path("."), Path::new(&source).join("loop")).unwrap();
    let (code, text) = run(&["repair", &source, "-o", &place.path("out")]);
    assert_eq!(code, 4, "{text}");
    assert!(text.contains("OV0121") && !text.contains("OV4001"), "{text}");
    assert!(text.contains("thread.8/stream.json") && !text.contains("loop"), "{text}");
    assert!(!Path::new(&place.path("out")).exists(), "{text}");
}

#[test]
fn a_thread_whose_files_are_links_out_of_the_trace_is_not_passed_over() {
    let place = Place::new();
    let source = killed(&place);
    let thread = Path::new(&source).join("loom.node.0/proc.7/thread.8");
    fs::rename(&thread, place.path("elsewhere")).unwrap();
    symlink(place.path("elsewhere"), &thread).unwrap();
    let (code, text) = run(&["check", &source]);
    assert!(code == 1 && text.contains("OV0121"), "{text}");
}

#[test]
fn looms_without_a_stream_are_an_empty_trace() {
    let place = Place::new();
    fs::create_dir_all(place.path("ovni/loom.a/proc.7")).unwrap();
    let (code, text) = run(&["check", &place.path("ovni")]);
    assert!(code == 1 && text.contains("OV4003"), "{text}");
    fs::create_dir_all(place.path("ovni/loom.a/proc.7/thread.9")).unwrap();
    let (code, text) = run(&["check", &place.path("ovni")]);
    assert!(code == 1 && text.contains("OV4003"), "{text}");
    assert_eq!(run(&["check", &place.path(".")]).0, 1);
}

#[test]
fn a_plan_with_a_name_that_leads_elsewhere_writes_nothing() {
    let place = Place::new();
    let source = killed(&place);
    let (out, plan) = (place.path("out"), place.path("plan"));
    assert_eq!(run(&["repair", &source, "-o", &out, "--plan", &plan]).0, 0);
    let mut parsed = tracemend::mend::plan::Plan::from_json(&fs::read(&plan).unwrap()).unwrap();
    parsed.files[0].renamed = Some("../../escaped".to_string());
    fs::write(&plan, parsed.to_json().unwrap()).unwrap();
    let (code, text) = run(&["apply", &plan, &source, "-o", &place.path("other")]);
    assert_eq!(code, 2, "{text}");
    assert!(!Path::new(&place.path("other")).exists());
    let left: Vec<_> =
        fs::read_dir(place.0.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}
