//! The cases of a ledger, in a fixed order.

use std::path::{Path, PathBuf};

use tracemend::kit::source::Source;
use tracemend::{DirectoryShape, DirectoryView, File, FileSet, FormatId, Options};

use crate::known_originals::{Files, SUBJECTS, damaged};
use crate::specimens::ALL;

/// Endings of the files of the corpus that are not recordings.
const EXPECTATIONS: [&str; 4] = ["report", "expect", "md", "gitkeep"];
/// Folders of the corpus that hold no recording of their own, but inputs of fuzz targets, whose
/// names begin with the format.
const REGRESSIONS: &str = "regressions";

/// A recording, and how it is read.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name, unique in a ledger.
    pub name: String,
    /// The files by name; `None` for one that does not exist.
    pub files: Vec<(String, Option<Vec<u8>>)>,
    /// A recording from which lost parts are taken.
    pub donor: Option<Vec<u8>>,
    /// The options of check, repair and dump.
    pub options: Options,
    /// The format, if none recognises the recording.
    pub otherwise: Option<FormatId>,
    /// The report is that of an audit.
    pub is_audited: bool,
}

impl Case {
    fn new(name: String, files: Vec<(String, Option<Vec<u8>>)>) -> Self {
        let (donor, options, otherwise) = (None, Options::default(), None);
        Self { name, files, donor, options, otherwise, is_audited: false }
    }

    /// Returns the recording as the library takes it.
    pub fn set(&self) -> FileSet<'_> {
        let files = self.files.iter().map(|(name, bytes)| {
            File::new(name, bytes.as_deref().map_or_else(Source::absent, Source::new))
        });
        FileSet::new(files.collect()).with_donor(self.donor.as_deref().map(Source::new))
    }

    /// Returns the options with a format: the named one, the one that was recognised, or the one
    /// that the folder names.
    pub fn options_for(&self, recognised: Option<FormatId>) -> Options {
        let format = self.options.format.or(recognised).or(self.otherwise);
        Options { format, ..self.options.clone() }
    }
}

/// Returns all cases: the corpus, the specimens, the sound originals, and `cases` damaged ones of
/// each format.
pub fn every_case(cases: usize, seed: u64) -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut all = Vec::new();
    add_folder(&root, "corpus", &mut all);
    for collection in &ALL {
        for (number, specimen) in (collection.specimens)().into_iter().enumerate() {
            let name = format!("specimen/{}/{}/{number}", collection.format, specimen.code);
            let is_audited = specimen.is_audited();
            let (files, donor, options) = (specimen.files, specimen.donor, specimen.options);
            all.push(Case { donor, options, is_audited, ..Case::new(name, files) });
        }
    }
    for subject in SUBJECTS {
        let format = subject.format;
        let options = Options::default().with_format(format);
        let present = |files: &Files| {
            files.iter().map(|(name, bytes)| (name.clone(), Some(bytes.clone()))).collect()
        };
        let named = |name: String, files: &Files| Case {
            options: options.clone(),
            ..Case::new(name, present(files))
        };
        for (number, original) in subject.originals.iter().enumerate() {
            let name = format!("original/{format}/{number} {}", original.name);
            all.push(named(name, &original.files));
        }
        for number in 0..cases {
            let (_, damaged) = damaged(&subject.originals, seed, number);
            all.push(named(format!("known/{format}/{number}"), &damaged.files));
        }
    }
    all
}

/// Adds the recordings of a folder below `root`, in the order of their names.
fn add_folder(root: &Path, folder: &str, all: &mut Vec<Case>) {
    let path = root.join(folder);
    let view = View(&path);
    let mut shapes = FormatId::ALL.iter().filter_map(|format| format.directory());
    if let Some(shape) = shapes.find(|shape| shape.is_recording(&view)) {
        all.push(Case::new(folder.to_string(), members(&path, shape)));
    }
    let otherwise = format_of(folder);
    for (name, is_folder) in view.entries("") {
        let inner = format!("{folder}/{name}");
        let is_expectation =
            EXPECTATIONS.iter().any(|end| name.ends_with(&format!(".{end}")) || name == *end);
        if is_folder {
            add_folder(root, &inner, all);
        } else if !is_expectation {
            let bytes = std::fs::read(path.join(&name)).unwrap();
            all.push(Case { otherwise, ..Case::new(inner, vec![(name, Some(bytes))]) });
        }
    }
}

/// Returns the format that a folder of the corpus names.
fn format_of(folder: &str) -> Option<FormatId> {
    let mut parts = folder.split('/').skip(1);
    let word = parts.next()?;
    let word = if word == REGRESSIONS { parts.next()?.split('_').next()? } else { word };
    word.parse().ok()
}

/// Reads the files of a recording in a directory.
fn members(path: &Path, shape: &dyn DirectoryShape) -> Vec<(String, Option<Vec<u8>>)> {
    let mut names = Vec::new();
    add_names(path, "", &mut names);
    names.sort_by(|a, b| Path::new(a).cmp(Path::new(b)));
    let read = |name: &str| std::fs::read(path.join(name)).unwrap();
    let members = shape.members(&names).into_iter();
    members.map(|one| (one.name.clone(), (!one.is_absent).then(|| read(&one.name)))).collect()
}

fn add_names(path: &Path, below: &str, names: &mut Vec<String>) {
    for (name, is_folder) in View(&path.join(below)).entries("") {
        let name = format!("{below}{name}");
        if is_folder {
            add_names(path, &format!("{name}/"), names);
            names.push(format!("{name}/"));
        } else {
            names.push(name);
        }
    }
}

/// A directory of the corpus, whose entries can all be read.
struct View<'p>(&'p Path);

impl DirectoryView for View<'_> {
    fn entries(&self, below: &str) -> Vec<(String, bool)> {
        let Ok(entries) = std::fs::read_dir(self.0.join(below)) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_string();
        paths.iter().map(|path| (name(path), path.is_dir())).collect()
    }

    fn head(&self, file: &str, len: usize) -> Vec<u8> {
        let bytes = std::fs::read(self.0.join(file)).unwrap_or_default();
        bytes[..len.min(bytes.len())].to_vec()
    }
}
