"""Parquet, through pyarrow or else polars, some rows of a row group at a time."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import InputError
from ..files import damaged
from ..types import Integers
from ._codes import MISSING, OTHER, Codes, code_of, codes_of_numbers
from ._table import CHUNK, FIRST_ROWS, INSTALL, Chunk, Table

_CELL_BYTES = 16  # of a number, at most
_MOST_BYTES = 2**28  # of a row group, beyond those of numbers: all of them may be in memory
_CHUNKS = 8  # that are read at a time: for each column some work is the same for any number of rows
_LONGEST_CELL = 2**10  # characters that are looked at, of which a value has a few


def parquet_table(path: Path) -> Table:
    """The table in a Parquet file. Columns that pandas wrote as its index are said to be that."""
    try:
        import pyarrow.parquet
    except ImportError:
        return _by_polars(path)
    with _parquet_errors(), pyarrow.parquet.ParquetFile(path) as file:
        schema, metadata = file.schema_arrow, file.metadata
        _check_sizes(metadata)
        names = tuple(map(str, schema.names))
        n_rows, index = metadata.num_rows, _index(schema)
        texts = [field.name for field in schema if _is_text(field.type)]
    with _parquet_errors(), pyarrow.parquet.ParquetFile(path, read_dictionary=texts) as file:
        first = _first_cells(file, names)
    chunks = partial(_arrow_chunks, path, texts, len(names))
    return Table(path, len(names), names, n_rows, first, chunks, index)


def _check_sizes(metadata: Any) -> None:
    """Raise an InputError where a small file would need much memory, as long cells can that are compressed.

    The sizes of single columns are not asked for: in a damaged file they end the process.
    """
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        beyond = group.total_byte_size - _CELL_BYTES * group.num_rows * group.num_columns
        if beyond > _MOST_BYTES:
            raise InputError(
                f"expected short cells, found {group.total_byte_size >> 20} MB in a group of {group.num_rows} rows. "
                "Leave out texts, or write smaller row groups."
            )


def _index(schema: Any) -> tuple[int, ...]:
    """Columns that pandas wrote as its index, if what it says of them can be read."""
    try:
        labels = schema.pandas_metadata["index_columns"]  # names, or ranges that are no columns
        return tuple(j for j, name in enumerate(schema.names) if name in list(labels))
    except (TypeError, KeyError, ValueError):
        return ()


def _first_cells(file: Any, names: tuple[str, ...]) -> list[Any]:
    batch = next(file.iter_batches(FIRST_ROWS, columns=names[:1], use_threads=False), None)
    return _arrow_column(batch, 0) if batch is not None and batch.num_columns else []


def _arrow_chunks(path: Path, texts: list[str], width: int) -> Iterator[Chunk]:
    import pyarrow.parquet

    # Dictionaries stay what they are: a long text that occurs often is in memory once.
    with pyarrow.parquet.ParquetFile(path, pre_buffer=False, read_dictionary=texts) as file:
        step = max(1, CHUNK // max(1, width))
        batches = file.iter_batches(_CHUNKS * step, use_threads=False)
        for batch in _ahead(batches):
            with _parquet_errors():
                columns = np.empty((width, batch.num_rows), np.int8)
                for j, column in enumerate(batch.columns):
                    columns[j] = _arrow_codes(column)
            for start in range(0, batch.num_rows, step):
                rows = batch.slice(start, step)
                codes = np.ascontiguousarray(columns[:, start : start + step].T)
                yield Chunk(codes, partial(_arrow_column, rows))


def _ahead(batches: Iterator[Any]) -> Iterator[Any]:
    """The same, the next one decoded on another core while this one is looked at."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, batches, None)
        while True:
            with _parquet_errors():
                batch = coming.result()
            if batch is None:
                return
            coming = pool.submit(next, batches, None)
            yield batch


def _arrow_column(batch: Any, j: int) -> list[Any]:
    import pyarrow as pa

    column = batch.column(j)
    if _is_text(column.type) or pa.types.is_dictionary(column.type):
        cells, which = _distinct(column)
        return [cells[k] for k in which.tolist()]
    try:
        return list(column.to_pylist())
    except Exception:  # a time that Python has no date for
        return list(column.cast(pa.string(), safe=False).to_pylist())


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _distinct(column: Any) -> tuple[list[Any], Integers]:
    """The different cells of a column of texts or categories, None at the end, and which of them is in each row."""
    import pyarrow as pa

    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    indices = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    used, which = np.unique(indices, return_inverse=True)
    nulls = int(len(used) > 0 and used[0] < 0)
    cells = encoded.dictionary.take(pa.array(used[nulls:])).to_pylist()
    return [*cells, None], which - nulls


def _arrow_codes(column: Any) -> Codes:
    import pyarrow as pa

    kind = column.type
    if _is_text(kind) or pa.types.is_dictionary(kind):
        cells, which = _distinct(column)
        known = [MISSING if cell is None else code_of(str(cell)) for cell in cells]
        return np.array(known, np.int8)[which]
    if pa.types.is_null(kind):
        return np.full(len(column), MISSING, np.int8)
    if pa.types.is_decimal(kind):
        column, kind = column.cast(pa.float64(), safe=False), pa.float64()
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        filled = column.fill_null(pa.scalar(0).cast(kind)) if column.null_count else column
        codes = codes_of_numbers(filled.to_numpy(zero_copy_only=False)[:, None])[:, 0]
    else:
        codes = np.full(len(column), OTHER, np.int8)
    if not column.null_count:
        return codes
    return np.where(column.is_null().to_numpy(zero_copy_only=False), np.int8(MISSING), codes)


def _by_polars(path: Path) -> Table:
    try:
        import polars
    except ImportError as error:
        raise InputError(f"a .parquet file needs the package pyarrow or polars: {INSTALL}.") from error
    with _parquet_errors():
        frame = polars.scan_parquet(path)
        names = tuple(frame.collect_schema().names())
        n_rows = frame.select(polars.len()).collect().item()
        first = frame.select(names[:1]).head(FIRST_ROWS).collect()
    index = tuple(j for j, name in enumerate(names) if name.startswith("__index_level_"))
    cells = _polars_column(first, 0) if names else []
    return Table(path, len(names), names, n_rows, cells, partial(_polars_chunks, frame, n_rows), index)


def _polars_chunks(frame: Any, n_rows: int) -> Iterator[Chunk]:
    step = max(1, CHUNK // max(1, len(frame.collect_schema())))
    for start in range(0, n_rows, step):
        with _parquet_errors():
            part = frame.slice(start, step).collect()
            codes = np.empty(part.shape, np.int8)
            for j, column in enumerate(part):
                codes[:, j] = _polars_codes(column)
        yield Chunk(codes, partial(_polars_column, part))


def _polars_column(part: Any, j: int) -> list[Any]:
    import polars

    column = part.to_series(j)
    try:
        return list((_cut(column) if column.dtype == polars.String else column).to_list())
    except Exception:  # a time that Python has no date for
        return [None if null else str(column.dtype) for null in column.is_null()]


def _cut(column: Any) -> Any:
    """Texts cut where they are too long to be a value."""
    return column.str.slice(0, _LONGEST_CELL)


def _polars_codes(column: Any) -> Codes:
    import polars

    if column.dtype.is_decimal():
        column = column.cast(polars.Float64)
    if column.dtype.is_numeric() or column.dtype == polars.Boolean:
        filled = column.fill_null(False if column.dtype == polars.Boolean else 0)
        codes = codes_of_numbers(filled.to_numpy()[:, None])[:, 0]
    elif column.dtype in (polars.String, polars.Categorical, polars.Enum):
        cells = _cut(column.cast(polars.String)).to_list()
        known = {cell: code_of(cell or "") for cell in set(cells)}
        codes = np.array([known[cell] for cell in cells], np.int8)
    else:
        codes = np.full(len(column), OTHER, np.int8)
    return np.where(column.is_null().to_numpy(), np.int8(MISSING), codes) if column.null_count() else codes


@contextmanager
def _parquet_errors() -> Iterator[None]:
    """Whatever goes wrong inside of another library becomes an InputError of one sentence."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        raise damaged("a Parquet file", error) from error
