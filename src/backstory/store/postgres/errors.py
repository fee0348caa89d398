"""Errors of PostgreSQL in the words of the project, and which of them mean that the connection is lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout

from ...domain.errors import BackstoryError, InvalidInput, NotAllowed, StorageFull, TimedOut, Unavailable

LOST = {"53300", "57P01", "57P02", "57P03"}  # too many connections, shut down, crashed, starting
COLLIDED = {"40001", "40P01"}  # serialization failure, deadlock
TRY_AGAIN = "Try again; `backstory doctor` may find the cause."


class Demoted(psycopg.OperationalError):
    """The server behind a connection is a standby."""


@contextmanager
def in_our_words(name: str, *, when_lost: str = TRY_AGAIN) -> Iterator[None]:
    """Translate the errors of the database `name`. `when_lost` tells the caller what a lost connection means."""
    try:
        yield
    except psycopg.Error as error:
        raise _in_our_words(error, name, when_lost) from error


def is_lost(error: psycopg.Error) -> bool:
    """True if the server ended the connection or cannot be reached, and for a standby in the place of the primary."""
    if not isinstance(error, psycopg.OperationalError) or isinstance(error, PoolClosed | PoolTimeout):
        return False
    return error.sqlstate is None or error.sqlstate in LOST or error.sqlstate.startswith("08")


def _in_our_words(error: psycopg.Error, name: str, when_lost: str) -> BackstoryError:
    code = error.sqlstate or ""
    if code == "53100":
        return StorageFull(
            f"There is no space left for {name}.", hint="Nothing was saved; free some space and try again."
        )
    if code == "55P03":
        return TimedOut("The store is busy: another server locks it for too long.", hint="Try again.")
    if code in ("42501", "25006", "28000", "28P01"):
        return NotAllowed(f"The database refused: {_said(error)}.", hint="Check the user and its rights.")
    if code == "54000":
        return InvalidInput(f"A key, name or path is too long for the database: {_said(error)}.")
    if isinstance(error, PoolTimeout):
        return TimedOut(f"No connection to {name} became free in time.", hint=TRY_AGAIN)
    if code in COLLIDED:
        return Unavailable("Another server changed the same record at the same time.", hint=when_lost)
    if is_lost(error):
        return Unavailable(f"The connection to {name} is lost: {_said(error)}.", hint=when_lost)
    return Unavailable(f"The store could not answer: {_said(error)}.", hint=TRY_AGAIN)


def _said(error: psycopg.Error) -> str:
    lines = str(error.diag.message_primary or error).splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")
