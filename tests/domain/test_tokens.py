"""How many tokens a text is thought to cost: never fewer than it does by more than a little."""

from __future__ import annotations

import pytest

from backstory.domain.tokens import count_tokens

COUNTED = [
    ("We decided to keep the sessions in SQLite, because one file is easier to back up.", 18),
    ("def count_tokens(text: str) -> int:", 10),
    ('{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}', 19),
    ("claude-code:12a546d1-83a7-49a6-abba-5400db340b43", 26),
    ("5f0c1e6a9b2d4c7f8e1a0b3c", 24),
    ("src/backstory/core/brief/rendering.py", 9),
    ("2026-11-14 09:30", 10),
    ("Миграция базы данных не удалась, поэтому мы решили использовать реплику.", 18),
    ("数据库迁移失败，因为锁没有释放。", 9),
    ("Die Übertragung wurde verschoben.", 7),
]
"""Texts with what o200k makes of them."""


@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_a_text_is_thought_to_cost_about_what_it_does(text: str, tokens: int) -> None:
    assert 0.85 * tokens <= count_tokens(text) <= 2.1 * tokens


def test_nothing_costs_nothing_and_more_costs_more() -> None:
    assert count_tokens("") == 0
    assert count_tokens("a text\n" * 50) == 50 * count_tokens("a text\n")
