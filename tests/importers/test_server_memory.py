"""server-memory's graph: no ids and no times, so what is new of an entity takes the place of what is gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backstory.core import Core
from backstory.domain.filters import Filter

from .invented import server_memory
from .running import Counts, counts, memories, memory, run

NAME = "server-memory"


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    return server_memory(tmp_path / "shop")


def say(path: Path, *observations: str) -> None:
    line = {"type": "entity", "name": "rota", "entityType": "rule", "observations": observations}
    path.write_text(json.dumps(line), "utf-8")


def archived(core: Core) -> list[str]:
    return sorted(each.memory.text for each in core.engine.store.archive.find_memories(Filter()))


def test_a_separator_of_lines_within_a_text_ends_no_record(core: Core, foreign: Path) -> None:
    text = "first\u2028second\u2029third\x85fourth\x0cfifth"
    line = {"type": "entity", "name": "rota", "entityType": "rule", "observations": [text]}
    foreign.write_text(json.dumps(line, ensure_ascii=False) + "\n", "utf-8")
    assert counts(run(core, NAME, foreign))["observations"] == Counts(new=1)
    assert text in memory(core, "second").text


def test_each_observation_is_a_memory_of_the_folder_that_the_file_lies_in(core: Core, foreign: Path) -> None:
    assert counts(run(core, NAME, foreign)) == {
        "observations": Counts(new=2),
        "entities": Counts(new=1),
        "relations": Counts(new=1),
        "lines": Counts(skipped=1),
    }
    found = memory(core, "billing: deployed on Tuesdays only")
    assert (found.project, found.tags) == (str(foreign.parent), ("component",))
    assert memory(core, "Ada is a person")
    assert memory(core, "Ada maintains billing").category == "relation"


def test_a_changed_observation_is_a_new_one_that_supersedes(core: Core, foreign: Path) -> None:
    say(foreign, "deployed on Tuesdays", "nobody on call at weekends")
    run(core, NAME, foreign)
    say(foreign, "nobody on call at weekends", "deployed on Thursdays")
    outcome = run(core, NAME, foreign)
    assert counts(outcome)["observations"] == Counts(new=1, unchanged=1)
    assert outcome.superseded == 1
    new = memory(core, "Thursdays")
    assert [each.text for each in core.engine.store.memories.former(new.id)] == ["rota: deployed on Tuesdays"]
    assert archived(core) == ["rota: deployed on Tuesdays"]
    again = run(core, NAME, foreign)
    assert (counts(again)["observations"], again.superseded) == (Counts(unchanged=2), 0)


def test_an_observation_that_only_joins_others_supersedes_none(core: Core, foreign: Path) -> None:
    say(foreign, "deployed on Tuesdays")
    run(core, NAME, foreign)
    say(foreign, "deployed on Tuesdays", "deployed on Thursdays too")
    assert run(core, NAME, foreign).superseded == 0
    assert len(memories(core)) == 2


def test_an_observation_that_is_gone_there_stays_here(core: Core, foreign: Path) -> None:
    say(foreign, "deployed on Tuesdays", "nobody on call at weekends")
    run(core, NAME, foreign)
    say(foreign, "nobody on call at weekends")
    run(core, NAME, foreign)
    assert memory(core, "Tuesdays")


def test_one_that_comes_back_there_comes_back_here(core: Core, foreign: Path) -> None:
    for day in ("Tuesdays", "Thursdays", "Tuesdays"):
        say(foreign, f"deployed on {day}")
        run(core, NAME, foreign)
    assert [each.text for each in memories(core)] == [
        "rota: deployed on Thursdays",
        "rota: deployed on Tuesdays",
    ]


def test_the_same_words_in_two_projects_are_two_memories(core: Core, foreign: Path, tmp_path: Path) -> None:
    (tmp_path / "bakery").mkdir()
    other = tmp_path / "bakery" / "memory.json"
    say(foreign, "deployed on Tuesdays")
    say(other, "deployed on Tuesdays")
    run(core, NAME, foreign)
    assert counts(run(core, NAME, other))["observations"] == Counts(new=1)
    assert {Path(each.project).name for each in memories(core)} == {"bakery", "shop"}
