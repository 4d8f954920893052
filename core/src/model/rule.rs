//! The rules that a recording can break, as documented data.

use std::fmt;
use std::str::FromStr;

/// The severity of a fault. Ordered: a later one is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A fact worth knowing, not a fault.
    Info,
    /// A fault that conforming readers tolerate.
    Warning,
    /// A fault that makes a conforming reader refuse or misread the recording.
    Error,
}

impl Severity {
    /// Returns the word that every output format uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Severity {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        [Self::Info, Self::Warning, Self::Error]
            .into_iter()
            .find(|severity| severity.name() == word)
            .ok_or_else(|| {
                let word = crate::kit::text::Untrusted(word.as_bytes());
                format!("unknown severity `{word}`, expected info, warning or error")
            })
    }
}

/// A kind of fault, as documented data. `tracemend explain CODE` prints its texts.
///
/// A code is two letters and four digits. The first digit is the level: 0 file and header, 1
/// framing, 2 body, 3 between records, 4 between files, 8 container and compression, 9 limits. Of a
/// rule of an audit it is the concern: 0 for a recipient, 1 private to the sender. A code never
/// changes its meaning; the name states the fault.
///
/// Texts are plain paragraphs, which the command line wraps; a line that begins with two spaces is
/// kept as it is.
#[derive(Debug, PartialEq, Eq)]
// The tests declare the rules of a toy format.
#[cfg_attr(not(feature = "testing"), non_exhaustive)]
pub struct Rule {
    /// The code, for example `PD1002`.
    pub code: &'static str,
    /// The name, for example `record-too-small`.
    pub name: &'static str,
    /// The severity, unless the user sets another one.
    pub severity: Severity,
    /// One line: the field, then the defect.
    pub summary: &'static str,
    /// The fault and its usual cause.
    pub problem: &'static str,
    /// The behaviour of readers. The first sentence is shown with every finding.
    pub impact: &'static str,
    /// The fix, or the next step for the user.
    pub remedy: Remedy,
    /// The source of the facts: program, release, file and function.
    pub source: &'static str,
}

impl Rule {
    /// Returns the first sentence of [`Rule::impact`], without its full stop.
    pub fn consequence(&self) -> &'static str {
        let sentence = self.impact.split_once(". ").map_or(self.impact, |(first, _)| first);
        sentence.strip_suffix('.').unwrap_or(sentence)
    }

    /// Returns whether it names the cause of other faults: that of a whole file, or of its way.
    pub(crate) fn is_cause(&self) -> bool {
        self.code.starts_with("CM01") || self.code.starts_with("TR")
    }

    /// Returns the sentences of [`Rule::impact`] after the first one that quote a message of a
    /// reader, without their full stops.
    pub fn quoting(&self) -> impl Iterator<Item = &'static str> {
        let sentences = self.impact.split(". ").skip(1).filter(|sentence| sentence.contains('"'));
        sentences.map(|sentence| sentence.strip_suffix('.').unwrap_or(sentence))
    }

    /// Returns the messages of readers and recorders that the texts quote: those in quotation
    /// marks, each once.
    pub fn messages(&self) -> Vec<&'static str> {
        let mut messages: Vec<&str> = Vec::new();
        for text in [self.impact, self.problem] {
            for quoted in text.split('"').skip(1).step_by(2) {
                if !messages.contains(&quoted) {
                    messages.push(quoted);
                }
            }
        }
        messages
    }

    /// Returns whether a repair has a fix for faults of this kind.
    pub const fn has_fix(&self) -> bool {
        matches!(self.remedy, Remedy::Fix(_))
    }
}

/// The remedy for a fault.
#[derive(Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The fix, its class and its cost, with the command.
    Fix(&'static str),
    /// The next step for the user if no fix exists, with the command if there is one.
    Next(&'static str),
}

/// Declares rules and the list `RULES` of all of them, so that the list cannot miss one.
macro_rules! rules {
    ($($name:ident = $rule:expr;)*) => {
        $(pub static $name: Rule = $rule;)*

        /// Every rule declared here, in the order of the codes.
        pub static RULES: &[&Rule] = &[$(&$name),*];
    };
}

pub(crate) use rules;

/// Rules of the command line and of all formats.
#[allow(missing_docs, reason = "a rule's own texts are its documentation")]
pub mod common {
    use super::{Remedy, Rule, Severity};

    rules! {
        EMPTY_FILE = Rule {
            code: "CM0001",
            name: "empty-file",
            severity: Severity::Error,
            summary: "the file is empty",
            problem: "The file has a length of 0 bytes. A recorder that is killed before its first \
                write, or a full disk, leaves such a file.",
            impact: "Every reader refuses the file or shows nothing.",
            remedy: Remedy::Next("Nothing was recorded, so nothing can be repaired. Record again, \
                or look for another copy of the file."),
            source: "POSIX: open with O_CREAT and O_TRUNC, before the first write",
        };
        UNKNOWN_FORMAT = Rule {
            code: "CM0002",
            name: "unknown-format",
            severity: Severity::Error,
            summary: "no format recognises the file",
            problem: "The file begins like none of the formats that this version knows, or, with \
                --type, not like that format. In a directory, this is reported only for a file \
                whose name is that of a recording, or whose neighbours are recordings and have \
                names that differ in numbers only (run-1.log, run-2.log) or the same unusual \
                ending (a.trace, b.trace). Such a file may have been encoded on its way: \
                compressed, in base64, as UTF-8 text. Of a file that is named, a recording is also \
                looked for after other bytes, and records of perf without their beginning.",
            impact: "The file cannot be checked. Readers of the format refuse it.",
            remedy: Remedy::Next("If the first bytes were overwritten, name the format to see the \
                rest; the beginning is still reported:\n\
                \x20 tracemend check --type perf FILE\n\
                `tracemend formats` lists the names. If the file is compressed as a whole, unpack \
                it first:\n\
                \x20 zcat perf.data.gz | tracemend check -"),
            source: "the magic numbers and first records of the five formats",
        };
        IRREGULAR_FILE = Rule {
            code: "CM0003",
            name: "irregular-file",
            severity: Severity::Error,
            summary: "the path is not a regular file",
            problem: "Devices, sockets and named pipes have no length and cannot be read twice. \
                Symbolic links in a directory are not followed; --strict reports them.",
            impact: "The path cannot be checked.",
            remedy: Remedy::Next("Pass a stream through standard input, which is first copied into \
                a temporary file:\n\
                \x20 tracemend check - < PATH"),
            source: "POSIX: stat, st_mode",
        };
        NO_RECORDING = Rule {
            code: "CM0004",
            name: "no-recording",
            severity: Severity::Error,
            summary: "the directory contains no recording",
            problem: "No file below the directory is a recording. The recorder may have failed, or \
                written to another place, or the path is wrong.",
            impact: "Nothing was checked: no file here is a recording that tracemend knows.",
            remedy: Remedy::Next("Look at the files that were skipped, and name one to see why:\n\
                \x20 tracemend check FILE\n\
                If the directory may be empty:\n\
                \x20 tracemend check DIR --allow CM0004"),
            source: "the walk of the directory",
        };
        STILL_BEING_WRITTEN = Rule {
            code: "CM0005",
            name: "still-being-written",
            severity: Severity::Error,
            summary: "the recording is still being written",
            problem: "Another program has a file of the recording open for writing, or the length \
                or the time of change of a file changed while it was read. Recorders write counts, \
                sizes and tables at the end, so until then a sound recording has the same faults \
                as one whose recorder was killed. Such faults are counted in the message and not \
                listed. An open file is seen on Linux, on a local file system, and by its owner or \
                root; everywhere else only the change is seen. A recording from standard input is \
                a copy, of which neither is known.",
            impact: "The recording is not complete yet, so its present bytes say nothing about its \
                soundness. A file that is replaced now, by `repair --in-place` or by hand, loses \
                everything that its recorder writes afterwards.",
            remedy: Remedy::Next("Wait until the recorder has ended, then check again. To save \
                the records so far without touching the recording:\n\
                \x20 tracemend repair FILE -o COPY\n\
                If the program that has the file open is not its recorder:\n\
                \x20 tracemend check FILE --allow CM0005"),
            source: "Linux: fcntl(2), F_SETLEASE with F_RDLCK, which gives EAGAIN for a file that \
                is open for writing; POSIX: stat, st_size and st_mtim",
        };
        LITTLE_KEPT = Rule {
            code: "CM0006",
            name: "little-kept",
            severity: Severity::Error,
            summary: "the repair keeps nearly nothing of a file",
            problem: "The fixes make a valid recording, but no complete record of the source is in \
                it, or less than 5 % of the content: of the bytes outside runs of 64 or more of \
                one value. Or the file was compressed, packed or converted as a whole, so that its \
                bytes are not a recording. Files with up to 512 bytes of content are not judged by \
                their share, nor are QEMU logs and traces of apitrace in gzip, which end at their \
                damage, nor what --part takes out of a file. Only a repair reports this.",
            impact: "The result would look complete and hold events that nobody recorded. Nothing \
                is written, and the exit status is 4.",
            remedy: Remedy::Next("Files are often compressed, packed or converted on their way. \
                Undo that, and repair the result:\n\
                \x20 gzip -dc FILE > OUT\n\
                \x20 iconv -f UTF-8 -t ISO-8859-1 FILE > OUT\n\
                Otherwise look for another copy of the recording. To write the little that is \
                left:\n\
                \x20 tracemend repair FILE --partial"),
            source: "core/src/mend/remainder.rs",
        };
        DOUBLED_BLOCK = Rule {
            code: "CM0101",
            name: "doubled-block",
            severity: Severity::Error,
            summary: "a block of the file is repeated",
            problem: "The same bytes follow one another, and without the second ones the offsets, \
                sizes, counts and clocks of the recording agree. A copy that was resumed at a \
                wrong offset, or a block that was written again, leaves this. The faults that the \
                copy causes are not reported.",
            impact: "Readers look for everything after the block at a wrong offset, or read its \
                records twice: samples count double, clocks go back, a replay hangs.",
            remedy: Remedy::Fix("Drops the second of the two blocks.\n\
                Class: exact if a stored size or count, or a clock that goes back in the copy, \
                proves it; else lossy, as is one that leaves other faults. Passes of a loop are a \
                copy only if a stored size or count shows their length.\n\
                Cost: none.\n\
                Run:\n\
                \x20 tracemend repair FILE -o repaired"),
            source: "the bytes of the file, and the check of its format without the block",
        };
        INSERTED_BYTES = Rule {
            code: "CM0102",
            name: "inserted-bytes",
            severity: Severity::Error,
            summary: "bytes were inserted into the file",
            problem: "From one place on, everything lies further back than the offsets and sizes \
                of the recording say, by the same number of bytes. Without the bytes at that place \
                they agree. Or the recording begins after other bytes: a mark of a byte order, or \
                lines of the tool that copied it. The faults that the bytes cause are not \
                reported, unless the place is known only as a range: then each of them has its \
                fix, and this finding has none.",
            impact: "Readers look for everything after the bytes at a wrong offset.",
            remedy: Remedy::Fix("Drops the inserted bytes.\n\
                Class: exact (witnesses: the offsets and sizes that agree then, or the beginning \
                that every recording has); lossy if other faults are left.\n\
                Cost: none.\n\
                Run:\n\
                \x20 tracemend repair FILE -o repaired"),
            source: "the bytes of the file, and the check of its format without them",
        };
        MISSING_BYTES = Rule {
            code: "CM0103",
            name: "missing-bytes",
            severity: Severity::Error,
            summary: "bytes of the file are missing",
            problem: "From one place on, everything lies nearer than the offsets and sizes of the \
                recording say, by the same number of bytes. With bytes in that place they agree. \
                The faults that the gap causes are not reported, unless the place is known only as \
                a range: then each of them has its fix, and this finding has none.",
            impact: "Readers look for everything after the gap at a wrong offset.",
            remedy: Remedy::Fix("Inserts as many bytes, so that everything has its place again: \
                those that copies determine, and zeros for others. Records and tables that the gap \
                touches are then repaired or dropped as usual.\n\
                Class: exact if other fields determine all missing bytes, as those of a header; \
                else lossy.\n\
                Cost: the records that the gap touches.\n\
                Run:\n\
                \x20 tracemend repair FILE -o repaired"),
            source: "the bytes of the file, and the check of its format with the gap",
        };
        EXCHANGED_BLOCKS = Rule {
            code: "CM0104",
            name: "exchanged-blocks",
            severity: Severity::Error,
            summary: "two blocks of the file are in each other's places",
            problem: "Two blocks of equal length are exchanged: in the other order the records of \
                the recording follow one another to their stated end, or its clocks ascend. A \
                transfer in parts that were put together in a wrong order, or a file system after \
                a crash, leaves this. The faults that it causes are not reported.",
            impact: "Readers stop at the first of the two blocks, skip records or show wrong ones.",
            remedy: Remedy::Fix("Exchanges the two blocks again.\n\
                Class: exact if no fault is left, no other pair of blocks fits and events show \
                where the blocks begin and end; else lossy, as always in perf.data, where usual \
                sizes of blocks give their borders.\n\
                Cost: none, or the records at the borders if a block begins elsewhere.\n\
                Run:\n\
                \x20 tracemend repair FILE -o repaired"),
            source: "the bytes of the file, and the check of its format with the blocks exchanged",
        };
        HOLE = Rule {
            code: "CM0105",
            name: "hole",
            severity: Severity::Error,
            summary: "zeros between the borders of disk blocks, or up to the end of the file: a \
                part never reached the disk",
            problem: "A hole is zeros from one border of blocks to another (multiples of 512 \
                bytes). A preallocated tail is the zeros at the end of the file, if they begin or \
                end at a border. Other findings lie in them or beside them; it is a warning if \
                these are. After a power loss the length \
                of a file is on the disk before its pages are; a download or a recorder may \
                reserve the space before it writes; a copy with `dd conv=noerror,sync` writes \
                zeros for what it cannot read.",
            impact: "Readers stop at the zeros, or show records of zeros.",
            remedy: Remedy::Fix("The bytes are lost. The errors beside this finding have fixes, \
                which keep the records around the hole.\n\
                Class: that of these fixes, mostly lossy.\n\
                Run:\n\
                \x20 tracemend repair FILE -o repaired"),
            source: "the bytes of the file, and the check of its format",
        };
        LIMIT_REACHED = Rule {
            code: "CM9001",
            name: "limit-reached",
            severity: Severity::Error,
            summary: "a limit of tracemend was reached, so the verdict is incomplete",
            problem: "Every resource that a file can demand has a limit with a name, a number and \
                a reason; SECURITY.md lists them. Bytes after the place of this finding were not \
                checked.",
            impact: "There may be more faults than are reported. The exit status is 6.",
            remedy: Remedy::Next("If you trust the recording, check it with a build or a library \
                call that sets a higher limit (`Limits::set_by_name`)."),
            source: "core/src/model/limits.rs and the file limits.rs of each format",
        };
        SEARCH_ENDED = Rule {
            code: "CM9002",
            name: "search-ended",
            severity: Severity::Warning,
            summary: "a search for intact data reached its limit and ended",
            problem: "After damage, tracemend searches for the next valid record, or for the order \
                of displaced parts. Each search has a limit with a name, a number and a reason; \
                SECURITY.md lists them. This one ended without a result. The bytes that it was for \
                count as damage, and the check went on after them.",
            impact: "Intact records among these bytes are not found, so a repair drops them.",
            remedy: Remedy::Next("Another copy of the recording may lack the damage. A library \
                call can set a higher limit (`Limits::set_by_name`)."),
            source: "core/src/model/limits.rs and the file limits.rs of each format",
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_consequence_is_the_first_sentence_of_the_impact() {
        assert_eq!(
            common::LIMIT_REACHED.consequence(),
            "There may be more faults than are reported"
        );
        assert_eq!(common::UNKNOWN_FORMAT.consequence(), "The file cannot be checked");
    }

    #[test]
    fn messages_of_readers_are_those_in_quotation_marks() {
        let rule = Rule {
            problem: "The recorder ends with \"no space left\".",
            impact: "A reader stops. It prints \"bad, at 7\" or \"worse\". Another one reads on. \
                So does \"worse\".",
            remedy: Remedy::Next("Use another reader."),
            ..common::EMPTY_FILE
        };
        assert_eq!(rule.messages(), ["bad, at 7", "worse", "no space left"]);
        let quoting: Vec<&str> = rule.quoting().collect();
        assert_eq!(quoting, ["It prints \"bad, at 7\" or \"worse\"", "So does \"worse\""]);
        assert_eq!(common::EMPTY_FILE.messages(), [""; 0]);
    }
}
