"""The results of checks and repairs: views of the JSON documents of the command line."""

from __future__ import annotations

from typing import Any


class _View:
    """A part of a document, which is in `document` as a whole."""

    __slots__ = ("document",)

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document


class Finding(_View):
    """One problem of a recording."""

    __slots__ = ()

    @property
    def code(self) -> str:
        """The code of the rule, such as PD0004; `tracemend explain CODE` has its page."""
        return str(self.document["code"])

    @property
    def severity(self) -> str:
        """`error`, `warning` or `info`."""
        return str(self.document["severity"])

    @property
    def message(self) -> str:
        """One sentence; text from the recording is escaped."""
        return str(self.document["message"])

    @property
    def field(self) -> str:
        """The field, by its names in the source of the format."""
        return str(self.document["path"])

    @property
    def file(self) -> str:
        """The file of a recording in a directory."""
        return str(self.document["span"]["file"])

    @property
    def start(self) -> int:
        """Offset of the first byte. In a decompressed stream if `layer` is not 0."""
        return int(self.document["span"]["start"])

    @property
    def end(self) -> int:
        """Offset after the last byte."""
        return int(self.document["span"]["end"])

    @property
    def layer(self) -> int:
        """0 for the bytes of the file; decompressed streams have other numbers."""
        return int(self.document["span"]["layer"])

    @property
    def safety(self) -> str | None:
        """The class of the fix: `exact`, `synthetic` or `lossy`; None without a fix."""
        fix = self.document["fix"]
        return None if fix is None else str(fix["safety"])

    def __repr__(self) -> str:
        return f"<Finding {self.severity}[{self.code}]: {self.message}>"


class Recording(_View):
    """A recording and its problems."""

    __slots__ = ()

    @property
    def path(self) -> str:
        """The path as given or found, escaped."""
        return str(self.document["path"])

    @property
    def format(self) -> str | None:
        """`perf`, `apitrace`, `ovni`, `qemu` or `revent`; None if it is not recognised."""
        name = self.document["format"]
        return None if name is None else str(name)

    @property
    def verdict(self) -> str:
        """`clean`, `findings`, `unreadable`, or `incomplete` if a limit was reached."""
        return str(self.document["verdict"])

    @property
    def records(self) -> int:
        """Number of complete records."""
        return int(self.document["records"])

    @property
    def samples(self) -> int:
        """Number of records that carry measurements."""
        return int(self.document["samples"])

    @property
    def time(self) -> tuple[int, int] | None:
        """The earliest and the latest time, in nanoseconds of the clock of the recording."""
        time = self.document["time"]
        return None if time is None else (int(time[0]), int(time[1]))

    @property
    def findings(self) -> list[Finding]:
        """The problems, sorted by position."""
        return [Finding(finding) for finding in self.document["findings"]]

    @property
    def counts(self) -> dict[str, int]:
        """Number of problems by code; exact even if not all are listed."""
        return dict(self.document["counts"])

    def __repr__(self) -> str:
        return f"<Recording {self.path!r}: {self.format}, {self.verdict}>"


class Report(_View):
    """The result of a check. `document` is described by schema/check.schema.json."""

    __slots__ = ("exit",)

    def __init__(self, document: dict[str, Any], exit: int) -> None:
        super().__init__(document)
        self.exit = exit

    @property
    def recordings(self) -> list[Recording]:
        """The recordings below the path."""
        return [Recording(recording) for recording in self.document["recordings"]]

    @property
    def findings(self) -> list[Finding]:
        """The problems of all recordings."""
        return [finding for recording in self.recordings for finding in recording.findings]

    @property
    def has_errors(self) -> bool:
        """Whether a recording has errors, or its check is not complete."""
        return bool(self.document["totals"]["with_errors"])

    @property
    def errors(self) -> list[dict[str, str]]:
        """Paths below a directory that could not be read, each with a message."""
        return list(self.document["errors"])

    def __repr__(self) -> str:
        return f"<Report of {len(self.recordings)} recordings, {len(self.findings)} findings>"


class Repair(_View):
    """The result of a repair. `document` is described by schema/repair.schema.json."""

    __slots__ = ("exit",)

    def __init__(self, document: dict[str, Any], exit: int) -> None:
        super().__init__(document)
        self.exit = exit

    @property
    def outcome(self) -> str:
        """`clean`, `repaired`, `repaired-with-loss`, `cannot-repair` or `incomplete`."""
        return str(self.document["outcome"])

    @property
    def output(self) -> str | None:
        """The path of the repaired recording, escaped; None if nothing was written."""
        output = self.document["output"]
        return None if output is None else str(output)

    @property
    def balance(self) -> dict[str, int]:
        """Bytes of the source and of the output: `kept`, `replaced`, `dropped`, `inserted`."""
        return dict(self.document["balance"])

    @property
    def records_lost(self) -> int:
        """Number of complete records that the output lacks."""
        return int(self.document["records_lost"])

    def __repr__(self) -> str:
        return f"<Repair: {self.outcome}, written to {self.output!r}>"
