//! The fields of records by name, for people. Checks read them by [`body`](super::body).

use super::kernel::MISC_MMAP_BUILD_ID;
use crate::kit::cursor::Cursor;
use crate::kit::num::to_u64;

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(u64),
    /// An address or a set of bits, which is shown in hexadecimal.
    Hex(u64),
    /// A text from the recording, without its NUL.
    Text(Vec<u8>),
}

/// The form of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    U16,
    U32,
    U64,
    /// As [`Form::U32`] and [`Form::U64`], in hexadecimal.
    Hex32,
    Hex64,
    /// Up to its NUL.
    Text,
    /// Bytes that are not shown.
    Skip(u64),
}

use Form::{Hex32, Hex64, Skip, Text, U16, U32, U64};

/// Names and forms of fields, in order.
type Layout = &'static [(&'static str, Form)];

const PID_TID: (&str, Form) = ("pid", U32);
const TID: (&str, Form) = ("tid", U32);
const MAP: [(&str, Form); 5] = [PID_TID, TID, ("addr", Hex64), ("len", Hex64), ("pgoff", Hex64)];
const FORK: Layout = &[PID_TID, ("ppid", U32), TID, ("ptid", U32), ("time", U64)];
const THROTTLE: Layout = &[("time", U64), ("id", U64), ("stream_id", U64)];

/// The fields of each type, as `include/uapi/linux/perf_event.h` and perf's `event.h` name them.
/// Lists and the fields after them are left out.
const LAYOUTS: [(u32, Layout); 32] = [
    (1, &[MAP[0], MAP[1], MAP[2], MAP[3], MAP[4], ("filename", Text)]),
    (2, &[("id", U64), ("lost", U64)]),
    (3, &[PID_TID, TID, ("comm", Text)]),
    (4, FORK),
    (5, THROTTLE),
    (6, THROTTLE),
    (7, FORK),
    (8, &[PID_TID, TID]),
    (11, &[("aux_offset", U64), ("aux_size", U64), ("flags", Hex64)]),
    (12, &[PID_TID, TID]),
    (13, &[("lost", U64)]),
    (15, &[("next_prev_pid", U32), ("next_prev_tid", U32)]),
    (16, &[PID_TID, TID, ("nr_namespaces", U64)]),
    (17, &[("addr", Hex64), ("len", U32), ("ksym_type", U16), ("flags", U16), ("name", Text)]),
    (18, &[("bpf_type", U16), ("flags", U16), ("id", U32)]),
    (19, &[("id", U64), ("path", Text)]),
    (20, &[("addr", Hex64), ("old_len", U16), ("new_len", U16)]),
    (21, &[("hw_id", Hex64)]),
    (22, &[("cookie", U64), ("nr", U64)]),
    (64, &[("attr_type", U32), ("attr_size", U32), ("config", Hex64)]),
    (66, &[("size", U32)]),
    (67, &[PID_TID, ("build_id", Skip(24)), ("filename", Text)]),
    (69, &[("nr", U64)]),
    (70, &[("auxtrace_type", U32)]),
    (
        71,
        &[
            ("size", U64),
            ("aux_offset", U64),
            ("reference", Hex64),
            ("idx", U32),
            TID,
            ("cpu", U32),
        ],
    ),
    (73, &[("nr", U64)]),
    (74, &[("map_type", U16)]),
    (75, &[("nr", U64)]),
    (76, &[("id", U64), ("cpu", U32), ("thread", U32), ("val", U64), ("ena", U64), ("run", U64)]),
    (77, &[("round_type", U64), ("time", U64)]),
    (78, &[("update_type", U64), ("id", U64)]),
    (80, &[("feat_id", U64)]),
];

/// MMAP2 with device and inode, and with a build id.
const MMAP2: Layout = &[
    MAP[0],
    MAP[1],
    MAP[2],
    MAP[3],
    MAP[4],
    ("maj", U32),
    ("min", U32),
    ("ino", U64),
    ("ino_generation", U64),
    ("prot", Hex32),
    ("flags", Hex32),
    ("filename", Text),
];
const MMAP2_BUILD_ID: Layout = &[
    MAP[0],
    MAP[1],
    MAP[2],
    MAP[3],
    MAP[4],
    ("build_id", Skip(24)),
    ("prot", Hex32),
    ("flags", Hex32),
    ("filename", Text),
];
const MMAP2_TYPE: u32 = 10;

/// Returns the fields of a record that is not a sample, up to the first one that does not fit.
pub fn fields(kind: u32, misc: u16, cursor: &mut Cursor<'_>) -> Vec<(&'static str, Value)> {
    let layout = match kind {
        MMAP2_TYPE if misc & MISC_MMAP_BUILD_ID == 0 => MMAP2,
        MMAP2_TYPE => MMAP2_BUILD_ID,
        _ => LAYOUTS.iter().find(|(of, _)| *of == kind).map_or(&[][..], |(_, layout)| layout),
    };
    let mut found = Vec::new();
    for (name, form) in layout {
        match read(cursor, *form) {
            Some(Some(value)) => found.push((*name, value)),
            Some(None) => {}
            None => break,
        }
    }
    found
}

/// Reads a field; the value is `None` if it is not shown.
fn read(cursor: &mut Cursor<'_>, form: Form) -> Option<Option<Value>> {
    let value = match form {
        U16 => Value::Number(cursor.u16("field").ok()?.into()),
        U32 => Value::Number(cursor.u32("field").ok()?.into()),
        U64 => Value::Number(cursor.u64("field").ok()?),
        Hex32 => Value::Hex(cursor.u32("field").ok()?.into()),
        Hex64 => Value::Hex(cursor.u64("field").ok()?),
        Text => {
            let text = cursor.until_nul().to_vec();
            cursor.bytes(to_u64(text.len()), "field").ok()?;
            Value::Text(text)
        }
        Skip(len) => {
            cursor.skip(1, len, "field").ok()?;
            return Some(None);
        }
    };
    Some(Some(value))
}
