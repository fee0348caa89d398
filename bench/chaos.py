"""Three team servers behind PgBouncer in transaction mode, on a PostgreSQL with failover, while one thing after the other fails.

    python bench/chaos.py HOME [CALLS]

The events: each server is restarted, each is killed, PostgreSQL restarts, the leader of the database is killed and a standby takes over, and a newer
program migrates the tables while the servers run and then replaces them one by one. Clients of eight users save and search all the while, at least CALLS times
(10,000). Needs what `failover.py` needs, and PgBouncer.
"""

from __future__ import annotations

import re
import shutil
import sys
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from failover import SERVERS, rejoin, take_over
from faults import HEADER, Load, Replica
from patroni import DATABASE, MEMBER, Cluster, answers, await_, cluster
from pooler import SERVER_CONNECTIONS

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.pgbouncer import pooler

import backstory

CALLS = 10_000
POOLER = {"server_login_retry": "1"}  # seconds; after the default of 15 a takeover would be over long since
SCRIPT = """-- compat: {version}
ALTER TABLE entry ADD COLUMN chaos TEXT;
UPDATE entry SET chaos = '';
CREATE INDEX entry_chaos ON entry (updated_at, n);
"""


class World:
    def __init__(self, home: Path, whole: Cluster, url: str) -> None:
        self._home = home
        self._whole = whole
        self.replicas = [Replica(home / f"server{n}", url) for n in range(SERVERS)]

    def restart_servers(self) -> None:
        for replica in self.replicas:
            replica.stop()
            replica.start()

    def kill_servers(self) -> None:
        for replica in self.replicas:
            replica.kill()
            replica.start()

    def restart_database(self) -> None:
        """Patroni restarts the leader's PostgreSQL: every connection is lost."""
        leader = self._whole.leader
        assert leader is not None
        request = urllib.request.Request(f"http://127.0.0.1:{leader.api_port}/restart", b"{}")
        with urllib.request.urlopen(request, timeout=120) as answer:
            assert answer.status == 200, answer.read()
        await_(lambda: answers(self._whole.admin_url), "the restarted database")

    def kill_leader(self) -> None:
        take_over(self._whole)

    def rejoin(self) -> None:
        rejoin(self._whole)

    def upgrade(self) -> None:
        """A newer program migrates the tables that the servers are using, then replaces them."""
        newer = newer_program(self._home / "newer")
        for replica in self.replicas:
            replica.environment["PYTHONPATH"] = str(newer)
            replica.stop()
            replica.start()  # the first one migrates


def newer_program(folder: Path) -> Path:
    """A copy of the package with one more migration, whose result the present program can work with."""
    package = folder / "backstory"
    if not package.exists():
        shutil.copytree(Path(backstory.__file__).parent, package)
    migrate = package / "store" / "migrate.py"
    source = migrate.read_text("utf-8")
    (version,) = re.findall(r"^LATEST = (\d+)$", source, re.MULTILINE)
    migrate.write_text(source.replace(f"LATEST = {version}", f"LATEST = {int(version) + 1}"), "utf-8")
    script = package / "store" / "migrations" / f"{int(version) + 1:04d}_chaos.sql"
    script.write_text(SCRIPT.format(version=version), "utf-8")
    return folder


def main(home: Path, calls: int) -> None:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with cluster() as whole, ExitStack() as stack:
        url = stack.enter_context(
            pooler(
                whole.folder, pool_size=SERVER_CONNECTIONS, database=DATABASE, user=MEMBER, settings=POOLER
            )
        )
        world = World(home, whole, url)
        for replica in world.replicas:
            replica.start()
            stack.callback(replica.stop)
        load = Load(home, world.replicas, whole.member_url)
        load.start()
        events: dict[str, Callable[[], None]] = {
            "nothing": lambda: None,
            "each server restarts": world.restart_servers,
            "each server is killed": world.kill_servers,
            "PostgreSQL restarts": world.restart_database,
            "the leader is killed, a standby takes over": world.kill_leader,
            "the former leader comes back as a standby": world.rejoin,
            "a newer program migrates and replaces the servers": world.upgrade,
        }
        print(HEADER, flush=True)
        for name, event in events.items():
            print(load.during(name, event, calls // len(events) + 1), flush=True)
        print(load.stop())
        print(*load.reasons(), sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else CALLS)
