"""The share of right decisions, rules and dropped attempts in conversations that no rule was fitted to.

    python bench/judged_statements.py DATA_DIRECTORY WORK_DIRECTORY

DATA_DIRECTORY holds `haystack` (next to `../tools/make_haystack.py`) and `retrieval/codesess`. `judged_statements.tsv` beside
this file has a verdict for each sentence, by its hash: right, weak (true, but of little use alone) or
wrong. A sentence without a verdict is printed, to be judged.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from backstory.app import open_core, read_settings
from backstory.core.statements import words
from backstory.domain.filters import ConversationFilter
from backstory.domain.statements import Saying, StatementKind

JUDGED_KINDS = (StatementKind.DECISION, StatementKind.PREFERENCE, StatementKind.DROPPED)
VERDICTS = Path(__file__).with_suffix(".tsv")


class Spoken(NamedTuple):
    role: str
    text: str


def fingerprint(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


def stated_in(spoken: list[Spoken]) -> Iterator[Saying]:
    """Statements by words: of the user's messages, and of those that end an assistant's turn."""
    for place, message in enumerate(spoken):
        if message.role == "user":
            yield from words.by_user(message.text)
        elif place + 1 == len(spoken) or spoken[place + 1].role == "user":
            yield from words.by_assistant(message.text)


def haystack(data: Path, work: Path) -> Iterator[list[Spoken]]:
    home, store = work / "home", work / "store"
    if not home.exists():
        script = data.parent / "tools" / "make_haystack.py"
        subprocess.run([sys.executable, str(script), str(data / "haystack"), str(home)], check=True)
    environment = {
        **os.environ,
        "HOME": str(home),
        "BACKSTORY_HOME": str(store),
        "BACKSTORY_EMBEDDINGS": "off",
    }
    command = [sys.executable, "-m", "backstory", "sync", "--json"]
    subprocess.run(command, env=environment, cwd=work, check=True, stdout=subprocess.DEVNULL)
    core = open_core(read_settings({"home": store, "embeddings": "off", "histories": "off"}))
    try:
        for conversation in core.engine.store.conversations.find(ConversationFilter(kinds=("main", "fork"))):
            messages = core.engine.store.messages.of(conversation.id)
            yield [
                Spoken(each.role, each.text)
                for each in messages
                if each.role in ("user", "assistant") and each.text.strip()
            ]
    finally:
        core.close()


def coding_sessions(data: Path) -> Iterator[list[Spoken]]:
    sessions: dict[str, list[tuple[int, Spoken]]] = {}
    for line in (data / "retrieval" / "codesess" / "corpus.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        sessions.setdefault(row["session"], []).append((row["seq"], Spoken(row["speaker"], row["text"])))
    for numbered in sessions.values():
        yield [spoken for _, spoken in sorted(numbered, key=lambda each: each[0])]


def report(name: str, conversations: Iterator[list[Spoken]], verdicts: dict[str, str]) -> None:
    counts: dict[str, Counter[str]] = {}
    known: set[str] = set()
    for saying in (saying for spoken in conversations for saying in stated_in(spoken)):
        if saying.kind in JUDGED_KINDS and saying.text not in known:
            known.add(saying.text)
            verdict = verdicts.get(fingerprint(saying.text), "unjudged")
            counts.setdefault(saying.kind.value, Counter())[verdict] += 1
            if verdict == "unjudged":
                print(fingerprint(saying.text), saying.kind.value, saying.text[:200], sep="\t")
    for kind, verdict_counts in sorted(counts.items()):
        print(f"{name:10} {kind:12}", *(f"{verdict} {n}" for verdict, n in sorted(verdict_counts.items())))


def main(data: Path, work: Path) -> None:
    work.mkdir(parents=True, exist_ok=True)
    rows = (line.split("\t") for line in VERDICTS.read_text("utf-8").splitlines() if line)
    verdicts = {digest: verdict for digest, verdict, *_ in rows}
    report("codesess", coding_sessions(data), verdicts)
    report("haystack", haystack(data, work), verdicts)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
