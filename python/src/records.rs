//! The records of a recording in batches of one kind.
//!
//! ```text
//!  thread   dump --format jsonl (first time)  -> Kinds: the columns of each kind
//!           dump --format jsonl (second time) -> lines by kind -> batches -> channel of two
//!  Python   Records.next: waits for a batch without the lock of the interpreter
//! ```
//!
//! A table needs its columns before its first row, so the records are read twice, as for the tables
//! of CSV. Nothing is held but the batches that are not full yet, which are bounded together.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use tracemend::Row;

use crate::column::{self, Array};
use crate::run::{Ended, PANICKED, run};
use crate::shape::{Kinds, Members, kind_of};

/// Batches that wait for Python.
const WAITING_MAX: usize = 2;
/// Bytes of JSON in the batches that are not full yet: the largest becomes a batch.
const HELD_MAX: usize = 32 << 20;
/// Time after which a waiting interpreter looks for signals.
const PATIENCE: Duration = Duration::from_millis(100);

/// What a thread sends.
enum Sent {
    Batch(Batch),
    End(Ended),
}

/// An iterator of batches; the last item is a tuple of exit code and messages.
#[pyclass(frozen, module = "tracemend._native")]
pub(crate) struct Records {
    receiver: Mutex<Option<Receiver<Sent>>>,
}

#[pymethods]
impl Records {
    /// Begins to read. `arguments` are those of a dump in lines of JSON, without the name of the
    /// program; `rows` are the records of a batch at most.
    #[new]
    fn new(arguments: Vec<OsString>, rows: usize) -> Self {
        let (sender, receiver) = sync_channel(WAITING_MAX);
        std::thread::spawn(move || {
            let read = || read_twice(&arguments, rows.max(1), &sender);
            let ended = catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Ended {
                exit: PANICKED,
                messages: "tracemend: internal error while records were read".to_string(),
            });
            // Nobody waits for the end if the iterator is gone.
            let _unheard = sender.send(Sent::End(ended));
        });
        Self { receiver: Mutex::new(Some(receiver)) }
    }

    const fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        loop {
            match py.detach(|| self.receive()) {
                Ok(Sent::Batch(batch)) => return Ok(Some(Py::new(py, batch)?.into_any())),
                Ok(Sent::End(ended)) => {
                    let end = (ended.exit, ended.messages).into_pyobject(py)?;
                    return Ok(Some(end.into_any().unbind()));
                }
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }

    /// Ends the reading. Later calls of `next` end the iteration.
    fn close(&self) {
        drop(self.receiver.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl Records {
    fn receive(&self) -> Result<Sent, RecvTimeoutError> {
        let receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner);
        let receiver = receiver.as_ref().ok_or(RecvTimeoutError::Disconnected)?;
        receiver.recv_timeout(PATIENCE)
    }
}

/// Records of one kind.
#[pyclass(frozen, module = "tracemend._native")]
pub(crate) struct Batch {
    #[pyo3(get)]
    kind: String,
    lines: Vec<String>,
    columns: Arc<Members>,
}

#[pymethods]
impl Batch {
    fn __len__(&self) -> usize {
        self.lines.len()
    }

    /// The records, each as an object of JSON.
    fn lines<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, &self.lines)
    }

    /// The names of the columns.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.columns.iter().map(|(name, _)| name))
    }

    /// The columns as parts of Arrow arrays: name, type, length, buffers, and the same of children.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let arrays = py.detach(|| self.build()).map_err(|column::TooLong| {
            pyo3::exceptions::PyOverflowError::new_err("a batch has more than 2 GiB of text")
        })?;
        list_of(py, arrays)
    }
}

impl Batch {
    fn build(&self) -> Result<Vec<(String, Array)>, column::TooLong> {
        let mut columns = column::columns_of(&self.columns);
        for line in &self.lines {
            column::push_row(&mut columns, Row::read(line).as_ref())?;
        }
        Ok(column::finish(columns))
    }
}

/// Arrays as Python takes them.
fn list_of(py: Python<'_>, arrays: Vec<(String, Array)>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for (name, array) in arrays {
        let buffers = [array.valid].into_iter().chain(array.buffers);
        let buffers = PyList::new(py, buffers.map(|bytes| PyBytes::new(py, &bytes)))?;
        let children = list_of(py, array.children)?;
        list.append((name, array.kind, array.len, buffers, children))?;
    }
    Ok(list)
}

/// Reads the records for their columns, then for their values.
fn read_twice(arguments: &[OsString], rows: usize, sender: &SyncSender<Sent>) -> Ended {
    let mut kinds = Kinds::default();
    let mut failure = None;
    let mut learn = Lines::new(|line: &str| {
        kinds.learn(line).map_err(|reason| {
            failure = Some(reason);
            io::ErrorKind::BrokenPipe.into()
        })
    });
    let ended = run(arguments.to_vec(), &mut learn);
    if let Some(reason) = failure {
        // As for the tables of CSV, a limit is reached.
        return Ended { exit: 6, messages: format!("tracemend: {reason}") };
    }
    let columns = kinds.shapes();
    if columns.is_empty() {
        return ended;
    }
    let columns = columns.into_iter().map(|(kind, members)| (kind, Arc::new(members))).collect();
    let mut batches = Batches { sender, columns, rows, pending: BTreeMap::new(), held: 0 };
    let ended = run(arguments.to_vec(), &mut Lines::new(|line: &str| batches.add(line)));
    // What was read before a failure is right, and comes before the failure.
    let _unheard = batches.send_all();
    ended
}

/// Lines of what is written, without their ends.
struct Lines<F> {
    each: F,
    begun: Vec<u8>,
}

impl<F: FnMut(&str) -> io::Result<()>> Lines<F> {
    const fn new(each: F) -> Self {
        Self { each, begun: Vec::new() }
    }
}

impl<F: FnMut(&str) -> io::Result<()>> Write for Lines<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.begun.extend(piece);
            if let Some(line) = self.begun.strip_suffix(b"\n") {
                let line = str::from_utf8(line).map_err(io::Error::other)?;
                (self.each)(line)?;
                self.begun.clear();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Batches that are not full yet.
struct Batches<'s> {
    sender: &'s SyncSender<Sent>,
    columns: BTreeMap<String, Arc<Members>>,
    rows: usize,
    pending: BTreeMap<String, Pending>,
    /// Bytes of all of them.
    held: usize,
}

#[derive(Default)]
struct Pending {
    lines: Vec<String>,
    bytes: usize,
}

impl Batches<'_> {
    fn add(&mut self, line: &str) -> io::Result<()> {
        let row = Row::read(line).ok_or(io::ErrorKind::InvalidData)?;
        let kind = kind_of(&row);
        let pending = self.pending.entry(kind.clone()).or_default();
        pending.lines.push(line.to_string());
        pending.bytes += line.len();
        self.held += line.len();
        if pending.lines.len() >= self.rows {
            self.send(&kind)?;
        }
        if self.held > HELD_MAX {
            let largest = self.pending.iter().max_by_key(|(_, pending)| pending.bytes);
            let largest = largest.map(|(kind, _)| kind.clone());
            largest.map_or(Ok(()), |kind| self.send(&kind))?;
        }
        Ok(())
    }

    /// Sends the batch of a kind; fails if nobody wants it.
    fn send(&mut self, kind: &str) -> io::Result<()> {
        let Some(pending) = self.pending.remove(kind) else { return Ok(()) };
        self.held -= pending.bytes;
        let columns = self.columns.get(kind).cloned().unwrap_or_default();
        let batch = Batch { kind: kind.to_string(), lines: pending.lines, columns };
        self.sender.send(Sent::Batch(batch)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn send_all(&mut self) -> io::Result<()> {
        let kinds: Vec<String> = self.pending.keys().cloned().collect();
        kinds.iter().try_for_each(|kind| self.send(kind))
    }
}
