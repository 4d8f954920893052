//! The specimens: for every rule a smallest recording that breaks it, and it alone. A rule of an
//! audit is not broken: its specimen carries what the rule is about.
//!
//! ```text
//!  specimens/<format>.rs      builds them
//!  corpus/<format>/rules/     CODE.<ext>           the recording
//!                             CODE.donor.<ext>     its donor
//!                             CODE.report          the expected findings
//!                             CODE.repaired.<ext>  the result, if a repair works
//!  cli/src/show/           examples.txt         the findings that `explain` shows
//! ```
//!
//! A recording of several files is a folder `CODE/`. The test `specimens` compares everything, and
//! `BLESS=1` writes it anew; read the difference before you commit it.

pub mod apitrace;
pub mod audit;
pub mod common;
pub mod ovni;
pub mod perf;
pub mod qemu;
pub mod revent;
pub mod transport;

use std::path::PathBuf;
use std::sync::Arc;

use tracemend::kit::source::Source;
use tracemend::transport::{Arrived, Memory, arrive};
use tracemend::{AuditRequest, Choices, Concern, File, FileSet, Options, Report, catalogue};

/// A smallest recording that breaks a rule.
#[derive(Clone, Debug)]
pub struct Specimen {
    /// The code of the rule.
    pub code: &'static str,
    /// The files by name, in order; `None` for one that is listed and missing (ovni). The name of a
    /// single file begins with the code.
    pub files: Vec<(String, Option<Vec<u8>>)>,
    /// Another recording, from which the repair takes what was lost.
    pub donor: Option<Vec<u8>>,
    /// Every other code that fires with it.
    pub also: &'static [&'static str],
    /// Codes that the repair leaves or causes; they are notes.
    pub leaves: &'static [&'static str],
    /// Why other codes fire or stay; empty if none do.
    pub reason: &'static str,
    /// The files of the repaired recording, where the generator knows them.
    pub repaired: Option<Vec<(String, Option<Vec<u8>>)>>,
    /// The options of the check and of the repair.
    pub options: Options,
    /// The recording in the files, if they wrap or convert it.
    pub arrived: Option<Arc<Arrived<Vec<u8>>>>,
}

impl Specimen {
    /// A recording of one file with the format's usual extension.
    ///
    /// # Panics
    ///
    /// If no collection has codes like this one.
    pub fn new(code: &'static str, bytes: Vec<u8>) -> Self {
        let extension = collection(code).extension;
        Self::of(code, vec![(format!("{code}.{extension}"), Some(bytes))])
    }

    /// A recording of several files, or of one that a directory holds.
    pub fn of(code: &'static str, files: Vec<(String, Option<Vec<u8>>)>) -> Self {
        let (also, leaves, reason) = (&[][..], &[][..], "");
        let (donor, repaired, mut options) = (None, None, Options::default());
        // The fix of a warning is shown, too.
        options.lossy_warnings = true;
        let arrived = None;
        Self { code, files, donor, also, leaves, reason, repaired, options, arrived }
    }

    /// With other text after the code in the name of its single file, as in `.startup.revent`.
    #[must_use]
    pub fn ending(mut self, end: &str) -> Self {
        if let Some((name, _)) = self.files.first_mut() {
            *name = format!("{}{end}", self.code);
        }
        self
    }

    /// With other codes that fire, and the reason why the rule cannot be broken alone.
    #[must_use]
    pub const fn also(mut self, codes: &'static [&'static str], reason: &'static str) -> Self {
        (self.also, self.reason) = (codes, reason);
        self
    }

    /// With codes that the repair leaves, and the reason.
    #[must_use]
    pub const fn leaves(mut self, codes: &'static [&'static str], reason: &'static str) -> Self {
        (self.leaves, self.reason) = (codes, reason);
        self
    }

    /// With the ways undone in which its files were wrapped or converted.
    ///
    /// # Panics
    ///
    /// If there are none.
    #[must_use]
    pub fn arrived(mut self) -> Self {
        let arrived = arrive(&self.set(), &self.options, &Memory).unwrap();
        self.arrived = Some(Arc::new(arrived.unwrap()));
        self
    }

    /// With a recording from which lost parts are taken.
    #[must_use]
    pub fn donor(mut self, bytes: Vec<u8>) -> Self {
        self.donor = Some(bytes);
        self
    }

    /// With an option of its format, as on the command line without dashes.
    ///
    /// # Panics
    ///
    /// If the format has no such option or value.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.options = self.options.with_choice(name, value).unwrap();
        self
    }

    /// With the format named, since the bytes do not show it.
    #[must_use]
    pub fn named_format(mut self) -> Self {
        let format = collection(self.code).format;
        self.options.format = Some(format.parse().unwrap());
        self
    }

    /// Returns the specimen as the library takes it.
    pub fn set(&self) -> FileSet<'_> {
        let files = self.files.iter().map(|(name, bytes)| {
            File::new(name, bytes.as_deref().map_or_else(Source::absent, Source::new))
        });
        let stored = FileSet::new(files.collect());
        let stored = stored.with_donor(self.donor.as_deref().map(Source::new));
        self.arrived.as_ref().map_or_else(|| stored.clone(), |arrived| arrived.view(&stored))
    }

    /// Returns whether its rule is of an audit instead of a check.
    pub fn is_audited(&self) -> bool {
        catalogue::rule(self.code).and_then(Concern::of).is_some()
    }

    /// Returns the report of a check, or of an audit if the rule is of one.
    pub fn report(&self) -> Report {
        if self.is_audited() {
            tracemend::audit(&self.set(), &self.options, &AuditRequest::default())
        } else {
            tracemend::check(&self.set(), &self.options)
        }
    }

    /// Returns the options without those that the format owns, and without the donor's effect.
    pub fn plain_options(&self) -> Options {
        let mut options = self.options.clone();
        options.choices = Choices::default();
        options
    }

    /// Returns whether it is one file rather than a folder.
    pub fn is_single(&self) -> bool {
        matches!(self.files.as_slice(), [(name, _)] if name.starts_with(self.code))
    }

    /// Returns its path in the repository: a file or a folder.
    pub fn path(&self) -> PathBuf {
        let folder = PathBuf::from("corpus").join(collection(self.code).format).join("rules");
        match self.files.first() {
            Some((name, _)) if self.is_single() => folder.join(name),
            _ => folder.join(self.code),
        }
    }

    /// Returns what its single file is called after the code, as in `.data`; empty for a folder.
    pub fn extension(&self) -> &str {
        let name = self.files.first().filter(|_| self.is_single());
        name.and_then(|(name, _)| name.strip_prefix(self.code)).unwrap_or_default()
    }
}

/// The specimens of one format, or of the rules that all formats share.
#[derive(Debug)]
pub struct Collection {
    /// The format's name, and that of its folder in the corpus.
    pub format: &'static str,
    /// The first two letters of the codes.
    pub prefix: &'static str,
    /// The usual extension of a recording.
    pub extension: &'static str,
    /// Builds the specimens.
    pub specimens: fn() -> Vec<Specimen>,
    /// Codes that no recording can break, each with the reason.
    pub impossible: &'static [(&'static str, &'static str)],
    /// Codes whose specimen is still to be made.
    pub missing: &'static [&'static str],
}

/// Every collection.
pub static ALL: [Collection; 8] = [
    Collection {
        format: "apitrace",
        prefix: "AT",
        extension: "trace",
        specimens: apitrace::specimens,
        impossible: apitrace::IMPOSSIBLE,
        missing: apitrace::MISSING,
    },
    Collection {
        format: "audit",
        prefix: "AU",
        extension: "",
        specimens: audit::specimens,
        impossible: audit::IMPOSSIBLE,
        missing: audit::MISSING,
    },
    Collection {
        format: "common",
        prefix: "CM",
        extension: "bin",
        specimens: common::specimens,
        impossible: common::IMPOSSIBLE,
        missing: common::MISSING,
    },
    Collection {
        format: "ovni",
        prefix: "OV",
        extension: "",
        specimens: ovni::specimens,
        impossible: ovni::IMPOSSIBLE,
        missing: ovni::MISSING,
    },
    Collection {
        format: "perf",
        prefix: "PD",
        extension: "data",
        specimens: perf::specimens,
        impossible: perf::IMPOSSIBLE,
        missing: perf::MISSING,
    },
    Collection {
        format: "qemu",
        prefix: "QR",
        extension: "log",
        specimens: qemu::specimens,
        impossible: qemu::IMPOSSIBLE,
        missing: qemu::MISSING,
    },
    Collection {
        format: "revent",
        prefix: "RV",
        extension: "run.revent",
        specimens: revent::specimens,
        impossible: revent::IMPOSSIBLE,
        missing: revent::MISSING,
    },
    Collection {
        format: "transport",
        prefix: "TR",
        extension: "data",
        specimens: transport::specimens,
        impossible: transport::IMPOSSIBLE,
        missing: transport::MISSING,
    },
];

/// Returns the collection that a code belongs to.
///
/// # Panics
///
/// If there is none.
pub fn collection(code: &str) -> &'static Collection {
    let found = ALL.iter().find(|collection| code.starts_with(collection.prefix));
    found.unwrap_or_else(|| panic!("no collection for {code}"))
}
