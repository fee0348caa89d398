"""Words of others and the user's own: the number of planted texts that become decisions, and of real statements that
are lost. python bench/provenance.py planted texts (tests/foreign_words.py) python bench/provenance.py
../shared/data/statements and the annotated conversations there"""

from __future__ import annotations

import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests import foreign_words

from backstory.core.statements.deriving import derive
from backstory.domain.provenance import Provenance, foreign_part, segments
from backstory.domain.records import Conversation, Message
from backstory.domain.statements import StatementKind
from backstory.store.sqlite import SqliteStore

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ROLES = {"user": "user", "assistant": "assistant", "call": "tool"}


def kept(store: SqliteStore, name: str, said: list[tuple[str, str]]) -> list[Message]:
    """Store a conversation of these messages. Returns its statements."""
    talk = Conversation(name, "", "/p", "bench", NOW, NOW)
    rows, place = [], -1
    for number, (role, text) in enumerate(said):
        place += role != "tool"
        row = Message(f"{name}:{number}", name, max(place, 0), role, text, "/p", "bench", NOW)
        rows.append(row._replace(trust=talk.trust_of(role)))
    store.conversations.add(talk, rows, [])
    return [row for row in rows if row.role != "tool"]


def decisions(store: SqliteStore, messages: list[Message]) -> list[str]:
    """The decisions and rules that are extracted from a conversation of these messages."""
    name = messages[0].conversation
    (talk,) = store.conversations.get([name])
    derive(store, talk)
    kinds = (StatementKind.DECISION, StatementKind.PREFERENCE)
    return [each.saying.text for each in store.sayings.of(name) if each.saying.kind in kinds]


def planted(store: SqliteStore) -> None:
    cases = [[("user", text)] for text in foreign_words.PASTED_BY_USERS.values()]
    cases += [
        [("user", "What do they say?"), *([("tool", calls)] if calls else []), ("assistant", answer)]
        for answer, calls in foreign_words.RELAYED_BY_ASSISTANTS.values()
    ]
    taken = 0
    for number, case in enumerate(cases):
        words = foreign_words.DECISIONS if case[-1][0] == "user" else foreign_words.SAID_BY_ASSISTANTS
        taken += any(
            decisions(
                store,
                kept(store, f"{number}:{n}", [(role, text.replace("{words}", each)) for role, text in case]),
            )
            for n, each in enumerate(words)
        )
    own = sum(
        bool(decisions(store, kept(store, f"own:{n}", [("user", text)])))
        for n, text in enumerate(foreign_words.OWN_WORDS)
    )
    print(f"planted texts taken for decisions: {taken} of {len(cases)}")
    print(f"decisions of the user that are still one: {own} of {len(foreign_words.OWN_WORDS)}")


def annotated(folder: Path, store: SqliteStore) -> None:
    """The set with its own reader and scorer."""
    sys.path.insert(0, str(folder))
    from events import events  # type: ignore[import-not-found]
    from score import read, score_statements  # type: ignore[import-not-found]

    own: Counter[tuple[str, str]] = Counter()
    every: Counter[tuple[str, str]] = Counter()
    statements: dict[str, list[dict[str, Any]]] = {}
    seconds, messages = 0.0, 0
    gold = read(str(folder / "conversations.jsonl"))
    for talk in gold:
        _, found = events(folder.parent / talk["file"])
        said = [
            (ROLES[each.role], each.text or f"{each.tool} {each.args}")
            for each in found
            if each.role in ROLES and (each.text.strip() or each.tool)
        ]
        spoken = kept(store, talk["id"], said)
        start = time.perf_counter()
        for message in spoken:
            segments(message.text, message.role)
        seconds, messages = seconds + time.perf_counter() - start, messages + len(spoken)
        statements[talk["id"]] = [
            {"kind": "decision", "text": text} for text in (decisions(store, spoken) if spoken else ())
        ]
        for fact in talk["facts"]:
            event = found[fact["event"]]
            place = event.text.find(fact["quote"])
            if event.role in ("user", "assistant") and place >= 0:
                kind = event.role, fact["kind"]
                every[kind] += 1
                end = place + len(fact["quote"])
                own[kind] += foreign_part(event.text, event.role, place, end) is Provenance.OWN
    for role in ("user", "assistant"):
        kinds = ", ".join(
            f"{kind} {own[role, kind]} of {every[role, kind]}" for who, kind in sorted(every) if who == role
        )
        print(f"annotated statements that are the {role}'s own: {kinds}")
    print(f"{messages} messages, {1000 * seconds / messages:.2f} ms each")
    score_statements(gold, statements, "")


def main() -> None:
    with TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder, "store.db"))
        planted(store)
        for place in sys.argv[1:]:
            annotated(Path(place).resolve(), store)
        store.close()


if __name__ == "__main__":
    main()
