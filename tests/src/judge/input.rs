//! The tools for recorded inputs as judges of dumps: `revent dump`, libevemu, libinput-replay.
//!
//! `revent` is compiled from the source in the package of Workload Automation that
//! `TRACEMEND_WLAUTO` names. The other two need no device: libevemu reads a file, and
//! libinput-replay runs with a device that takes the events and does nothing.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::Judge;

/// `revent` as a judge.
pub static REVENT: Judge = Judge {
    name: "revent",
    install: "unpack wlauto 3.3.1 from PyPI and set TRACEMEND_WLAUTO to its folder; needs cc",
    probe: || find_source().map(|source| source.display().to_string()),
};

/// libevemu as a judge.
pub static EVEMU: Judge = Judge {
    name: "evemu",
    install: "install evemu-tools; needs python3",
    probe: || EVEMU_READER.find().map(|found| found.python.to_string()),
};

/// libinput-replay as a judge.
pub static LIBINPUT: Judge = Judge {
    name: "libinput-replay",
    install: "install libinput-tools, which has python3-libevdev, python3-pyudev and python3-yaml",
    probe: || LIBINPUT_READER.find().map(|found| found.python.to_string()),
};

/// The compiled tool.
#[derive(Debug)]
pub struct Revent {
    folder: TempDir,
}

fn find_source() -> Result<PathBuf, String> {
    let folder = std::env::var_os("TRACEMEND_WLAUTO").ok_or("TRACEMEND_WLAUTO is not set")?;
    let source = PathBuf::from(folder).join("wa/tools/revent/revent.c");
    if !source.is_file() {
        return Err(format!("{} does not exist", source.display()));
    }
    let compiler = Command::new("cc").arg("--version").output();
    compiler.map_err(|error| format!("cc: {error}"))?;
    Ok(source)
}

impl Revent {
    /// Compiles the tool, or writes that it is missing.
    ///
    /// # Panics
    ///
    /// If it cannot be compiled.
    pub fn find_or_skip() -> Option<Self> {
        let source = REVENT.or_skip(find_source())?;
        let folder = tempfile::tempdir().unwrap();
        let mut compiler = Command::new("cc");
        // Its inline functions are those of C before 1999.
        compiler.args(["-O1", "-w", "-fgnu89-inline", "-o"]).arg(folder.path().join("revent"));
        let output = compiler.arg(source).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(Self { folder })
    }

    /// Returns the output of `revent dump`; `None` if it refuses the recording.
    ///
    /// # Panics
    ///
    /// If it cannot be run.
    pub fn dump(&self, bytes: &[u8]) -> Option<String> {
        let path = self.folder.path().join("a.revent");
        fs::write(&path, bytes).unwrap();
        let program = self.folder.path().join("revent");
        let output = Command::new(program).arg("dump").arg(path).output().unwrap();
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// A device and its events, as a tool reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Bus, vendor, product and version.
    pub id: Vec<i64>,
    /// Name of the device.
    pub name: String,
    /// Keys that the device has.
    pub keys: Vec<i64>,
    /// Axes: code, minimum, maximum, fuzz, flat, resolution.
    pub axes: Vec<Vec<i64>>,
    /// Events: seconds, microseconds, type, code, value.
    pub events: Vec<Vec<i64>>,
}

/// A program in Python that reads files and prints a line of JSON for each.
#[derive(Debug)]
struct Reader {
    /// Imports everything that it needs.
    probe: &'static str,
    /// Defines `read(path)`, which returns a dictionary.
    source: &'static str,
}

/// An interpreter that has the modules of a reader.
#[derive(Debug)]
struct Found {
    python: &'static str,
    reader: &'static Reader,
}

/// Interpreters that may have the modules: the usual one, and that of the system.
const PYTHONS: [&str; 2] = ["python3", "/usr/bin/python3"];

/// Calls `read` for each path on standard input.
const LOOP: &str = "
import json, sys
for path in sys.stdin.read().splitlines():
    try:
        print(json.dumps(read(path)))
    except Exception as error:
        print(json.dumps({'error': type(error).__name__ + ': ' + str(error)}))
";

static EVEMU_READER: Reader = Reader {
    probe: "import ctypes; ctypes.CDLL('libevemu.so.3')",
    source: r#"
import ctypes
evemu, libc = ctypes.CDLL("libevemu.so.3"), ctypes.CDLL(None)
pointer = ctypes.c_void_p
for function, result in (
    (libc.fopen, pointer), (evemu.evemu_new, pointer), (evemu.evemu_get_name, ctypes.c_char_p)
):
    function.restype = result
libc.fclose.argtypes = [pointer]
class Event(ctypes.Structure):
    _fields_ = [("sec", ctypes.c_long), ("usec", ctypes.c_long), ("type", ctypes.c_uint16),
                ("code", ctypes.c_uint16), ("value", ctypes.c_int32)]
def read(path):
    file = pointer(libc.fopen(path.encode(), b"r"))
    device = pointer(evemu.evemu_new(b""))
    described = evemu.evemu_read(device, file)
    if described <= 0:
        raise ValueError("evemu_read returns %d" % described)
    get = lambda name, code: getattr(evemu, "evemu_get_abs_" + name)(device, code)
    ranges = ("minimum", "maximum", "fuzz", "flat", "resolution")
    has = lambda type, code: evemu.evemu_has_event(device, type, code)
    events, event = [], Event()
    while evemu.evemu_read_event(file, ctypes.byref(event)) > 0:
        events.append([event.sec, event.usec, event.type, event.code, event.value])
    libc.fclose(file)
    ids = ("bustype", "vendor", "product", "version")
    return {
        "name": evemu.evemu_get_name(device).decode(),
        "id": [getattr(evemu, "evemu_get_id_" + name)(device) for name in ids],
        "keys": [code for code in range(0x300) if has(1, code)],
        "axes": [
            [code] + [get(name, code) for name in ranges] for code in range(64) if has(3, code)
        ],
        "events": events,
    }
"#,
};

static LIBINPUT_READER: Reader = Reader {
    probe: "import libevdev, pyudev, yaml; open('/usr/libexec/libinput/libinput-replay')",
    source: r#"
import importlib.machinery, importlib.util
import libevdev, yaml
name = "/usr/libexec/libinput/libinput-replay"
loader = importlib.machinery.SourceFileLoader("replay", name)
replay = importlib.util.module_from_spec(importlib.util.spec_from_loader("replay", loader))
loader.exec_module(replay)
replay.check_udev_properties = lambda device, uinput: None
libevdev.Device.create_uinput_device = lambda self: self
def read(path):
    recording = yaml.safe_load(open(path))
    replay.check_file(recording)
    assert replay.setup_quirks(recording) is None
    [device] = replay.fetch(recording, "devices")
    uinput = replay.create(device)
    frames = [replay.fetch(frame, "evdev") for frame in replay.fetch(device, "events") or []]
    events = [event for frame in frames for event in replay.collect_events(frame)]
    axis = lambda code: uinput.absinfo[code]
    codes = lambda type: [code for code in uinput.evbits.get(type, [])]
    return {
        "name": uinput.name,
        "id": [uinput.id[key] for key in ("bustype", "vendor", "product", "version")],
        "keys": [code.value for code in codes(libevdev.EV_KEY)],
        "axes": [
            [code.value, axis(code).minimum, axis(code).maximum, axis(code).fuzz, axis(code).flat,
             axis(code).resolution] for code in codes(libevdev.EV_ABS)
        ],
        "events": [[e.sec, e.usec, e.type.value, e.code.value, e.value] for e in events],
    }
"#,
};

impl Reader {
    fn find(&'static self) -> Result<Found, String> {
        let has_modules = |python: &&&str| {
            let run = Command::new(python).args(["-c", self.probe]).stderr(Stdio::null()).status();
            run.is_ok_and(|status| status.success())
        };
        let python = PYTHONS.iter().find(has_modules);
        let python = *python.ok_or("python3 lacks a module, or the tool is missing")?;
        Ok(Found { python, reader: self })
    }
}

impl Found {
    /// Reads a dump.
    fn read(&self, dump: &str) -> Result<Device, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump");
        fs::write(&path, dump).unwrap();
        let line = self.run(&path);
        let value: Value = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        if let Some(error) = value["error"].as_str() {
            return Err(error.to_string());
        }
        let numbers = |value: &Value| -> Vec<i64> {
            value.as_array().unwrap().iter().map(|number| number.as_i64().unwrap()).collect()
        };
        let rows = |value: &Value| value.as_array().unwrap().iter().map(numbers).collect();
        Ok(Device {
            id: numbers(&value["id"]),
            name: value["name"].as_str().unwrap().to_string(),
            keys: numbers(&value["keys"]),
            axes: rows(&value["axes"]),
            events: rows(&value["events"]),
        })
    }

    fn run(&self, path: &Path) -> String {
        let mut child = Command::new(self.python)
            .arg("-c")
            .arg(format!("{}{LOOP}", self.reader.source))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(path.as_os_str().as_encoded_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "the judge failed: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Returns libevemu's reading of a dump; `None`, and writes so, if it is missing.
pub fn read_by_evemu(dump: &str) -> Option<Result<Device, String>> {
    EVEMU.or_skip(EVEMU_READER.find()).map(|found| found.read(dump))
}

/// Returns libinput-replay's reading of a dump; `None`, and writes so, if it is missing.
pub fn read_by_libinput(dump: &str) -> Option<Result<Device, String>> {
    LIBINPUT.or_skip(LIBINPUT_READER.find()).map(|found| found.read(dump))
}
