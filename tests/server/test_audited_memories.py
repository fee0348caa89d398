"""The audit log names memories by their ids, and has reads where it is asked to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backstory.domain.memory_trail import MAX_IDS, memory_trail, note_changed, note_read

from ..typed import typed
from .team import Json, bearer, listening, token

TEXT = "We deploy with the walrus script."


def audited(home: Path) -> list[tuple[str, str, list[str]]]:
    calls: list[Json] = json.loads(typed("audit", "--json", home=home).stdout)["calls"]
    return [(each["tool"], each["outcome"], each["memories"]) for each in calls]


@pytest.mark.parametrize("reads", ["off", "on"])
def test_calls_are_listed_with_the_ids_of_their_memories(home: Path, reads: str) -> None:
    alice = bearer(token(home, "alice", "--scope", "admin"))
    with listening(home, "--http-auth", "token", "--audit-reads", reads) as web:
        id = web.call("remember", {"text": TEXT}, **alice)["content"][0]["text"].split()[1]
        web.call("remember", {"text": "The heron is another matter."}, **alice)
        web.call("recall", {"query": "walrus script"}, **alice)
        web.call("open", {"id": id}, **alice)
        web.call("forget", {"id": id, "for_good": True}, **alice)
        web.process.terminate()
        web.process.wait()
    calls = audited(home)
    assert calls[0] == ("remember", "completed", [id])
    assert calls[-1] == ("forget", "completed", [id])
    between = [("recall", "completed", [id]), ("open", "completed", [id])] if reads == "on" else []
    assert calls[2:-1] == between
    assert id in typed("audit", home=home).stdout
    assert "walrus" not in typed("audit", "--json", home=home).stdout


def test_a_call_that_changes_many_names_the_first_and_counts_the_others() -> None:
    with memory_trail() as trail:
        note_read(["read"])
        note_changed(f"id{number}" for number in range(MAX_IDS + 7))
    assert trail.text().split()[:2] == ["id0", "id1"]
    assert trail.text().split()[-1] == "+7"
    note_changed(["afterwards"])
    assert "afterwards" not in trail.changed
