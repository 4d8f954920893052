//! perf directories, as `perf record --threads` writes them.
//!
//! ```text
//!  perf.data/ data          header, attrs, features, records of the session
//!             data.0 ...    records of one CPU or thread each
//!             kcore_dir/    (--kcore) not part of the recording
//! ```
//!
//! Source: perf 6.1, tools/perf/util/data.c: `perf_data__open_dir`, which reads every regular file
//! whose name begins with `data.`.

use crate::formats::perf::{decode::header, limits};
use crate::model::directory::{DirectoryShape, DirectoryView, Member};
use crate::model::limits::Limit;

/// Bytes of the magic.
const MAGIC_LEN: usize = 8;

/// The shape of a perf directory.
#[derive(Debug)]
pub struct PerfDirectory;

impl DirectoryShape for PerfDirectory {
    /// Of all files, `data` is the one with a header.
    fn is_recording(&self, view: &dyn DirectoryView) -> bool {
        header::magic(&view.head("data", MAGIC_LEN)).is_some()
    }

    /// `data` first, then the numbered files by number, then the others by name.
    fn members(&self, names: &[String]) -> Vec<Member> {
        let rank = |name: &str| match name.strip_prefix("data.").map(str::parse::<u64>) {
            None => (0, 0),
            Some(Ok(number)) => (1, number),
            Some(Err(_)) => (2, 0),
        };
        let belongs =
            |name: &&String| !name.contains('/') && (*name == "data" || name.starts_with("data."));
        let mut names: Vec<&String> = names.iter().filter(belongs).collect();
        names.sort_by_key(|name| (rank(name), *name));
        let member = |name: &String| Member { name: name.clone(), is_absent: false };
        names.into_iter().map(member).collect()
    }

    fn depth(&self) -> usize {
        1
    }

    fn files(&self) -> &'static Limit {
        &limits::FILES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_ordered_by_number_and_others_stay_out() {
        let names = ["data", "data.10", "data.2", "data.old", "database", "kcore_dir/", "a/data.1"];
        let names: Vec<String> = names.map(ToString::to_string).to_vec();
        let members = PerfDirectory.members(&names);
        let members: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
        assert_eq!(members, ["data", "data.2", "data.10", "data.old"]);
    }

    #[test]
    fn a_directory_is_recognised_by_the_magic_of_its_main_file() {
        struct View(&'static [u8]);
        impl DirectoryView for View {
            fn entries(&self, _: &str) -> Vec<(String, bool)> {
                Vec::new()
            }
            fn head(&self, file: &str, len: usize) -> Vec<u8> {
                assert_eq!(file, "data");
                self.0.get(..len.min(self.0.len())).unwrap_or_default().to_vec()
            }
        }
        assert!(PerfDirectory.is_recording(&View(b"PERFILE2 and more")));
        assert!(!PerfDirectory.is_recording(&View(b"PERF")));
        assert!(!PerfDirectory.is_recording(&View(b"")));
    }
}
