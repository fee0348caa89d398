"""What assistants wrote to a file, gathered while others use the store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from backstory.core import Core
from backstory.core.blame.writings import find_writings
from backstory.domain.records import Conversation, Trace
from backstory.readers import Places

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
