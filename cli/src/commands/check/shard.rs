//! `--shard I/N`: one part of N of the recordings, the same on every machine.
//!
//! A path belongs to the shard that its CRC-32 selects, so files that are added or removed move no
//! other one. In a directory, the path counts from the directory, which may lie elsewhere on each
//! machine.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::str::FromStr;

/// One part of all recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    /// From 1 on.
    number: u32,
    count: u32,
}

impl Shard {
    /// Whether the path, which was found below `directory` if there is one, is in this part.
    pub(super) fn has(self, path: &Path, directory: Option<&Path>) -> bool {
        let own = directory.and_then(|directory| path.strip_prefix(directory).ok());
        let own = own.unwrap_or(path);
        let hash = crc32fast::hash(own.as_os_str().as_bytes());
        hash % self.count == self.number - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/');
        let numbers = parts.and_then(|(number, count)| {
            Some((number.parse::<u32>().ok()?, count.parse::<u32>().ok()?))
        });
        match numbers {
            // Schedulers that count from 0 name the last part by it.
            Some((0, count)) if count > 0 => Ok(Self { number: count, count }),
            Some((number, count)) if (1..=count).contains(&number) => Ok(Self { number, count }),
            _ => Err("expected I/N with I from 1 to N, such as 1/4".to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_in_one_shard_and_shards_are_alike() {
        let shards: Vec<Shard> = (1..=5).map(|i| format!("{i}/5").parse().unwrap()).collect();
        let mut sizes = [0; 5];
        for number in 0..10_000 {
            let path = format!("/data/run-{number}/perf.data");
            let has = |shard: &Shard| shard.has(Path::new(&path), Some(Path::new("/data")));
            let owners: Vec<usize> = (0..5).filter(|at| has(&shards[*at])).collect();
            assert_eq!(owners.len(), 1, "{path}");
            sizes[owners[0]] += 1;
            // The same file below another folder.
            let other = format!("elsewhere/run-{number}/perf.data");
            assert!(shards[owners[0]].has(Path::new(&other), Some(Path::new("elsewhere"))));
        }
        assert!(sizes.iter().all(|size| (1_800..2_200).contains(size)), "{sizes:?}");
        assert_eq!("0/5".parse(), Ok(shards[4]));
        for wrong in ["", "1", "0/0", "4/3", "1/0", "-1/3", "a/b", "1/2/3"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
