"""A PgBouncer before the tests' PostgreSQL, which lends a server connection for a transaction, not for a session."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from .missing import skip_without
from .patience import PATIENCE_S

POOL_SIZE = 2
CONFIG = """
[databases]
* = host={server} port=5432 user={user}
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = {folder}
auth_type = any
pool_mode = {pool_mode}
default_pool_size = {pool_size}
max_client_conn = 200
server_round_robin = 1
logfile = {folder}/log
"""
"""Each transaction gets the server connection that rested longest: what a session left there shows at once."""


def program() -> str:
    """PgBouncer; where it is not installed the test is skipped, except in CI."""
    # Debian has it where only the administrator's PATH leads
    path = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    return path or skip_without("PgBouncer", "apt install pgbouncer")


@contextmanager
def pooler(
    server_folder: Path,
    *,
    pool_size: int = POOL_SIZE,
    pool_mode: str = "transaction",
    database: str = "postgres",
    user: str = "postgres",
    settings: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """The URL of the database behind a pooler whose server connections are fewer than its clients'. `settings` are those of
    another file, but for where it listens and whom it lets in."""
    with tempfile.TemporaryDirectory(prefix="backstory-pooler-") as name:
        folder = Path(name)
        config = folder / "pgbouncer.ini"
        text = CONFIG.format(
            server=server_folder, folder=folder, pool_mode=pool_mode, pool_size=pool_size, user=user
        )
        ours = ("listen_", "unix_socket_dir", "auth_", "logfile")
        more = {name: value for name, value in (settings or {}).items() if not name.startswith(ours)}
        config.write_text(text + "".join(f"{name} = {value}\n" for name, value in more.items()))
        command = [program(), str(config)]
        if os.geteuid() == 0:  # it refuses to run as root
            owner = pwd.getpwuid(server_folder.stat().st_uid)
            shutil.chown(folder, owner.pw_uid, owner.pw_gid)
            command[1:1] = ["-u", owner.pw_name]
        with open(folder / "output", "wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        try:
            _await(folder / ".s.PGSQL.6432", process)
            yield f"postgresql://{user}@{quote(name, safe='')}:6432/{database}"
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
            print((folder / "log").read_text())  # which pytest shows where the test failed


def _await(door: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        with socket.socket(socket.AF_UNIX) as knock:
            if knock.connect_ex(str(door)) == 0:
                return
        assert process.poll() is None, (door.parent / "output").read_text()
        assert time.monotonic() < deadline, "PgBouncer does not answer"
        time.sleep(0.01)
