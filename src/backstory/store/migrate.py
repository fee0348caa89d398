"""Schema migrations: numbered scripts, each recorded in the transaction that ran it.

Two numbers describe a database: `version` counts the scripts that ran, and `compat` is the oldest program version
that can still work on the result. Several assistants run servers on one store, so a process may meet a database that
a newer one migrated. It continues while its own version is at least `compat`, and otherwise asks for a restart.
Every transaction checks this, since the newer program may start at any time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..domain.errors import Incompatible
from ..domain.lazy import lazy_pattern
from ..domain.when import to_ms, utc_now

if TYPE_CHECKING:
    from .database import Database

_SCRIPTS = Path(__file__).parent / "migrations"
_COMPAT = lazy_pattern(r"^-- compat: (\d+)$", re.MULTILINE)

_RECORD = (
    "CREATE TABLE IF NOT EXISTS migration ("
    "version INTEGER PRIMARY KEY, name TEXT NOT NULL, compat INTEGER NOT NULL, applied_at BIGINT NOT NULL)"
)


class Script(NamedTuple):
    version: int
    name: str
    compat: int
    path: Path


LATEST = 43
"""The version this program's code is written for; a test compares it with the scripts."""


def scripts(backend: str) -> list[Script]:
    """The scripts of a backend, in order. A name without a backend's suffix is for all."""
    scripts = []
    for path in sorted(_SCRIPTS.glob("*.sql")):
        number, *rest = path.name.removesuffix(".sql").split("_", 1)
        name, _, suffix = rest[0].partition(".")
        if suffix in ("", backend):
            compat = _COMPAT.search(path.read_text("utf-8"))
            scripts.append(Script(int(number), name, int(compat[1]) if compat else int(number), path))
    return scripts


def script_paths(backend: str) -> list[Path]:
    """The files of a backend's scripts, in order."""
    return [script.path for script in scripts(backend)]


def migrate(database: Database, backend: str, backup: Callable[[int], None]) -> None:
    """Run the missing scripts. `backup` copies the database first and receives its current version."""
    version, compat = schema(database)
    check_level(compat, version)
    if version >= LATEST:
        return
    missing = _missing(scripts(backend), version)
    if version:
        backup(version)
        for script in missing:
            _apply(database, script)
        return
    # a new store in one transaction: 38 commits take more CPU than all the scripts, and every client's first start waits for them
    with database.transaction():
        for script in missing:
            _apply(database, script)


def check_level(compat: int, version: int | None = None) -> None:
    """Raise Incompatible for a database that only newer programs may write."""
    if compat > LATEST:
        raise Incompatible(
            f"The store was written by a newer Backstory (version {version or compat}, this one knows {LATEST}).",
            hint="Restart this assistant's server after updating Backstory; nothing was changed.",
        )


def _missing(known: Sequence[Script], version: int) -> list[Script]:
    return [script for script in known if script.version > version]


COMPAT = "SELECT max(compat) FROM migration"


def schema(database: Database) -> tuple[int, int]:
    """Version and compat of the database; (0, 0) for an empty one."""
    if not database.has_table("migration"):
        return 0, 0
    ((version, compat),) = database.rows("SELECT max(version), max(compat) FROM migration")
    return version or 0, compat or 0


def _apply(database: Database, script: Script) -> None:
    """Run the script and record it in one transaction, unless another process has already done so."""
    with database.transaction():
        database.change(_RECORD)
        if schema(database)[0] >= script.version:
            return
        database.run_script(script.path.read_text("utf-8"))
        database.change(
            "INSERT INTO migration (version, name, compat, applied_at) VALUES (?, ?, ?, ?)",
            [script.version, script.name, script.compat, to_ms(utc_now())],
        )
