"""The demo is the product at work, and leaves no trace."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from backstory.cli.demo import ANSWER, QUERY

from ..processes import run


def test_it_finds_the_memory_and_says_how_to_go_on(tmp_path: Path) -> None:
    hostile = {"BACKSTORY_DATABASE_URL": f"sqlite:///{tmp_path}/mine.db", "BACKSTORY_EMBEDDINGS": "off"}
    done = run("demo", "--json", home=tmp_path, **hostile)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["found"]
    assert told["results"] == [ANSWER]
    assert shlex.split(told["install"])[-1] == "install"
    assert list(tmp_path.iterdir()) == []


def test_it_tells_its_story(tmp_path: Path) -> None:
    text = run("demo", home=tmp_path).stdout
    assert re.search(r"server \d+ was killed", text)
    assert "found by its meaning" in text
    assert text.rstrip().endswith("backstory install")


def test_the_question_shares_no_word_with_the_answer() -> None:
    assert not set(re.findall(r"\w+", QUERY.lower())) & set(re.findall(r"\w+", ANSWER.lower()))
