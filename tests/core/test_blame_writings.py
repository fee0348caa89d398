"""What assistants wrote to a file, gathered while others use the store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from backstory.core import Core
from backstory.core.blame.writings import find_writings
from backstory.core.sync import Sync
from backstory.domain.records import Conversation, Trace
from backstory.readers import Places, load_readers

from ..doubles import make_conversation, make_messages


def test_a_conversation_that_is_forgotten_meanwhile_wrote_nothing(
    core: Core, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversations, places = core.engine.store.conversations, Places(tmp_path, {}, "linux")
    for id in ("stays", "goes"):
        (message,) = make_messages(id, "Edit file_path: /p/a.py\nold_string: a\nnew_string: b")
        conversations.add(make_conversation(id), [message], [Trace(message.id, "written", "/p/a.py")])
    get = conversations.get

    def get_late(ids: Sequence[str]) -> list[Conversation]:
        conversations.delete(["goes"])
        return get(ids)

    monkeypatch.setattr(conversations, "get", get_late)
    found = find_writings(core.engine, core.caller, places, ["a.py"], lambda *_: True)
    assert {each.conversation for each in (*found.edits, *found.silent)} == {"stays"}


def test_an_edit_in_a_message_with_a_former_id_is_traced_to_that_message_once(
    core: Core, tmp_path: Path
) -> None:
    edit = {"file_path": "/p/a.py", "old_string": "a", "new_string": "b"}
    lines = [
        {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Fix it."}},
        {
            "type": "assistant",
            "uuid": "u2",
            "message": {
                "id": "m1",
                "content": [
                    {"type": "text", "text": "I fix it."},
                    {"type": "tool_use", "id": "t1", "name": "Edit", "input": edit},
                ],
            },
        },
    ]
    log = tmp_path / ".claude/projects/-p/s.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text("".join(json.dumps({**line, "sessionId": "s", "cwd": "/p"}) + "\n" for line in lines))
    places = Places(tmp_path, {}, "linux")
    assert Sync(core.engine).run(load_readers(["claude-code"]).values(), places) is not None
    ids = {f"claude-code:s/m1{part}": f"claude-code:s/u2{part}" for part in ("", "#tool")}
    for stored in ({"claude-code:s/m1"}, {"claude-code:s/u2"}):
        found = find_writings(core.engine, core.caller, places, ["a.py"], lambda *_: True)
        assert ([each.message for each in found.edits], found.silent) == (sorted(stored), [])
        core.engine.store.messages.rename(ids)
