"""Search as a caller asks: narrowed by whatever a Filter knows, in the order that is wanted."""

from __future__ import annotations

from datetime import timedelta

import pytest

from backstory.core import Core
from backstory.domain.filters import Filter, Kind
from backstory.search.engine import Found
from backstory.search.evidence import SAID

from ..doubles import DAWN, make_conversation, make_memory, make_messages


def found(core: Core, narrow: Filter, *, own_first: bool = True) -> list[str]:
    ranking = core.searching.everywhere("walrus", narrow=narrow, own_first=own_first)
    entries = core.engine.store.entries.load(hit.entry for hit in ranking.hits)
    return [entries[hit.entry].id for hit in ranking.hits]


def test_a_search_is_narrowed_by_assistant_kind_and_time(core: Core) -> None:
    store, later = core.engine.store, DAWN + timedelta(days=3)
    store.memories.put([make_memory("m1", "a walrus"), make_memory("m2", "a walrus again", created_at=later)])
    told = make_messages("c1", "the walrus sleeps", surface="codex")
    store.conversations.put(make_conversation("c1", surface="codex"), told)
    assert found(core, Filter(surfaces=("codex",))) == ["c1:0"]
    assert set(found(core, Filter(kinds=(Kind.MEMORY,)))) == {"m1", "m2"}
    assert found(core, Filter(created_after=DAWN + timedelta(days=1))) == ["m2"]


def test_the_surest_comes_first_when_no_project_is_preferred(core: Core) -> None:
    sure = make_memory("sure", "walrus", project="/elsewhere")
    core.engine.store.memories.put([sure, make_memory("own", "a walrus among many other animals of the sea")])
    assert found(core, Filter()) == ["own", "sure"]
    assert found(core, Filter(), own_first=False) == ["sure", "own"]


def test_who_wants_a_few_memories_is_not_kept_waiting_for_all_that_match(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    pools: list[int] = []
    find = core.engine.search.find

    def watched(query: str, where: Filter, *, pool: int = 1) -> Found:
        pools.append(pool)
        return find(query, where, pool=pool)

    monkeypatch.setattr(core.engine.search, "find", watched)
    core.engine.store.memories.put([make_memory(f"m{n}", f"walrus {n}") for n in range(SAID + 1)])
    assert len(core.searching.memories("walrus", limit=5).hits) == 5
    assert pools == [1]
    assert len(core.searching.memories("walrus", limit=SAID + 1).hits) == SAID + 1
    assert pools == [1, 1, 4]
