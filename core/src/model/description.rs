//! The declarations of a format about itself, as data.

use std::fmt;

use crate::kit::reading::CopyProofs;
use crate::kit::wrapper::Wrapper;
use crate::model::Rule;
use crate::model::choice::OptionSpec;
use crate::model::difference::Comparison;
use crate::model::directory::DirectoryShape;
use crate::model::limits::Limit;

/// The declarations of a format about itself. Its behaviour is a [`Format`](crate::format::Format).
pub struct Description {
    /// The short name, as in `--type`.
    pub name: &'static str,
    /// One line for `tracemend formats`: the recordings, and the faults that can be repaired.
    pub summary: &'static str,
    /// The singular nouns for a complete record and for one with measurements.
    pub nouns: [&'static str; 2],
    /// The program that writes the recordings.
    pub recorder: Recorder,
    /// Returns every rule, by code.
    pub rules: fn() -> &'static [&'static Rule],
    /// The limits, which are declared in the format's `limits.rs`.
    pub limits: &'static [&'static Limit],
    /// The options, which the format reads through a typed view in its `options.rs`.
    pub options: FormatOptions,
    /// The signs by which a recording is of this format.
    pub signs: FormatSigns,
    /// The effects of damage on a recording of this format.
    pub damage: DamageSigns,
    /// Codes of a check whose faults make today's readers crash, hang, run out of memory or write
    /// where they should not.
    pub hazards: &'static [&'static str],
}

/// The program that writes the recordings of a format, in the words of its users.
pub struct Recorder {
    /// For example `perf`, or `the traced program`.
    pub name: &'static str,
    /// Whether users count a recording by what carries a measurement, and else by its records.
    pub counts_samples: bool,
    /// Whether a repair ends a recording before its damage, and a check counts no record after it.
    pub ends_at_damage: bool,
    /// The place of its records in time.
    pub clock: &'static Clock,
    /// The members of a dump that a comparison of two recordings treats in their own way.
    pub comparison: &'static Comparison,
}

/// The place of records in time, by the members that they have in a dump as JSON.
#[derive(Debug)]
#[non_exhaustive]
pub struct Clock {
    /// The readings, of which the first counts that a record has: the members that add up to it,
    /// each with its factor; empty if the records of a format have no order in time.
    pub readings: &'static [&'static [(&'static str, u64)]],
    /// The unit of a reading.
    pub unit: ClockUnit,
    /// Whether a reading of 0 means that the recorder did not read its clock.
    pub zero_is_unknown: bool,
    /// The members that name what a record is about, of which the first counts that a record has,
    /// each with a noun before it, such as `CPU`.
    pub rows: &'static [(&'static str, &'static str)],
    /// The members that name what happened, of which the first counts that a record has; else its
    /// kind does.
    pub names: &'static [&'static str],
    /// The members for the process and the thread of a record, of which the first counts that a
    /// record has.
    pub threads: &'static [[&'static str; 2]],
    /// Members that count records that the recorder lost.
    pub lost: &'static [&'static str],
}

/// The unit of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// Instructions of a guest.
    Instructions,
    /// Calls of a traced program.
    Calls,
}

impl Clock {
    /// The clock of records without an order in time, from which the others are built.
    pub const NONE: Self = Self {
        readings: &[],
        unit: ClockUnit::Nanoseconds,
        zero_is_unknown: false,
        rows: &[],
        names: &[],
        threads: &[],
        lost: &[],
    };
}

impl Description {
    /// A format without a name, a rule or a sign, from which the others are built.
    pub const EMPTY: Self = Self {
        name: "",
        summary: "",
        nouns: ["record", "sample"],
        recorder: Recorder {
            name: "its recorder",
            counts_samples: true,
            ends_at_damage: false,
            clock: &Clock::NONE,
            comparison: &Comparison::EXACT,
        },
        rules: || &[],
        limits: &[],
        options: FormatOptions {
            check: &[],
            view: &[],
            dump: &[],
            diff: &[],
            cut: &[],
            styles: &[],
        },
        signs: FormatSigns {
            magics: &[],
            beginnings: &[],
            always_has_magic: false,
            file_names: &[],
            containers: &[],
            is_sniffed_by_trial: false,
            directory: None,
        },
        damage: DamageSigns {
            ends_recording: false,
            signs_of_reading: &[],
            proofs_of_copy: CopyProofs { returns: &[], sizes: &[] },
        },
        hazards: &[],
    };
}

/// The options of a format.
pub struct FormatOptions {
    /// Those of a check and a repair.
    pub check: &'static [OptionSpec],
    /// Those of a map and of an audit: options of a check that name the recording.
    pub view: &'static [OptionSpec],
    /// Those of a dump: the filters that select records, and options of a check that decide how the
    /// bytes are read.
    pub dump: &'static [OptionSpec],
    /// Those of a comparison: options of a check that decide how the bytes are read.
    pub diff: &'static [OptionSpec],
    /// Those of a cut, of which a user gives at least one; empty if recordings cannot be cut.
    pub cut: &'static [OptionSpec],
    /// The styles of a dump with their purpose, the default first; empty without a dump.
    pub styles: &'static [(&'static str, &'static str)],
}

/// The signs by which a recording is of a format.
pub struct FormatSigns {
    /// Bytes with which recordings begin, of those that have a magic.
    pub magics: &'static [&'static [u8]],
    /// Other bytes with which recordings or files of them begin: too few for a magic, or of some
    /// versions only.
    pub beginnings: &'static [&'static [u8]],
    /// Whether every recording begins with a magic, so that one that is not recognised is damaged.
    pub always_has_magic: bool,
    /// Names that only recordings of the format have, with `*` for any text at the beginning. A
    /// file with such a name is not skipped in silence.
    pub file_names: &'static [&'static str],
    /// The wrappers that the format's own files have, so that no user has to unpack them.
    pub containers: &'static [Wrapper],
    /// Whether a format decodes files to recognise them that other formats may be sure of: it is
    /// asked after them.
    pub is_sniffed_by_trial: bool,
    /// The shape of a recording in a directory; `None` if a recording is always one file.
    pub directory: Option<&'static dyn DirectoryShape>,
}

/// The effects of damage on a recording of a format.
pub struct DamageSigns {
    /// Whether a repair ends a damaged recording at its damage, since no record after it can be
    /// found: such a repair may keep little.
    pub ends_recording: bool,
    /// Codes of warnings that a doubled, inserted or lost block may cause. Errors are such signs in
    /// every format; without a sign, no reading of the whole file is looked for.
    pub signs_of_reading: &'static [&'static str],
    /// Codes of faults that prove a doubled block.
    pub proofs_of_copy: CopyProofs,
}

/// A format, and everything that it declares about itself.
#[derive(Clone, Copy)]
pub struct FormatId(&'static Description);

impl FormatId {
    /// Returns the format with this description.
    pub(crate) const fn of(description: &'static Description) -> Self {
        Self(description)
    }

    /// Returns the declarations of the format.
    pub(crate) const fn description(self) -> &'static Description {
        self.0
    }

    /// Returns the short name, for example `perf`; [`FromStr`](std::str::FromStr) reads it.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns one line about the parts that are read and the faults that can be repaired.
    pub const fn summary(self) -> &'static str {
        self.0.summary
    }

    /// Returns the singular nouns of the format for a record, and for one with a measurement.
    pub const fn nouns(self) -> [&'static str; 2] {
        self.0.nouns
    }

    /// Returns the program that writes the recordings of the format.
    pub const fn recorder(self) -> &'static str {
        self.0.recorder.name
    }

    /// Returns the place of the records of a dump in time.
    pub const fn clock(self) -> &'static Clock {
        self.0.recorder.clock
    }

    /// Returns the singular noun of what users count a recording by, and whether that is a record
    /// with a measurement.
    pub const fn counted(self) -> (&'static str, bool) {
        let [record, sample] = self.0.nouns;
        let counts_samples = self.0.recorder.counts_samples;
        (if counts_samples { sample } else { record }, counts_samples)
    }

    /// Whether a repair ends a recording before its damage.
    pub const fn ends_at_damage(self) -> bool {
        self.0.recorder.ends_at_damage
    }

    /// Returns the singular noun for a record of a dump.
    pub const fn dumped_noun(self) -> &'static str {
        self.0.recorder.comparison.noun
    }

    /// Returns the members of a dump that name what a record is.
    pub const fn kind_members(self) -> &'static [&'static str] {
        self.0.recorder.comparison.kind
    }

    /// Returns the words after "first" for a record that differs between two recordings: in nothing
    /// but what differs between two runs of one program, and in more.
    pub const fn difference_titles(self) -> [&'static str; 2] {
        self.0.recorder.comparison.titles
    }

    /// Returns every rule of the format, by code.
    pub fn rules(self) -> &'static [&'static Rule] {
        (self.0.rules)()
    }

    /// Returns the options of a check and a repair that the format owns.
    pub const fn options(self) -> &'static [OptionSpec] {
        self.0.options.check
    }

    /// Returns the options of a map and of an audit that the format owns.
    pub const fn view_options(self) -> &'static [OptionSpec] {
        self.0.options.view
    }

    /// Returns the options of a dump that the format owns.
    pub const fn dump_options(self) -> &'static [OptionSpec] {
        self.0.options.dump
    }

    /// Returns the options of a comparison that the format owns.
    pub const fn diff_options(self) -> &'static [OptionSpec] {
        self.0.options.diff
    }

    /// Returns the options of a cut that the format owns; empty if its recordings cannot be cut.
    pub const fn cut_options(self) -> &'static [OptionSpec] {
        self.0.options.cut
    }

    /// Returns the styles of a dump with their purpose, the default first; empty if the format has
    /// no dump.
    pub const fn dump_styles(self) -> &'static [(&'static str, &'static str)] {
        self.0.options.styles
    }

    /// Returns the limits that the format owns.
    pub const fn limits(self) -> &'static [&'static Limit] {
        self.0.limits
    }

    /// Returns whether a file of this name should be a recording of the format.
    pub fn claims_name(self, name: &str) -> bool {
        self.0.signs.file_names.iter().any(|pattern| match pattern.strip_prefix('*') {
            Some(end) => name.ends_with(end),
            None => *pattern == name,
        })
    }

    /// Returns the shape of a recording that is a directory; `None` if a recording is always one
    /// file.
    pub const fn directory(self) -> Option<&'static dyn DirectoryShape> {
        self.0.signs.directory
    }
}

impl PartialEq for FormatId {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for FormatId {}

impl fmt::Debug for FormatId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for FormatId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
