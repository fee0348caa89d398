"""Proposals of the inbox on annotated conversations, in which every user says everything in two sessions.

    python bench/inbox.py DATA_DIRECTORY WORK_DIRECTORY

DATA_DIRECTORY and WORK_DIRECTORY are those of `bench/statements.py`, whose store is copied. The annotated conversations are real, and
hardly any of them repeats a rule; so each is stored once more under another id, a day later. A proposal is true if it matches a
preference that was annotated in that conversation, by the set's own rule of matching.
"""

from __future__ import annotations

import importlib
import shutil
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from statements import conversations, lay_out

from backstory.app import open_core, read_settings
from backstory.core import Caller, Core
from backstory.domain.records import Conversation

Json = dict[str, Any]


def say_again(core: Core, conversation: Conversation) -> None:
    """Store a conversation once more, as another session of a day later."""
    store, later = core.engine.store, timedelta(days=1)
    again = conversation._replace(
        id=f"{conversation.id}-again",
        native_id=f"{conversation.native_id}-again",
        created_at=conversation.created_at + later,
        updated_at=conversation.updated_at + later,
        rules=0,
    )
    messages = [
        each._replace(
            id=each.id.replace(conversation.id, again.id),
            conversation=again.id,
            created_at=each.created_at + later,
        )
        for each in store.messages.of(conversation.id)
    ]
    store.conversations.put(again, messages)


def main(data: Path, work: Path) -> None:
    work.mkdir(parents=True, exist_ok=True)
    places = lay_out(data, work)
    sys.path.insert(0, str(data / "statements"))
    scorer = importlib.import_module("score")
    gold = scorer.read(str(data / "statements" / "conversations.jsonl"))
    copy = work / "inbox"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(work / "store", copy)
    core = open_core(read_settings({"home": copy, "embeddings": "off"}))
    try:
        report(core, gold, places, scorer)
    finally:
        core.close()


def report(core: Core, gold: list[Json], places: dict[str, str], scorer: Any) -> None:
    found = list(conversations(core, gold, places))
    rows = {row["id"]: row for row in gold}
    projects = sorted({conversation.project for _, conversation in found})
    once = sum(len(_inbox(core, project).of(project)) for project in projects)
    for _, conversation in found:
        say_again(core, conversation)
    annotated = {conversation.id: rows[id] for id, conversation in found}
    derive(core)
    true = false = 0
    for project in projects:
        for proposal in _inbox(core, project).of(project):
            sources = {each.conversation.removesuffix("-again") for each in proposal.evidence}
            facts = [
                fact["quote"]
                for source in sources & annotated.keys()
                for fact in annotated[source]["facts"]
                if fact["kind"] == "preference"
            ]
            is_true = any(scorer.alike(proposal.text, quote) for quote in facts)
            true, false = true + is_true, false + (not is_true)
            print("true " if is_true else "false", proposal.text[:150].replace("\n", " "))
    total = sum(fact["kind"] == "preference" for row in gold for fact in row["facts"])
    print(f"{once} proposals while each session is there once")
    print(f"{true + false} proposals, {true} true: precision {true / max(true + false, 1):.2f}")
    print(f"{total} annotated preferences: recall {true / total:.2f}")


def derive(core: Core) -> None:
    from backstory.core.statements.deriving import derive_next

    while derive_next(core.engine.store):
        pass


def _inbox(core: Core, project: str) -> Any:
    return core._replace(caller=Caller(project=project, directory=project)).inbox


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
