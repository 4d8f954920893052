"""Checks and repairs recordings of perf, apitrace, ovni, QEMU and revent.

    check(path)         -> Report: every problem with its position and its fix
    repair(path, out)   -> Repair: a repaired copy; the source stays as it is
    records(path)       -> Records: batches of records, as Arrow, pandas or dicts

Other threads run while a recording is read. Offsets and lengths are bytes, times are nanoseconds of
the clock of the recording. The guide is docs/python.md of the project.
"""

from tracemend._calls import check, records, repair
from tracemend._errors import (
    CannotRepair,
    Error,
    IncompleteWarning,
    InputError,
    InternalError,
    LimitReached,
    UsageError,
)
from tracemend._records import Batch, Records
from tracemend._reports import Finding, Recording, Repair, Report

__all__ = [
    "Batch",
    "CannotRepair",
    "Error",
    "Finding",
    "IncompleteWarning",
    "InputError",
    "InternalError",
    "LimitReached",
    "Recording",
    "Records",
    "Repair",
    "Report",
    "UsageError",
    "check",
    "records",
    "repair",
]
