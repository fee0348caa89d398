"""Saves memories to a store, one transaction each, and prints each id once it is committed."""

from __future__ import annotations

import sys
from pathlib import Path

from backstory.domain.records import Memory
from backstory.domain.when import utc_now
from backstory.store import Store


def open_store(place: str, schema: str) -> Store:
    if schema:
        from backstory.store.postgres import PostgresStore

        return PostgresStore(place, tenant=schema)
    from backstory.store.sqlite import SqliteStore

    return SqliteStore(Path(place))


def main(place: str, name: str, count: str, schema: str = "") -> None:
    sys.stdin.readline()  # all start together
    store = open_store(place, schema)
    for number in range(int(count)):
        id, now = f"{name}-{number}", utc_now()
        store.memories.put(
            [Memory(id=id, text=f"text {id}", project=name, surface="test", created_at=now, updated_at=now)]
        )
        print(id, flush=True)
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
