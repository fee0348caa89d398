"""Tenants: each user and each team has its own database, opened on first use.

A request is answered by the engine of exactly one tenant, so it cannot reach another tenant's data.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from threading import Lock

from ..core import Engine
from ..domain.errors import InvalidInput
from ..domain.team import SPACE_NAME

MOST_OPEN = 64

ORDINARY = ""
"""The local user's own store, as stdio serves it."""


def is_name(text: str) -> bool:
    """True if a user or space can have this name."""
    return bool(SPACE_NAME.fullmatch(text))


def check_name(name: str, field: str) -> str:
    if not is_name(name):
        raise InvalidInput(
            f"{field} {name!r} cannot be a name.",
            hint="Use up to 40 of a-z, 0-9, _ and -, beginning with a letter or digit.",
            field=field,
        )
    return name


def personal(person: str) -> str:
    """The tenant of one user. Identity providers allow any user name, so names that are not valid here are hashed."""
    if is_name(person):
        return f"user-{person}"
    return f"id-{sha256(person.encode()).hexdigest()[:40]}"


def shared(team: str) -> str:
    return f"team-{team}"


class _Lent:
    """The engine of one tenant, from its first request on."""

    def __init__(self) -> None:
        self.opening = Lock()
        self.engine: Engine | None = None
        self.users = 0


class Tenants:
    """Up to MOST_OPEN open engines; one that is in use is never closed."""

    def __init__(self, open_engine: Callable[[str], Engine]) -> None:
        self._open_engine = open_engine
        self._open: OrderedDict[str, _Lent] = OrderedDict()
        self._lock = Lock()

    @contextmanager
    def lend(self, tenant: str) -> Iterator[Engine]:
        lent = self._take(tenant)
        try:
            with lent.opening:  # others wait only if they want the same tenant
                lent.engine = lent.engine or self._open_engine(tenant)
            yield lent.engine
        finally:
            with self._lock:
                lent.users -= 1

    def open_now(self) -> list[str]:
        with self._lock:
            return [tenant for tenant, lent in self._open.items() if lent.engine]

    def close(self) -> None:
        with self._lock:
            leaving, self._open = list(self._open.values()), OrderedDict()
        _close(leaving)

    def _take(self, tenant: str) -> _Lent:
        with self._lock:
            lent = self._open.setdefault(tenant, _Lent())
            self._open.move_to_end(tenant)
            lent.users += 1
            idle = [name for name, other in self._open.items() if not other.users]
            leaving = [self._open.pop(name) for name in idle[: max(len(self._open) - MOST_OPEN, 0)]]
        _close(leaving)
        return lent


def _close(leaving: Iterable[_Lent]) -> None:
    for lent in leaving:
        if lent.engine is not None:
            lent.engine.close()
