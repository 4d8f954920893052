//! Archives: the recording among their files.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::reader::head_of;
use super::ways::{HEAD, begins};
use super::{Arrived, Content, Engine, Store, describe, packed, too_large};
use crate::catalogue;
use crate::kit::num::to_u64;
use crate::kit::words::plural;
use crate::kit::wrapper::Wrapper;
use crate::model::description::FormatId;
use crate::model::directory::{DirectoryShape, DirectoryView};
use crate::model::limits::UNPACKED_FILES;
use crate::model::recording::File;

/// Ways that a file of an archive may have come, with its own: compressed once.
const DEPTH: u64 = 2;
/// Folders inside one another that a recording may lie in.
const ROOTS_MAX: usize = 4;

/// A file of an archive.
struct Packed<K> {
    name: String,
    kept: K,
}

/// The names in an archive, by their folders: a format asks for each folder.
struct Names<'v, K> {
    /// The names in each folder, and whether each is a folder. A folder ends with `/`, that of the
    /// archive itself is empty.
    folders: BTreeMap<&'v str, BTreeSet<(&'v str, bool)>>,
    files: BTreeMap<&'v str, &'v K>,
}

impl<'v, K> Names<'v, K> {
    fn of(files: &'v [Packed<K>]) -> Self {
        let mut folders = BTreeMap::from([("", BTreeSet::new())]);
        for file in files {
            let (mut rest, mut is_folder) = (file.name.as_str(), false);
            // From the file to the outermost folder; a folder that is known has its parents.
            while !rest.is_empty() {
                let path = rest.strip_suffix('/').unwrap_or(rest);
                let at = path.rfind('/').map_or(0, |at| at.saturating_add(1));
                let (folder, name) = path.split_at_checked(at).unwrap_or(("", path));
                if !folders.entry(folder).or_default().insert((name, is_folder)) {
                    break;
                }
                (rest, is_folder) = (folder, true);
            }
        }
        Self { folders, files: files.iter().map(|file| (file.name.as_str(), &file.kept)).collect() }
    }
}

/// The names below one folder of an archive.
struct View<'v, K> {
    names: &'v Names<'v, K>,
    root: &'v str,
}

impl<K: AsRef<[u8]>> DirectoryView for View<'_, K> {
    fn entries(&self, below: &str) -> Vec<(String, bool)> {
        let folder = match below {
            "" => self.root.to_string(),
            below => format!("{}{}/", self.root, below.trim_end_matches('/')),
        };
        let entries = self.names.folders.get(folder.as_str()).into_iter().flatten();
        entries.map(|(name, is_folder)| ((*name).to_string(), *is_folder)).collect()
    }

    fn head(&self, file: &str, len: usize) -> Vec<u8> {
        let name = format!("{}{file}", self.root);
        let kept = self.names.files.get(name.as_str()).map(|kept| kept.as_ref());
        kept.unwrap_or_default().iter().take(len).copied().collect()
    }
}

impl<S: Store> Engine<'_, S> {
    /// Unpacks an archive, and takes the recording in it: the folder that is one, or the only file
    /// that may be one.
    pub(super) fn unpack(
        &self,
        way: Wrapper,
        file: &File<'_>,
    ) -> io::Result<Option<Arrived<S::Kept>>> {
        let mut files: Vec<Packed<S::Kept>> = Vec::new();
        let (most, files_max) = (self.most(&file.bytes), self.options.limits.of(&UNPACKED_FILES));
        let (mut left, mut fault, mut failed) = (most, None, None);
        let mut each = |name: &str, content: &mut dyn io::Read| {
            let mut take = || -> io::Result<()> {
                if to_u64(files.len()) >= files_max {
                    return Err(too_many(files_max));
                }
                let kept = self.store.keep(&mut |out| {
                    fault = fault.take().or(self.pass_on(content, left, out)?);
                    Ok(())
                })?;
                left =
                    left.checked_sub(to_u64(kept.as_ref().len())).ok_or_else(|| too_large(most))?;
                files.push(Packed { name: name.to_string(), kept });
                Ok(())
            };
            take().map_err(|error| {
                let kind = error.kind();
                failed = Some(error);
                io::Error::from(kind)
            })
        };
        let read = match way {
            Wrapper::Zip => packed::zip(&file.bytes, &mut each),
            _ => packed::tar(file.bytes.clone(), &mut each),
        };
        if let Some(error) = failed {
            return Err(error);
        }
        let fault = fault.or_else(|| read.err().map(|error| error.to_string()));
        Ok(self.choose(way, file, files, fault))
    }

    /// Takes the recording among the files of an archive.
    fn choose(
        &self,
        way: Wrapper,
        archive: &File<'_>,
        mut files: Vec<Packed<S::Kept>>,
        fault: Option<String>,
    ) -> Option<Arrived<S::Kept>> {
        let all = files.len();
        let folders = find_folders(&files);
        if let [(root, shape)] = folders.as_slice() {
            let inside = |file: Packed<S::Kept>| {
                let name = file.name.strip_prefix(root)?.to_string();
                Some((name, file.kept))
            };
            let mut files: Vec<(String, S::Kept)> = files.into_iter().filter_map(inside).collect();
            // Of two files of a name the later one is the newer: it was added.
            files.reverse();
            files.sort_by(|one, two| one.0.cmp(&two.0));
            files.dedup_by(|one, two| one.0 == two.0);
            let names: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
            let mut files = files.into_iter().peekable();
            let members = shape.members(&names).into_iter().map(|member| {
                let found = loop {
                    match files.next_if(|(name, _)| *name <= member.name) {
                        Some((name, kept)) if name == member.name => break Some(kept),
                        Some(_) => {}
                        None => break None,
                    }
                };
                (member.name, found.map_or(Content::Absent, Content::Kept))
            });
            let members: Vec<(String, Content<S::Kept>)> = members.collect();
            let is_there =
                |(_, content): &&(String, Content<_>)| !matches!(content, Content::Absent);
            let taken = members.iter().filter(is_there).count();
            let undone = describe::unpacked(way, archive, (all, taken), fault);
            let undone = vec![undone];
            return Some(Arrived { files: members, undone, is_folder: true, obstacle: None });
        }
        let recordings = self.find_recordings(&files);
        let at = match recordings.as_slice() {
            _ if !folders.is_empty() => None,
            [] => self.find_likely(&files),
            [at] => Some(*at),
            _ => None,
        };
        let Some(at) = at else {
            let alone = recordings.iter().filter_map(|at| files.get(*at));
            let alone = alone.map(|file| file.name.as_str());
            let roots: Vec<&str> = folders.iter().map(|(root, _)| root.as_str()).collect();
            return refuse(way, archive, &roots, alone);
        };
        let kept = files.swap_remove(at).kept;
        let undone = vec![describe::unpacked(way, archive, (all, 1), fault)];
        let files = vec![(archive.name.clone(), Content::Kept(kept))];
        Some(Arrived { files, undone, is_folder: false, obstacle: None })
    }

    /// Returns the files that begin as a recording does, or as something that one is in.
    fn find_recordings(&self, files: &[Packed<S::Kept>]) -> Vec<usize> {
        let is_recording = |file: &Packed<S::Kept>| {
            let head = head_of(file.kept.as_ref(), HEAD);
            catalogue::begins(&head) || self.holds_recording(&head, DEPTH)
        };
        (0..).zip(files).filter(|(_, file)| is_recording(file)).map(|(at, _)| at).collect()
    }

    /// Returns the only file that may be a recording although it does not begin as one.
    fn find_likely(&self, files: &[Packed<S::Kept>]) -> Option<usize> {
        let is_alone = files.len() == 1;
        let mut likely = (0_usize..).zip(files).filter(|(_, file)| {
            let head = head_of(file.kept.as_ref(), HEAD);
            // Trial decoding is for a file that nothing stands beside.
            begins(&head) || is_alone && self.is_beginning(&head, DEPTH)
        });
        let (at, _) = likely.next().filter(|_| likely.next().is_none())?;
        Some(at)
    }
}

/// Returns the archive as it is stored, if it has several recordings: folders, and files in none
/// of them.
fn refuse<'n, K>(
    way: Wrapper,
    archive: &File<'_>,
    folders: &[&'n str],
    alone: impl Iterator<Item = &'n str>,
) -> Option<Arrived<K>> {
    // The folders are in order, and none lies in another one.
    let is_inside = |name: &&str| {
        let after = folders.partition_point(|root| root <= name);
        let root = after.checked_sub(1).and_then(|index| folders.get(index));
        root.is_some_and(|root| name.starts_with(root))
    };
    let alone = alone.filter(|name| !is_inside(name));
    let names: Vec<&str> = folders.iter().copied().chain(alone).collect();
    let obstacle = Some(describe::several(way, archive, &names)?);
    let files = vec![(archive.name.clone(), Content::Stored(0))];
    Some(Arrived { files, undone: Vec::new(), is_folder: false, obstacle })
}

/// Returns the folders of an archive that are recordings, with their shapes.
fn find_folders<K: AsRef<[u8]>>(files: &[Packed<K>]) -> Vec<(String, &'static dyn DirectoryShape)> {
    let names = Names::of(files);
    let is_near = |root: &&str| root.matches('/').count() <= ROOTS_MAX;
    let shapes = || FormatId::ALL.iter().filter_map(|format| format.directory());
    // A folder comes before those in it.
    let mut found: Vec<(String, &'static dyn DirectoryShape)> = Vec::new();
    for root in names.folders.keys().copied().filter(is_near) {
        let view = View { names: &names, root };
        // Folders inside another one follow it.
        let is_inside = found.last().is_some_and(|(outer, _)| root.starts_with(outer));
        let shape = shapes().find(|shape| !is_inside && shape.is_recording(&view));
        found.extend(shape.map(|shape| (root.to_string(), shape)));
    }
    found
}

fn too_many(most: u64) -> io::Error {
    let name = UNPACKED_FILES.name;
    let most = plural(most, "file");
    let message = format!("the archive has more than {most} (--limit {name}=N)");
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}
