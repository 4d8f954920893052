//! Workload Automation's Python reader as the judge of revent recordings.
//!
//! `TRACEMEND_WLAUTO` names the folder of the unpacked package `wlauto` (3.x), which contains
//! `wa/utils/revent.py`. Only this file is run, unchanged. Empty modules replace its imports from
//! the rest of the framework, which it does not need to read a recording.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Judge;

/// Runs the reader on paths, one per line, and prints one line of JSON per path: the recording, or
/// the error.
const DRIVER: &str = r#"
import json, sys, types
def put(name, **members):
    module = types.ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module
for name in ("devlib", "devlib.utils", "wa", "wa.framework", "wa.utils"):
    put(name)
put("devlib.utils.misc", memoized=lambda f: f)
put("wa.framework.resource", Executable=object, NO_ONE=None, ResourceResolver=object)
put("wa.utils.exec_control", once_per_class=lambda f: f)
reader = {"__name__": "revent"}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), reader)
fields = []
def seen(fh, legacy=False):
    spec = reader["old_event_struct" if legacy else "event_struct"]
    fields.append(spec.unpack(fh.read(spec.size)))
    fh.seek(-spec.size, 1)
    return original(fh, legacy)
original = reader["ReventEvent"]
reader["ReventEvent"] = seen
for path in sys.stdin.read().splitlines():
    del fields[:]
    try:
        recording = reader["ReventRecording"](path)
        events = list(recording.events)
        pad = recording.gamepad_device
        print(json.dumps({
            "version": recording.version,
            "mode": recording.mode,
            "num_events": recording.num_events,
            "read": len(events),
            "events": [list(event) for event in fields],
            "paths": [
                path.decode("latin-1") if isinstance(path, bytes) else path
                for path in recording.device_paths
            ],
            "axes": None if pad is None else [list(axis) for axis in pad.absinfo],
        }))
    except Exception as error:
        print(json.dumps({"error": type(error).__name__ + ": " + str(error)}))
"#;

/// The reader as a judge.
pub static JUDGE: Judge = Judge {
    name: "wlauto",
    install: "unpack wlauto 3.3.1 from PyPI and set TRACEMEND_WLAUTO to its folder; needs python3",
    probe: || Wlauto::find().map(|found| found.module.display().to_string()),
};

/// The reader.
#[derive(Debug)]
pub struct Wlauto {
    module: PathBuf,
}

/// A recording as the reader returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The version.
    pub version: u64,
    /// The count, in versions that have one.
    pub num_events: Option<u64>,
    /// Every event: device, seconds, microseconds, type, code, value.
    pub events: Vec<[i64; 6]>,
    /// Paths of the devices.
    pub paths: Vec<String>,
    /// Axes of a gamepad.
    pub axes: Option<Vec<Vec<i64>>>,
}

impl Wlauto {
    /// Finds the reader and an interpreter.
    ///
    /// # Errors
    ///
    /// The reason, if one of them is missing.
    pub fn find() -> Result<Self, String> {
        let folder = std::env::var_os("TRACEMEND_WLAUTO").ok_or("TRACEMEND_WLAUTO is not set")?;
        let module = PathBuf::from(folder).join("wa/utils/revent.py");
        if !module.is_file() {
            return Err(format!("{} does not exist", module.display()));
        }
        let python = Command::new("python3").arg("--version").output();
        match python {
            Ok(output) if output.status.success() => Ok(Self { module }),
            _ => Err("python3 does not run".into()),
        }
    }

    /// Finds the reader, or writes that it is missing.
    pub fn find_or_skip() -> Option<Self> {
        JUDGE.or_skip(Self::find())
    }

    /// Reads recordings, all in one process; returns each recording or its error.
    pub fn read(&self, recordings: &[Vec<u8>]) -> Vec<Result<Read, String>> {
        let folder = tempfile::tempdir().unwrap();
        let mut list = String::new();
        for (index, bytes) in recordings.iter().enumerate() {
            let path = folder.path().join(format!("{index}.revent"));
            std::fs::write(&path, bytes).unwrap();
            list += &format!("{}\n", path.display());
        }
        let mut child = Command::new("python3")
            .arg("-c")
            .arg(DRIVER)
            .arg(&self.module)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // The driver reads all of its input before it writes.
        child.stdin.take().unwrap().write_all(list.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "the judge failed: {output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let read: Vec<_> = text.lines().map(one).collect();
        assert_eq!(read.len(), recordings.len(), "the judge lost recordings");
        read
    }
}

fn one(line: &str) -> Result<Read, String> {
    let value: Value = serde_json::from_str(line).unwrap();
    if let Some(error) = value["error"].as_str() {
        return Err(error.to_string());
    }
    let numbers = |value: &Value| -> Vec<i64> {
        value.as_array().unwrap().iter().map(|number| number.as_i64().unwrap()).collect()
    };
    let events: Vec<[i64; 6]> = value["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| numbers(event).try_into().unwrap())
        .collect();
    assert_eq!(value["read"].as_u64().unwrap(), events.len() as u64);
    Ok(Read {
        version: value["version"].as_u64().unwrap(),
        num_events: value["num_events"].as_u64(),
        events,
        paths: value["paths"]
            .as_array()
            .unwrap()
            .iter()
            .map(|path| path.as_str().unwrap().to_string())
            .collect(),
        axes: value["axes"].as_array().map(|axes| axes.iter().map(numbers).collect()),
    })
}
