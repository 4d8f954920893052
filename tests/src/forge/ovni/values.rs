//! A trace whose metadata has one unusual value: every key, with every value of a list.

use serde_json::Value;

use super::{Stream, Thread, Trace};

/// Keys of the metadata, as pointers of JSON.
pub const KEYS: [&str; 33] = [
    "/version",
    "/ovni",
    "/ovni/part",
    "/ovni/tid",
    "/ovni/pid",
    "/ovni/loom",
    "/ovni/app_id",
    "/ovni/rank",
    "/ovni/nranks",
    "/ovni/finished",
    "/ovni/require",
    "/ovni/require/ovni",
    "/ovni/require/nosv",
    "/ovni/require/private",
    "/ovni/lib",
    "/ovni/lib/version",
    "/ovni/lib/commit",
    "/ovni/loom_cpus",
    "/ovni/loom_cpus/0",
    "/ovni/loom_cpus/0/index",
    "/ovni/loom_cpus/0/phyid",
    "/ovni/loom_cpus/1/phyid",
    "/ovni/mark",
    "/ovni/mark/3",
    "/ovni/mark/3/title",
    "/ovni/mark/3/chan_type",
    "/ovni/mark/3/labels",
    "/ovni/mark/3/labels/5",
    "/nosv",
    "/nosv/hwc",
    "/nosv/hwc/0",
    "/nosv/hwc/0/name",
    "/nosv/can_breakdown",
];

/// Keys whose name is a number.
pub const NUMBERED: [&str; 3] = ["/ovni/mark/3", "/ovni/mark/3/labels/5", "/nosv/hwc/0"];

/// Values as JSON.
pub const VALUES: [&str; 48] = [
    "0",
    "-0",
    "1",
    "2",
    "3",
    "7",
    "99",
    "100",
    "-1",
    "-7",
    "0.5",
    "-0.5",
    "1.5",
    "2.999",
    "3.9",
    "1e0",
    "1e300",
    "-1e300",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "4294967296",
    "4294967297",
    "9007199254740993",
    "true",
    "false",
    "null",
    "\"\"",
    "\" \"",
    "\"1\"",
    "\"thread\"",
    "\"single\"",
    "\"stack\"",
    "\"1.0.0\"",
    "\" 1.0.0 \"",
    "\"1.0\"",
    "\"1.0.0-rc1\"",
    "\"1.0.0.0\"",
    "\"+1.0.0\"",
    "\"1.99.0\"",
    "\"2.7.0\"",
    "\"a/b\"",
    "\"a\\u0000b\"",
    "[]",
    "[1]",
    "{}",
    "{\"a\": 1}",
];

/// Names for a key that is a number.
pub const NAMES: [&str; 16] = [
    "0",
    "1",
    "5",
    "99",
    "100",
    "-1",
    "-0",
    "+1",
    "03",
    " 3",
    "3 ",
    "3x",
    "x",
    "",
    "2147483648",
    "9223372036854775808",
];

/// Lengths of texts.
const LENGTHS: [usize; 5] = [254, 255, 256, 511, 512];

/// A trace with one unusual value.
#[derive(Clone, Debug)]
pub struct Unusual {
    /// The key.
    pub key: &'static str,
    /// The value, or the name that the key has instead; empty if the key is missing.
    pub value: String,
    /// The trace.
    pub trace: Trace,
}

/// Returns all traces with one unusual value.
pub fn all() -> Vec<Unusual> {
    let mut all = Vec::new();
    for key in KEYS {
        let long = LENGTHS.map(|len| format!("\"{}\"", "x".repeat(len)));
        let values = VALUES.into_iter().map(ToString::to_string).chain(long);
        all.extend(values.map(|value| {
            let trace = with_value(key, Some(&value));
            Unusual { key, value, trace }
        }));
        all.push(Unusual { key, value: String::new(), trace: with_value(key, None) });
    }
    for key in NUMBERED {
        all.extend(NAMES.map(|name| Unusual {
            key,
            value: format!("named {name:?}"),
            trace: with_name(key, name),
        }));
    }
    all
}

/// Stands for a value: a parser would change the text of a number.
const PLACE: &str = "the place of the value";

/// The trace with another value of a key, or without the key.
fn with_value(key: &str, value: Option<&str>) -> Trace {
    let mut root = metadata();
    match value {
        Some(_) => *root.pointer_mut(key).unwrap() = PLACE.into(),
        None => drop(take(&mut root, key)),
    }
    let place = format!("\"{PLACE}\"");
    trace(&root.to_string().replace(&place, value.unwrap_or_default()))
}

/// The trace in which a key has another name.
fn with_name(key: &str, name: &str) -> Trace {
    let mut root = metadata();
    let value = take(&mut root, key);
    let (parent, _) = key.rsplit_once('/').unwrap();
    root.pointer_mut(parent).unwrap()[name] = value;
    trace(&root.to_string())
}

/// Removes a member or an element.
fn take(root: &mut Value, key: &str) -> Value {
    let (parent, name) = key.rsplit_once('/').unwrap();
    match root.pointer_mut(parent).unwrap() {
        Value::Object(members) => members.remove(name).unwrap(),
        Value::Array(elements) => elements.remove(name.parse().unwrap()),
        _ => panic!("{parent} has no members"),
    }
}

fn thread() -> Thread {
    let mark = r#"{"3": {"title": "one", "chan_type": "single", "labels": {"5": "five"}}}"#;
    let counters = r#"{"hwc": {"0": {"name": "cycles"}}, "can_breakdown": true}"#;
    let thread = Thread::new(7, 7)
        .require("nosv", "2.7.0")
        .require("private", "1.0.0")
        .cpus(&[(0, 4), (1, 5)])
        .more("rank", "1")
        .more("nranks", "3")
        .more("mark", mark);
    Thread { other: vec![("nosv", counters.to_string())], ..thread }
}

fn metadata() -> Value {
    serde_json::from_str(&thread().json()).unwrap()
}

fn trace(metadata: &str) -> Trace {
    let stream = Stream::default().begin(0).mark("OM=", 5, 3).jumbo("VWC", &[1; 8]);
    let name = format!("{}/stream.json", thread().dir());
    Trace::of(&thread(), stream.plain(&["VHw", "VHW"]).end()).put(&name, Some(metadata.into()))
}
