"""Search as a caller asks: narrowed by whatever a Filter knows, in the order that is wanted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from backstory.core import Caller, Core
from backstory.core.ask import SURE, Inquiry
from backstory.core.projects.related import EVERY_PROJECT
from backstory.domain.filters import Filter, Kind
from backstory.search.engine import Found
from backstory.search.evidence import CROWD, QUOTA
from backstory.store import Store

from ..conftest import OpenCore
from ..doubles import DAWN, found_memories, make_conversation, make_memory, make_messages


def found(core: Core, where: Filter, project: str | None = None) -> list[str]:
    ranking = core.ask.find(Inquiry("walrus", project, where=where))
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
    assert found(core, Filter(), EVERY_PROJECT) == ["sure", "own"]


def test_who_wants_a_few_memories_is_not_kept_waiting_for_all_that_match(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    pools: list[int] = []
    find = core.engine.search.find

    def watched(query: str, where: Filter, *, pool: int = 1) -> Found:
        pools.append(pool)
        return find(query, where, pool=pool)

    monkeypatch.setattr(core.engine.search, "find", watched)
    # more than words and vectors propose at first
    count = max(QUOTA.memories, CROWD) + 1
    core.engine.store.memories.put([make_memory(f"m{n}", f"walrus {n}") for n in range(count)])
    assert len(found_memories(core, "walrus", 5)) == 5
    assert pools == [1]
    assert len(found_memories(core, "walrus", count)) == count
    assert pools == [1, 1, 4]


def best(core: Core, query: str) -> str | None:
    hits = core.ask.find(Inquiry(query)).hits
    return hits[0].conversation if hits else None


def tell(core: Core, id: str, *texts: str, **more: Any) -> None:
    core.engine.store.conversations.put(make_conversation(id, **more), make_messages(id, *texts))


SPELLINGS = ("fetchOrderTotal", "FetchOrderTotal", "fetch_order_total", "FETCH_ORDER_TOTAL", "fetch-order-total", "fetch.order.total", "fetch order total")  # fmt: skip


@pytest.mark.parametrize("written", SPELLINGS)
def test_an_identifier_is_found_in_any_spelling(core: Core, written: str) -> None:
    tell(core, "wanted", "Where is it?", f"We changed {written} so that it rounds at the end.")
    for n, other in enumerate(
        ("fetch the order of the day", "orderTotal is a column", "fetchTotal is unused")
    ):
        tell(core, f"other {n}", f"What about {other}?", f"Done: {other}, and nothing else to say of it.")
    assert {best(core, f"why did we change {each}") for each in (*SPELLINGS, "fetchordertotal")} == {"wanted"}


TRACEBACK = """Traceback (most recent call last):
  File "/home/me/shop/src/billing/tax.py", line 214, in compute
    rate = RATES[country]
KeyError: 'XK'
"""


def test_a_pasted_error_a_path_and_other_scripts_find_what_speaks_of_them(core: Core) -> None:
    tell(core, "tax", f"It fails:\n{TRACEBACK}", "The table lacks Kosovo: I added it with the standard rate.")
    tell(core, "form", TRACEBACK.replace("'XK'", "'name'").replace("billing/tax", "web/form"), "Use .get.")
    tell(core, "zh", "数据库迁移为什么失败?", "数据库迁移失败是因为锁没有释放，我们改成了先释放锁再迁移。")
    tell(core, "ja", "ログインのエラーは?", "トークンの有効期限が切れていたので、更新処理を追加しました。")
    tell(core, "ko", "배포가 왜 실패했나요?", "배포 스크립트에서 환경 변수가 빠져 있었습니다.")
    tell(core, "ru", "Почему падает сборка?", "Сборка падала из-за устаревшего кэша.")
    asked = {
        TRACEBACK.replace("214", "301").replace("/home/me", "/work"): "tax",
        "KeyError: 'XK'": "tax",
        "billing/tax.py": "tax",
        "C:\\shop\\src\\billing\\tax.py": "tax",
        "锁没有释放": "zh",
        "トークンの有効期限": "ja",
        "배포 실패": "ko",
        "сборка и кэш": "ru",
    }
    assert {query: best(core, query) for query in asked} == asked


def test_a_time_that_is_wrong_does_not_hide_what_is_sure(core: Core) -> None:
    tell(core, "answer", "Which walrus sleeps?", "The walrus called Anton sleeps on the ice floe.")
    tell(core, "other", "What about lunch?", "The soup, and a walrus.", created_at=DAWN - timedelta(days=1))
    ranking = core.ask.find(Inquiry("which walrus called Anton sleeps on the ice floe two years ago"))
    assert ranking.hits[0].conversation == "answer"
    assert "searched without" in ranking.notices[0]


def test_a_memory_is_found_among_any_number_of_messages_that_have_more_of_the_words(core: Core) -> None:
    core.engine.store.memories.put([make_memory("own", "keep commit subjects under sixty characters")])
    for number in range(4):
        tell(core, f"c{number}", *[f"how should commit messages look {n}" for n in range(80)])
    ranking = core.ask.find(Inquiry("how should commit messages look"))
    entries = core.engine.store.entries.load(hit.entry for hit in ranking.hits)
    assert "own" in {entries[hit.entry].id for hit in ranking.hits}


def test_a_wrong_day_is_dropped_and_the_project_stays(core: Core) -> None:
    for name in ("other", "shop"):
        at = {"project": f"/home/me/{name}"}
        said = make_messages(name, "Which walrus?", "The walrus sleeps on the ice floe.", **at)
        core.engine.store.conversations.put(make_conversation(name, **at), said)
    ranking = core.ask.find(Inquiry("which walrus sleeps on the ice floe two years ago in the shop project"))
    assert [hit.conversation for hit in ranking.hits] == ["shop"]
    assert ranking.notices[0].startswith("Understood “in the shop project”")
    assert "searched without" in ranking.notices[1]


def test_nothing_is_said_of_the_meaning_of_a_text_without_a_vector(
    core: Core, open_core: OpenCore, store: Store
) -> None:
    store.memories.put([make_memory("m", "a walrus")])
    (hit,) = open_core(store, None).ask.find(Inquiry("walrus")).hits
    assert "words" in hit.known_parts
    assert not {"meaning", "cosine"} & set(hit.known_parts)
    (hit,) = core.ask.find(Inquiry("walrus")).hits
    assert {"words", "meaning", "cosine"} <= set(hit.known_parts)


def test_the_conversation_that_the_caller_is_in_is_not_found(core: Core) -> None:
    for id in ("codex:now", "codex:before"):
        said = make_messages(id, "Which walrus?", "The walrus sleeps on the ice floe.", surface="codex")
        core.engine.store.conversations.put(make_conversation(id, surface="codex"), said)
    inside = core._replace(
        caller=Caller(project=core.caller.project, assistant="codex-mcp-client", conversation="now")
    )
    for inquiry in (Inquiry("which walrus sleeps"), Inquiry("which walrus sleeps", limit=5)):
        assert {hit.conversation for hit in core.ask.find(inquiry).hits} == {"codex:now", "codex:before"}
        assert {hit.conversation for hit in inside.ask.find(inquiry).hits} == {"codex:before"}


def test_a_later_decision_takes_the_place_of_the_one_it_supersedes(core: Core) -> None:
    """However far behind it was: whoever shows five hits sees it."""
    at = DAWN + timedelta(days=9)
    notes = [make_memory(f"m{n}", f"where tax rates live: table rates, note {n}") for n in range(7)]
    core.engine.store.memories.put([
        make_memory("old", "Tax rates live in the table rates", category="decision"),
        *notes,
        make_memory(
            "new", "Tax rates come from the table tax_rates", category="decision", created_at=at, updated_at=at
        ),
    ])  # fmt: skip
    ranking = core.ask.find(Inquiry("where do tax rates live, in the table rates?", limit=5))
    entries = core.ask.load(hit.entry for hit in ranking.hits)
    assert [entries[hit.entry].id for hit in ranking.hits][:2] == ["new", "old"]
    assert max(hit.certainty for hit in ranking.hits if entries[hit.entry].id in {"m0", "m6"}) > min(
        hit.certainty for hit in ranking.hits if entries[hit.entry].id == "new"
    )
    assert entries[ranking.later[ranking.hits[1].entry]].id == "new"


def test_another_project_is_not_sure_beside_a_sure_answer_of_the_own_project(core: Core) -> None:
    core.engine.store.memories.put(
        [
            make_memory("own", "the walrus sleeps on the northern shore"),
            make_memory("other", "walrus northern shore", project="/elsewhere"),
        ]
    )
    hits = core.ask.find(Inquiry("walrus northern shore")).hits
    own, other = (
        next(hit for hit in hits if (hit.project == "/elsewhere") == is_other) for is_other in (False, True)
    )
    assert own.certainty >= SURE > other.certainty > 0
    alike = core.ask.find(Inquiry("walrus northern shore", EVERY_PROJECT)).hits
    assert all(hit.certainty >= SURE for hit in alike)


def test_decisions_of_the_own_project_come_first_where_nothing_is_sure(core: Core) -> None:
    store = core.engine.store
    store.memories.put([
        make_memory("fact", "a walrus was seen near the harbour by several fishermen last winter, resting"),
        make_memory("decision", "we count every walrus twice, once from the boat and once from the cliff", category="decision"),
        make_memory("other", "a walrus weighs more than a ton", category="decision", project="/elsewhere"),
    ])  # fmt: skip
    ranking = core.ask.find(Inquiry("which walrus statistics library handles seasonal migration models"))
    assert not ranking.is_sure
    ids = [core.ask.load([hit.entry])[hit.entry].id for hit in ranking.hits]
    assert ids[0] == "decision"
    assert set(ids) == {"fact", "decision", "other"}


def test_a_note_in_the_same_words_about_another_ticket_does_not_take_the_place_of_the_one_asked_for(
    core: Core,
) -> None:
    for ticket in ("OPS-1678", "max_retry_count", "PAY-1271"):
        core.memories.save(f"Seen while working on the license server: {ticket} needs another look.")
    ranking = core.ask.find(Inquiry("OPS-1678", where=Filter(kinds=(Kind.MEMORY,)), limit=3))
    first, _ = core.ask.memories(ranking)[0]
    assert "OPS-1678" in first.text
    assert ranking.hits[0].entry not in ranking.later
