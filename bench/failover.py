"""Kill the leader of a PostgreSQL cluster under load, and report lost saves and failed calls.

    python bench/failover.py HOME [KILLS]

Three nodes under Patroni with etcd, HAProxy before them, synchronous replication (`patroni.py`); three team servers at HAProxy's address, clients of eight
users. The leader's PostgreSQL and its Patroni get SIGKILL, KILLS times (3); each time a standby must take over before the former leader is started again.
Installs nothing: it names the programs that are missing.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from faults import HEADER, Load, Replica
from patroni import Cluster, answers, await_, cluster

KILLS = 3
CALLS_EACH = 1_000
SERVERS = 3


def take_over(whole: Cluster) -> None:
    """Kill the leader and wait for the next one."""
    leader = whole.leader
    assert leader is not None
    whole.kill(leader)
    await_(lambda: whole.leader not in (None, leader) and answers(whole.admin_url), "another leader")


def rejoin(whole: Cluster) -> None:
    """Start the nodes that were killed, and wait until each commit is on two nodes again."""
    for node in whole.nodes:
        if not node.status:
            whole.start_node(node)
    await_(lambda: whole.is_whole, "the former leader as a standby")


def main(home: Path, kills: int) -> None:
    with cluster() as whole:
        replicas = [Replica(home / f"server{n}", whole.member_url) for n in range(SERVERS)]
        load = Load(home, replicas, whole.member_url)
        try:
            for replica in replicas:
                replica.start()
            load.start()
            print(HEADER, flush=True)
            for number in range(kills):
                started = time.monotonic()
                print(
                    load.during(f"leader killed ({number + 1})", lambda: take_over(whole), CALLS_EACH),
                    flush=True,
                )
                rejoin(whole)
                print(f"  whole again after {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
            print(load.stop())
            print(*load.reasons(), sep="\n")
        finally:
            for replica in replicas:
                replica.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else KILLS)
