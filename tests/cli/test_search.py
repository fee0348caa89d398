"""`backstory search`: each conversation once, with ids, filters and what stands around a match."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import timedelta

import pytest

from backstory.app import open_core, read_settings
from backstory.core.ask import Inquiry
from backstory.store import Store
from backstory.web.page_query import PageQuery
from backstory.web.pages import search as search_page

from ..doubles import DAWN, make_conversation, make_memory, make_messages
from ..typed import Typing
from .conftest import CLAUDE, CODEX, MEMORY


def found(typing: Typing, *words: str) -> list[str]:
    status, out, _ = typing.run("search", *words, "--json")
    results = json.loads(out)["results"]
    assert status == (0 if results else 1)
    return [each.get("conversation_id", each["id"]) for each in results]


def test_a_conversation_stands_once_with_its_title_and_the_number_of_the_message(typing: Typing) -> None:
    (result,) = typing.json("search", "miss", "date")["results"]
    assert (result["title"], result["number"]) == ("Why does the cache miss?", 2)
    text = typing.text("search", "miss", "date")
    assert text.startswith("1. 1af7fc5e#2 Why does the cache miss?  score ")
    assert "The key has a date." in text
    assert "#1 why does it miss?" in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([], {MEMORY, CODEX}),
        (["--kind", "memory"], {MEMORY}),
        (["--kind", "decision"], {MEMORY}),
        (["--kind", "task"], set()),
        (["--kind", "conversation"], {CODEX}),
        (["--assistant", "codex"], {CODEX}),
        (["--project", "shop"], set()),
        (["--since", "2026-03-02"], set()),
        (["--since", "a couple of days ago"], set()),
        (["--until", "2026", "--limit", "9"], {MEMORY, CODEX}),
        (["--until", "2026-03-02", "--limit", "9"], {MEMORY, CODEX}),
        (["--file", "cache.py"], {CLAUDE}),  # it answers nothing, and touched the file
        (["--file", "nowhere.py"], set()),
    ],
)
def test_a_search_is_narrowed(typing: Typing, flags: list[str], expected: set[str]) -> None:
    assert set(found(typing, "deploy", *flags)) == expected


def test_a_search_without_results_suggests_subjects_and_has_exit_status_1(typing: Typing) -> None:
    status, out, err = typing.run("search", "zzqxjk", "wvut")
    assert (status, out.splitlines()[0]) == (1, "No results for 'zzqxjk wvut'.")
    assert "Try fewer or other words. The latest subjects are: " in err
    status, out, _ = typing.run("search", "zzqxjk", "--json")
    assert (status, json.loads(out)["results"]) == (1, [])
    assert json.loads(out)["suggestions"]


def test_a_file_is_searched_for_with_and_without_words(typing: Typing) -> None:
    assert found(typing, "--file", "shop/cache.py") == [CLAUDE]
    assert found(typing, "date", "--file", "cache.py") == [CLAUDE]
    assert "The query is empty." in typing.refusal("search")


def test_open_shows_the_result_with_what_stands_around_it(typing: Typing) -> None:
    shown = typing.text("search", "date", "--open")
    assert "#2 assistant" in shown
    assert "why does it miss?" in shown
    assert typing.json("search", "tuesdays", "--kind=memory", "--open", "1")["id"] == MEMORY
    assert "There is no result '7'." in typing.refusal("search", "date", "--open", "7", status=1)


def test_who_asks_for_memories_is_shown_the_nearest_even_if_none_matches(typing: Typing) -> None:
    assert found(typing, "zzqxjk", "wvut", "--kind", "memory") == [MEMORY]
    assert "Nothing sure; the nearest:" in "".join(typing.run("search", "zzqxjk", "--kind", "memory")[1:])
    status, out, _ = typing.run("search", "zzqxjk", "--kind", "memory", "--project", "shop")
    assert (status, out.splitlines()[0]) == (1, "No memory or conversation matches --project and --kind.")


def test_command_page_and_recall_have_one_order(typing: Typing, filled: Store) -> None:
    for number, project in enumerate(("/w/shop", "/w/site", "/w/other", "/w/shop")):
        id, at = f"codex:{number}", DAWN + timedelta(days=number)
        talk = make_messages(id, f"deploy {'again ' * number}", "Done, as before.", project=project)
        filled.conversations.put(make_conversation(id, project=project, updated_at=at), talk)
        filled.memories.put(
            [make_memory(f"m{number}", f"The deploy {'is slow ' * number}", project=project, created_at=at)]
        )
    command = found(typing, "how do we deploy", "--limit", "20")
    settings = read_settings({"home": typing.home, "embeddings": "off", "histories": ()})
    with closing(open_core(settings)) as core:
        view = search_page.page(core, PageQuery({"q": "how do we deploy"}, core.engine.now))
        recall = core.lookup.find(Inquiry("how do we deploy"), 20)
    assert len(command) > 8
    assert found(typing, "how do we deploy", "--limit", "5") == command[:5]
    assert [each.get("conversation_id", each["id"]) for each in view.body["results"]] == command
    assert [hit.id for hit in recall.hits] == command
