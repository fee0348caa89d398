"""SpecStory."""

from __future__ import annotations

from pathlib import Path

import pytest

from backstory.readers import load_readers

from .golden import check_golden, read, sources

HOME = Path(__file__).with_name("specstory") / "home"
REAL = Path(__file__).resolve().parents[3] / "shared/data/client-memories/specstory"
reader = load_readers(["specstory"])["specstory"]


def test_a_home_reads_as_expected(request: pytest.FixtureRequest) -> None:
    check_golden("specstory", request, projects=(HOME / "shop",))


@pytest.mark.skipif(not REAL.is_dir(), reason="the samples of client memories are not here")
def test_a_real_document_is_one_conversation_with_the_calls_it_shows() -> None:
    (source,) = sources(reader, REAL, projects=(REAL,))
    (conversation,) = read(reader, source).values()
    assert conversation.header.native_id == "e317d7b9-3289-4345-9c97-0bb1e3d998c8"
    calls = [call for turn in conversation.turns.values() for call in turn.calls]
    assert len(calls) == 37
    assert {path.rpartition("/")[2] for call in calls for path in call.writes} >= {"CLI-RELEASE.md"}
    text = "\n".join(turn.text for turn in conversation.turns.values())
    assert "tool-use" not in text
    assert "<think>" not in text
