"""The three calls: arguments of the command line, and objects of its results."""

from __future__ import annotations

import json
import os
from typing import Mapping, Sequence, Union

from tracemend import _native
from tracemend._errors import CannotRepair, error
from tracemend._records import Records
from tracemend._reports import Repair, Report

Path = Union[str, "os.PathLike[str]"]

#: Exit codes of runs with a result: clean, findings, loss.
_CLEAN, _FINDINGS, _LOSS, _CANNOT, _IO, _LIMIT = 0, 1, 3, 4, 5, 6


def check(
    path: Path,
    *,
    type: str | None = None,
    limits: Mapping[str, int] | None = None,
    options: Sequence[str] = (),
) -> Report:
    """Checks a recording, or every recording below a directory. Changes nothing.

    `type` is the name of a format, if it shall not be recognised. `limits` are limits by name.
    `options` are further options of `tracemend check`; configuration files are not read.

    A recording that reaches a limit has the verdict `incomplete`.
    Raises UsageError, and InputError if the path cannot be read.
    """
    arguments = ["--no-config", "--format", "json", *_common(type, limits), *options]
    exit, product, messages = _native.run(["check", *arguments, "--", _named(path)])
    if not product or exit not in (_CLEAN, _FINDINGS, _IO, _LIMIT):
        raise error(exit, messages)
    report = Report(json.loads(product), exit)
    if exit == _IO and not report.recordings:
        reasons = [f"{failed['path']}: {failed['message']}" for failed in report.errors]
        raise error(exit, "\n".join(reasons) or messages)
    return report


def repair(
    path: Path,
    out: Path,
    *,
    safety: str = "lossy",
    type: str | None = None,
    limits: Mapping[str, int] | None = None,
    options: Sequence[str] = (),
) -> Repair:
    """Writes a repaired copy of a recording to `out`, and returns what was changed.

    The source stays as it is. The output gets its name only after it was compared with the source
    and checked again. A clean recording gives an identical copy. `safety` is the riskiest class of
    fixes: `exact`, `synthetic` or `lossy`. `options` are further options of `tracemend repair`.

    Raises CannotRepair if errors would remain, UsageError if `out` exists with another content or
    is the source, InputError if a file cannot be read or written, and LimitReached.
    """
    arguments = ["--format", "json", "--safety", safety, *_common(type, limits), *options]
    arguments += ["-o", _named(out)]
    exit, product, messages = _native.run(["repair", *arguments, "--", _named(path)])
    result = Repair(json.loads(product), exit) if product else None
    if result is not None and exit in (_CLEAN, _LOSS):
        return result
    failure = error(exit, messages)
    if result is not None and isinstance(failure, CannotRepair):
        if not messages:
            failure = CannotRepair(f"{os.fspath(path)}: cannot be repaired")
        failure.repair = result
    raise failure


def records(
    path: Path,
    *,
    kind: str | None = None,
    rows: int = 65_536,
    type: str | None = None,
    limits: Mapping[str, int] | None = None,
    options: Sequence[str] = (),
) -> Records:
    """Returns the records of a recording in batches of one kind and at most `rows` records.

    Records of one kind keep their order. The file is read twice, and memory does not grow with it.
    `kind`, `limits` and `options` are those of `tracemend dump`, such as `("--time", "1..2")`.

    The iterator raises UsageError, InputError, LimitReached, and Error if no record can be read. It
    warns with IncompleteWarning if parts of the recording cannot be read.
    """
    arguments = ["--format", "jsonl", *_common(type, limits)]
    if kind is not None:
        arguments.append(f"--kind={kind}")
    return Records(["dump", *arguments, *options, "--", _named(path)], rows)


def _common(type: str | None, limits: Mapping[str, int] | None) -> list[str]:
    arguments = [] if type is None else [f"--type={type}"]
    return arguments + [f"--limit={name}={value}" for name, value in (limits or {}).items()]


def _named(path: Path) -> str:
    """Returns a path that is neither an option nor `-`, which is standard input."""
    name = os.fspath(path)
    return os.path.join(os.curdir, name) if name.startswith("-") else name
