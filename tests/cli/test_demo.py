"""The demo is the product at work, and leaves no trace."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from backstory.cli.demo import MEMORY, QUERY, QUESTION
from backstory.cli.demo_home import BILLING, DATABASE, LINE

from ..processes import Json, run


@pytest.fixture(scope="module")
def told() -> Iterator[Json]:
    """Of one run, whose surroundings lead to a store of the user's."""
    with TemporaryDirectory() as folder:
        home = Path(folder)
        hostile = {"BACKSTORY_DATABASE_URL": f"sqlite:///{home}/mine.db", "BACKSTORY_EMBEDDINGS": "off"}
        hostile |= {
            "CLAUDE_CONFIG_DIR": str(
                Path(__file__).parents[1] / "readers" / "claude-code" / "home" / ".claude"
            )
        }
        done = run("demo", "--json", home=home, **hostile)
        assert done.returncode == 0, done.stderr
        assert list(home.iterdir()) == []
        yield json.loads(done.stdout)


def output(told: Json, number: int) -> str:
    text: str = told["steps"][number]["output"]
    return text


def test_the_conversations_of_three_assistants_are_read_and_no_others(told: Json) -> None:
    lines = output(told, 0).splitlines()
    assert [line.partition("  ")[0].strip() for line in lines] == ["Claude Code", "Codex", "Gemini CLI"]
    assert all("1 conversation" in line for line in lines)


def test_a_new_session_is_told_of_all_three(told: Json) -> None:
    brief = " ".join(output(told, 1).split())
    for said in ("PostgreSQL", "mobile app", "Tuesdays"):
        assert said in brief


def test_a_question_is_answered_by_what_was_said_to_another_assistant(told: Json) -> None:
    assert [(each["source"], each["text"]) for each in told["answers"]] == [("claude-code", DATABASE)]
    assert told["answers"][0]["score"] >= 0.7  # what `reflect_on_past` is sure of
    asked, answered = (set(re.findall(r"\w+", text.lower())) for text in (QUESTION, DATABASE))
    assert asked & answered == {"billing"}


def test_what_was_saved_survives_the_server(told: Json) -> None:
    assert re.search(r"server \d+ was killed", output(told, 3))
    assert told["found"]
    assert set(re.findall(r"\w+", QUERY.lower())) & set(re.findall(r"\w+", MEMORY.lower())) <= {"the"}


def test_a_line_leads_to_its_conversation(told: Json) -> None:
    shown = output(told, 4)
    assert BILLING.splitlines()[LINE - 1].strip() in shown
    assert re.search(r"exact +5f2c7a10#2 claude-code", shown)


def test_it_says_how_to_go_on(told: Json) -> None:
    assert shlex.split(told["install"])[-1] == "install"
    assert shlex.split(told["web"])[-1] == "web"
