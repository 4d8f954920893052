//! The content of one `stream.json`.

use crate::formats::ovni::layout::{MODEL_COUNT, Version};
use crate::kit::span::Span;

/// A value and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Its bytes.
    pub span: Span,
}

/// The content of a `stream.json`. Values that could not be read are absent.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    /// The file is valid JSON, and an object.
    pub is_readable: bool,
    /// `ovni.finished` is exactly 1.
    pub is_finished: bool,
    /// The value of `ovni.finished`.
    pub finished: Option<Span>,
    /// The object `ovni`, or the whole text without it.
    pub object: Option<Span>,
    /// Keys that are missing or invalid.
    pub faults: KeyFaults,
    /// `ovni.part` and the thread.
    pub identity: Identity,
    /// Values that all threads of a process share.
    pub process: ProcessKeys,
    /// `ovni.require`, if it is an object: versions of known models.
    pub require: Option<[Option<Version>; MODEL_COUNT]>,
    /// CPUs, mark types and hardware counters.
    pub definitions: Definitions,
    /// `ovni.lib.version`.
    pub lib: Option<String>,
}

impl Metadata {
    /// Whether `ovni.part` names another part than `thread`.
    pub fn is_other_part(&self) -> bool {
        self.identity.part.as_deref().is_some_and(|part| part != "thread")
    }

    /// Whether it is as libovni writes it at the start: the process was killed. Damaged metadata
    /// has other gaps.
    pub fn is_initial(&self) -> bool {
        let has_start = self.identity.tid.is_some() && self.identity.pid.is_some();
        self.is_readable && has_start && self.finished.is_none() && self.require.is_none()
    }

    /// Whether `ovni.rank` exists, and is invalid or contradicts `ovni.nranks`.
    pub fn has_invalid_rank(&self) -> bool {
        self.faults.is_invalid("rank") || self.process.contradicting.is_some()
    }

    /// Returns the required version of each known model.
    pub fn required(&self) -> [Option<Version>; MODEL_COUNT] {
        self.require.unwrap_or_default()
    }
}

/// Keys that are missing or invalid.
#[derive(Clone, Debug, Default)]
pub struct KeyFaults {
    /// Mandatory keys of `ovni` that are missing.
    pub missing: Vec<&'static str>,
    /// Keys with an invalid value.
    pub invalid: Vec<InvalidKey>,
}

impl KeyFaults {
    /// Whether the value of a key is invalid, or one that the emulator reads as another one.
    pub fn is_invalid(&self, key: &str) -> bool {
        self.invalid.iter().any(|one| one.key == key)
    }
}

/// A key with an invalid value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidKey {
    /// The path of the key in the object `ovni`; `version` is in the root.
    pub key: &'static str,
    /// The model whose version it is, by its number.
    pub model: Option<usize>,
    /// What the emulator makes of it.
    pub flaw: Flaw,
    /// The value.
    pub span: Span,
    /// The value and what was expected.
    pub message: String,
}

/// How a value is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The emulator refuses it.
    Refused,
    /// The emulator reads it as another value, or ignores it.
    Tolerated,
    /// It is a version that the emulator does not support.
    Unsupported,
    /// It leads out of its directory.
    Unsafe,
}

/// `ovni.part` and the thread.
#[derive(Clone, Debug, Default)]
pub struct Identity {
    /// `ovni.part`.
    pub part: Option<String>,
    /// `ovni.tid`.
    pub tid: Option<Located<i64>>,
    /// `ovni.pid`.
    pub pid: Option<Located<i64>>,
    /// `ovni.loom`.
    pub loom: Option<Located<String>>,
    /// Keys of `ovni` lie in another object: brackets were damaged.
    pub has_displaced_keys: bool,
}

/// Values that all threads of a process share.
#[derive(Clone, Debug, Default)]
pub struct ProcessKeys {
    /// `ovni.app_id`.
    pub app_id: Option<Located<i64>>,
    /// `ovni.app_id` exists, valid or not.
    pub has_app_id: bool,
    /// `ovni.rank`.
    pub rank: Option<Located<i64>>,
    /// `ovni.nranks`.
    pub nranks: Option<Located<i64>>,
    /// `ovni.rank` and `ovni.nranks` as they are stored, if they contradict each other.
    pub contradicting: Option<(i64, i64)>,
}

/// Definitions for the whole loom or trace.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    /// `ovni.require` names a model that is not in the table.
    pub requires_unknown: bool,
    /// `ovni.loom_cpus`.
    pub cpus: Vec<Cpu>,
    /// `ovni.mark`.
    pub marks: Vec<MarkType>,
    /// `nosv.hwc`, if it names any counter.
    pub counters: Option<Vec<Counter>>,
}

/// One CPU of a loom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// Logical number, from 0.
    pub index: i64,
    /// Number in the operating system.
    pub phyid: i64,
    /// The entry.
    pub span: Span,
}

/// A mark type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkType {
    /// Its number.
    pub number: i32,
    /// Its title.
    pub title: String,
    /// Its values are stacked.
    pub is_stack: bool,
    /// Labels of values.
    pub labels: Vec<(i64, String, Span)>,
    /// The definition.
    pub span: Span,
}

/// A hardware counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Its number.
    pub index: i64,
    /// Its name.
    pub name: String,
    /// The definition.
    pub span: Span,
}
