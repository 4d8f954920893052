//! The parts of which the content of a feature consists.
//!
//! ```text
//!  text := len u32, len bytes that contain a NUL (perf pads to a multiple of 64)
//!  list := count, entry*
//! ```

use std::collections::BTreeMap;

use self::Part::{Bitmap, Blob, CpuList, Fields, List, One, Read, Rest, Text};
use crate::kit::row::Form;
use crate::kit::row::Row;

/// A number that is read on its own: its label and its form.
pub type Number = (&'static str, Form);

/// A part of a content.
pub enum Part {
    /// Fields of fixed sizes.
    Fields(&'static Row),
    /// A text.
    Text(&'static str, Holds),
    /// A text that lists CPUs.
    CpuList(&'static str),
    /// A version, which is 1.
    One(Number),
    /// A u32 size, and as many bytes.
    Blob(&'static str, &'static str),
    /// A u64 number of bits, and the words that hold them.
    Bitmap(&'static str, &'static str),
    /// A count, the highest one that perf 7 accepts, and as many entries.
    List(Number, u64, &'static [Part]),
    /// Everything that is left, in which perf 7 needs these fields.
    Rest(&'static str, &'static Row),
    /// Everything that is left, by a reader of its own: the labels of its names and of its facts.
    Read(Reader, &'static str, &'static str),
}

/// The readers in `decode/feature`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// TRACING_DATA.
    Tracing,
    /// BUILD_ID.
    BuildIds,
    /// EVENT_DESC.
    Events,
    /// CPU_TOPOLOGY.
    Topology,
    /// CPU_DOMAIN_INFO.
    Domains,
    /// AUXTRACE.
    AuxtraceIndex,
    /// BPF_PROG_INFO.
    Programs,
    /// FILE.
    Files,
    /// META_INFO.
    MetaInfo,
    /// DEBUG_UNWIND.
    Unwinding,
    /// FILE2.
    FileMessages,
    /// INIT_MAP.
    InitMaps,
}

/// The meaning of a field for an audit. A field of bytes that has none is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Numbers about the machine or the recording.
    Facts,
    /// A text that perf writes by itself, or that a user chose.
    Name,
    /// An argument of the command line.
    Argument,
    /// The name of a host.
    HostName,
    /// The name of an architecture.
    Machine,
    /// The version of perf.
    Version,
    /// Another text about the machine.
    Description,
}

/// Returns the meaning of the fields by label.
pub fn meanings(parts: &[Part]) -> BTreeMap<&'static str, Holds> {
    let mut found = BTreeMap::new();
    for part in parts {
        match part {
            Text(label, holds) => found.extend([(*label, *holds)]),
            CpuList(label) => found.extend([(*label, Holds::Name)]),
            Bitmap(_, words) => found.extend([(*words, Holds::Facts)]),
            List(_, _, entry) => found.extend(meanings(entry)),
            Read(_, names, facts) => {
                found.extend(names.split_ascii_whitespace().map(|label| (label, Holds::Name)));
                found.extend(facts.split_ascii_whitespace().map(|label| (label, Holds::Facts)));
            }
            Fields(_) | One(_) | Blob(..) | Rest(..) => {}
        }
    }
    found
}
