"""Score the statements and briefs of annotated conversations with the set's own scorer.

    python bench/statements.py DATA_DIRECTORY WORK_DIRECTORY

DATA_DIRECTORY holds `histories`, `questions` (for the layout of a home) and `statements` (annotations, scorer, chains). The
transcripts are synchronised into a store in WORK_DIRECTORY, and every conversation is scored as the last one of its project.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

from backstory.app import open_core, read_settings
from backstory.core import Caller, Core
from backstory.core.quoting import sentences
from backstory.core.state import ProjectStates
from backstory.core.statements.deriving import derive
from backstory.core.statements.extraction import RULES, sayings_of
from backstory.domain.filters import ConversationFilter
from backstory.domain.records import Conversation, Memory, Message
from backstory.domain.statements import MessageSaying, Saying, Speaker, Statement, StatementKind
from backstory.readers import Role, Turn

Json = dict[str, Any]
TRANSCRIPTS = ".claude/projects/-transcripts"


def lay_out(data: Path, work: Path) -> dict[str, str]:
    """Make a home of the histories and the transcripts; the environment that a sync of it needs."""
    sys.path.insert(0, str(data / "questions"))
    layout = importlib.import_module("layout")
    home = work / "home"
    if not home.exists():
        layout.lay_out(data / "histories", home, data / "questions" / "synthetic")
        for log in (data / "statements" / "transcripts").rglob("*.jsonl"):
            (home / TRANSCRIPTS).mkdir(parents=True, exist_ok=True)
            shutil.copy2(log, home / TRANSCRIPTS / log.name)
    foreign = ("BACKSTORY_", "CLAUDE", "CODEX", "COPILOT")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    own = {"BACKSTORY_HOME": str(work / "store"), "BACKSTORY_EMBEDDINGS": "off"}
    return {**inherited, **layout.environment(home), **own}


def synchronise(work: Path, environment: dict[str, str]) -> None:
    if not (work / "store").exists():
        command = [sys.executable, "-m", "backstory", "sync", "--json"]
        subprocess.run(command, env=environment, cwd=work, check=True, stdout=subprocess.DEVNULL)


def places_of(data: Path, work: Path) -> dict[str, str]:
    """By file of the set, where it lies in the home."""
    home = work / "home"
    rows = (line.split("\t") for line in (home / "LAYOUT.tsv").read_text("utf-8").splitlines())
    places = {f"histories/{source}": str(home / target) for source, target, *_ in rows}
    for log in (data / "statements" / "transcripts").rglob("*.jsonl"):
        places[str(log.relative_to(data))] = str(home / TRANSCRIPTS / log.name)
    return places


def conversations(core: Core, gold: list[Json], places: dict[str, str]) -> Iterator[tuple[str, Conversation]]:
    every = core.engine.store.conversations.find(ConversationFilter())
    for row in gold:
        path = places.get(row["file"], "")
        known = [each for each in every if each.native_id == row["session"]]
        known = known or [each for each in every if path and each.source.partition("#")[0] == path]
        if known:
            yield row["id"], max(known, key=lambda each: each.updated_at)


def measure(
    core: Core, gold: list[Json], places: dict[str, str]
) -> tuple[dict[str, list[Json]], dict[str, str]]:
    """Statements and brief of each conversation, as if it were the only one of its project."""
    statements, briefs = {}, {}
    for id, conversation in conversations(core, gold, places):
        here = core._replace(caller=Caller(project=conversation.project, directory=conversation.directory))
        moment = conversation.updated_at
        here.engine.now = lambda at=moment: at  # type: ignore[misc]
        with patch.object(ProjectStates, "_conversations", lambda *_, only=conversation: [only]):
            state = here.state.of(conversation.project)
            brief = here.briefing.brief(conversation.project)
        lines = brief.text.splitlines()[2:-1] if brief.is_known else []
        statements[id] = [
            _row(each) for each in state.statements if each.holds or each.kind is not StatementKind.TODO
        ]
        statements[id] += [{"kind": "uncommitted", "text": line} for line in lines if "not committed" in line]
        briefs[id] = "\n".join(lines)
    return statements, briefs


def _row(each: Statement) -> Json:
    row: Json = {"kind": each.kind.value, "text": each.text, "is_open": each.holds}
    return row | ({"outcome": each.outcome} if each.kind is StatementKind.CHECK else {})


def chain_states(chain: Json, work: Path, scorer: Any) -> list[Json]:
    """Statements after the sessions of a chain, with their states. Only the states are measured: a message that the chain
    expects to state something, and in which no rule finds it, is given as one decision."""
    wanted = [each["text"] for each in chain["expect"] if each["state"] in ("in_force", "superseded")]

    def is_expected(text: str) -> bool:
        return any(scorer.alike(text, each) for each in wanted)

    home = work / "chains" / chain["id"]
    shutil.rmtree(home, ignore_errors=True)
    core = open_core(read_settings({"home": home, "embeddings": "off", "histories": "off"}))
    try:
        for number, memory in enumerate(chain["memories"]):
            at = datetime.fromisoformat(chain["sessions"][0]["at"]) - timedelta(days=1)
            saved = Memory(
                f"m{number}",
                memory["text"],
                project="/p",
                surface="",
                created_at=at,
                updated_at=at,
                category=memory["kind"],
            )
            core.engine.store.memories.put([saved])
        for number, session in enumerate(chain["sessions"]):
            at = datetime.fromisoformat(session["at"]) + timedelta(minutes=number)
            talk = Conversation(session["id"], "", "/p", "codex", at, at)
            messages = [
                Message(f"{talk.id}/{n}", talk.id, n, each["role"], each["text"], "/p", "codex", at)
                for n, each in enumerate(session["messages"])
            ]
            core.engine.store.conversations.add(talk, messages, [])
            derive(core.engine.store, talk)
            given = core.engine.store.sayings.of(talk.id)
            stated = {saying.message for saying in given}
            missed = [each for each in messages if each.id not in stated and is_expected(each.text)]
            given += [MessageSaying(each.id, _whole(each)) for each in missed]
            core.engine.store.conversations.restate(talk.id, given, RULES)
        core.engine.now = lambda: at + timedelta(hours=1)
        state = core.state.of("/p")
        rows = [{"text": each.text, "state": "in_force"} for each in state.decisions]
        return rows + [
            {"text": each.text, "state": each.state.value, "confirmations": each.confirmations}
            for each in state.statements
        ]
    finally:
        core.close()


def _whole(message: Message) -> Saying:
    return Saying(StatementKind.DECISION, " ".join(sentences(message.text)), Speaker(message.role))


def cost(core: Core) -> float:
    """CPU milliseconds to extract the statements of all stored conversations, for each megabyte of their messages."""
    seconds, size = 0.0, 0
    for conversation in core.engine.store.conversations.find(ConversationFilter()):
        messages = core.engine.store.messages.of(conversation.id)
        roles = {role.value: role for role in (Role.USER, Role.ASSISTANT, Role.SUMMARY)}
        turns = [Turn(each.id, roles[each.role], each.text) for each in messages if each.role in roles]
        start = time.process_time()
        sayings_of(turns)
        seconds += time.process_time() - start
        size += sum(len(turn.text) for turn in turns)
    return 1000 * seconds / (size / 1e6)


def main(data: Path, work: Path) -> None:
    work.mkdir(parents=True, exist_ok=True)
    synchronise(work, lay_out(data, work))
    places = places_of(data, work)
    sys.path.insert(0, str(data / "statements"))
    scorer = importlib.import_module("score")
    gold = scorer.read(str(data / "statements" / "conversations.jsonl"))
    core = open_core(read_settings({"home": work / "store", "embeddings": "off"}))
    try:
        statements, briefs = measure(core, gold, places)
        print(f"{len(briefs)} of {len(gold)} conversations")
        scorer.score_statements(gold, statements, "")
        scorer.score_briefs(gold, briefs, 400, "")
        print(f"extraction: {cost(core):.0f} ms CPU for a megabyte of what was said")
    finally:
        core.close()
    chains = scorer.read(str(data / "statements" / "chains.jsonl"))
    scorer.score_chains(chains, {each["id"]: chain_states(each, work, scorer) for each in chains}, "wrong")
    (work / "statements.jsonl").write_text(
        "\n".join(json.dumps({"id": k, "statements": v}) for k, v in statements.items())
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
