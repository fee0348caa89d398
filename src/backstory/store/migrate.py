"""Bring a database to the present shape: numbered scripts, each recorded in the transaction that ran it.

Two numbers: `version` counts scripts, `compat` is the oldest version of this program's scripts that can still
work on the result. Several assistants keep servers running on one store, so a process may meet a database
that a newer one migrated: it goes on while its own version is at least `compat`, else it asks for a restart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from ..domain.errors import Incompatible

_SCRIPTS = Path(__file__).parent / "migrations"
_COMPAT = re.compile(r"^-- compat: (\d+)$", re.MULTILINE)

RECORD = (
    "CREATE TABLE IF NOT EXISTS migration ("
    "version INTEGER PRIMARY KEY, name TEXT NOT NULL, compat INTEGER NOT NULL, applied_at BIGINT NOT NULL)"
)


class Script(NamedTuple):
    version: int
    name: str
    compat: int
    path: Path


class Migrated(Protocol):
    """What a backend offers to be migrated."""

    def schema(self) -> tuple[int, int]:
        """Version and compat of the database; (0, 0) for an empty one."""

    def apply(self, script: Script) -> None:
        """Run the script and record it in one transaction, unless another process did so meanwhile."""


LATEST = 12
"""The version that this program's code is written for; a test holds it to the scripts."""


def scripts(backend: str) -> list[Script]:
    """The scripts of a backend, in order. A name without a backend's suffix is for all."""
    found = []
    for path in sorted(_SCRIPTS.glob("*.sql")):
        number, *rest = path.name.removesuffix(".sql").split("_", 1)
        name, _, suffix = rest[0].partition(".")
        if suffix in ("", backend):
            compat = _COMPAT.search(path.read_text("utf-8"))
            found.append(Script(int(number), name, int(compat[1]) if compat else int(number), path))
    return found


def migrate(database: Migrated, backend: str, backup: Callable[[int], None]) -> None:
    """Run what is missing. `backup` copies the database first; it is given the version it still has."""
    version, compat = database.schema()
    if compat > LATEST:
        raise Incompatible(
            f"The store was written by a newer Backstory (version {version}, this one knows {LATEST}).",
            hint="Restart this assistant's server after updating Backstory; nothing was changed.",
        )
    if version >= LATEST:
        return
    if version:
        backup(version)
    for script in _missing(scripts(backend), version):
        database.apply(script)


def _missing(known: Sequence[Script], version: int) -> list[Script]:
    return [script for script in known if script.version > version]
