"""Who touched a file, and who speaks of it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from backstory.domain.filters import Filter
from backstory.domain.records import Trace
from backstory.search import file_mentions
from backstory.search.file_mentions import NAMED, TOUCHED, file_hits
from backstory.store import Store

from ..doubles import DAWN, make_conversation, make_messages

PATH = "src/app.py"


def test_texts_of_those_who_touched_a_file_are_not_read_for_its_name(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_mentions, "MOST_READ", 1)
    store.conversations.put(make_conversation("named"), make_messages("named", f"Look at {PATH}."))
    for number in range(2):
        id = f"touched-{number}"
        later = DAWN + timedelta(days=number + 1)
        said = make_messages(id, f"Edit {PATH}", role="tool", created_at=later)
        store.conversations.add(make_conversation(id), said, [Trace(said[0].id, "written", PATH)])
    hits = file_hits(store, PATH, Filter())
    assert [(hit.conversation, hit.certainty) for hit in hits] == [
        ("touched-1", TOUCHED),
        ("touched-0", TOUCHED),
        ("named", NAMED),
    ]
