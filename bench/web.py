"""The cost of a page: CPU of `backstory web` for each page over 100,000 messages.

    python bench/web.py HOME

HOME is filled once with 100,000 messages of invented conversations, one of them 20,000 messages long, 2,000 memories,
traces of files, and vectors (random ones, which cost a search as much as real ones do); then every page is asked for
CALLS times, each time another conversation, query or file.
"""

from __future__ import annotations

import http.client
import random
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from notes import note, question
from servers import launched, percentile, process_ms

from backstory.app import open_core, read_settings
from backstory.core import Core
from backstory.core.statements.deriving import derive_next
from backstory.domain.entries import EntryVectors
from backstory.domain.records import Conversation, Memory, Message, Trace

MESSAGES, LONG, EACH = 100_000, 20_000, 40
MEMORIES = 2_000
CALLS = 40
PROJECTS = [f"/work/project-{number}" for number in range(30)]
ASSISTANTS = ("claude-code", "codex", "cursor", "gemini-cli")
FILES = [f"src/module_{number}.py" for number in range(400)]
NOW = datetime.now(UTC).replace(microsecond=0)


def fill(core: Core, messages: int = MESSAGES) -> None:
    store, random_ = core.engine.store, random.Random(7)
    if store.census().messages >= messages:
        return
    sizes = [LONG] + [EACH] * ((messages - LONG) // EACH)
    for number, size in enumerate(sizes):
        add_conversation(core, number, size, random_)
        print(f"\r{number + 1:,} of {len(sizes):,} conversations", end="", file=sys.stderr, flush=True)
    store.memories.put([memory(number, random_) for number in range(MEMORIES)])
    give_vectors(core)
    while derive_next(store):  # as a sync or a server does; otherwise every page of a project would repeat it
        pass


def add_conversation(core: Core, number: int, size: int, random_: random.Random) -> None:
    start = NOW - timedelta(minutes=random_.randrange(525_600))
    conversation = Conversation(
        id=f"{ASSISTANTS[number % 4]}:{number}",
        title=note(random_)[:60],
        project=PROJECTS[number % 30],
        surface=ASSISTANTS[number % 4],
        created_at=start,
        updated_at=start + timedelta(minutes=size),
        native_id=str(number),
    )
    messages, traces = [], []
    for seq in range(size):
        role = ("user", "assistant", "tool", "assistant")[seq % 4]
        file = random_.choice(FILES)
        text = f"Edit file_path: {file}\n{note(random_)}" if role == "tool" else note(random_)
        message = Message(
            id=f"{conversation.id}:{seq}",
            conversation=conversation.id,
            seq=seq,
            role=role,
            text=text,
            project=conversation.project,
            surface=conversation.surface,
            created_at=start + timedelta(minutes=seq % 3_000),
        )
        messages.append(message)
        if role == "tool":
            traces.append(Trace(message.id, "written", file))
    core.engine.store.conversations.add(conversation, messages, traces)


def memory(number: int, random_: random.Random) -> Memory:
    made = NOW - timedelta(minutes=random_.randrange(525_600))
    category = ("decision", "task", "note", None)[number % 4]
    return Memory(
        f"m{number}", note(random_), PROJECTS[number % 30], "backstory", made, made, category=category
    )


def give_vectors(core: Core) -> None:
    backlog = core.engine.backlog
    assert backlog is not None
    store, generator = core.engine.store, np.random.default_rng(7)
    while batch := store.vectors.claim(backlog.space, 1_000, lease_ms=0):
        vectors = generator.standard_normal((len(batch), 384)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        rows = [
            EntryVectors(each.entry, each.revision, vectors[place : place + 1])
            for place, each in enumerate(batch)
        ]
        store.vectors.put(backlog.space, rows)


def addresses(random_: random.Random) -> dict[str, str]:
    number = random_.randrange(1, 2_001)
    words = "+".join(re.findall(r"\w+", question(random_)))
    return {
        "home": "/",
        "search": f"/search?q={words}",
        "search, narrowed": f"/search?q={words}&assistant=codex&since=-6mo",
        "conversations": f"/conversations?page={random_.randrange(1, 40)}",
        "conversation": f"/conversation/{ASSISTANTS[number % 4]}:{number}",
        "conversation of 20,000": f"/conversation/claude-code:0?at={random_.randrange(1, LONG)}",
        "its next part": f"/conversation/claude-code:0?from={random_.randrange(1, LONG)}&part=1",
        "memories": f"/memories?page={random_.randrange(1, 60)}",
        "memory": f"/memory/m{random_.randrange(MEMORIES)}",
        "files": "/files",
        "file": f"/file?path={random_.choice(FILES)}",
        "timeline": f"/timeline?project={random_.choice(PROJECTS)}",
        "timeline of all": f"/timeline?until=2026-{random_.randrange(1, 12):02d}-01",
        "statements": f"/statements?project={random_.choice(PROJECTS)}",
        "inbox": "/inbox",
        "injected": "/injected",
        "usage": f"/usage?by={random_.choice(('project', 'model', 'assistant'))}&project={random_.choice(PROJECTS)}",
        "graph": f"/graph?about=m{random_.randrange(MEMORIES)}",
        "stats": "/stats",
        "health": "/health",
    }


def measure(home: Path) -> None:
    command = [
        str(Path(sys.executable).with_name("backstory")),
        "web",
        "--no-open",
        "--home",
        str(home),
        "--histories",
        "off",
    ]
    with launched(command, stderr=subprocess.PIPE, cwd=home) as process:
        assert process.stderr is not None
        found = re.search(r"127\.0\.0\.1:(\d+)/\?(t=\S+)", process.stderr.readline())
        assert found is not None
        port = int(found[1])
        cookie = _get(port, f"/?{found[2]}", "").headers["Set-Cookie"].partition(";")[0]
        random_ = random.Random(11)
        for path in addresses(random_).values():
            # work that is done once: the model, the templates, the analysis of memories for the graph
            _get(port, path, cookie)
        spent: dict[str, list[float]] = {}
        for _ in range(CALLS):
            for name, path in addresses(random_).items():
                before = process_ms(process.pid)
                answer = _get(port, path, cookie)
                spent.setdefault(name, []).append(process_ms(process.pid) - before)
                assert answer.status == 200, (path, answer.status)
    print("| page | p50 ms CPU | p95 |\n|---|---|---|")
    for name, times in spent.items():
        print(f"| {name} | {percentile(times, 0.5):.1f} | {percentile(times, 0.95):.1f} |")
    every = [time for times in spent.values() for time in times]
    print(f"| all | {percentile(every, 0.5):.1f} | {percentile(every, 0.95):.1f} |")


def _get(port: int, path: str, cookie: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", path, headers={"Cookie": cookie})
    response = connection.getresponse()
    response.read()
    connection.close()
    return response


if __name__ == "__main__":
    home = Path(sys.argv[1])
    home.mkdir(parents=True, exist_ok=True)
    core = open_core(read_settings({"home": home, "histories": "off"}))
    fill(core)
    core.engine.close()
    measure(home)
