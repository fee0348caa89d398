"""Retrieval quality through the product's own search, one configuration for all sets.

    python bench/retrieval.py SETS_DIRECTORY OUT_DIRECTORY [SET ...] [--words]

Each set (corpus.jsonl, queries.jsonl) is kept in a store of its own, as conversations of projects; each query
is asked of `core.ask` and the ranking written to OUT_DIRECTORY/SET.jsonl for a scorer: conversations as every tool ranks them where the set asks
for sessions, single messages elsewhere. `--words` searches without embeddings.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from backstory.app import open_core, read_settings
from backstory.core import Core
from backstory.core.ask import Inquiry
from backstory.core.projects.related import EVERY_PROJECT
from backstory.domain.filters import Filter, Kind
from backstory.domain.records import Conversation, Message

CODING = ("codesess",)
"""Sets of conversations with coding assistants, whose answers are sessions; the others are chats."""
DEPTH = 100  # results asked for: what the scorer looks at


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def keep_corpus(core: Core, corpus: Path) -> None:
    surface = "claude-code" if corpus.parent.name in CODING else "chatgpt"
    for session, turns in groupby(lines(corpus), key=lambda turn: turn["session"]):
        messages = [message(turn, place, surface) for place, turn in enumerate(turns)]
        first, last = messages[0], messages[-1]
        conversation = Conversation(
            id=session,
            title=session,
            project=first.project,
            surface=surface,
            created_at=first.created_at,
            updated_at=last.created_at,
        )
        core.engine.store.conversations.put(conversation, messages)


def message(turn: dict[str, Any], place: int, surface: str) -> Message:
    moment = datetime.fromisoformat(turn["timestamp"] or "2000-01-01").replace(tzinfo=UTC)
    return Message(
        id=turn["id"],
        conversation=turn["session"],
        seq=place,
        role=turn["speaker"] if turn["speaker"] in ("user", "assistant") else "speaker",
        speaker=turn["speaker"],
        text=turn["text"],
        project=turn["conversation"],
        surface=surface,
        created_at=moment,
    )


def ranked(core: Core, query: dict[str, Any], by_session: bool) -> list[str]:
    projects = (query["conversation"],)
    if not by_session:
        return [each.id for each in core.ask.messages(query["text"], limit=DEPTH, projects=projects)]
    where = Filter(kinds=(Kind.MESSAGE,), projects=projects)
    inquiry = Inquiry(query["text"], EVERY_PROJECT, where=where, limit=DEPTH, reads_histories=False)
    return [hit.conversation for hit in core.ask.find(inquiry).hits[:DEPTH] if hit.conversation]


def run(core: Core, queries: Path, out: Path) -> float:
    """Ask every query; the CPU milliseconds of one."""
    spent = count = 0.0
    with out.open("w", encoding="utf-8") as file:
        for query in lines(queries):
            start = time.process_time()
            ids = ranked(core, query, queries.parent.name in CODING)
            spent += time.process_time() - start
            count += 1
            file.write(json.dumps({"id": query["id"], "ranked": ids}) + "\n")
    return 1000 * spent / count


def main(sets: Path, out: Path, names: list[str]) -> None:
    source = "off" if "--words" in names else "local"
    names = [name for name in names if name != "--words"]
    for name in names or sorted(path.name for path in sets.iterdir() if path.is_dir()):
        core = open_core(read_settings({"home": out / name, "embeddings": source}))
        if not core.engine.store.entries.size_hint():
            keep_corpus(core, sets / name / "corpus.jsonl")
        if core.engine.backlog is not None:
            core.engine.backlog.drain()
        cpu_ms = run(core, sets / name / "queries.jsonl", out / f"{name}.jsonl")
        print(f"{name}: {cpu_ms:.1f} ms CPU a query", flush=True)
        core.engine.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
