"""The exceptions: one for each exit code of the command line that has no result."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracemend._reports import Repair


class Error(Exception):
    """A call without a result. `exit` is the exit code that the command line has for it."""

    exit: int = 1

    def __init__(self, message: str, exit: int | None = None) -> None:
        super().__init__(message)
        if exit is not None:
            self.exit = exit


class UsageError(Error, ValueError):
    """An argument is wrong, or the output exists; nothing was done."""

    exit = 2


class CannotRepair(Error):
    """Errors would remain after a repair; nothing was written. `repair` has the reasons."""

    exit = 4
    repair: Repair | None = None


class InputError(Error, OSError):
    """A file could not be read or written."""

    exit = 5


class LimitReached(Error):
    """A limit was reached before there was a result."""

    exit = 6


class InternalError(Error):
    """A defect of tracemend itself. Please report it."""

    exit = 101


class IncompleteWarning(UserWarning):
    """Parts of a recording cannot be read; `check` reports why."""


def error(exit: int, messages: str) -> Error:
    """Returns the exception for an exit code and the messages of a run."""
    kinds: list[type[Error]] = [UsageError, CannotRepair, InputError, LimitReached, InternalError]
    kind = next((kind for kind in kinds if kind.exit == exit), Error)
    # An error of the arguments has more paragraphs, about the help of the command line.
    first = messages.strip().split("\n\n")[0].splitlines()
    lines = [line.removeprefix("tracemend: ").removeprefix("error: ") for line in first]
    return kind("\n".join(lines), exit)
