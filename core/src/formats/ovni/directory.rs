//! Directories that are ovni traces, and the files of a trace.
//!
//! ```text
//!  a trace    contains loom.*/proc.*, or proc.* or thread.* with streams, or is one stream itself
//!  its files  stream.json, stream.obs, thread.N.json, thread.N.obs and metadata.json at any depth,
//!             clock-offsets.txt in the root
//! ```
//!
//! The tools of ovni find streams by `stream.json` alone. If one of the two files of a stream is
//! missing, its name is a member all the same: a check reports it, and a repair can write it.

use std::collections::{BTreeMap, BTreeSet};

use crate::formats::ovni::decode::files::CLOCK_OFFSETS;
use crate::formats::ovni::limits;
use crate::model::directory::{DirectoryShape, DirectoryView, Member};
use crate::model::limits::Limit;

/// Directories inside one another; libovni nests three.
const DEPTH: usize = 16;

/// The shape of a trace.
#[derive(Debug)]
pub struct OvniDirectory;

/// Role of a file in a trace, by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Metadata,
    Stream,
    /// Metadata or stream of layouts 1 and 2, named after the thread.
    OldThread,
    OldProcess,
    Other,
}

fn role(leaf: &str) -> Role {
    let stem = leaf.strip_suffix(".obs").or_else(|| leaf.strip_suffix(".json"));
    match leaf {
        "stream.json" => Role::Metadata,
        "stream.obs" => Role::Stream,
        "metadata.json" => Role::OldProcess,
        _ if stem.is_some_and(is_thread) => Role::OldThread,
        _ => Role::Other,
    }
}

/// Returns whether a name is like `thread.12`.
fn is_thread(name: &str) -> bool {
    let number = name.strip_prefix("thread.").unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether a name is like `proc.12`.
fn is_process(name: &str) -> bool {
    name.strip_prefix("proc.").is_some_and(|number| number.parse::<u32>().is_ok())
}

impl DirectoryShape for OvniDirectory {
    /// The root of a trace, or a part of one that can be read by itself.
    fn is_recording(&self, view: &dyn DirectoryView) -> bool {
        view.entries("").iter().any(|(entry, is_directory)| {
            let inside = || view.entries(entry);
            match is_directory {
                false => matches!(role(entry), Role::Metadata | Role::Stream | Role::OldThread),
                true if entry.starts_with("loom.") => {
                    let inside = inside();
                    inside.is_empty() || inside.iter().any(|(name, _)| is_process(name))
                }
                true if is_process(entry) => inside().iter().any(|(entry, is_directory)| {
                    if *is_directory { is_thread(entry) } else { role(entry) == Role::OldThread }
                }),
                true if is_thread(entry) => inside()
                    .iter()
                    .any(|(entry, _)| matches!(role(entry), Role::Metadata | Role::Stream)),
                true => false,
            }
        })
    }

    /// The files in the order of their paths, those that are missing from a stream included.
    fn members(&self, names: &[String]) -> Vec<Member> {
        let mut listing = Listing::default();
        for name in names {
            listing.add(name);
        }
        listing.finish()
    }

    fn depth(&self) -> usize {
        DEPTH
    }

    fn files(&self) -> &'static Limit {
        &limits::FILES
    }
}

/// Which of its two files a stream has.
#[derive(Clone, Copy, Default)]
struct Halves {
    metadata: bool,
    stream: bool,
}

/// A trace while its names are read.
#[derive(Default)]
struct Listing {
    /// Whether each member is absent.
    members: BTreeMap<String, bool>,
    /// Streams by their folder.
    streams: BTreeMap<String, Halves>,
    /// Streams of layouts 1 and 2 by their folder and thread.
    old: BTreeMap<String, Halves>,
}

impl Listing {
    fn add(&mut self, name: &str) {
        if let Some(directory) = name.strip_suffix('/') {
            if is_thread(leaf(directory)) {
                self.streams.entry(directory.to_string()).or_default();
            }
            return;
        }
        let (folder, leaf) = name.rsplit_once('/').unwrap_or(("", name));
        match role(leaf) {
            Role::Metadata => self.streams.entry(folder.to_string()).or_default().metadata = true,
            Role::Stream => self.streams.entry(folder.to_string()).or_default().stream = true,
            Role::OldThread => {
                let (stem, ending) = leaf.rsplit_once('.').unwrap_or((leaf, ""));
                let halves = self.old.entry(join(folder, stem)).or_default();
                halves.metadata |= ending == "json";
                halves.stream |= ending == "obs";
            }
            Role::OldProcess => {}
            Role::Other if leaf == CLOCK_OFFSETS && folder.is_empty() => {}
            Role::Other => return,
        }
        self.members.insert(name.to_string(), false);
    }

    /// Number of looms that the folders of streams name.
    fn count_looms(&self) -> usize {
        let is_loom = |name: &&str| name.starts_with("loom.");
        let looms = self.streams.keys().chain(self.old.keys());
        let looms: BTreeSet<&str> =
            looms.filter_map(|folder| folder.split('/').find(is_loom)).collect();
        looms.len()
    }

    fn finish(mut self) -> Vec<Member> {
        for (folder, halves) in &self.old {
            if halves.stream && !halves.metadata && !self.streams.contains_key(folder) {
                // An upgrade writes the metadata there.
                self.members.insert(join(folder, "stream.json"), true);
            }
        }
        for (folder, halves) in &self.streams {
            if !halves.metadata {
                self.members.insert(join(folder, "stream.json"), true);
            }
            if !halves.stream {
                self.members.insert(join(folder, "stream.obs"), true);
            }
        }
        if self.count_looms() > 1 && !self.members.contains_key(CLOCK_OFFSETS) {
            // The clocks of several hosts can need a table.
            self.members.insert(CLOCK_OFFSETS.to_string(), true);
        }
        if self.members.is_empty() {
            // Looms without a stream are a trace, too.
            self.members.insert("stream.obs".to_string(), true);
        }
        let members = self.members.into_iter();
        let mut members: Vec<Member> =
            members.map(|(name, is_absent)| Member { name, is_absent }).collect();
        members.sort_by(|a, b| a.name.split('/').cmp(b.name.split('/')));
        members
    }
}

/// Returns the last name of a path.
fn leaf(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_string() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(names: &[&str]) -> Vec<(String, bool)> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let members = OvniDirectory.members(&names).into_iter();
        members.map(|member| (member.name, member.is_absent)).collect()
    }

    fn pair(name: &str, is_absent: bool) -> (String, bool) {
        (name.to_string(), is_absent)
    }

    /// Directories with their entries; a name that ends with a slash is a directory.
    struct Tree(&'static [(&'static str, &'static [&'static str])]);

    impl DirectoryView for Tree {
        fn entries(&self, path: &str) -> Vec<(String, bool)> {
            let found = self.0.iter().find(|(name, _)| *name == path);
            let entries = found.map_or(&[][..], |(_, entries)| *entries).iter();
            let entry = |name: &&str| (name.trim_end_matches('/').to_string(), name.ends_with('/'));
            entries.map(entry).collect()
        }

        fn head(&self, _file: &str, _len: usize) -> Vec<u8> {
            Vec::new()
        }
    }

    #[test]
    fn a_directory_is_a_trace_by_the_names_below_it() {
        let is_recording = |tree| OvniDirectory.is_recording(&Tree(tree));
        assert!(is_recording(&[("", &["proc.1/"]), ("proc.1", &["thread.2/"])]));
        assert!(is_recording(&[("", &["proc.1/"]), ("proc.1", &["thread.2.obs"])]));
        assert!(!is_recording(&[("", &["proc.1/"]), ("proc.1", &["stdout/", "log"])]));
        assert!(is_recording(&[("", &["loom.a/"]), ("loom.a", &["proc.1/"])]));
        assert!(!is_recording(&[("", &["loom.a/"]), ("loom.a", &["notes/"])]));
        assert!(is_recording(&[("", &["thread.2/"]), ("thread.2", &["stream.json"])]));
        assert!(!is_recording(&[("", &["thread.2/", "notes.txt"]), ("thread.2", &["log"])]));
    }

    #[test]
    fn the_missing_half_of_a_stream_is_absent() {
        let names = ["a/thread.1/", "a/thread.1/stream.obs", "a/thread.2/", "notes.txt"];
        assert_eq!(
            members(&names),
            [
                pair("a/thread.1/stream.json", true),
                pair("a/thread.1/stream.obs", false),
                pair("a/thread.2/stream.json", true),
                pair("a/thread.2/stream.obs", true),
            ]
        );
        assert_eq!(members(&["loom.a/"]), [pair("stream.obs", true)]);
    }

    #[test]
    fn a_trace_of_two_looms_has_a_place_for_clock_offsets() {
        let names = ["loom.a/thread.1/stream.json", "loom.b/thread.1/stream.json"];
        assert_eq!(members(&names)[0], pair("clock-offsets.txt", true));
        let found = members(&[&names[..], &["clock-offsets.txt"]].concat());
        assert_eq!(found[0], pair("clock-offsets.txt", false));
        assert!(members(&names[..1]).iter().all(|(name, _)| name != "clock-offsets.txt"));
    }

    #[test]
    fn an_old_stream_without_metadata_has_a_place_for_it() {
        let names = ["proc.1/metadata.json", "proc.1/thread.2.obs", "clock-offsets.txt"];
        assert_eq!(
            members(&names),
            [
                pair("clock-offsets.txt", false),
                pair("proc.1/metadata.json", false),
                pair("proc.1/thread.2/stream.json", true),
                pair("proc.1/thread.2.obs", false),
            ]
        );
        assert_eq!(members(&["x/clock-offsets.txt", "stream.obs"])[0], pair("stream.json", true));
    }

    #[test]
    fn an_old_stream_with_metadata_has_no_place_for_more() {
        let names = ["proc.1/thread.2.json", "proc.1/thread.2.obs"];
        assert_eq!(members(&names), names.map(|name| pair(name, false)));
    }

    type Entries = [(&'static str, bool)];

    /// The entries of each directory.
    struct Folders(&'static [(&'static str, &'static Entries)]);

    fn is_recording(folders: &'static [(&'static str, &'static Entries)]) -> bool {
        OvniDirectory.is_recording(&Folders(folders))
    }

    impl DirectoryView for Folders {
        fn entries(&self, below: &str) -> Vec<(String, bool)> {
            let folder = self.0.iter().find(|(name, _)| *name == below);
            let entries = folder.iter().flat_map(|(_, entries)| *entries);
            entries.map(|(name, is_directory)| (name.to_string(), *is_directory)).collect()
        }

        fn head(&self, _: &str, _: usize) -> Vec<u8> {
            Vec::new()
        }
    }

    #[test]
    fn a_process_is_a_recording_if_it_holds_threads_of_any_layout() {
        const ROOT: &Entries = &[("proc.7", true)];
        assert!(is_recording(&[("", ROOT), ("proc.7", &[("thread.1.obs", false)])]));
        assert!(is_recording(&[("", ROOT), ("proc.7", &[("thread.1", true)])]));
        assert!(!is_recording(&[("", ROOT), ("proc.7", &[("stat", false)])]));
        assert!(!is_recording(&[("", ROOT)]));
    }
}
