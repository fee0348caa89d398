"""Transcripts: the parts that any surface with stored conversations would need."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.guests.codearchitect import places
from backstory.guests.codearchitect.fullfile import SessionHeader, read_full, write_full
from backstory.guests.codearchitect.places import SessionsPlace
from backstory.guests.codearchitect.reading import read_foreign
from backstory.guests.codearchitect.rows import messages_of, turns_in
from backstory.guests.codearchitect.turns import SessionTurn, first_part, plain_turn, split_plain

from ..doubles import make_conversation

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
TURNS = st.lists(
    st.builds(
        SessionTurn,
        TEXTS,
        st.dictionaries(st.sampled_from(["content", "name"]), TEXTS | st.none() | st.integers()),
    )
)
HEADER = SessionHeader("id-1", "Log in", "log-in", datetime(2026, 3, 1, tzinfo=UTC))


@given(TURNS)
def test_rows_of_the_store_give_the_very_turns_again(turns: list[SessionTurn]) -> None:
    messages = messages_of(make_conversation("c"), turns)
    assert turns_in(messages) == turns
    assert all("\0" not in message.text + message.speaker for message in messages)


@given(TURNS)
def test_a_full_file_has_the_whole_conversation(turns: list[SessionTurn]) -> None:
    text = write_full(HEADER, turns)
    reading = read_full(text)
    assert reading is not None
    assert (reading.turns, reading.is_as_written) == (turns, True)


@given(TURNS)
def test_the_readable_part_alone_is_exact(turns: list[SessionTurn]) -> None:
    text = write_full(HEADER, turns).replace("# Log in", "# Log out", 1)
    reading = read_full(text)
    assert reading is not None
    assert (reading.turns, reading.is_as_written) == (turns, False)


def test_a_stored_file_inside_a_conversation_is_only_text() -> None:
    inner = write_full(HEADER, [plain_turn("user", "inner")])
    turns = [plain_turn("user", inner), plain_turn("assistant", "outer")]
    for text in (write_full(HEADER, turns), write_full(HEADER, turns).replace("outer", "changed", 1)):
        reading = read_full(text)
        assert reading is not None
        assert reading.turns[0] == turns[0]
        assert len(reading.turns) == 2


@given(st.lists(st.builds(plain_turn, st.just("user"), TEXTS)), st.integers(0, 200))
def test_the_first_part_is_a_beginning_cut_at_a_character(turns: list[SessionTurn], most: int) -> None:
    part = first_part([], turns, most)
    whole, kept = ("".join(turn.text for turn in some) for some in (turns, part))
    assert whole.startswith(kept)
    assert min(most - 3, len(whole.encode())) <= len(kept.encode()) <= most


@given(
    st.lists(st.sampled_from(["User: ", "AI:", "```", "~~~~", "text", "\n", "\r\n", "**Human:** "])).map(
        "".join
    )
)
def test_splitting_loses_no_word(text: str) -> None:
    kept = "".join(turn.text for turn in split_plain(text))
    assert kept.count("text") == text.count("text")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("as it is", "as it is"),
        ([{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}], "one\n\ntwo"),
        ({"a": "ü"}, '{"a": "ü"}'),
        (None, ""),
    ],
)
def test_the_text_of_a_turn_is_what_people_read(content: Any, text: str) -> None:
    assert SessionTurn("user", {"content": content}).text == text


@pytest.mark.parametrize(
    "head",
    [
        "# topic\n\nDate: 2025-01-15\n\n",
        "# topic\n\n- **Date**: 2025-01-15\n- Format: plain\n\n## Conversation\n\n",
        "---\ntopic: x\ndate: 2025-01-15\n---\n\n",
        "# topic\n\n_Saved: 2025-01-15_\n\n## Messages\n\n",
        "> Date: 2025-01-15\n\n---\n",
        "",
    ],
)
@pytest.mark.parametrize(
    "said_so",
    [
        "User: hello\nAI: hi",
        "**USER:**\nhello\n\n---\n\n**ASSISTANT:**\nhi",
        "## User\n\nhello\n\n## Assistant\n\nhi",
        "### 1. user\nhello\n### 2. AI\nhi",
        "**User**\n\nhello\n\n**Assistant**\n\nhi",
    ],
)
def test_speakers_and_labels_of_files_that_others_wrote_are_no_part_of_what_was_said(
    head: str, said_so: str
) -> None:
    turns = read_foreign(head + said_so)
    assert [(turn.role, turn.text.strip()) for turn in turns] == [("user", "hello"), ("assistant", "hi")]


def test_headings_of_a_page_that_no_user_speaks_in_are_text() -> None:
    page = "# Layers\n\n## Model\n\nKnows the data.\n\n## System\n\nRuns it."
    assert read_foreign(page) == [plain_turn("user", page)]


def test_labels_with_a_sentence_among_them_are_kept() -> None:
    turns = read_foreign("Date: 2025-01-15\nWe had tried this before.\n\nUser: hello\nAI: hi")
    assert turns[0] == plain_turn("system", "Date: 2025-01-15\nWe had tried this before.")


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("User:go on\nAI:yes", [("user", "go on"), ("assistant", "yes")]),
        ("User:\u4f60\u597d\nAI\uff1a\u597d", [("user", "\u4f60\u597d"), ("assistant", "\u597d")]),
        ("**User:**go on", [("user", "go on")]),
        ("User: x\nuser:root\nSystem::Exit\nAI://x", [("user", "x\nuser:root\nSystem::Exit\nAI://x")]),
    ],
)
def test_a_speaker_needs_no_space_behind_it(text: str, turns: list[tuple[str, str]]) -> None:
    assert [(turn.role, turn.text) for turn in split_plain(text)] == turns


def test_a_million_fences_take_no_time_to_speak_of() -> None:
    assert len(split_plain("```a\n" * 200_000)) == 1


def test_what_a_killed_process_left_unfinished_goes_with_the_next_session_and_nothing_else_does(
    tmp_path: Path,
) -> None:
    place = SessionsPlace(tmp_path, tmp_path)
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    day = tmp_path / "2026-02-01"
    killed = f".{ended.pid}-{'a' * 12}"
    others = [f".{os.getpid()}-{'b' * 12}", f".{ended.pid}-{'c' * 12}", ".git", f".{ended.pid}-notes"]
    for name in (killed, *others):
        (day / name).mkdir(parents=True)
        (day / name / places.FULL).write_text("half")
    (day / others[1] / "mine.txt").write_text("somebody else's")
    for name in (killed, *others):
        os.utime(day / name, (0, 0))
    (day / f".{ended.pid}-{'d' * 12}").mkdir()
    places.save(place, "2026-03-01", "topic", {places.FULL: "whole"}, HEADER.date, lambda folder: None)
    assert sorted(path.name for path in day.iterdir()) == sorted([*others, f".{ended.pid}-{'d' * 12}"])
    assert (tmp_path / "2026-03-01/topic" / places.FULL).read_text() == "whole"
