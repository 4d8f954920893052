"""The installed wheel, on recordings of the corpus: `python python/tests/wheel.py`.

Run it with the interpreter of an environment that has the wheel. Tests of pyarrow, pandas and
DuckDB are skipped if the package is not installed.
"""

import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import unittest
import warnings

import tracemend

CORPUS = pathlib.Path(__file__).resolve().parent.parent.parent / "corpus"
CRASHED = CORPUS / "perf/crashed/diskfull.data"
PROGRAM = pathlib.Path(sysconfig.get_path("scripts"), "tracemend")
#: One sound recording of each format.
SOUND = {
    "perf": "perf/clean/plain.data",
    "apitrace": "apitrace/clean/glxdemo.trace",
    "ovni": "ovni/clean/nanos6",
    "qemu": "qemu/clean/guestoff_7.2.log",
    "revent": "revent/clean/Nexus10.run.revent",
}


def needs(*names):
    """Skips a test, and says so, if a package is not installed."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"{', '.join(missing)} not installed")


def program(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)


def dumped(path):
    """Returns the records that the program dumps, by kind."""
    kinds = {}
    for line in program("dump", path, "--format", "jsonl").stdout.splitlines():
        record = json.loads(line)
        kinds.setdefault(record["kind"], []).append(record)
    return kinds


def gathered(batches, convert):
    """Returns the records of batches, by kind."""
    kinds = {}
    for batch in batches:
        kinds.setdefault(batch.kind, []).extend(convert(batch))
    return kinds


def without_nulls(value):
    """Returns a value without the members that a column has and the record has not."""
    if isinstance(value, dict):
        return {name: without_nulls(of) for name, of in value.items() if of is not None}
    return [without_nulls(of) for of in value] if isinstance(value, list) else value


class Wheel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.night = self.folder / "night.data"
        shutil.copy(CRASHED, self.night)

    def test_the_program_is_on_the_path_and_has_its_exit_codes(self):
        out = self.folder / "out.data"
        self.assertEqual(program("check", self.night).returncode, 1)
        self.assertEqual(program("repair", self.night, "-o", out).returncode, 3)
        self.assertEqual(program("check", "--sandbox=on", out).returncode, 0)
        self.assertEqual(program("self-test").returncode, 0)
        version = program("--version").stdout
        self.assertRegex(version, "^tracemend [0-9.]+\n$")

    def test_a_check_reports_what_the_program_reports(self):
        report = tracemend.check(self.night)
        ran = program("check", "--no-config", "--format", "json", self.night)
        self.assertEqual(report.document, json.loads(ran.stdout))
        self.assertEqual([finding.code for finding in report.findings], ["PD0004"])
        self.assertTrue(report.has_errors)
        finding = report.findings[0]
        self.assertEqual((finding.start, finding.end, finding.safety), (0x30, 0x38, "lossy"))

    def test_sound_recordings_have_no_errors(self):
        for name, path in SOUND.items():
            report = tracemend.check(CORPUS / path)
            self.assertEqual([recording.format for recording in report.recordings], [name])
            self.assertFalse(report.has_errors, path)

    def test_a_repair_writes_what_the_program_writes_and_leaves_the_source(self):
        repair = tracemend.repair(self.night, self.folder / "out.data")
        self.assertEqual((repair.outcome, repair.records_lost), ("repaired-with-loss", 0))
        self.assertEqual(program("repair", self.night).returncode, 3)
        expected = (self.folder / "night.data.mended").read_bytes()
        self.assertEqual((self.folder / "out.data").read_bytes(), expected)
        self.assertEqual(self.night.read_bytes(), CRASHED.read_bytes())
        self.assertFalse(tracemend.check(repair.output).has_errors)

    def test_an_output_replaces_neither_its_source_nor_another_file(self):
        other = self.folder / "other"
        other.write_bytes(b"kept")
        for out in (self.night, other):
            before = out.read_bytes()
            with self.assertRaises(tracemend.UsageError):
                tracemend.repair(self.night, out)
            self.assertEqual(out.read_bytes(), before)

    def test_what_cannot_be_repaired_is_an_exception_with_the_reasons(self):
        out = self.folder / "out.data"
        with self.assertRaises(tracemend.CannotRepair) as caught:
            tracemend.repair(self.night, out, safety="exact")
        self.assertEqual(caught.exception.repair.outcome, "cannot-repair")
        self.assertFalse(out.exists())

    def test_failures_are_exceptions_with_the_exit_code_of_the_program(self):
        missing = self.folder / "missing"
        for call in (tracemend.check, lambda path: list(tracemend.records(path))):
            with self.assertRaises(OSError) as caught:
                call(missing)
            self.assertEqual(caught.exception.exit, 5)
        with self.assertRaises(ValueError) as caught:
            tracemend.check(self.night, limits={"no-such-limit": 1})
        self.assertEqual(caught.exception.exit, 2)
        with self.assertRaises(tracemend.LimitReached):
            list(tracemend.records(self.night, limits={"steps": 10}))
        text = self.folder / "text"
        text.write_text("no recording\n" * 99)
        with self.assertRaises(tracemend.Error):
            list(tracemend.records(text))

    def test_records_are_those_of_a_dump(self):
        for path in SOUND.values():
            batches = tracemend.records(CORPUS / path, rows=7)
            records = gathered(batches, tracemend.Batch.to_pylist)
            self.assertEqual(records, dumped(CORPUS / path), path)

    def test_a_crashed_recording_gives_its_records_and_a_warning(self):
        with self.assertWarns(tracemend.IncompleteWarning) as caught:
            records = gathered(tracemend.records(self.night), tracemend.Batch.to_pylist)
        self.assertEqual(len(records["SAMPLE"]), 711)
        self.assertIn("24 bytes left out", str(caught.warning))

    @needs("pyarrow")
    def test_arrow_has_every_digit_and_lists_of_all_records(self):
        largest = 0
        for path in SOUND.values():
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                batches = list(tracemend.records(CORPUS / path, rows=100))
            for batch in batches:
                batch.to_arrow().validate(full=True)
            rows = gathered(batches, lambda batch: batch.to_arrow().to_pylist())
            expected = dumped(CORPUS / path)
            self.assertEqual(without_nulls(rows), without_nulls(expected), path)
            largest = max([largest] + [row.get("addr", 0) for row in expected.get("MMAP", [])])
        self.assertGreater(largest, 1 << 63)

    @needs("pyarrow", "pandas")
    def test_pandas_has_every_digit(self):
        for path in SOUND.values():
            for batch in tracemend.records(CORPUS / path):
                frame, records = batch.to_pandas(), batch.to_pylist()
                for name in frame.columns:
                    values = [record.get(name) for record in records]
                    if all(isinstance(value, int) or value is None for value in values):
                        own = [None if value != value else value for value in frame[name].tolist()]
                        own = [None if "NA" in repr(value) else value for value in own]
                        self.assertEqual(own, values, f"{path}: {batch.kind}.{name}")

    @needs("pyarrow")
    def test_records_of_several_kinds_are_not_one_table(self):
        with self.assertRaises(tracemend.UsageError):
            tracemend.records(CORPUS / SOUND["perf"]).to_arrow()
        table = tracemend.records(CORPUS / SOUND["perf"], kind="SAMPLE", rows=5).to_arrow()
        self.assertEqual(table.num_rows, len(dumped(CORPUS / SOUND["perf"])["SAMPLE"]))

    def test_an_iterator_that_is_left_ends_its_thread(self):
        before = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else None
        for _ in range(20):
            with tracemend.records(CORPUS / SOUND["qemu"], rows=1) as records:
                next(records)
        deadline = threading.Event()
        for _ in range(50):
            if before is None or len(os.listdir("/proc/self/task")) <= before + 1:
                return
            deadline.wait(0.1)
        self.fail("threads are left")

    def test_other_threads_run_during_a_check(self):
        stop, turns = threading.Event(), []

        def count():
            while not stop.wait(0.0005):
                turns.append(None)

        thread = threading.Thread(target=count)
        thread.start()
        during = 0
        for _ in range(20):
            before = len(turns)
            tracemend.check(CORPUS / "apitrace/clean")
            during += len(turns) - before
        stop.set()
        thread.join()
        self.assertGreater(during, 20)

    def test_signals_stay_those_of_the_interpreter(self):
        tracemend.check(CORPUS / SOUND["apitrace"])
        with self.assertRaises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            signal.pause()

    def test_a_file_that_shrinks_is_an_exception(self):
        # In a process of its own, since a defect would end it.
        code = """if True:
            import os, sys, threading, tracemend
            path, source = sys.argv[1:]
            data = open(source, "rb").read()
            ends = set()
            for _ in range(60):
                open(path, "wb").write(data)
                timer = threading.Timer(0.002, os.truncate, (path, 4096))
                timer.start()
                try:
                    ends.add(tracemend.check(path).recordings[0].verdict)
                except tracemend.InputError:
                    ends.add("error")
                timer.join()
            print(sorted(ends))
        """
        source = max((CORPUS / "apitrace/clean").glob("*.trace"), key=lambda path: path.stat().st_size)
        ran = subprocess.run(
            [sys.executable, "-c", code, self.folder / "shrinks", source],
            capture_output=True, text=True,
        )
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_the_package_is_typed(self):
        folder = pathlib.Path(tracemend.__file__).parent
        self.assertTrue((folder / "py.typed").is_file())
        self.assertTrue((folder / "_native.pyi").is_file())
        for name in tracemend.__all__:
            self.assertTrue(getattr(tracemend, name).__doc__, name)

    @needs("mypy")
    def test_mypy_finds_nothing_in_the_package(self):
        command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports"]
        command += ["--package", "tracemend"]
        ran = subprocess.run(command, capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(ran.returncode, 0, ran.stdout)


if __name__ == "__main__":
    unittest.main()
