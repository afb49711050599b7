"""Parquet, through pyarrow or else polars, some rows of a row group at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import InputError
from ._codes import MISSING, OTHER, Codes, code_of, codes_of_numbers
from ._table import CHUNK, FIRST_ROWS, INSTALL, Chunk, Table


def parquet_table(path: Path) -> Table:
    """The table in a Parquet file. Columns that pandas wrote as its index are said to be that."""
    try:
        import pyarrow.parquet
    except ImportError:
        return _by_polars(path)
    with _parquet_errors(), pyarrow.parquet.ParquetFile(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
        names = tuple(map(str, schema.names))
        first = _first_cells(file, names)
    labels = (schema.pandas_metadata or {}).get("index_columns", [])  # names, or ranges that are no columns
    index = tuple(j for j, name in enumerate(names) if name in labels)
    return Table(path, len(names), names, n_rows, first, partial(_arrow_chunks, path, len(names)), index)


def _first_cells(file: Any, names: tuple[str, ...]) -> list[Any]:
    batch = next(file.iter_batches(FIRST_ROWS, columns=names[:1], use_threads=False), None)
    return _arrow_column(batch, 0) if batch is not None and batch.num_columns else []


def _arrow_chunks(path: Path, width: int) -> Iterator[Chunk]:
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path, pre_buffer=False) as file:
        batches = file.iter_batches(max(1, CHUNK // max(1, width)), use_threads=False)
        while True:
            with _parquet_errors():
                batch = next(batches, None)
            if batch is None:
                return
            codes = np.empty((batch.num_rows, width), np.int8)
            for j, column in enumerate(batch.columns):
                codes[:, j] = _arrow_codes(column)
            yield Chunk(codes, partial(_arrow_column, batch))


def _arrow_column(batch: Any, j: int) -> list[Any]:
    return list(batch.column(j).to_pylist())


def _arrow_codes(column: Any) -> Codes:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_null(kind):
        return np.full(len(column), MISSING, np.int8)
    if pa.types.is_decimal(kind):
        column, kind = column.cast(pa.float64(), safe=False), pa.float64()
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        filled = column.fill_null(pa.scalar(0).cast(kind)) if column.null_count else column
        codes = codes_of_numbers(filled.to_numpy(zero_copy_only=False)[:, None])[:, 0]
    elif pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        encoded = column if pa.types.is_dictionary(kind) else column.dictionary_encode()
        known = [MISSING if cell is None else code_of(str(cell)) for cell in encoded.dictionary.to_pylist()]
        which = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)
        codes = np.array([*known, MISSING], np.int8)[which]
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
    return list(part.to_series(j).to_list())


def _polars_codes(column: Any) -> Codes:
    import polars

    if column.dtype.is_decimal():
        column = column.cast(polars.Float64)
    if column.dtype.is_numeric() or column.dtype == polars.Boolean:
        filled = column.fill_null(False if column.dtype == polars.Boolean else 0)
        codes = codes_of_numbers(filled.to_numpy()[:, None])[:, 0]
    elif column.dtype in (polars.String, polars.Categorical, polars.Enum):
        cells = column.cast(polars.String).to_list()
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
    except Exception as error:
        reason = str(error).split("\n")[0]
        raise InputError(
            f"expected a Parquet file, found one that is empty or damaged ({reason})."
        ) from error
