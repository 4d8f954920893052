//! The way of a recording to its reader: how its files were wrapped or converted.

use crate::kit::span::{Layer, Span};
use crate::kit::wrapper::Wrapper;
use crate::model::Finding;
use crate::model::edit::Safety;

/// One way in which a file was wrapped or converted, undone before the recording is read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "testing"), non_exhaustive)]
pub struct Undone {
    /// The way.
    pub wrapper: Wrapper,
    /// The name of the file, relative to the recording.
    pub file: String,
    /// Length of the file before this step, in bytes.
    pub length: u64,
    /// CRC-32 (IEEE) of the file before this step.
    pub crc32: u32,
    /// The finding about it. Its span is in the file before this step.
    pub finding: Finding,
}

impl Undone {
    /// Returns whether a finding is about a way that a repair undoes, though its fix has no edits.
    pub fn is_about(finding: &Finding) -> bool {
        let is_undone = finding.fix.as_ref().is_some_and(|fix| fix.safety != Safety::Manual);
        is_undone && rules::RULES.contains(&finding.rule)
    }

    /// Returns the step as one of file number `index`.
    pub(crate) fn of_file(mut self, index: u32) -> Self {
        let span = self.finding.span;
        self.finding.span = Span::new(Layer::stored(index), span.start, span.end);
        self
    }
}

/// The rules about ways to a reader.
#[allow(missing_docs, reason = "a rule's own texts are its documentation")]
pub mod rules {
    use crate::model::rule::{Remedy, Rule, Severity, rules};

    rules! {
        PACKED = Rule {
            code: "TR0001",
            name: "packed",
            severity: Severity::Error,
            summary: "the recording is compressed, or in an archive",
            problem: "The file is not the recording, but one of gzip, xz, zstd, bzip2, LZ4, zip or \
                tar with the recording in it. Everything else that is reported is about the \
                recording, with offsets in it. An archive of one recording, or of one folder that \
                is a recording, is read; other files in it are not looked at. A file whose name \
                says how it is packed (perf.data.gz) gets a note.",
            impact: "The tools of the format do not unpack it: they refuse the file.",
            remedy: Remedy::Fix("Writes the recording instead of the wrapper.\n\
                Class: exact; lossy if the wrapper is damaged, and the rest cannot be read.\n\
                Cost: none. The way back is the wrapper: keep it.\n\
                Run:\n\
                \x20 tracemend repair FILE -o recording"),
            source: "RFC 1952, RFC 8878, the specifications of xz, bzip2, LZ4 frames, zip and \
                POSIX tar; the magic or the events of a recording in it",
        };
        ENCODED_AS_TEXT = Rule {
            code: "TR0002",
            name: "encoded-as-text",
            severity: Severity::Error,
            summary: "the recording was written as text",
            problem: "The file is base64, a hex dump (xxd, hexdump, od), quoted-printable, \
                uuencode, an array in C or a string with escapes (JSON, Python, C), as recordings \
                are put into mails, logs, fields and reports. Text before and after it belongs to \
                the mail or log. Everything else that is \
                reported is about the recording, with offsets in it.",
            impact: "The tools of the format do not decode it: they refuse the file.",
            remedy: Remedy::Fix("Writes the recording instead of the text.\n\
                Class: exact; lossy if the text is damaged or cut.\n\
                Cost: none. The way back is the text: keep it.\n\
                Run:\n\
                \x20 tracemend repair FILE -o recording"),
            source: "RFC 4648, RFC 2045, RFC 8259, POSIX uuencode, xxd, hexdump and od; the magic \
                or the events of a recording in it",
        };
        CONVERTED_CHARACTERS = Rule {
            code: "TR0003",
            name: "converted-characters",
            severity: Severity::Error,
            summary: "the recording was converted to UTF-8",
            problem: "An editor, a field of JSON or XML or an upload as text took each byte for a \
                character of Latin-1, Windows-1252, code page 437 or Mac OS Roman, and wrote it as \
                UTF-8. Each byte from 0x80 on became two or three bytes. Everything else that is \
                reported is about the recording, with offsets in it.",
            impact: "Readers refuse the file, or read nearly nothing of it: all sizes are wrong.",
            remedy: Remedy::Fix("Converts the characters back to bytes.\n\
                Class: exact: each character has one byte, which gives the same file again.\n\
                Cost: none.\n\
                Run:\n\
                \x20 tracemend repair FILE -o recording"),
            source: "ISO 8859-1, the tables of the code pages, RFC 3629; the recording that comes \
                out",
        };
        CONVERTED_LINE_ENDS = Rule {
            code: "TR0004",
            name: "converted-line-ends",
            severity: Severity::Error,
            summary: "line feeds of the recording became CR LF",
            problem: "Each byte 0x0a stands after a byte 0x0d, and without these the sizes and \
                offsets of the recording agree. A terminal (`docker exec -t`, `adb shell`), a \
                transfer in text mode or git's autocrlf puts them there. Everything else that is \
                reported is about the recording, with offsets in it.",
            impact: "Everything after the first line feed lies at a wrong offset: readers lose \
                records and tables, or refuse the file.",
            remedy: Remedy::Fix("Drops the byte 0x0d before each 0x0a.\n\
                Class: exact: without them the recording is sound, and its bytes give the same \
                file again.\n\
                Cost: none.\n\
                Run:\n\
                \x20 tracemend repair FILE -o recording"),
            source: "termios(3), ONLCR; gitattributes(5), eol; the check of the recording without \
                them",
        };
        SWAPPED_WORDS = Rule {
            code: "TR0005",
            name: "swapped-words",
            severity: Severity::Error,
            summary: "the bytes of each word are in the opposite order",
            problem: "The bytes of all words of two or four bytes are reversed, whatever field \
                they belong to. A tape, a device or a tool such as `dd conv=swab` does this. \
                Everything else that is reported is about the recording, with offsets in it.",
            impact: "The magic is wrong, so the tools of the format refuse the file.",
            remedy: Remedy::Fix("Reverses the bytes of each word.\n\
                Class: exact: the bytes give the same file again.\n\
                Cost: none.\n\
                Run:\n\
                \x20 tracemend repair FILE -o recording"),
            source: "POSIX: dd, conv=swab; the recording that comes out",
        };
        STAMPED_LINES = Rule {
            code: "TR0006",
            name: "stamped-lines",
            severity: Severity::Error,
            summary: "each line of the recording has a time stamp before it",
            problem: "A recorder wrote the recording to its standard output, and a log put a time \
                stamp before each line of it, that is after each byte 0x0a. Everything else that \
                is reported is about the recording, with offsets in it.",
            impact: "The magic is not at the beginning, and sizes are wrong: readers refuse the \
                file.",
            remedy: Remedy::Fix("Drops the time stamps.\n\
                Class: exact: each line begins with one of the same form.\n\
                Cost: the time stamps, which were not recorded.\n\
                Run:\n\
                \x20 tracemend repair FILE -o recording"),
            source: "the lines of the file, and the recording that comes out",
        };
        TEXT_BEFORE = Rule {
            code: "TR0007",
            name: "text-before",
            severity: Severity::Error,
            summary: "text stands before the recording",
            problem: "The recording begins after lines of text, or after the mark of a byte order: \
                a tool that copied it wrote them to the same stream (`adb shell`, `ssh`, an answer \
                of HTTP with its head), or an editor saved the file. Everything else that is \
                reported is about the recording, with offsets in it.",
            impact: "The magic is not at the beginning: the tools of the format refuse the file.",
            remedy: Remedy::Fix("Drops the text.\n\
                Class: exact: a magic follows it.\n\
                Cost: the text, which was not recorded.\n\
                Run:\n\
                \x20 tracemend repair FILE -o recording"),
            source: "the first lines of the file, and the recording after them",
        };
        TEXT_AFTER = Rule {
            code: "TR0008",
            name: "text-after",
            severity: Severity::Error,
            summary: "text stands after the recording",
            problem: "The recording ends before lines of text, and has fewer faults without them: \
                its recorder, or what carried it, wrote them to the same stream (`2>&1`, the end \
                of a part of a mail, a log). Everything else that is reported is about the \
                recording.",
            impact: "perf reads a pipe up to the text and ends with \"unexpected end of event \
                stream\", apitrace with a warning; the emulator of ovni takes it for events and \
                fails. Where a recording states its end, readers read over it: then this is a \
                warning.",
            remedy: Remedy::Fix("Drops the text.\n\
                Class: exact: the recording ends where it begins.\n\
                Cost: the text, which was not recorded.\n\
                Run:\n\
                \x20 tracemend repair FILE -o recording"),
            source: "the last lines of the file, and the check of the recording before them",
        };
        BYTES_LOST = Rule {
            code: "TR0101",
            name: "bytes-lost-on-the-way",
            severity: Severity::Error,
            summary: "the recording was converted as text, and bytes of it were lost",
            problem: "The recording has faults everywhere, and its bytes show the cause: invalid \
                UTF-8 became U+FFFD (EF BF BD), a channel of seven bits cleared the highest bit, \
                bytes became question marks, or zeros were removed. Other faults are its effects.",
            impact: "Readers refuse the file or show records that were never made.",
            remedy: Remedy::Next("The bytes cannot be found again. Copy the recording from its \
                source once more, as binary data: `adb pull` instead of `adb shell cat`, FTP in \
                binary mode, no editor and no clipboard."),
            source: "the first 64 KiB of the file, and the check of the recording",
        };
        CONTROLS_LOST = Rule {
            code: "TR0103",
            name: "control-characters-lost",
            severity: Severity::Error,
            summary: "a terminal or a serial line took control characters from the recording",
            problem: "The recording has faults, and certain control characters are nowhere in it: \
                XON and XOFF, which stop and start a serial line, ^C, ^D, ^Z, escape, delete, or \
                carriage returns. Every other byte up to the space is there. Records are a byte or \
                two short where a character was dropped, or have another one in its place.",
            impact: "Readers refuse the file, or lose the records that are too short.",
            remedy: Remedy::Fix("The characters and their places are lost. Copy the recording \
                from its source once more, as binary data: a raw terminal (`stty raw`), no \
                software flow control (`stty -ixon -ixoff`), or base64. If there is no source, \
                repair drops the records that are too short and keeps those that lost none.\n\
                Class: lossy. Cost: the records that lost a character.\n\
                Run:\n\
                \x20 tracemend repair FILE -o recording"),
            source: "the first 4 MiB of the file: how often each byte is there, measured in 210 \
                recordings",
        };
        SEVERAL_RECORDINGS = Rule {
            code: "TR0102",
            name: "several-recordings-packed",
            severity: Severity::Error,
            summary: "an archive holds several recordings",
            problem: "The file is an archive (zip or tar, perhaps compressed) with more than one \
                recording in it, and a command reads one.",
            impact: "None of them is checked.",
            remedy: Remedy::Next("Unpack the archive into a folder and check that: each recording \
                below it gets its verdict, and `repair --out-dir` repairs all of them.\n\
                Run:\n\
                \x20 mkdir DIR && tar -xf FILE -C DIR && tracemend check DIR"),
            source: "the names and the first bytes of the files in the archive",
        };
    }
}
