"""DuckDB files of other programs, read from a copy.

The library is an optional extra (docs/decisions/0019-duckdb.md)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...domain.errors import Unavailable, Unreadable, install_hint
from .files import open_regular

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAGIC = b"DUCK"
"""Located at bytes 9 to 12 of the file."""


@contextmanager
def open_copy(path: Path) -> Iterator[tuple[DuckDBPyConnection, bool]]:
    """Open a connection to a copy. Also return whether the changes in its log are included.

    DuckDB may need a download to read a log, which is not permitted; then the file is read without the log."""
    try:
        import duckdb  # optional extra: the error tells how to install it
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"{path} is a DuckDB file, but the library to read it is not installed.",
            hint=install_hint("duckdb"),
        ) from error
    with open_regular(path) as file:
        if file.read(12)[8:] != MAGIC:
            raise Unreadable(f"{path} is not a DuckDB file.")
    with tempfile.TemporaryDirectory(prefix="backstory-") as directory:
        copy, log = Path(directory) / path.name, path.with_name(path.name + ".wal")
        shutil.copyfile(path, copy)
        has_log = log.exists() and log.stat().st_size > 0
        if has_log:
            open_regular(log).close()
            shutil.copyfile(log, copy.with_name(copy.name + ".wal"))
        try:
            connection, is_whole = _connect(duckdb, copy, has_log=has_log)
        except duckdb.Error as error:
            raise Unreadable(f"{path} cannot be opened: {str(error).splitlines()[0]}") from error
        try:
            yield connection, is_whole
        except duckdb.Error as error:
            raise Unreadable(f"{path} cannot be read: {str(error).splitlines()[0]}") from error
        finally:
            connection.close()


def _connect(duckdb: Any, copy: Path, *, has_log: bool) -> tuple[DuckDBPyConnection, bool]:
    options = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "enable_external_access": "false",
    }
    if has_log:
        try:
            return duckdb.connect(str(copy), config=options), True
        except duckdb.Error:
            copy.with_name(copy.name + ".wal").unlink()
    return duckdb.connect(str(copy), read_only=True, config=options), not has_log


def records(connection: DuckDBPyConnection, table: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table by column name, with times as text; none if the table does not exist."""
    columns = connection.execute(
        "SELECT column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = 'main' AND table_name = ? ORDER BY ordinal_position",
        [table],
    ).fetchall()
    chosen = {name: _selected(name, kind) for name, kind in columns if not _is_left_out(kind)}
    if not chosen:
        return
    rows = connection.execute(f"SELECT {', '.join(chosen.values())} FROM main.{_quoted(table)}")
    while some := rows.fetchmany(1_000):
        for row in some:
            yield dict(zip(chosen, row, strict=True))


def _is_left_out(kind: str) -> bool:
    return kind == "BLOB" or (kind.endswith("]") and not kind.startswith("VARCHAR"))


def _selected(name: str, kind: str) -> str:
    return f"CAST({_quoted(name)} AS VARCHAR)" if kind.startswith("TIMESTAMP") else _quoted(name)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
