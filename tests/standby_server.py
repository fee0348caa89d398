"""A standby of the tests' PostgreSQL: a second server that follows it, whose replay can be paused."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg

from . import postgres_server
from .patience import until


class Standby:
    def __init__(self, folder: Path, database: str) -> None:
        self.folder = folder
        self._database = database

    @property
    def url(self) -> str:
        """The database on the standby, as the user of the stores."""
        return self._url(postgres_server.MEMBER)

    def _url(self, user: str) -> str:
        return f"postgresql://{user}@{quote(str(self.folder), safe='')}/{self._database}"

    def admin(self) -> psycopg.Connection:
        return psycopg.connect(self._url("postgres"), autocommit=True)

    def pause(self) -> None:
        """Stop following the primary, as a standby that is behind."""
        with self.admin() as connection:
            connection.execute("SELECT pg_wal_replay_pause()")
            until(lambda: _value(connection, "SELECT pg_get_wal_replay_pause_state()") == "paused")

    def resume(self) -> None:
        with self.admin() as connection:
            connection.execute("SELECT pg_wal_replay_resume()")

    def catch_up(self) -> None:
        """Wait until the standby has all that the primary has by now."""
        with psycopg.connect(postgres_server.admin_url()) as primary, self.admin() as connection:
            position = _value(primary, "SELECT pg_current_wal_insert_lsn()")
            until(
                lambda: _value(connection, f"SELECT pg_last_wal_replay_lsn() >= '{position}'::pg_lsn") is True
            )

    def connections(self) -> int:
        """Connections of stores to the standby."""
        with self.admin() as connection:
            sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'backstory'"
            count = _value(connection, sql)
        assert isinstance(count, int)
        return count

    def stop(self) -> None:
        _pg_ctl(self.folder, "-w", "-m", "immediate", "stop")


@contextmanager
def standby(database: str) -> Iterator[Standby]:
    """A standby of the tests' server, for one of its databases."""
    primary = postgres_server.server()
    folder = Path(tempfile.mkdtemp(prefix="backstory-standby-"))
    postgres_server.guard(str(folder))
    _own(folder, Path(primary.pgdata))
    source = ["--host", str(primary.pgdata), "--username", "postgres"]
    target = ["--pgdata", str(folder), "--write-recovery-conf", "--checkpoint", "fast", "--no-sync"]
    postgres_server.program("pg_basebackup")([*source, *target], user=primary.system_user)
    for copied in folder.glob(".s.PGSQL.*"):  # the primary has its socket in its data directory
        copied.unlink()
    try:
        _pg_ctl(folder, "-w", "-l", str(folder / "log"), "-o", f"-k {folder} -h ''", "start")
        yield Standby(folder, database)
    finally:
        if (folder / "postmaster.pid").exists():
            _pg_ctl(folder, "-w", "-m", "immediate", "stop")
        print((folder / "log").read_text())  # which pytest shows where the test failed
        shutil.rmtree(folder, ignore_errors=True)


def _own(folder: Path, example: Path) -> None:
    """PostgreSQL refuses to run as root, so its folders belong to another user then."""
    owner = example.stat()
    shutil.chown(folder, owner.st_uid, owner.st_gid)


def _pg_ctl(folder: Path, *arguments: str) -> None:
    user = postgres_server.server().system_user
    postgres_server.program("pg_ctl")(list(arguments), pgdata=folder, user=user)


def _value(connection: psycopg.Connection, sql: str) -> object:
    ((value,),) = connection.execute(sql.encode()).fetchall()
    return value
