"""Records in batches, and as tables of Arrow and pandas."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any, Iterator

from tracemend import _native
from tracemend._errors import Error, IncompleteWarning, error

if TYPE_CHECKING:
    import pandas
    import pyarrow


class Batch:
    """Records of one kind. All batches of a kind from one recording have the same columns."""

    __slots__ = ("_native",)

    def __init__(self, native: _native.Batch) -> None:
        self._native = native

    @property
    def kind(self) -> str:
        """The kind of the records, such as SAMPLE."""
        return self._native.kind

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns: all members that a record of this kind has."""
        return self._native.columns()

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"<Batch of {len(self)} {self.kind} records>"

    def to_pylist(self) -> list[dict[str, Any]]:
        """Returns a dict for each record, with the members that it has. Needs no other package."""
        return [json.loads(line) for line in self._native.lines()]

    def to_arrow(self) -> pyarrow.RecordBatch:
        """Returns the records for Arrow: integers with all digits, lists as lists. Needs pyarrow."""
        import pyarrow

        named = [(column[0], _array(column)) for column in self._native.arrays()]
        return pyarrow.RecordBatch.from_arrays(
            [array for _, array in named], names=[name for name, _ in named]
        )

    def to_pandas(self, **options: Any) -> pandas.DataFrame:
        """Returns the records for pandas. Needs pandas and pyarrow.

        Integers keep all digits: a column with missing values has a type of Arrow (`int64[pyarrow]`)
        instead of floats. `options` are those of `pyarrow.RecordBatch.to_pandas`.
        """
        import pandas

        batch = self.to_arrow()
        if "types_mapper" not in options:
            holed = {column.type for column in batch.columns if column.null_count}
            options["types_mapper"] = {kind: pandas.ArrowDtype(kind) for kind in holed}.get
        frame: pandas.DataFrame = batch.to_pandas(**options)
        return frame

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        """Passes the records to any library that knows the C data interface of Arrow."""
        return self.to_arrow().__arrow_c_array__(requested_schema)


class Records(Iterator[Batch]):
    """An iterator of batches. A thread reads ahead by two batches."""

    def __init__(self, arguments: list[str], rows: int) -> None:
        self._native = _native.Records(arguments, rows)
        self._is_empty = True
        self._ended = False

    def __iter__(self) -> Records:
        return self

    def __next__(self) -> Batch:
        item = None if self._ended else next(self._native, None)
        if item is None:
            raise StopIteration
        if not isinstance(item, tuple):
            self._is_empty = False
            return Batch(item)
        self.close()
        exit, messages = item
        if exit == 0:
            raise StopIteration
        failure = error(exit, messages)
        # Exit code 1 with a message about what was left out: the rest of the records was read.
        if type(failure) is not Error or (self._is_empty and " left out" not in messages):
            raise failure
        warnings.warn(str(failure), IncompleteWarning, stacklevel=2)
        raise StopIteration

    def close(self) -> None:
        """Ends the reading; later batches are not read."""
        self._ended = True
        self._native.close()

    def __enter__(self) -> Records:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def to_arrow(self) -> pyarrow.Table:
        """Returns the rest of the records as one table, in memory. They must be of one kind."""
        return self.to_reader().read_all()

    def to_pandas(self, **options: Any) -> pandas.DataFrame:
        """Returns the rest of the records as one frame, in memory. They must be of one kind."""
        import pandas

        frames = [batch.to_pandas(**options) for batch in self._of_one_kind()]
        return pandas.concat(frames, ignore_index=True) if frames else pandas.DataFrame()

    def to_reader(self) -> pyarrow.RecordBatchReader:
        """Returns a stream for Arrow, which DuckDB and others read batch by batch.

        The records must be of one kind: select it with `kind`. Raises UsageError otherwise.
        """
        import pyarrow

        batches = (batch.to_arrow() for batch in self._of_one_kind())
        first = next(batches, None)
        if first is None:
            return pyarrow.RecordBatchReader.from_batches(pyarrow.schema([]), [])

        def all_batches() -> Iterator[pyarrow.RecordBatch]:
            yield first
            yield from batches

        return pyarrow.RecordBatchReader.from_batches(first.schema, all_batches())

    def _of_one_kind(self) -> Iterator[Batch]:
        kind = None
        for batch in self:
            kind = kind or batch.kind
            if batch.kind != kind:
                self.close()
                kinds = f"{kind} and {batch.kind}"
                raise error(2, f"records of several kinds ({kinds}): select one with `kind`")
            yield batch


def _array(parts: _native.Array) -> pyarrow.Array:
    """Returns an array over the buffers, which are not copied."""
    import pyarrow

    _, kind, length, buffers, children = parts
    arrays = [_array(child) for child in children]
    if kind == "null":
        return pyarrow.nulls(length)
    if kind == "list":
        type = pyarrow.list_(arrays[0].type)
    elif kind == "struct":
        type = pyarrow.struct([(child[0], array.type) for child, array in zip(children, arrays)])
    else:
        type = {
            "bool": pyarrow.bool_(),
            "int64": pyarrow.int64(),
            "uint64": pyarrow.uint64(),
            "float64": pyarrow.float64(),
            "text": pyarrow.string(),
        }[kind]
    views = [pyarrow.py_buffer(buffer) for buffer in buffers]
    return pyarrow.Array.from_buffers(type, length, views, children=arrays or None)
