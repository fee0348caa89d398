"""`stats`, and what `show` and `status` tell of results and usage."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from backstory.domain.tool_results import StoredCall, StoredResult, TextRange
from backstory.domain.usage import ModelCall
from backstory.domain.when import to_ms
from backstory.store import Store

from ..doubles import DAWN
from ..typed import Typing
from .conftest import AGENT, CLAUDE, CODEX

OPUS = ModelCall(
    "a", "claude-opus-4-1-20250805", to_ms(DAWN), 1_000_000, 100_000, 2_000_000, 300_000, 100_000, turn="3"
)
"""At 15, 75, 1.5, 18.75 and 30 dollars for a million: 15 + 7.5 + 3 + 3.75 + 3."""
OPUS_COST = 32.25
LATER = to_ms(DAWN + timedelta(days=3))


@pytest.fixture
def counted(filled: Store) -> Store:
    done = filled.messages.of(CLAUDE)[-1]
    text = "<backstory>x</backstory>\n2 failed"
    calls = [
        StoredCall(
            done.id, "call-1", "Edit", TextRange(5, 27), result=StoredResult(text, 90_000, True, True, 1, 250)
        ),
        StoredCall(done.id, "call-2", "Edit"),
    ]
    filled.conversations.add(filled.conversations.get([CLAUDE])[0], [done], [], [], calls)
    filled.usage.put(CLAUDE, "claude-code", [OPUS], {})
    filled.usage.put(AGENT, "claude-code", [OPUS._replace(key="b", model="claude-new")], {})
    filled.usage.put(CODEX, "codex", [ModelCall("c", "gpt-5.4", LATER, 300_000, 10, is_partial=True)], {})
    return filled


def test_show_tells_calls_with_their_results_and_the_usage_of_the_conversation(
    typing: Typing, counted: Store
) -> None:
    body = typing.json("show", CLAUDE)
    assert body["usage"] == {
        "input": 1_000_000, "output": 100_000, "cache_read": 2_000_000, "cache_write": 300_000, "reasoning": 0,
        "cost_usd": OPUS_COST, "prices_of": body["usage"]["prices_of"], "calls": 1, "is_partial": False,
        "models": [
            {
                "model": "claude-opus-4-1-20250805", "input": 1_000_000, "output": 100_000, "cache_read": 2_000_000,
                "cache_write": 300_000, "reasoning": 0, "cost_usd": OPUS_COST,
            }
        ],
        "unpriced": [],
    }  # fmt: skip
    assert len(body["usage"]["prices_of"]) == len("2026-01-01")
    first, second = body["messages"][-1]["calls"]
    assert (first["id"], first["name"], first["arguments"]) == (
        "call-1",
        "Edit",
        "file_path: /w/shop/cache.py",
    )
    result = first["result"]
    assert result["text"].endswith("2 failed")
    assert "<backstory>" not in result["text"]
    assert {key: value for key, value in result.items() if key != "text"} == {
        "bytes": 90_000, "is_cut": True, "is_error": True, "exit_code": 1, "duration_ms": 250,
    }  # fmt: skip
    assert second["result"] is None
    assert body["messages"][0]["calls"] == []
    assert typing.json("show", CODEX)["usage"]["is_partial"] is True


def test_a_conversation_without_usage_says_null(typing: Typing) -> None:
    assert typing.json("show", CODEX)["usage"] is None
    assert typing.json("stats")["usage"] is None
    assert "backstory sync" in typing.text("stats")


def test_stats_count_each_model_call_once_and_say_which_models_have_no_price(
    typing: Typing, counted: Store
) -> None:
    body = typing.json("stats")
    assert body["injections"] == {"given": 0, "judged": 0, "used": 0, "precision": None, "events": []}
    usage = body["usage"]
    assert (usage["calls"], usage["input"], usage["is_partial"]) == (3, 2_300_000, True)
    assert usage["unpriced"] == ["claude-new"]
    # above 272,000 tokens gpt-5.4 costs twice as much
    gpt = 300_000 * 5.0 / 1e6 + 10 * 22.5 / 1e6
    assert usage["cost_usd"] == pytest.approx(OPUS_COST + gpt)
    costs = {each["name"]: each["cost_usd"] for each in body["by_model"]}
    assert costs == {
        "claude-opus-4-1-20250805": OPUS_COST, "gpt-5.4": pytest.approx(gpt), "claude-new": None,
    }  # fmt: skip
    assert {each["name"]: each["input"] for each in body["by_assistant"]} == {
        "claude-code": 2_000_000, "codex": 300_000,
    }  # fmt: skip
    assert {each["name"] for each in body["by_project"]} == {"/w/shop", "/w/site"}
    days = [each["name"] for each in body["by_day"]]
    assert days == [f"{DAWN:%Y-%m-%d}", f"{DAWN + timedelta(days=3):%Y-%m-%d}"]
    assert set(body["by_day"][0]) == {"name", "input", "output", "cache_read", "cache_write", "cost_usd"}
    assert body["tools"] == [{"name": "Edit", "calls": 2, "failed": 1}]


def test_stats_are_narrowed_by_project_assistant_and_the_time_of_the_calls(
    typing: Typing, counted: Store
) -> None:
    assert typing.json("stats", "--project", "site")["usage"]["calls"] == 1
    assert typing.json("stats", "--assistant", "claude")["usage"]["calls"] == 2
    since = f"{DAWN + timedelta(days=2):%Y-%m-%d}"
    assert [each["name"] for each in typing.json("stats", "--since", since)["by_model"]] == ["gpt-5.4"]
    assert typing.json("stats", "--since", since)["tools"] == []


@pytest.mark.parametrize(
    ("by", "shown"),
    [
        ("day", f"{DAWN:%Y-%m-%d}"),
        ("project", "shop"),
        ("assistant", "codex"),
        ("model", "no price"),
        ("tool", "Edit"),
    ],
)
def test_stats_for_people_are_one_table_by_what_they_name(
    typing: Typing, counted: Store, by: str, shown: str
) -> None:
    text = typing.text("stats", "--by", by)
    assert shown in text
    assert "at list prices of" in " ".join(text.split())
    assert "claude-new" in text.splitlines()[-1]


def test_prices_are_replaced_by_a_file_and_those_of_the_day_count(
    typing: Typing, counted: Store, tmp_path: Path
) -> None:
    day = f"{DAWN + timedelta(days=1):%Y-%m-%d}"
    models = {
        "claude-new": [{"until": day, "in": 1.0, "out": 0.0}, {"in": 100.0, "out": 0.0}],
        "gpt-5.4": [{"until": day, "in": 1.0, "out": 0.0}, {"in": 2.0, "out": 0.0}],
    }
    file = tmp_path / "prices.json"
    file.write_text(json.dumps({"date": "2026-02-03", "models": models}))
    body = typing.json("stats", "--prices-file", str(file))
    assert body["usage"]["prices_of"] == "2026-02-03"
    costs = {each["name"]: each["cost_usd"] for each in body["by_model"]}
    # a cache without a price of its own costs as much as input, and twice that for an hour
    assert costs["claude-new"] == pytest.approx(1.0 + 2.0 + 0.2 + 0.1 * 2)
    assert costs["gpt-5.4"] == pytest.approx(0.6)
    assert costs["claude-opus-4-1-20250805"] is None
    file.write_text("{}")
    status, _, err = typing.run("stats", "--prices-file", str(file))
    assert status == 2
    assert "prices.json" in err


def test_an_assistants_own_cost_counts_where_no_price_is_known(typing: Typing, filled: Store) -> None:
    calls = [
        ModelCall("x", "own-model", None, 10, 10, cost_usd=0.25),
        ModelCall("y", "gpt-5.4", None, 10, cost_usd=9.0),
    ]
    filled.usage.put(CODEX, "codex", calls, {})
    costs = {each["name"]: each["cost_usd"] for each in typing.json("stats")["by_model"]}
    assert costs["own-model"] == 0.25
    assert costs["gpt-5.4"] == pytest.approx(10 * 2.5 / 1e6)
    assert typing.json("stats")["usage"]["unpriced"] == []


def test_whole_messages_are_shown_with_the_results_of_their_calls(typing: Typing, counted: Store) -> None:
    text = typing.text("show", CLAUDE, "--full")
    assert "2 failed" in text
    assert "[failed with exit status 1 in 0.2 s]" in text


def test_status_counts_conversations_whose_results_are_lost(typing: Typing, filled: Store) -> None:
    assert typing.json("status")["without_results"] == 0
    filled.sync.set_gone([CLAUDE], True)
    assert typing.json("status")["without_results"] == 1
    assert "1 conversation" in typing.text("status").split("no results")[1]
